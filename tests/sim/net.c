#include "net.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/config.h"
#include "base/js.h"
#include "base/loop.h"
#include "base/mem.h"
#include "net/http_client.h"
#include "tool/run.h"
#include "vendor/vendor.h"
#include "world.h"

enum {
    ENDPOINT_US = 50000,
    PIECE_BYTES = 61, /* of a stream: no line, no character is safe from being cut */
    PIECE_US = 500,
    LOG_MAX_BYTES = 8 << 20,
};

struct net net;

static struct vendor *vendor;
static struct loop *net_loop;
static struct engine_adapter adapters[24];

/* What a model is asked. */

static bool is_note(const char *text)
{
    return strncmp(text, "<note ", 6) == 0;
}

/* OpenAI: content is a text, a tool's answer a message of its own. */
static void read_openai(const struct js *messages, struct net_asked *out)
{
    for (size_t i = 0; i < js_count(messages); i++) {
        const struct js *message = js_at(messages, i);
        const char *role = js_text_or(js_get(message, "role"), "");
        const char *text = js_text(js_get(message, "content"));
        if (strcmp(role, "user") == 0)
            out->said = text;
        if (strcmp(role, "assistant") == 0) {
            out->result_count = 0;
            out->said = NULL;
        }
        if (strcmp(role, "tool") == 0 && out->result_count < NET_CALLS_MAX)
            out->results[out->result_count++] = text;
    }
}

/* Anthropic: blocks, a tool's answer among the user's. */
static void read_anthropic(const struct js *messages, struct net_asked *out)
{
    for (size_t i = 0; i < js_count(messages); i++) {
        const struct js *message = js_at(messages, i), *blocks = js_get(message, "content");
        bool is_user = strcmp(js_text_or(js_get(message, "role"), ""), "user") == 0;
        if (!is_user) {
            out->result_count = 0;
            out->said = NULL;
        }
        for (size_t k = 0; is_user && k < js_count(blocks); k++) {
            const char *text = js_text(js_get(js_at(blocks, k), "text"));
            const char *result = js_text(js_get(js_at(blocks, k), "content"));
            if (text && !is_note(text))
                out->said = text;
            if (result && out->result_count < NET_CALLS_MAX)
                out->results[out->result_count++] = result;
        }
    }
}

static bool is_forbidden(const struct js *choice)
{
    const char *word = js_text(choice) ? js_text(choice) : js_text(js_get(choice, "type"));
    return word && strcmp(word, "none") == 0;
}

static void read_asked(const struct js *body, bool is_anthropic, struct net_asked *out)
{
    const struct js *messages = js_get(body, "messages");
    if (is_anthropic)
        read_anthropic(messages, out);
    else
        read_openai(messages, out);
    out->body = body;
    out->may_call =
        js_count(js_get(body, "tools")) > 0 && !is_forbidden(js_get(body, "tool_choice"));
}

/* What it answers. */

static void append_quoted(struct buf *out, const char *text)
{
    AUTO_BUF quoted = BUF_INIT(1 << 20);
    struct js_out json;
    js_out_init(&json, &quoted);
    js_out_text(&json, text);
    buf_append(out, quoted.data, quoted.len);
}

static void write_openai(const struct net_answer *answer, struct buf *out)
{
    if (answer->text) {
        buf_append_str(out, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":");
        append_quoted(out, answer->text);
        buf_append_str(out, "}}]}\n\n");
    }
    for (size_t i = 0; i < answer->call_count; i++) {
        buf_printf(out,
                   "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":%zu,"
                   "\"id\":\"call_%d_%zu\",\"type\":\"function\",\"function\":{\"name\":\"%s\","
                   "\"arguments\":",
                   i, net.asks, i, answer->calls[i].name);
        append_quoted(out, answer->calls[i].arguments);
        buf_append_str(out, "}}]}}]}\n\n");
    }
    buf_printf(out, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"%s\"}]}\n\n",
               answer->call_count ? "tool_calls" : "stop");
    buf_append_str(out, "data: [DONE]\n\n");
}

static void open_block(struct buf *out, size_t index, const char *block)
{
    buf_printf(out,
               "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":%zu,"
               "\"content_block\":%s}\n\n",
               index, block);
}

static void write_delta(struct buf *out, size_t index, const char *type, const char *key,
                        const char *text)
{
    buf_printf(out,
               "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":%zu,"
               "\"delta\":{\"type\":\"%s\",\"%s\":",
               index, type, key);
    append_quoted(out, text);
    buf_printf(out,
               "}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\","
               "\"index\":%zu}\n\n",
               index);
}

static void write_anthropic(const struct net_answer *answer, struct buf *out)
{
    size_t index = 0;
    if (answer->text) {
        open_block(out, index, "{\"type\":\"text\",\"text\":\"\"}");
        write_delta(out, index++, "text_delta", "text", answer->text);
    }
    for (size_t i = 0; i < answer->call_count; i++, index++) {
        AUTO_MEM char *block =
            mem_printf("{\"type\":\"tool_use\",\"id\":\"toolu_%d_%zu\",\"name\":\"%s\","
                       "\"input\":{}}",
                       net.asks, i, answer->calls[i].name);
        open_block(out, index, block);
        write_delta(out, index, "input_json_delta", "partial_json", answer->calls[i].arguments);
    }
    buf_printf(out,
               "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{"
               "\"stop_reason\":\"%s\"}}\n\nevent: message_stop\n"
               "data: {\"type\":\"message_stop\"}\n\n",
               answer->call_count ? "tool_use" : "end_turn");
}

static void ask_model(const struct http_fetch_request *request, struct buf *out)
{
    bool is_anthropic = strstr(request->url, "/messages") != NULL;
    AUTO(js) body = NULL;
    AUTO_MEM char *text = mem_strndup(request->body, request->body_len);
    if (js_parse(request->body, request->body_len, 64, &body, NULL) != OK)
        abort();
    buf_printf(&net.asked, "%s\n", text);
    net.asks++;
    struct net_asked asked = {.text = text};
    struct net_answer answer = {0};
    read_asked(body, is_anthropic, &asked);
    net.model(&asked, &answer);
    if (is_anthropic)
        write_anthropic(&answer, out);
    else
        write_openai(&answer, out);
}

/* A fetch. */

struct http_fetch {
    struct timer timer;
    struct http_fetch_fns fns;
    void *arg;
    struct fault fault;
    struct buf body;
    size_t at; /* of a stream */
    int status;
    int64_t begun_us;
    bool is_told, is_gone; /* inside a callback; cancelled there */
};

static void fetch_free(struct http_fetch *fetch)
{
    timer_stop(&fetch->timer);
    buf_clear(&fetch->body);
    mem_free(fetch);
}

static void finish(struct http_fetch *fetch)
{
    bool is_stream = fetch->fns.on_data && !fetch->fault.err;
    const struct http_fetch_result result = {
        .fault = fetch->fault,
        .status = fetch->fault.err ? 0 : fetch->status,
        .body = is_stream || !fetch->body.data ? "" : fetch->body.data,
        .body_len = is_stream ? 0 : fetch->body.len,
        .latency_us = loop_now_us(net_loop) - fetch->begun_us,
    };
    struct http_fetch told = *fetch;
    void (*on_done)(void *, const struct http_fetch_result *) = fetch->fns.on_done;
    fetch->body = (struct buf)BUF_INIT(1);
    fetch_free(fetch);
    on_done(told.arg, &result);
    buf_clear(&told.body);
}

static void on_time(void *arg)
{
    struct http_fetch *fetch = arg;
    if (fetch->fault.err || !fetch->fns.on_data || fetch->at == fetch->body.len) {
        finish(fetch);
        return;
    }
    size_t len = MIN(fetch->body.len - fetch->at, (size_t)PIECE_BYTES);
    const char *piece = fetch->body.data + fetch->at;
    fetch->at += len;
    fetch->is_told = true;
    int is_enough = fetch->fns.on_data(fetch->arg, fetch->status, piece, len);
    fetch->is_told = false;
    if (fetch->is_gone) {
        fetch_free(fetch);
        return;
    }
    if (is_enough)
        fetch->at = fetch->body.len;
    timer_set_after(&fetch->timer, PIECE_US);
}

static int64_t visit(struct http_fetch *fetch, const struct http_fetch_request *request)
{
    struct net_page page = {.status = 200, .body = "{}", .after_us = ENDPOINT_US};
    AUTO_MEM char *line =
        mem_printf("%s %s%s%.*s", request->method, request->url, request->body_len ? " " : "",
                   (int)request->body_len, request->body ? request->body : "");
    buf_printf(&net.visited, "%s\n", line);
    net.visits++;
    if (net.endpoint)
        net.endpoint(line, &page);
    fetch->status = page.status;
    buf_append_str(&fetch->body, page.body);
    if (page.after_us <= request->timeout_ms * 1000)
        return page.after_us;
    fault_set(&fetch->fault, ERR_TIMEOUT, "no answer within %d ms", (int)request->timeout_ms);
    return request->timeout_ms * 1000;
}

struct http_fetch *http_fetch_start(struct http_client *client,
                                    const struct http_fetch_request *request,
                                    const struct http_fetch_fns *fns, void *arg)
{
    (void)client;
    struct http_fetch *fetch = mem_new(struct http_fetch);
    fetch->fns = *fns;
    fetch->arg = arg;
    fetch->status = 200;
    fetch->fault = request->refused;
    fetch->begun_us = loop_now_us(net_loop);
    buf_init(&fetch->body, LOG_MAX_BYTES);
    timer_init(&fetch->timer, net_loop, on_time, fetch);
    int64_t after_us = 0;
    if (!fetch->fault.err && strcmp(request->method, "HEAD") == 0)
        net.warmed++;
    else if (!fetch->fault.err && strstr(request->url, "//model."))
        ask_model(request, &fetch->body), after_us = net.model_us;
    else if (!fetch->fault.err)
        after_us = visit(fetch, request);
    timer_set_after(&fetch->timer, after_us);
    return fetch;
}

void http_fetch_cancel(struct http_fetch *fetch)
{
    if (!fetch)
        return;
    fetch->is_gone = true;
    if (!fetch->is_told)
        fetch_free(fetch);
}

/* The world that stands on it. */

static void configure(struct config *config, struct loop *media)
{
    static const char *const settings[][3] = {
        {"engine.openai", "url", "http://model.test/v1"},
        {"engine.openai", "key", "sk-model"},
        {"engine.anthropic", "url", "http://model.test/v1"},
        {"engine.anthropic", "key", "sk-model"},
    };
    struct fault fault;
    for (size_t i = 0; i < ARRAY_LEN(settings); i++)
        if (config_set(config, settings[i][0], settings[i][1], settings[i][2], &fault) != OK)
            abort();
    net_loop = media;
    static const struct vendor_config nothing = {.voice_path = ""};
    vendor_free(vendor);
    vendor = vendor_new(&nothing);
    vendor_add_loop(vendor, media, (struct http_client *)&net, NULL);
    world_engines.env = vendor;
    if (world_engines.settings &&
        config_set(config, world_engines.settings[0], world_engines.settings[1],
                   world_engines.settings[2], &fault) != OK)
        abort();
}

void net_prepare(net_model_fn *model)
{
    size_t count = 0;
    for (size_t i = 0; i < sim_adapter_count; i++)
        if (sim_adapters[i].info.kind != ENGINE_LLM)
            adapters[count++] = sim_adapters[i];
    for (size_t i = 0; i < vendor_adapter_count; i++)
        if (vendor_adapters[i].info.kind == ENGINE_LLM)
            adapters[count++] = vendor_adapters[i];
    world_engines =
        (struct world_engines){.adapters = adapters, .count = count, .configure = configure};
    net_clear();
    net = (struct net){.model = model, .model_us = 200000};
    buf_init(&net.asked, LOG_MAX_BYTES);
    buf_init(&net.visited, LOG_MAX_BYTES);
}

void net_clear(void)
{
    buf_clear(&net.asked);
    buf_clear(&net.visited);
    vendor_free(TAKE(vendor));
}

char *net_asked_body(int n)
{
    const char *at = net.asked.data;
    for (; at && n > 0; n--) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    return at && *at ? mem_strndup(at, strcspn(at, "\n")) : NULL;
}

/* The tools: the real ones. */

void world_tools_begin(struct loop *media)
{
    (void)media;
}
