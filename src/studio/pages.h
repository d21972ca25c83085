/* The service's own pages: `/` says that it is up, `/try` lets a person talk with an agent, `/docs`
 * shows the API, `/studio` is where members work, `/embed/` is the call button of others' pages.
 * They are part of the binary. Thread: control loop. */
#pragma once

#include <stdbool.h>

struct http_exchange;

/* Answers GET and HEAD of a page; false: the path is none, and the exchange is still the caller's.
 */
bool pages_answer(struct http_exchange *exchange);
