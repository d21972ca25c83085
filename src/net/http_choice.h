/* What a client says of the answer that it takes: compressed or not (Accept-Encoding, RFC 9110
 * section 12.5.3), and which it has already (If-None-Match, section 13.1.2). Fields that are sent
 * several times count as one list. What does not read is as if it were not there. Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "net/http_header.h"

/* Is gzip taken, and no less gladly than what is not compressed? */
bool http_takes_gzip(const struct http_header *headers, size_t count);
/* Does it have what is here already? tag: a quoted one, strong or weak, compared weakly; NULL: what
 * is here has none, and only "*" fits. */
bool http_has_already(const struct http_header *headers, size_t count, const char *tag);
