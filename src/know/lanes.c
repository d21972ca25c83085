/* See lanes.h: a fair queue for each lane. Thread: its loop. */
#include "know/lanes.h"

#include "base/mem.h"

enum {
    SHORT_BYTES = 64 * 1024, /* cut into passages within milliseconds */
    WAITING = 100000,
};

/* Most that are read at once, of a workspace, and that are set aside: of these one holds as much
 * memory as its text is long. */
static const struct {
    size_t places, of_workspace, aside;
} rows[LANE_COUNT] = {
    [LANE_SHORT] = {3, 2, 64},
    [LANE_TEXT] = {3, 2, 8},
    [LANE_FILE] = {3, 2, 8},
    [LANE_LONG] = {2, 1, 2},
};

struct lanes {
    struct fair *fairs[LANE_COUNT];
    size_t aside[LANE_COUNT];
};

struct lanes *lanes_new(void)
{
    struct lanes *lanes = mem_new(struct lanes);
    for (int i = 0; i < LANE_COUNT; i++)
        lanes->fairs[i] = fair_new(&(struct fair_limits){.waiting = WAITING,
                                                         .running = rows[i].places,
                                                         .running_per_key = rows[i].of_workspace});
    return lanes;
}

void lanes_free(struct lanes *lanes)
{
    for (int i = 0; lanes && i < LANE_COUNT; i++)
        fair_free(lanes->fairs[i]);
    mem_free(lanes);
}

enum lane lane_of(enum document_kind kind, int64_t bytes)
{
    if (kind != DOCUMENT_TEXT && kind != DOCUMENT_TXT)
        return LANE_FILE;
    return bytes <= SHORT_BYTES ? LANE_SHORT : LANE_TEXT;
}

enum err lanes_push(struct lanes *lanes, const char *workspace_id, struct lane_item *item)
{
    return fair_push(lanes->fairs[item->lane], workspace_id, &item->item);
}

struct lane_item *lanes_next(struct lanes *lanes)
{
    for (int i = 0; i < LANE_COUNT; i++) {
        struct fair_item *item = fair_next(lanes->fairs[i]);
        if (item)
            return CONTAINER_OF(item, struct lane_item, item);
    }
    return NULL;
}

bool lanes_are_awaited(const struct lanes *lanes, const struct lane_item *item)
{
    return item->lane != LANE_LONG && fair_waiting(lanes->fairs[item->lane]) > 0;
}

void lanes_set_aside(struct lanes *lanes, struct lane_item *item)
{
    if (item->item.is_aside || lanes->aside[item->lane] >= rows[item->lane].aside)
        return;
    fair_set_aside(lanes->fairs[item->lane], &item->item);
    lanes->aside[item->lane]++;
}

void lanes_done(struct lanes *lanes, struct lane_item *item, int64_t cost_us)
{
    lanes->aside[item->lane] -= item->item.is_aside;
    fair_done(lanes->fairs[item->lane], &item->item, cost_us);
}

void lanes_remove(struct lanes *lanes, struct lane_item *item)
{
    fair_remove(lanes->fairs[item->lane], &item->item);
}
