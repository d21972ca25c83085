/* The calls of this node: who is where, and the way in for the API, the command line and app.c.
 * The directory lives on the control loop; each call on one media loop (architecture, idea 1).
 *
 *     created --agent joined--> active --any end reason--> ended
 *        '------------any end reason-----------------------^        (call/life.h)
 *
 * All results come later, on the control loop, never from inside the function.
 * Thread: control loop, except where it says `any`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/codec.h"
#include "base/attr.h"
#include "base/err.h"
#include "call/preview.h"
#include "model/call.h"
#include "room/link.h"

struct call_plan;
struct calls;
struct config;
struct http_client;
struct js;
struct know;
struct loop;
struct registry;
struct room_directory;
struct rooms;
struct snapshots;
struct store;

/* One media loop with what belongs to it. */
struct calls_media {
    struct loop *loop;
    struct rooms *joins; /* whoever joins a room of this loop's calls is sent there */
    struct room_provider rooms;
    struct http_client *http; /* of that loop, for tools; NULL: tools fail */
};

/* What is known of the machine, so that no call spoils the others (load.h). */
struct calls_machine {
    int64_t cores_milli;              /* that the media loops share */
    bool wants_place;                 /* the loops ask for a better one (base/place.h) */
    int64_t frame_ns[CODEC_PROFILES]; /* codec_frame_cost_ns() */
    /* Cores that all programs of the machine use, in thousandths, of the last second. any */
    int64_t (*busy_milli)(void *arg);
    void *arg;
};

/* Borrowed for the life of struct calls. */
struct calls_config {
    struct loop *control;
    const struct calls_media *media;
    size_t media_count;
    const struct config *config;
    struct store *store;
    const struct registry *registry;
    struct know *know;
    struct room_directory *rooms;
    const char *public_url;              /* of this node */
    const struct calls_machine *machine; /* NULL: every call is taken */
};

struct calls *calls_new(const struct calls_config *config);
void calls_free(struct calls *calls); /* after calls_drain() and with the media loops stopped */
DEFINE_AUTO(calls)

typedef void calls_done_fn(void *arg, enum err err, const char *message);

/* Sets the call up: room, engines, before_call tools (30 s at most). Its row exists, in state
 * created. OK: call.started is stored, the caller may join. ERR_UNSUPPORTED: the agent cannot be
 * dispatched; the call is stored as ended (dispatch-failed) and its call.ended with it. */
void calls_start(struct calls *calls, struct call_plan *take_plan, calls_done_fn *done, void *arg);
/* Closes the room and ends the call (api), wherever it runs: what is not here is asked of its node.
 * OK once that is stored. ERR_NOT_FOUND: nobody's, or over already; ERR_CLOSED: its node is dead
 * and recovery will end it; ERR_TIMEOUT: its node did not answer within 10 s; ERR_BUSY: the store.
 */
void calls_end(struct calls *calls, const char *workspace_id, const char *call_id,
               calls_done_fn *done, void *arg);
/* text: 1 to 2,000 code points, copied. Faults as above; ERR_CONFLICT: not active yet; ERR_LIMIT:
 * too many lines are waiting. */
void calls_say(struct calls *calls, const char *workspace_id, const char *call_id, const char *text,
               calls_done_fn *done, void *arg);
/* Who watches a call. */

enum call_news {
    CALL_NEWS_STORED,   /* something more of it is stored: a turn, a tool's run, its state */
    CALL_NEWS_STATE,    /* text: what the agent does now ("listening") */
    CALL_NEWS_PASSAGES, /* text: JSON, what was looked up in the agent's documents, and found */
};
/* text: borrowed; NULL: there is none. It must not begin or end a watch. */
typedef void calls_news_fn(void *arg, enum call_news news, const char *text);
struct calls_watch;
/* NULL: the call is not on this node, or over. What the agent does now is told soon. */
struct calls_watch *calls_watch(struct calls *calls, const char *call_id, calls_news_fn *fn,
                                void *arg) MUST_USE;
void calls_unwatch(struct calls_watch *take_watch); /* NULL is fine */

/* A voice is heard without a call (preview.h); ERR_BUSY too while calls fill this node. */
void calls_preview(struct calls *calls, const struct preview_wish *wish, preview_done_fn *done,
                   void *arg);

/* Where calls can be: the public URL of this node, then of the others that share its database and
 * live; NULL past the last one. A node that begins is known within a second. */
const char *calls_node_url(const struct calls *calls, size_t i);

/* The workspace's balance has changed from outside: its calls learn when it will run out now. */
void calls_credit(struct calls *calls, const char *workspace_id);

/* Ends what a dead process of this node left running (agent-shutdown, billed to the last durable
 * moment). Before the first calls_start(). message: NULL or a fault. */
void calls_recover(struct calls *calls, calls_done_fn *done, void *arg);
/* From now on calls_start() fails (dispatch-failed, with the message "shutting down"); running
 * calls may go on for grace_us, those that nobody has joined for 5 s of it; then they end
 * agent-shutdown. done when none is left and all is stored, or 3 s after the grace: what could not
 * be stored by then is left to recovery. */
void calls_drain(struct calls *calls, int64_t grace_us, calls_done_fn *done, void *arg);

/* Nothing more is written of any call, of one that comes yet neither: the next start, or another
 * node, settles them. Who waits for one is told ERR_CLOSED; what is under way with the store still
 * comes back and lets its call go. In a drain, for when the store takes no more jobs. */
void calls_give_up(struct calls *calls);

size_t calls_count(const struct calls *calls); /* any */
/* What calls of one agent share (call/snapshot.h), for their plans. any. */
struct snapshots *calls_snapshots(const struct calls *calls);
/* Would a call be refused now because the machine holds no more? any */
bool calls_is_full(const struct calls *calls);
/* A tree for `earshot show`: calls with states, timers, queues, engines. done on the control loop,
 * or when that is freed; the tree is the callee's. */
typedef void calls_show_fn(void *arg, struct js *take_tree);
void calls_show(struct calls *calls, calls_show_fn *done, void *arg);
