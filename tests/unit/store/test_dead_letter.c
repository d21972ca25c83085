/* Records that can never be written: set aside, counted, named; everything else goes on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "base/js.h"
#include "base/mem.h"
#include "store/call.h"
#include "store/dead_letter.h"
#include "store/internal.h"
#include "store/node.h"
#include "store/webhook.h"
#include "unit/store/call_fixture.h"
#include "unit/store/fixture.h"

static int64_t count(struct tx *tx, const char *table)
{
    return QUERY_NUMBER(tx, -1, arena_printf(tx->arena, "SELECT COUNT(*) FROM %s", table));
}

static struct dead_letter_counts counts_of(struct tx *tx)
{
    struct dead_letter_counts counts = {0};
    struct dead_letter_list newest;
    CHECK_INT(store_dead_letters(tx, 3, &counts, &newest), OK);
    return counts;
}

/* tx_try */

static enum err insert_meta(struct tx *tx, const char *name)
{
    EXEC(tx, "INSERT INTO meta (name, value) VALUES (?, 'x')", TEXT(name));
    return tx_result(tx);
}

static enum err insert_twice(struct tx *tx, void *arg)
{
    tx_touch(tx, STORE_KEYS);
    enum err err = insert_meta(tx, arg);
    return err ? err : insert_meta(tx, arg);
}

static enum err refuse(struct tx *tx, void *arg)
{
    enum err err = insert_meta(tx, arg);
    return err ? err : ERR_CONFLICT;
}

static enum err succeed(struct tx *tx, void *arg)
{
    return insert_meta(tx, arg);
}

static enum err lose(struct tx *tx, void *arg)
{
    (void)arg;
    return fault_set(&tx->fault, ERR_IO, "no space left");
}

STORE_TEST(a_try_that_fails_for_good_leaves_nothing_and_the_job_goes_on)
{
    struct tx *tx = fix_write(fix);
    int64_t before = count(tx, "meta");
    struct fault why = {0};
    CHECK_INT(tx_try(tx, succeed, (void *)"one", &why), OK);
    CHECK_INT(why.err, OK);
    CHECK_INT(tx_try(tx, insert_twice, (void *)"two", &why),
              ERR_INVALID); /* the database refuses it */
    CHECK_INT(why.err, ERR_INVALID);
    CHECK(!tx_has_failed(tx));
    CHECK_INT(tx->changed & STORE_KEYS, 0);
    CHECK_INT(tx_try(tx, refuse, (void *)"three", &why), ERR_CONFLICT);
    CHECK_INT(tx_try(tx, succeed, (void *)"four", &why), OK);
    CHECK_INT(count(tx, "meta"), before + 2);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(a_try_that_meets_a_transient_fault_fails_the_job)
{
    struct tx *tx = fix_write(fix);
    struct fault why = {0};
    CHECK_INT(tx_try(tx, lose, NULL, &why), ERR_IO);
    CHECK(tx_has_failed(tx));
    CHECK_INT(tx_try(tx, succeed, (void *)"never", &why), ERR_IO);
    tx->db->ops->rollback(tx->db);
}

/* The letters. */

STORE_TEST(the_same_again_counts_up_and_each_workspace_has_a_ceiling)
{
    struct tx *tx = fix_write(fix);
    for (int i = 0; i < 3; i++)
        store_dead_letter_add(
            tx, &(struct dead_letter){DEAD_EVENT, "usr_1", "call-1", "too long", "bad \xff bytes"});
    for (int i = 0; i < DEAD_LETTERS_MAX + 20; i++) {
        char subject[20];
        snprintf(subject, sizeof(subject), "call-%d", i);
        tx->now_ms++;
        store_dead_letter_add(tx, &(struct dead_letter){DEAD_WEBHOOK, "usr_2", subject, "no"});
    }
    struct dead_letter_counts counts;
    struct dead_letter_list newest;
    REQUIRE(store_dead_letters(tx, 200, &counts, &newest) == OK);
    CHECK_INT(counts.of_kind[DEAD_EVENT], 3);
    CHECK_INT(counts.of_kind[DEAD_WEBHOOK], DEAD_LETTERS_MAX);
    CHECK_INT(counts.all, DEAD_LETTERS_MAX + 3);
    REQUIRE(newest.count == DEAD_LETTERS_MAX + 1);
    CHECK_TEXT(newest.items[0].subject_id, "call-119");
    const struct dead_letter *first = &newest.items[DEAD_LETTERS_MAX];
    CHECK_TEXT(first->reason, "too long");
    CHECK_TEXT(first->excerpt, "bad \xef\xbf\xbd bytes");
    CHECK_INT(first->count, 3);
    CHECK_INT(store_dead_letters_expire(tx, tx->now_ms, 1000), OK);
    CHECK_INT(counts_of(tx).all, 1); /* the last one happened just now */
    CHECK_INT(fix_commit(tx), OK);
}

/* Events and ends. */

enum { LONG_TEXT = 60000, LONG_TURNS = 100 };

/* Control characters: six bytes each as JSON. */
static void say_long_lines(struct tx *tx, const char *id)
{
    AUTO_MEM char *text = mem_new_n(char, LONG_TEXT + 1);
    for (int i = 0; i < LONG_TURNS; i++) {
        memset(text, '\001', LONG_TEXT);
        int len = snprintf(text, 20, "%d", i);
        text[len] = ' ';
        CHECK_INT(store_call_turn(tx, id, &(struct call_turn){TURN_USER, text, tx->now_ms, NULL}),
                  OK);
    }
}

static const char *body_of(struct tx *tx, const char *id, const char *type)
{
    AUTO(cursor) row =
        QUERY(tx, "SELECT body FROM events WHERE call_id = ? AND type = ?", TEXT(id), TEXT(type));
    return cursor_next(row) ? cursor_text(row, 0) : NULL;
}

STORE_TEST(a_long_call_ends_with_its_newest_turns_in_the_event)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = fix_call(fix, tx, 6000);
    say_long_lines(tx, id);
    struct call call;
    struct call_end end = {.reason = END_API, .ended_wall_ms = tx->now_ms};
    REQUIRE(store_call_end(tx, id, &end, &call) == OK);
    CHECK_INT(call.status, CALL_ENDED);
    CHECK_INT(call.transcript.count, LONG_TURNS); /* the call itself has all */
    const char *body = body_of(tx, id, "call.ended");
    REQUIRE(body != NULL);
    struct fault fault = {0};
    AUTO(js) tree = NULL;
    REQUIRE(js_parse(body, strlen(body), 32, &tree, &fault) == OK);
    const struct js *data = js_get(tree, "data"), *transcript = js_get(data, "transcript");
    CHECK_INT(js_bool(js_get(data, "transcriptTruncated"), false), true);
    size_t kept = js_count(transcript);
    CHECK_INT(kept, 4 * 1024 * 1024 / (6 * LONG_TEXT)); /* 11 of them */
    AUTO_BUF text = BUF_INIT(16 * 1024 * 1024);
    REQUIRE(js_write(transcript, &text) == OK);
    CHECK(text.len <= EVENT_TRANSCRIPT_MAX_BYTES && text.len > EVENT_TRANSCRIPT_MAX_BYTES * 3 / 4);
    CHECK_INT(strncmp(js_text(js_get(js_at(transcript, kept - 1), "text")), "99 ", 3), 0);
    CHECK_INT(counts_of(tx).all, 0);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(a_short_call_has_its_whole_transcript_in_the_event)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = fix_call(fix, tx, 6000);
    for (int i = 0; i < 120; i++) { /* more than a page of reading */
        char text[20];
        snprintf(text, sizeof(text), "%d", i);
        CHECK_INT(store_call_turn(tx, id, &(struct call_turn){TURN_USER, text, tx->now_ms, NULL}),
                  OK);
    }
    struct call_end end = {.reason = END_API, .ended_wall_ms = tx->now_ms};
    REQUIRE(store_call_end(tx, id, &end, NULL) == OK);
    const char *body = body_of(tx, id, "call.ended");
    REQUIRE(body != NULL);
    CHECK(!strstr(body, "transcriptTruncated"));
    struct fault fault = {0};
    AUTO(js) tree = NULL;
    REQUIRE(js_parse(body, strlen(body), 32, &tree, &fault) == OK);
    const struct js *transcript = js_get(js_get(tree, "data"), "transcript");
    REQUIRE(js_count(transcript) == 120);
    for (size_t i = 0; i < 120; i++)
        CHECK_INT(atoi(js_text(js_get(js_at(transcript, i), "text"))), (int)i);
    CHECK_INT(fix_commit(tx), OK);
}

/* Over the ceiling of an event's body, whatever is left out of it. */
static void make_untellable(struct tx *tx, const char *id)
{
    size_t len = 33 * 1024 * 1024;
    AUTO_MEM char *text = mem_new_n(char, len + 1);
    memset(text, 'x', len);
    memcpy(text, "{\"a\":\"", 6);
    memcpy(text + len - 2, "\"}", 2);
    EXEC(tx, "UPDATE calls SET metadata_sent = ? WHERE id = ?", TEXT(text), TEXT(id));
}

STORE_TEST(a_call_with_a_turn_that_does_not_read_ends_without_its_words)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = fix_call(fix, tx, 6000);
    struct call_turn turn = {.role = TURN_USER, .text = "hello", .at_wall_ms = tx->now_ms};
    CHECK_INT(store_call_turn(tx, id, &turn), OK);
    EXEC(tx, "UPDATE call_turns SET role = 'nobody' WHERE call_id = ?", TEXT(id));
    struct call_end end = {.reason = END_API, .ended_wall_ms = tx->now_ms};
    REQUIRE(store_call_end(tx, id, &end, NULL) == OK);
    enum call_status status = CALL_CREATED;
    CHECK_INT(store_call_status(tx, fix->workspace_id, NULL, id, &status), OK);
    CHECK_INT(status, CALL_ENDED);
    CHECK_INT(counts_of(tx).of_kind[DEAD_EVENT], 1);
    CHECK_INT(QUERY_NUMBER(tx, 0, "SELECT COUNT(*) FROM events WHERE type = 'call.ended'"), 1);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(a_call_whose_end_cannot_be_told_ends_all_the_same)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = fix_call(fix, tx, 6000);
    struct call_funds funds = {.at_us = tx->begun_us};
    CHECK_INT(store_call_user_joined(tx, id, "caller", tx->now_ms, &funds), OK);
    make_untellable(tx, id);
    struct call_end end = {.reason = END_USER_LEFT,
                           .ended_wall_ms = tx->now_ms + 10000,
                           .billed_ms = 10000,
                           .left_identity = "caller"};
    struct call call;
    REQUIRE(store_call_end(tx, id, &end, &call) == OK);
    CHECK_INT(call.status, CALL_ENDED);
    CHECK_INT(call.cost_usd4, 1000);
    CHECK_INT(counts_of(tx).of_kind[DEAD_EVENT], 3); /* left, ended, ended without its words */
    CHECK_INT(count(tx, "events"), 1);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(a_call_whose_money_cannot_be_settled_ends_at_what_it_had_taken)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = fix_call(fix, tx, 6000);
    struct call_funds funds = {.at_us = tx->begun_us};
    CHECK_INT(store_call_user_joined(tx, id, "caller", tx->now_ms, &funds), OK);
    EXEC(tx, "DELETE FROM workspaces");
    struct call_end end = {.reason = END_API, .billed_ms = 10000};
    struct call call;
    REQUIRE(store_call_end(tx, id, &end, &call) == OK);
    CHECK_INT(call.status, CALL_ENDED);
    CHECK_INT(call.cost_usd4, 0);
    CHECK_INT(counts_of(tx).of_kind[DEAD_CALL_MONEY], 1);
    CHECK(body_of(tx, id, "call.ended") != NULL);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(receivers_that_do_not_read_cost_the_others_nothing)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    static const char *all[] = {"*"};
    struct webhook good = {.user_id = fix->workspace_id,
                           .url = "https://example.com/a",
                           .events = {all, 1},
                           .is_enabled = true,
                           .secret = "whsec_0123456789abcdef"};
    struct webhook bad = good;
    REQUIRE(store_webhook_insert(tx, &bad) == OK);
    REQUIRE(store_webhook_insert(tx, &good) == OK);
    EXEC(tx, "UPDATE webhooks SET settings = '{broken' WHERE id = ?", TEXT(bad.id));
    const char *id = fix_call(fix, tx, 6000), *other = fix_call(fix, tx, 6000);
    EXEC(tx, "UPDATE call_webhooks SET settings = 'no' WHERE call_id = ?", TEXT(other));
    CHECK_INT(store_call_started(tx, id), OK);
    CHECK_INT(count(tx, "deliveries"), 3); /* the good one, the agent's, the call's */
    CHECK_INT(store_call_started(tx, other), OK);
    CHECK_INT(count(tx, "deliveries"), 5);
    CHECK_INT(counts_of(tx).of_kind[DEAD_WEBHOOK], 3);
    struct call call;
    REQUIRE(store_call_get(tx, fix->workspace_id, NULL, other, &call) == OK);
    CHECK_INT(call.webhooks.count, 0);
    struct call_filter filter = {
        .workspace_id = fix->workspace_id, .status = -1, .source = -1, .limit = 10};
    struct call_page page;
    REQUIRE(store_call_list(tx, &filter, &page) == OK);
    CHECK_INT(page.ids.count, 2);
    CHECK_INT(fix_commit(tx), OK);
}

/* Recovery. */

STORE_TEST(a_call_with_a_wrong_count_of_turns_is_recovered)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    const char *id = fix_call(fix, tx, 6000);
    struct call_turn turn = {TURN_USER, "hello", tx->now_ms};
    for (int i = 0; i < 120; i++)
        CHECK_INT(store_call_turn(tx, id, &turn), OK);
    EXEC(tx, "UPDATE calls SET turns = 9223372036854775807 WHERE id = ?", TEXT(id));
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    unsigned n = 0;
    CHECK_INT(store_call_recover(tx, 50, false, &n), OK);
    CHECK_INT(n, 1);
    const char *body = body_of(tx, id, "call.ended"), *at = body;
    size_t told = 0;
    while (at && (at = strstr(at, "\"hello\"")) && at++)
        told++;
    CHECK_INT(told, 120);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(calls_are_recovered_after_the_row_of_their_node_was_lost)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    for (int i = 0; i < 3; i++)
        CHECK_INT(store_node_start(tx, "http://a"), OK);
    unsigned n = 0;
    fix_call(fix, tx, 6000);
    EXEC(tx, "UPDATE nodes SET epoch = ?", NUMBER(atomic_load(&tx->store->epoch) - 1));
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    CHECK_INT(store_call_recover(tx, 50, false, &n), OK);
    CHECK_INT(n, 1);
    fix_call(fix, tx, 6000);
    EXEC(tx, "DELETE FROM nodes");
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    CHECK_INT(store_call_recover(tx, 50, false, &n), OK);
    CHECK_INT(n, 1);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(one_bad_call_does_not_keep_the_others_from_being_recovered)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    const char *ids[5];
    for (int i = 0; i < 5; i++)
        ids[i] = fix_call(fix, tx, 6000);
    make_untellable(tx, ids[1]);
    EXEC(tx, "UPDATE calls SET workspace_id = 'gone', user_joined_ms = 1 WHERE id = ?",
         TEXT(ids[2]));
    EXEC(tx, "UPDATE call_webhooks SET settings = 'no' WHERE call_id = ?", TEXT(ids[3]));
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    unsigned n = 0;
    CHECK_INT(store_call_recover(tx, 50, false, &n), OK);
    CHECK_INT(n, 5);
    CHECK_INT(QUERY_NUMBER(tx, -1, "SELECT COUNT(*) FROM calls WHERE status <> 'ended'"), 0);
    CHECK(body_of(tx, ids[0], "call.ended") != NULL);
    CHECK(body_of(tx, ids[1], "call.ended") == NULL);
    CHECK(body_of(tx, ids[4], "call.ended") != NULL);
    struct dead_letter_counts counts = counts_of(tx);
    CHECK_INT(counts.of_kind[DEAD_EVENT], 2);
    CHECK_INT(counts.of_kind[DEAD_CALL_MONEY], 1);
    CHECK_INT(counts.of_kind[DEAD_WEBHOOK], 1);
    CHECK_INT(store_call_recover(tx, 50, false, &n), OK);
    CHECK_INT(n, 0);
    CHECK_INT(fix_commit(tx), OK);
}
