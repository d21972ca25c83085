/* The dead letters: what can never be written, delivered or read is set aside here, named to the
 * operator (`earshot show`, `earshot doctor`, a metric), and everything else goes on.
 *
 * Faults have classes (tx_try() in store/tx.h tells the first two apart):
 *   transient: the database is away, full or busy. The job fails as a whole and is tried again.
 *   permanent for this record: nothing but this record is at fault. It comes here.
 *
 * One row for each kind and subject; the same again only counts up, and a workspace has at most
 * DEAD_LETTERS_MAX of them, the newest. Thread: inside a job. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct fault;
struct tx;

enum dead_letter_kind {
    DEAD_CALL_RECORD, /* a turn, an error, a step of a call; subject: the call */
    DEAD_CALL_MONEY,  /* the cost of a call that has ended; subject: the call */
    DEAD_CALL_END,    /* the end of a call, of which only its row was written; subject: the call */
    DEAD_EVENT,       /* an event of a call; subject: the call */
    DEAD_WEBHOOK,     /* settings that cannot be read; subject: the subscription, or the call */
    DEAD_AGENT,       /* settings that cannot be read; subject: the agent */
    DEAD_TOOL,        /* settings that cannot be read; subject: the tool */
    DEAD_LETTER_KIND_COUNT
};
extern const char *const dead_letter_kind_names[DEAD_LETTER_KIND_COUNT];

enum {
    DEAD_LETTERS_MAX = 100,        /* of one workspace */
    DEAD_LETTER_EXCERPT_MAX = 500, /* bytes */
};
#define DEAD_LETTERS_KEEP_MS (INT64_C(90) * 86400 * 1000) /* after it happened last */

struct dead_letter {
    enum dead_letter_kind kind;
    const char *workspace_id, *subject_id;
    const char *reason;
    const char *excerpt; /* of what it held; any bytes, cut and cleaned when added; NULL: none */
    int64_t count, first_wall_ms, last_wall_ms; /* out */
};
struct dead_letter_list {
    struct dead_letter *items;
    size_t count;
};

/* A fault of its own fails the job, as any other does. */
void store_dead_letter_add(struct tx *tx, const struct dead_letter *letter);

struct dead_letter_counts {
    int64_t of_kind[DEAD_LETTER_KIND_COUNT]; /* how often, not how many rows */
    int64_t all;
};
/* newest: the latest, at most `limit`, the latest first. */
enum err store_dead_letters(struct tx *tx, unsigned limit, struct dead_letter_counts *out_counts,
                            struct dead_letter_list *out_newest) MUST_USE;
/* Removes those that did not happen again since; at most `limit` rows. */
enum err store_dead_letters_expire(struct tx *tx, int64_t before_wall_ms, unsigned limit) MUST_USE;
