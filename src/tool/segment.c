#include "tool/segment.h"

#include <string.h>

#include "base/mem.h"

enum { DECODE_TIMES = 3 /* what was seen in the wild, and once more */ };

/* Up to a slash, a backslash, or a parameter (which some servers cut off). */
static bool has_dot_part(const char *text, size_t len)
{
    for (size_t at = 0, end; at <= len; at = end + 1) {
        for (end = at; end < len && text[end] != '/' && text[end] != '\\';)
            end++;
        const char *parameter = memchr(text + at, ';', end - at);
        size_t part_len = parameter ? (size_t)(parameter - text) - at : end - at;
        if (part_len >= 1 && part_len <= 2 && strncmp(text + at, "..", part_len) == 0)
            return true;
    }
    return false;
}

static int digit(char c)
{
    const char *digits = "0123456789abcdefABCDEF", *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) - (at - digits > 15 ? 6 : 0) : -1;
}

/* In place; what is no escape stays, as lenient servers read it. */
static size_t decode(char *text, size_t len)
{
    size_t out = 0;
    for (size_t at = 0; at < len; at++) {
        bool is_escape =
            text[at] == '%' && len - at > 2 && digit(text[at + 1]) >= 0 && digit(text[at + 2]) >= 0;
        int value = is_escape ? digit(text[at + 1]) << 4 | digit(text[at + 2]) : text[at];
        text[out++] = (char)value;
        at += is_escape ? 2 : 0;
    }
    return out;
}

bool segment_is_one(const char *segment, size_t len)
{
    AUTO_MEM char *text = mem_strndup(segment, len);
    bool is_one = len > 0 && !has_dot_part(text, len);
    for (int i = 0; i < DECODE_TIMES && is_one; i++) {
        len = decode(text, len);
        is_one = !has_dot_part(text, len);
    }
    return is_one;
}
