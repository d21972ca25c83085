/* The service's own pages: `/` says that it is up, `/try` lets a person talk with an agent, `/docs`
 * shows the API, `/studio` is where members work, `/embed/` is the call button of others' pages.
 * They are part of the binary. Thread: control loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct http_exchange;

/* Where the rooms can be that a page's calls are sent to: the URL of a node, NULL past the last. */
struct pages_rooms {
    const char *(*url)(const void *arg, size_t i);
    const void *arg;
};

/* Answers GET and HEAD of a page; false: the path is none, and the exchange is still the caller's.
 */
bool pages_answer(struct http_exchange *exchange, const struct pages_rooms *rooms);
