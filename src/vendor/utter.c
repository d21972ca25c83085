#include "vendor/utter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/js.h"
#include "base/mem.h"
#include "engine/registry.h"
#include "vendor/ask.h"
#include "vendor/internal.h"

enum {
    CONTEXT_SIZE = 16,
    TARGET_MAX_BYTES = 8192,
    MESSAGES_MAX_BYTES = 512 * 1024,
    SOUND_MAX_BYTES = 4 * 1024 * 1024, /* of one message */
    DEPTH_MAX = 16,
    LIVED_US = 10 * 1000 * 1000, /* a connection that broke sooner is not opened anew unasked */
};

struct utter {
    struct speaker *speaker;
    const struct utter_engine *engine;
    struct vendor_socket *socket; /* NULL: it broke; the next sentence opens another */
    uint32_t id;                  /* under way; 0: none */
    int64_t opened_us;
    bool is_hopeless; /* the vendor refuses us: told once, for the whole session */
};

static void name_context(uint32_t id, char out[CONTEXT_SIZE])
{
    snprintf(out, CONTEXT_SIZE, "e%u", id);
}

/* The sentence of a context; 0: none of ours. */
static uint32_t id_of(const struct utter *utter, const char *context)
{
    if (!context)
        return utter->id;
    return *context == 'e' ? (uint32_t)strtoul(context + 1, NULL, 10) : 0;
}

/* For the dialects. */

bool utter_wants_opus(const struct speaker *speaker)
{
    const struct utter_engine *engine = speaker->engine->state;
    return engine->wants_opus && speaker_wants_opus(speaker);
}

void utter_sound(struct utter *utter, const char *context, const char *base64)
{
    uint32_t id = id_of(utter, context);
    AUTO_BUF sound = BUF_INIT(SOUND_MAX_BYTES);
    if (!base64 || !*base64 || id == 0 || id != utter->id)
        return;
    if (base64_decode(base64, strlen(base64), &sound) == OK)
        speaker_sound(utter->speaker, id, sound.data, sound.len);
    else
        utter_failed(utter, context, ENGINE_PROTOCOL, "its sound is no base64");
}

void utter_done(struct utter *utter, const char *context)
{
    uint32_t id = id_of(utter, context);
    if (id == 0 || id != utter->id)
        return;
    utter->id = 0;
    speaker_done(utter->speaker, id);
}

void utter_failed(struct utter *utter, const char *context, enum engine_error error,
                  const char *message)
{
    char clean[ASK_MESSAGE_SIZE];
    uint32_t id = id_of(utter, context);
    if (id == 0 || id != utter->id)
        return;
    utter->id = 0;
    ask_clean(&utter->engine->account, message, clean);
    speaker_failed(utter->speaker, id, error, clean, false);
}

/* The socket. */

static void connect_socket(struct utter *utter);

static void on_message(void *arg, bool is_text, const char *data, size_t len)
{
    struct utter *utter = arg;
    AUTO(js) tree = NULL;
    if (is_text && js_parse(data, len, DEPTH_MAX, &tree, NULL) == OK)
        utter->engine->dialect->read(utter, tree);
    else
        utter_failed(utter, NULL, ENGINE_PROTOCOL, "its message is no JSON");
}

/* A vendor that refuses us before anything was to be said is told at once: the call has time to
 * take another voice. */
static void on_ended(void *arg, enum engine_error error, const char *message)
{
    struct utter *utter = arg;
    bool has_lived = loop_now_us(utter->speaker->loop) - utter->opened_us >= LIVED_US;
    bool is_refused = error == ENGINE_AUTH || error == ENGINE_BAD_REQUEST || error == ENGINE_QUOTA;
    vendor_socket_close(TAKE(utter->socket), NULL);
    if (utter->id) {
        utter_failed(utter, NULL, error, message);
    } else if (is_refused && !has_lived && !utter->is_hopeless) {
        utter->is_hopeless = true;
        speaker_failed(utter->speaker, 0, error, message, true);
    } else if (has_lived) {
        connect_socket(utter);
    }
}

static void connect_socket(struct utter *utter)
{
    static const struct socket_fns fns = {.on_message = on_message, .on_ended = on_ended};
    const struct utter_dialect *dialect = utter->engine->dialect;
    AUTO_BUF url = BUF_INIT(TARGET_MAX_BYTES);
    (void)buf_append_str(&url, utter->engine->account.url);
    dialect->write_target(utter->speaker, &url);
    struct socket_plan plan = {
        .url = url.data,
        .headers = {dialect->key_header, utter->engine->authorization, dialect->fixed[0],
                    dialect->fixed[1]},
        .workspace = utter->speaker->config.workspace,
        .quiet_text = dialect->quiet_text,
        .quiet_us = dialect->quiet_us,
        .codes = dialect->codes,
    };
    utter->opened_us = loop_now_us(utter->speaker->loop);
    utter->socket =
        vendor_socket_open(&utter->engine->account, utter->speaker->loop, &plan, &fns, utter);
}

/* The wire. */

static void *open_utter(struct speaker *speaker)
{
    struct utter *utter = mem_new(struct utter);
    utter->speaker = speaker;
    utter->engine = speaker->engine->state;
    speaker_rate(speaker, utter->engine->dialect->rate_hz);
    speaker->sound.is_file = utter_wants_opus(speaker);
    speaker->sound.is_packets = speaker->sound.is_file && utter->engine->is_raw;
    connect_socket(utter);
    return utter;
}

static void send_lines(struct utter *utter, char *lines)
{
    for (char *line = lines; line && *line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        vendor_socket_text(utter->socket, line);
        line = end;
    }
}

static void say(void *wire, uint32_t id, const char *text)
{
    struct utter *utter = wire;
    char context[CONTEXT_SIZE];
    AUTO_BUF messages = BUF_INIT(MESSAGES_MAX_BYTES);
    utter->id = id;
    name_context(id, context);
    if (!utter->socket)
        connect_socket(utter);
    utter->engine->dialect->write_say(utter->speaker, context, text, &messages);
    send_lines(utter, messages.data);
}

static void stop(void *wire, uint32_t id)
{
    struct utter *utter = wire;
    char context[CONTEXT_SIZE];
    AUTO_BUF message = BUF_INIT(TARGET_MAX_BYTES);
    if (utter->id != id)
        return;
    utter->id = 0;
    name_context(id, context);
    utter->engine->dialect->write_stop(context, &message);
    if (utter->socket)
        send_lines(utter, message.data);
}

static void close_utter(void *wire)
{
    struct utter *utter = wire;
    vendor_socket_close(TAKE(utter->socket), utter->engine->dialect->farewell);
    loop_defer(utter->speaker->loop, mem_free, utter);
}

static struct tts *utter_open(const struct engine *engine, struct loop *loop,
                              const struct tts_config *config, tts_event_fn *on_event, void *arg)
{
    static const struct speaker_wire wire = {
        .open = open_utter, .say = say, .stop = stop, .close = close_utter};
    return speaker_open(engine, loop, config, on_event, arg, &wire);
}

const struct tts_ops utter_ops = {utter_open, speaker_speak, speaker_cancel, speaker_close};

/* The engine. */

bool utter_configure(void *env, const struct config *config, const struct engine_info *info,
                     const struct utter_dialect *dialect, void **out_state)
{
    const struct account_plan plan = {dialect->standard_url, ACCOUNT_NEEDS_KEY};
    struct utter_engine *engine = mem_new(struct utter_engine);
    if (!account_read(&engine->account, env, config, info, &plan)) {
        mem_free(engine);
        return false;
    }
    engine->dialect = dialect;
    engine->authorization = mem_printf("%s%s", dialect->key_prefix, engine->account.key);
    AUTO_MEM char *format = account_option(config, info, "format");
    engine->is_raw = strcmp(format, "opus-raw") == 0;
    engine->wants_opus = dialect->has_opus && (engine->is_raw || strcmp(format, "opus") == 0);
    *out_state = engine;
    return true;
}

void utter_unconfigure(void *state)
{
    struct utter_engine *engine = state;
    account_clear(&engine->account);
    mem_free(engine->authorization);
    mem_free(engine);
}
