/* The dialect of OpenAI's realtime transcription: the caller's sound at 24 kHz as base64, words as
 * they are heard, and at our pause a commit, which ends an item; its `completed` is the end of the
 * utterance. Wire facts: docs/engines.md. */
#include <string.h>

#include "audio/resample.h"
#include "base/crypto.h"
#include "base/js.h"
#include "base/mem.h"
#include "engine/registry.h"
#include "vendor/internal.h"
#include "vendor/listen.h"
#include "vendor/vendor_error.h"

enum {
    RATE_HZ = 24000,
    COMPLETED_US = 5000 * 1000,
    SAMPLES_MAX = 64 * 1024, /* of one piece */
    TERMS_SENT = 20,
};

static void write_target(const struct listen *listen, struct buf *out)
{
    (void)listen;
    (void)buf_append_str(out, "/realtime?intent=transcription");
}

/* `languages` and `keywords` are known to the newer models only. */
static bool is_newer(const char *model)
{
    return strcmp(model, "gpt-live-transcribe") == 0 || strcmp(model, "gpt-transcribe") == 0;
}

static void write_languages(const struct listen *listen, struct js_out *out)
{
    if (listen->detect_language)
        return;
    if (!is_newer(listen->state->model)) {
        js_out_key(out, "language");
        js_out_text(out, listen->language);
        return;
    }
    js_out_key(out, "languages");
    js_out_array(out);
    js_out_text(out, listen->language);
    for (size_t i = 0; i < listen->hint_count; i++)
        js_out_text(out, listen->hints[i]);
    js_out_array_end(out);
}

static void write_terms(const struct listen *listen, struct js_out *out)
{
    if (listen->term_count == 0 || !is_newer(listen->state->model))
        return;
    js_out_key(out, "keywords");
    js_out_array(out);
    for (size_t i = 0; i < listen->term_count && i < TERMS_SENT; i++)
        js_out_text(out, listen->terms[i]);
    js_out_array_end(out);
}

static void write_input(const struct listen *listen, struct js_out *out)
{
    js_out_key(out, "input");
    js_out_object(out);
    js_out_key(out, "format");
    js_out_object(out);
    js_out_key(out, "type");
    js_out_text(out, "audio/pcm");
    js_out_key(out, "rate");
    js_out_int(out, RATE_HZ);
    js_out_object_end(out);
    js_out_key(out, "transcription");
    js_out_object(out);
    js_out_key(out, "model");
    js_out_text(out, listen->state->model);
    write_languages(listen, out);
    write_terms(listen, out);
    js_out_object_end(out);
    js_out_key(out, "turn_detection");
    js_out_null(out);
    js_out_object_end(out);
}

static void write_start(const struct listen *listen, struct buf *start)
{
    struct js_out out;
    js_out_init(&out, start);
    js_out_object(&out);
    js_out_key(&out, "type");
    js_out_text(&out, "session.update");
    js_out_key(&out, "session");
    js_out_object(&out);
    js_out_key(&out, "type");
    js_out_text(&out, "transcription");
    js_out_key(&out, "audio");
    js_out_object(&out);
    write_input(listen, &out);
    js_out_object_end(&out);
    js_out_object_end(&out);
    js_out_object_end(&out);
}

static void write_audio(struct listen *listen, const int16_t *samples, size_t count,
                        struct buf *out)
{
    if (!listen->resampler)
        listen->resampler = resampler_new(STT_RATE_HZ, RATE_HZ);
    count = MIN(count, (size_t)SAMPLES_MAX);
    AUTO_MEM int16_t *made = mem_new_n(int16_t, resampler_out_max(listen->resampler, count) + 1);
    size_t made_count = resampler_run(listen->resampler, samples, count, made);
    if (made_count == 0)
        return;
    (void)buf_append_str(out, "{\"type\":\"input_audio_buffer.append\",\"audio\":\"");
    (void)base64_encode(made, made_count * sizeof(*made), out);
    (void)buf_append_str(out, "\"}");
}

static void read_delta(struct listen *listen, const struct js *event)
{
    (void)buf_append_str(&listen->said, js_text_or(js_get(event, "delta"), ""));
    listen_partial(listen, listen->said.data, false);
}

static void read_completed(struct listen *listen, const struct js *event)
{
    buf_reset(&listen->said);
    listen_final(listen, js_text(js_get(event, "transcript")));
    listen_flushed(listen);
}

/* A commit of nothing is refused: nothing was said, and the session goes on. */
static void read_error(struct listen *listen, const struct js *event)
{
    const struct js *error = js_get(event, "error");
    if (strcmp(js_text_or(js_get(error, "code"), ""), "input_audio_buffer_commit_empty") == 0)
        listen_flushed(listen);
    else
        listen_failed(listen, vendor_error_kind(event),
                      js_text_or(js_get(error, "message"), "it reports an error"));
}

static void read_event(struct listen *listen, const struct js *event)
{
    static const struct {
        const char *type;
        void (*read)(struct listen *listen, const struct js *event);
    } kinds[] = {
        {"conversation.item.input_audio_transcription.delta", read_delta},
        {"conversation.item.input_audio_transcription.completed", read_completed},
        {"conversation.item.input_audio_transcription.failed", read_error},
        {"error", read_error},
    };
    const char *type = js_text_or(js_get(event, "type"), "");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (strcmp(kinds[i].type, type) == 0)
            kinds[i].read(listen, event);
}

static const struct listen_dialect dialect = {
    .standard_url = "wss://api.openai.com/v1",
    .key_header = "Authorization",
    .key_prefix = "Bearer ",
    .write_target = write_target,
    .write_start = write_start,
    .write_audio = write_audio,
    .flush_text = "{\"type\":\"input_audio_buffer.commit\"}",
    .flush_us = COMPLETED_US,
    .is_flush_owed = true,
    .read = read_event,
};

bool openai_live_configure(void *env, const struct config *config, const struct engine_info *info,
                           void **out_state)
{
    return listen_configure(env, config, info, &dialect, out_state);
}
