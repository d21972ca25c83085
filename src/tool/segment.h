/* What may be filled into a segment of a URL's path. Servers, proxies and frameworks resolve dot
 * segments before or after they decode, some decode twice, and some merge empty segments: what one
 * of them might read as another path is refused. Percent-encoding is no help, since %2e%2e is a dot
 * segment to many (WHATWG URL, section 4.4). Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* segment: as it is sent, percent-encoded. false: empty, or it holds a part, between slashes of any
 * kind and however often encoded, that is "." or "..". */
bool segment_is_one(const char *segment, size_t len);
