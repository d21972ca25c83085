/* Are the URLs of a body public? An address tells at once; a name must be resolved, for which no
 * transaction waits: the handler is undone, the names are resolved on the control loop, and the
 * handler runs again from its start with the verdicts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "api/route.h"

struct request;

/* Inside a job. false: the handler returns; it is answered, or runs again (STEP_RESOLVE). */
bool urls_are_allowed(struct request *request, const char *const *urls, size_t count);
/* On the control loop, after STEP_RESOLVE: done(request) when no verdict is missing. Each check
 * comes later, never from inside the function. */
void urls_resolve(struct request *request, handler_fn *done);
