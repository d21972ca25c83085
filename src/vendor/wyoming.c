#include "vendor/wyoming.h"

#include <stdio.h>
#include <string.h>

#include "base/js.h"
#include "base/loop.h"
#include "base/mem.h"
#include "engine/registry.h"
#include "net/dial.h"
#include "net/stream.h"
#include "net/url.h"
#include "vendor/internal.h"

enum {
    OPEN_MS = 5000,
    KEPT_MAX_BYTES = 1024 * 1024, /* thirty seconds of sound at 16 kHz */
    READ_MAX_BYTES = 2 * WYOMING_PAYLOAD_MAX_BYTES,
    DEPTH_MAX = 32,
};

/* Events. */

static enum err read_data(const char *bytes, size_t len, const struct js *line,
                          struct wyoming_event *out)
{
    const struct js *inside = js_get(line, "data");
    if (len == 0) {
        out->data = inside ? js_copy(inside) : NULL;
        return OK;
    }
    return js_parse(bytes, len, DEPTH_MAX, &out->data, NULL) == OK ? OK : ERR_INVALID;
}

enum err wyoming_read(const char *bytes, size_t len, struct wyoming_event *out, size_t *out_len)
{
    const char *end = memchr(bytes, '\n', MIN(len, (size_t)WYOMING_LINE_MAX_BYTES));
    if (!end)
        return len >= WYOMING_LINE_MAX_BYTES ? ERR_LIMIT : ERR_AGAIN;
    AUTO(js) line = NULL;
    size_t head = (size_t)(end - bytes) + 1;
    if (js_parse(bytes, head - 1, DEPTH_MAX, &line, NULL) != OK || !js_text(js_get(line, "type")))
        return ERR_INVALID;
    int64_t data = js_int(js_get(line, "data_length"), 0);
    int64_t payload = js_int(js_get(line, "payload_length"), 0);
    if (data < 0 || payload < 0)
        return ERR_INVALID;
    if (data > WYOMING_DATA_MAX_BYTES || payload > WYOMING_PAYLOAD_MAX_BYTES)
        return ERR_LIMIT;
    if (len < head + (size_t)data + (size_t)payload)
        return ERR_AGAIN;
    struct wyoming_event event = {.payload = bytes + head + data, .payload_len = (size_t)payload};
    snprintf(event.type, sizeof(event.type), "%s", js_text(js_get(line, "type")));
    enum err err = read_data(bytes + head, (size_t)data, line, &event);
    if (err)
        return err;
    *out = event;
    *out_len = head + (size_t)data + (size_t)payload;
    return OK;
}

enum err wyoming_write(struct buf *out, const char *type, const char *data, const void *payload,
                       size_t payload_len)
{
    size_t data_len = data ? strlen(data) : 0;
    (void)buf_printf(out, "{\"type\":\"%s\",\"version\":\"1.10.2\"", type);
    if (data_len)
        (void)buf_printf(out, ",\"data_length\":%zu", data_len);
    if (payload_len)
        (void)buf_printf(out, ",\"payload_length\":%zu", payload_len);
    (void)buf_append_str(out, "}\n");
    (void)buf_append(out, data ? data : "", data_len);
    (void)buf_append(out, payload_len ? payload : "", payload_len);
    return out->is_full ? ERR_LIMIT : OK;
}

/* The connection. */

struct wyoming {
    const struct wyoming_engine *engine;
    struct loop *loop;
    const struct wyoming_fns *fns;
    void *arg;
    struct dial *dial;
    struct stream *stream; /* NULL: not open yet, or over */
    struct buf kept;       /* before it is open */
    struct timer failing;  /* tells a failure from the loop */
    const char *failure;
    enum engine_error error;
    bool is_telling; /* an event is told, whose bytes are the stream's: the stream stays */
    bool is_ended, is_closed;
};

void wyoming_error(const struct wyoming_engine *engine, const struct wyoming_event *event,
                   char out[ASK_MESSAGE_SIZE])
{
    const char *text = js_text_or(js_get(event->data, "text"), "");
    ask_clean(&engine->account, *text ? text : "it reports an error", out);
}

static void drop_connection(struct wyoming *wyoming)
{
    timer_stop(&wyoming->failing);
    if (wyoming->dial)
        dial_cancel(TAKE(wyoming->dial));
    if (!wyoming->is_telling)
        stream_close(TAKE(wyoming->stream));
}

static void end(struct wyoming *wyoming, enum engine_error error, const char *message)
{
    char clean[ASK_MESSAGE_SIZE];
    if (wyoming->is_ended)
        return;
    wyoming->is_ended = true;
    drop_connection(wyoming);
    ask_clean(&wyoming->engine->account, message, clean);
    wyoming->fns->on_ended(wyoming->arg, error, clean);
}

static void on_failing(void *arg)
{
    struct wyoming *wyoming = arg;
    end(wyoming, wyoming->error, wyoming->failure);
}

static void fail_later(struct wyoming *wyoming, enum engine_error error, const char *why)
{
    wyoming->error = error;
    wyoming->failure = why;
    timer_set_after(&wyoming->failing, 0);
}

static void on_read(void *arg)
{
    struct wyoming *wyoming = arg;
    while (wyoming->stream && !wyoming->is_ended) {
        struct wyoming_event event;
        size_t len, used;
        const char *bytes = stream_peek(wyoming->stream, &len);
        enum err err = len ? wyoming_read(bytes, len, &event, &used) : ERR_AGAIN;
        if (err == ERR_AGAIN)
            return;
        if (err) {
            end(wyoming, ENGINE_PROTOCOL, "it does not speak Wyoming");
            return;
        }
        wyoming->is_telling = true;
        wyoming->fns->on_event(wyoming->arg, &event);
        wyoming->is_telling = false;
        js_free(event.data);
        if (wyoming->is_ended)
            drop_connection(wyoming);
        else
            stream_consume(wyoming->stream, used);
    }
}

static void on_closed(void *arg, enum err reason)
{
    end(arg, ENGINE_TRANSIENT,
        reason == ERR_CLOSED ? "it closed the connection" : "the connection broke");
}

static void on_dialled(void *arg, struct stream *take_stream, const struct fault *fault)
{
    static const struct stream_fns fns = {.on_read = on_read, .on_closed = on_closed};
    struct wyoming *wyoming = arg;
    wyoming->dial = NULL;
    if (fault->err) {
        end(wyoming, ask_error_of_fault(fault->err), fault->text);
        return;
    }
    wyoming->stream = take_stream;
    stream_set_ceilings(take_stream, READ_MAX_BYTES, KEPT_MAX_BYTES * 2);
    stream_set(take_stream, &fns, wyoming);
    (void)stream_write(take_stream, wyoming->kept.data, wyoming->kept.len); /* told by on_closed */
    buf_clear(&wyoming->kept);
}

/* tcp://host:port, read as the URL of another scheme. */
static bool read_address(const char *text, struct url *out, char room[URL_MAX])
{
    static const char scheme[] = "tcp://";
    bool is_tcp = strncmp(text, scheme, sizeof(scheme) - 1) == 0;
    snprintf(room, URL_MAX, "http://%s", is_tcp ? text + sizeof(scheme) - 1 : text);
    return url_parse(room, out, NULL) == OK && out->has_port;
}

struct wyoming *wyoming_open(const struct wyoming_engine *engine, struct loop *loop,
                             const struct wyoming_fns *fns, void *arg)
{
    struct wyoming *wyoming = mem_new(struct wyoming);
    struct vendor_loop *here = vendor_loop_of(engine->account.vendor, loop);
    char room[URL_MAX];
    struct url url;
    wyoming->engine = engine;
    wyoming->loop = loop;
    wyoming->fns = fns;
    wyoming->arg = arg;
    buf_init(&wyoming->kept, KEPT_MAX_BYTES);
    timer_init(&wyoming->failing, loop, on_failing, wyoming);
    if (!here || !here->dialer || !read_address(engine->account.url, &url, room)) {
        fail_later(wyoming, ENGINE_TRANSIENT, "no network on this loop");
        return wyoming;
    }
    const struct dial_target target = {
        .host = url.host, .port = url.port, .scope = GUARD_OPERATOR, .timeout_ms = OPEN_MS};
    wyoming->dial = dial_start(here->dialer, &target, on_dialled, wyoming);
    return wyoming;
}

void wyoming_send(struct wyoming *wyoming, const char *type, const char *data, const void *payload,
                  size_t payload_len)
{
    if (wyoming->is_ended)
        return;
    AUTO_BUF bytes = BUF_INIT(KEPT_MAX_BYTES);
    enum err err =
        wyoming_write(wyoming->stream ? &bytes : &wyoming->kept, type, data, payload, payload_len);
    if (!err && wyoming->stream)
        err = stream_write(wyoming->stream, bytes.data, bytes.len);
    if (err == ERR_LIMIT)
        fail_later(wyoming, ENGINE_TIMEOUT, "it takes no more data");
}

static void free_wyoming(void *arg)
{
    struct wyoming *wyoming = arg;
    buf_clear(&wyoming->kept);
    mem_free(wyoming);
}

void wyoming_close(struct wyoming *wyoming)
{
    if (!wyoming)
        return;
    wyoming->is_ended = wyoming->is_closed = true;
    drop_connection(wyoming);
    loop_defer(wyoming->loop, free_wyoming, wyoming);
}

/* The engines. */

bool wyoming_configure(void *env, const struct config *config, const struct engine_info *info,
                       void **out_state)
{
    static const struct account_plan plan = {NULL, ACCOUNT_NEEDS_URL};
    struct wyoming_engine *engine = mem_new(struct wyoming_engine);
    char room[URL_MAX];
    struct url url;
    if (!account_read(&engine->account, env, config, info, &plan) ||
        !read_address(engine->account.url, &url, room)) {
        account_clear(&engine->account);
        mem_free(engine);
        return false;
    }
    engine->model = info->model_count > 0 ? info->models[0] : "";
    *out_state = engine;
    return true;
}

void wyoming_unconfigure(void *state)
{
    struct wyoming_engine *engine = state;
    account_clear(&engine->account);
    mem_free(engine);
}
