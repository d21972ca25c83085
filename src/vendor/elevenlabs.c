/* The dialect of ElevenLabs' voices: stream-input with several contexts on one connection. Voice,
 * model and language stand in the address, so a session has one of each. A context is begun by a
 * message of its own, given its sentence, and closed at once: then its last piece comes without
 * waiting for more text. Closing does not stop what was flushed, so late pieces are dropped by
 * their context. A connection is not shared by calls: it takes five contexts, those that were
 * interrupted and still run included, and is closed for all when one sends what is not allowed.
 * Wire facts: docs/engines.md. */
#include <string.h>

#include "base/js.h"
#include "base/mem.h"
#include "engine/registry.h"
#include "net/url.h"
#include "vendor/internal.h"
#include "vendor/utter.h"
#include "vendor/vendor_error.h"

enum {
    RATE_HZ = 24000,
    CONTEXTS_MAX = 5,
    QUIET_US = 15 * 1000 * 1000 /* of 180 s that we ask for */
};

static const struct socket_code codes[] = {
    {1008, ENGINE_BAD_REQUEST}, /* also too many contexts */
    {3000, ENGINE_AUTH},
    {0},
};

/* Models that take language_code; the others answer it with a refusal. */
static bool takes_language(const char *model)
{
    return strstr(model, "_v2_5") || strstr(model, "_v3");
}

static void write_target(const struct speaker *speaker, struct buf *out)
{
    const char *voice = speaker_voice(speaker), *model = speaker_model(speaker);
    (void)buf_append_str(out, "/v1/text-to-speech/");
    (void)url_encode(voice, strlen(voice), out);
    (void)buf_append_str(out, "/multi-stream-input?model_id=");
    (void)url_encode(model, strlen(model), out);
    if (utter_wants_opus(speaker))
        (void)buf_append_str(out, "&output_format=opus_48000_32");
    else
        (void)buf_printf(out, "&output_format=pcm_%d", RATE_HZ);
    (void)buf_append_str(out, "&inactivity_timeout=180&auto_mode=true");
    if (takes_language(model) && engine_speaks(&speaker->engine->info, speaker->config.language))
        (void)buf_printf(out, "&language_code=%s", speaker->config.language);
}

static void begin(struct js_out *out, struct buf *messages, const char *context)
{
    js_out_init(out, messages);
    js_out_object(out);
    js_out_key(out, "context_id");
    js_out_text(out, context);
}

static void write_say(const struct speaker *speaker, const char *context, const char *text,
                      struct buf *messages)
{
    struct js_out out;
    begin(&out, messages, context);
    js_out_key(&out, "text");
    js_out_text(&out, " ");
    js_out_key(&out, "voice_settings");
    js_out_object(&out);
    js_out_key(&out, "speed");
    js_out_real(&out, speaker_speed(speaker));
    js_out_object_end(&out);
    js_out_object_end(&out);
    (void)buf_append_char(messages, '\n');
    AUTO_MEM char *spaced = mem_printf("%s ", text); /* a text should end with a space */
    begin(&out, messages, context);
    js_out_key(&out, "text");
    js_out_text(&out, spaced);
    js_out_key(&out, "flush");
    js_out_bool(&out, true);
    js_out_object_end(&out);
    (void)buf_printf(messages, "\n{\"context_id\":\"%s\",\"close_context\":true}", context);
}

static void write_stop(const char *context, struct buf *message)
{
    (void)context; /* it was closed when it was begun */
    (void)message;
}

static const char *either(const struct js *message, const char *a, const char *b)
{
    return js_text(js_get(message, js_get(message, a) ? a : b));
}

static const char *context_of(const struct js *message)
{
    return either(message, "contextId", "context_id");
}

static void read_message(struct utter *utter, const struct js *message)
{
    if (js_get(message, "error")) {
        utter_failed(utter, vendor_error_kind(message),
                     js_text_or(js_get(message, "message"),
                                js_text_or(js_get(message, "error"), "it reports an error")));
        return;
    }
    utter_sound(utter, js_text(js_get(message, "audio")));
    if (js_bool(js_get(message, "isFinal"), false) || js_bool(js_get(message, "is_final"), false))
        utter_done(utter);
}

static const struct utter_dialect dialect = {
    .standard_url = "wss://api.elevenlabs.io",
    .key_header = "xi-api-key",
    .key_prefix = "",
    .write_target = write_target,
    .write_say = write_say,
    .write_stop = write_stop,
    .quiet_text = "{\"text\":\"\"}",
    .quiet_us = QUIET_US,
    .farewell = "{\"close_socket\":true}",
    .codes = codes,
    .calls_max = 1,
    .contexts_max = CONTEXTS_MAX,
    .context_of = context_of,
    .read = read_message,
    .rate_hz = RATE_HZ,
    .has_opus = true,
};

bool elevenlabs_configure(void *env, const struct config *config, const struct engine_info *info,
                          void **out_state)
{
    return utter_configure(env, config, info, &dialect, out_state);
}
