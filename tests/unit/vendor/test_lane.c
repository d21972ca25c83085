#include "vendor/lane.h"

#include <stdio.h>

#include "base/attr.h"
#include "base/loop.h"
#include "rig.h"
#include "test.h"

enum { MANY = 600 };

struct asker {
    struct lane_seat seat;
    struct lane *lane;
    struct timer done;
    int order; /* of those that went; 0: it has not */
};

static int gone, under_way, most_under_way;

static void finish(void *arg)
{
    struct asker *asker = arg;
    under_way--;
    lane_leave(asker->lane, &asker->seat);
}

static void go(void *arg)
{
    struct asker *asker = arg;
    asker->order = ++gone;
    under_way++;
    most_under_way = under_way > most_under_way ? under_way : most_under_way;
    timer_set_after(&asker->done, 100000);
}

static enum err ask(struct lane *lane, struct loop *loop, const char *workspace,
                    struct asker *asker)
{
    *asker = (struct asker){.lane = lane, .seat = {.go = go, .arg = asker}};
    timer_init(&asker->done, loop, finish, asker);
    return lane_enter(lane, workspace, &asker->seat);
}

TEST(one_workspace_does_not_use_up_the_lane)
{
    static struct asker flood[MANY], one, other;
    struct loop *loop = loop_new("rig");
    struct lane *lane = lane_new(loop, &(struct lane_limits){.all = 8, .workspace = 4});
    gone = under_way = most_under_way = 0;
    int taken = 0;
    for (int i = 0; i < MANY; i++)
        taken += ask(lane, loop, "flood", &flood[i]) == OK;
    CHECK_INT(under_way, 4);
    CHECK_INT(taken, 504);
    CHECK_INT(ask(lane, loop, "one", &one), OK);
    CHECK(one.order > 0); /* at once */
    for (int i = 0; i < 3; i++) {
        loop_run_for(loop, 50000);
        CHECK_INT(ask(lane, loop, "other", &other), OK);
        CHECK(other.order > 0);
        lane_leave(lane, &other.seat);
        timer_stop(&other.done);
        under_way--;
    }
    loop_run_for(loop, 20000000);
    CHECK_INT(gone, taken + 4);
    CHECK(most_under_way <= 8);
    lane_free(lane);
    loop_free(loop);
}

TEST(a_full_lane_lets_the_next_workspace_in_before_the_flood)
{
    static struct asker flood[100], one;
    struct loop *loop = loop_new("rig");
    struct lane *lane = lane_new(loop, &(struct lane_limits){.all = 2, .workspace = 2});
    gone = under_way = most_under_way = 0;
    for (size_t i = 0; i < ARRAY_LEN(flood); i++)
        CHECK_INT(ask(lane, loop, "flood", &flood[i]), OK);
    CHECK_INT(ask(lane, loop, "one", &one), OK);
    CHECK_INT(one.order, 0);
    lane_leave(lane, &flood[50].seat); /* one that waits is wanted no more */
    loop_run_for(loop, 150000);
    CHECK_INT(one.order, 3);
    loop_run_for(loop, 20000000);
    CHECK_INT(gone, 100);
    CHECK_INT(flood[50].order, 0);
    lane_free(lane);
    loop_free(loop);
}
