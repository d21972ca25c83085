/* UTF-8 after table 3-7 of the Unicode standard (well-formed byte sequences). */
#include "base/utf8.h"

#include <string.h>

size_t utf8_decode(const char *text, size_t len, uint32_t *out_code)
{
    const uint8_t *b = (const uint8_t *)text;
    if (len == 0)
        return 0;
    size_t n = b[0] < 0x80 ? 1 : b[0] < 0xc2 ? 0 : b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : 4;
    if (n == 0 || n > len || b[0] > 0xf4)
        return 0;
    static const uint8_t first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = b[0] & first_bits[n];
    for (size_t i = 1; i < n; i++) {
        if ((b[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (b[i] & 0x3f);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    if (out_code)
        *out_code = code;
    return n;
}

size_t utf8_encode(uint32_t code, char out[4])
{
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        code = 0xfffd;
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const uint8_t first_mark[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(first_mark[n] | code);
    return n;
}

bool utf8_is_valid(const char *text, size_t len)
{
    for (size_t at = 0, n; at < len; at += n) {
        n = utf8_decode(text + at, len - at, NULL);
        if (n == 0)
            return false;
    }
    return true;
}

size_t utf8_count(const char *text)
{
    size_t count = 0;
    for (size_t left = strlen(text); left > 0; count++) {
        size_t n = utf8_decode(text, left, NULL);
        n += n == 0;
        text += n;
        left -= n;
    }
    return count;
}

enum err utf8_append_clean(struct buf *out, const char *text, size_t len)
{
    size_t clean = 0; /* start of the run that is fine */
    for (size_t at = 0; at < len;) {
        size_t n = text[at] ? utf8_decode(text + at, len - at, NULL) : 0;
        if (n == 0) {
            buf_append(out, text + clean, at - clean);
            buf_append_str(out, "\xef\xbf\xbd");
            clean = at + 1;
        }
        at += n ? n : 1;
    }
    buf_append(out, text + clean, len - clean);
    return out->is_full ? ERR_LIMIT : OK;
}
