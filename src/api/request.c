#include "api/request.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/internal.h"
#include "api/proxy.h"
#include "api/stream.h"
#include "base/clock.h"
#include "base/js.h"
#include "net/url.h"
#include "store/ceiling.h"
#include "store/tx.h"

struct request *request_new(struct api *api, struct http_exchange *exchange)
{
    struct arena *arena = arena_new(0);
    struct request *request = arena_new_of(arena, struct request);
    request->api = api;
    request->deps = &api->deps;
    request->exchange = exchange;
    request->arena = arena;
    request->head = (struct request_head){.http = http_exchange_request(exchange),
                                          .id = http_exchange_id(exchange),
                                          .begun_us = clock_now_us()};
    request->job.is_first = true;
    answer_init(&request->answer, arena);
    proxies_client(api->proxies, request->head.http, &request->who.client);
    net_ip_print_site(&request->who.client, NET_SITE_BITS, request->who.admitted.site);
    http_exchange_set_user(exchange, request);
    api->under_way++;
    return request;
}

void request_free(struct request *request)
{
    struct api *api = request->api;
    timer_stop(&request->deadline);
    pieces_clear(&request->pieces);
    stream_free(request->stream);
    admission_leave(api->admission, &request->who.admitted);
    js_free(request->body.json);
    answer_clear(&request->answer);
    api->ahead_bytes -= request->body.ahead_bytes;
    api->under_way--;
    arena_free(request->arena);
}

/* The store's line: its workspace's, or where there is no key its address's. */
static const char *line_of(const struct admitted *who)
{
    return *who->workspace ? who->workspace : who->site;
}

enum err request_store_job(struct request *request, enum store_mode mode, store_fn *fn,
                           store_done_fn *done)
{
    struct store_line line = {.key = line_of(&request->who.admitted), .mode = mode};
    return store_job_for(request->deps->store, line, fn, request, request->deps->control, done);
}

/* What was sent. */

const struct js *request_json(const struct request *request)
{
    return request->body.json;
}

const char *request_header(const struct request *request, const char *name)
{
    return http_exchange_header(request->exchange, name);
}

void request_context(struct request *request, struct field_context *out)
{
    struct arena *arena = request->job.tx ? request->job.tx->arena : request->arena;
    field_context_init(out, arena, request->deps->catalog);
    out->has_key = request->who.principal.kind != KEY_SESSION;
}

/* A query holds text; the table says which values are numbers. Text that is no number stays text,
 * so that the field check reports it. */
static struct js *query_value(const struct field *row, const char *text)
{
    if (row && row->kind == FIELD_INT && *text && strlen(text) <= 18 &&
        strspn(text + (*text == '-'), "0123456789") == strlen(text) - (*text == '-') &&
        strcmp(text, "-") != 0)
        return js_integer(strtoll(text, NULL, 10));
    return js_string(text);
}

static const struct field *query_row(const struct field_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].name, name) == 0)
            return &table->rows[i];
    return NULL;
}

bool request_query(struct request *request, void *out)
{
    const struct field_table *table = request->head.route->query;
    AUTO(js) query = js_object();
    AUTO_BUF name = BUF_INIT(4096), value = BUF_INIT(16384);
    const char *cursor = request->head.http->query;
    while (url_query_next(&cursor, &name, &value)) {
        const char *key = name.data ? name.data : "";
        if (!js_get(query, key)) /* the first one counts */
            js_set(query, key, query_value(query_row(table, key), value.data ? value.data : ""));
        buf_reset(&name);
        buf_reset(&value);
    }
    struct field_context context;
    request_context(request, &context);
    field_create(table, out, query, &context, "");
    return request_is_valid(request, &context);
}

/* Who asks. */

const char *request_workspace(const struct request *request)
{
    return request->who.principal.workspace_id;
}

const char *request_own_agent(const struct request *request)
{
    const struct principal *principal = &request->who.principal;
    return principal->kind == KEY_AGENT ? principal->agent_id : NULL;
}

/* Outcomes. */

unsigned request_answer_views(const struct request *request)
{
    unsigned reduced = request->who.principal.kind == KEY_AGENT ? FIELD_VIEW_AGENT : 0;
    return FIELD_VIEW_API | request->head.route->output_views | reduced;
}

void request_answer(struct request *request, const void *object, unsigned views)
{
    const struct route *route = request->head.route;
    request->job.step = STEP_ANSWERED;
    answer_write(&request->answer, route->status, route->output, object,
                 request_answer_views(request) | views);
}

void request_answer_as(struct request *request, int status, const char *content_type)
{
    request->job.step = STEP_ANSWERED;
    request->answer.status = status;
    request->answer.content_type = content_type;
}

void request_answer_pieces(struct request *request, more_fn *more, void *place, size_t len)
{
    pieces_init(&request->pieces, request->arena, more, place, len);
    request->job.step = STEP_ANSWERED;
    request->answer.status = request->head.route->status;
    more(request);
}

bool request_piece_is_full(const struct request *request)
{
    return request->answer.body.len >= PIECE_BYTES;
}

static void refuse(struct request *request, enum api_error error, const char *sentence,
                   const struct faults *faults)
{
    request->job.step = STEP_UNDO;
    answer_error(&request->answer, error, sentence, faults);
}

void request_error(struct request *request, enum api_error error)
{
    refuse(request, error, NULL, NULL);
}

void request_error_says(struct request *request, enum api_error error, const char *sentence)
{
    refuse(request, error, sentence, NULL);
}

void request_break_pieces(struct request *request)
{
    pieces_break(&request->pieces);
    request_error(request, API_INTERNAL_ERROR);
}

void request_fault(struct request *request, const char *field, const char *message)
{
    struct faults faults = {.arena = request->arena};
    faults_add(&faults, field, "%s", message);
    refuse(request, API_VALIDATION_FAILED, NULL, &faults);
}

void request_after(struct request *request, handler_fn *fn)
{
    request->job.step = STEP_AFTER;
    request->job.after = fn;
}

bool request_is_valid(struct request *request, const struct field_context *context)
{
    if (context->forbidden.count)
        refuse(request, API_CONFIG_FIELD_NOT_ALLOWED, NULL, &context->forbidden);
    else if (context->faults.count)
        refuse(request, API_VALIDATION_FAILED, NULL, &context->faults);
    else
        return true;
    return false;
}

bool request_found(struct request *request, enum err err)
{
    if (err)
        request_error(request, err == ERR_NOT_FOUND ? API_NOT_FOUND : API_INTERNAL_ERROR);
    return !err;
}

const char *request_tag(struct request *request, int64_t updated_wall_ms)
{
    return arena_printf(request->arena, "\"%" PRId64 "\"", updated_wall_ms);
}

bool request_is_as_read(struct request *request, int64_t updated_wall_ms)
{
    const char *wanted = request_header(request, "If-Match");
    bool is = !wanted || strcmp(wanted, "*") == 0 ||
              strstr(wanted, request_tag(request, updated_wall_ms));
    if (!is)
        request_error(request, API_PRECONDITION_FAILED);
    return is;
}

bool request_fits(struct request *request, unsigned grown)
{
    static const enum api_error errors[CEILING_COUNT] = {
        [CEILING_AGENTS] = API_AGENT_LIMIT_REACHED,
        [CEILING_TOOLS] = API_TOOL_LIMIT_REACHED,
        [CEILING_KEYS] = API_KEY_LIMIT_REACHED,
        [CEILING_BYTES] = API_STORAGE_LIMIT_REACHED,
    };
    struct ceilings ceilings;
    enum ceiling over;
    ceilings_read(&ceilings, request->deps->config);
    enum err err =
        store_ceilings_check(request->job.tx, request_workspace(request), &ceilings, grown, &over);
    if (err != ERR_LIMIT)
        return request_found(request, err);
    request_error(request, errors[over]);
    return false;
}
