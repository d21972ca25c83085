/* POST /v1/embed/calls: the call button on somebody's web page, authorised by the publishable key
 * (contract, Publishable key), and the CORS headers that go with it. */
#include <string.h>
#include <strings.h>

#include "api/call_start.h"
#include "api/internal.h"
#include "api/request.h"
#include "api/resources.h"
#include "store/agent.h"
#include "store/call.h"

#define EMBED_PATH "/v1/embed/calls"

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

/* ---- origins ---- */

bool embed_is_path(const char *path)
{
    return strcmp(path, EMBED_PATH) == 0;
}

/* "https://example.com:8443" -> "example.com:8443"; NULL for "null" and the like. */
static const char *origin_host(const char *origin)
{
    const char *host = origin ? strstr(origin, "://") : NULL;
    return host && host[3] ? host + 3 : NULL;
}

static bool origin_fits(const char *entry, const char *host)
{
    size_t host_len = strlen(host), entry_len = strlen(entry);
    if (!strchr(entry[0] == '[' ? strchr(entry, ']') : entry, ':')) /* any port */
        host_len = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    if (strncmp(entry, "*.", 2) != 0)
        return entry_len == host_len && strncasecmp(entry, host, host_len) == 0;
    const char *suffix = entry + 1; /* ".example.com" does not cover "example.com" */
    size_t suffix_len = entry_len - 1;
    return host_len > suffix_len &&
           strncasecmp(host + host_len - suffix_len, suffix, suffix_len) == 0;
}

static bool origin_is_allowed(const struct agent *agent, const char *origin)
{
    const struct text_list *allowed = &agent->embed.allowed_origins;
    const char *host = origin_host(origin);
    if (allowed->count == 0)
        return true;
    for (size_t i = 0; host && i < allowed->count; i++)
        if (origin_fits(allowed->items[i], host))
            return true;
    return false;
}

static void allow_origin(struct request *request, const char *origin)
{
    struct answer *answer = &request->answer;
    answer_header(answer, "Access-Control-Allow-Origin", arena_strdup(request->arena, origin));
    answer_header(answer, "Access-Control-Expose-Headers",
                  "X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, "
                  "Retry-After");
    answer_header(answer, "Vary", "Origin");
}

void embed_any_origin(struct request *request)
{
    const char *origin = request_header(request, "Origin");
    if (origin)
        allow_origin(request, origin);
}

void embed_preflight(struct request *request)
{
    struct answer *answer = &request->answer;
    embed_any_origin(request);
    answer_header(answer, "Access-Control-Allow-Methods", "POST");
    answer_header(answer, "Access-Control-Allow-Headers",
                  "Authorization, Content-Type, Idempotency-Key, X-Request-Id");
    answer_header(answer, "Access-Control-Max-Age", "600");
}

struct origin_job {
    struct request *request;
    bool is_allowed;
};

static enum err find_origin(struct tx *tx, void *arg)
{
    struct origin_job *job = arg;
    struct agent agent;
    const struct principal *who = &job->request->principal;
    job->is_allowed = store_agent_get(tx, who->workspace_id, who->agent_id, &agent) == OK &&
                      origin_is_allowed(&agent, request_header(job->request, "Origin"));
    return OK;
}

static void origin_found(void *arg, enum err err)
{
    struct origin_job *job = arg;
    struct request *request = job->request;
    request->is_origin_known = true;
    if (err == OK && job->is_allowed)
        allow_origin(request, request_header(request, "Origin"));
    request_send(request);
}

void embed_send(struct request *request)
{
    struct origin_job *job = arena_new_of(request->arena, struct origin_job);
    job->request = request;
    struct store_line line = {.key = request->principal.workspace_id, .mode = STORE_READ};
    if (store_job_for(request->deps->store, line, find_origin, job, request->deps->control,
                      origin_found) == OK)
        return;
    request->is_origin_known = true;
    request_send(request);
}

/* ---- the call ---- */

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
    else if (!origin_is_allowed(agent, request_header(request, "Origin")))
        request_error(request, API_ORIGIN_NOT_ALLOWED);
    else
        return true;
    return false;
}

void embed_calls_create(struct request *request)
{
    struct call_start_state *state = arena_new_of(request->tx->arena, struct call_start_state);
    struct embed_body body;
    struct field_context context;
    int64_t spent_usd4;
    const struct principal *who = &request->principal;
    if (!request_found(request, store_agent_lock(request->tx, who->workspace_id, who->agent_id,
                                                 &state->agent)) ||
        !is_page_allowed(request, &state->agent))
        return;
    request_context(request, &context);
    field_create(&embed_body_table, &body, request_body(request), &context, "");
    if (!request_is_valid(request, &context) ||
        !request_found(request, store_embed_spent(request->tx, who->agent_id, &spent_usd4)))
        return;
    if (spent_usd4 >= state->agent.embed.daily_spend_limit_usd4) {
        request_error(request, API_DAILY_LIMIT_REACHED);
        return;
    }
    fill_start(state, &body);
    state->visitor = request->admitted.site;
    (void)call_start_insert(request, state, CALL_SOURCE_EMBED);
}
