/* The dialects of Deepgram's live recognition: listen v1 (the nova models), where silence is ours
 * to find and Finalize asks for the last words, and Flux (listen v2), whose model itself says when
 * the caller has finished. Wire facts: docs/engines.md. */
#include <string.h>

#include "base/js.h"
#include "engine/registry.h"
#include "net/url.h"
#include "vendor/internal.h"
#include "vendor/listen.h"
#include "vendor/vendor_error.h"

enum {
    FINALIZE_US = 700 * 1000,    /* with little sound held back, no answer comes */
    FLUX_US = 1500 * 1000,       /* Flux has no such request: its turn ends soon after the voice */
    KEEP_ALIVE_US = 4000 * 1000, /* the vendor closes after 10 s */
};

static const struct socket_code codes[] = {
    {1008, ENGINE_BAD_REQUEST}, /* DATA-0000: no such sound */
    {1011, ENGINE_TRANSIENT},   /* NET-0000, NET-0001: nothing came for 10 s */
    {0},
};

static void add_query(struct buf *out, const char *name, const char *value)
{
    (void)buf_printf(out, "&%s=", name);
    (void)url_encode(value, strlen(value), out);
}

static void add_terms(const struct listen *listen, struct buf *out)
{
    for (size_t i = 0; i < listen->term_count; i++)
        add_query(out, "keyterm", listen->terms[i]);
}

/* Listen v1. */

/* Several languages: the model that switches between them, in those that it knows. */
static const char *language_of(const struct listen *listen)
{
    static const char *const switching[] = {"en", "es", "fr", "de", "hi",
                                            "ru", "pt", "ja", "it", "nl"};
    bool wants_many = listen->detect_language || listen->hint_count > 0;
    for (size_t i = 0; wants_many && i < ARRAY_LEN(switching); i++)
        if (strcmp(switching[i], listen->language) == 0)
            return "multi";
    return listen->language;
}

static void write_target(const struct listen *listen, struct buf *out)
{
    (void)buf_printf(out,
                     "/v1/listen?encoding=linear16&sample_rate=%d&channels=1&interim_results=true"
                     "&endpointing=false&no_delay=true&punctuate=true&numerals=true",
                     STT_RATE_HZ);
    add_query(out, "model", listen->state->model);
    add_query(out, "language", language_of(listen));
    if (strncmp(listen->state->model, "nova-3", 6) == 0)
        add_terms(listen, out);
}

static void read_results(struct listen *listen, const struct js *message)
{
    const struct js *best = js_at(js_get(js_get(message, "channel"), "alternatives"), 0);
    const char *text = js_text(js_get(best, "transcript"));
    if (js_bool(js_get(message, "is_final"), false))
        listen_final(listen, text);
    else
        listen_partial(listen, text, false);
    if (js_bool(js_get(message, "from_finalize"), false))
        listen_flushed(listen);
}

static void read_error(struct listen *listen, const struct js *message)
{
    static const char *const names[] = {"description", "message"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *text = js_text(js_get(message, names[i]));
        if (text) {
            listen_failed(listen, vendor_error_kind(message), text);
            return;
        }
    }
    listen_failed(listen, ENGINE_TRANSIENT, "it reports an error");
}

static void read_v1(struct listen *listen, const struct js *message)
{
    const char *type = js_text_or(js_get(message, "type"), "");
    if (strcmp(type, "Results") == 0)
        read_results(listen, message);
    else if (strcmp(type, "Error") == 0)
        read_error(listen, message);
}

static const struct listen_dialect v1 = {
    .standard_url = "wss://api.deepgram.com",
    .key_header = "Authorization",
    .key_prefix = "Token ",
    .write_target = write_target,
    .flush_text = "{\"type\":\"Finalize\"}",
    .quiet_text = "{\"type\":\"KeepAlive\"}",
    .quiet_us = KEEP_ALIVE_US,
    .farewell = "{\"type\":\"CloseStream\"}",
    .flush_us = FINALIZE_US,
    .codes = codes,
    .read = read_v1,
};

bool deepgram_configure(void *env, const struct config *config, const struct engine_info *info,
                        void **out_state)
{
    return listen_configure(env, config, info, &v1, out_state);
}

/* Flux. */

static void write_flux_target(const struct listen *listen, struct buf *out)
{
    bool is_english = strcmp(listen->language, "en") == 0 && listen->hint_count == 0;
    const char *model = listen->state->model;
    if (strcmp(model, "flux-general-en") == 0 && !is_english)
        model = "flux-general-multi";
    (void)buf_printf(out, "/v2/listen?encoding=linear16&sample_rate=%d", STT_RATE_HZ);
    add_query(out, "model", model);
    if (strcmp(model, "flux-general-multi") == 0) {
        add_query(out, "language_hint", listen->language);
        for (size_t i = 0; i < listen->hint_count; i++)
            add_query(out, "language_hint", listen->hints[i]);
    }
    add_terms(listen, out);
}

/* A turn's words so far, replaced by each message; its end is the end of the turn. */
static void read_turn(struct listen *listen, const struct js *message)
{
    const char *event = js_text_or(js_get(message, "event"), "");
    const char *text = js_text(js_get(message, "transcript"));
    if (strcmp(event, "EndOfTurn") != 0) {
        listen_partial(listen, text, strcmp(event, "EagerEndOfTurn") == 0);
        return;
    }
    listen_final(listen, text);
    listen_endpoint(listen);
    listen_flushed(listen);
}

static void read_flux(struct listen *listen, const struct js *message)
{
    const char *type = js_text_or(js_get(message, "type"), "");
    if (strcmp(type, "TurnInfo") == 0)
        read_turn(listen, message);
    else if (strcmp(type, "Error") == 0)
        read_error(listen, message);
}

static const struct listen_dialect flux = {
    .standard_url = "wss://api.deepgram.com",
    .key_header = "Authorization",
    .key_prefix = "Token ",
    .write_target = write_flux_target,
    .flush_text = "{\"type\":\"ForceEndTurn\"}",
    .farewell = "{\"type\":\"CloseStream\"}",
    .flush_us = FLUX_US,
    .codes = codes,
    .read = read_flux,
};

bool flux_configure(void *env, const struct config *config, const struct engine_info *info,
                    void **out_state)
{
    return listen_configure(env, config, info, &flux, out_state);
}
