#include "unit/call/desk.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/agent.h"
#include "model/call.h"
#include "model/workspace.h"
#include "store/agent.h"
#include "store/call.h"
#include "store/node.h"
#include "store/workspace.h"
#include "test.h"

static enum err make_people(struct tx *tx, void *arg)
{
    struct desk *desk = arg;
    struct workspace workspace = {.name = "Acme",
                                  .plan = "standard",
                                  .balance_usd4 = DESK_BALANCE_USD4,
                                  .max_concurrent_calls = 50};
    struct agent agent = {0};
    CHECK_INT(store_node_start(tx, "http://here"), OK);
    CHECK_INT(store_workspace_insert(tx, &workspace), OK);
    field_defaults(&agent_table, &agent);
    agent.user_id = workspace.id;
    agent.name = "Front desk";
    CHECK_INT(store_agent_insert(tx, &agent), OK);
    snprintf(desk->workspace_id, sizeof(desk->workspace_id), "%s", workspace.id);
    snprintf(desk->agent_id, sizeof(desk->agent_id), "%s", agent.id);
    return OK;
}

static enum err make_call(struct tx *tx, void *arg)
{
    struct desk *desk = arg;
    struct call call = {0};
    field_defaults(&call_table, &call);
    uuid_new(desk->call_id);
    call.id = desk->call_id;
    call.user_id = desk->workspace_id;
    call.agent_id = desk->agent_id;
    call.room_name = desk->call_id;
    call.participant_identity = "me";
    call.cost_per_minute_usd4 = DESK_RATE_USD4;
    call.metadata = call.metadata_sent = "{}";
    return store_call_insert(tx, &call, "https://example.com/agent", tx->now_ms + 3600000);
}

static enum err start_node(struct tx *tx, void *arg)
{
    (void)arg;
    return store_node_start(tx, "http://here");
}

void desk_write(struct desk *desk, store_fn *fn, void *arg)
{
    struct fault fault = {0};
    if (!CHECK_INT(store_run(desk->store, STORE_WRITE, fn, arg, &fault), OK))
        fprintf(stderr, "      %s\n", fault.text);
}

void desk_read(struct desk *desk, store_fn *fn, void *arg)
{
    struct fault fault = {0};
    CHECK_INT(store_run(desk->store, STORE_READ, fn, arg, &fault), OK);
}

static void took_too_long(void *arg)
{
    struct desk *desk = arg;
    test_fail(__FILE__, __LINE__, "what was awaited has not come");
    loop_stop(desk->loop);
}

void desk_open(struct desk *desk)
{
    *desk = (struct desk){.loop = loop_new("desk")};
    snprintf(desk->dir, sizeof(desk->dir), "/tmp/earshot-desk-XXXXXX");
    REQUIRE(mkdtemp(desk->dir) != NULL);
    const struct store_config config = {
        .data_dir = desk->dir, .database_url = "", .node_name = "", .master_key = ""};
    struct fault fault = {0};
    REQUIRE(store_open(&config, &desk->store, &fault) == OK);
    timer_init(&desk->limit, desk->loop, took_too_long, desk);
    desk_write(desk, make_people, desk);
    desk_add_call(desk);
}

void desk_close(struct desk *desk)
{
    AUTO_MEM char *remove = mem_printf("rm -rf %s", desk->dir);
    timer_stop(&desk->limit);
    store_close(desk->store);
    loop_free(desk->loop);
    CHECK_INT(system(remove), 0);
}

void desk_run(struct desk *desk)
{
    timer_set_after(&desk->limit, INT64_C(90000000));
    loop_run(desk->loop);
    timer_stop(&desk->limit);
}

void desk_add_call(struct desk *desk)
{
    desk_write(desk, make_call, desk);
}

void desk_start_again(struct desk *desk)
{
    desk_write(desk, start_node, NULL);
}
