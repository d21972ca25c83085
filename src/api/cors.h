/* Which page of another site may read an answer (CORS). A route's row says that pages call it
 * (is_for_pages): its preflights and 401s are for any origin, as they grant nothing; every other
 * answer is for the origins that the agent of the publishable key allows. That is found out as soon
 * as the key is known, so that every refusal after it, that of the deadline included, can be read
 * by the page. Thread: the control loop. */
#pragma once

#include <stdbool.h>

#include "api/route.h"

struct request;
struct text_list;

/* origin: the Origin header, or NULL. allowed: host, host:port or *.host; empty: any origin. */
bool cors_allows(const struct text_list *allowed, const char *origin);
void cors_allow_any(struct request *request);
void cors_preflight(struct request *request);
/* Sets who.allow_origin by the agent of the publishable key, then calls done(request), maybe from
 * inside. Without an Origin, or while the store does not answer, no page may read the answer. */
void cors_find(struct request *request, handler_fn *done);
