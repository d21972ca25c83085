/* In which encoding a text file is, told by its bytes, and its text as UTF-8: UTF-8 and UTF-16 with
 * and without a mark at the beginning, UTF-32 with one, and the older encodings of eight bits or
 * two (Windows-1252, KOI8-R, Shift_JIS and so on), which ICU tells by what letters stand together.
 * Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

/* Could these bytes, the beginning of a file or all of it, be of a text? Cheap: for an upload. */
bool charset_is_text(const char *data, size_t len);

/* ERR_UNSUPPORTED: it is no text. ERR_LIMIT: out is full. */
enum err charset_decode(const char *data, size_t len, struct buf *out) MUST_USE;
