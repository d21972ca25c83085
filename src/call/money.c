#include "call/money.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/call.h"
#include "store/store.h"

struct checkpoint {
    struct money *money;
    char workspace_id[ID_SIZE]; /* "": all */
    struct call_checkpoint *points;
    uint64_t *numbers; /* of the seats */
    size_t count;
};

static void on_due(void *arg)
{
    money_ask(arg);
}

void money_init(struct money *money, struct store *store, struct loop *loop)
{
    *money = (struct money){.store = store, .loop = loop};
    list_init(&money->seats);
    timer_init(&money->timer, loop, on_due, money);
}

void money_clear(struct money *money)
{
    timer_stop(&money->timer);
}

void money_join(struct money *money, struct money_seat *seat)
{
    if (list_is_linked(&seat->node))
        return;
    seat->number = ++money->last_number;
    list_push_back(&money->seats, &seat->node);
    if (!timer_is_set(&money->timer) && !money->is_busy)
        timer_set_after(&money->timer, MONEY_EVERY_US);
}

void money_leave(struct money_seat *seat)
{
    list_remove(&seat->node);
}

/* What a job takes along. */

static bool is_in(const struct money_seat *seat, const char *workspace_id)
{
    return *workspace_id ? strcmp(seat->workspace_id, workspace_id) == 0 : !seat->is_alone;
}

static void measure(const struct money *money, const struct money_seat *seat,
                    struct call_checkpoint *out)
{
    int64_t now_us = loop_now_us(money->loop);
    snprintf(out->call_id, sizeof(out->call_id), "%s", seat->call_id);
    out->at_us = now_us;
    out->lasted_ms = (now_us - seat->begun_us) / 1000;
    out->billed_ms = MAX(seat->billed_to_us(seat->arg) - seat->begun_us, (int64_t)0) / 1000;
    out->embed_limit_usd4 = seat->embed_limit_usd4;
}

static struct checkpoint *checkpoint_new(struct money *money, const char *workspace_id)
{
    size_t count = 0;
    struct money_seat *seat;
    LIST_EACH (seat, &money->seats, struct money_seat, node)
        count += is_in(seat, workspace_id);
    if (count == 0)
        return NULL;
    struct checkpoint *checkpoint = mem_new(struct checkpoint);
    checkpoint->money = money;
    snprintf(checkpoint->workspace_id, sizeof(checkpoint->workspace_id), "%s", workspace_id);
    checkpoint->points = mem_new_n(struct call_checkpoint, count);
    checkpoint->numbers = mem_new_n(uint64_t, count);
    LIST_EACH (seat, &money->seats, struct money_seat, node) {
        if (!is_in(seat, workspace_id))
            continue;
        seat->is_alone = *workspace_id;
        checkpoint->numbers[checkpoint->count] = seat->number;
        measure(money, seat, &checkpoint->points[checkpoint->count++]);
    }
    return checkpoint;
}

static void checkpoint_free(struct checkpoint *checkpoint)
{
    mem_free(checkpoint->points);
    mem_free(checkpoint->numbers);
    mem_free(checkpoint);
}

/* Seats and points stand in the same order; some of the former may have left meanwhile. */
static void each_seat(struct checkpoint *checkpoint,
                      void (*fn)(struct money_seat *seat, const struct call_checkpoint *point))
{
    size_t i = 0;
    struct money_seat *seat;
    LIST_EACH (seat, &checkpoint->money->seats, struct money_seat, node) {
        while (i < checkpoint->count && checkpoint->numbers[i] < seat->number)
            i++;
        if (i == checkpoint->count)
            return;
        if (checkpoint->numbers[i] == seat->number)
            fn(seat, &checkpoint->points[i]);
    }
}

static void tell(struct money_seat *seat, const struct call_checkpoint *point)
{
    if (!point->is_passed)
        seat->told(seat->arg, point->exhausted_us, point->is_fenced);
}

static void run(struct checkpoint *checkpoint, store_fn *fn, store_done_fn *done)
{
    struct money *money = checkpoint->money;
    const char *workspace_id = checkpoint->workspace_id;
    struct store_line line = {.key = *workspace_id ? workspace_id : FAIR_OPERATOR,
                              .mode = STORE_WRITE,
                              .lane = STORE_OWN};
    if (store_job_for(money->store, line, fn, checkpoint, money->loop, done) != OK)
        done(checkpoint, ERR_BUSY);
}

/* One workspace, whose rows are waited for. */

/* Store thread. */
static enum err job_for_one(struct tx *tx, void *arg)
{
    struct checkpoint *checkpoint = arg;
    return store_call_checkpoint(tx, checkpoint->points, checkpoint->count, true);
}

static void end_alone(struct money_seat *seat, const struct call_checkpoint *point)
{
    (void)point;
    seat->is_alone = false;
}

static void on_one_written(void *arg, enum err err)
{
    struct checkpoint *checkpoint = arg;
    each_seat(checkpoint, end_alone);
    if (!err)
        each_seat(checkpoint, tell);
    else
        log_warn("call.money_waits", LOG_S("workspace", checkpoint->workspace_id),
                 LOG_S("error", err_name(err)));
    checkpoint_free(checkpoint);
}

static void ask_for_one(struct money *money, const char *workspace_id)
{
    struct checkpoint *checkpoint = checkpoint_new(money, workspace_id);
    if (checkpoint)
        run(checkpoint, job_for_one, on_one_written);
}

/* All. */

static int64_t next_us(const struct money *money)
{
    int64_t now_us = loop_now_us(money->loop);
    return money->is_hinted ? MAX(now_us, money->asked_us + MONEY_APART_US)
                            : now_us + MONEY_EVERY_US;
}

/* Store thread. */
static enum err job_for_all(struct tx *tx, void *arg)
{
    struct checkpoint *checkpoint = arg;
    return store_call_checkpoint(tx, checkpoint->points, checkpoint->count, false);
}

/* A refusal of the whole is some one's fault: each workspace by itself tells whose. */
static void ask_for_passed(struct checkpoint *checkpoint, bool is_refused)
{
    struct money *money = checkpoint->money;
    size_t i = 0;
    struct money_seat *seat;
    LIST_EACH (seat, &money->seats, struct money_seat, node) {
        while (i < checkpoint->count && checkpoint->numbers[i] < seat->number)
            i++;
        bool is_passed = i < checkpoint->count && checkpoint->numbers[i] == seat->number &&
                         (is_refused || checkpoint->points[i].is_passed);
        if (is_passed && !seat->is_alone)
            ask_for_one(money, seat->workspace_id);
    }
}

static void on_all_written(void *arg, enum err err)
{
    struct checkpoint *checkpoint = arg;
    struct money *money = checkpoint->money;
    money->is_busy = false;
    if (!err)
        each_seat(checkpoint, tell);
    if (!store_is_transient(err))
        ask_for_passed(checkpoint, err != OK);
    checkpoint_free(checkpoint);
    if (money->is_wanted)
        money_ask(money);
    else if (!list_is_empty(&money->seats))
        timer_set(&money->timer, next_us(money));
}

void money_ask(struct money *money)
{
    money->is_wanted = money->is_busy;
    if (money->is_busy)
        return;
    timer_stop(&money->timer);
    money->is_hinted = false;
    money->asked_us = loop_now_us(money->loop);
    struct checkpoint *checkpoint = checkpoint_new(money, "");
    if (checkpoint) {
        money->is_busy = true;
        run(checkpoint, job_for_all, on_all_written);
    } else if (!list_is_empty(&money->seats)) {
        timer_set_after(&money->timer, MONEY_EVERY_US);
    }
}

void money_hint(struct money *money)
{
    if (list_is_empty(&money->seats))
        return;
    money->is_hinted = true;
    if (!money->is_busy)
        timer_set(&money->timer, next_us(money));
}
