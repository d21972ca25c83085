/* /v1/calls: the log of calls, end, say. What concerns a running call is carried out by the node
 * that owns it; another node asks by a command row and waits for its answer. */
#include "call/calls.h"

#include <string.h>

#include "api/calls_show.h"
#include "api/request.h"
#include "api/resources.h"
#include "base/ids.h"
#include "base/loop.h"
#include "model/call.h"
#include "store/call.h"
#include "store/node.h"

struct call_answer {
    struct call call;
};
static const struct field call_rows[] = {
    ROW_OBJECT(struct call_answer, call, "call", struct call, &call_table),
};
FIELD_TABLE(call_answer_table, struct call_answer, "CallAnswer", call_rows);

struct calls_query {
    const char *agent_id, *status, *before, *user_id;
    int64_t limit;
};

static void check_status(struct field_context *context, const struct field *row, void *object,
                         const char *path)
{
    const struct calls_query *query = object;
    for (size_t i = 0; i < row->name_count; i++)
        if (strcmp(row->names[i], query->status) == 0)
            return;
    faults_add(&context->faults, path, "must be created, active or ended");
}

static const struct field query_rows[] = {
    ROW_TEXT(struct calls_query, agent_id, "agentId", .flags = FIELD_OPTIONAL,
             .about = "Only calls handled by this agent."),
    ROW_TEXT(struct calls_query, status, "status", .flags = FIELD_OPTIONAL, .check = check_status,
             .names = call_status_names, .name_count = CALL_STATUS_COUNT),
    ROW_INT(struct calls_query, limit, "limit", .min = 1, .max = 100, .standard = 50),
    ROW_TEXT(struct calls_query, before, "before", .flags = FIELD_OPTIONAL,
             .pattern = "^[0-9]{1,15}\\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
             .about = "The nextCursor of the page before, to fetch older calls."),
    ROW_TEXT(struct calls_query, user_id, "userId", .flags = FIELD_OPTIONAL,
             .about = "A workspace id; another workspace's is refused."),
};
FIELD_TABLE(calls_query_table, struct calls_query, "CallsQuery", query_rows);

struct calls_answer {
    struct call_list calls;
    int64_t total;
    const char *next_cursor;
};
static const struct field calls_rows[] = {
    ROW_OBJECTS(struct calls_answer, calls, "calls", struct call_list, &call_table),
    ROW_INT(struct calls_answer, total, "total", .about = "All matching calls across pages."),
    ROW_TEXT(struct calls_answer, next_cursor, "nextCursor", .flags = FIELD_NULL_EMPTY,
             .about = "Passed back as before; null on the last page."),
};
FIELD_TABLE(calls_answer_table, struct calls_answer, "CallsAnswer", calls_rows);

static int status_value(const char *name)
{
    for (int i = 0; name && i < CALL_STATUS_COUNT; i++)
        if (strcmp(call_status_names[i], name) == 0)
            return i;
    return -1;
}

void calls_list(struct request *request)
{
    struct calls_query query;
    struct call_page page = {0};
    if (!request_query(request, &query))
        return;
    const char *own = request_own_agent(request);
    struct call_filter filter = {
        .workspace_id = request->principal.workspace_id,
        .agent_id = own ? own : query.agent_id,
        .status = status_value(query.status),
        .limit = (unsigned)query.limit,
        .before = query.before,
    };
    bool is_foreign = own && query.agent_id && strcmp(own, query.agent_id) != 0;
    enum err err = is_foreign ? OK : store_call_list(request->tx, &filter, &page);
    if (err == ERR_INVALID)
        request_fault(request, "before", "is no nextCursor of this list");
    else if (request_found(request, err))
        calls_write_page(request, &page);
}

/* How the call of the path stands; false: answered. */
static bool get_status(struct request *request, enum call_status *out)
{
    return request_found(request,
                         store_call_status(request->tx, request->principal.workspace_id,
                                           request_own_agent(request), request->params[0], out));
}

void calls_get(struct request *request)
{
    calls_write_one(request);
}

/* ---- asking the owner ---- */

enum { LOOK_AGAIN_US = 100000, WAIT_US = 10000000 /* the owner looks once a second */ };

/* What end and say wait for; in the request's arena. */
struct ask {
    struct request *request;
    enum command_kind kind;
    char *text;
    int64_t command_id; /* at another node */
    enum err result;
    bool is_answered;
    handler_fn *then; /* on the control loop, with `result` */
    struct timer timer;
    int64_t until_us;
};

static void owner_answered(void *arg, enum err err, const char *message)
{
    (void)message;
    struct ask *ask = arg;
    ask->result = err;
    ask->then(ask->request);
}

static void ask_here(struct request *request)
{
    struct ask *ask = request->state;
    struct calls *calls = request->deps->calls;
    if (ask->kind == COMMAND_END)
        calls_end(calls, request->params[0], END_API, owner_answered, ask);
    else
        calls_say(calls, request->params[0], ask->text, owner_answered, ask);
}

static void after_look(struct request *request)
{
    struct ask *ask = request->state;
    if (!ask->is_answered && loop_now_us(request->deps->control) < ask->until_us) {
        timer_set_after(&ask->timer, LOOK_AGAIN_US);
        return;
    }
    if (!ask->is_answered)
        ask->result = ERR_TIMEOUT;
    ask->then(request);
}

static void look(struct request *request)
{
    struct ask *ask = request->state;
    enum err result;
    ask->is_answered = store_command_result(request->tx, ask->command_id, &result) == OK;
    if (ask->is_answered)
        ask->result = result;
    request->after = after_look;
}

static void look_again(void *arg)
{
    request_job(arg, STORE_WRITE, look);
}

static void ask_there(struct request *request)
{
    struct ask *ask = request->state;
    timer_init(&ask->timer, request->deps->control, look_again, request);
    ask->until_us = loop_now_us(request->deps->control) + WAIT_US;
    timer_set_after(&ask->timer, LOOK_AGAIN_US);
}

/* Inside the job: who owns the call is asked after the commit, and then() told. */
static void ask_owner(struct request *request, enum command_kind kind, const char *text,
                      handler_fn *then)
{
    struct ask *ask = arena_new_of(request->arena, struct ask);
    char node[ID_SIZE * 2];
    bool is_here, is_alive;
    *ask = (struct ask){
        .request = request, .kind = kind, .text = arena_strdup(request->arena, text), .then = then};
    request->state = ask;
    if (!request_found(
            request, store_node_owner(request->tx, request->params[0], node, &is_here, &is_alive)))
        return;
    if (is_here) {
        request->after = ask_here;
        return;
    }
    enum err err = store_command_ask(request->tx, kind, request->params[0], text, &ask->command_id);
    if (err == OK)
        request->after = ask_there;
    else
        request_error(request, API_UNAVAILABLE); /* recovery ends the call of a dead owner */
}

/* ---- end ---- */

static void answer_ended(struct request *request)
{
    enum call_status status;
    if (!get_status(request, &status))
        return;
    request->shown = arena_printf(request->arena, "call %s", request->params[0]);
    if (status == CALL_ENDED)
        calls_write_one(request);
    else
        request_error(request, API_UNAVAILABLE);
}

/* Whatever the owner said: what counts is how the call stands now. */
static void ended(struct request *request)
{
    request_job(request, STORE_READ, answer_ended);
}

void calls_end_one(struct request *request)
{
    enum call_status status;
    if (!get_status(request, &status))
        return;
    if (status == CALL_ENDED) /* its first reason stays */
        request_show(request, answer_ended);
    else
        ask_owner(request, COMMAND_END, "", ended);
}

/* ---- say ---- */

struct say_body {
    const char *text;
};
static const struct field say_rows[] = {
    ROW_TEXT(struct say_body, text, "text", .flags = FIELD_REQUIRED, .min = 1, .max = 2000,
             .example = "\"One moment, please.\""),
};
FIELD_TABLE(say_body_table, struct say_body, "Say", say_rows);

struct said_answer {
    bool is_ok;
};
static const struct field said_rows[] = {
    ROW_BOOL(struct said_answer, is_ok, "ok"),
};
FIELD_TABLE(say_answer_table, struct said_answer, "Said", said_rows);

static enum api_error say_error(enum err err)
{
    switch (err) {
    case ERR_NOT_FOUND: /* over meanwhile */
    case ERR_CONFLICT:
        return API_CALL_NOT_ACTIVE;
    case ERR_LIMIT: /* too many lines wait to be said */
        return API_CONFLICT;
    default:
        return API_UNAVAILABLE;
    }
}

static void said(struct request *request)
{
    const struct ask *ask = request->state;
    if (ask->result == OK)
        request_answer(request, &(struct said_answer){true}, 0);
    else
        request_error(request, say_error(ask->result));
    request_finish(request);
}

void calls_say_one(struct request *request)
{
    struct say_body body;
    enum call_status status;
    struct field_context context;
    request_context(request, &context);
    field_create(&say_body_table, &body, request_body(request), &context, "");
    if (!request_is_valid(request, &context) || !get_status(request, &status))
        return;
    if (status == CALL_ACTIVE)
        ask_owner(request, COMMAND_SAY, body.text, said);
    else
        request_error(request, API_CALL_NOT_ACTIVE);
}
