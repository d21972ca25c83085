/* POST /v1/calls, and what it shares with the call button (contract, Start a call, Language
 * rules).
 *
 *   job: checks, row in state created -> loop: calls_start() -> job: the call as it is, the token
 */
#include "api/call_start.h"

#include <string.h>

#include "api/request.h"
#include "api/resources.h"
#include "api/run.h"
#include "api/tools_on.h"
#include "api/urls.h"
#include "base/ids.h"
#include "base/js.h"
#include "base/mem.h"
#include "call/calls.h"
#include "call/plan.h"
#include "room/token.h"
#include "store/agent.h"
#include "store/call.h"
#include "store/document.h"
#include "store/tx.h"
#include "store/visitor.h"
#include "store/workspace.h"

struct started {
    const char *call_id, *livekit_url, *token, *language;
    const struct call *call;
};
static const struct field started_rows[] = {
    ROW_TEXT(struct started, call_id, "callId", .format = "uuid"),
    ROW_TEXT(struct started, livekit_url, "livekitUrl"),
    ROW_TEXT(struct started, token, "token", .about = "Joins the room with any LiveKit client."),
    ROW_TEXT(struct started, language, "language", .flags = FIELD_OMIT_EMPTY,
             .about = "ISO code, when a language was sent."),
    ROW_OBJECT_PTR(struct started, call, "call", const struct call, &call_table),
};
FIELD_TABLE(call_started_table, struct started, "CallStarted", started_rows);

static const struct field embed_rows[] = {
    ROW_TEXT(struct started, call_id, "callId", .format = "uuid"),
    ROW_TEXT(struct started, livekit_url, "livekitUrl"),
    ROW_TEXT(struct started, token, "token"),
    ROW_TEXT(struct started, language, "language", .flags = FIELD_OMIT_EMPTY),
};
FIELD_TABLE(embed_started_table, struct started, "EmbedCallStarted", embed_rows);

/* Language rules 1 to 3. */

static bool can_speak(const struct catalog *catalog, const struct agent *agent, const char *iso)
{
    const struct catalog_tts *tts = catalog_tts(catalog, agent->voice.provider);
    const struct catalog_stt *stt = catalog_stt(catalog, agent->stt.provider);
    if (strcmp(iso, "hi") == 0 || strcmp(iso, "en") == 0)
        return tts && catalog_speaks(&tts->languages, iso);
    return tts && tts->is_multilingual && stt && stt->is_multilingual;
}

static bool choose_language(struct request *request, struct call_start_state *state)
{
    const struct catalog *catalog = request->deps->catalog;
    const char *own = state->agent.voice.language, *sent = state->start.language;
    state->language = catalog_language(catalog, own);
    if (!state->language) /* stored by a version that knew other languages */
        state->language = catalog_default_language(catalog);
    if (!sent || strcmp(sent, own) == 0)
        return true;
    const struct catalog_language *language = catalog_language_named(catalog, sent);
    if (language && strcmp(language->id, own) == 0)
        return true;
    if (!language || !can_speak(catalog, &state->agent, language->iso)) {
        request_error(request, API_UNSUPPORTED_LANGUAGE);
        return false;
    }
    state->language = language;
    state->is_language_sent = true;
    return true;
}

/* The row. */

static const char *print_in(struct js *take_js, struct arena *arena)
{
    AUTO_MEM char *text = js_print(take_js);
    js_free(take_js);
    return arena_strdup(arena, text);
}

static struct js *metadata_of(const struct call_start *start)
{
    struct js *js = NULL;
    if (js_parse(start->metadata, strlen(start->metadata), 64, &js, NULL) != OK)
        js = js_object();
    return js;
}

/* The metadata as sent, plus the service's own keys, which win. */
static void fill_metadata(struct call_start_state *state, struct arena *arena)
{
    const struct agent *agent = &state->agent;
    struct js *shown = metadata_of(&state->start), *sent = metadata_of(&state->start);
    struct js *variables = js_object();
    for (size_t i = 0; i < state->start.variables.count; i++)
        js_set(variables, state->start.variables.items[i].name,
               js_string(state->start.variables.items[i].text));
    js_set(shown, "variables", variables);
    js_set(shown, "agentId", js_string(agent->id));
    js_set(shown, "agentName", js_string(agent->name));
    js_set(shown, "userId", js_string(agent->user_id));
    if (state->start.language && state->language)
        js_set(shown, "language", js_string(state->language->iso));
    js_set(sent, "agentId", js_string(agent->id));
    js_set(sent, "userId", js_string(agent->user_id));
    state->call.metadata = print_in(shown, arena);
    state->call.metadata_sent = print_in(sent, arena);
}

static void fill_webhooks(struct call_start_state *state)
{
    static const char *all[] = {"*"};
    state->call.webhooks = state->start.webhooks;
    for (size_t i = 0; i < state->call.webhooks.count; i++)
        if (state->call.webhooks.items[i].events.count == 0)
            state->call.webhooks.items[i].events = (struct text_list){all, 1};
}

static void fill_call(struct request *request, struct call_start_state *state,
                      enum call_source source, const char *plan)
{
    struct arena *arena = request->job.tx->arena;
    struct call *call = &state->call;
    char id[ID_SIZE], suffix[9];
    uuid_new(id);
    random_base62(suffix, 8);
    if (*state->start.participant.identity == '\0')
        state->start.participant.identity = arena_printf(arena, "caller-%s", suffix);
    state->agent.cost_per_minute_usd4 = agent_price(&state->agent, request->deps->catalog, plan);
    field_defaults(&call_table, call);
    call->id = arena_strdup(arena, id);
    call->user_id = state->agent.user_id;
    call->agent_id = state->agent.id;
    call->room_name = arena_printf(arena, "call-%s", id);
    call->source = source;
    call->created_wall_ms = request->job.tx->now_ms;
    call->cost_per_minute_usd4 = state->agent.cost_per_minute_usd4;
    call->participant_identity = state->start.participant.identity;
    fill_metadata(state, arena);
    fill_webhooks(state);
    state->join_until_wall_ms =
        call->created_wall_ms + state->start.participant.ttl_s * INT64_C(1000);
}

/* After the commit. */

/* What is needed after the job, in the request's arena. */
struct waiting {
    const struct call_plan_source *source;
    const char *id, *identity, *name, *language; /* for the answer */
    int64_t expires_s;
};

static void answer_started(struct request *request)
{
    const struct waiting *waiting = request->job.state;
    struct call call;
    if (!request_found(request, store_call_get(request->job.tx, request_workspace(request), NULL,
                                               waiting->id, &call)))
        return;
    struct token_claims claims = token_claims_for_caller(call.room_name, waiting->identity,
                                                         waiting->name, waiting->expires_s);
    AUTO_BUF token = BUF_INIT(TOKEN_MAX_BYTES);
    if (token_mint(request->deps->signer, &claims, &token) != OK) {
        request_error(request, API_INTERNAL_ERROR);
        return;
    }
    struct started answer = {
        .call_id = waiting->id,
        .livekit_url = request->deps->livekit_url,
        .token = token.data,
        .language = waiting->language,
        .call = &call,
    };
    request_answer(request, &answer, 0);
}

static void on_dispatched(void *arg, enum err err, const char *message)
{
    struct request *request = arg;
    if (!err) {
        run_job(request, STORE_READ, answer_started);
        return;
    }
    if (err == ERR_CLOSED) /* whoever ends it says why it ended */
        request_error(request, API_UNAVAILABLE);
    else
        request_error_says(request, API_DISPATCH_FAILED, message);
    run_finish(request);
}

/* What the plan of the call is made of, in the request's arena: the job's own is gone by then. */
static struct call_plan_source *keep_source(struct request *request,
                                            const struct call_start_state *state)
{
    struct arena *arena = request->arena;
    struct call_plan_source *source = arena_new_of(arena, struct call_plan_source);
    struct call *row = arena_new_of(arena, struct call);
    struct call_start *start = arena_new_of(arena, struct call_start);
    struct agent *agent = arena_new_of(arena, struct agent);
    struct tool_head_list *tools = arena_new_of(arena, struct tool_head_list);
    field_copy(&call_table, &state->call, row, arena);
    field_copy(&call_start_table, &state->start, start, arena);
    field_copy(&agent_table, &state->agent, agent, arena);
    for (size_t i = 0; i < state->tools.count; i++) {
        struct tool_head *head = GROW(tools, arena);
        *head = state->tools.items[i];
        head->id = arena_strdup(arena, head->id);
        head->name = arena_strdup(arena, head->name);
    }
    *source = (struct call_plan_source){.row = row,
                                        .start = start,
                                        .agent = agent,
                                        .tools = tools,
                                        .language = arena_strdup(arena, state->language->id),
                                        .is_language_sent = state->is_language_sent,
                                        .join_until_wall_ms = state->join_until_wall_ms};
    return source;
}

static void on_planned(void *arg, struct call_plan *plan)
{
    struct request *request = arg;
    calls_start(request->deps->calls, plan, on_dispatched, request);
}

/* After the commit. The tools may be large: a reading job loads them. */
static void dispatch(struct request *request)
{
    const struct waiting *waiting = request->job.state;
    call_plan_load(request->deps->store, calls_snapshots(request->deps->calls), waiting->source,
                   request->deps->control, on_planned, request);
}

static struct waiting *keep_waiting(struct request *request, const struct call_start_state *state)
{
    struct arena *arena = request->arena;
    struct waiting *waiting = arena_new_of(arena, struct waiting);
    waiting->id = arena_strdup(arena, state->call.id);
    waiting->identity = arena_strdup(arena, state->start.participant.identity);
    waiting->name = arena_strdup(arena, state->start.participant.name);
    waiting->language = state->start.language ? arena_strdup(arena, state->language->iso) : "";
    waiting->expires_s = state->join_until_wall_ms / 1000;
    waiting->source = keep_source(request, state);
    return waiting;
}

static void refuse_concurrent(struct request *request)
{
    request_error(request, API_CONCURRENT_CALL_LIMIT);
    answer_header(&request->answer, "Retry-After", "10");
}

/* A call that nobody joins lasts as long as its token. So one visitor may have only some of them,
 * or it could use up the calls of all. The agent's row is locked, so that the count holds. */
static bool may_visitor_start(struct request *request, const struct call_start_state *state)
{
    int64_t waiting;
    if (!state->visitor)
        return true;
    if (!request_found(request, store_visitor_waiting(request->job.tx, state->agent.id,
                                                      state->visitor, &waiting)))
        return false;
    if (waiting >= VISITOR_CALLS_MAX)
        refuse_concurrent(request);
    return waiting < VISITOR_CALLS_MAX;
}

static bool insert(struct request *request, const struct call_start_state *state)
{
    enum err err = store_call_insert(request->job.tx, &state->call, state->agent.webhook_url,
                                     state->join_until_wall_ms);
    if (err != ERR_BUSY)
        return request_found(request, err);
    request_error(request, API_UNAVAILABLE);
    return false;
}

/* The last step of the job: it locks the workspace's row, which others wait for. */
static bool insert_counted(struct request *request, const struct call_start_state *state,
                           int64_t most_running)
{
    int64_t running;
    const char *id = request_workspace(request);
    if (!may_visitor_start(request, state) ||
        !request_found(request, store_workspace_lock(request->job.tx, id)) ||
        !request_found(request, store_call_running(request->job.tx, id, &running)))
        return false;
    if (running >= most_running) {
        refuse_concurrent(request);
        return false;
    }
    return insert(request, state) &&
           (!state->visitor ||
            request_found(request,
                          store_visitor_mark(request->job.tx, state->call.id, state->visitor)));
}

/* Finds the tools that are on, and takes out ids of tools and documents that were removed. */
static enum err find_tools(struct tx *tx, struct call_start_state *state)
{
    struct tools_around around;
    struct agent *agent = &state->agent;
    enum err err = tools_around_agent(tx, agent, &around);
    if (err)
        return err;
    tools_on(tx, agent, &around, &state->tools);
    tools_on_keep_best(agent, &state->tools);
    return store_document_keep_known(tx, agent->user_id, &agent->document_ids, false);
}

/* An agent that another version, or an operator by hand, has stored may lack fields: they get
 * their defaults. */
static void settle_agent(struct request *request, struct agent *agent)
{
    struct field_context context;
    request_context(request, &context);
    agent_settle(agent, NULL, &context);
}

bool call_start_insert(struct request *request, struct call_start_state *state,
                       enum call_source source)
{
    struct workspace workspace;
    settle_agent(request, &state->agent);
    const char *id = request_workspace(request);
    if (!choose_language(request, state) ||
        !request_found(request, store_workspace_get(request->job.tx, id, &workspace)))
        return false;
    if (workspace.balance_usd4 <= 0) {
        request_error(request, API_INSUFFICIENT_BALANCE);
        return false;
    }
    if (!request_found(request, find_tools(request->job.tx, state)))
        return false;
    if (state->start.config.prompt.system) /* contract: that prompt runs without tools */
        state->tools.count = 0;
    fill_call(request, state, source, workspace.plan);
    if (!insert_counted(request, state, workspace.max_concurrent_calls))
        return false;
    request->job.state = keep_waiting(request, state);
    request_after(request, dispatch);
    return true;
}

void calls_create(struct request *request)
{
    struct arena *arena = request->job.tx->arena;
    struct call_start_state *state = arena_new_of(arena, struct call_start_state);
    struct call_start *start = &state->start;
    struct field_context context;
    request_context(request, &context);
    field_create(&call_start_table, start, request_json(request), &context, "");
    if (!request_is_valid(request, &context) ||
        !request_found(request, store_agent_get(request->job.tx, request_workspace(request),
                                                start->agent_id, &state->agent)))
        return;
    const char **urls = arena_new_n(arena, const char *, start->webhooks.count);
    for (size_t i = 0; i < start->webhooks.count; i++)
        urls[i] = start->webhooks.items[i].url;
    bool is_test = request->who.principal.kind == KEY_SESSION;
    if (urls_are_allowed(request, urls, start->webhooks.count))
        (void)call_start_insert(request, state, is_test ? CALL_SOURCE_STUDIO : CALL_SOURCE_API);
}
