/* The OpenAPI 3.1 document, printed from the routes and the field tables. Thread: any. */
#pragma once

#include <stddef.h>

#include "base/buf.h"

struct route;

/* base_url: "https://host". Appends. */
void openapi_write(const struct route *rows, size_t count, const char *base_url, struct buf *out);
