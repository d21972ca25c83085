/* Answers with agents, piece by piece:
 *
 *   [ head ( agent's fields, "tools":[ tool, tool, ... ]} )* end
 *
 * A piece may end between any two tools: the ids of those that are left are kept for the next one.
 */
#include "api/agents_show.h"

#include <string.h>

#include "api/page.h"
#include "api/request.h"
#include "api/resources.h"
#include "api/run.h"
#include "api/spoilt.h"
#include "api/tools_on.h"
#include "model/agent.h"
#include "model/tool.h"
#include "store/agent.h"
#include "store/document.h"
#include "store/tx.h"
#include "store/workspace.h"

struct agent_answer {
    struct agent agent;
};
static const struct field agent_rows[] = {
    ROW_OBJECT(struct agent_answer, agent, "agent", struct agent, &agent_table),
};
FIELD_TABLE(agent_answer_table, struct agent_answer, "AgentAnswer", agent_rows);

struct agents_answer {
    struct agent_list agents;
    struct page_answer page;
};
static const struct field agents_rows[] = {
    ROW_OBJECTS(struct agents_answer, agents, "agents", struct agent_list, &agent_table),
    PAGE_ANSWER_ROWS(struct agents_answer, page),
};
FIELD_TABLE(agents_answer_table, struct agents_answer, "AgentsAnswer", agents_rows);

struct agent_key_answer {
    const char *key;
    struct agent agent;
};
static const struct field agent_key_rows[] = {
    ROW_TEXT(struct agent_key_answer, key, "apiKey"),
    ROW_OBJECT(struct agent_key_answer, agent, "agent", struct agent, &agent_table),
};
FIELD_TABLE(agent_key_answer_table, struct agent_key_answer, "AgentKeyAnswer", agent_key_rows);
static const struct field agent_public_key_rows[] = {
    ROW_TEXT(struct agent_key_answer, key, "publicKey"),
    ROW_OBJECT(struct agent_key_answer, agent, "agent", struct agent, &agent_table),
};
FIELD_TABLE(agent_public_key_answer_table, struct agent_key_answer, "AgentPublicKeyAnswer",
            agent_public_key_rows);

struct place {
    struct js_out out;
    struct page page; /* agents to come */
    size_t at;
    const struct agent *written; /* shown instead of the stored one; NULL: read by id */
    bool is_list;
    bool is_open;           /* the agent before `at` is begun and not yet ended */
    struct text_list tools; /* of it, by id; between pieces in `kept` */
    size_t tool_at;
};

/* All tools of the workspace are read at once for more agents than that. */
enum { AROUND_EACH_MAX = 100 };

/* What the agents of one piece have in common; in the job's arena. */
struct common {
    const char *plan;
    struct tools_around around; /* of a long list: read once */
    struct text_list documents;
};

static bool is_long(const struct place *place)
{
    return place->is_list && place->page.ids.count > AROUND_EACH_MAX;
}

static bool read_common(struct request *request, const struct place *place, struct common *out)
{
    const char *id = request_workspace(request);
    struct workspace workspace;
    *out = (struct common){.plan = ""};
    if (store_workspace_get(request->job.tx, id, &workspace) == OK)
        out->plan = workspace.plan;
    return store_document_ids(request->job.tx, id, false, &out->documents) == OK &&
           (!is_long(place) || tools_around_all(request->job.tx, id, &out->around) == OK);
}

static bool has_id(const struct text_list *ids, const char *id)
{
    for (size_t i = 0; i < ids->count; i++)
        if (strcmp(ids->items[i], id) == 0)
            return true;
    return false;
}

static void drop_gone(struct text_list *ids, const struct text_list *known)
{
    size_t kept = 0;
    for (size_t i = 0; i < ids->count; i++)
        if (has_id(known, ids->items[i]))
            ids->items[kept++] = ids->items[i];
    ids->count = kept;
}

/* Fields that are worked out when an agent is shown; the ids of its tools. */
static bool complete(struct request *request, const struct place *place, struct common *common,
                     struct agent *agent, struct text_list *out_tools)
{
    struct tool_head_list on;
    struct tx *tx = request->job.tx;
    if (!is_long(place) && tools_around_agent(tx, agent, &common->around) != OK)
        return false;
    tools_on(tx, agent, &common->around, &on);
    drop_gone(&agent->document_ids, &common->documents);
    agent->cost_per_minute_usd4 = agent_price(agent, request->deps->catalog, common->plan);
    if (request->who.principal.kind == KEY_SESSION && request->who.principal.role < ROLE_EDITOR)
        agent->api_key = secret_mask(agent->api_key, tx->arena); /* it may end calls */
    *out_tools = (struct text_list){0};
    for (size_t i = 0; i < on.count; i++)
        *GROW(out_tools, tx->arena) = on.items[i].id;
    return true;
}

/* A rotated key is written before its agent: { apiKey, agent } or { publicKey, agent }. */
static void write_head(struct request *request, struct place *place, const struct agent *agent)
{
    struct js_out *out = &place->out;
    const struct field_table *table = request->head.route->output;
    const bool is_public = table == &agent_public_key_answer_table;
    if (place->is_list)
        return;
    if (is_public || table == &agent_key_answer_table) {
        js_out_key(out, is_public ? "publicKey" : "apiKey");
        js_out_text(out, is_public ? agent->public_key : agent->api_key);
    }
    js_out_key(out, "agent");
}

/* One agent up to its tools. false: the store failed. */
static bool open_agent(struct request *request, struct place *place, struct common *common)
{
    struct agent agent;
    const char *id = place->page.ids.items[place->at];
    enum err err = OK;
    if (place->written)
        agent = *place->written;
    else
        err = store_agent_get(request->job.tx, request_workspace(request), id, &agent);
    if (err)
        return place->is_list &&
               (err == ERR_NOT_FOUND || spoilt_skip(request, err, DEAD_AGENT, id));
    if (!complete(request, place, common, &agent, &place->tools))
        return false;
    write_head(request, place, &agent);
    field_write_open(&agent_table, &agent, request_answer_views(request), "tools", &place->out);
    place->is_open = true;
    place->tool_at = 0;
    return true;
}

static bool write_tool(struct request *request, struct place *place)
{
    struct tool tool;
    const char *id = place->tools.items[place->tool_at++];
    enum err err = store_tool_get(request->job.tx, request_workspace(request), id, &tool);
    if (!err)
        tool_hide_headers(request, &tool);
    if (!err)
        field_write(&tool_table, &tool, request_answer_views(request), NULL, &place->out);
    return !err || err == ERR_NOT_FOUND || spoilt_skip(request, err, DEAD_TOOL, id);
}

/* One step; false: the store failed. */
static bool step(struct request *request, struct place *place, struct common *common)
{
    if (place->is_open && place->tool_at < place->tools.count)
        return write_tool(request, place);
    if (place->is_open) {
        js_out_array_end(&place->out);
        js_out_object_end(&place->out);
        place->is_open = false;
        return true;
    }
    bool is_good = open_agent(request, place, common);
    place->at++;
    return is_good;
}

/* The piece ends within an agent: keeps the ids of its tools that are not written yet. */
static void keep_tools(struct request *request, struct place *place)
{
    struct arena *arena = pieces_keep(&request->pieces);
    struct text_list left = {arena_new_n(arena, const char *, place->tools.count + 1), 0};
    for (size_t i = place->tool_at; i < place->tools.count; i++)
        left.items[left.count++] = arena_strdup(arena, place->tools.items[i]);
    place->tools = left;
    place->tool_at = 0;
}

static void more(struct request *request)
{
    struct place *place = request->pieces.place;
    struct common common;
    if (!read_common(request, place, &common)) {
        request_break_pieces(request);
        return;
    }
    while (place->is_open || place->at < place->page.ids.count) {
        if (request_piece_is_full(request)) {
            if (place->is_open)
                keep_tools(request, place);
            return;
        }
        if (!step(request, place, &common)) {
            request_break_pieces(request);
            return;
        }
    }
    if (place->is_list)
        page_write_end(&place->page, &place->out);
    else
        js_out_object_end(&place->out);
    pieces_end(&request->pieces);
}

static void begin(struct request *request, const struct page *page, const struct agent *written,
                  bool is_list)
{
    struct place *place = arena_new_of(request->arena, struct place);
    *place = (struct place){.page = *page, .written = written, .is_list = is_list};
    js_out_init(&place->out, &request->answer.body);
    js_out_object(&place->out);
    if (is_list) {
        js_out_key(&place->out, "agents");
        js_out_array(&place->out);
    }
    request_answer_pieces(request, more, place, sizeof(*place));
}

void agents_write(struct request *request, const struct page *page)
{
    begin(request, page, NULL, true);
}

static void show(struct request *request, const char *id, const struct agent *written)
{
    const char **ids = arena_new_n(request->arena, const char *, 1);
    ids[0] = arena_strdup(request->arena, id);
    const struct page one = {.ids = {ids, 1}};
    answer_header(&request->answer, "ETag", request_tag(request, written->updated_wall_ms));
    begin(request, &one, written, false);
}

void agents_show(struct request *request)
{
    struct agent agent;
    if (request_found(request, store_agent_get(request->job.tx, request_workspace(request),
                                               request->head.params[0], &agent)))
        show(request, agent.id, &agent);
}

static void show_written(struct request *request)
{
    const struct agent *agent = request->job.state;
    show(request, agent->id, agent);
}

void agents_show_written(struct request *request, const struct agent *agent)
{
    struct agent *copy = arena_new_of(request->arena, struct agent);
    field_copy(&agent_table, agent, copy, request->arena);
    request->job.state = copy;
    request->once.shown = arena_printf(request->arena, "agent %s", agent->id);
    run_show(request, show_written);
}
