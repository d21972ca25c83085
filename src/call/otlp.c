#include "call/otlp.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/js.h"
#include "base/list.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "net/http_client.h"

enum {
    GATHER_US = 1000 * 1000,
    PAUSE_US = 2000 * 1000, /* before the next attempt, longer each time */
    TRIES_MAX = 3,
    TIMEOUT_MS = 10000,
    SPAN_MAX_BYTES = 16 * 1024,
    BODY_MAX_BYTES = 16 * 1024 * 1024,
    ANSWER_MAX_BYTES = 64 * 1024,
    DEPTH_MAX = 16,
    KIND_INTERNAL = 1, /* SpanKind */
    KIND_CLIENT = 3,
    STATUS_ERROR = 2, /* Status.StatusCode */
};

struct waiting {
    struct list_node node;
    size_t len;
    char json[];
};

struct otlp {
    struct loop *loop;
    struct http_client *client;
    const char *instance;
    char *url;
    struct list_node spans;
    size_t count;
    struct http_fetch *fetch; /* NULL: none is under way */
    struct buf body;          /* of the request that is under way or will be tried again */
    size_t body_spans;
    int tries;
    bool is_away; /* said once */
    struct timer timer;
};

static void go_on(void *arg);

struct otlp *otlp_new(struct loop *loop, struct http_client *client, const char *endpoint,
                      const char *instance)
{
    struct otlp *otlp = mem_new(struct otlp);
    size_t len = strlen(endpoint);
    while (len > 0 && endpoint[len - 1] == '/')
        len--;
    *otlp = (struct otlp){.loop = loop, .client = client, .instance = instance};
    otlp->url = mem_printf("%.*s/v1/traces", (int)len, endpoint);
    list_init(&otlp->spans);
    buf_init(&otlp->body, BODY_MAX_BYTES);
    timer_init(&otlp->timer, loop, go_on, otlp);
    return otlp;
}

static void count(const char *outcome, size_t spans)
{
    if (spans > 0)
        metric_add_label(METRIC_TRACE_SPANS, outcome, (int64_t)spans);
}

static void drop_first(struct otlp *otlp)
{
    struct waiting *first = LIST_FIRST(&otlp->spans, struct waiting, node);
    list_remove(&first->node);
    mem_free(first);
    otlp->count--;
}

void otlp_free(struct otlp *otlp)
{
    if (!otlp)
        return;
    timer_stop(&otlp->timer);
    if (otlp->fetch)
        http_fetch_cancel(otlp->fetch);
    count("lost", otlp->count + otlp->body_spans);
    while (otlp->count > 0)
        drop_first(otlp);
    buf_clear(&otlp->body);
    mem_free(otlp->url);
    mem_free(otlp);
}

/* JSON. */

static void write_text(struct js_out *out, const char *key, const char *text)
{
    js_out_key(out, key);
    js_out_text(out, text);
}

static void write_nano(struct js_out *out, const char *key, int64_t wall_us)
{
    AUTO_MEM char *text = mem_printf("%" PRId64 "000", wall_us);
    write_text(out, key, text);
}

static void write_attribute(struct js_out *out, const char *name, const char *text, int64_t number)
{
    AUTO_MEM char *digits = mem_printf("%" PRId64, number);
    js_out_object(out);
    write_text(out, "key", name);
    js_out_key(out, "value");
    js_out_object(out);
    write_text(out, text ? "stringValue" : "intValue", text ? text : digits);
    js_out_object_end(out);
    js_out_object_end(out);
}

static void write_status(struct js_out *out, const char *error)
{
    js_out_key(out, "status");
    js_out_object(out);
    if (error) {
        write_text(out, "message", error);
        js_out_key(out, "code");
        js_out_int(out, STATUS_ERROR);
    }
    js_out_object_end(out);
}

static void write_span(const struct otlp_span *span, struct buf *buf)
{
    struct js_out out;
    js_out_init(&out, buf);
    js_out_object(&out);
    write_text(&out, "traceId", span->trace_id);
    write_text(&out, "spanId", span->span_id);
    if (span->parent_id)
        write_text(&out, "parentSpanId", span->parent_id);
    write_text(&out, "name", span->name);
    js_out_key(&out, "kind");
    js_out_int(&out, span->is_client ? KIND_CLIENT : KIND_INTERNAL);
    write_nano(&out, "startTimeUnixNano", span->from_wall_us);
    write_nano(&out, "endTimeUnixNano", span->to_wall_us);
    js_out_key(&out, "attributes");
    js_out_array(&out);
    for (size_t i = 0; i < span->attribute_count; i++) {
        const struct otlp_attribute *attribute = &span->attributes[i];
        if (attribute->text ? *attribute->text != '\0' : attribute->number != 0)
            write_attribute(&out, attribute->name, attribute->text, attribute->number);
    }
    js_out_array_end(&out);
    write_status(&out, span->error);
    js_out_object_end(&out);
}

/* Up to the list of spans. */
static void write_head(const struct otlp *otlp, struct js_out *out)
{
    js_out_object(out);
    js_out_key(out, "resourceSpans");
    js_out_array(out);
    js_out_object(out);
    js_out_key(out, "resource");
    js_out_object(out);
    js_out_key(out, "attributes");
    js_out_array(out);
    write_attribute(out, "service.name", "earshot", 0);
    write_attribute(out, "service.version", EARSHOT_VERSION, 0);
    write_attribute(out, "service.instance.id", otlp->instance, 0);
    js_out_array_end(out);
    js_out_object_end(out);
    js_out_key(out, "scopeSpans");
    js_out_array(out);
    js_out_object(out);
    js_out_key(out, "scope");
    js_out_object(out);
    write_text(out, "name", "earshot.call");
    write_text(out, "version", EARSHOT_VERSION);
    js_out_object_end(out);
}

static void make_body(struct otlp *otlp)
{
    struct js_out out;
    buf_reset(&otlp->body);
    js_out_init(&out, &otlp->body);
    write_head(otlp, &out);
    (void)buf_append_str(&otlp->body, ",\"spans\":[");
    for (otlp->body_spans = 0; otlp->count > 0 && otlp->body_spans < OTLP_BATCH_MAX;
         otlp->body_spans++) {
        const struct waiting *first = LIST_FIRST(&otlp->spans, struct waiting, node);
        (void)buf_append_str(&otlp->body, otlp->body_spans ? "," : "");
        (void)buf_append(&otlp->body, first->json, first->len);
        drop_first(otlp);
    }
    (void)buf_append_str(&otlp->body, "]}]}]}");
}

/* The collector. */

static void on_done(void *arg, const struct http_fetch_result *answer);

static void send_body(struct otlp *otlp)
{
    static const struct http_header headers[] = {{"Content-Type", "application/json"}};
    const struct http_fetch_fns fns = {NULL, on_done};
    const struct http_fetch_request request = {
        .method = "POST",
        .url = otlp->url,
        .headers = headers,
        .header_count = ARRAY_LEN(headers),
        .body = otlp->body.data,
        .body_len = otlp->body.len,
        .timeout_ms = TIMEOUT_MS,
        .max_body_bytes = ANSWER_MAX_BYTES,
        .cut_body = true,
        .scope = GUARD_OPERATOR,
    };
    otlp->tries++;
    otlp->fetch = http_fetch_start(otlp->client, &request, &fns, otlp);
}

static void go_on(void *arg)
{
    struct otlp *otlp = arg;
    if (otlp->fetch)
        return;
    if (otlp->body_spans == 0 && otlp->count > 0) {
        otlp->tries = 0;
        make_body(otlp);
    }
    if (otlp->body_spans > 0)
        send_body(otlp);
}

/* The statuses that OTLP has a client try again. */
static bool may_try_again(const struct http_fetch_result *answer)
{
    static const int statuses[] = {429, 502, 503, 504};
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
        if (answer->status == statuses[i])
            return true;
    return answer->status == 0 && answer->fault.err != ERR_CLOSED;
}

/* An answer may say that it took some of them only. */
static size_t rejected_of(const struct http_fetch_result *answer)
{
    AUTO(js) tree = NULL;
    if (!answer->body_len || js_parse(answer->body, answer->body_len, DEPTH_MAX, &tree, NULL))
        return 0;
    const struct js *rejected = js_get(js_get(tree, "partialSuccess"), "rejectedSpans");
    const char *text = js_text(rejected);
    int64_t number = text ? strtoll(text, NULL, 10) : js_int(rejected, 0);
    return (size_t)MAX(number, 0);
}

static void settle(struct otlp *otlp, size_t lost)
{
    lost = MIN(lost, otlp->body_spans);
    count("lost", lost);
    count("sent", otlp->body_spans - lost);
    otlp->body_spans = 0;
}

static void tell_away(struct otlp *otlp, const struct http_fetch_result *answer)
{
    if (!otlp->is_away)
        log_warn("trace.collector_away", LOG_S("url", otlp->url), LOG_I("status", answer->status),
                 LOG_S("message", answer->fault.text));
    otlp->is_away = true;
}

static void on_done(void *arg, const struct http_fetch_result *answer)
{
    struct otlp *otlp = arg;
    bool is_taken = answer->status >= 200 && answer->status <= 299;
    otlp->fetch = NULL;
    if (is_taken) {
        otlp->is_away = false;
        settle(otlp, rejected_of(answer));
    } else if (!may_try_again(answer) || otlp->tries >= TRIES_MAX) {
        tell_away(otlp, answer);
        settle(otlp, SIZE_MAX);
    }
    if (otlp->body_spans > 0)
        timer_set_after(&otlp->timer, (int64_t)PAUSE_US * otlp->tries);
    else if (otlp->count > 0)
        timer_set_after(&otlp->timer, otlp->count >= OTLP_BATCH_MAX ? 0 : GATHER_US);
}

void otlp_add(struct otlp *otlp, const struct otlp_span *span)
{
    AUTO_BUF json = BUF_INIT(SPAN_MAX_BYTES);
    write_span(span, &json);
    if (json.is_full) {
        count("lost", 1);
        return;
    }
    if (otlp->count == OTLP_WAITING_MAX) {
        drop_first(otlp);
        count("lost", 1);
    }
    struct waiting *waiting = mem_zalloc(sizeof(*waiting) + json.len);
    waiting->len = json.len;
    memcpy(waiting->json, json.data, json.len);
    list_push_back(&otlp->spans, &waiting->node);
    otlp->count++;
    if (otlp->fetch || otlp->body_spans > 0)
        return; /* its end goes on with these */
    if (otlp->count >= OTLP_BATCH_MAX)
        timer_set_after(&otlp->timer, 0);
    else if (!timer_is_set(&otlp->timer))
        timer_set_after(&otlp->timer, GATHER_US);
}
