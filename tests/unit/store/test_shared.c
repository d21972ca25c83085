/* What nodes and requests share: idempotency rows, leases, commands, documents in the queue. */
#include <string.h>

#include "store/agent.h"
#include "store/call.h"
#include "store/document.h"
#include "store/idempotency.h"
#include "store/internal.h"
#include "store/node.h"
#include "unit/store/call_fixture.h"
#include "unit/store/fixture.h"

STORE_TEST(first_answer_is_given_again)
{
    struct tx *tx = fix_write(fix);
    struct idempotency_key key = {"key_1", "/v1/calls", "abc", "sha-1"};
    struct idempotency_key other_body = {"key_1", "/v1/calls", "abc", "sha-2"};
    struct idempotency_key other_owner = {"key_2", "/v1/calls", "abc", "sha-1"};
    struct kept_answer kept;
    CHECK_INT(store_idempotency_reserve(tx, &key, &kept), OK);
    CHECK_INT(store_idempotency_reserve(tx, &key, &kept), ERR_BUSY);
    CHECK_INT(store_idempotency_reserve(tx, &other_body, &kept), ERR_INVALID);
    CHECK_INT(store_idempotency_reserve(tx, &other_owner, &kept), OK);
    struct kept_answer answer = {201, "{\"secret\":\"hush\"}", 17, "agent ua_1"};
    CHECK_INT(store_idempotency_keep(tx, &key, &answer), OK);
    CHECK_INT(store_idempotency_reserve(tx, &key, &kept), ERR_CONFLICT);
    CHECK_INT(kept.status, 201);
    CHECK_TEXT(kept.shown, "agent ua_1");
    CHECK_TEXT(kept.body, "{\"secret\":\"hush\"}");
    CHECK_INT(kept.body_len, 17);
    CHECK_INT(store_idempotency_reserve(tx, &other_body, &kept), ERR_INVALID);
    CHECK_INT(QUERY_NUMBER(tx, -1, "SELECT COUNT(*) FROM idempotency WHERE answer LIKE '%hush%'"),
              0);
    CHECK_INT(store_idempotency_release(tx, &other_owner), OK);
    CHECK_INT(store_idempotency_reserve(tx, &other_owner, &kept), OK);
    tx->now_ms += INT64_C(24) * 3600 * 1000;
    CHECK_INT(store_idempotency_reserve(tx, &key, &kept), OK); /* forgotten after a day */
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(two_nodes_do_not_start_one_request_twice)
{
    struct tx *tx = fix_write(fix);
    struct idempotency_key key = {"key_1", "/v1/calls", "abc", "sha-1"};
    struct kept_answer kept;
    CHECK_INT(store_idempotency_reserve(tx, &key, &kept), OK);
    tx->now_ms += 119000;
    CHECK_INT(store_idempotency_reserve(tx, &key, &kept), ERR_BUSY);
    tx->now_ms += 2000; /* whoever reserved it has died */
    CHECK_INT(store_idempotency_reserve(tx, &key, &kept), OK);
    CHECK_INT(fix_commit(tx), OK);
}

static struct tx *write_on(struct fix *fix, struct store *store)
{
    struct fix other = *fix;
    other.store = store;
    return fix_write(&other);
}

/* Both nodes stand on PostgreSQL; on SQLite there is one process, and its start fences the other's
 * name at once. */
static void fence_a(struct fix *fix, struct tx *tx, const char *call_id)
{
    unsigned n = 9;
    CHECK_INT(store_call_recover(tx, 10, false, &n), OK);
    CHECK_INT(n, 0);
    struct node_sight others[NODES_SEEN_MOST];
    size_t count = 0;
    CHECK_INT(store_node_others(tx, others, &count), OK);
    REQUIRE(count == 1);
    CHECK_TEXT(others[0].id, store_node(fix->store));
    tx->now_ms += 3600000; /* the database's clock is set: that kills nobody */
    CHECK_INT(store_call_recover(tx, 10, false, &n), OK);
    CHECK_INT(n, 0);
    struct node_sight before = others[0];
    before.lease_until_ms--;
    store_node_fence(tx, &before); /* it has renewed since */
    int64_t command = 0;
    CHECK_INT(store_command_ask(tx, COMMAND_END, call_id, NULL, &command), OK);
    store_node_fence(tx, &others[0]);
    CHECK_INT(store_command_ask(tx, COMMAND_END, call_id, NULL, &command), ERR_CLOSED);
    CHECK_INT(store_node_others(tx, others, &count), OK);
    CHECK_INT(count, 0);
}

STORE_TEST(dead_node_s_calls_are_ended_by_another)
{
    fix_people(fix);
    struct store *b = fix_open(fix, "node-b", fix->is_pg ? "-b" : "");
    REQUIRE(b != NULL);
    struct tx *tx = fix_write(fix);
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    const char *id = fix_call(fix, tx, 6000);
    struct call_funds funds;
    CHECK_INT(store_call_user_joined(tx, id, "caller", tx->now_ms, &funds), OK);
    CHECK_INT(store_node_renew(tx), OK);
    CHECK_INT(fix_commit(tx), OK);

    tx = write_on(fix, b);
    CHECK_INT(store_node_start(tx, "http://b"), OK);
    if (fix->is_pg)
        fence_a(fix, tx, id);
    unsigned n = 9;
    CHECK_INT(store_call_recover(tx, 10, false, &n), OK);
    CHECK_INT(n, 1);
    CHECK_INT(fix_commit(tx), OK);

    tx = fix_write(fix); /* a comes back: too late */
    struct call_turn turn = {TURN_USER, "hello?", tx->now_ms};
    CHECK_INT(store_call_turn(tx, id, &turn), ERR_DENIED);
    struct call_checkpoint point = {.billed_to_wall_ms = tx->now_ms};
    strcpy(point.call_id, id);
    CHECK_INT(store_call_checkpoint(tx, &point, 1), OK);
    CHECK(point.is_fenced);
    struct call call;
    REQUIRE(store_call_get(tx, fix->workspace_id, NULL, id, &call) == OK);
    CHECK_INT(call.status, CALL_ENDED);
    CHECK_INT(call.end_reason, END_AGENT_SHUTDOWN);
    CHECK_INT(QUERY_NUMBER(tx, -1, "SELECT COUNT(*) FROM events WHERE type = 'call.ended'"), 1);
    CHECK_INT(store_node_renew(tx), ERR_DENIED);
    CHECK_INT(fix_commit(tx), OK);
    store_close(b);
}

STORE_TEST(a_node_that_stopped_leaves_its_calls_to_others)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    const char *id = fix_call(fix, tx, 6000);
    CHECK_INT(store_node_stop(tx), OK);
    CHECK_INT(store_node_renew(tx), ERR_DENIED);
    CHECK_INT(fix_commit(tx), OK);
    struct store *b = fix_open(fix, "node-b", fix->is_pg ? "-b" : "");
    REQUIRE(b != NULL);
    tx = write_on(fix, b);
    unsigned n = 0;
    CHECK_INT(store_call_recover(tx, 10, true, &n), OK); /* bare: its row, and a dead letter */
    CHECK_INT(n, 1);
    struct call call;
    REQUIRE(store_call_get(tx, fix->workspace_id, NULL, id, &call) == OK);
    CHECK_INT(call.status, CALL_ENDED);
    CHECK_INT(QUERY_NUMBER(tx, -1, "SELECT COUNT(*) FROM dead_letters"), 1);
    CHECK_INT(QUERY_NUMBER(tx, -1, "SELECT COUNT(*) FROM events"), 0);
    CHECK_INT(fix_commit(tx), OK);
    store_close(b);
}

STORE_TEST(command_reaches_its_owner_and_its_answer_comes_back)
{
    fix_people(fix);
    struct store *b = fix_open(fix, "node-b", fix->is_pg ? "-b" : "");
    REQUIRE(b != NULL);
    struct tx *tx = fix_write(fix);
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    const char *id = fix_call(fix, tx, 6000);
    CHECK_INT(fix_commit(tx), OK);
    tx = write_on(fix, b);
    int64_t command = 0;
    CHECK_INT(store_command_ask(tx, COMMAND_SAY, "none", "x", &command), ERR_NOT_FOUND);
    CHECK_INT(store_command_ask(tx, COMMAND_SAY, id, "Hello there", &command), OK);
    struct command *commands;
    size_t n;
    CHECK_INT(store_command_take(tx, 10, &commands, &n), OK);
    CHECK_INT(n, 0); /* not b's call */
    CHECK_INT(fix_commit(tx), OK);
    tx = fix_write(fix);
    CHECK_INT(store_command_take(tx, 10, &commands, &n), OK);
    REQUIRE(n == 1);
    CHECK_INT(commands[0].kind, COMMAND_SAY);
    CHECK_TEXT(commands[0].call_id, id);
    CHECK_TEXT(commands[0].text, "Hello there");
    enum err result = OK;
    CHECK_INT(store_command_result(tx, command, &result), ERR_AGAIN);
    CHECK_INT(store_command_answer(tx, commands[0].id, ERR_CONFLICT), OK);
    CHECK_INT(store_command_take(tx, 10, &commands, &n), OK);
    CHECK_INT(n, 0);
    CHECK_INT(fix_commit(tx), OK);
    tx = write_on(fix, b);
    CHECK_INT(store_command_result(tx, command, &result), OK);
    CHECK_INT(result, ERR_CONFLICT);
    CHECK_INT(store_command_result(tx, command, &result), ERR_AGAIN);
    CHECK_INT(fix_commit(tx), OK);
    store_close(b);
}

STORE_TEST(a_storm_of_commands_is_short_and_delays_no_other_tenant)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    const char *stormy = fix_call(fix, tx, 6000), *second = fix_call(fix, tx, 6000);
    int64_t id = 0;
    for (int i = 0; i < COMMANDS_OF_CALL; i++)
        CHECK_INT(store_command_ask(tx, COMMAND_SAY, stormy, "x", &id), OK);
    CHECK_INT(store_command_ask(tx, COMMAND_SAY, stormy, "x", &id), ERR_LIMIT);
    CHECK_INT(store_command_ask(tx, COMMAND_SAY, second, "x", &id), OK);
    const char *of_storm = fix->workspace_id;
    fix_people_in(fix, tx);
    const char *quiet = fix_call(fix, tx, 6000);
    CHECK_INT(store_command_ask(tx, COMMAND_END, quiet, NULL, &id), OK);
    struct command *commands;
    size_t n;
    CHECK_INT(store_command_take(tx, 4, &commands, &n), OK);
    REQUIRE(n == 4);
    CHECK_TEXT(commands[3].call_id, quiet); /* asked last, taken among the first */
    CHECK(commands[0].id < commands[1].id && commands[1].id < commands[2].id);
    fix->workspace_id = of_storm;
    for (int i = 0; i < COMMANDS_OF_WORKSPACE; i++) {
        const char *other = fix_call(fix, tx, 6000);
        CHECK_INT(store_command_ask(tx, COMMAND_SAY, other, "x", &id),
                  i < COMMANDS_OF_WORKSPACE - COMMANDS_OF_CALL - 1 ? OK : ERR_LIMIT);
    }
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(documents_wait_their_turn_within_their_limits)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct document document, taken;
    for (int i = 0; i < 4; i++) {
        document = (struct document){
            .user_id = fix->workspace_id, .name = "Page", .kind = DOCUMENT_TEXT, .bytes = 5};
        CHECK_INT(store_document_insert(tx, &document, "Hello", 5, 3), i < 3 ? OK : ERR_LIMIT);
    }
    tx->now_ms += 3600001; /* the hour has passed */
    CHECK_INT(store_document_insert(tx, &document, "Hello", 5, 3), OK);
    const char *last = document.id;
    REQUIRE(store_document_take(tx, &taken) == OK);
    const void *source;
    size_t len;
    CHECK_INT(store_document_source(tx, taken.id, &source, &len), OK);
    CHECK(len == 5 && memcmp(source, "Hello", 5) == 0);
    CHECK_INT(store_document_retry(tx, fix->workspace_id, taken.id, &document), ERR_CONFLICT);
    const char *topic = "Greeting";
    struct text_list topics = {&topic, 1};
    struct passage passages[] = {{"Hello", NULL, "en"}, {"Yes", "Hello?", "en"}};
    CHECK_INT(store_document_ready(tx, taken.id, 5, passages, 2, &topics), OK);
    CHECK_INT(store_document_ready(tx, last, 5, passages, 2, &topics), ERR_NOT_FOUND);
    REQUIRE(store_document_get(tx, fix->workspace_id, taken.id, &document) == OK);
    CHECK_INT(document.status, DOCUMENT_READY);
    CHECK_INT(document.card_count, 1);
    CHECK_INT(document.section_count, 1);
    REQUIRE(document.topics.count == 1);
    CHECK_TEXT(document.topics.items[0], "Greeting");
    const char *ids[] = {last, "kd_unknown", taken.id};
    struct text_list list = {ids, 3};
    CHECK_INT(store_document_keep_known(tx, fix->workspace_id, &list, false), OK);
    CHECK_INT(list.count, 2);
    CHECK_INT(store_document_keep_known(tx, fix->workspace_id, &list, true), OK);
    REQUIRE(list.count == 1);
    CHECK_TEXT(list.items[0], taken.id);
    CHECK_INT(store_document_retry(tx, fix->workspace_id, taken.id, &document), OK);
    CHECK_INT(document.status, DOCUMENT_PROCESSING);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(document_of_a_dead_reader_is_taken_again)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    CHECK_INT(store_node_start(tx, ""), OK);
    struct document document = {.user_id = fix->workspace_id, .name = "Page", .bytes = 5}, taken;
    CHECK_INT(store_document_insert(tx, &document, "Hello", 5, 0), OK);
    CHECK_INT(store_document_take(tx, &taken), OK);
    CHECK_INT(store_document_take(tx, &taken), ERR_NOT_FOUND);
    CHECK_INT(store_node_start(tx, ""), OK);
    CHECK_INT(store_document_failed(tx, document.id, "late"), ERR_NOT_FOUND);
    CHECK_INT(store_document_take(tx, &taken), OK);
    CHECK_INT(store_document_failed(tx, document.id, "unreadable"), OK);
    REQUIRE(store_document_get(tx, fix->workspace_id, document.id, &taken) == OK);
    CHECK_TEXT(taken.error, "unreadable");
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(a_removed_document_is_no_longer_known)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct document document = {.user_id = fix->workspace_id, .name = "Page", .bytes = 5};
    CHECK_INT(store_document_insert(tx, &document, "Hello", 5, 0), OK);
    const char *both[] = {document.id, "kd_none"};
    struct text_list ids = {both, 2};
    CHECK_INT(store_document_keep_known(tx, fix->workspace_id, &ids, false), OK);
    REQUIRE(ids.count == 1);
    CHECK_TEXT(ids.items[0], document.id);
    CHECK_INT(store_document_keep_known(tx, fix->workspace_id, &ids, true), OK);
    CHECK_INT(ids.count, 0); /* not read yet */
    ids.count = 1;
    CHECK_INT(store_document_remove(tx, "usr_other", document.id), ERR_NOT_FOUND);
    CHECK_INT(store_document_remove(tx, fix->workspace_id, document.id), OK);
    CHECK_INT(store_document_keep_known(tx, fix->workspace_id, &ids, false), OK);
    CHECK_INT(ids.count, 0);
    CHECK_INT(fix_commit(tx), OK);
}
