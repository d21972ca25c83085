/* What a terminal would act on is a caller's or a tenant's word at times. */
#include "cli/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

/* Control characters, and those that turn the direction of what stands around them or break a
 * line (Unicode, Bidi_Control and Line_Break). */
static const struct {
    uint32_t first, last;
} wild[] = {
    {0x0000, 0x001f}, {0x007f, 0x009f}, {0x061c, 0x061c}, {0x200e, 0x200f},
    {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb},
};

static bool is_wild(uint32_t code)
{
    for (size_t i = 0; i < ARRAY_LEN(wild); i++)
        if (code >= wild[i].first && code <= wild[i].last)
            return true;
    return false;
}

char *print_tamed(const char *text)
{
    size_t len = text ? strlen(text) : 0;
    AUTO_BUF out = BUF_INIT(6 * len + 1);
    for (size_t at = 0, size; at < len; at += size) {
        uint32_t code = 0;
        size = utf8_decode(text + at, len - at, &code);
        if (size == 0) { /* a stray byte */
            size = 1;
            buf_append_str(&out, "\\ufffd");
        } else if (is_wild(code)) {
            buf_printf(&out, "\\u%04x", (unsigned)code);
        } else {
            buf_append(&out, text + at, size);
        }
    }
    return mem_strndup(out.data ? out.data : "", out.len);
}

int print_lines(const struct buf *lines)
{
    if (lines->is_full)
        return EXIT_FAILURE;
    bool is_out = fwrite(lines->data, 1, lines->len, stdout) == lines->len;
    return is_out && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int print_line(const struct buf *line)
{
    if (line->is_full || !line->data)
        return EXIT_FAILURE;
    AUTO_MEM char *tame = print_tamed(line->data);
    return puts(tame) >= 0 && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
