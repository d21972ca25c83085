/* The service: everything that `earshot serve` builds, and how it is joined. One struct, no
 * globals; each part of it is opened and closed by a row of the table in app.c.
 *
 *   STARTING --recovered--> SERVING --SIGTERM--> DRAINING --calls over--> STOPPING --settled--> end
 *
 * Thread: the main thread, which runs the control loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/loop.h"

struct app_signals;
struct config;
struct http_exchange;
struct http_handler;
struct http_server;
struct net_addr;
struct show_socket;
struct tls_context;

enum app_state { APP_STARTING, APP_SERVING, APP_DRAINING, APP_STOPPING };

enum { APP_URL_SIZE = 256 };

struct app {
    const struct config *config; /* borrowed */
    enum app_state state;
    int64_t started_us;
    size_t opened; /* rows of the parts table that are open */

    struct loop *control;
    struct app_signals *signals;
    struct tls_context *tls; /* NULL: plain HTTP */
    struct http_server *http;
    char public_url[APP_URL_SIZE];
    struct show_socket *show;
};

/* Runs a service to its end; the exit status. */
int app_serve(const struct config *config);
/* From a signal: no new calls, running ones get the grace; again: none. */
void app_drain(struct app *app);

/* app_front.c: who answers which path. */
extern const struct http_handler app_front; /* its argument is the struct app */

/* app_signals.c: SIGTERM and SIGINT drain, SIGHUP reads certificates again. Blocks them for all
 * threads that are started after; so it comes first. */
enum err app_signals_open(struct app *app, struct fault *fault) MUST_USE;
void app_signals_close(struct app *app);

/* app_tls.c: the configured certificate; else none on loopback, a self-signed one elsewhere. */
enum err app_tls_open(struct app *app, const struct net_addr *listen, struct fault *fault) MUST_USE;

/* app_show.c: the socket that `earshot show` asks. */
enum err app_show_open(struct app *app, struct fault *fault) MUST_USE;
void app_show_close(struct app *app);
