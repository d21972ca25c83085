#include "vendor/lane.h"

#include "base/loop.h"
#include "base/mem.h"

enum { WAITING_MAX = 5000, WAITING_MAX_OF_ONE = 500 };

struct lane {
    struct loop *loop;
    struct fair *fair;
    struct timer pump;
};

static void let_go(struct lane *lane)
{
    struct fair_item *item;
    while ((item = fair_next(lane->fair))) {
        struct lane_seat *seat = CONTAINER_OF(item, struct lane_seat, item);
        seat->since_us = loop_now_us(lane->loop);
        seat->go(seat->arg);
    }
}

static void on_pump(void *arg)
{
    let_go(arg);
}

struct lane *lane_new(struct loop *loop, const struct lane_limits *limits)
{
    struct lane *lane = mem_new(struct lane);
    struct fair_limits fair = {
        .waiting_per_key = WAITING_MAX_OF_ONE,
        .waiting = WAITING_MAX,
        .running_per_key = limits->workspace,
        .running = limits->all,
    };
    lane->loop = loop;
    lane->fair = fair_new(&fair);
    timer_init(&lane->pump, loop, on_pump, lane);
    return lane;
}

void lane_free(struct lane *lane)
{
    if (!lane)
        return;
    timer_stop(&lane->pump);
    fair_free(lane->fair);
    mem_free(lane);
}

enum err lane_enter(struct lane *lane, const char *workspace, struct lane_seat *seat)
{
    seat->since_us = 0;
    enum err err = fair_push(lane->fair, workspace, &seat->item);
    seat->is_in = err == OK;
    let_go(lane);
    return err;
}

size_t lane_waiting(const struct lane *lane)
{
    return fair_waiting(lane->fair);
}

/* Others go from the loop, not inside what may be the end of a session. */
void lane_leave(struct lane *lane, struct lane_seat *seat)
{
    if (!seat->is_in)
        return;
    seat->is_in = false;
    if (seat->item.is_running)
        fair_done(lane->fair, &seat->item, MAX(loop_now_us(lane->loop) - seat->since_us, 1));
    else
        fair_remove(lane->fair, &seat->item);
    if (fair_waiting(lane->fair) > 0)
        timer_set_after(&lane->pump, 0);
}
