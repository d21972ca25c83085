#include "call/money.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "store/call.h"
#include "store/store.h"

struct checkpoint {
    struct money *money;
    struct call_checkpoint *points;
    size_t count;
};

static void due(void *arg)
{
    money_ask(arg);
}

void money_init(struct money *money, struct store *store, struct loop *loop)
{
    *money = (struct money){.store = store, .loop = loop};
    list_init(&money->seats);
    timer_init(&money->timer, loop, due, money);
}

void money_clear(struct money *money)
{
    timer_stop(&money->timer);
}

void money_join(struct money *money, struct money_seat *seat)
{
    if (list_is_linked(&seat->node))
        return;
    list_push_back(&money->seats, &seat->node);
    if (!timer_is_set(&money->timer) && !money->is_busy)
        timer_set_after(&money->timer, MONEY_EVERY_US);
}

void money_leave(struct money_seat *seat)
{
    list_remove(&seat->node);
}

/* Store thread. */
static enum err job(struct tx *tx, void *arg)
{
    struct checkpoint *checkpoint = arg;
    return store_call_checkpoint(tx, checkpoint->points, checkpoint->count);
}

static void tell(struct money *money, const struct call_checkpoint *point)
{
    struct money_seat *seat;
    LIST_EACH(seat, &money->seats, struct money_seat, node)
    {
        if (strcmp(seat->call_id, point->call_id) != 0)
            continue;
        seat->told(seat->arg, point->exhausted_wall_ms, point->embed_spent_usd4, point->is_fenced);
        return;
    }
}

static void written(void *arg, enum err err)
{
    struct checkpoint *checkpoint = arg;
    struct money *money = checkpoint->money;
    money->is_busy = false;
    for (size_t i = 0; !err && i < checkpoint->count; i++)
        tell(money, &checkpoint->points[i]);
    mem_free(checkpoint->points);
    mem_free(checkpoint);
    if (money->is_wanted)
        money_ask(money);
    else if (!list_is_empty(&money->seats))
        timer_set_after(&money->timer, MONEY_EVERY_US);
}

void money_ask(struct money *money)
{
    money->is_wanted = money->is_busy;
    if (money->is_busy)
        return;
    timer_stop(&money->timer);
    size_t count = 0;
    struct money_seat *seat;
    LIST_EACH(seat, &money->seats, struct money_seat, node)
    count++;
    if (count == 0)
        return;
    struct checkpoint *checkpoint = mem_new(struct checkpoint);
    checkpoint->money = money;
    checkpoint->points = mem_new_n(struct call_checkpoint, count);
    LIST_EACH(seat, &money->seats, struct money_seat, node)
    {
        struct call_checkpoint *point = &checkpoint->points[checkpoint->count++];
        snprintf(point->call_id, sizeof(point->call_id), "%s", seat->call_id);
        point->billed_to_wall_ms = seat->billed_to_wall_ms(seat->arg);
    }
    money->is_busy = true;
    if (store_job(money->store, STORE_WRITE, job, checkpoint, money->loop, written) != OK)
        written(checkpoint, ERR_BUSY);
}
