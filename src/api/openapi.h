/* The OpenAPI 3.1 document, printed from the routes and the field tables. Thread: any. */
#pragma once

#include "base/buf.h"

/* base_url: "https://host". Appends. */
void openapi_write(const char *base_url, struct buf *out);
