/* /v1/tools: the endpoints that agents call, and one run of one as a test. */
#include <string.h>

#include "api/page.h"
#include "api/request.h"
#include "api/resources.h"
#include "api/run.h"
#include "api/spoilt.h"
#include "api/urls.h"
#include "base/js.h"
#include "base/mem.h"
#include "model/agent.h"
#include "model/tool.h"
#include "store/agent.h"
#include "store/ceiling.h"
#include "store/tool.h"
#include "store/tx.h"
#include "tool/run.h"

struct tool_answer {
    struct tool tool;
};
static const struct field tool_rows[] = {
    ROW_OBJECT(struct tool_answer, tool, "tool", struct tool, &tool_table),
};
FIELD_TABLE(tool_answer_table, struct tool_answer, "ToolAnswer", tool_rows);

struct tools_answer {
    struct tool_list tools;
    struct page_answer page;
};
static const struct field tools_rows[] = {
    ROW_OBJECTS(struct tools_answer, tools, "tools", struct tool_list, &tool_table),
    PAGE_ANSWER_ROWS(struct tools_answer, page),
};
FIELD_TABLE(tools_answer_table, struct tools_answer, "ToolsAnswer", tools_rows);

struct tool_removed {
    bool is_success;
    const char *id;
};
static const struct field removed_rows[] = {
    ROW_BOOL(struct tool_removed, is_success, "success"),
    ROW_TEXT(struct tool_removed, id, "deletedId"),
};
FIELD_TABLE(tool_removed_table, struct tool_removed, "ToolRemoved", removed_rows);

struct tools_query {
    const char *agent_id, *usable_by, *user_id;
    struct page_query page;
};
static const struct field query_rows[] = {
    ROW_TEXT(struct tools_query, agent_id, "agentId", .flags = FIELD_OPTIONAL,
             .about = "Only tools of this agent."),
    ROW_TEXT(struct tools_query, usable_by, "usableBy", .flags = FIELD_OPTIONAL,
             .about = "Only tools that this agent can switch on as they are: its own, and those "
                      "that belong to no agent."),
    ROW_TEXT(struct tools_query, user_id, "userId", .flags = FIELD_OPTIONAL,
             .about = "A workspace id; another workspace's is refused."),
    PAGE_QUERY_ROWS(struct tools_query, page, "tool_"),
};
FIELD_TABLE(tools_query_table, struct tools_query, "ToolsQuery", query_rows);

/* Answers. */

enum {
    SHOWN_AT_ONCE_BYTES = 16 * 1024 /* larger ones are shown by a reading job */
};

void tool_hide_headers(const struct request *request, struct tool *tool)
{
    const struct principal *who = &request->who.principal;
    if (who->kind != KEY_SESSION || who->role >= ROLE_EDITOR)
        return;
    for (size_t i = 0; i < tool->headers.count; i++)
        tool->headers.items[i].value =
            secret_mask(tool->headers.items[i].value, request->job.tx->arena);
}

/* Tools to come, in pieces. */
struct place {
    struct js_out out;
    struct page page;
    size_t at;
};

static void more_tools(struct request *request)
{
    struct place *place = request->pieces.place;
    while (place->at < place->page.ids.count) {
        struct tool tool;
        if (request_piece_is_full(request))
            return;
        const char *id = place->page.ids.items[place->at++];
        enum err err = store_tool_get(request->job.tx, request_workspace(request), id, &tool);
        if (err && err != ERR_NOT_FOUND && !spoilt_skip(request, err, DEAD_TOOL, id)) {
            request_break_pieces(request);
            return;
        }
        if (!err) /* else removed since the list was begun, or spoilt */
            tool_hide_headers(request, &tool);
        if (!err)
            field_write(&tool_table, &tool, request_answer_views(request), NULL, &place->out);
    }
    page_write_end(&place->page, &place->out);
    pieces_end(&request->pieces);
}

static bool is_empty(const char *value)
{
    return value && *value == '\0';
}

void tools_list(struct request *request)
{
    struct tools_query query;
    if (!request_query(request, &query))
        return;
    struct page_filter filter = {.agent_id = query.agent_id, .usable_by = query.usable_by};
    if (is_empty(query.agent_id) || is_empty(query.usable_by))
        filter.id = ""; /* contract, Empty query values: none, though tools may have no agent */
    struct place *place = arena_new_of(request->arena, struct place);
    if (!page_find(request, LISTED_TOOLS, &query.page, &filter, &place->page))
        return;
    js_out_init(&place->out, &request->answer.body);
    js_out_object(&place->out);
    js_out_key(&place->out, "tools");
    js_out_array(&place->out);
    request_answer_pieces(request, more_tools, place, sizeof(*place));
}

static void show_written(struct request *request)
{
    request_answer(request, request->job.state, 0);
}

/* A tool that this job has written. */
static void answer_written(struct request *request, const struct tool *tool)
{
    answer_header(&request->answer, "ETag", request_tag(request, tool->updated_wall_ms));
    struct tool_answer answer = {*tool};
    if (tool->bytes <= SHOWN_AT_ONCE_BYTES) {
        request_answer(request, &answer, 0);
        return;
    }
    struct tool_answer *copy = arena_new_of(request->arena, struct tool_answer);
    field_copy(&tool_answer_table, &answer, copy, request->arena);
    request->job.state = copy;
    request->once.shown = arena_printf(request->arena, "tool %s", tool->id);
    run_show(request, show_written);
}

/* An agent's own tools have different names; so have the tools that belong to no agent. */
static bool name_is_free(struct request *request, const struct tool *tool, const char *before)
{
    bool is_taken = false;
    if (strcmp(tool->name, before) == 0)
        return true;
    enum err err = store_tool_name_taken(request->job.tx, request_workspace(request),
                                         tool->agent_id, tool->name, &is_taken);
    if (!request_found(request, err))
        return false;
    if (is_taken)
        request_error(request, API_TOOL_NAME_TAKEN);
    return !is_taken;
}

void tools_create(struct request *request)
{
    struct tool tool;
    struct agent agent;
    struct field_context context;
    request_context(request, &context);
    field_create(&tool_table, &tool, request_json(request), &context, "");
    if (!request_is_valid(request, &context))
        return;
    tool.user_id = request_workspace(request);
    tool.source_id = tool.id = "";
    if (*tool.agent_id && !request_found(request, store_agent_lock(request->job.tx, tool.user_id,
                                                                   tool.agent_id, &agent)))
        return;
    if (!urls_are_allowed(request, &tool.url, 1) ||
        (*tool.agent_id && !name_is_free(request, &tool, "")))
        return;
    if (request_found(request, store_tool_insert(request->job.tx, &tool)) &&
        request_fits(request, 1 << CEILING_TOOLS | 1 << CEILING_BYTES))
        answer_written(request, &tool);
}

void tools_get(struct request *request)
{
    struct tool_answer answer;
    if (!request_found(request, store_tool_get(request->job.tx, request_workspace(request),
                                               request->head.params[0], &answer.tool)))
        return;
    tool_hide_headers(request, &answer.tool);
    answer_header(&request->answer, "ETag", request_tag(request, answer.tool.updated_wall_ms));
    request_answer(request, &answer, 0);
}

void tools_update(struct request *request)
{
    struct tool tool;
    struct field_context context;
    request_context(request, &context);
    enum err err = store_tool_lock(request->job.tx, request_workspace(request),
                                   request->head.params[0], &tool);
    if (err == ERR_NOT_FOUND) /* the faults of the body are told first */
        field_defaults(&tool_table, &tool);
    else if (!request_found(request, err))
        return;
    const char *name_before = tool.name;
    int64_t bytes_before = tool.bytes;
    tool_merge(&tool, request_json(request), &context, "");
    if (!request_is_valid(request, &context) || !request_found(request, err) ||
        !request_is_as_read(request, tool.updated_wall_ms))
        return;
    if (js_get(request_json(request), "url") && !urls_are_allowed(request, &tool.url, 1))
        return;
    if (*tool.agent_id && !name_is_free(request, &tool, name_before))
        return;
    if (request_found(request, store_tool_update(request->job.tx, &tool)) &&
        request_fits(request, tool.bytes > bytes_before ? 1 << CEILING_BYTES : 0))
        answer_written(request, &tool);
}

void tools_remove(struct request *request)
{
    const char *id = request->head.params[0];
    if (request_found(request, store_tool_remove(request->job.tx, request_workspace(request), id)))
        request_answer(request, &(struct tool_removed){true, id}, 0);
}

/* Test. */

struct tool_test_body {
    struct text_pair_list params;
};
static const struct field test_body_rows[] = {
    ROW_TEXT_MAP(struct tool_test_body, params, "params", .max = 50, .entry_max = 4000,
                 .about = "Arguments, by the keys of the tool's params."),
};
FIELD_TABLE(tool_test_body_table, struct tool_test_body, "ToolTest", test_body_rows);

struct tool_test_answer {
    bool is_success;
    int64_t status, latency_ms;
    const char *data, *headers, *error;
};
static const struct field test_rows[] = {
    ROW_BOOL(struct tool_test_answer, is_success, "success", .about = "The endpoint answered 2xx."),
    ROW_INT(struct tool_test_answer, status, "status",
            .about = "The endpoint's HTTP status; 504 when it timed out, 502 when it could not be "
                     "reached."),
    ROW_INT(struct tool_test_answer, latency_ms, "latencyMs"),
    ROW_JSON(struct tool_test_answer, data, "data",
             .about = "The answer's body, parsed when it is JSON."),
    ROW_JSON(struct tool_test_answer, headers, "headers", .flags = FIELD_OBJECT_ONLY,
             .standard_text = "{}"),
    ROW_TEXT(struct tool_test_answer, error, "error", .flags = FIELD_OMIT_EMPTY,
             .about = "Set when the request failed."),
};
FIELD_TABLE(tool_test_answer_table, struct tool_test_answer, "ToolTestAnswer", test_rows);

struct tool_test {
    struct tool tool;
    struct tool_test_body body;
};

/* On a store thread: reading a long answer takes its time. */
static void answer_tested(struct request *request)
{
    const struct tool_result *result = request->job.state;
    AUTO(js) parsed = tool_result_data(result);
    AUTO(js) named = tool_result_headers(result);
    AUTO_MEM char *data = js_print(parsed);
    AUTO_MEM char *headers = js_print(named);
    struct tool_test_answer answer = {
        .is_success = result->is_success,
        .status = result->status,
        .latency_ms = result->latency_ms,
        .data = data,
        .headers = headers,
        .error = result->error ? result->error : "",
    };
    request_answer(request, &answer, 0);
}

static void on_tested(void *arg, const struct tool_result *result)
{
    struct request *request = arg;
    struct tool_result *kept = arena_new_of(request->arena, struct tool_result);
    tool_result_copy(request->arena, result, kept);
    request->job.state = kept;
    run_job(request, STORE_READ, answer_tested);
}

/* On the control loop, after the tool was read. */
static void run_test(struct request *request)
{
    struct tool_test *test = request->job.state;
    AUTO(js) arguments = js_object();
    for (size_t i = 0; i < test->body.params.count; i++)
        js_set(arguments, test->body.params.items[i].name,
               js_string(test->body.params.items[i].text));
    struct tool_run_input input = {
        .tool = &test->tool,
        .arguments = arguments,
        .agent_id = test->tool.agent_id,
        .workspace_id = request_workspace(request),
        .is_test = true,
    };
    tool_run_start(request->deps->http, &input, on_tested, request);
}

void tools_test(struct request *request)
{
    struct tool_test *test = arena_new_of(request->job.tx->arena, struct tool_test);
    struct field_context context;
    request_context(request, &context);
    field_create(&tool_test_body_table, &test->body, request_json(request), &context, "");
    if (!request_is_valid(request, &context) ||
        !request_found(request, store_tool_get(request->job.tx, request_workspace(request),
                                               request->head.params[0], &test->tool)))
        return;
    request->job.state = test;
    request_after(request, run_test);
}
