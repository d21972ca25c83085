/* /v1/agents: saved configurations (contract, Agents). */
#include <string.h>

#include "api/agent_tools.h"
#include "api/agents_show.h"
#include "api/page.h"
#include "api/request.h"
#include "api/resources.h"
#include "api/tools_on.h"
#include "api/urls.h"
#include "base/js.h"
#include "store/agent.h"
#include "store/ceiling.h"
#include "store/document.h"

struct user_query {
    const char *user_id;
};
#define USER_ID_ABOUT "A workspace id; never needed with a key; another workspace's is refused."
static const struct field user_query_rows[] = {
    ROW_TEXT(struct user_query, user_id, "userId", .flags = FIELD_OPTIONAL, .about = USER_ID_ABOUT),
};
FIELD_TABLE(user_query_table, struct user_query, "UserQuery", user_query_rows);

struct agents_query {
    const char *user_id, *ids;
    struct page_query page;
};
static const struct field agents_query_rows[] = {
    ROW_TEXT(struct agents_query, user_id, "userId", .flags = FIELD_OPTIONAL,
             .about = USER_ID_ABOUT),
    PAGE_QUERY_ROWS(struct agents_query, page, "ua_"),
    PAGE_IDS_ROW(struct agents_query, ids),
};
FIELD_TABLE(agents_query_table, struct agents_query, "AgentsQuery", agents_query_rows);

/* Bodies. */

static bool keep_known_documents(struct request *request, struct agent *agent)
{
    if (!js_get(request_json(request), "documentIds"))
        return true;
    return request_found(request,
                         store_document_keep_known(request->job.tx, request_workspace(request),
                                                   &agent->document_ids, false));
}

/* Takes out the ids of tools and documents that were removed since the agent was stored. */
static bool forget_gone(struct request *request, struct agent *agent)
{
    struct tools_around around;
    struct tool_head_list on;
    if (!request_found(request, tools_around_agent(request->job.tx, agent, &around)))
        return false;
    tools_on(request->job.tx, agent, &around, &on);
    return request_found(request, store_document_keep_known(request->job.tx, agent->user_id,
                                                            &agent->document_ids, false));
}

static bool urls_allowed(struct request *request, const struct agent *agent,
                         struct agent_tools *tools)
{
    const char **urls = arena_new_n(request->job.tx->arena, const char *, tools->url_count + 1);
    size_t count = 0;
    if (js_get(request_json(request), "webhookUrl") && *agent->webhook_url)
        urls[count++] = agent->webhook_url;
    for (size_t i = 0; i < tools->url_count; i++)
        urls[count++] = tools->urls[i];
    return urls_are_allowed(request, urls, count);
}

/* Applies and checks what the field table cannot: catalog, tools, documents. false: answered. */
static bool take_body(struct request *request, struct agent *agent, struct agent_tools *tools,
                      struct field_context *context)
{
    const struct js *body = request_json(request);
    agent_settle(agent, body, context);
    agent_tools_load(request->job.tx, agent, tools);
    agent_tools_apply(tools, agent, body, context);
    return request_is_valid(request, context) && request_found(request, tools->err);
}

/* Handlers. */

void agents_list(struct request *request)
{
    struct agents_query query;
    struct page page;
    if (!request_query(request, &query))
        return;
    struct page_filter filter = {.id = request_own_agent(request)};
    if (query.ids ? page_of_ids(request, query.ids, filter.id, &page)
                  : page_find(request, LISTED_AGENTS, &query.page, &filter, &page))
        agents_write(request, &page);
}

/* Stores the tools, checks that the workspace does not hold too much now, and answers with the
 * agent. grown: the ceilings that the agent itself adds to (store/ceiling.h). */
static void finish(struct request *request, struct agent_tools *tools, const struct agent *agent,
                   unsigned grown)
{
    unsigned more = 0;
    enum err err = agent_tools_store(tools, agent, &more);
    if (err == ERR_CONFLICT)
        request_error(request, API_TOOL_NAME_TAKEN);
    else if (request_found(request, err) && request_fits(request, grown | more))
        agents_show_written(request, agent);
}

void agents_create(struct request *request)
{
    struct agent agent;
    struct agent_tools tools;
    struct field_context context;
    request_context(request, &context);
    field_create(&agent_table, &agent, request_json(request), &context, "");
    agent.user_id = request_workspace(request);
    if (!take_body(request, &agent, &tools, &context) || !urls_allowed(request, &agent, &tools))
        return;
    if (tools.is_name_taken) {
        request_error(request, API_TOOL_NAME_TAKEN);
        return;
    }
    if (keep_known_documents(request, &agent) &&
        request_found(request, store_agent_insert(request->job.tx, &agent)))
        finish(request, &tools, &agent, 1 << CEILING_AGENTS | 1 << CEILING_BYTES);
}

static bool may_see(const struct request *request, const char *agent_id)
{
    const char *own = request_own_agent(request);
    return !own || strcmp(own, agent_id) == 0;
}

void agents_get(struct request *request)
{
    if (may_see(request, request->head.params[0]))
        agents_show(request);
    else
        request_error(request, API_NOT_FOUND);
}

void agents_update(struct request *request)
{
    struct agent agent;
    struct agent_tools tools;
    struct field_context context;
    request_context(request, &context);
    enum err err = store_agent_lock(request->job.tx, request_workspace(request),
                                    request->head.params[0], &agent);
    if (err == ERR_NOT_FOUND) { /* the faults of the body are told first */
        field_defaults(&agent_table, &agent);
        agent.user_id = request_workspace(request);
    } else if (!request_found(request, err) || !forget_gone(request, &agent)) {
        return;
    }
    int64_t bytes = agent.bytes;
    field_merge(&agent_table, &agent, request_json(request), &context, "");
    if (!take_body(request, &agent, &tools, &context) || !request_found(request, err) ||
        !request_is_as_read(request, agent.updated_wall_ms) ||
        !urls_allowed(request, &agent, &tools))
        return;
    if (tools.is_name_taken) {
        request_error(request, API_TOOL_NAME_TAKEN);
        return;
    }
    if (keep_known_documents(request, &agent) &&
        request_found(request, store_agent_update(request->job.tx, &agent)))
        finish(request, &tools, &agent, agent.bytes > bytes ? 1 << CEILING_BYTES : 0);
}

void agents_remove(struct request *request)
{
    const char *id = request->head.params[0];
    if (request_found(request, store_agent_remove(request->job.tx, request_workspace(request), id)))
        request_answer(request, &(struct removed){true, id}, 0);
}

static void rotate(struct request *request, enum agent_key which)
{
    struct agent agent;
    enum err err = store_agent_lock(request->job.tx, request_workspace(request),
                                    request->head.params[0], &agent);
    if (request_found(request, err) &&
        request_found(request, store_agent_rotate(request->job.tx, &agent, which)))
        agents_show_written(request, &agent);
}

void agents_rotate_key(struct request *request)
{
    rotate(request, AGENT_KEY_SECRET);
}

void agents_rotate_public_key(struct request *request)
{
    rotate(request, AGENT_KEY_PUBLIC);
}
