/* The pages inside the binary: tools/embed writes the table at build time. */
#pragma once

#include <stddef.h>

struct page {
    const char *file; /* "try.html" */
    const char *type;
    const char *tag; /* ETag, quoted */
    const unsigned char *data;
    size_t len;
};
extern const struct page pages[];
extern const size_t page_count;
