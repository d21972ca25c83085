#include "audio/pacer.h"

#include "base/clock.h"
#include "test.h"

enum { SEATS = 25 };

struct rider {
    struct pacer_seat seat;
    int calls;
    int64_t first_us, last_us, longest_us;
    int leave_after;
};

struct rig {
    struct loop *loop;
    struct pacer *pacer;
    struct timer end;
    struct rider riders[SEATS];
};

static void on_frame(void *arg, int64_t due_us)
{
    struct rider *rider = arg;
    rider->calls++;
    if (rider->last_us)
        rider->longest_us = MAX(rider->longest_us, due_us - rider->last_us);
    else
        rider->first_us = due_us;
    rider->last_us = due_us;
    if (rider->calls == rider->leave_after)
        pacer_leave(&rider->seat);
}

static void on_end(void *arg)
{
    struct rig *rig = arg;
    loop_stop(rig->loop);
}

static void run_for(struct rig *rig, int64_t us)
{
    timer_set_after(&rig->end, us);
    loop_run(rig->loop);
}

static struct rig *rig_new(void)
{
    static struct rig rig;
    rig = (struct rig){.loop = loop_new("pacer")};
    rig.pacer = pacer_open(rig.loop);
    timer_init(&rig.end, rig.loop, on_end, &rig);
    return &rig;
}

static void rig_clear(struct rig *rig)
{
    pacer_close(rig->pacer);
    loop_free(rig->loop);
}

TEST(pacer_spreads_calls_evenly)
{
    struct rig *rig = rig_new();
    for (size_t i = 0; i < SEATS; i++)
        pacer_join(rig->pacer, &rig->riders[i].seat, on_frame, &rig->riders[i]);
    run_for(rig, 1001000);
    for (size_t i = 0; i < SEATS; i++) {
        CHECK(rig->riders[i].calls == 50 || rig->riders[i].calls == 51);
        CHECK_INT(rig->riders[i].longest_us, 20000);
        pacer_leave(&rig->riders[i].seat);
        pacer_leave(&rig->riders[i].seat);
    }
    rig_clear(rig);
}

TEST(pacer_rests_when_nobody_sits)
{
    struct rig *rig = rig_new();
    struct rider *rider = &rig->riders[0];
    rider->leave_after = 3;
    pacer_join(rig->pacer, &rider->seat, on_frame, rider);
    run_for(rig, 300000);
    CHECK_INT(rider->calls, 3);
    int64_t joined_us = loop_now_us(rig->loop);
    rider->leave_after = 0;
    rider->last_us = 0;
    pacer_join(rig->pacer, &rider->seat, on_frame, rider);
    run_for(rig, 50000);
    CHECK(rider->first_us > joined_us && rider->first_us <= joined_us + 20000);
    pacer_leave(&rider->seat);
    rig_clear(rig);
}

TEST(pacer_rephase_comes_within_a_frame_in_an_empty_slot)
{
    struct rig *rig = rig_new();
    for (size_t i = 0; i < 10; i++)
        pacer_join(rig->pacer, &rig->riders[i].seat, on_frame, &rig->riders[i]);
    run_for(rig, 101000);
    struct rider *rider = &rig->riders[3];
    int64_t now_us = loop_now_us(rig->loop), before = rider->last_us;
    int slot = rider->seat.slot;
    pacer_rephase(&rider->seat);
    CHECK_INT(rider->seat.slot, slot); /* the others are taken */
    run_for(rig, 25000);
    CHECK(rider->last_us > now_us && rider->last_us - before <= 40000);
    for (size_t i = 0; i < 10; i++)
        pacer_leave(&rig->riders[i].seat);
    rig_clear(rig);
}
