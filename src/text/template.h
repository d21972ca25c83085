/* Fills {{name}} in a text. Names are [A-Za-z_][A-Za-z0-9_]*, with spaces around allowed; what
 * looks otherwise is left as text. Thread: any. */
#pragma once

#include <stddef.h>

#include "base/attr.h"
#include "base/buf.h"

/* The value of a name (name_len bytes), or NULL when it is unknown. */
typedef const char *template_fn(void *arg, const char *name, size_t name_len);

/* Appends the filled text; an unknown name becomes empty. Values are put in as they are, and are
 * not filled again. ERR_LIMIT: the buffer is full. */
enum err template_fill(const char *text, template_fn *value_of, void *arg,
                       struct buf *out) MUST_USE;
