/* The outbox: deliveries that are due, taken with a lease, and settled. Tenants share it fairly: a
 * delivery stands in a line of its workspace (of a subscription, or of the host that an agent's or
 * a call's webhook names), and when more is due than is taken at once, the workspaces take turns,
 * and in each of them its lines. So a million waiting rows of one tenant cost another a turn. Which
 * lines have room is asked of the caller.
 *
 *   waiting --take--> leased --attempt failed, attempts left--> waiting (due later)
 *                        |---2xx--> delivered    |---4th failure, unreadable--> failed
 *   waiting or leased --subscription removed or disabled--> dropped
 *   waiting, the oldest of more than a workspace may have --> failed
 *
 * Times of the outbox (due, leased until) are of a clock of its own: that of the database, but a
 * step of that clock is taken out of it (struct outbox_clock), so that pauses and leases follow
 * elapsed time. Thread: inside a job. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct store;
struct tx;

/* Memory and the database's time are shared by what an event weighs, not by its count alone. */
enum { OUTBOX_UNIT_BYTES = 16 * 1024 };
static inline unsigned outbox_units(int64_t body_bytes)
{
    return 1 + (unsigned)(body_bytes / OUTBOX_UNIT_BYTES);
}

/* What one process remembers of the database's clock. Zeros at first. */
struct outbox_clock {
    bool is_set;
    int64_t ahead_ms; /* as stored: the outbox's clock before the database's */
    int64_t last_ms;  /* the outbox's clock when it was last read, ... */
    int64_t last_us;  /* ... and the elapsed time then */
};
/* The outbox's time. In a write job a step since the last reading is noted for all nodes. */
int64_t store_outbox_now(struct tx *tx, struct outbox_clock *clock);

/* A delivery that is due, leased to this node. Texts in the job's arena. */
struct outbox_item {
    int64_t id;               /* of the delivery row */
    const char *workspace_id; /* whose */
    const char *webhook_id;   /* of a subscription; "" */
    const char *line;
    const char *event_id; /* evt_... */
    const char *type;     /* call.ended */
    const char *body;     /* the exact bytes to send and sign */
    const char *url;      /* as it is now for a subscription, as stored for the others */
    const char *secret;   /* in clear; "": not signed */
    int attempt;          /* 1 to 4: which attempt this is */
    int64_t late_ms;      /* how long it had been due when it was taken */
    unsigned units;       /* outbox_units() of its body */
};

/* Where the turns stand between two takes. Thread: one job at a time. */
struct outbox_turns;
struct outbox_turns *outbox_turns_new(void);
void outbox_turns_free(struct outbox_turns *turns);

struct outbox_wish {
    unsigned units;     /* at most so many, or one delivery that is larger */
    int64_t lease_ms;   /* from now */
    int64_t longest_ms; /* nothing is due later than so long from now, whatever a clock did */
    bool is_fresh;      /* something may have become due since the last take */
    /* How many deliveries of a line, how many units of a workspace may be taken now. */
    unsigned (*line_room)(const void *arg, const char *workspace_id, const char *line);
    unsigned (*workspace_room)(const void *arg, const char *workspace_id);
    const void *arg;
};
struct outbox_taken {
    struct outbox_item *items; /* oldest due first */
    size_t count;
    unsigned units;
    int64_t next_due_ms;  /* from now, until the next one is due; -1: none waits */
    bool has_more;        /* others may be due for which there is room: take again */
    bool has_held;        /* others are due for which there is no room */
    unsigned round_lines; /* a round over all lines has ended: how many they are; else 0 */
    unsigned unreadable;  /* set aside as failed */
};
enum err store_outbox_take(struct tx *tx, struct outbox_turns *turns,
                           const struct outbox_wish *wish, int64_t now_ms,
                           struct outbox_taken *out) MUST_USE;

struct outbox_result {
    int64_t id;
    unsigned units; /* of the item; not written */
    int attempt;
    int status; /* HTTP status; 0: none came */
    int64_t latency_ms;
    int64_t retry_at_us; /* not 0: failed, due again at this elapsed time; 0: settled */
    bool is_delivered;   /* when settled */
    char error[160];     /* "" */
};
/* Writes the outcomes of attempts. A row that was dropped or taken over meanwhile is left. */
enum err store_outbox_settle(struct tx *tx, int64_t now_ms, const struct outbox_result *results,
                             size_t n) MUST_USE;

/* Each for itself: what the database refuses for good is settled without its words. */
enum err store_outbox_settle_each(struct tx *tx, int64_t now_ms,
                                  const struct outbox_result *results, size_t n) MUST_USE;

/* Workspaces with more than `most` waiting: how many deliveries wait in all, and the oldest ids
 * beyond the ceiling, at most `limit`. A read job: it walks the index of all that waits. */
struct outbox_excess {
    int64_t waiting;
    int64_t *ids;
    size_t count;
};
enum err store_outbox_excess(struct tx *tx, int64_t most, unsigned limit,
                             struct outbox_excess *out) MUST_USE;
/* Gives those up that still wait, with this error. *out_n: how many they were. */
enum err store_outbox_give_up(struct tx *tx, const int64_t *ids, size_t n, const char *error,
                              unsigned *out_n) MUST_USE;
/* Drops what waits for a subscription that was removed or disabled, at most `limit` rows. (What is
 * left over is dropped when it is taken.) */
enum err store_outbox_drop(struct tx *tx, const char *webhook_id, unsigned limit,
                           unsigned *out_n) MUST_USE;

/* For store/. */
/* A delivery as it is added. */
struct outbox_row {
    const char *event_id, *workspace_id, *call_id;
    const char *webhook_id;              /* of a subscription; "" */
    int64_t position;                    /* of a call's own webhook; -1 */
    const char *url;                     /* "": the subscription's, as it is when sent */
    const char *secret;                  /* sealed; "" */
    int64_t body_bytes, created_wall_ms; /* of the event */
};
/* Due at once, by the outbox's clock. Its id; 0: the job has failed. */
int64_t outbox_add(struct tx *tx, const struct outbox_row *row);
/* One of a subscription whose event is still there. ERR_NOT_FOUND. */
enum err outbox_read(struct tx *tx, int64_t id, const char *webhook_id,
                     struct outbox_row *out) MUST_USE;
/* Settles one that waits as failed, without an attempt; returns 0 when it waits no more. */
unsigned outbox_fail(struct tx *tx, int64_t id, const char *error);
