/* What a vendor's own words about a failure mean: the JSON bodies of refused requests and the error
 * messages inside streams, in all the forms that servers use. Thread: any. */
#pragma once

#include <stddef.h>

#include "engine/engine.h"

struct js;

enum engine_error vendor_error_of_status(int status); /* of HTTP */

/* The class by type and code of an error that came without an HTTP status. */
enum engine_error vendor_error_kind(const struct js *tree);
/* Both, for the body of an answer; status 0: it came inside a stream. out_message: "HTTP 401: bad
 * key", cut at size. */
enum engine_error vendor_error(int status, const char *body, size_t len, char *out_message,
                               size_t size);
