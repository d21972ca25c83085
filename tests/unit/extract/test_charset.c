/* Texts in the encodings that people's files have. */
#include <string.h>

#include "extract/charset.h"
#include "test.h"

static void check_as(const char *bytes, size_t len, const char *want)
{
    AUTO_BUF text = BUF_INIT(1 << 20);
    CHECK(charset_is_text(bytes, len));
    if (CHECK(charset_decode(bytes, len, &text) == OK))
        CHECK_TEXT(text.len ? text.data : "", want);
}
#define CHECK_AS(bytes, want) check_as(bytes, sizeof(bytes) - 1, want)

TEST(utf8_is_read_with_and_without_a_mark)
{
    CHECK_AS("नाश्ता सात बजे", "नाश्ता सात बजे");
    CHECK_AS("\xEF\xBB\xBFOpening hours", "Opening hours");
}

/* `text`, in UTF-8 of at most three bytes a character, as UTF-16. */
static void to_utf16(const char *text, bool is_big, struct buf *out)
{
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        unsigned code = *at < 0x80   ? at[0]
                        : *at < 0xE0 ? (at[0] & 31U) << 6 | (at[1] & 63U)
                                     : (at[0] & 15U) << 12 | (at[1] & 63U) << 6 | (at[2] & 63U);
        at += *at < 0x80 ? 1 : *at < 0xE0 ? 2 : 3;
        (void)buf_append_char(out, (char)(is_big ? code >> 8 : code));
        (void)buf_append_char(out, (char)(is_big ? code : code >> 8));
    }
}

TEST(utf16_is_read_with_and_without_a_mark)
{
    static const char *const texts[] = {
        "We are open from nine to five.\nOn Sunday we are closed.\n",
        "नाश्ता सात से दस बजे तक मिलता है। दाम बारह सौ रुपये है।\n",
        "Комнаты готовы в три часа. Завтрак входит в цену.\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        for (int is_big = 0; is_big < 2; is_big++)
            for (int is_marked = 0; is_marked < 2; is_marked++) {
                AUTO_BUF bytes = BUF_INIT(1 << 16);
                if (is_marked)
                    (void)buf_append(&bytes, is_big ? "\xFE\xFF" : "\xFF\xFE", 2);
                to_utf16(texts[i], is_big, &bytes);
                check_as(bytes.data, bytes.len, texts[i]);
            }
    CHECK_AS("\xFF\xFE\x3D\xD8\x00\xDE \0", "\xF0\x9F\x98\x80 ");
    CHECK_AS("\xFF\xFE\0\0A\0\0\0b\0\0\0", "Ab");
}

TEST(older_encodings_are_told_by_their_letters)
{
    CHECK_AS("Le petit d\xE9jeuner est servi d\xE8s sept heures, \xE0 la terrasse. \x80 12",
             "Le petit déjeuner est servi dès sept heures, à la terrasse. € 12");
    CHECK_AS("Das Fr\xFChst\xFC\x63k gibt es f\xFCr \x84G\xE4ste\x93 ab sieben Uhr. Sch\xF6n, dass "
             "Sie da sind.",
             "Das Frühstück gibt es für „Gäste“ ab sieben Uhr. Schön, dass Sie da sind.");
    /* Windows-1251 */
    CHECK_AS(
        "\xCA\xEE\xEC\xED\xE0\xF2\xFB \xE3\xEE\xF2\xEE\xE2\xFB \xE2 \xF2\xF0\xE8 \xF7\xE0\xF1\xE0. "
        "\xC7\xE0\xE2\xF2\xF0\xE0\xEA \xE2\xF5\xEE\xE4\xE8\xF2 \xE2 \xF6\xE5\xED\xF3.",
        "Комнаты готовы в три часа. Завтрак входит в цену.");
    /* Shift_JIS */
    CHECK_AS("\x92\xA9\x90\x48\x82\xCD\x8E\xB5\x8E\x9E\x82\xA9\x82\xE7\x88\xEA\x8A\x4B\x82\xCC"
             "\x90\x48\x93\xB0\x82\xC5\x8F\x6F\x82\xB3\x82\xEA\x82\xDC\x82\xB7\x81\x42\x92\x93"
             "\x8E\xD4\x8F\xEA\x82\xCD\x8C\x9A\x95\xA8\x82\xCC\x97\xA0\x82\xC9\x82\xA0\x82\xE8"
             "\x82\xDC\x82\xB7\x81\x42\x8C\xA2\x82\xCD\x92\xEB\x82\xC5\x82\xA8\x91\xD2\x82\xBF"
             "\x82\xAD\x82\xBE\x82\xB3\x82\xA2\x81\x42",
             "朝食は七時から一階の食堂で出されます。駐車場は建物の裏にあります。犬は庭でお待ちくだ"
             "さい。");
}

TEST(what_is_no_text_is_told)
{
#define CHECK_NONE(bytes)                                                                          \
    do {                                                                                           \
        AUTO_BUF text = BUF_INIT(1 << 16);                                                         \
        CHECK(!charset_is_text(bytes, sizeof(bytes) - 1));                                         \
    } while (0)
    CHECK_NONE("");
    CHECK_NONE("\0\1\2");
    CHECK_NONE("\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08\6\0\0\0");
    CHECK_NONE("GIF89a\1\0\1\0\x80\0\0\xFF\xFF\xFF\0\0\0!");
    CHECK_NONE("\x7F"
               "ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0>\0\1\0\0\0");
    CHECK_NONE("{\\rtf1\\ansi Hello}");
    AUTO_BUF text = BUF_INIT(1 << 16);
    CHECK_INT(charset_decode("a\0b\1c\2", 6, &text), ERR_UNSUPPORTED);
    CHECK_INT(charset_decode("caf\xE9 \1\2\3", 8, &text), ERR_UNSUPPORTED);
    AUTO_BUF narrow = BUF_INIT(4);
    CHECK_INT(charset_decode("longer than four", 16, &narrow), ERR_LIMIT);
}
