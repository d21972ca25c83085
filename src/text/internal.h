/* What the files of this folder share. */
#pragma once

#include <stdint.h>

#include "base/utf8.h"

/* The character at *at, which moves past it; -1 for a stray byte. *at < len. */
static inline int32_t text_next(const char *text, int32_t len, int32_t *at)
{
    uint32_t code = 0;
    size_t bytes = utf8_decode(text + *at, (size_t)(len - *at), &code);
    *at += bytes ? (int32_t)bytes : 1;
    return bytes ? (int32_t)code : -1;
}
