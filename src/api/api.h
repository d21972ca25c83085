/* The JSON API. The owner of the HTTP server (app_front.c) hands it every exchange that is neither
 * for the rooms nor for the pages. The files of the folder call downwards only:
 *
 *   api (the head) -> routes (the table) -> agents, tools, calls, ... (a file a resource)
 *     -> run (jobs) -> send (the way out), urls, idempotency -> request (what all of them share)
 *       -> answer, pieces, admission, ...
 *
 *   http_handler.on_head -> api_on_head(), http_handler.on_request -> api_on_request(), ...
 *
 * Thread: the control loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "net/http_server.h"

struct api;
struct calls;
struct catalog;
struct config;
struct deliverer;
struct http_client;
struct know;
struct loop;
struct pool;
struct registry;
struct resolver;
struct store;
struct token_signer;

/* All borrowed for the life of the API. */
struct api_deps {
    struct loop *control;
    struct pool *pool; /* hashes of passwords */
    const struct config *config;
    struct store *store;
    const struct catalog *catalog;
    struct resolver *resolver; /* public addresses are checked when they are saved */
    struct http_client *http;  /* of the control loop: Test a tool */
    struct calls *calls;
    const struct registry *registry; /* NULL: no engines are shown by /readyz */
    struct know *know;
    struct deliverer *delivery;        /* Send a test event */
    const struct token_signer *signer; /* join tokens */
    const char *livekit_url;           /* what a client joins with: "ws://host:port" */
    const char *public_url;            /* "http://host:port", for the OpenAPI document */
    bool (*is_ready)(void *arg);       /* /readyz beside the store; NULL: always */
    void *arg;
};

/* ERR_INVALID: a setting (trusted proxies) is wrong. */
enum err api_open(const struct api_deps *deps, struct api **out, struct fault *fault) MUST_USE;
/* First close the HTTP server and run the loop until api_is_idle(), so that no request is under
 * way. */
void api_close(struct api *api);
void api_drain(struct api *api); /* answers that go on by themselves end */
bool api_is_idle(const struct api *api);

/* The functions of struct http_handler; `arg` is the struct api. */
void api_on_head(void *arg, struct http_exchange *take_exchange);
void api_on_request(void *arg, struct http_exchange *take_exchange);
void api_on_gone(void *arg, struct http_exchange *exchange);
bool api_on_body(void *arg, struct http_exchange *exchange, size_t more_bytes);
bool api_is_proxy(void *arg, const struct net_addr *peer);
/* An authentication beside the API's keys has failed: a room's token. Counts for the client's
 * address like that of a key; false: it has failed too often. */
bool api_on_failure(void *arg, const struct http_request *http);
