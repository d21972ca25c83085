/* What nodes and requests share: idempotency rows, leases, commands, documents in the queue. */
#include <stdio.h>
#include <string.h>

#include "store/agent.h"
#include "store/call.h"
#include "store/document.h"
#include "store/idempotency.h"
#include "store/internal.h"
#include "store/node.h"
#include "store/rate.h"
#include "store/visitor.h"
#include "unit/store/call_fixture.h"
#include "unit/store/fixture.h"

static const struct idempotency_limits limits = {1000, 1 << 20};

STORE_TEST(first_answer_is_given_again)
{
    struct tx *tx = fix_write(fix);
    struct idempotency_key key = {"usr_1", limits, "key_1", "/v1/calls", "abc", "sha-1"};
    struct idempotency_key other_body = {"usr_1", limits, "key_1", "/v1/calls", "abc", "sha-2"};
    struct idempotency_key other_owner = {"usr_1", limits, "key_2", "/v1/calls", "abc", "sha-1"};
    struct kept_answer kept;
    CHECK_INT(store_idempotency_reserve(tx, &key), OK);
    CHECK_INT(store_idempotency_answer(tx, &key, &kept), ERR_NOT_FOUND);
    CHECK_INT(store_idempotency_reserve(tx, &key), ERR_BUSY);
    CHECK_INT(store_idempotency_reserve(tx, &other_body), ERR_INVALID);
    CHECK_INT(store_idempotency_reserve(tx, &other_owner), OK);
    struct kept_answer answer = {201, "{\"secret\":\"hush\"}", 17, "agent ua_1"};
    CHECK_INT(store_idempotency_keep(tx, &key, &answer), OK);
    CHECK_INT(store_idempotency_reserve(tx, &key), ERR_CONFLICT);
    CHECK_INT(store_idempotency_answer(tx, &key, &kept), OK);
    CHECK_INT(kept.status, 201);
    CHECK_TEXT(kept.shown, "agent ua_1");
    CHECK_TEXT(kept.body, "{\"secret\":\"hush\"}");
    CHECK_INT(kept.body_len, 17);
    CHECK_INT(store_idempotency_reserve(tx, &other_body), ERR_INVALID);
    CHECK_INT(QUERY_NUMBER(tx, -1, "SELECT COUNT(*) FROM idempotency WHERE answer LIKE '%hush%'"),
              0);
    CHECK_INT(store_idempotency_release(tx, &other_owner), OK);
    CHECK_INT(store_idempotency_reserve(tx, &other_owner), OK);
    tx->now_ms += INT64_C(24) * 3600 * 1000;
    CHECK_INT(store_idempotency_reserve(tx, &key), OK); /* forgotten after a day */
    CHECK_INT(fix_commit(tx), OK);
}

/* As of a tested endpoint: each byte of what it answered is a control character. */
STORE_TEST(a_long_answer_is_kept_as_well)
{
    enum { CHARS = 1 << 18, ESCAPE = 6 };
    struct tx *tx = fix_write(fix);
    struct idempotency_key key = {"usr_1", limits, "key_1", "/v1/tools/x/test", "abc", "sha-1"};
    char *body = arena_alloc(tx->arena, CHARS * ESCAPE);
    for (size_t i = 0; i < CHARS; i++)
        memcpy(body + i * ESCAPE, "\\u0001", ESCAPE);
    struct kept_answer kept, answer = {.status = 200, .body = body, .body_len = CHARS * ESCAPE};
    CHECK_INT(store_idempotency_reserve(tx, &key), OK);
    CHECK_INT(store_idempotency_keep(tx, &key, &answer), OK);
    CHECK_INT(store_idempotency_answer(tx, &key, &kept), OK);
    REQUIRE(kept.body_len == answer.body_len);
    CHECK(memcmp(kept.body, body, kept.body_len) == 0);
    CHECK_INT(fix_commit(tx), OK);
}

/* So many keys of a scope, each with an answer of a kilobyte. */
static void keep_answers(struct tx *tx, const char *scope, struct idempotency_limits most,
                         int count)
{
    char name[32], body[1001] = "";
    memset(body, 'x', sizeof(body) - 1);
    struct kept_answer answer = {.status = 200, .body = body, .body_len = sizeof(body) - 1};
    struct idempotency_key key = {scope, most, scope, "/v1/agents", name, "sha"};
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "%d", i);
        tx->now_ms++;
        CHECK_INT(store_idempotency_reserve(tx, &key), OK);
        CHECK_INT(store_idempotency_keep(tx, &key, &answer), OK);
    }
}

static int64_t kept_of(struct tx *tx, const char *scope)
{
    return QUERY_NUMBER(tx, -1, "SELECT COUNT(*) FROM idempotency WHERE scope = ?", TEXT(scope));
}

STORE_TEST(a_storm_of_keys_pushes_out_its_own_oldest_answers_only)
{
    enum {
        SLACK = 400
    }; /* a look comes with one new key in 32: so many without one are 3 in 10^6 */
    struct tx *tx = fix_write(fix);
    keep_answers(tx, "usr_quiet", (struct idempotency_limits){100, 1 << 20}, 10);
    keep_answers(tx, "usr_many", (struct idempotency_limits){100, 1 << 30}, 1500);
    CHECK(kept_of(tx, "usr_many") >= 100 && kept_of(tx, "usr_many") <= 100 + SLACK);
    keep_answers(tx, "usr_long", (struct idempotency_limits){10000, 200000}, 1500);
    CHECK(kept_of(tx, "usr_long") >= 100 && kept_of(tx, "usr_long") <= 200 + SLACK);
    CHECK_INT(kept_of(tx, "usr_quiet"), 10);
    struct idempotency_key newest = {"usr_many", limits, "usr_many", "/v1/agents", "1499", "sha"};
    CHECK_INT(store_idempotency_reserve(tx, &newest), ERR_CONFLICT);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(answers_over_a_day_old_are_swept_without_a_new_one)
{
    struct tx *tx = fix_write(fix);
    bool is_due = true, has_more = true;
    keep_answers(tx, "usr_1", limits, 600);
    CHECK_INT(store_idempotency_is_due(tx, &is_due), OK);
    CHECK(!is_due);
    tx->now_ms += INT64_C(24) * 3600 * 1000;
    CHECK_INT(store_idempotency_is_due(tx, &is_due), OK);
    CHECK(is_due);
    CHECK_INT(store_idempotency_sweep(tx, &has_more), OK);
    CHECK(has_more);
    CHECK_INT(store_idempotency_sweep(tx, &has_more), OK);
    CHECK(!has_more);
    CHECK_INT(kept_of(tx, "usr_1"), 0);
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
    struct node_sight others[NODES_SEEN_MAX];
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

static int64_t charge_of(const struct rate_telling_list *list, const char *text)
{
    int64_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        count += strcmp(list->items[i].text, text) == 0;
    return count;
}

STORE_TEST(nodes_tell_each_other_what_was_taken)
{
    struct store *b = fix_open(fix, "node-b", fix->is_pg ? "-b" : "");
    REQUIRE(b != NULL);
    struct rate_telling_list told;
    struct tx *tx = fix_write(fix);
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    CHECK_INT(store_rate_exchange(tx, "alone", &told), OK); /* nobody is there to be told */
    CHECK_INT(fix_commit(tx), OK);

    tx = write_on(fix, b);
    CHECK_INT(store_node_start(tx, "http://b"), OK);
    CHECK_INT(store_rate_exchange(tx, "", &told), OK);
    CHECK_INT(told.count, 0);
    CHECK_INT(fix_commit(tx), OK);

    tx = fix_write(fix);
    CHECK_INT(store_rate_exchange(tx, "one", &told), OK);
    CHECK_INT(store_rate_exchange(tx, "two", &told), OK); /* within the same millisecond */
    CHECK_INT(told.count, 0);                             /* not what it told itself */
    CHECK_INT(QUERY_NUMBER(tx, -1, "SELECT COUNT(*) FROM rates WHERE told LIKE '%one%'"), 0);
    CHECK_INT(fix_commit(tx), OK);

    tx = write_on(fix, b);
    CHECK_INT(store_rate_exchange(tx, "", &told), OK);
    CHECK_INT(told.count, 2);
    CHECK_INT(charge_of(&told, "one"), 1);
    CHECK(told.count == 2 && told.items[0].at_ms < told.items[1].at_ms);
    CHECK_INT(fix_commit(tx), OK);

    tx = fix_write(fix);
    tx->now_ms += 11000;
    CHECK_INT(store_rate_exchange(tx, "three", &told), OK);
    CHECK_INT(QUERY_NUMBER(tx, -1, "SELECT COUNT(*) FROM rates"), 1); /* tidied up */
    CHECK_INT(fix_commit(tx), OK);
    store_close(b);
}

STORE_TEST(visitors_are_counted_by_their_address_until_somebody_joins)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    int64_t count = -1;
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    const char *first = fix_call(fix, tx, 6000), *second = fix_call(fix, tx, 6000);
    CHECK_INT(store_visitor_mark(tx, first, "1.2.3.4"), OK);
    CHECK_INT(store_visitor_mark(tx, second, "1.2.3.4"), OK);
    CHECK_INT(store_visitor_waiting(tx, fix->agent_id, "1.2.3.4", &count), OK);
    CHECK_INT(count, 2);
    CHECK_INT(store_visitor_waiting(tx, fix->agent_id, "1.2.3.5", &count), OK);
    CHECK_INT(count, 0);
    CHECK_INT(store_visitor_waiting(tx, "ua_other", "1.2.3.4", &count), OK);
    CHECK_INT(count, 0);
    struct call_funds funds;
    CHECK_INT(store_call_user_joined(tx, first, "caller", tx->now_ms, &funds), OK);
    CHECK_INT(store_visitor_waiting(tx, fix->agent_id, "1.2.3.4", &count), OK);
    CHECK_INT(count, 1);
    CHECK_INT(QUERY_NUMBER(tx, -1, "SELECT COUNT(*) FROM calls WHERE visitor LIKE '%1.2.3%'"), 0);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(two_nodes_do_not_start_one_request_twice)
{
    struct tx *tx = fix_write(fix);
    struct idempotency_key key = {"usr_1", limits, "key_1", "/v1/calls", "abc", "sha-1"};
    CHECK_INT(store_idempotency_reserve(tx, &key), OK);
    tx->now_ms += 119000;
    CHECK_INT(store_idempotency_reserve(tx, &key), ERR_BUSY);
    tx->now_ms += 2000; /* whoever reserved it has died */
    CHECK_INT(store_idempotency_reserve(tx, &key), OK);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(dead_node_s_calls_are_ended_by_another)
{
    fix_people(fix);
    struct store *b = fix_open(fix, "node-b", fix->is_pg ? "-b" : "");
    REQUIRE(b != NULL);
    struct tx *tx = fix_write(fix);
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    const char *id = fix_call(fix, tx, 6000);
    struct call_funds funds = {.at_us = tx->begun_us};
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
    struct call_checkpoint point = {.at_us = tx->begun_us, .lasted_ms = 5, .billed_ms = 5};
    strcpy(point.call_id, id);
    CHECK_INT(store_call_checkpoint(tx, &point, 1, true), OK);
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
    struct command_answer_list answers;
    CHECK_INT(store_command_answers(tx, command, &answers), OK);
    CHECK_INT(answers.count, 0);
    CHECK_INT(store_command_answer(tx, commands[0].id, ERR_CONFLICT), OK);
    CHECK_INT(store_command_take(tx, 10, &commands, &n), OK);
    CHECK_INT(n, 0);
    CHECK_INT(fix_commit(tx), OK);
    tx = write_on(fix, b);
    CHECK_INT(store_command_answers(tx, command, &answers), OK);
    REQUIRE(answers.count == 1);
    CHECK_INT(answers.items[0].id, command);
    CHECK_INT(answers.items[0].result, ERR_CONFLICT);
    CHECK_INT(store_command_answers(tx, command + 1, &answers), OK);
    CHECK_INT(answers.count, 0);
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

STORE_TEST(the_end_of_a_call_is_asked_once_and_has_no_ceiling)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    const char *id = fix_call(fix, tx, 6000);
    int64_t line = 0, first = 0, second = 0;
    for (int i = 0; i < COMMANDS_OF_CALL; i++)
        CHECK_INT(store_command_ask(tx, COMMAND_SAY, id, "x", &line), OK);
    CHECK_INT(store_command_ask(tx, COMMAND_END, id, NULL, &first), OK);
    CHECK_INT(store_command_ask(tx, COMMAND_END, id, NULL, &second), OK);
    CHECK(first > line);
    CHECK_INT(second, first);
    CHECK_INT(store_command_answer(tx, first, ERR_NOT_FOUND), OK);
    CHECK_INT(store_command_ask(tx, COMMAND_END, id, NULL, &second), OK);
    CHECK(second > first); /* the answer told that it was not there: this is asked anew */
    CHECK_INT(fix_commit(tx), OK);
}

static const struct document_source hello = {.data = "Hello", .len = 5};

/* The first of those that wait. */
static enum err take_first(struct tx *tx, struct document *out)
{
    struct document_list list;
    CHECK_INT(store_document_waiting(tx, &list), OK);
    return list.count ? store_document_take(tx, list.items[0].id, out) : ERR_NOT_FOUND;
}

STORE_TEST(documents_wait_their_turn_within_their_limits)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct document document, taken;
    for (int i = 0; i < 4; i++) {
        document = (struct document){
            .user_id = fix->workspace_id, .name = "Page", .kind = DOCUMENT_TEXT, .bytes = 5};
        CHECK_INT(store_document_insert(tx, &document, &hello, 3), i < 3 ? OK : ERR_LIMIT);
    }
    tx->now_ms += 3600001; /* the hour has passed */
    CHECK_INT(store_document_insert(tx, &document, &hello, 3), OK);
    const char *last = document.id;
    REQUIRE(take_first(tx, &taken) == OK);
    const void *source;
    size_t len;
    CHECK_INT(store_document_piece(tx, taken.id, 0, &source, &len), OK);
    CHECK(len == 5 && memcmp(source, "Hello", 5) == 0);
    CHECK_INT(store_document_piece(tx, taken.id, 1, &source, &len), ERR_NOT_FOUND);
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
    CHECK_INT(
        QUERY_NUMBER(tx, -1, "SELECT COUNT(*) FROM passages WHERE document_id = ?", TEXT(taken.id)),
        0); /* until it has been read anew it answers nothing */
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(a_document_of_a_whole_piece_has_no_second_one)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const struct document_source whole = {
        .data = arena_new_n(tx->arena, char, DOCUMENT_PIECE_BYTES), .len = DOCUMENT_PIECE_BYTES};
    struct document document = {.user_id = fix->workspace_id,
                                .name = "Page",
                                .kind = DOCUMENT_TEXT,
                                .bytes = DOCUMENT_PIECE_BYTES};
    memset((char *)whole.data, 'x', whole.len);
    CHECK_INT(store_document_insert(tx, &document, &whole, 3), OK);
    const void *piece;
    size_t len;
    CHECK_INT(store_document_piece(tx, document.id, 0, &piece, &len), OK);
    CHECK_INT(len, DOCUMENT_PIECE_BYTES);
    CHECK_INT(store_document_piece(tx, document.id, 1, &piece, &len), ERR_NOT_FOUND);
    CHECK_INT(fix_commit(tx), OK);
}

static enum err add_page(struct tx *tx, const char *workspace_id)
{
    struct document page = {
        .user_id = workspace_id, .name = "Page", .kind = DOCUMENT_TEXT, .bytes = 5};
    return store_document_insert(tx, &page, &hello, 0);
}

STORE_TEST(documents_of_one_workspace_keep_nobody_waiting)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    char flood[ID_SIZE], other[ID_SIZE];
    snprintf(flood, sizeof(flood), "%s", fix->workspace_id);
    fix_people_in(fix, tx);
    snprintf(other, sizeof(other), "%s", fix->workspace_id);
    REQUIRE(strcmp(flood, other) != 0);
    for (int i = 0; i < DOCUMENTS_WAITING_MAX; i++)
        REQUIRE(add_page(tx, flood) == OK);
    CHECK_INT(add_page(tx, flood), ERR_BUSY);
    for (int i = 0; i < DOCUMENTS_WAITING_FREE; i++)
        CHECK_INT(add_page(tx, other), OK);
    CHECK_INT(add_page(tx, other), ERR_BUSY);
    struct document taken, again;
    REQUIRE(take_first(tx, &taken) == OK);
    CHECK_INT(store_document_failed(tx, taken.id, "unreadable"), OK);
    CHECK_INT(store_document_retry(tx, flood, taken.id, &again), ERR_BUSY);
    CHECK_INT(store_document_retry(tx, flood, "kd_none", &again), ERR_NOT_FOUND);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(a_workspace_holds_500_documents_and_the_service_reads_200)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    for (int i = 0; i < 200; i++)
        REQUIRE(add_page(tx, fix->workspace_id) == OK);
    CHECK_INT(add_page(tx, fix->workspace_id), ERR_BUSY);
    EXEC(tx, "UPDATE documents SET status = 'ready'");
    for (int i = 200; i < 500; i++) {
        REQUIRE(add_page(tx, fix->workspace_id) == OK);
        if (i == 350)
            EXEC(tx, "UPDATE documents SET status = 'ready'");
    }
    CHECK_INT(add_page(tx, fix->workspace_id), ERR_CONFLICT);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(many_passages_are_put_in_slices)
{
    enum { MANY = 2 * PASSAGES_SLICE + 1 };
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct document document = {.user_id = fix->workspace_id, .name = "Page", .bytes = 5}, taken;
    struct passage *passages = arena_new_n(fix->arena, struct passage, MANY), *kept;
    for (size_t i = 0; i < MANY; i++)
        passages[i] = (struct passage){.text = arena_printf(fix->arena, "Text %zu", i)};
    CHECK_INT(store_document_insert(tx, &document, &hello, 0), OK);
    CHECK_INT(store_document_put(tx, document.id, passages, MANY, 0), ERR_NOT_FOUND);
    REQUIRE(take_first(tx, &taken) == OK);
    CHECK_INT(store_document_put(tx, taken.id, passages, MANY, 0), OK);
    CHECK_INT(store_document_put(tx, taken.id, passages, MANY, PASSAGES_SLICE), OK);
    CHECK_INT(store_document_ready(tx, taken.id, 5, passages, MANY, NULL), OK);
    size_t n;
    CHECK_INT(store_document_passages(tx, taken.id, &kept, &n), OK);
    REQUIRE(n == MANY);
    CHECK_TEXT(kept[PASSAGES_SLICE].text, passages[PASSAGES_SLICE].text);
    CHECK_TEXT(kept[MANY - 1].text, passages[MANY - 1].text);
    CHECK_INT(store_document_put(tx, taken.id, passages, MANY, 0), ERR_NOT_FOUND);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(document_of_a_dead_reader_is_taken_again)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    CHECK_INT(store_node_start(tx, ""), OK);
    struct document document = {.user_id = fix->workspace_id, .name = "Page", .bytes = 5}, taken;
    CHECK_INT(store_document_insert(tx, &document, &hello, 0), OK);
    CHECK_INT(take_first(tx, &taken), OK);
    CHECK_INT(take_first(tx, &taken), ERR_NOT_FOUND);
    CHECK_INT(store_node_start(tx, ""), OK);
    CHECK_INT(store_document_failed(tx, document.id, "late"), ERR_NOT_FOUND);
    CHECK_INT(take_first(tx, &taken), OK);
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
    CHECK_INT(store_document_insert(tx, &document, &hello, 0), OK);
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

static int64_t remove_one(struct fix *fix, struct tx *tx)
{
    struct document document = {.user_id = fix->workspace_id, .name = "Page", .bytes = 5};
    CHECK_INT(store_document_insert(tx, &document, &hello, 0), OK);
    CHECK_INT(store_document_remove(tx, fix->workspace_id, document.id), OK);
    return QUERY_NUMBER(tx, -1, "SELECT revision FROM document_changes WHERE document_id = ?",
                        TEXT(document.id));
}

/* An index that has seen 2 would never look again, if counting began anew. */
STORE_TEST(a_lost_counter_of_revisions_goes_on_where_it_was)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    CHECK_INT(remove_one(fix, tx), 1);
    CHECK_INT(remove_one(fix, tx), 2);
    EXEC(tx, "DELETE FROM counters WHERE name = 'revision'");
    CHECK_INT(remove_one(fix, tx), 3);
    CHECK_INT(remove_one(fix, tx), 4);
    CHECK_INT(fix_commit(tx), OK);
}
