/* Workspaces, keys, agents, tools, subscriptions: written, read back, fenced by workspace. */
#include <string.h>

#include "base/ids.h"
#include "store/agent.h"
#include "store/api_key.h"
#include "store/internal.h"
#include "store/page.h"
#include "store/tool.h"
#include "store/tx.h"
#include "store/webhook.h"
#include "store/workspace.h"
#include "unit/store/fixture.h"

STORE_TEST(workspace_reads_back)
{
    struct tx *tx = fix_write(fix);
    struct workspace made = {.name = "Müller & Söhne \xF0\x9F\x93\x9E",
                             .plan = "standard",
                             .balance_usd4 = 250000,
                             .max_concurrent_calls = 7};
    CHECK_INT(store_workspace_insert(tx, &made), OK);
    CHECK_INT(fix_commit(tx), OK);
    tx = fix_read(fix);
    struct workspace read;
    REQUIRE(store_workspace_get(tx, made.id, &read) == OK);
    CHECK_TEXT(read.name, made.name);
    CHECK_TEXT(read.currency, "USD");
    CHECK_INT(read.balance_usd4, 250000);
    CHECK_INT(read.max_concurrent_calls, 7);
    CHECK_INT(read.created_wall_ms, made.created_wall_ms);
    CHECK_INT(store_workspace_get(tx, "usr_nobody", &read), ERR_NOT_FOUND);
    struct workspace_list list;
    CHECK_INT(store_workspace_list(tx, &list), OK);
    CHECK_INT(list.count, 1);
    fix_rollback(tx);
}

STORE_TEST(credit_adds_and_never_falls_below_zero)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct workspace now;
    CHECK_INT(store_workspace_credit(tx, fix->workspace_id, 50000, &now), OK);
    CHECK_INT(now.balance_usd4, 150000);
    CHECK_INT(store_workspace_credit(tx, fix->workspace_id, -900000, &now), OK);
    CHECK_INT(now.balance_usd4, 0);
    CHECK_INT(store_workspace_credit(tx, "usr_nobody", 1, &now), ERR_NOT_FOUND);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(key_is_found_until_revoked)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct api_key key;
    CHECK_INT(store_key_create(tx, "usr_nobody", "x", &key), ERR_NOT_FOUND);
    REQUIRE(store_key_create(tx, fix->workspace_id, "Server", &key) == OK);
    CHECK(key_is_valid(key.key));
    struct principal who;
    CHECK_INT(store_key_find(tx, key.key, &who), OK);
    CHECK_INT(who.kind, KEY_WORKSPACE);
    CHECK_TEXT(who.workspace_id, fix->workspace_id);
    CHECK_TEXT(who.key_id, key.id);
    CHECK_TEXT(who.key_name, "Server");
    CHECK_INT(store_key_find(tx, "sk_unknown", &who), ERR_NOT_FOUND);
    CHECK_INT(store_key_find(tx, "bearer", &who), ERR_NOT_FOUND);
    CHECK_INT(store_key_revoke(tx, "usr_other", key.id), ERR_NOT_FOUND);
    CHECK_INT(store_key_revoke(tx, "", key.id), ERR_NOT_FOUND); /* nobody's is not everybody's */
    CHECK_INT(store_key_revoke(tx, fix->workspace_id, key.id), OK);
    CHECK_INT(store_key_revoke(tx, NULL, key.id), ERR_NOT_FOUND);
    CHECK_INT(store_key_find(tx, key.key, &who), ERR_NOT_FOUND);
    struct api_key_list list;
    CHECK_INT(store_key_list(tx, "", &list), OK);
    CHECK_INT(list.count, 0);
    CHECK_INT(store_key_list(tx, NULL, &list), OK);
    CHECK_INT(list.count, 1);
    CHECK(list.items[0].is_revoked);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(rows_of_revoked_keys_do_not_grow_without_end)
{
    enum { KEPT = 100, MADE = 110 };
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct api_key first, key;
    REQUIRE(store_key_create(tx, fix->workspace_id, "stays", &first) == OK);
    for (int i = 0; i < MADE; i++, tx->now_ms++) {
        REQUIRE(store_key_create(tx, fix->workspace_id, "goes", &key) == OK);
        REQUIRE(store_key_revoke(tx, fix->workspace_id, key.id) == OK);
    }
    struct api_key_list list;
    CHECK_INT(store_key_list(tx, fix->workspace_id, &list), OK);
    REQUIRE(list.count == KEPT + 1);
    CHECK_TEXT(list.items[0].id, key.id); /* the last one is among them */
    CHECK_TEXT(list.items[KEPT].id, first.id);
    CHECK(!list.items[KEPT].is_revoked);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(key_use_is_noted_once_a_minute)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct api_key key;
    REQUIRE(store_key_create(tx, fix->workspace_id, "Server", &key) == OK);
    struct api_key_list list;
    int64_t first_ms = tx->now_ms;
    for (int second = 0; second < 70; second += 10, tx->now_ms += 10000)
        CHECK_INT(store_key_touch(tx, key.id), OK);
    CHECK_INT(store_key_list(tx, fix->workspace_id, &list), OK);
    CHECK_INT(list.items[0].last_used_wall_ms, first_ms + 60000);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(secrets_are_not_in_the_tables)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct agent agent;
    REQUIRE(store_agent_get(tx, fix->workspace_id, fix->agent_id, &agent) == OK);
    struct tool tool = {0};
    field_defaults(&tool_table, &tool);
    tool.user_id = fix->workspace_id;
    tool.name = "look_up";
    tool.url = "https://example.com";
    tool.auth_token = "hush-hush-hush";
    REQUIRE(store_tool_insert(tx, &tool) == OK);
    AUTO(cursor) row = QUERY(tx, "SELECT key_sha || key_sealed || public_sha || public_sealed"
                                 " || settings FROM agents UNION ALL SELECT settings FROM tools");
    while (cursor_next(row)) {
        CHECK(!strstr(cursor_text(row, 0), agent.api_key));
        CHECK(!strstr(cursor_text(row, 0), agent.public_key));
        CHECK(!strstr(cursor_text(row, 0), "hush"));
    }
    struct tool read;
    CHECK_INT(store_tool_get(tx, fix->workspace_id, tool.id, &read), OK);
    CHECK_TEXT(read.auth_token, "hush-hush-hush");
    fix_rollback(tx);
}

STORE_TEST(agent_reads_back_and_keys_rotate)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct agent agent, other;
    REQUIRE(store_agent_get(tx, fix->workspace_id, fix->agent_id, &agent) == OK);
    CHECK_TEXT(agent.name, "Front desk");
    CHECK_TEXT(agent.webhook_url, "https://example.com/agent");
    CHECK_INT(agent.stats.total_calls, 0);
    CHECK_INT(store_agent_get(tx, "usr_other", fix->agent_id, &other), ERR_NOT_FOUND);
    struct principal who;
    CHECK_INT(store_key_find(tx, agent.api_key, &who), OK);
    CHECK_INT(who.kind, KEY_AGENT);
    CHECK_TEXT(who.agent_id, agent.id);
    CHECK_INT(store_key_find(tx, agent.public_key, &who), OK);
    CHECK_INT(who.kind, KEY_PUBLISHABLE);
    const char *old_secret = agent.api_key, *old_public = agent.public_key;
    CHECK_INT(store_agent_rotate(tx, &agent, AGENT_KEY_SECRET), OK);
    CHECK_INT(store_key_find(tx, old_secret, &who), ERR_NOT_FOUND);
    CHECK_INT(store_key_find(tx, agent.api_key, &who), OK);
    CHECK_INT(store_key_find(tx, old_public, &who), OK);
    CHECK_INT(store_agent_rotate(tx, &agent, AGENT_KEY_PUBLIC), OK);
    CHECK_INT(store_key_find(tx, old_public, &who), ERR_NOT_FOUND);
    REQUIRE(store_agent_get(tx, fix->workspace_id, fix->agent_id, &other) == OK);
    CHECK_TEXT(other.api_key, agent.api_key);
    CHECK_TEXT(other.public_key, agent.public_key);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(agents_are_listed_by_their_last_edit)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct agent agent = {0};
    field_defaults(&agent_table, &agent);
    agent.user_id = fix->workspace_id;
    agent.name = "Second";
    tx->now_ms += 5;
    REQUIRE(store_agent_insert(tx, &agent) == OK);
    struct page page;
    struct page_filter filter = {.workspace_id = fix->workspace_id};
    CHECK_INT(store_page(tx, LISTED_AGENTS, &filter, &page), OK);
    REQUIRE(page.ids.count == 2);
    CHECK_TEXT(page.ids.items[0], agent.id);
    struct agent first;
    REQUIRE(store_agent_get(tx, fix->workspace_id, fix->agent_id, &first) == OK);
    first.name = "First, renamed";
    tx->now_ms += 5;
    CHECK_INT(store_agent_update(tx, &first), OK);
    CHECK_INT(store_page(tx, LISTED_AGENTS, &filter, &page), OK);
    CHECK_TEXT(page.ids.items[0], first.id);
    filter.workspace_id = "usr_other";
    CHECK_INT(store_page(tx, LISTED_AGENTS, &filter, &page), OK);
    CHECK_INT(page.ids.count, 0);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(agent_takes_its_tools_along)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct tool own = {0}, shared = {0}, read;
    field_defaults(&tool_table, &own);
    own.user_id = fix->workspace_id;
    own.agent_id = fix->agent_id;
    own.name = "own";
    shared = own;
    shared.agent_id = "";
    shared.name = "shared";
    REQUIRE(store_tool_insert(tx, &own) == OK);
    REQUIRE(store_tool_insert(tx, &shared) == OK);
    struct tool again = own; /* an id that is taken is no fault of the database */
    again.name = "other";
    CHECK_INT(store_tool_insert(tx, &again), ERR_CONFLICT);
    CHECK_INT(store_agent_remove(tx, "usr_other", fix->agent_id), ERR_NOT_FOUND);
    CHECK_INT(store_agent_remove(tx, fix->workspace_id, fix->agent_id), OK);
    CHECK_INT(store_tool_get(tx, fix->workspace_id, own.id, &read), ERR_NOT_FOUND);
    CHECK_INT(store_tool_get(tx, fix->workspace_id, shared.id, &read), OK);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(tool_names_are_one_of_a_kind_within_an_agent)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct tool first = {0}, second, shared;
    field_defaults(&tool_table, &first);
    first.user_id = fix->workspace_id;
    first.agent_id = fix->agent_id;
    first.name = "look_up";
    second = shared = first;
    shared.agent_id = "";
    REQUIRE(store_tool_insert(tx, &first) == OK);
    CHECK_INT(store_tool_insert(tx, &second), ERR_CONFLICT);
    CHECK_INT(store_tool_insert(tx, &shared), OK);
    second.name = "look_up_2";
    second.source_id = shared.id;
    second.id = "";
    REQUIRE(store_tool_insert(tx, &second) == OK);
    second.name = "look_up";
    CHECK_INT(store_tool_update(tx, &second), ERR_CONFLICT);
    bool is_taken = false;
    CHECK_INT(store_tool_name_taken(tx, fix->workspace_id, fix->agent_id, "look_up", &is_taken),
              OK);
    CHECK(is_taken);
    CHECK_INT(fix_commit(tx), OK);
}

static struct tool make_tool(const struct fix *fix, const char *agent_id, const char *name)
{
    struct tool tool = {0};
    field_defaults(&tool_table, &tool);
    tool.user_id = fix->workspace_id;
    tool.agent_id = agent_id;
    tool.name = name;
    tool.description = "Looks things up.";
    tool.auth_token = "hush-hush-hush";
    return tool;
}

STORE_TEST(heads_tell_of_tools_without_reading_them)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct tool own = make_tool(fix, fix->agent_id, "look_up"), shared = make_tool(fix, "", "pay"),
                same = make_tool(fix, "", "pay");
    REQUIRE(store_tool_insert(tx, &own) == OK);
    tx->now_ms++;
    REQUIRE(store_tool_insert(tx, &shared) == OK);
    tx->now_ms++;
    REQUIRE(store_tool_insert(tx, &same) == OK);
    EXEC(tx, "UPDATE tools SET settings = 'no JSON'");
    struct tool_head_list all = {0}, named = {0}, one = {0}, none = {0};
    CHECK_INT(store_tool_heads(tx, fix->workspace_id, NULL, NULL, &all), OK);
    REQUIRE(all.count == 3);
    CHECK_TEXT(all.items[0].id, same.id); /* newest first */
    CHECK_TEXT(all.items[2].agent_id, fix->agent_id);
    CHECK_INT(all.items[2].version, 1);
    CHECK_INT(all.items[2].bytes, own.bytes);
    CHECK_INT(store_tool_heads(tx, fix->workspace_id, "", "pay", &named), OK);
    CHECK_INT(named.count, 2);
    CHECK_INT(store_tool_heads(tx, fix->workspace_id, fix->agent_id, NULL, &named), OK);
    CHECK_INT(named.count, 3); /* appended */
    CHECK_INT(store_tool_head(tx, fix->workspace_id, own.id, &one), OK);
    REQUIRE(one.count == 1);
    CHECK_TEXT(one.items[0].name, "look_up");
    CHECK_INT(store_tool_head(tx, "usr_other", own.id, &none), OK);
    CHECK_INT(none.count, 0);
    struct page page;
    struct page_filter filter = {.workspace_id = fix->workspace_id};
    CHECK_INT(store_page(tx, LISTED_TOOLS, &filter, &page), OK);
    CHECK_INT(page.ids.count, 3);
    filter.agent_id = fix->agent_id;
    CHECK_INT(store_page(tx, LISTED_TOOLS, &filter, &page), OK);
    CHECK_INT(page.ids.count, 1);
    fix_rollback(tx);
}

TEST(heads_are_read_from_their_index_and_no_others_passed_over)
{
    static const char *const found_by[] = {"(workspace_id=?)", "(workspace_id=? AND agent_id=?)",
                                           "(workspace_id=? AND agent_id=? AND name=?)"};
    struct fix fix = {0};
    fix_begin(&fix, false);
    struct tx *tx = fix_read(&fix);
    for (size_t i = 0; store_tool_looks[i]; i++) {
        struct db_value values[] = {TEXT("w"), TEXT("a"), TEXT("n"), {0}};
        values[i + 1] = (struct db_value){.type = DB_END};
        AUTO(cursor) row = tx_query(tx,
                                    arena_printf(tx->arena,
                                                 "EXPLAIN QUERY PLAN SELECT id, agent_id, name,"
                                                 " source_id, created_ms, version, bytes %s",
                                                 store_tool_looks[i]),
                                    values);
        REQUIRE(cursor_next(row));
        const char *step = cursor_text(row, 3);
        CHECK(strstr(step, "COVERING INDEX tools_heads"));
        CHECK(strstr(step, found_by[i]));
    }
    fix_rollback(tx);
    fix_end(&fix);
}

STORE_TEST(a_copy_of_a_tool_has_all_of_it_and_knows_its_source)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct tool source = make_tool(fix, "", "look_up"), copied;
    REQUIRE(store_tool_insert(tx, &source) == OK);
    struct tool_head copy = {.id = "tool_copy", .agent_id = fix->agent_id, .name = "look_up"};
    CHECK_INT(store_tool_copy(tx, source.id, &copy), OK);
    REQUIRE(store_tool_get(tx, fix->workspace_id, "tool_copy", &copied) == OK);
    CHECK_TEXT(copied.auth_token, "hush-hush-hush");
    CHECK_TEXT(copied.source_id, source.id);
    CHECK_TEXT(copied.agent_id, fix->agent_id);
    copy.id = "tool_again";
    CHECK_INT(store_tool_copy(tx, source.id, &copy), ERR_CONFLICT);
    copy.name = "look_up_2";
    CHECK_INT(store_tool_copy(tx, "tool_none", &copy), ERR_NOT_FOUND);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(each_change_is_a_version)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct tool tool = make_tool(fix, "", "look_up"), read;
    REQUIRE(store_tool_insert(tx, &tool) == OK);
    tool.description = "Looks more things up.";
    int64_t bytes = tool.bytes;
    CHECK_INT(store_tool_update(tx, &tool), OK);
    CHECK_INT(tool.version, 2);
    CHECK_INT(tool.bytes, bytes + 5);
    REQUIRE(store_tool_lock(tx, fix->workspace_id, tool.id, &read) == OK);
    CHECK_INT(read.version, 2);
    CHECK_INT(read.bytes, tool.bytes);
    struct agent agent;
    REQUIRE(store_agent_lock(tx, fix->workspace_id, fix->agent_id, &agent) == OK);
    CHECK_INT(agent.version, 1);
    CHECK_INT(store_agent_update(tx, &agent), OK);
    CHECK_INT(agent.version, 2);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(a_subscription_that_does_not_read_is_left_out_of_the_list)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct webhook webhooks[2] = {0};
    for (int i = 0; i < 2; i++) {
        field_defaults(&webhook_table, &webhooks[i]);
        webhooks[i].user_id = fix->workspace_id;
        webhooks[i].url = "https://example.com/hook";
        CHECK_INT(store_webhook_insert(tx, &webhooks[i]), OK);
    }
    EXEC(tx, "UPDATE webhooks SET settings = 'spoilt' WHERE id = ?", TEXT(webhooks[0].id));
    struct webhook_list list;
    struct text_list unreadable;
    CHECK_INT(store_webhook_list(tx, fix->workspace_id, &list, &unreadable), OK);
    REQUIRE(list.count == 1 && unreadable.count == 1);
    CHECK_TEXT(list.items[0].id, webhooks[1].id);
    CHECK_TEXT(unreadable.items[0], webhooks[0].id);
    struct webhook read;
    struct fault why;
    CHECK(!tx_forgive(tx, ERR_IO, &why)); /* nothing has failed */
    CHECK_INT(store_webhook_get(tx, fix->workspace_id, webhooks[0].id, &read), ERR_INTERNAL);
    CHECK(tx_has_failed(tx));
    CHECK(tx_forgive(tx, ERR_INTERNAL, &why));
    CHECK_TEXT(why.text, "a subscription's settings do not read");
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(subscriptions_are_kept_up_to_their_limit)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct webhook webhook;
    for (int i = 0; i <= WEBHOOKS_MAX; i++) {
        webhook = (struct webhook){0};
        field_defaults(&webhook_table, &webhook);
        webhook.user_id = fix->workspace_id;
        webhook.url = "https://example.com/hook";
        webhook.secret = "whsec_0123456789";
        webhook.is_enabled = true;
        CHECK_INT(store_webhook_insert(tx, &webhook), i < WEBHOOKS_MAX ? OK : ERR_LIMIT);
    }
    struct webhook_list list;
    struct text_list unreadable;
    CHECK_INT(store_webhook_list(tx, fix->workspace_id, &list, &unreadable), OK);
    REQUIRE(list.count == WEBHOOKS_MAX);
    CHECK_TEXT(list.items[3].secret, "whsec_0123456789");
    webhook = list.items[0];
    webhook.is_enabled = false;
    CHECK_INT(store_webhook_update(tx, &webhook), OK);
    struct webhook read;
    CHECK_INT(store_webhook_get(tx, fix->workspace_id, webhook.id, &read), OK);
    CHECK(!read.is_enabled);
    CHECK_INT(store_webhook_remove(tx, fix->workspace_id, webhook.id), OK);
    CHECK_INT(store_webhook_get(tx, fix->workspace_id, webhook.id, &read), ERR_NOT_FOUND);
    CHECK_INT(fix_commit(tx), OK);
}
