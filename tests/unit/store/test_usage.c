/* Tables of version 17, with calls, become those of today. */
#include <stdio.h>

#include "store/internal.h"
#include "store/schema.h"
#include "unit/store/fixture.h"

#define DAY_MS   INT64_C(86400000)
#define LAST_DAY INT64_C(20000)

struct old_call {
    const char *agent_id, *status;
    int64_t day;
    const char *quality;
    const char *timings[4]; /* of its turns; NULL: no more */
};
#define SPOKEN(ms)                                                                                 \
    "{\"at\":\"2026-01-31T10:00:00.000Z\",\"endpointMs\":300,\"firstPacketMs\":" ms "}"
#define TYPED(ms)                                                                                  \
    "{\"at\":\"2026-01-31T10:00:00.000Z\",\"endpointMs\":null,\"firstPacketMs\":" ms "}"
#define MEDIAN(ms) "{\"turns\":2,\"voiceToVoiceMs\":{\"p50\":" ms ",\"p95\":9000}}"
static const struct old_call calls[] = {
    {"ua_1", "ended", 0, MEDIAN("5000"), {SPOKEN("612.3"), "", SPOKEN("700"), TYPED("300")}},
    {"ua_1", "ended", 0, MEDIAN("830"), {"", ""}},
    {"ua_1", "ended", 0, MEDIAN("null"), {"", ""}},
    {"ua_1", "ended", 0, "", {NULL}},
    {"ua_1", "ended", 0, "{", {SPOKEN("20500"), "x{"}},
    {"ua_1", "ended", 0, "[", {NULL}},
    {"ua_1", "active", 0, "", {SPOKEN("100")}},
    {"ua_1", "ended", 1, "", {SPOKEN("611"), SPOKEN("null")}},
    {"ua_2", "ended", 365, "", {SPOKEN("700")}},
    {"ua_3", "ended", 2, MEDIAN("3000000000"), {""}}, /* of a clock that was set, and of none */
    {"ua_3", "ended", 2, MEDIAN("-40"), {""}},
    {"ua_3",
     "ended",
     2,
     "",
     {SPOKEN("2147483647"), SPOKEN("99999999999.5"), SPOKEN("-1"), SPOKEN("\"soon\"")}},
    {"ua_2", "ended", 366, MEDIAN("700"), {SPOKEN("700")}},
};

static void insert_call(struct db *db, size_t id, const struct old_call *call)
{
    struct fault fault = {0};
    char sql[1200];
    snprintf(sql, sizeof(sql),
             "INSERT INTO calls (id, workspace_id, agent_id, room_name, source, status, created_ms,"
             " agent_joined_ms, user_joined_ms, ended_ms, end_reason, duration_s, rate_usd4,"
             " cost_usd4, identity, metadata, metadata_sent, quality, webhook_url, join_until_ms,"
             " owner, owner_epoch, durable_ms, last_event_ms, turns)"
             " VALUES ('%zu', 'usr_1', '%s', 'room', 'api', '%s', 1, 0, 0, %lld, 'api', 0, 0, 0,"
             " 'caller', '{}', '{}', '%s', '', 0, '', 0, 0, 0, 0)",
             id, call->agent_id, call->status, (long long)((LAST_DAY - call->day) * DAY_MS + 5),
             call->quality);
    CHECK_INT(db->ops->script(db, sql, &fault), OK);
    for (int i = 0; i < 4 && call->timings[i]; i++) {
        snprintf(sql, sizeof(sql),
                 "INSERT INTO call_turns (call_id, position, role, text, at_ms, timing)"
                 " VALUES ('%zu', %d, 'agent', 'Yes.', 1, '%s')",
                 id, i, call->timings[i]);
        CHECK_INT(db->ops->script(db, sql, &fault), OK);
    }
    CHECK_TEXT(fault.text, "");
}

static void check_rows(struct db *db, const char *sql, const char *const *wanted, size_t n)
{
    static const struct db_value none[] = {{.type = DB_END}};
    struct fault fault = {0};
    struct rows *rows;
    REQUIRE(db->ops->query(db, sql, none, &rows, &fault) == OK);
    for (size_t i = 0; i < n; i++)
        if (CHECK(db->ops->next(rows, &fault)))
            CHECK_TEXT(db->ops->text(rows, 0, NULL), wanted[i]);
    CHECK(!db->ops->next(rows, &fault));
    db->ops->rows_close(rows);
}

STORE_TEST(replies_of_version_17_are_counted)
{
    struct fault fault = {0};
    struct db *db = fix_old(fix, "of_version_17", 17);
    REQUIRE(db != NULL);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        insert_call(db, i + 1, &calls[i]);
    CHECK_INT(schema_migrate(db, &fault), OK);
    CHECK_TEXT(fault.text, "");
    static const char *const wanted[] = {"19635 ua_2 0 1 0 0 1", "19998 ua_3 0 0 0 3 3",
                                         "19999 ua_1 1 0 0 0 1", "20000 ua_1 1 1 1 1 4"};
    check_rows(db,
               "SELECT day || ' ' || agent_id || ' ' || ms_594 || ' ' || ms_677 || ' ' || ms_771 ||"
               " ' ' || ms_20000 || ' ' || (ms_0"
#define REPLY_TIME(from, below) " + ms_" #from
#include "model/reply_times.def"
#undef REPLY_TIME
               " - ms_0) FROM usage_replies WHERE workspace_id = 'usr_1' ORDER BY day",
               wanted, ARRAY_LEN(wanted));
    db_close(db);
}

/* As a node of that version writes it, which has not stopped yet. */
STORE_TEST(a_node_of_version_17_counts_on)
{
    struct fault fault = {0};
    struct db *db = fix_old(fix, "beside_version_17", 17);
    REQUIRE(db != NULL);
    CHECK_INT(schema_migrate(db, &fault), OK);
    for (int i = 0; i < 2; i++)
        CHECK_INT(
            db->ops->script(
                db,
                "INSERT INTO usage_days (workspace_id, day, agent_id, end_reason, calls, seconds,"
                " cost_usd4, replies, reply_p50_ms, reply_p95_ms)"
                " VALUES ('usr_1', 20000, 'ua_1', 'api', 1, 60, 900, 1, 600, 800)"
                " ON CONFLICT (workspace_id, day, agent_id, end_reason) DO UPDATE SET"
                " calls = usage_days.calls + excluded.calls,"
                " replies = usage_days.replies + excluded.replies",
                &fault),
            OK);
    CHECK_TEXT(fault.text, "");
    check_rows(db, "SELECT calls || ' ' || replies FROM usage_days", (const char *const[]){"2 2"},
               1);
    db_close(db);
}
