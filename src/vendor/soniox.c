/* The dialect of Soniox's real-time recognition. Words come as pieces: final ones once, others
 * anew in every message. Finding the caller's pauses is our own business: at each, "finalize" asks
 * for what is held back, and the piece <fin> says that it has been told. Wire facts:
 * docs/engines.md. */
#include <string.h>

#include "base/js.h"
#include "engine/registry.h"
#include "vendor/internal.h"
#include "vendor/listen.h"
#include "vendor/vendor_error.h"

enum {
    FINALIZE_US = 2000 * 1000,   /* answered within 350 ms as a rule */
    KEEP_ALIVE_US = 6000 * 1000, /* the vendor closes after 20 s */
    PARTIAL_MAX_BYTES = 64 * 1024,
};

static void write_target(const struct listen *listen, struct buf *out)
{
    (void)listen;
    (void)buf_append_str(out, "/transcribe-websocket");
}

static void write_hints(const struct listen *listen, struct js_out *out)
{
    js_out_key(out, "language_hints");
    js_out_array(out);
    js_out_text(out, listen->language);
    for (size_t i = 0; i < listen->hint_count; i++)
        js_out_text(out, listen->hints[i]);
    js_out_array_end(out);
}

static void write_context(const struct listen *listen, struct js_out *out)
{
    if (listen->term_count == 0)
        return;
    js_out_key(out, "context");
    js_out_object(out);
    js_out_key(out, "terms");
    js_out_array(out);
    for (size_t i = 0; i < listen->term_count; i++)
        js_out_text(out, listen->terms[i]);
    js_out_array_end(out);
    js_out_object_end(out);
}

static void write_start(const struct listen *listen, struct buf *start)
{
    struct js_out out;
    js_out_init(&out, start);
    js_out_object(&out);
    js_out_key(&out, "model");
    js_out_text(&out, listen->state->model);
    js_out_key(&out, "audio_format");
    js_out_text(&out, "pcm_s16le");
    js_out_key(&out, "sample_rate");
    js_out_int(&out, STT_RATE_HZ);
    js_out_key(&out, "num_channels");
    js_out_int(&out, 1);
    if (engine_speaks(&listen->engine->info, listen->language))
        write_hints(listen, &out);
    js_out_key(&out, "enable_language_identification");
    js_out_bool(&out, listen->detect_language);
    write_context(listen, &out);
    js_out_object_end(&out);
}

static bool is_mark(const char *text)
{
    return strcmp(text, "<fin>") == 0 || strcmp(text, "<end>") == 0;
}

/* Final pieces are gathered until nothing more is open: words must not be told in halves. */
static void read_tokens(struct listen *listen, const struct js *tokens)
{
    AUTO_BUF open = BUF_INIT(PARTIAL_MAX_BYTES);
    bool is_finalized = false, is_end = false;
    for (size_t i = 0; i < js_count(tokens); i++) {
        const struct js *token = js_at(tokens, i);
        const char *text = js_text_or(js_get(token, "text"), "");
        bool is_final = js_bool(js_get(token, "is_final"), false);
        is_finalized = is_finalized || strcmp(text, "<fin>") == 0;
        is_end = is_end || strcmp(text, "<end>") == 0;
        if (!is_mark(text))
            (void)buf_append_str(is_final ? &listen->said : &open, text);
    }
    if (is_finalized || is_end) {
        listen_final(listen, listen->said.data);
        buf_reset(&listen->said);
    }
    AUTO_BUF all = BUF_INIT(2 * PARTIAL_MAX_BYTES);
    (void)buf_append(&all, listen->said.data, listen->said.len);
    (void)buf_append(&all, open.data, open.len);
    if (all.len > 0)
        listen_partial(listen, all.data, open.len == 0);
    if (is_end)
        listen_endpoint(listen);
    if (is_finalized)
        listen_flushed(listen);
}

static void read_message(struct listen *listen, const struct js *message)
{
    int64_t code = js_int(js_get(message, "error_code"), 0);
    if (code)
        listen_failed(listen, vendor_error_of_status((int)code),
                      js_text_or(js_get(message, "error_message"), "it reports an error"));
    else
        read_tokens(listen, js_get(message, "tokens"));
}

static const struct listen_dialect dialect = {
    .standard_url = "wss://stt-rt.soniox.com",
    .key_header = "Authorization",
    .key_prefix = "Bearer ",
    .write_target = write_target,
    .write_start = write_start,
    .flush_text = "{\"type\":\"finalize\"}",
    .quiet_text = "{\"type\":\"keepalive\"}",
    .quiet_us = KEEP_ALIVE_US,
    .farewell = "",
    .flush_us = FINALIZE_US,
    .is_flush_owed = true,
    .read = read_message,
};

bool soniox_configure(void *env, const struct config *config, const struct engine_info *info,
                      void **out_state)
{
    return listen_configure(env, config, info, &dialect, out_state);
}
