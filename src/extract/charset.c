/* See charset.h. Thread: any. */
#include "extract/charset.h"

#include <stdint.h>
#include <string.h>

#include <unicode/ucnv.h>
#include <unicode/ucsdet.h>

#include "base/mem.h"
#include "base/utf8.h"

enum {
    LOOKED_AT_BYTES = 64 * 1024, /* of a text whose encoding is told by its letters */
    PIECE_UNITS = 16 * 1024,
    LEAST_CONFIDENCE = 10, /* of 100, as ICU counts */
};

struct mark {
    const char *bytes;
    size_t len;
    const char *name;
};
/* The longer ones first: UTF-32 begins as UTF-16 does. */
static const struct mark marks[] = {
    {"\xFF\xFE\0\0", 4, "UTF-32LE"}, {"\0\0\xFE\xFF", 4, "UTF-32BE"}, {"\xEF\xBB\xBF", 3, "UTF-8"},
    {"\xFF\xFE", 2, "UTF-16LE"},     {"\xFE\xFF", 2, "UTF-16BE"},
};

static const struct mark *find_mark(const char *data, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (len >= marks[i].len && memcmp(data, marks[i].bytes, marks[i].len) == 0)
            return &marks[i];
    return NULL;
}

/* UTF-16 without a mark. */

/* How well the bytes read as UTF-16 of one order: the spaces, full stops and line ends in them.
 * -1: they do not. */
static long count_common_units(const char *data, size_t len, unsigned high)
{
    long common = 0;
    bool has_lead = false;
    for (size_t i = 0; i + 1 < len; i += 2) {
        unsigned unit =
            (unsigned)(uint8_t)data[i + high] << 8 | (unsigned)(uint8_t)data[i + 1 - high];
        bool is_trail = unit >= 0xDC00 && unit < 0xE000;
        if (is_trail != has_lead || (unit < ' ' && !strchr("\t\n\f\r", (int)unit)) || unit == 0 ||
            unit >= 0xFFFE)
            return -1;
        has_lead = unit >= 0xD800 && unit < 0xDC00;
        common += unit == ' ' || unit == '\n' || unit == '.' || unit == ',' || unit == 0x964 ||
                  unit == 0x3001 || unit == 0x3002 || unit == 0xFF0C;
    }
    return common;
}

static const char *guess_utf16(const char *data, size_t len)
{
    if (len < 4)
        return NULL;
    len = MIN(len, (size_t)LOOKED_AT_BYTES) & ~(size_t)1;
    long little = count_common_units(data, len, 1), big = count_common_units(data, len, 0);
    long least = (long)(len / 2 / 100) + 1; /* one in a hundred is a space or a stop */
    if (little >= least && little > 4 * big)
        return "UTF-16LE";
    return big >= least && big > 4 * little ? "UTF-16BE" : NULL;
}

/* Eight bits. */

static bool is_control(unsigned char c)
{
    return c < ' ' && !strchr("\t\n\v\f\r", c) && c != 0x1A && c != 0x1B;
}

static bool has_controls(const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (is_control((unsigned char)data[i]))
            return true;
    return false;
}

/* A beginning of valid UTF-8, which may be cut inside a character. */
static bool begins_as_utf8(const char *data, size_t len)
{
    for (size_t at = 0, n; at < len; at += n)
        if (!(n = utf8_decode(data + at, len - at, NULL)))
            return len - at < 4 && at > 0;
    return true;
}

/* How files begin that would pass for text: archives, and text among commands. */
static bool begins_as_other(const char *data, size_t len)
{
    static const char *const begins[] = {"PK\3\4", "{\\rtf"};
    for (size_t i = 0; i < ARRAY_LEN(begins); i++) {
        size_t n = strlen(begins[i]);
        if (len >= n && memcmp(data, begins[i], n) == 0)
            return true;
    }
    return false;
}

bool charset_is_text(const char *data, size_t len)
{
    if (len == 0 || begins_as_other(data, len))
        return false;
    len = MIN(len, (size_t)LOOKED_AT_BYTES);
    if (find_mark(data, len))
        return true;
    if (memchr(data, '\0', len))
        return guess_utf16(data, len) != NULL;
    return begins_as_utf8(data, len) || !has_controls(data, len);
}

/* ICU takes Windows-1252 for Latin-1 where it has none of the characters that they do not share. */
static const char *corrected(const char *name)
{
    static const struct {
        const char *told, *meant;
    } names[] = {
        {"ISO-8859-1", "windows-1252"},
        {"ISO-8859-9", "windows-1254"},
        {"GB18030", "GB18030"},
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(names[i].told, name) == 0)
            return names[i].meant;
    return name;
}

/* The first part that has letters beyond ASCII: a long English beginning tells nothing. */
static size_t first_beyond_ascii(const char *data, size_t len)
{
    size_t at = 0;
    while (at < len && !((unsigned char)data[at] & 0x80))
        at++;
    return at;
}

static void guess_legacy(const char *data, size_t len, char name[64])
{
    UErrorCode status = U_ZERO_ERROR;
    size_t from = first_beyond_ascii(data, len);
    from -= MIN(from, (size_t)LOOKED_AT_BYTES / 4);
    UCharsetDetector *detector = ucsdet_open(&status);
    ucsdet_setText(detector, data + from, (int32_t)MIN(len - from, (size_t)LOOKED_AT_BYTES),
                   &status);
    const UCharsetMatch *match = ucsdet_detect(detector, &status);
    const char *found = "windows-1252";
    if (match && U_SUCCESS(status) && ucsdet_getConfidence(match, &status) >= LEAST_CONFIDENCE) {
        const char *told = ucsdet_getName(match, &status);
        if (U_SUCCESS(status) && told && strncmp(told, "UTF-", 4) != 0)
            found = corrected(told);
    }
    size_t n = MIN(strlen(found), (size_t)63);
    memcpy(name, found, n);
    name[n] = '\0';
    ucsdet_close(detector);
}

/* Decoding. */

static enum err append_units(struct buf *out, const UChar *units, size_t count, UChar *lead)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t code = units[i];
        if (code >= 0xD800 && code < 0xDC00) {
            *lead = (UChar)code;
            continue;
        }
        if (code >= 0xDC00 && code < 0xE000 && *lead)
            code = 0x10000 + (((uint32_t)*lead - 0xD800) << 10) + (code - 0xDC00);
        *lead = 0;
        char bytes[4];
        enum err err = code ? buf_append(out, bytes, utf8_encode(code, bytes)) : OK;
        if (err)
            return err;
    }
    return OK;
}

static enum err convert(UConverter *converter, const char *data, size_t len, struct buf *out)
{
    AUTO_MEM UChar *units = mem_new_n(UChar, PIECE_UNITS);
    const char *at = data, *end = data + len;
    UChar lead = 0;
    for (UErrorCode status = U_BUFFER_OVERFLOW_ERROR; status == U_BUFFER_OVERFLOW_ERROR;) {
        status = U_ZERO_ERROR;
        UChar *to = units;
        ucnv_toUnicode(converter, &to, units + PIECE_UNITS, &at, end, NULL, true, &status);
        if (U_FAILURE(status) && status != U_BUFFER_OVERFLOW_ERROR)
            return ERR_UNSUPPORTED;
        enum err err = append_units(out, units, (size_t)(to - units), &lead);
        if (err)
            return err;
    }
    return OK;
}

static enum err decode_as(const char *name, const char *data, size_t len, struct buf *out)
{
    UErrorCode status = U_ZERO_ERROR;
    if (strcmp(name, "UTF-8") == 0)
        return utf8_append_clean(out, data, len);
    UConverter *converter = ucnv_open(name, &status);
    if (U_FAILURE(status))
        return ERR_UNSUPPORTED;
    enum err err = convert(converter, data, len, out);
    ucnv_close(converter);
    return err;
}

enum err charset_decode(const char *data, size_t len, struct buf *out)
{
    const struct mark *mark = find_mark(data, len);
    if (mark)
        return decode_as(mark->name, data + mark->len, len - mark->len, out);
    if (memchr(data, '\0', len)) {
        const char *name = guess_utf16(data, len);
        return name ? decode_as(name, data, len, out) : ERR_UNSUPPORTED;
    }
    if (utf8_is_valid(data, len))
        return buf_append(out, data, len);
    if (has_controls(data, MIN(len, (size_t)LOOKED_AT_BYTES)))
        return ERR_UNSUPPORTED;
    char name[64];
    guess_legacy(data, len, name);
    return decode_as(name, data, len, out);
}
