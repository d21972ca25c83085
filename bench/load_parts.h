/* What a generator of callers stands on: one loop's HTTP client, rooms and pacer, and what they
 * need. Thread: its loop's. */
#pragma once

#include "base/err.h"

struct http_client;
struct loop;
struct pacer;
struct rooms;

struct load_parts {
    struct http_client *http;
    struct rooms *rooms;
    struct pacer *pacer;
    /* of these the generator needs nothing */
    struct guard *guard;
    struct resolver *resolver;
    struct tls_context *tls;
    struct dialer *dialer;
    struct dtls_identity *identity;
    struct port *port;
};

/* A part that fails leaves those before it, for load_parts_close(). */
enum err load_parts_open(struct load_parts *parts, struct loop *loop, struct fault *fault) MUST_USE;
void load_parts_close(struct load_parts *parts); /* before loop_free() */
void load_parts_clear(struct load_parts *parts); /* after it */
