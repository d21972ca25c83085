/* /v1/calls: the log of calls, end, say. A running call is reached through call/calls.h, on
 * whichever node it runs. */
#include "call/calls.h"

#include <string.h>

#include "api/calls_show.h"
#include "api/request.h"
#include "api/resources.h"
#include "api/run.h"
#include "base/clock.h"
#include "base/enum.h"
#include "model/call.h"
#include "store/call.h"

struct call_answer {
    struct call call;
};
static const struct field call_rows[] = {
    ROW_OBJECT(struct call_answer, call, "call", struct call, &call_table),
};
FIELD_TABLE(call_answer_table, struct call_answer, "CallAnswer", call_rows);

struct calls_query {
    const char *agent_id, *status, *end_reason, *source, *day, *before, *user_id;
    int64_t limit;
};

static const struct field query_rows[] = {
    ROW_TEXT(struct calls_query, agent_id, "agentId", .flags = FIELD_OPTIONAL,
             .about = "Only calls handled by this agent."),
    ROW_TEXT(struct calls_query, status, "status", .flags = FIELD_OPTIONAL,
             .names = call_status_names, .name_count = CALL_STATUS_COUNT),
    ROW_TEXT(struct calls_query, end_reason, "endReason", .flags = FIELD_OPTIONAL,
             .names = end_reason_names + 1, .name_count = END_REASON_COUNT - 1,
             .about = "Only calls that have ended so."),
    ROW_TEXT(struct calls_query, source, "source", .flags = FIELD_OPTIONAL,
             .names = call_source_names, .name_count = CALL_SOURCE_COUNT),
    ROW_TEXT(struct calls_query, day, "day", .flags = FIELD_OPTIONAL, .format = "date",
             .pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", .about = "Only calls created on it, UTC."),
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

/* The day's span; all time without one. false: answered. */
static bool read_day(struct request *request, const char *day, struct call_filter *out)
{
    enum { DAY_MS = 86400000 };
    if (!day)
        return true;
    const char *at = arena_printf(request->arena, "%sT00:00:00.000Z", day);
    if (!clock_parse_iso(at, &out->from_ms)) {
        request_fault(request, "day", "is no day of the calendar");
        return false;
    }
    out->until_ms = MAX(out->from_ms + DAY_MS, (int64_t)1); /* 0: all time; no call is older */
    return true;
}

void calls_list(struct request *request)
{
    struct calls_query query;
    struct call_page page = {0};
    if (!request_query(request, &query))
        return;
    const char *own = request_own_agent(request);
    struct call_filter filter = {
        .workspace_id = request_workspace(request),
        .agent_id = own ? own : query.agent_id,
        .status = enum_find(call_status_names, CALL_STATUS_COUNT, query.status),
        .source = enum_find(call_source_names, CALL_SOURCE_COUNT, query.source),
        .end_reason = (enum end_reason)(
            enum_find(end_reason_names + 1, END_REASON_COUNT - 1, query.end_reason) + 1),
        .limit = (unsigned)query.limit,
        .before = query.before,
    };
    if (!read_day(request, query.day, &filter))
        return;
    bool is_foreign = own && query.agent_id && strcmp(own, query.agent_id) != 0;
    enum err err = is_foreign ? OK : store_call_list(request->job.tx, &filter, &page);
    if (err == ERR_INVALID)
        request_fault(request, "before", "is no nextCursor of this list");
    else if (request_found(request, err))
        calls_write_page(request, &page);
}

/* The status of the call in the path; false: answered. */
static bool get_status(struct request *request, enum call_status *out)
{
    return request_found(request, store_call_status(request->job.tx, request_workspace(request),
                                                    request_own_agent(request),
                                                    request->head.params[0], out));
}

void calls_get(struct request *request)
{
    calls_write_one(request);
}

/* End. */

static void answer_ended(struct request *request)
{
    enum call_status status;
    if (!get_status(request, &status))
        return;
    request->once.shown = arena_printf(request->arena, "call %s", request->head.params[0]);
    if (status == CALL_ENDED)
        calls_write_one(request);
    else
        request_error(request, API_UNAVAILABLE);
}

/* The answer depends on how the call stands now, not on what its node said. */
static void on_ended(void *arg, enum err err, const char *message)
{
    (void)err, (void)message;
    run_job(arg, STORE_READ, answer_ended);
}

static void end_call(struct request *request)
{
    calls_end(request->deps->calls, request_workspace(request), request->head.params[0], on_ended,
              request);
}

void calls_end_one(struct request *request)
{
    enum call_status status;
    if (!get_status(request, &status))
        return;
    if (status == CALL_ENDED) /* its first reason stays */
        run_show(request, answer_ended);
    else
        request_after(request, end_call);
}

/* Say. */

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

static void on_said(void *arg, enum err err, const char *message)
{
    struct request *request = arg;
    (void)message;
    if (!err)
        request_answer(request, &(struct said_answer){true}, 0);
    else
        request_error(request, say_error(err));
    run_finish(request);
}

static void say_line(struct request *request)
{
    calls_say(request->deps->calls, request_workspace(request), request->head.params[0],
              request->job.state, on_said, request);
}

void calls_say_one(struct request *request)
{
    struct say_body body;
    enum call_status status;
    struct field_context context;
    request_context(request, &context);
    field_create(&say_body_table, &body, request_json(request), &context, "");
    if (!request_is_valid(request, &context) || !get_status(request, &status))
        return;
    if (status != CALL_ACTIVE) {
        request_error(request, API_CALL_NOT_ACTIVE);
        return;
    }
    request->job.state = arena_strdup(request->arena, body.text);
    request_after(request, say_line);
}
