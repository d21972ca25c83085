/* Calls: transitions with their events, the transcript, pages, fencing and recovery. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ids.h"
#include "store/agent.h"
#include "store/call.h"
#include "store/internal.h"
#include "store/node.h"
#include "store/workspace.h"
#include "unit/store/call_fixture.h"
#include "unit/store/fixture.h"

static int64_t events_of(struct tx *tx, const char *call_id, const char *type)
{
    return QUERY_NUMBER(tx, -1, "SELECT COUNT(*) FROM events WHERE call_id = ? AND type = ?",
                        TEXT(call_id), TEXT(type));
}

STORE_TEST(call_lives_from_created_to_ended)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = fix_call(fix, tx, 6000);
    struct call call;
    REQUIRE(store_call_get(tx, fix->workspace_id, NULL, id, &call) == OK);
    CHECK_INT(call.status, CALL_CREATED);
    CHECK_TEXT(call.metadata, "{\"order\":7}");
    REQUIRE(call.webhooks.count == 1);
    CHECK_TEXT(call.webhooks.items[0].secret, "whsec_of_the_call");
    CHECK_INT(store_call_started(tx, id), OK);
    struct event_agent_joined engines = {"stt", "llm", "tts"};
    int64_t t0 = tx->now_ms;
    CHECK_INT(store_call_agent_joined(tx, id, t0 + 100, &engines), OK);
    CHECK_INT(store_call_agent_joined(tx, id, t0 + 100, &engines), ERR_CONFLICT);
    struct call_funds funds = {.at_us = tx->begun_us};
    CHECK_INT(store_call_user_joined(tx, id, "caller-1", t0 + 200, &funds), OK);
    CHECK_INT(funds.exhausted_us, tx->begun_us + INT64_C(1000000000)); /* 10 USD, 0.60 a minute */
    for (int i = 0; i < 3; i++) {
        struct call_turn turn = {i % 2 ? TURN_USER : TURN_ASSISTANT, "line \"one\"\n",
                                 t0 + 300 + i};
        CHECK_INT(store_call_turn(tx, id, &turn), OK);
    }
    struct call_quality quality = {.turns = 3, .mos = NAN, .jitter_ms = 2.5};
    struct call_end end = {.reason = END_USER_LEFT,
                           .ended_wall_ms = t0 + 61200,
                           .billed_ms = 60900,
                           .left_identity = "caller-1",
                           .quality = &quality};
    REQUIRE(store_call_end(tx, id, &end, &call) == OK);
    CHECK_INT(call.status, CALL_ENDED);
    CHECK_INT(call.end_reason, END_USER_LEFT);
    CHECK_INT(call.duration_s, 61);
    CHECK_INT(call.cost_usd4, 6100);
    CHECK_INT(call.transcript.count, 3);
    CHECK_TEXT(call.transcript.items[1].text, "line \"one\"\n");
    CHECK_INT(call.transcript.items[1].role, TURN_USER);
    REQUIRE(call.quality != NULL);
    CHECK(call.quality->turns == 3 && isnan(call.quality->mos) && call.quality->jitter_ms == 2.5);
    struct call_end again = {.reason = END_API, .ended_wall_ms = t0 + 70000};
    CHECK_INT(store_call_end(tx, id, &again, &call), OK);
    CHECK_INT(call.end_reason, END_USER_LEFT);
    struct workspace workspace;
    CHECK_INT(store_workspace_get(tx, fix->workspace_id, &workspace), OK);
    CHECK_INT(workspace.balance_usd4, 100000 - 6100);
    struct agent agent;
    CHECK_INT(store_agent_get(tx, fix->workspace_id, fix->agent_id, &agent), OK);
    CHECK_INT(agent.stats.total_calls, 1);
    CHECK_INT(agent.stats.total_seconds, 61);
    CHECK_INT(agent.stats.total_cost_usd4, 6100);
    static const char *const types[] = {"call.started",   "call.agent_joined", "call.user_joined",
                                        "call.user_left", "transcript.user",   "call.ended"};
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        CHECK_INT(events_of(tx, id, types[i]), 1);
    CHECK_INT(events_of(tx, id, "transcript.assistant"), 2);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(a_caller_may_join_before_the_agent)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = fix_call(fix, tx, 6000);
    struct call call;
    struct call_funds funds = {.at_us = tx->begun_us};
    int64_t t0 = tx->now_ms;
    CHECK_INT(store_call_started(tx, id), OK);
    CHECK_INT(store_call_user_joined(tx, id, "caller-1", t0 + 100, &funds), OK);
    REQUIRE(store_call_get(tx, fix->workspace_id, NULL, id, &call) == OK);
    CHECK_INT(call.status, CALL_CREATED);
    CHECK_INT(call.user_joined_wall_ms, t0 + 100);
    CHECK_INT(events_of(tx, id, "call.user_joined"), 1);
    CHECK_INT(events_of(tx, id, "call.agent_joined"), 0);
    struct call_end end = {.reason = END_USER_LEFT,
                           .ended_wall_ms = t0 + 5100,
                           .billed_ms = 5000,
                           .left_identity = "caller-1"};
    REQUIRE(store_call_end(tx, id, &end, &call) == OK);
    CHECK_INT(call.duration_s, 5);
    CHECK_INT(call.cost_usd4, 500);
    CHECK_INT(events_of(tx, id, "call.user_left"), 1);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(events_of_a_call_rise_strictly)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = fix_call(fix, tx, 6000);
    for (int i = 0; i < 20; i++) {
        struct call_turn turn = {TURN_USER, "again", tx->now_ms};
        CHECK_INT(store_call_turn(tx, id, &turn), OK);
    }
    CHECK_INT(QUERY_NUMBER(tx, 0, "SELECT COUNT(DISTINCT created_ms) FROM events"), 20);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(unjoined_call_costs_nothing)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = fix_call(fix, tx, 6000);
    struct call call;
    struct call_end end = {
        .reason = END_NO_USER, .ended_wall_ms = tx->now_ms + 3600000, .billed_ms = 3600000};
    REQUIRE(store_call_end(tx, id, &end, &call) == OK);
    CHECK_INT(call.duration_s, 0);
    CHECK_INT(call.cost_usd4, 0);
    struct agent agent;
    CHECK_INT(store_agent_get(tx, fix->workspace_id, fix->agent_id, &agent), OK);
    CHECK_INT(agent.stats.total_calls, 0);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(calls_are_paged_newest_first)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *ids[7];
    for (int i = 0; i < 7; i++) {
        tx->now_ms += i % 2; /* some share a millisecond */
        ids[i] = fix_call(fix, tx, 6000);
    }
    struct call_end end = {.reason = END_NO_USER, .ended_wall_ms = tx->now_ms};
    CHECK_INT(store_call_end(tx, ids[2], &end, NULL), OK);
    struct call_filter filter = {
        .workspace_id = fix->workspace_id, .status = -1, .source = -1, .limit = 3};
    struct call_page page;
    int seen = 0;
    int64_t last_ms = INT64_MAX;
    do {
        REQUIRE(store_call_list(tx, &filter, &page) == OK);
        CHECK_INT(page.total, 7);
        for (size_t i = 0; i < page.ids.count; i++, seen++) {
            struct call call;
            REQUIRE(store_call_row(tx, fix->workspace_id, NULL, page.ids.items[i], &call) == OK);
            CHECK(call.created_wall_ms <= last_ms);
            last_ms = call.created_wall_ms;
            CHECK_INT(call.webhooks.count, 1);
        }
        filter.before = page.next;
    } while (page.next && seen < 20);
    CHECK_INT(seen, 7);
    filter = (struct call_filter){.workspace_id = fix->workspace_id,
                                  .agent_id = fix->agent_id,
                                  .status = CALL_ENDED,
                                  .limit = 100};
    CHECK_INT(store_call_list(tx, &filter, &page), OK);
    CHECK_INT(page.total, 1);
    CHECK_TEXT(page.ids.items[0], ids[2]);
    CHECK(page.next == NULL);
    filter.agent_id = "ua_other";
    CHECK_INT(store_call_list(tx, &filter, &page), OK);
    CHECK_INT(page.total, 0);
    static const char *const bad[] = {"", "x", "12", "12.", "12.notauuid", "12.'; DROP"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        filter.before = bad[i];
        CHECK_INT(store_call_list(tx, &filter, &page), ERR_INVALID);
    }
    CHECK_INT(fix_commit(tx), OK);
}

static int64_t bodies_with(struct tx *tx, const char *text)
{
    return QUERY_NUMBER(tx, -1, "SELECT COUNT(*) FROM events WHERE body LIKE ?", TEXT(text));
}

STORE_TEST(where_the_time_of_a_turn_went_is_kept_with_it_and_not_told)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = fix_call(fix, tx, 6000);
    struct turn_timing timing = {.at_wall_ms = 1700000000000};
    for (int i = 0; i < POINT_COUNT; i++)
        timing.after_ms[i] = i == POINT_HOLD ? NAN : i * 100 + 0.5;
    struct call_turn question = {TURN_USER, "Why?", tx->now_ms, NULL};
    struct call_turn answer = {TURN_ASSISTANT, "Because.", tx->now_ms, &timing};
    CHECK_INT(store_call_turn(tx, id, &question), OK);
    CHECK_INT(store_call_turn(tx, id, &answer), OK);
    CHECK_INT(store_call_turn(tx, id, &answer), OK);
    EXEC(tx, "UPDATE call_turns SET timing = 'no JSON' WHERE call_id = ? AND position = 2",
         TEXT(id));
    struct call call;
    const char *workspace_id;
    REQUIRE(store_call_workspace(tx, id, &workspace_id) == OK);
    REQUIRE(store_call_get(tx, workspace_id, NULL, id, &call) == OK);
    REQUIRE(call.transcript.count == 3);
    CHECK(!call.transcript.items[0].timing && !call.transcript.items[2].timing);
    const struct turn_timing *kept = call.transcript.items[1].timing;
    REQUIRE(kept != NULL);
    CHECK_INT(kept->at_wall_ms, timing.at_wall_ms);
    CHECK(kept->after_ms[POINT_FIRST_PACKET] == timing.after_ms[POINT_FIRST_PACKET]);
    CHECK(isnan(kept->after_ms[POINT_HOLD]));
    CHECK_INT(store_call_end(tx, id, &(struct call_end){.reason = END_API}, NULL), OK);
    CHECK_INT(bodies_with(tx, "%Because.%"), 3);
    CHECK_INT(bodies_with(tx, "%timing%"), 0);
    CHECK_INT(store_call_workspace(tx, "gone", &workspace_id), ERR_NOT_FOUND);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(a_transcript_is_read_piece_by_piece)
{
    enum { TURNS = 150, TEXT_BYTES = 1000 };
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = fix_call(fix, tx, 6000);
    char text[TEXT_BYTES + 1];
    for (int i = 0; i < TURNS; i++) {
        memset(text, 'a' + i % 26, TEXT_BYTES);
        text[TEXT_BYTES] = '\0';
        CHECK_INT(store_call_turn(tx, id, &(struct call_turn){TURN_USER, text, tx->now_ms, NULL}),
                  OK);
    }
    static const size_t sizes[] = {1,     999,   1000,   1001,   31999,  32000,
                                   32001, 64000, 149999, 150000, 1000000};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct call_turn_list turns;
        int64_t next = 0, seen = 0;
        while (next >= 0 && seen <= TURNS) {
            REQUIRE(store_call_turns(tx, id, next, sizes[i], &turns, &next) == OK);
            CHECK(turns.count * TEXT_BYTES < sizes[i] + TEXT_BYTES);
            for (size_t k = 0; k < turns.count; k++, seen++)
                CHECK_INT(turns.items[k].text[0], 'a' + seen % 26);
        }
        CHECK_INT(seen, TURNS);
    }
    struct call_turn_list none;
    int64_t next;
    CHECK_INT(store_call_turns(tx, "gone", 0, 1000, &none, &next), OK);
    CHECK_INT(next, -1);
    enum call_status status;
    CHECK_INT(store_call_status(tx, fix->workspace_id, NULL, id, &status), OK);
    CHECK_INT(status, CALL_CREATED);
    CHECK_INT(store_call_status(tx, "usr_other", NULL, id, &status), ERR_NOT_FOUND);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(owner_of_an_older_start_is_fenced_off)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    const char *id = fix_call(fix, tx, 6000);
    struct call_funds funds = {.at_us = tx->begun_us};
    CHECK_INT(store_call_user_joined(tx, id, "caller", tx->now_ms, &funds), OK);
    struct call_turn turn = {TURN_USER, "hello", tx->now_ms + 2500};
    CHECK_INT(store_call_turn(tx, id, &turn), OK);
    unsigned n = 9;
    CHECK_INT(store_call_recover(tx, 10, false, &n), OK);
    CHECK_INT(n, 0);
    CHECK_INT(store_node_start(tx, "http://a"), OK); /* the process has been started again */
    CHECK_INT(store_call_turn(tx, id, &turn), ERR_DENIED);
    CHECK_INT(store_call_recover(tx, 10, false, &n), OK);
    CHECK_INT(n, 1);
    struct call call;
    REQUIRE(store_call_get(tx, fix->workspace_id, NULL, id, &call) == OK);
    CHECK_INT(call.end_reason, END_AGENT_SHUTDOWN);
    CHECK_INT(call.ended_wall_ms, turn.at_wall_ms);
    CHECK_INT(call.duration_s, 3);
    CHECK_INT(call.cost_usd4, 300);
    CHECK_INT(call.transcript.count, 1);
    CHECK_INT(events_of(tx, id, "call.ended"), 1);
    CHECK_INT(store_call_recover(tx, 10, false, &n), OK);
    CHECK_INT(n, 0);
    struct call_end end = {.reason = END_API, .ended_wall_ms = tx->now_ms};
    CHECK_INT(store_call_end(tx, id, &end, NULL), OK); /* ended already: no change */
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(failed_job_leaves_nothing_behind)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = fix_call(fix, tx, 6000);
    fix_rollback(tx);
    tx = fix_read(fix);
    struct call call;
    CHECK_INT(store_call_get(tx, fix->workspace_id, NULL, id, &call), ERR_NOT_FOUND);
    CHECK_INT(QUERY_NUMBER(tx, -1, "SELECT COUNT(*) FROM deliveries"), 0);
    fix_rollback(tx);
}

/* Words that nobody knows: a fault that names them, never the first state. */

struct odd_word {
    const char *update, *fault;
};

static enum err read_odd(struct tx *tx, struct fix *fix, const char *id, const char *update)
{
    struct call call;
    EXEC(tx, update, TEXT(id));
    return store_call_get(tx, fix->workspace_id, NULL, id, &call);
}

STORE_TEST(a_stored_word_that_nobody_knows_is_a_fault)
{
    static const struct odd_word words[] = {
        {"UPDATE calls SET status = 'odd' WHERE id = ?", "Call.status does not read: odd"},
        {"UPDATE calls SET source = '' WHERE id = ?", "Call.source does not read: "},
        {"UPDATE calls SET end_reason = 'odd' WHERE id = ?", "Call.end_reason does not read: odd"},
        {"UPDATE call_turns SET role = 'odd' WHERE call_id = ?",
         "CallTurn.role does not read: odd"},
    };
    fix_people(fix);
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        struct tx *tx = fix_write(fix);
        const char *id = fix_call(fix, tx, 6000);
        struct call_turn turn = {.role = TURN_USER, .text = "hello", .at_wall_ms = tx->now_ms};
        CHECK_INT(store_call_turn(tx, id, &turn), OK);
        CHECK_INT(read_odd(tx, fix, id, words[i].update) != OK, true);
        CHECK_INT(tx->fault.err, ERR_INTERNAL);
        CHECK_TEXT(tx->fault.text, words[i].fault);
        tx->fault = (struct fault){0};
        fix_rollback(tx);
    }
}
