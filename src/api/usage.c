/* GET /v1/usage: calls, time, money and reply times by day. */
#include "model/usage.h"

#include "api/request.h"
#include "api/resources.h"
#include "store/usage.h"

struct usage_query {
    const char *agent_id, *user_id;
    int64_t days;
};
static const struct field query_rows[] = {
    ROW_INT(struct usage_query, days, "days", .min = 1, .max = USAGE_DAYS_MAX, .standard = 30,
            .about = "Up to today, UTC."),
    ROW_TEXT(struct usage_query, agent_id, "agentId", .flags = FIELD_OPTIONAL,
             .about = "Of this agent alone."),
    ROW_TEXT(struct usage_query, user_id, "userId", .flags = FIELD_OPTIONAL,
             .about = "A workspace id; another workspace's is refused."),
};
FIELD_TABLE(usage_query_table, struct usage_query, "UsageQuery", query_rows);

struct usage_answer {
    struct usage usage;
};
static const struct field answer_rows[] = {
    ROW_OBJECT(struct usage_answer, usage, "usage", struct usage, &usage_table),
};
FIELD_TABLE(usage_answer_table, struct usage_answer, "UsageAnswer", answer_rows);

void usage_get(struct request *request)
{
    struct usage_query query;
    struct usage_answer answer;
    if (request_query(request, &query) &&
        request_found(request, store_usage_read(request->job.tx, request_workspace(request),
                                                query.agent_id, query.days, &answer.usage)))
        request_answer(request, &answer, 0);
}
