/* Totals of lists against a recount of the calls themselves, whatever way they began and ended. */
#include <stdio.h>
#include <stdlib.h>

#include "store/agent.h"
#include "store/call.h"
#include "store/internal.h"
#include "store/node.h"
#include "store/schema.h"
#include "unit/store/call_fixture.h"
#include "unit/store/fixture.h"

enum { STEPS = 160, DAYS = 8, DAY_MS = 86400000 };

struct world {
    struct fix *fix;
    struct tx *tx;
    struct text_list running; /* ids; of this node's last start */
    int64_t first_day;
    struct reply_times replies[DAYS]; /* of the calls that ended then */
    unsigned seed;
};

static unsigned pick(struct world *world, unsigned below)
{
    world->seed = world->seed * 1664525U + 1013904223U;
    return (world->seed >> 16) % below;
}

static void begin_one(struct world *world)
{
    struct fix *fix = world->fix;
    const char *id =
        pick(world, 3) ? fix_call(fix, world->tx, 6000) : fix_embed_call(fix, world->tx, 6000);
    *GROW(&world->running, fix->arena) = id;
}

static void join_one(struct world *world)
{
    struct call_funds funds = {.at_us = world->tx->begun_us};
    struct event_agent_joined engines = {"stt", "llm", "tts"};
    if (!world->running.count)
        return;
    const char *id = world->running.items[pick(world, (unsigned)world->running.count)];
    (void)!store_call_agent_joined(world->tx, id, world->tx->now_ms, &engines);
    CHECK_INT(store_call_user_joined(world->tx, id, "caller", world->tx->now_ms, &funds), OK);
}

/* In any of the ways: settled, bare, with money that cannot be settled; now and then twice. */
static void end_one(struct world *world)
{
    if (!world->running.count)
        return;
    struct tx *tx = world->tx;
    unsigned at = pick(world, (unsigned)world->running.count);
    const char *id = world->running.items[at];
    world->running.items[at] = world->running.items[--world->running.count];
    struct call_quality quality = {.turns = 1, .voice_to_voice_ms = {500, 900}};
    bool has_quality = pick(world, 2);
    int64_t day = (tx->now_ms + 5000) / DAY_MS - world->first_day;
    REQUIRE(day < DAYS);
    for (unsigned n = has_quality ? pick(world, 6) : 0; n > 0; n--) {
        int64_t ms = 40 << pick(world, 10);
        reply_times_add(&quality.reply_times, ms);
        reply_times_add(&world->replies[day], ms);
    }
    struct call_end end = {.reason = 1 + pick(world, END_REASON_COUNT - 1),
                           .ended_wall_ms = tx->now_ms + 5000,
                           .billed_ms = 4000,
                           .is_bare = pick(world, 4) == 0,
                           .quality = has_quality ? &quality : NULL};
    bool is_poor = pick(world, 6) == 0;
    if (is_poor)
        EXEC(tx, "UPDATE workspaces SET id = 'away' WHERE id = ?", TEXT(world->fix->workspace_id));
    CHECK_INT(store_call_end(tx, id, &end, NULL), OK);
    if (is_poor)
        EXEC(tx, "UPDATE workspaces SET id = ? WHERE id = 'away'", TEXT(world->fix->workspace_id));
    if (pick(world, 3) == 0)
        CHECK_INT(store_call_end(tx, id, &end, NULL), OK);
}

/* The process dies: what ran is recovered by the next, a few at a time; rows may have been spoilt.
 */
static void crash(struct world *world)
{
    struct tx *tx = world->tx;
    if (world->running.count && pick(world, 2))
        EXEC(tx, "UPDATE calls SET status = 'adrift' WHERE id = ?", TEXT(world->running.items[0]));
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    for (unsigned n = 1; n > 0;)
        CHECK_INT(store_call_recover(tx, 2, pick(world, 3) == 0, &n), OK);
    world->running.count = 0;
}

static void give_up(struct world *world)
{
    if (world->running.count)
        CHECK_INT(store_call_end(world->tx, world->running.items[--world->running.count],
                                 &(struct call_end){.reason = END_DISPATCH_FAILED,
                                                    .ended_wall_ms = world->tx->now_ms},
                                 NULL),
                  OK);
}

static void step(struct world *world)
{
    static void (*const steps[])(struct world *) = {begin_one, begin_one, begin_one, join_one,
                                                    join_one,  end_one,   end_one,   give_up};
    world->tx->now_ms += INT64_C(1000) * pick(world, DAY_MS / 40000);
    if (pick(world, 20) == 0)
        crash(world);
    else
        steps[pick(world, ARRAY_LEN(steps))](world);
}

/* Each filter by itself and with each other one, against the rows. */
static void check_filter(struct tx *tx, const struct call_filter *filter)
{
    struct call_page page;
    const char *agent_id = filter->agent_id ? filter->agent_id : "";
    const char *source = filter->source < 0 ? "" : call_source_names[filter->source];
    const char *status = filter->status < 0 ? "" : call_status_names[filter->status];
    const char *reason = end_reason_names[filter->end_reason];
    int64_t until_ms = filter->until_ms ? filter->until_ms : INT64_MAX;
    int64_t wanted = QUERY_NUMBER(
        tx, -1,
        "SELECT COUNT(*) FROM calls WHERE workspace_id = ? AND (? = '' OR agent_id = ?)"
        " AND (? = '' OR source = ?) AND (? = '' OR status = ?) AND (? = '' OR end_reason = ?)"
        " AND created_ms >= ? AND created_ms < ?",
        TEXT(filter->workspace_id), TEXT(agent_id), TEXT(agent_id), TEXT(source), TEXT(source),
        TEXT(status), TEXT(status), TEXT(reason), TEXT(reason), NUMBER(filter->from_ms),
        NUMBER(until_ms));
    REQUIRE(store_call_list(tx, filter, &page) == OK);
    if (page.total != wanted)
        test_fail(__FILE__, __LINE__, "%s %s %s %s: %d, are %d", agent_id, source, status, reason,
                  (int)page.total, (int)wanted);
    CHECK_INT(page.ids.count, MIN(wanted, (int64_t)filter->limit));
    CHECK_INT(page.next != NULL, wanted > filter->limit);
}

static void check_all(struct world *world, int64_t day_ms)
{
    const char *agents[] = {NULL, world->fix->agent_id, "ua_none"};
    struct call_filter filter = {.workspace_id = world->fix->workspace_id, .limit = 7};
    for (size_t i = 0; i < ARRAY_LEN(agents); i++)
        for (filter.source = -1; filter.source < CALL_SOURCE_COUNT; filter.source++)
            for (filter.status = -1; filter.status < CALL_STATUS_COUNT; filter.status++)
                for (int reason = END_NONE; reason < END_REASON_COUNT; reason++) {
                    filter.agent_id = agents[i];
                    filter.end_reason = reason;
                    filter.from_ms = day_ms;
                    filter.until_ms = day_ms ? day_ms + DAY_MS : 0;
                    check_filter(world->tx, &filter);
                }
}

static void check_usage(struct world *world)
{
    struct tx *tx = world->tx;
    CHECK_INT(QUERY_NUMBER(tx, -1, "SELECT COUNT(*) FROM calls WHERE status = 'ended'"),
              QUERY_NUMBER(tx, -2, "SELECT SUM(calls) FROM usage_days"));
    CHECK_INT(QUERY_NUMBER(tx, -1, "SELECT SUM(cost_usd4) FROM calls WHERE status = 'ended'"),
              QUERY_NUMBER(tx, -2, "SELECT SUM(cost_usd4) FROM usage_days"));
    CHECK_INT(QUERY_NUMBER(tx, -1,
                           "SELECT COUNT(*) FROM (SELECT ended_ms / 86400000, end_reason, agent_id,"
                           " SUM(duration_s) s, COUNT(*) n FROM calls WHERE status = 'ended'"
                           " GROUP BY 1, 2, 3 EXCEPT SELECT day, end_reason, agent_id, seconds,"
                           " calls FROM usage_days) AS missing"),
              0);
}

static void check_replies(struct world *world)
{
    static const char sql[] = "SELECT day"
#define REPLY_TIME(from, below) ", SUM(ms_" #from ")"
#include "model/reply_times.def"
#undef REPLY_TIME
                              " FROM usage_replies WHERE workspace_id = ? GROUP BY day";
    const struct reply_times none = {0};
    int64_t days = 0;
    AUTO(cursor) row = QUERY(world->tx, sql, TEXT(world->fix->workspace_id));
    for (; cursor_next(row); days++) {
        int64_t day = cursor_number(row, 0) - world->first_day;
        REQUIRE(day >= 0 && day < DAYS);
        struct reply_times *wanted = &world->replies[day];
        for (unsigned i = 0; i < REPLY_SIZES; i++)
            CHECK_INT(cursor_number(row, 1 + i), wanted->counts[i]);
        *wanted = none;
    }
    CHECK(days > 1);
    for (int i = 0; i < DAYS; i++)
        CHECK_INT(reply_times_count(&world->replies[i]), 0);
}

STORE_TEST(totals_are_what_a_recount_finds)
{
    fix_people(fix);
    struct world world = {.fix = fix, .tx = fix_write(fix), .seed = 7};
    EXEC(world.tx, "UPDATE workspaces SET balance_usd4 = 100000000");
    CHECK_INT(store_node_start(world.tx, "http://a"), OK);
    int64_t first_ms = world.tx->now_ms;
    world.first_day = first_ms / DAY_MS;
    for (int i = 0; i < STEPS; i++)
        step(&world);
    crash(&world);
    for (int i = 0; i < 5; i++) /* some run on */
        begin_one(&world);
    join_one(&world);
    check_all(&world, 0);
    check_all(&world, first_ms / DAY_MS * DAY_MS + DAY_MS);
    check_usage(&world);
    check_replies(&world);
    CHECK_INT(fix_commit(world.tx), OK);
}

/* of: source, status, end reason */
static void insert_old(struct db *db, size_t id, const char *const *of)
{
    struct fault fault = {0};
    char sql[900];
    snprintf(sql, sizeof(sql),
             "INSERT INTO calls (id, workspace_id, agent_id, room_name, source, status, created_ms,"
             " agent_joined_ms, user_joined_ms, ended_ms, end_reason, duration_s, rate_usd4,"
             " cost_usd4, identity, metadata, metadata_sent, quality, webhook_url, join_until_ms,"
             " owner, owner_epoch, durable_ms, last_event_ms, turns)"
             " VALUES ('%zu', 'usr_1', 'ua_1', 'room', '%s', '%s', %zu, 0, 0, 0, '%s', 0, 0, 0,"
             " 'caller', '{}', '{}', '', '', 0, '', 0, 0, 0, 0)",
             id, of[0], of[1], id, of[2]);
    CHECK_INT(db->ops->script(db, sql, &fault), OK);
}

/* What the migration finds is counted as if it had been counted all along. */
STORE_TEST(calls_of_version_11_are_counted)
{
    static const struct db_value none[] = {{.type = DB_END}};
    struct fault fault = {0};
    struct rows *rows;
    struct db *db = fix_old(fix, "of_version_11", 11);
    REQUIRE(db != NULL);
    static const char *const calls[][4] = {
        {"api", "ended", "api", "3"},    {"api", "ended", "user-left", "2"},
        {"api", "created", "", "1"},     {"embed", "active", "", "4"},
        {"studio", "ended", "api", "5"},
    };
    for (size_t i = 0, id = 0; i < ARRAY_LEN(calls); i++)
        for (int n = atoi(calls[i][3]); n > 0; n--)
            insert_old(db, ++id, calls[i]);
    CHECK_INT(schema_migrate(db, &fault), OK);
    CHECK_TEXT(fault.text, "");
    static const char *const wanted[] = {"api  6",   "api api 3", "api user-left 2",
                                         "embed  4", "studio  5", "studio api 5"};
    REQUIRE(db->ops->query(db,
                           "SELECT source || ' ' || end_reason || ' ' || calls FROM call_counts"
                           " WHERE workspace_id = 'usr_1' AND agent_id = 'ua_1'"
                           " ORDER BY source, end_reason",
                           none, &rows, &fault) == OK);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        REQUIRE(db->ops->next(rows, &fault));
        CHECK_TEXT(db->ops->text(rows, 0, NULL), wanted[i]);
    }
    CHECK(!db->ops->next(rows, &fault));
    db->ops->rows_close(rows);
    db_close(db);
}
