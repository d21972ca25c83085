#include "base/metrics.h"
#include "base/states.h"
#include "test.h"

enum { SHUT, OPEN, STATE_COUNT };
enum { PUSH, PULL, EVENT_COUNT };

static const char *const state_names[] = {"shut", "open"};
static const char *const event_names[] = {"push", "pull"};
static const struct states_row rows[] = {
    {SHUT, PUSH, OPEN}, {OPEN, PUSH, OPEN}, {OPEN, PULL, SHUT}};
static const struct states door = {"door",      state_names, event_names,    STATE_COUNT,
                                   EVENT_COUNT, rows,        ARRAY_LEN(rows)};

TEST(a_row_says_where_an_event_leads)
{
    CHECK_INT(states_next(&door, SHUT, PUSH, "front"), OPEN);
    CHECK_INT(states_next(&door, OPEN, PUSH, "front"), OPEN);
    CHECK_INT(states_next(&door, OPEN, PULL, NULL), SHUT);
}

TEST(what_has_no_row_is_refused_and_counted)
{
    int64_t before = metric_read(METRIC_MOVES_REFUSED);
    CHECK_INT(states_next(&door, SHUT, PULL, "front"), STATES_REFUSED);
    CHECK_INT(metric_read(METRIC_MOVES_REFUSED) - before, 1);
    CHECK_INT(states_next(&door, OPEN, PUSH, "front"), OPEN);
    CHECK_INT(metric_read(METRIC_MOVES_REFUSED) - before, 1);
}
