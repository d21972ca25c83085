/* The service: everything that `earshot serve` builds, and how it is joined. One struct, no
 * globals. Each part of it is opened and closed by a row of the table in app_parts.c; app.c runs
 * it.
 *
 *   STARTING --recovered--> SERVING --SIGTERM--> DRAINING --calls over--> STOPPING --settled--> end
 *
 * Once the grace is over the end comes within 10 s, whatever the database or the network does.
 *
 * Thread: the main thread, which runs the control loop. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/config.h"
#include "base/crypto.h"
#include "base/err.h"
#include "base/list.h"
#include "base/loop.h"
#include "call/calls.h"
#include "cli/own_url.h"
#include "model/catalog.h"
#include "room/token.h"

struct api;
struct app_signals;
struct arena;
struct config;
struct deliverer;
struct dialer;
struct dtls_identity;
struct guard;
struct http_client;
struct http_handler;
struct http_server;
struct know;
struct net_addr;
struct pool;
struct port;
struct registry;
struct resolver;
struct room_directory;
struct rooms;
struct show_socket;
struct store;
struct tls_context;
struct vendor;

enum app_state { APP_STARTING, APP_SERVING, APP_DRAINING, APP_STOPPING };

enum { APP_URL_SIZE = OWN_URL_SIZE, APP_LOOPS_MAX = 64 };

/* One thread that carries calls. */
struct app_media {
    struct loop *loop;
    struct resolver *resolver;
    struct dialer *dialer;
    struct http_client *http;
    struct port *port;
    struct rooms *rooms;
};

/* How busy the machine is (app_machine.c). */
struct app_machine {
    struct calls_machine told;
    struct timer timer;
    int64_t read_us, busy_us; /* the worker's, until it has answered */
    int64_t last_read_us, last_busy_us;
    _Atomic int64_t busy_milli;
};

/* The control loop's way out. */
struct app_net {
    struct guard *guard; /* of all loops */
    struct resolver *resolver;
    struct tls_context *tls; /* of all loops */
    struct http_client *http;
};

struct app_delivery {
    struct loop *loop;
    struct resolver *resolver;
    struct deliverer *deliverer;
};

struct app_engines {
    struct vendor *vendor;
    struct registry *registry;
    struct arena *memory; /* of the catalog */
    struct catalog *catalog;
};

/* What the tokens of rooms are signed with. */
struct app_tokens {
    struct token_signer signer;
    char secret[SHA256_HEX];
};

struct app_urls {
    char own[APP_URL_SIZE], rooms[APP_URL_SIZE];
    char demo[APP_URL_SIZE + 128]; /* "": no demonstration */
    char studio[APP_URL_SIZE + 128];
};

/* `earshot show` (app_show.c). */
struct app_showing {
    struct show_socket *socket;
    struct list_node waiting; /* those that wait for the database */
};

/* How far the end has come (app.c). */
struct app_end {
    struct timer timer;      /* from the first signal on: nothing holds the end up */
    struct timer idle_timer; /* while stopping: waits for the last answers */
    int64_t grace_until_us, ending_us;
    bool is_store_draining, is_store_drained;
};

struct app {
    const struct config *config; /* borrowed */
    bool has_demo;               /* serve --demo */
    enum app_state state;
    bool has_failed;
    int64_t started_us;
    struct app_end end;

    /* The parts, as the table of app_parts.c opens them. */
    size_t opened; /* how many of its rows are open */
    struct loop *control;
    struct app_signals *signals;
    struct pool *pool;
    struct app_net net;
    struct store *store;
    struct app_tokens tokens;
    struct dtls_identity *identity;
    struct app_media media[APP_LOOPS_MAX];
    size_t media_count;
    struct app_engines engines;
    struct know *know;
    struct tls_context *tls; /* NULL: plain HTTP */
    struct http_server *http;
    struct app_urls urls;
    struct room_directory *rooms;
    struct calls_media calls_media[APP_LOOPS_MAX];
    struct app_machine machine;
    struct calls *calls;
    struct app_delivery delivery;
    struct api *api;
    struct app_showing showing;
};

/* Runs a service to its end; the exit status. */
int app_serve(const struct config *config, bool has_demo);
/* From a signal: no new calls, running ones get the grace; the second time: none. */
void app_drain(struct app *app);

/* app_parts.c */
enum err app_open_parts(struct app *app, struct fault *fault) MUST_USE;
void app_close_parts(struct app *app); /* those that are open, the last first */

/* app_machine.c: what the calls know of the machine. */
void app_machine_open(struct app *app);
void app_machine_close(struct app *app);

/* app_front.c: who answers which path. */
extern const struct http_handler app_front; /* its argument is the struct app */

/* app_signals.c: SIGTERM and SIGINT drain, SIGHUP reads certificates again. Blocks them for all
 * threads that are started after; so it comes first. */
enum err app_signals_open(struct app *app, struct fault *fault) MUST_USE;
void app_signals_close(struct app *app);
/* The process ends then, whatever its threads wait for: as after a kill, the next start recovers
 * what was cut. The last one counts. */
void app_signals_cut_after(unsigned seconds);

/* app_tls.c: the configured certificate; else none on loopback, a self-signed one elsewhere. */
enum err app_tls_open(struct app *app, const struct net_addr *listen, struct fault *fault) MUST_USE;

/* app_show.c: the socket that `earshot show` asks. */
enum err app_show_open(struct app *app, struct fault *fault) MUST_USE;
void app_show_close(struct app *app);

/* app_demo.c: may a port that is taken be replaced by any other? For a demonstration, which may run
 * beside another service, unless the setting was given. */
bool app_demo_may_move(const struct app *app, enum setting setting);
/* Makes workspace and agent unless they are there, and the link to try it. */
enum err app_demo(struct app *app, struct fault *fault) MUST_USE;
