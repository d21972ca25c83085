/* What handlers ask of a request: its body, its query, its faults, its URLs. Thread: the job's, or
 * the control loop for routes without one. */
#include <stdlib.h>
#include <string.h>

#include "api/request.h"
#include "base/js.h"
#include "net/guard.h"
#include "net/resolver.h"
#include "net/url.h"
#include "store/ceiling.h"

const struct js *request_body(struct request *request)
{
    return request->body;
}

const char *request_header(const struct request *request, const char *name)
{
    return http_exchange_header(request->exchange, name);
}

void request_context(struct request *request, struct field_context *out)
{
    struct arena *arena = request->tx ? request->tx->arena : request->arena;
    field_context_init(out, arena, request->deps->catalog);
}

/* A query holds texts; the table says what they stand for. What does not fit stays a text, so that
 * the field check tells the fault. */
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
    const struct field_table *table = request->route->query;
    AUTO(js) query = js_object();
    AUTO_BUF name = BUF_INIT(4096), value = BUF_INIT(16384);
    const char *cursor = request->http->query;
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

bool request_is_valid(struct request *request, const struct field_context *context)
{
    if (context->forbidden.count)
        answer_error(&request->answer, API_CONFIG_FIELD_NOT_ALLOWED, NULL, &context->forbidden);
    else if (context->faults.count)
        answer_error(&request->answer, API_VALIDATION_FAILED, NULL, &context->faults);
    else
        return true;
    return false;
}

bool request_found(struct request *request, enum err err)
{
    if (err == OK)
        return true;
    request_error(request, err == ERR_NOT_FOUND ? API_NOT_FOUND : API_INTERNAL_ERROR);
    return false;
}

void request_error(struct request *request, enum api_error error)
{
    answer_error(&request->answer, error, NULL, NULL);
}

void request_fault(struct request *request, const char *field, const char *message)
{
    struct faults faults = {.arena = request->arena};
    faults_add(&faults, field, "%s", message);
    answer_error(&request->answer, API_VALIDATION_FAILED, NULL, &faults);
}

unsigned request_answer_views(const struct request *request)
{
    return FIELD_VIEW_API | request->route->output_views | request_views(request);
}

void request_answer(struct request *request, const void *object, unsigned views)
{
    const struct route *route = request->route;
    answer_write(&request->answer, route->status, route->output, object,
                 request_answer_views(request) | views);
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
        store_ceilings_check(request->tx, request->principal.workspace_id, &ceilings, grown, &over);
    if (err != ERR_LIMIT)
        return request_found(request, err);
    request_error(request, errors[over]);
    return false;
}

const char *request_own_agent(const struct request *request)
{
    return request->principal.kind == KEY_AGENT ? request->principal.agent_id : NULL;
}

static struct checked_url *find_url(struct request *request, const char *url)
{
    for (size_t i = 0; i < request->url_count; i++)
        if (strcmp(request->urls[i].url, url) == 0)
            return &request->urls[i];
    return NULL;
}

/* An address literal is judged at once, a name when it was resolved. */
static enum url_state judge(struct request *request, const char *url)
{
    const struct checked_url *known = find_url(request, url);
    if (known)
        return known->state;
    const struct guard *guard = resolver_guard(request->deps->resolver);
    struct url parts;
    struct net_addr literal;
    if (guard_check_url(guard, GUARD_PUBLIC, url, &parts, NULL) != OK ||
        !(parts.scheme == URL_HTTP || parts.scheme == URL_HTTPS))
        return URL_DENIED;
    if (net_ip_parse(parts.host, &literal) == OK)
        return URL_ALLOWED;
    if (request->url_count == REQUEST_URLS_MAX)
        return URL_DENIED;
    if (!request->urls)
        request->urls = arena_new_n(request->arena, struct checked_url, REQUEST_URLS_MAX);
    request->urls[request->url_count++] =
        (struct checked_url){.url = arena_strdup(request->arena, url)};
    return URL_UNKNOWN;
}

bool request_urls_allowed(struct request *request, const char *const *urls, size_t count)
{
    bool is_known = true;
    for (size_t i = 0; i < count; i++) {
        enum url_state state = judge(request, urls[i]);
        if (state == URL_DENIED) {
            request_error(request, API_URL_NOT_ALLOWED);
            return false;
        }
        is_known &= state == URL_ALLOWED;
    }
    return is_known; /* false without an answer: resolve, then run again */
}
