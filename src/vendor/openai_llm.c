/* Any OpenAI-compatible chat server: POST {url}/chat/completions, streamed. One request at a time;
 * cancelling closes the connection, which is all that these servers know.
 *
 *   start -> [fetch] -> text ... -> tool calls, done          quirk learned: at once again
 *               |                                             transient, nothing told yet: after a
 *               '-> failed -> again, or LLM_ERROR             pause, twice at most
 *
 * What a server refuses by a 400 is left out from then on (chat_lesson.h). Wire facts:
 * docs/engines.md, Chat. Thread: the call's loop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "net/http_client.h"
#include "vendor/chat_lesson.h"
#include "vendor/chat_name.h"
#include "vendor/chat_request.h"
#include "vendor/chat_stream.h"
#include "vendor/internal.h"
#include "vendor/lane.h"
#include "vendor/openai.h"

enum {
    CONNECT_MS = 5000,
    STALL_MS = 8000,  /* no byte for so long; reasoning models are silent for a while */
    TOTAL_MS = 75000, /* the conversation takes what has come after 60 s */
    ATTEMPTS_MOST = 3,
    QUIRKS_MOST = 4,                    /* requests spent on learning, in one generation */
    PAUSE_FIRST_US = 250000,            /* doubled each time; a caller is waiting */
    PAUSE_MOST_US = 1500000,            /* a server that asks for longer is taken as failed */
    BODY_MAX_BYTES = 6 * 1024 * 1024,   /* tools 1 MiB, instructions as much, all of it escaped */
    ANSWER_MAX_BYTES = 8 * 1024 * 1024, /* 250 bytes of stream for a token */
    MESSAGE_MAX_BYTES = 1024,
};

struct openai_llm {
    struct llm base;
    struct openai *openai;
    const char *engine; /* its id, for the log */
    char *model, *workspace;
    struct lane *lane; /* NULL: no network on this loop */
    struct lane_seat seat;
    struct chat_lessons *lessons; /* of the model; NULL: it is not in the catalog */
    unsigned quirks;              /* of this call alone */
    struct loop *loop;
    struct http_client *http;
    llm_event_fn *on_event;
    void *arg;
    uint32_t gen;
    struct http_fetch *fetch;
    struct chat_stream stream;
    struct arena *arena; /* of the request, kept for another attempt */
    const struct llm_request *request;
    struct buf body;
    struct timer again;
    const char *refusal; /* to be told; NULL: none */
    enum engine_error refusal_error;
    int attempts, learned;
    bool has_told; /* text of this generation: another attempt would repeat it */
    bool is_over;  /* the end of this generation was told */
    bool is_closed;
};

static void send_request(struct openai_llm *llm);

/* ---- telling ---- */

/* False: the session was closed, or asked something else, inside the callback. */
static bool tell(struct openai_llm *llm, struct llm_event *event)
{
    event->gen = llm->gen;
    llm->on_event(llm->arg, event);
    return !llm->is_closed && event->gen == llm->gen && !llm->is_over;
}

static void on_text(void *arg, const char *text)
{
    struct openai_llm *llm = arg;
    llm->has_told = true;
    (void)tell(llm, &(struct llm_event){.kind = LLM_TEXT, .text = text});
}

/* Cut ones are no JSON, whatever they look like: the conversation refuses them. */
static const char *arguments_of(const struct chat_call *call)
{
    if (call->arguments.is_full)
        return "cut: too long";
    return call->arguments.len ? call->arguments.data : "{}";
}

static void tell_end(struct openai_llm *llm)
{
    const struct chat_stream *stream = &llm->stream;
    for (size_t i = 0; i < stream->call_count; i++) {
        const struct chat_call *call = &stream->calls[i];
        char id[32];
        if (!call->name)
            continue;
        snprintf(id, sizeof id, "call_%u_%zu", llm->gen, i);
        struct llm_event event = {.kind = LLM_TOOL_CALL,
                                  .call = {call->id ? call->id : id,
                                           chat_name_back(call->name, llm->request),
                                           arguments_of(call), call->extra}};
        if (!tell(llm, &event))
            return;
    }
    llm->is_over = true;
    (void)tell(llm, &(struct llm_event){.kind = LLM_DONE, .is_cut = stream->is_cut});
}

static void tell_error(struct openai_llm *llm, enum engine_error error, const char *message)
{
    AUTO_BUF text = BUF_INIT(MESSAGE_MAX_BYTES);
    (void)utf8_append_clean(&text, message, strlen(message));
    for (size_t i = 0; i < OPENAI_SECRETS; i++)
        vendor_mask(&text, llm->openai->secrets[i]);
    llm->is_over = true;
    (void)tell(llm, &(struct llm_event){
                        .kind = LLM_ERROR, .error = error, .message = text.data ? text.data : ""});
}

/* ---- failing ---- */

static const char *header(const struct http_fetch_result *result, const char *name)
{
    for (size_t i = 0; i < result->header_count; i++)
        if (strcasecmp(result->headers[i].name, name) == 0)
            return result->headers[i].value;
    return NULL;
}

/* What the server asks for, else a pause that doubles, with a fifth of chance in it. */
static int64_t pause_us(const struct openai_llm *llm, const struct http_fetch_result *result)
{
    const char *ms = header(result, "retry-after-ms"), *s = header(result, "retry-after");
    char *end = NULL;
    double wish = ms ? strtod(ms, &end) * 1000 : s ? strtod(s, &end) * 1000000 : -1;
    if (wish >= 0 && end && *end == '\0')
        return wish < 1e9 ? (int64_t)wish : INT64_MAX;
    int64_t pause = (int64_t)PAUSE_FIRST_US << (llm->attempts - 1);
    return pause + (int64_t)(crypto_random_u64() % (uint64_t)(pause / 5));
}

static bool may_try_again(const struct openai_llm *llm, enum engine_error error,
                          const struct http_fetch_result *result)
{
    const char *advice = header(result, "x-should-retry");
    bool is_passing = error == ENGINE_TRANSIENT || error == ENGINE_TIMEOUT ||
                      (error == ENGINE_QUOTA && result->status == 429);
    if (advice)
        is_passing = strcmp(advice, "true") == 0;
    return is_passing && !llm->has_told && llm->attempts < ATTEMPTS_MOST &&
           pause_us(llm, result) <= PAUSE_MOST_US;
}

static unsigned quirks_of(const struct openai_llm *llm)
{
    int64_t now_us = loop_now_us(llm->loop);
    return llm->quirks | (llm->lessons ? chat_lessons_now(llm->lessons, now_us) : 0);
}

/* A 400 that names what it does not take is asked again at once, without it. */
static bool learn(struct openai_llm *llm, const struct http_fetch_result *result)
{
    if ((result->status != 400 && result->status != 422) || llm->learned == QUIRKS_MOST)
        return false;
    struct chat_lesson lesson = chat_lesson_read(result->body ? result->body : "", result->body_len,
                                                 llm->request, quirks_of(llm));
    if (!lesson.quirk)
        return false;
    llm->quirks |= lesson.quirk;
    if (lesson.is_for_all && llm->lessons)
        chat_lessons_keep(llm->lessons, lesson.quirk, loop_now_us(llm->loop) + CHAT_LESSON_US);
    log_warn("engine.refuses", LOG_S("engine", llm->engine), LOG_S("model", llm->model),
             LOG_S("what", chat_quirk_name(lesson.quirk)), LOG_I("for_all", lesson.is_for_all));
    llm->learned++;
    return true;
}

static enum engine_error kind_of_fault(enum err err)
{
    switch (err) {
    case ERR_TIMEOUT:
        return ENGINE_TIMEOUT;
    case ERR_DENIED:
    case ERR_INVALID:
    case ERR_UNSUPPORTED:
        return ENGINE_BAD_REQUEST;
    case ERR_LIMIT:
        return ENGINE_PROTOCOL;
    default:
        return ENGINE_TRANSIENT;
    }
}

static void fail(struct openai_llm *llm, enum engine_error error, const char *message,
                 const struct http_fetch_result *result)
{
    if (may_try_again(llm, error, result))
        timer_set_after(&llm->again, pause_us(llm, result));
    else
        tell_error(llm, error, message);
}

/* ---- the fetch ---- */

static int on_data(void *arg, int status, const char *data, size_t len)
{
    struct openai_llm *llm = arg;
    uint32_t gen = llm->gen;
    (void)status;
    if (llm->is_over)
        return 0;
    bool wants_more = chat_stream_input(&llm->stream, data, len);
    if (llm->is_closed || llm->gen != gen || !llm->fetch)
        return 1;
    if (llm->stream.is_done)
        tell_end(llm);
    return !wants_more && !llm->stream.is_done;
}

/* The body has ended, or its connection broke: the stream tells whether it is whole. */
static void on_end(struct openai_llm *llm, const struct http_fetch_result *result)
{
    uint32_t gen = llm->gen;
    bool was_told = llm->stream.error != ENGINE_OK; /* by the server itself */
    chat_stream_finish(&llm->stream);
    if (llm->is_closed || llm->gen != gen || llm->is_over)
        return;
    if (llm->stream.is_done)
        tell_end(llm);
    else if (result->fault.err != OK && !was_told)
        fail(llm, kind_of_fault(result->fault.err), result->fault.text, result);
    else
        fail(llm, llm->stream.error, llm->stream.message, result);
}

static void on_done(void *arg, const struct http_fetch_result *result)
{
    struct openai_llm *llm = arg;
    char message[256];
    llm->fetch = NULL;
    lane_leave(llm->lane, &llm->seat);
    if (llm->is_over)
        return;
    if (result->status >= 300) {
        enum engine_error error =
            chat_error(result->status, result->body, result->body_len, message, sizeof message);
        if (learn(llm, result))
            send_request(llm);
        else
            fail(llm, error, message, result);
        return;
    }
    on_end(llm, result);
}

/* There is room in the lane. */
static void on_go(void *arg)
{
    static const struct http_fetch_fns fns = {on_data, on_done};
    struct openai_llm *llm = arg;
    const struct openai *openai = llm->openai;
    const struct http_header headers[] = {{"Content-Type", "application/json"},
                                          {"Accept", "text/event-stream"},
                                          {"Accept-Encoding", "identity"},
                                          {"Authorization", openai->authorization}};
    struct http_fetch_request fetch = {.method = "POST",
                                       .url = openai->url,
                                       .headers = headers,
                                       .header_count =
                                           ARRAY_LEN(headers) - (openai->authorization == NULL),
                                       .body = llm->body.data,
                                       .body_len = llm->body.len,
                                       .connect_ms = CONNECT_MS,
                                       .timeout_ms = TOTAL_MS,
                                       .stall_ms = STALL_MS,
                                       .max_body_bytes = ANSWER_MAX_BYTES,
                                       .scope = GUARD_OPERATOR,
                                       .wants_headers = true};
    chat_stream_clear(&llm->stream);
    chat_stream_init(&llm->stream, on_text, llm);
    llm->fetch = http_fetch_start(llm->http, &fetch, &fns, llm);
    buf_clear(&llm->body); /* the fetch has its own */
}

/* Why nothing can be sent now; told from the loop. */
static void refuse(struct openai_llm *llm, enum engine_error error, const char *why)
{
    llm->refusal_error = error;
    llm->refusal = why;
    timer_set_after(&llm->again, 0);
}

static void send_request(struct openai_llm *llm)
{
    const struct openai *openai = llm->openai;
    struct chat_settings settings = {llm->model, openai->reasoning, quirks_of(llm)};
    buf_reset(&llm->body);
    if (!llm->lane)
        refuse(llm, ENGINE_TRANSIENT, "no network on this loop");
    else if (chat_request_write(llm->request, &settings, &llm->body) != OK)
        refuse(llm, ENGINE_BAD_REQUEST, "the request is too long");
    else if (lane_enter(llm->lane, llm->workspace, &llm->seat) != OK)
        refuse(llm, ENGINE_QUOTA, "too many requests of this workspace wait");
}

static void on_again(void *arg)
{
    struct openai_llm *llm = arg;
    if (llm->refusal) {
        tell_error(llm, llm->refusal_error, TAKE(llm->refusal));
        return;
    }
    llm->attempts++;
    send_request(llm);
}

/* ---- the session ---- */

static void forget(struct openai_llm *llm)
{
    if (llm->fetch)
        http_fetch_cancel(TAKE(llm->fetch));
    lane_leave(llm->lane, &llm->seat);
    timer_stop(&llm->again);
    llm->refusal = NULL;
    llm->is_over = true;
}

static struct chat_lessons *lessons_of(const struct engine *engine, const char *model)
{
    const struct openai *openai = engine->state;
    for (size_t i = 0; i < engine->info.model_count; i++)
        if (strcmp(engine->info.models[i], model) == 0)
            return &openai->lessons[i];
    return NULL;
}

static struct llm *openai_open(const struct engine *engine, const struct llm_config *config,
                               struct loop *loop, llm_event_fn *on_event, void *arg)
{
    struct openai_llm *llm = mem_new(struct openai_llm);
    llm->base.ops = &openai_ops;
    llm->openai = engine->state;
    struct vendor_loop *here = vendor_loop_of(llm->openai->vendor, loop);
    llm->http = here ? here->http : NULL;
    llm->lane = llm->http
                    ? vendor_lane(llm->openai->vendor, here, engine->info.id, &llm->openai->limits)
                    : NULL;
    llm->seat = (struct lane_seat){.go = on_go, .arg = llm};
    llm->loop = loop;
    const char *model = config->model && *config->model ? config->model : engine->info.models[0];
    llm->model = mem_strdup(model);
    llm->workspace = mem_strdup(config->workspace ? config->workspace : "");
    llm->engine = engine->info.id;
    llm->lessons = lessons_of(engine, llm->model);
    llm->on_event = on_event;
    llm->arg = arg;
    llm->is_over = true;
    buf_init(&llm->body, BODY_MAX_BYTES);
    timer_init(&llm->again, loop, on_again, llm);
    return &llm->base;
}

static void openai_start(struct llm *base, uint32_t gen, const struct llm_request *request)
{
    struct openai_llm *llm = (struct openai_llm *)base;
    forget(llm);
    arena_free(llm->arena);
    llm->arena = arena_new(0);
    llm->request = chat_request_copy(request, llm->arena);
    llm->gen = gen;
    llm->attempts = llm->learned = 0;
    llm->has_told = llm->is_over = false;
    on_again(llm);
}

static void openai_cancel(struct llm *base)
{
    forget((struct openai_llm *)base);
}

static void free_session(void *arg)
{
    struct openai_llm *llm = arg;
    chat_stream_clear(&llm->stream);
    buf_clear(&llm->body);
    arena_free(llm->arena);
    mem_free(llm->model);
    mem_free(llm->workspace);
    mem_free(llm);
}

static void openai_close(struct llm *base)
{
    struct openai_llm *llm = (struct openai_llm *)base;
    forget(llm);
    llm->is_closed = true;
    loop_defer(llm->loop, free_session, llm);
}

const struct llm_ops openai_ops = {openai_open, openai_start, openai_cancel, openai_close};
