/* Runs of a call's tools: begun, ended, cancelled with their call, read in pieces. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "store/call.h"
#include "store/internal.h"
#include "store/node.h"
#include "unit/store/call_fixture.h"
#include "unit/store/fixture.h"

static void begin_run(struct tx *tx, const char *id, int64_t number, int64_t at_ms)
{
    const struct call_run run = {.number = number,
                                 .name = "order_status",
                                 .kind = TOOL_DURING_CALL,
                                 .at_wall_ms = at_ms,
                                 .arguments = "{\"id\":\"7\"}",
                                 .result = "",
                                 .error = ""};
    CHECK_INT(store_call_run_began(tx, id, &run), OK);
}

STORE_TEST(run_is_listed_while_it_lasts_and_after_it)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = fix_call(fix, tx, 6000);
    struct call_run_list runs;
    int64_t next;
    int64_t t0 = tx->now_ms;
    CHECK_INT(store_call_runs(tx, id, 0, 1000, &runs, &next), OK);
    CHECK(runs.count == 0 && next == -1);
    begin_run(tx, id, 1, t0);
    begin_run(tx, id, 2, t0 + 10);
    tx->now_ms += 250;
    const struct call_run done = {.number = 1,
                                  .status = CALL_RUN_SUCCEEDED,
                                  .http_status = 200,
                                  .ms = 120,
                                  .result = "{\"state\":\"sent\"}",
                                  .error = ""};
    CHECK_INT(store_call_run_ended(tx, id, &done), OK);
    CHECK_INT(store_call_runs(tx, id, 0, 1000, &runs, &next), OK);
    REQUIRE(runs.count == 2 && next == -1);
    const struct call_run *first = &runs.items[0], *second = &runs.items[1];
    CHECK(first->status == CALL_RUN_SUCCEEDED && first->http_status == 200 && first->ms == 120);
    CHECK(first->at_wall_ms == t0 && first->number == 1 && first->kind == TOOL_DURING_CALL);
    CHECK_TEXT(first->name, "order_status");
    CHECK_TEXT(first->arguments, "{\"id\":\"7\"}");
    CHECK_TEXT(first->result, "{\"state\":\"sent\"}");
    CHECK_TEXT(first->error, "");
    CHECK_INT(second->status, CALL_RUN_RUNNING);
    CHECK_INT(second->ms, 240); /* so far */
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(run_that_its_call_leaves_behind_is_cancelled)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = fix_call(fix, tx, 6000), *other = fix_call(fix, tx, 6000);
    struct call_run_list runs;
    int64_t next;
    begin_run(tx, id, 1, tx->now_ms);
    begin_run(tx, id, 2, tx->now_ms + 900); /* by a clock that was ahead */
    begin_run(tx, other, 1, tx->now_ms);
    const struct call_run failed = {
        .number = 2, .status = CALL_RUN_FAILED, .http_status = 504, .result = "", .error = "slow"};
    const struct call_end end = {.reason = END_API, .ended_wall_ms = tx->now_ms + 700};
    CHECK_INT(store_call_end(tx, id, &end, NULL), OK);
    CHECK_INT(store_call_run_ended(tx, id, &failed), ERR_DENIED); /* it is over */
    CHECK_INT(store_call_runs(tx, id, 0, 1000, &runs, &next), OK);
    REQUIRE(runs.count == 2);
    CHECK(runs.items[0].status == CALL_RUN_CANCELLED && runs.items[0].ms == 700);
    CHECK(runs.items[1].status == CALL_RUN_CANCELLED && runs.items[1].ms == 0);
    CHECK_INT(store_call_runs(tx, other, 0, 1000, &runs, &next), OK);
    REQUIRE(runs.count == 1);
    CHECK_INT(runs.items[0].status, CALL_RUN_RUNNING);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(runs_are_read_in_pieces)
{
    enum { RUNS = 100 };
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = fix_call(fix, tx, 6000);
    for (int i = 1; i <= RUNS; i++)
        begin_run(tx, id, i, tx->now_ms + i);
    static const size_t sizes[] = {1, 95, 1 << 20};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        int64_t seen = 0, next = 0;
        while (next >= 0) {
            struct call_run_list runs;
            REQUIRE(store_call_runs(tx, id, next, sizes[i], &runs, &next) == OK);
            for (size_t k = 0; k < runs.count; k++)
                CHECK_INT(runs.items[k].number, ++seen);
        }
        CHECK_INT(seen, RUNS);
    }
    CHECK_INT(fix_commit(tx), OK);
}
