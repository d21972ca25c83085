/* GET /v1/calls/{id}/events: what receivers were told of a call, event by event. */
#include <inttypes.h>
#include <stdlib.h>

#include "api/request.h"
#include "api/resources.h"
#include "model/webhook.h"
#include "store/call.h"
#include "store/event.h"

struct events_query {
    int64_t limit;
    const char *after;
};
static const struct field query_rows[] = {
    ROW_INT(struct events_query, limit, "limit", .min = 1, .max = 100, .standard = 50),
    ROW_TEXT(struct events_query, after, "after", .flags = FIELD_OPTIONAL,
             .pattern = "^[0-9]{1,15}$",
             .about = "The nextCursor of the page before, to fetch later events."),
};
FIELD_TABLE(call_events_query_table, struct events_query, "CallEventsQuery", query_rows);

struct events_answer {
    struct told_event_list events;
    const char *next_cursor;
};
static const struct field answer_rows[] = {
    ROW_OBJECTS(struct events_answer, events, "events", struct told_event_list, &told_event_table),
    ROW_TEXT(struct events_answer, next_cursor, "nextCursor", .flags = FIELD_NULL_EMPTY,
             .about = "Passed back as after; null on the last page."),
};
FIELD_TABLE(call_events_answer_table, struct events_answer, "CallEventsAnswer", answer_rows);

static bool parse_cursor(const char *text, int64_t *out_ms)
{
    char *end;
    *out_ms = strtoll(text, &end, 10);
    return end != text && !*end && *out_ms >= 0;
}

/* One event more than the page holds was read, to know whether there are more. */
static void answer_page(struct request *request, const struct events_query *query,
                        struct events_answer *answer)
{
    if (answer->events.count > (size_t)query->limit) {
        answer->events.count = (size_t)query->limit;
        const struct told_event *last = &answer->events.items[query->limit - 1];
        answer->next_cursor = arena_printf(request->arena, "%" PRId64, last->created_wall_ms);
    }
    request_answer(request, answer, 0);
}

void calls_events(struct request *request)
{
    struct tx *tx = request->job.tx;
    const char *workspace = request_workspace(request), *id = request->head.params[0];
    struct events_query query;
    struct events_answer answer = {.next_cursor = ""};
    enum call_status status;
    if (!request_query(request, &query) ||
        !request_found(request, store_call_status(tx, workspace, NULL, id, &status)))
        return;
    int64_t after_ms = 0;
    if (query.after && !parse_cursor(query.after, &after_ms))
        request_fault(request, "after", "is no nextCursor of this list");
    else if (request_found(request, store_call_events(tx, workspace, id, after_ms,
                                                      (unsigned)query.limit + 1, &answer.events)))
        answer_page(request, &query, &answer);
}
