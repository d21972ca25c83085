#include "event/upkeep.h"

#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "store/dead_letter.h"
#include "store/event.h"
#include "store/outbox.h"
#include "store/store.h"

enum {
    EXPIRE_US = 60 * 1000000,
    EXPIRE_FIRST_US = 2 * 1000000, /* after a start, which has other things to do at first */
    EXPIRE_ROWS = 1000,
    AGAIN_US = 250000, /* after rows of one kind, before more of them */
    COUNT_MIN_US = 1000000,
    COUNT_MAX_US = 60 * 1000000,
    COUNT_ROW_US = 20, /* of pause for each row that was counted: 1% or so of a reader */
    GIVE_UP_MAX = 5000,
    GIVE_UP_ROWS = 250, /* a job: others must not wait long for the writer */
    DROP_ROWS = 500,
};

/* Subscriptions whose deliveries are to be dropped. */
struct drop {
    struct list_node node;
    char webhook_id[];
};

struct upkeep {
    struct upkeep_config config;
    struct task *task; /* with the store */
    struct timer expire, count;
    bool wants_expiry, wants_count;
    int64_t excess[GIVE_UP_MAX]; /* to be given up */
    size_t excess_count, excess_at;
    struct list_node drops;
    bool is_stopping;
};

/* One job. What it has done is told by `done`; it outlives an upkeep that is freed. */
struct task {
    struct upkeep *upkeep; /* NULL: freed meanwhile */
    void (*done)(struct upkeep *upkeep, struct task *task, enum err err);
    int64_t keep_ms, most_waiting;
    int64_t ids[GIVE_UP_ROWS];
    size_t id_count;
    struct outbox_excess excess;
    unsigned rows;
    char name[80];
};

static void next(struct upkeep *upkeep);

static void on_task_done(void *arg, enum err err)
{
    struct task *task = arg;
    struct upkeep *upkeep = task->upkeep;
    if (upkeep) {
        upkeep->task = NULL;
        task->done(upkeep, task, err);
        next(upkeep);
        if (!upkeep->task)
            upkeep->config.on_idle(upkeep->config.arg);
    }
    mem_free(task);
}

static struct task *task_new(struct upkeep *upkeep,
                             void (*done)(struct upkeep *, struct task *, enum err))
{
    struct task *task = mem_new(struct task);
    task->upkeep = upkeep;
    task->done = done;
    task->keep_ms = upkeep->config.keep_ms;
    task->most_waiting = upkeep->config.most_waiting;
    return task;
}

static void run(struct upkeep *upkeep, struct task *task, enum store_mode mode, store_fn *fn)
{
    upkeep->task = task;
    if (store_job(upkeep->config.store, mode, fn, task, upkeep->config.loop, on_task_done) == OK)
        return;
    upkeep->task = NULL;
    task->done(upkeep, task, ERR_BUSY);
    mem_free(task);
}

/* The log is kept for a while only, and so is what was set aside. */

static enum err expire_work(struct tx *tx, void *arg)
{
    struct task *task = arg;
    enum err err = store_dead_letters_expire(tx, tx->now_ms - DEAD_LETTERS_KEEP_MS, EXPIRE_ROWS);
    if (err)
        return err;
    return store_delivery_expire(tx, tx->now_ms - task->keep_ms, EXPIRE_ROWS, &task->rows);
}

static void expire_done(struct upkeep *upkeep, struct task *task, enum err err)
{
    bool has_more = !err && task->rows >= EXPIRE_ROWS;
    timer_set_after(&upkeep->expire, has_more ? AGAIN_US : EXPIRE_US);
}

static void on_expire(void *arg)
{
    struct upkeep *upkeep = arg;
    upkeep->wants_expiry = true;
    next(upkeep);
}

/* The ceiling of a workspace. */

static enum err count_work(struct tx *tx, void *arg)
{
    struct task *task = arg;
    return store_outbox_excess(tx, task->most_waiting, GIVE_UP_MAX, &task->excess);
}

static void count_done(struct upkeep *upkeep, struct task *task, enum err err)
{
    const struct outbox_excess *excess = &task->excess;
    int64_t pause_us = MAX(excess->waiting * COUNT_ROW_US, (int64_t)COUNT_MIN_US);
    timer_set_after(&upkeep->count, err ? EXPIRE_US : MIN(pause_us, (int64_t)COUNT_MAX_US));
    if (err)
        return;
    metric_set(METRIC_WEBHOOK_WAITING, excess->waiting);
    if (excess->count == 0)
        return;
    memcpy(upkeep->excess, excess->ids, excess->count * sizeof(int64_t));
    upkeep->excess_count = excess->count;
    upkeep->excess_at = 0;
    log_warn("webhooks.ceiling", LOG_I("given_up", (int64_t)excess->count),
             LOG_I("most", upkeep->config.most_waiting));
}

static void on_count(void *arg)
{
    struct upkeep *upkeep = arg;
    upkeep->wants_count = true;
    next(upkeep);
}

static enum err give_up_work(struct tx *tx, void *arg)
{
    struct task *task = arg;
    char error[80];
    snprintf(error, sizeof(error), "given up: over %lld deliveries of the workspace waited",
             (long long)task->most_waiting);
    return store_outbox_give_up(tx, task->ids, task->id_count, error, &task->rows);
}

static void give_up_done(struct upkeep *upkeep, struct task *task, enum err err)
{
    if (!err)
        metric_add_label(METRIC_WEBHOOK_GIVEN_UP, "ceiling", task->rows);
    if (!err && upkeep->excess_at < upkeep->excess_count)
        return;
    upkeep->excess_count = 0; /* after a fault: counted anew */
    timer_set_after(&upkeep->count, AGAIN_US);
}

static void give_up_some(struct upkeep *upkeep)
{
    struct task *task = task_new(upkeep, give_up_done);
    task->id_count = MIN(upkeep->excess_count - upkeep->excess_at, (size_t)GIVE_UP_ROWS);
    memcpy(task->ids, upkeep->excess + upkeep->excess_at, task->id_count * sizeof(int64_t));
    upkeep->excess_at += task->id_count;
    run(upkeep, task, STORE_WRITE, give_up_work);
}

/* Subscriptions that are gone. */

static enum err drop_work(struct tx *tx, void *arg)
{
    struct task *task = arg;
    return store_outbox_drop(tx, task->name, DROP_ROWS, &task->rows);
}

/* What is left over after a fault is dropped when it is taken. */
static void drop_done(struct upkeep *upkeep, struct task *task, enum err err)
{
    struct drop *drop = LIST_FIRST(&upkeep->drops, struct drop, node);
    if (!err && task->rows >= DROP_ROWS)
        return;
    list_remove(&drop->node);
    mem_free(drop);
}

void upkeep_drop(struct upkeep *upkeep, const char *webhook_id)
{
    size_t len = strlen(webhook_id) + 1;
    struct drop *drop = mem_zalloc(sizeof(*drop) + len);
    memcpy(drop->webhook_id, webhook_id, len);
    list_push_back(&upkeep->drops, &drop->node);
    next(upkeep);
}

/* What to do next, if anything. */
static void next(struct upkeep *upkeep)
{
    if (upkeep->task || upkeep->is_stopping)
        return;
    struct drop *drop = LIST_FIRST(&upkeep->drops, struct drop, node);
    if (drop) {
        struct task *task = task_new(upkeep, drop_done);
        snprintf(task->name, sizeof(task->name), "%s", drop->webhook_id);
        run(upkeep, task, STORE_WRITE, drop_work);
    } else if (upkeep->excess_count > 0) {
        give_up_some(upkeep);
    } else if (upkeep->wants_count) {
        upkeep->wants_count = false;
        run(upkeep, task_new(upkeep, count_done), STORE_READ, count_work);
    } else if (upkeep->wants_expiry) {
        upkeep->wants_expiry = false;
        run(upkeep, task_new(upkeep, expire_done), STORE_WRITE, expire_work);
    }
}

/* Begin and end. */

struct upkeep *upkeep_new(const struct upkeep_config *config)
{
    struct upkeep *upkeep = mem_new(struct upkeep);
    upkeep->config = *config;
    list_init(&upkeep->drops);
    timer_init(&upkeep->expire, config->loop, on_expire, upkeep);
    timer_init(&upkeep->count, config->loop, on_count, upkeep);
    timer_set_after(&upkeep->expire, EXPIRE_FIRST_US);
    if (config->most_waiting > 0)
        timer_set_after(&upkeep->count, COUNT_MIN_US);
    return upkeep;
}

void upkeep_stop(struct upkeep *upkeep)
{
    upkeep->is_stopping = true;
    timer_stop(&upkeep->expire);
    timer_stop(&upkeep->count);
}

bool upkeep_is_idle(const struct upkeep *upkeep)
{
    return !upkeep->task;
}

void upkeep_free(struct upkeep *upkeep)
{
    struct drop *drop;
    if (!upkeep)
        return;
    upkeep_stop(upkeep);
    if (upkeep->task)
        upkeep->task->upkeep = NULL;
    LIST_EACH (drop, &upkeep->drops, struct drop, node) {
        list_remove(&drop->node);
        mem_free(drop);
    }
    mem_free(upkeep);
}
