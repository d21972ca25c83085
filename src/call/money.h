/* The money clock of one media loop: every few seconds one transaction debits what its calls have
 * used, marks them durable up to then, and learns when each workspace's money runs out. Asked in
 * between when that moment may have moved (a credit, another call of the workspace) or has come.
 * Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/loop.h"

struct store;

enum { MONEY_EVERY_US = 4 * 1000 * 1000 }; /* contract, Balance of running calls: at least 10 s */

/* A call that is billed; a member of it. */
struct money_seat {
    struct list_node node;
    const char *call_id;
    /* Up to which moment it is used; asked when a checkpoint is made. */
    int64_t (*billed_to_wall_ms)(void *arg);
    /* After the commit. exhausted: MONEY_NEVER_MS, or when the money will be out. */
    void (*told)(void *arg, int64_t exhausted_wall_ms, int64_t embed_spent_usd4, bool is_fenced);
    void *arg;
};

struct money {
    struct store *store;
    struct loop *loop;
    struct list_node seats;
    struct timer timer;
    bool is_busy, is_wanted; /* a job is under way; another is to follow it */
};

void money_init(struct money *money, struct store *store, struct loop *loop);
void money_clear(struct money *money); /* no seat is taken, no job is under way */
void money_join(struct money *money, struct money_seat *seat);
void money_leave(struct money_seat *seat);
/* A checkpoint as soon as possible. */
void money_ask(struct money *money);
