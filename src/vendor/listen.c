#include "vendor/listen.h"

#include <string.h>

#include "audio/resample.h"
#include "base/arena.h"
#include "base/config.h"
#include "base/js.h"
#include "base/mem.h"
#include "engine/registry.h"
#include "vendor/ask.h"
#include "vendor/internal.h"
#include "vendor/terms.h"

enum {
    SAID_MAX_BYTES = 64 * 1024,
    MESSAGE_MAX_BYTES = 1024 * 1024,
    DEPTH_MAX = 32,
    PING_MS = 1900, /* a line that is dead is noticed within 4 s: the caller goes on speaking */
};

/* Telling. */

static void tell(struct listen *listen, struct stt_event event)
{
    if (!listen->is_closed && !listen->is_ended)
        listen->on_event(listen->arg, &event);
}

static const char *past_spaces(const char *text)
{
    return text ? text + strspn(text, " \t\r\n") : "";
}

void listen_partial(struct listen *listen, const char *text, bool is_stable)
{
    if (*past_spaces(text))
        tell(listen, (struct stt_event){
                         .kind = STT_PARTIAL, .text = past_spaces(text), .is_stable = is_stable});
}

void listen_final(struct listen *listen, const char *text)
{
    if (*past_spaces(text))
        tell(listen, (struct stt_event){.kind = STT_FINAL, .text = past_spaces(text)});
}

void listen_endpoint(struct listen *listen)
{
    tell(listen, (struct stt_event){.kind = STT_ENDPOINT});
}

void listen_flushed(struct listen *listen)
{
    if (listen->flush_count == 0 || listen->is_ended || listen->is_closed)
        return; /* what was told just before may have had it closed */
    uint32_t gen = listen->flushes[0];
    listen->flush_count--;
    memmove(listen->flushes, listen->flushes + 1, listen->flush_count * sizeof(uint32_t));
    timer_stop(&listen->overdue);
    if (listen->flush_count > 0)
        timer_set_after(&listen->overdue, listen->dialect->flush_us);
    tell(listen, (struct stt_event){.kind = STT_FLUSHED, .gen = gen});
}

void listen_failed(struct listen *listen, enum engine_error error, const char *message)
{
    char clean[ASK_MESSAGE_SIZE];
    if (listen->is_ended || listen->is_closed)
        return;
    ask_clean(&listen->state->account, message, clean);
    timer_stop(&listen->overdue);
    tell(listen,
         (struct stt_event){.kind = STT_ERROR, .error = error, .message = clean, .is_fatal = true});
    listen->is_ended = true;
}

static void on_overdue(void *arg)
{
    struct listen *listen = arg;
    if (listen->dialect->is_flush_owed)
        listen_failed(listen, ENGINE_TIMEOUT, "it did not answer a request for the last words");
    else
        listen_flushed(listen);
}

/* The socket. */

static void on_open(void *arg)
{
    struct listen *listen = arg;
    AUTO_BUF start = BUF_INIT(MESSAGE_MAX_BYTES);
    if (listen->dialect->write_start)
        listen->dialect->write_start(listen, &start);
    if (start.len > 0)
        vendor_socket_text(listen->socket, start.data);
    if (listen->flush_count > 0)
        timer_set_after(&listen->overdue, listen->dialect->flush_us);
    tell(listen, (struct stt_event){.kind = STT_READY});
}

static void on_message(void *arg, bool is_text, const char *data, size_t len)
{
    struct listen *listen = arg;
    AUTO(js) tree = NULL;
    if (listen->is_ended || !is_text)
        return;
    if (js_parse(data, len, DEPTH_MAX, &tree, NULL) == OK)
        listen->dialect->read(listen, tree);
    else
        listen_failed(listen, ENGINE_PROTOCOL, "its message is no JSON");
}

static void on_ended(void *arg, enum engine_error error, const char *message)
{
    listen_failed(arg, error, message);
}

static void connect_socket(struct listen *listen, const char *workspace)
{
    static const struct socket_fns fns = {on_open, on_message, on_ended};
    const struct listen_dialect *dialect = listen->dialect;
    const struct account *account = &listen->state->account;
    AUTO_BUF url = BUF_INIT(MESSAGE_MAX_BYTES);
    (void)buf_append_str(&url, account->url);
    dialect->write_target(listen, &url);
    struct socket_plan plan = {.url = url.data,
                               .protocol = dialect->protocol,
                               .workspace = workspace,
                               .quiet_text = dialect->quiet_text,
                               .quiet_us = dialect->quiet_us,
                               .ping_ms = PING_MS,
                               .codes = dialect->codes};
    if (listen->state->authorization) {
        plan.headers[0] = dialect->key_header;
        plan.headers[1] = listen->state->authorization;
    }
    listen->socket = vendor_socket_open(account, listen->loop, &plan, &fns, listen);
}

/* The session. */

static void copy_wishes(struct listen *listen, const struct stt_config *config)
{
    const struct engine_info *info = &listen->engine->info;
    listen->language = mem_strdup(config->language ? config->language : "en");
    listen->hints = mem_new_n(char *, config->hint_count + 1);
    for (size_t i = 0; i < config->hint_count; i++)
        if (engine_speaks(info, config->hints[i]))
            listen->hints[listen->hint_count++] = mem_strdup(config->hints[i]);
    listen->detect_language = config->detect_language;
    listen->arena = arena_new(0);
    listen->terms = arena_new_n(listen->arena, const char *, TERMS_MAX);
    listen->term_count = terms_find(config->vocabulary, listen->arena, listen->terms, TERMS_MAX);
}

static struct stt *listen_open(const struct engine *engine, struct loop *loop,
                               const struct stt_config *config, stt_event_fn *on_event, void *arg)
{
    struct listen *listen = mem_new(struct listen);
    listen->base.ops = engine->ops.stt;
    listen->engine = engine;
    listen->state = engine->state;
    listen->dialect = listen->state->dialect;
    listen->loop = loop;
    listen->on_event = on_event;
    listen->arg = arg;
    buf_init(&listen->said, SAID_MAX_BYTES);
    timer_init(&listen->overdue, loop, on_overdue, listen);
    copy_wishes(listen, config);
    connect_socket(listen, config->workspace);
    return &listen->base;
}

static void listen_push(struct stt *base, const int16_t *samples, size_t count)
{
    struct listen *listen = (struct listen *)base;
    if (listen->is_ended)
        return;
    if (!listen->dialect->write_audio) {
        vendor_socket_audio(listen->socket, samples, count * sizeof(*samples));
        return;
    }
    AUTO_BUF text = BUF_INIT(MESSAGE_MAX_BYTES);
    listen->dialect->write_audio(listen, samples, count, &text);
    if (text.len > 0)
        vendor_socket_text(listen->socket, text.data);
}

static void listen_flush(struct stt *base, uint32_t gen)
{
    struct listen *listen = (struct listen *)base;
    if (listen->is_ended)
        return;
    if (listen->flush_count == ARRAY_LEN(listen->flushes)) { /* the newest counts */
        listen->flushes[listen->flush_count - 1] = gen;
        return;
    }
    listen->flushes[listen->flush_count++] = gen;
    if (listen->dialect->flush_text)
        vendor_socket_text(listen->socket, listen->dialect->flush_text);
    if (vendor_socket_is_open(listen->socket) && !timer_is_set(&listen->overdue))
        timer_set_after(&listen->overdue, listen->dialect->flush_us);
}

static void free_listen(void *arg)
{
    struct listen *listen = arg;
    for (size_t i = 0; i < listen->hint_count; i++)
        mem_free(listen->hints[i]);
    mem_free(listen->hints);
    mem_free(listen->language);
    arena_free(listen->arena);
    buf_clear(&listen->said);
    resampler_free(listen->resampler);
    mem_free(listen);
}

static void listen_close(struct stt *base)
{
    struct listen *listen = (struct listen *)base;
    listen->is_closed = true;
    timer_stop(&listen->overdue);
    vendor_socket_close(TAKE(listen->socket), listen->dialect->farewell);
    loop_defer(listen->loop, free_listen, listen);
}

const struct stt_ops listen_ops = {listen_open, listen_push, listen_flush, listen_close};

/* The engine. */

bool listen_configure(void *env, const struct config *config, const struct engine_info *info,
                      const struct listen_dialect *dialect, void **out_state)
{
    const struct account_plan plan = {dialect->standard_url, ACCOUNT_NEEDS_KEY};
    struct listen_engine *state = mem_new(struct listen_engine);
    if (!account_read(&state->account, env, config, info, &plan)) {
        mem_free(state);
        return false;
    }
    state->dialect = dialect;
    state->model = info->model_count > 0 ? info->models[0] : "";
    state->authorization = mem_printf("%s%s", dialect->key_prefix, state->account.key);
    *out_state = state;
    return true;
}

void listen_unconfigure(void *pointer)
{
    struct listen_engine *state = pointer;
    account_clear(&state->account);
    mem_free(state->authorization);
    mem_free(state);
}
