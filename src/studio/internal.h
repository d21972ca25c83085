/* The pages inside the binary: tools/embed writes the table at build time. */
#pragma once

#include <stddef.h>

struct page {
    const char *file; /* "try.html", "embed/call.js" */
    const char *type;
    const char *tag; /* ETag, quoted */
    struct page_bytes {
        const unsigned char *data;
        size_t len;
    } plain, packed; /* as it is; compressed by gzip */
};
extern const struct page pages[];
extern const size_t page_count;
extern const char pages_version[]; /* a hash of them all */
