/* The money clock of one media loop: every few seconds one transaction debits what its calls have
 * used, marks them durable up to then, and learns when each workspace's money runs out. Asked in
 * between when that moment may have moved (a credit, another call of the workspace) or has come.
 * All is elapsed time: a clock that is set changes no bill.
 *
 *   a job for all --done--------------------------> told
 *        |--rows of a workspace are held by others,
 *        '--or it was refused--> a job for each such workspace, which waits --> told
 *
 * Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/loop.h"

struct store;

enum {
    MONEY_EVERY_US = 4 * 1000 * 1000, /* contract, Balance of running calls: at least 10 s */
    MONEY_APART_US = 500 * 1000,      /* checkpoints for others' sake: a storm is one in so long */
};

/* A call that is billed; a member of it. */
struct money_seat {
    struct list_node node;
    const char *call_id, *workspace_id;
    int64_t embed_limit_usd4; /* of a day, should the agent be gone */
    int64_t begun_us;         /* when the caller joined */
    /* Up to which moment it is to be billed; asked when a checkpoint is made. */
    int64_t (*billed_to_us)(void *arg);
    /* After the commit: when its money will be out, or MONEY_NEVER_US. */
    void (*told)(void *arg, int64_t exhausted_us, bool is_fenced);
    void *arg;
    uint64_t number; /* given by money_join(): seats stand in its order */
    bool is_alone;   /* a job of its workspace is under way */
};

struct money {
    struct store *store;
    struct loop *loop;
    struct list_node seats;
    uint64_t last_number;
    struct timer timer;
    bool is_busy, is_wanted; /* the job for all is under way; another is to follow it */
    bool is_hinted;          /* another before long */
    int64_t asked_us;        /* when the last one was begun */
};

void money_init(struct money *money, struct store *store, struct loop *loop);
void money_clear(struct money *money); /* no seat is taken, no job is under way */
void money_join(struct money *money, struct money_seat *seat);
void money_leave(struct money_seat *seat);
/* A checkpoint as soon as possible: a call's money seems to be out. */
void money_ask(struct money *money);
/* Something may have moved (a credit, a limit, another call): soon, but not often. */
void money_hint(struct money *money);
