/* What a field table says about a URL: is it one at all? Whether it is a public address is the
 * address guard's business, later in the order of checks. Thread: any. */
#pragma once

#include "model/field.h"

/* Do both name one scheme, host and port? What is no URL has none. */
bool url_same_origin(const char *a, const char *b);

/* A field_check_fn: scheme, '://', a host, and no spaces or control characters; "" passes. */
void check_url(struct field_context *context, const struct field *row, void *object,
               const char *path);
