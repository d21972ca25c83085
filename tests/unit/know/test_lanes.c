#include "know/lanes.h"

#include <stdio.h>

#include "test.h"

enum { CROWD = 40 };

static struct lane_item *push(struct lanes *lanes, struct lane_item *item, enum lane lane, int who)
{
    char key[16];
    snprintf(key, sizeof(key), "w%d", who);
    *item = (struct lane_item){.lane = lane};
    CHECK_INT(lanes_push(lanes, key, item), OK);
    return item;
}

static size_t run_all(struct lanes *lanes)
{
    size_t count = 0;
    while (lanes_next(lanes))
        count++;
    return count;
}

TEST(a_document_stands_in_the_lane_of_its_kind_and_length)
{
    CHECK_INT(lane_of(DOCUMENT_TEXT, 100), LANE_SHORT);
    CHECK_INT(lane_of(DOCUMENT_TXT, 100), LANE_SHORT);
    CHECK_INT(lane_of(DOCUMENT_TXT, 1000000), LANE_TEXT);
    CHECK_INT(lane_of(DOCUMENT_PDF, 100), LANE_FILE);
    CHECK_INT(lane_of(DOCUMENT_DOCX, 100), LANE_FILE);
}

TEST(a_full_lane_keeps_no_other_waiting)
{
    struct lanes *lanes = lanes_new();
    struct lane_item crowd[LANE_COUNT][CROWD], mine;
    size_t running = 0;
    for (int lane = LANE_COUNT - 1; lane >= 0; lane--) {
        for (int i = 0; i < CROWD; i++)
            push(lanes, &crowd[lane][i], (enum lane)lane, i / 4);
        size_t begun = run_all(lanes);
        CHECK(begun > 0);
        running += begun;
    }
    CHECK_INT(running, 11); /* whoever comes, as many processes at most */
    push(lanes, &mine, LANE_SHORT, 99);
    CHECK(lanes_next(lanes) == NULL);
    lanes_free(lanes);
}

TEST(who_had_a_turn_makes_way_for_who_waits)
{
    struct lanes *lanes = lanes_new();
    struct lane_item slow[6], mine;
    for (int i = 0; i < 6; i++)
        push(lanes, &slow[i], LANE_FILE, i / 2);
    CHECK_INT(run_all(lanes), 3);
    push(lanes, &mine, LANE_FILE, 99);
    CHECK(lanes_are_awaited(lanes, &slow[0]));
    for (int i = 0; i < 6; i++)
        if (slow[i].item.is_running) { /* each has its turn, and goes where the long ones are */
            lanes_done(lanes, &slow[i], LANE_TURN_US);
            slow[i].lane = LANE_LONG;
            char key[16];
            snprintf(key, sizeof(key), "w%d", i / 2);
            CHECK_INT(lanes_push(lanes, key, &slow[i]), OK);
        }
    run_all(lanes);
    CHECK(mine.item.is_running);
    for (int i = 0; i < 6; i++)
        if (slow[i].lane == LANE_LONG)
            CHECK(!lanes_are_awaited(lanes, &slow[i])); /* it is read to its end */
    lanes_free(lanes);
}

TEST(what_is_set_aside_counts_for_its_workspace_alone)
{
    struct lanes *lanes = lanes_new();
    struct lane_item mine[6], other;
    for (int i = 0; i < 6; i++)
        push(lanes, &mine[i], LANE_TEXT, i / 2);
    CHECK_INT(run_all(lanes), 3);
    push(lanes, &other, LANE_TEXT, 99);
    CHECK(lanes_next(lanes) == NULL);
    for (int i = 0; i < 6; i++)
        if (mine[i].item.is_running)
            lanes_set_aside(lanes, &mine[i]);
    CHECK_INT(run_all(lanes), 3);
    CHECK(other.item.is_running);
    for (int i = 0; i < 6; i++)
        if (mine[i].item.is_running)
            lanes_done(lanes, &mine[i], 1);
    lanes_done(lanes, &other, 1);
    lanes_free(lanes);
}
