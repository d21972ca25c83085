/* Names of HTTP headers that a tenant may choose. The same table is asked when a tool is saved and
 * when it runs, since what was saved before this table was is still in the store. Thread: any. */
#pragma once

#include "model/field.h"

/* RFC 9110 section 5.6.2: a token of at least one character. */
bool header_name_is_token(const char *name);
/* A name that frames or routes a request, or tells what only the service may tell: such a header
 * would let a tenant write into a connection that is not theirs (contract, Header names). */
bool header_name_is_reserved(const char *name);

/* A field_check_fn: a token that is not reserved; "" passes. */
void check_header_name(struct field_context *context, const struct field *row, void *object,
                       const char *path);
