/* Replies of a model, whole and in deltas as the first byte says: the same words in the same order,
 * every piece bounded; and each piece through what speech makes of it. */
#include "fuzz.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/attr.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "text/number.h"
#include "text/plain.h"
#include "text/sentence.h"
#include "text/words.h"

static void put_solid(const char *text, size_t len, struct buf *out)
{
    for (size_t i = 0; i < len; i++)
        if (!isspace((unsigned char)text[i]))
            (void)buf_append_char(out, text[i]);
}

static void speak(const char *piece)
{
    AUTO_BUF plain = BUF_INIT(1 << 20);
    AUTO_BUF spoken = BUF_INIT(1 << 22);
    plain_speech(piece, &plain);
    number_expand(plain.len ? plain.data : "", &spoken);
    assert(words_played(piece, 1, 2) <= strlen(piece));
    assert(words_count(piece) <= strlen(piece));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > SPLITTER_TEXT_MAX_BYTES)
        return 0;
    AUTO_MEM char *text = mem_strndup((const char *)data + 1, size - 1);
    size_t step = 1 + data[0] % 16u, len = strlen(text);
    AUTO_BUF want = BUF_INIT(1 << 20);
    AUTO_BUF got = BUF_INIT(1 << 20);
    struct splitter splitter;
    splitter_init(&splitter, data[0] & 0x80);
    for (size_t at = 0; at <= len; at += step) {
        enum err err = splitter_push(&splitter, text + at, MIN(step, len - at));
        assert(err == OK);
        if (at + step > len)
            splitter_finish(&splitter);
        for (const char *piece; (piece = splitter_next(&splitter));) {
            assert(*piece && utf8_count(piece) <= SPLITTER_PIECE_MAX_CHARS + 1);
            put_solid(piece, strlen(piece), &got);
            speak(piece);
        }
    }
    put_solid(text, len, &want);
    assert(want.len == got.len && (want.len == 0 || memcmp(want.data, got.data, got.len) == 0));
    splitter_clear(&splitter);
    return 0;
}
