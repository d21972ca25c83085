/* The dialect of Cartesia's voices: a context for each sentence, sound as base64 of bare samples.
 * A cancelled context may go on for a few chunks; they are dropped by its name. Wire facts:
 * docs/engines.md. */
#include <string.h>

#include "base/js.h"
#include "vendor/internal.h"
#include "vendor/utter.h"
#include "vendor/vendor_error.h"

enum { RATE_HZ = 24000 };

static void write_target(const struct speaker *speaker, struct buf *out)
{
    (void)speaker;
    (void)buf_append_str(out, "/tts/websocket");
}

static void write_voice(const struct speaker *speaker, struct json_out *out)
{
    out_key(out, "voice");
    out_object(out);
    out_key(out, "mode");
    out_text(out, "id");
    out_key(out, "id");
    out_text(out, speaker_voice(speaker));
    out_object_end(out);
}

static void write_format(struct json_out *out)
{
    out_key(out, "output_format");
    out_object(out);
    out_key(out, "container");
    out_text(out, "raw");
    out_key(out, "encoding");
    out_text(out, "pcm_s16le");
    out_key(out, "sample_rate");
    out_int(out, RATE_HZ);
    out_object_end(out);
}

static void write_delivery(const struct speaker *speaker, struct json_out *out)
{
    out_key(out, "generation_config");
    out_object(out);
    out_key(out, "speed");
    out_real(out, speaker_speed(speaker));
    out_key(out, "volume");
    out_real(out, speaker_volume(speaker));
    if (*speaker_emotion(speaker)) {
        out_key(out, "emotion");
        out_text(out, speaker_emotion(speaker));
    }
    out_object_end(out);
}

static void write_say(const struct speaker *speaker, const char *context, const char *text,
                      struct buf *message)
{
    struct json_out out;
    out_init(&out, message);
    out_object(&out);
    out_key(&out, "context_id");
    out_text(&out, context);
    out_key(&out, "model_id");
    out_text(&out, speaker_model(speaker));
    out_key(&out, "transcript");
    out_text(&out, text);
    out_key(&out, "language");
    out_text(&out, speaker->config.language);
    write_voice(speaker, &out);
    write_format(&out);
    write_delivery(speaker, &out);
    out_key(&out, "continue");
    out_bool(&out, false);
    out_object_end(&out);
}

static void write_stop(const char *context, struct buf *message)
{
    (void)buf_printf(message, "{\"context_id\":\"%s\",\"cancel\":true}", context);
}

/* Structured since version 2026-03-01; before, `error` was one text. */
static void read_error(struct utter *utter, const struct js *message, const char *context)
{
    static const char *const names[] = {"message", "title", "error"};
    int status = (int)js_int(js_get(message, "status_code"), 500);
    const char *text = "it reports an error";
    for (size_t i = ARRAY_LEN(names); i-- > 0;)
        text = js_text_or(js_get(message, names[i]), text);
    utter_failed(utter, context, vendor_error_of_status(status), text);
}

static void read_message(struct utter *utter, const struct js *message)
{
    const char *type = js_text_or(js_get(message, "type"), "");
    const char *context = js_text(js_get(message, "context_id"));
    if (strcmp(type, "chunk") == 0)
        utter_sound(utter, context, js_text(js_get(message, "data")));
    else if (strcmp(type, "done") == 0)
        utter_done(utter, context);
    else if (strcmp(type, "error") == 0)
        read_error(utter, message, context);
}

static const struct utter_dialect dialect = {
    .standard_url = "wss://api.cartesia.ai",
    .key_header = "Authorization",
    .key_prefix = "Bearer ",
    .fixed = {"Cartesia-Version", "2026-08-14"},
    .write_target = write_target,
    .write_say = write_say,
    .write_stop = write_stop,
    .read = read_message,
    .rate_hz = RATE_HZ,
};

bool cartesia_configure(void *env, const struct config *config, const struct engine_info *info,
                        void **out_state)
{
    return utter_configure(env, config, info, &dialect, out_state);
}
