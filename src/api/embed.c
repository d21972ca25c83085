/* POST /v1/embed/calls: the call button on somebody's web page, authorised by the publishable key
 * (contract, Publishable key). */
#include <string.h>

#include "api/call_start.h"
#include "api/cors.h"
#include "api/request.h"
#include "api/resources.h"
#include "store/agent.h"
#include "store/call.h"
#include "store/funds.h"

enum { VISITOR_TOKEN_S = 120 /* a page joins at once */ };

struct embed_participant {
    const char *name;
};
static const struct field participant_rows[] = {
    ROW_TEXT(struct embed_participant, name, "name", .min = 1, .max = 256),
};
static FIELD_TABLE(participant_table, struct embed_participant, "EmbedParticipant",
                   participant_rows);

struct embed_body {
    struct text_pair_list variables;
    const char *language;
    struct embed_participant participant;
};
static const struct field body_rows[] = {
    ROW_TEXT_MAP(struct embed_body, variables, "variables", .max = 100, .entry_max = 5000,
                 .is_pattern_name = true,
                 .about = "Fill {{variables}}; those that the agent does not declare are ignored."),
    ROW_TEXT(struct embed_body, language, "language", .flags = FIELD_OPTIONAL),
    ROW_OBJECT(struct embed_body, participant, "participant", struct embed_participant,
               &participant_table),
};
FIELD_TABLE(embed_body_table, struct embed_body, "EmbedCallStart", body_rows);

/* The call. */

static bool is_declared(const struct agent *agent, const char *name)
{
    for (size_t i = 0; i < agent->variables.count; i++)
        if (strcmp(agent->variables.items[i].name, name) == 0)
            return true;
    return false;
}

/* What the page sent becomes the start of a call with the button's own ceiling. */
static void fill_start(struct call_start_state *state, const struct embed_body *body)
{
    struct call_start *start = &state->start;
    field_defaults(&call_start_table, start);
    start->agent_id = state->agent.id;
    start->language = body->language;
    start->participant.name = body->participant.name;
    start->participant.ttl_s = VISITOR_TOKEN_S;
    start->config.call.max_duration_s = state->agent.embed.max_call_seconds;
    start->variables.items = body->variables.items;
    for (size_t i = 0; i < body->variables.count; i++)
        if (is_declared(&state->agent, body->variables.items[i].name))
            start->variables.items[start->variables.count++] = body->variables.items[i];
}

/* 403 EMBED_DISABLED, 403 ORIGIN_NOT_ALLOWED; false: answered. */
static bool is_page_allowed(struct request *request, const struct agent *agent)
{
    if (!agent->embed.is_enabled)
        request_error(request, API_EMBED_DISABLED);
    else if (!cors_allows(&agent->embed.allowed_origins, request_header(request, "Origin")))
        request_error(request, API_ORIGIN_NOT_ALLOWED);
    else
        return true;
    return false;
}

void embed_calls_create(struct request *request)
{
    struct call_start_state *state = arena_new_of(request->job.tx->arena, struct call_start_state);
    struct embed_body body;
    struct field_context context;
    int64_t spent_usd4;
    const struct principal *who = &request->who.principal;
    if (!request_found(request, store_agent_lock(request->job.tx, who->workspace_id, who->agent_id,
                                                 &state->agent)) ||
        !is_page_allowed(request, &state->agent))
        return;
    request_context(request, &context);
    field_create(&embed_body_table, &body, request_json(request), &context, "");
    if (!request_is_valid(request, &context) ||
        !request_found(request, store_embed_spent(request->job.tx, who->agent_id, &spent_usd4)))
        return;
    if (spent_usd4 >= state->agent.embed.daily_spend_limit_usd4) {
        request_error(request, API_DAILY_LIMIT_REACHED);
        return;
    }
    fill_start(state, &body);
    state->visitor = request->who.admitted.site;
    (void)call_start_insert(request, state, CALL_SOURCE_EMBED);
}
