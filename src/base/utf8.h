/* UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
 * Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Length of the character at the front (1 to 4 bytes), its code point in *out_code (may be NULL);
 * 0: not UTF-8, or len is 0. */
size_t utf8_decode(const char *text, size_t len, uint32_t *out_code);
size_t utf8_encode(uint32_t code, char out[4]); /* bytes written; U+FFFD for what is no character */
bool utf8_is_valid(const char *text, size_t len);
size_t utf8_count(const char *text); /* code points; each stray byte counts as one */

/* Appends text with U+FFFD in place of each stray byte and each U+0000. */
enum err utf8_append_clean(struct buf *out, const char *text, size_t len);
