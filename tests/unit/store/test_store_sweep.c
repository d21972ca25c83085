/* The store while each call of its database fails once: nothing half-written, nothing twice,
 * nothing leaked. On SQLite a statement fails (disk full), on PostgreSQL a packet, before the
 * server has read it or after it has done what it said. A step that failed for a transient reason
 * is tried again, as its callers do, so that in the end all is as if nothing had failed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "await.h"
#include "base/ids.h"
#include "base/log.h"
#include "fake/outside.h"
#include "store/agent.h"
#include "store/call.h"
#include "store/internal.h"
#include "store/node.h"
#include "store/outbox.h"
#include "store/page.h"
#include "sweep.h"
#include "unit/store/fixture.h"

enum { RATE_USD4 = 6000, BALANCE_USD4 = 100000, LASTED_MS = 10000, COST_USD4 = 1000 };

struct scene {
    struct fix *fix;
    char call_id[ID_SIZE];
    const char *agent_id;
    struct outbox_turns *turns;
    unsigned taken;
};

/* Again while the fault is one that passes; what the sweep fails is one of those. */
static void step(struct scene *scene, store_fn *fn)
{
    enum err err = ERR_BUSY;
    struct fault fault = {0};
    for (int i = 0; i < 3 && store_is_transient(err); i++)
        err = store_run(scene->fix->store, STORE_WRITE, fn, scene, &fault);
    if (err)
        test_fail(__FILE__, __LINE__, "a step did not pass: %s %s", err_name(err), fault.text);
}

static int64_t number(struct scene *scene, const char *sql)
{
    struct tx *tx = fix_read(scene->fix);
    int64_t found =
        tx_query_number(tx, -1, sql, (struct db_value[]){TEXT(scene->call_id), {.type = DB_END}});
    fix_rollback(tx);
    return found;
}

/* A new connection for looking: the sweep may have cut the old one. */
static void look_again(struct fix *fix)
{
    struct fault fault = {0};
    db_close(fix->store->direct);
    fix->store->direct = NULL;
    if (connection_open(fix->store, 0, &fix->store->direct, &fault))
        test_fail(__FILE__, __LINE__, "no connection: %s", fault.text);
}

/* A whole call. */

static enum err start_node(struct tx *tx, void *arg)
{
    (void)arg;
    return store_node_start(tx, "http://127.0.0.1");
}

static enum err begin(struct tx *tx, void *arg)
{
    struct scene *scene = arg;
    static const char *all[] = {"*"};
    struct call_webhook webhook = {
        .url = "https://example.com/call", .secret = "whsec_of_the_call", .events = {all, 1}};
    struct call call = {.id = scene->call_id,
                        .user_id = scene->fix->workspace_id,
                        .agent_id = scene->fix->agent_id,
                        .room_name = "room",
                        .source = CALL_SOURCE_API,
                        .cost_per_minute_usd4 = RATE_USD4,
                        .participant_identity = "caller-1",
                        .metadata = "{}",
                        .metadata_sent = "{}",
                        .webhooks = {&webhook, 1}};
    enum err err = store_call_insert(tx, &call, "https://example.com/agent", tx->now_ms + 3600000);
    return err ? err : store_call_started(tx, scene->call_id);
}

static enum err join(struct tx *tx, void *arg)
{
    struct scene *scene = arg;
    struct event_agent_joined engines = {.stt = "a", .llm = "b", .tts = "c"};
    struct call_funds funds = {.at_us = 1000000};
    enum err err = store_call_agent_joined(tx, scene->call_id, tx->now_ms, &engines);
    return err ? err : store_call_user_joined(tx, scene->call_id, "caller-1", tx->now_ms, &funds);
}

static enum err talk(struct tx *tx, void *arg)
{
    struct scene *scene = arg;
    struct call_turn turn = {.role = TURN_USER, .text = "Hello.", .at_wall_ms = tx->now_ms};
    return store_call_turn(tx, scene->call_id, &turn);
}

static enum err pay(struct tx *tx, void *arg)
{
    struct scene *scene = arg;
    struct call_checkpoint point = {.at_us = 6000000, .lasted_ms = 5000, .billed_ms = 5000};
    snprintf(point.call_id, sizeof(point.call_id), "%s", scene->call_id);
    return store_call_checkpoint(tx, &point, 1, true);
}

static enum err end(struct tx *tx, void *arg)
{
    struct scene *scene = arg;
    struct call_end how = {.reason = END_USER_LEFT,
                           .ended_wall_ms = tx->now_ms,
                           .billed_ms = LASTED_MS,
                           .left_identity = "caller-1"};
    return store_call_end(tx, scene->call_id, &how, NULL);
}

#define EVENTS_OF "SELECT COUNT(*) FROM events WHERE call_id = ? AND type = "

static void check_call(struct scene *scene)
{
    CHECK_INT(number(scene, "SELECT turns FROM calls WHERE id = ?"), 1);
    CHECK_INT(number(scene, "SELECT COUNT(*) FROM call_turns WHERE call_id = ?"), 1);
    CHECK_INT(number(scene, "SELECT cost_usd4 FROM calls WHERE id = ? AND status = 'ended'"),
              COST_USD4);
    CHECK_INT(number(scene, EVENTS_OF "'call.started'"), 1);
    CHECK_INT(number(scene, EVENTS_OF "'transcript.user'"), 1);
    CHECK_INT(number(scene, EVENTS_OF "'call.ended'"), 1);
    CHECK_INT(number(scene, "SELECT COUNT(*) FROM events WHERE call_id = ?"), 6);
    CHECK_INT(number(scene, "SELECT COUNT(*) FROM deliveries WHERE call_id = ?"), 12);
    CHECK_INT(number(scene, "SELECT w.balance_usd4 FROM workspaces w JOIN calls c"
                            " ON c.workspace_id = w.id WHERE c.id = ?"),
              BALANCE_USD4 - COST_USD4);
    CHECK_INT(number(scene, "SELECT COUNT(*) FROM dead_letters WHERE subject_id = ?"), 0);
}

STORE_TEST(call_while_its_database_fails)
{
    log_set(LOG_ERROR + 1, LOG_LOGFMT, 2);
    outside_has_sockets = fix->is_pg;
    struct scene scene = {.fix = fix};
    step(&scene, start_node);
    SWEEP(run)
    {
        sweep_pause();
        fix_people(fix);
        uuid_new(scene.call_id);
        sweep_resume();
        store_fn *const steps[] = {begin, join, talk, pay, end};
        for (size_t i = 0; i < ARRAY_LEN(steps); i++)
            step(&scene, steps[i]);
        sweep_pause();
        look_again(fix);
        check_call(&scene);
        sweep_resume();
    }
}

/* An agent. */

static enum err create(struct tx *tx, void *arg)
{
    struct scene *scene = arg;
    struct agent agent = {0};
    field_defaults(&agent_table, &agent);
    agent.user_id = scene->fix->workspace_id;
    agent.name = "Front desk";
    enum err err = store_agent_insert(tx, &agent);
    if (!err)
        snprintf(scene->call_id, sizeof(scene->call_id), "%s", agent.id);
    return err;
}

static enum err change(struct tx *tx, void *arg)
{
    struct scene *scene = arg;
    struct agent agent;
    enum err err = store_agent_lock(tx, scene->fix->workspace_id, scene->call_id, &agent);
    if (err)
        return err;
    agent.system_instruction = arena_printf(tx->arena, "%s+", agent.system_instruction);
    return store_agent_update(tx, &agent);
}

STORE_TEST(agent_while_its_database_fails)
{
    log_set(LOG_ERROR + 1, LOG_LOGFMT, 2);
    outside_has_sockets = fix->is_pg;
    SWEEP(run)
    {
        struct scene scene = {.fix = fix};
        sweep_pause();
        fix_people(fix);
        sweep_resume();
        step(&scene, create);
        step(&scene, change);
        sweep_pause();
        look_again(fix);
        struct tx *tx = fix_read(fix);
        struct agent agent = {0};
        struct page page = {0};
        const struct page_filter filter = {.workspace_id = fix->workspace_id};
        CHECK_INT(store_agent_get(tx, fix->workspace_id, scene.call_id, &agent), OK);
        CHECK_TEXT(agent.system_instruction, "+");
        CHECK_INT(store_page(tx, LISTED_AGENTS, &filter, &page), OK);
        CHECK_INT(page.ids.count, 2); /* and the one of fix_people() */
        fix_rollback(tx);
        sweep_resume();
    }
}

/* The outbox. */

static unsigned any_line(const void *arg, const char *workspace_id, const char *line)
{
    (void)arg, (void)workspace_id, (void)line;
    return 100;
}

static unsigned any_workspace(const void *arg, const char *workspace_id)
{
    (void)arg, (void)workspace_id;
    return 100;
}

static enum err deliver(struct tx *tx, void *arg)
{
    struct scene *scene = arg;
    struct outbox_wish wish = {.units = 50,
                               .lease_ms = 60000,
                               .longest_ms = 15000,
                               .is_fresh = true,
                               .line_room = any_line,
                               .workspace_room = any_workspace};
    struct outbox_taken taken = {0};
    struct outbox_result results[50];
    enum err err = store_outbox_take(tx, scene->turns, &wish, tx->now_ms, &taken);
    if (err)
        return err;
    scene->taken = (unsigned)taken.count;
    for (size_t i = 0; i < taken.count; i++)
        results[i] = (struct outbox_result){.id = taken.items[i].id,
                                            .units = taken.items[i].units,
                                            .attempt = taken.items[i].attempt,
                                            .status = 200,
                                            .is_delivered = true};
    return store_outbox_settle(tx, tx->now_ms, results, taken.count);
}

/* A connection that failed may hold its rows until the server notices. */
static bool both_are_delivered(struct scene *scene)
{
    step(scene, deliver);
    return number(scene, "SELECT COUNT(*) FROM deliveries WHERE call_id = ?"
                         " AND state = 'delivered' AND attempts = 1") == 2;
}

STORE_TEST(outbox_while_its_database_fails)
{
    log_set(LOG_ERROR + 1, LOG_LOGFMT, 2);
    outside_has_sockets = fix->is_pg;
    struct scene scene = {.fix = fix};
    step(&scene, start_node);
    SWEEP(run)
    {
        sweep_pause();
        fix_people(fix);
        uuid_new(scene.call_id);
        step(&scene, begin);
        scene.turns = outbox_turns_new();
        sweep_resume();
        for (int i = 0; i < 3; i++) /* a turn may find nothing due yet */
            step(&scene, deliver);
        sweep_pause();
        look_again(fix);
        AWAIT(both_are_delivered(&scene), 10);
        outbox_turns_free(scene.turns);
        CHECK_INT(number(&scene, "SELECT COUNT(*) FROM deliveries WHERE call_id = ?"), 2);
        CHECK_INT(number(&scene, "SELECT delivered FROM call_webhooks WHERE call_id = ?"), 1);
        sweep_resume();
    }
}
