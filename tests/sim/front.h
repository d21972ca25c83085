/* The service's front on simulated time: the real HTTP server on a real socket, the real API, the
 * real store in a file; calls, deliveries, tools, names and search are doubles that ask
 * sweep_fails(). A test sends requests and looks at the answers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/config.h"
#include "net/http_server.h"

struct api;
struct catalog;
struct front_client;
struct loop;
struct store;

struct front {
    struct loop *control;
    struct config *config;
    struct store *store;
    struct arena *arena;
    struct catalog *catalog;
    struct api *api;
    struct http_server *server;
    char dir[40];
    char workspace_id[40], key[64]; /* a workspace with a balance */
};
extern struct front front;

/* What the doubles do, for all requests from now on. */
struct front_doubles {
    int64_t job_delay_us; /* before a request's job is handed to the store */
    bool holds_jobs;      /* and of none until front_release() */
    int64_t call_us;      /* Start a call */
    int64_t tool_us;      /* Test a tool */
    bool names_answer;    /* host names resolve, to a public address */
    int writes;           /* jobs that write */
    int searches, searches_that_write;
    int calls_started;
    bool refuses_calls;      /* they cannot be dispatched */
    int64_t most_duration_s; /* of the call that was started last */
};
extern struct front_doubles front_doubles;

/* settings: "section.name=value" ..., NULL at the end; NULL: none. */
void front_begin(const char *const *settings);
void front_end(void);
void front_release(void); /* the jobs that were held */

/* A client's connection; answers come into `text`. from: "127.0.0.1" or another loopback address.
 */
struct front_client {
    struct stream *stream;
    struct buf text;
    bool is_closed;
};
void front_connect(struct front_client *client, const char *from);
void front_disconnect(struct front_client *client);
void front_send(struct front_client *client, const char *text);
/* The status of the nth answer (from 1), waited for until max_us; 0: it did not come. */
int front_status(struct front_client *client, int nth, int64_t max_us);

/* One request on a connection of its own. The answer's status, 0: none within a minute; the text of
 * the answer lives until the next front_ask(). key NULL: none. body NULL: none. headers: further
 * ones, each with its CR LF, or NULL. */
struct front_request {
    const char *method, *path, *key, *body, *headers, *from;
};
int front_ask(const struct front_request *request);
const char *front_text(void); /* head and body of the last answer */
/* "name":"value" of the last answer, "" if it has none; lives as long as the front. */
const char *front_field(const char *name);
/* A resource of the last answer is as good as any: its id. Fails the test if it was not made. */
const char *front_make(const char *path, const char *body);
