/* The dialect of Cartesia's voices: a context for each sentence, sound as base64 of samples alone,
 * dozens of contexts on a connection, which its plans count. All that a voice is stands in the
 * message, so that connections are the same for every agent. A cancelled context may go on for a
 * few chunks; they are dropped by its name. Wire facts: docs/engines.md. */
#include <string.h>

#include "base/js.h"
#include "vendor/internal.h"
#include "vendor/utter.h"
#include "vendor/vendor_error.h"

enum { RATE_HZ = 24000, CALLS_MAX = 16 };

static void write_target(const struct speaker *speaker, struct buf *out)
{
    (void)speaker;
    (void)buf_append_str(out, "/tts/websocket");
}

static void write_voice(const struct speaker *speaker, struct js_out *out)
{
    js_out_key(out, "voice");
    js_out_object(out);
    js_out_key(out, "mode");
    js_out_text(out, "id");
    js_out_key(out, "id");
    js_out_text(out, speaker_voice(speaker));
    js_out_object_end(out);
}

static void write_format(struct js_out *out)
{
    js_out_key(out, "output_format");
    js_out_object(out);
    js_out_key(out, "container");
    js_out_text(out, "raw");
    js_out_key(out, "encoding");
    js_out_text(out, "pcm_s16le");
    js_out_key(out, "sample_rate");
    js_out_int(out, RATE_HZ);
    js_out_object_end(out);
}

static void write_delivery(const struct speaker *speaker, struct js_out *out)
{
    js_out_key(out, "generation_config");
    js_out_object(out);
    js_out_key(out, "speed");
    js_out_real(out, speaker_speed(speaker));
    js_out_key(out, "volume");
    js_out_real(out, speaker_volume(speaker));
    if (*speaker_emotion(speaker)) {
        js_out_key(out, "emotion");
        js_out_text(out, speaker_emotion(speaker));
    }
    js_out_object_end(out);
}

static void write_say(const struct speaker *speaker, const char *context, const char *text,
                      struct buf *message)
{
    struct js_out out;
    js_out_init(&out, message);
    js_out_object(&out);
    js_out_key(&out, "context_id");
    js_out_text(&out, context);
    js_out_key(&out, "model_id");
    js_out_text(&out, speaker_model(speaker));
    js_out_key(&out, "transcript");
    js_out_text(&out, text);
    js_out_key(&out, "language");
    js_out_text(&out, speaker->config.language);
    write_voice(speaker, &out);
    write_format(&out);
    write_delivery(speaker, &out);
    js_out_key(&out, "continue");
    js_out_bool(&out, false);
    js_out_object_end(&out);
}

static void write_stop(const char *context, struct buf *message)
{
    (void)buf_printf(message, "{\"context_id\":\"%s\",\"cancel\":true}", context);
}

static const char *context_of(const struct js *message)
{
    return js_text(js_get(message, "context_id"));
}

/* Structured since version 2026-03-01; before, `error` was one text. */
static void read_error(struct utter *utter, const struct js *message)
{
    static const char *const names[] = {"message", "title", "error"};
    int status = (int)js_int(js_get(message, "status_code"), 500);
    const char *text = "it reports an error";
    for (size_t i = ARRAY_LEN(names); i-- > 0;)
        text = js_text_or(js_get(message, names[i]), text);
    utter_failed(utter, vendor_error_of_status(status), text);
}

/* Sound of no context is nobody's. */
static void read_message(struct utter *utter, const struct js *message)
{
    const char *type = js_text_or(js_get(message, "type"), "");
    if (strcmp(type, "error") == 0)
        read_error(utter, message);
    else if (context_of(message) && strcmp(type, "chunk") == 0)
        utter_sound(utter, js_text(js_get(message, "data")));
    else if (context_of(message) && strcmp(type, "done") == 0)
        utter_done(utter);
}

static const struct utter_dialect dialect = {
    .standard_url = "wss://api.cartesia.ai",
    .key_header = "Authorization",
    .key_prefix = "Bearer ",
    .fixed = {"Cartesia-Version", "2026-08-14"},
    .write_target = write_target,
    .write_say = write_say,
    .write_stop = write_stop,
    .calls_max = CALLS_MAX,
    .context_of = context_of,
    .read = read_message,
    .rate_hz = RATE_HZ,
};

bool cartesia_configure(void *env, const struct config *config, const struct engine_info *info,
                        void **out_state)
{
    return utter_configure(env, config, info, &dialect, out_state);
}
