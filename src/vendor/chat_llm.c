/* A conversation with a chat server: one streamed request at a time; cancelling closes the
 * connection, which is all that these servers know. What is written and read is the dialect's
 * (chat.h).
 *
 *   start -> [ask] -> text ... -> tool calls, done
 *              ^ '--> refused by a 400 that names a parameter: at once again without it
 *              '--------------------'      else LLM_ERROR
 *
 * What a server refuses is left out from then on (chat_lesson.h). Wire facts: docs/engines.md.
 * Thread: the call's loop. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/registry.h"
#include "vendor/ask.h"
#include "vendor/chat.h"
#include "vendor/chat_lesson.h"
#include "vendor/chat_name.h"
#include "vendor/internal.h"

enum {
    STALL_MS = 8000,  /* no byte for so long; reasoning models are silent for a while */
    TOTAL_MS = 75000, /* the conversation takes what has come after 60 s */
    QUIRKS_MAX = 4,   /* requests spent on learning, in one generation */
    BODY_MAX_BYTES = 6 * 1024 * 1024,   /* tools 1 MiB, instructions as much, all of it escaped */
    ANSWER_MAX_BYTES = 8 * 1024 * 1024, /* 250 bytes of stream for a token */
};

struct chat_llm {
    struct llm base;
    struct chat_engine *engine;
    char *model;
    struct chat_lessons *lessons; /* of the model; NULL: it is not in the catalog */
    unsigned quirks;              /* of this call alone */
    struct loop *loop;
    llm_event_fn *on_event;
    void *arg;
    uint32_t gen;
    struct ask ask;
    const char *headers[7]; /* pairs, NULL after them */
    struct chat_stream stream;
    struct arena *arena; /* of the request, kept for what is learned */
    const struct llm_request *request;
    int learned;
    bool is_over;  /* the end of this generation was told */
    bool is_ahead; /* a connection is opened before it is needed */
    bool is_closed;
};

/* Telling. */

/* False: the session was closed, or asked something else, inside the callback. */
static bool tell(struct chat_llm *llm, struct llm_event *event)
{
    event->gen = llm->gen;
    llm->on_event(llm->arg, event);
    return !llm->is_closed && event->gen == llm->gen && !llm->is_over;
}

static void on_text(void *arg, const char *text)
{
    (void)tell(arg, &(struct llm_event){.kind = LLM_TEXT, .text = text});
}

/* Cut ones are no JSON, whatever they look like: the conversation refuses them. */
static const char *arguments_of(const struct chat_call *call)
{
    if (call->arguments.is_full)
        return "cut: too long";
    return call->arguments.len ? call->arguments.data : "{}";
}

static void tell_end(struct chat_llm *llm)
{
    const struct chat_stream *stream = &llm->stream;
    for (size_t i = 0; i < stream->call_count; i++) {
        const struct chat_call *call = &stream->calls[i];
        char id[32];
        if (!call->name)
            continue;
        snprintf(id, sizeof(id), "call_%u_%zu", llm->gen, i);
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

static void tell_error(struct chat_llm *llm, enum engine_error error, const char *message,
                       int64_t retry_us)
{
    llm->is_over = true;
    (void)tell(llm,
               &(struct llm_event){
                   .kind = LLM_ERROR, .error = error, .message = message, .retry_us = retry_us});
}

/* Asking. */

static unsigned quirks_of(const struct chat_llm *llm)
{
    int64_t now_us = loop_now_us(llm->loop);
    return llm->quirks | (llm->lessons ? chat_lessons_now(llm->lessons, now_us) : 0);
}

static void send_request(struct chat_llm *llm)
{
    const struct chat_dialect *dialect = llm->engine->dialect;
    const struct chat_settings settings = {llm->model, llm->engine->reasoning, quirks_of(llm)};
    const struct ask_request request = {.path = dialect->path,
                                        .headers = llm->headers,
                                        .content_type = "application/json",
                                        .max_answer_bytes = ANSWER_MAX_BYTES,
                                        .stall_ms = STALL_MS,
                                        .total_ms = TOTAL_MS};
    AUTO_BUF body = BUF_INIT(BODY_MAX_BYTES);
    chat_stream_clear(&llm->stream);
    chat_stream_init(&llm->stream, dialect->read, on_text, llm);
    if (dialect->write(llm->request, &settings, &body) != OK)
        body.is_full = true;
    ask_send(&llm->ask, &request, &body);
}

/* A 400 that names what it does not take is asked again at once, without it. */
static bool learn(struct chat_llm *llm, const struct ask_answer *answer)
{
    if ((answer->status != 400 && answer->status != 422) || llm->learned == QUIRKS_MAX)
        return false;
    struct chat_lesson lesson =
        chat_lesson_read(answer->body, answer->body_len, llm->request, quirks_of(llm));
    if (!lesson.quirk)
        return false;
    llm->quirks |= lesson.quirk;
    if (lesson.is_for_all && llm->lessons)
        chat_lessons_keep(llm->lessons, lesson.quirk, loop_now_us(llm->loop) + CHAT_LESSON_US);
    log_warn("engine.refuses", LOG_S("engine", llm->engine->account.engine),
             LOG_S("model", llm->model), LOG_S("what", chat_quirk_name(lesson.quirk)),
             LOG_I("for_all", lesson.is_for_all));
    llm->learned++;
    return true;
}

static int on_data(void *arg, const char *data, size_t len)
{
    struct chat_llm *llm = arg;
    uint32_t gen = llm->gen;
    if (llm->is_over)
        return 0;
    bool wants_more = chat_stream_input(&llm->stream, data, len);
    if (llm->is_closed || llm->gen != gen || !ask_is_under_way(&llm->ask))
        return 1;
    if (llm->stream.is_done)
        tell_end(llm);
    return !wants_more && !llm->stream.is_done;
}

/* The body has ended, or its connection broke: the stream tells whether it is whole. */
static void on_end(struct chat_llm *llm, const struct ask_answer *answer)
{
    uint32_t gen = llm->gen;
    char message[ASK_MESSAGE_SIZE];
    bool was_told = llm->stream.error != ENGINE_OK; /* by the server itself */
    chat_stream_finish(&llm->stream);
    if (llm->is_closed || llm->gen != gen || llm->is_over)
        return;
    enum engine_error error = llm->stream.error;
    if (llm->stream.is_done) {
        tell_end(llm);
        return;
    }
    bool is_passing = error == ENGINE_TRANSIENT || error == ENGINE_PROTOCOL;
    ask_clean(&llm->engine->account, llm->stream.message, message);
    if (answer->error != ENGINE_OK && !was_told)
        tell_error(llm, answer->error, answer->message, answer->retry_us);
    else
        tell_error(llm, error, message, is_passing ? 0 : ENGINE_NO_RETRY);
}

static void on_done(void *arg, const struct ask_answer *answer)
{
    struct chat_llm *llm = arg;
    if (llm->is_over)
        return;
    if (answer->status >= 200 && answer->status < 300)
        on_end(llm, answer);
    else if (learn(llm, answer))
        send_request(llm);
    else
        tell_error(llm, answer->error, answer->message, answer->retry_us);
}

/* The session. */

static struct chat_lessons *lessons_of(const struct engine *engine, const char *model)
{
    const struct chat_engine *chat = engine->state;
    for (size_t i = 0; i < engine->info.model_count; i++)
        if (strcmp(engine->info.models[i], model) == 0)
            return &chat->lessons[i];
    return NULL;
}

static void set_headers(struct chat_llm *llm)
{
    const struct chat_dialect *dialect = llm->engine->dialect;
    size_t count = 0;
    llm->headers[count++] = "Accept";
    llm->headers[count++] = "text/event-stream";
    for (size_t i = 0; dialect->fixed[0] && i < CHAT_HEADERS; i++)
        llm->headers[count++] = dialect->fixed[i];
    if (!llm->engine->authorization)
        return;
    llm->headers[count++] = dialect->key_header;
    llm->headers[count++] = llm->engine->authorization;
}

static struct llm *chat_open(const struct engine *engine, const struct llm_config *config,
                             struct loop *loop, llm_event_fn *on_event, void *arg)
{
    static const struct ask_fns fns = {on_data, on_done};
    struct chat_llm *llm = mem_new(struct chat_llm);
    const char *model = config->model && *config->model ? config->model : engine->info.models[0];
    llm->base.ops = &chat_ops;
    llm->engine = engine->state;
    llm->loop = loop;
    llm->model = mem_strdup(model);
    llm->lessons = lessons_of(engine, llm->model);
    llm->on_event = on_event;
    llm->arg = arg;
    llm->is_over = true;
    set_headers(llm);
    ask_init(&llm->ask, &llm->engine->account, loop, config->workspace, &fns, llm);
    llm->is_ahead = config->is_ahead;
    if (llm->is_ahead)
        ask_warm(&llm->ask, llm->headers);
    return &llm->base;
}

static void chat_start(struct llm *base, uint32_t gen, const struct llm_request *request)
{
    struct chat_llm *llm = (struct chat_llm *)base;
    (void)ask_cancel(&llm->ask);
    arena_free(llm->arena);
    llm->arena = arena_new(0);
    llm->request = chat_request_copy(request, llm->arena);
    llm->gen = gen;
    llm->learned = 0;
    llm->is_over = false;
    send_request(llm);
}

/* The answer takes its connection along; the caller, who has gone on, will ask again. */
static void chat_cancel(struct llm *base)
{
    struct chat_llm *llm = (struct chat_llm *)base;
    if (ask_cancel(&llm->ask) && llm->is_ahead)
        ask_warm(&llm->ask, llm->headers);
    llm->is_over = true;
}

static void free_session(void *arg)
{
    struct chat_llm *llm = arg;
    chat_stream_clear(&llm->stream);
    ask_clear(&llm->ask);
    arena_free(llm->arena);
    mem_free(llm->model);
    mem_free(llm);
}

static void chat_close(struct llm *base)
{
    struct chat_llm *llm = (struct chat_llm *)base;
    (void)ask_cancel(&llm->ask);
    llm->is_over = llm->is_closed = true;
    loop_defer(llm->loop, free_session, llm);
}

const struct llm_ops chat_ops = {chat_open, chat_start, chat_cancel, chat_close};

/* The engine. */

struct chat_engine *chat_engine_new(struct vendor *vendor, const struct config *config,
                                    const struct engine_info *info, const struct account_plan *plan,
                                    const struct chat_dialect *dialect)
{
    struct chat_engine *engine = mem_new(struct chat_engine);
    if (!account_read(&engine->account, vendor, config, info, plan)) {
        mem_free(engine);
        return NULL;
    }
    engine->dialect = dialect;
    if (engine->account.key)
        engine->authorization = mem_printf("%s%s", dialect->key_prefix, engine->account.key);
    engine->reasoning = account_option(config, info, "reasoning");
    engine->model_count = info->model_count;
    engine->lessons = mem_new_n(struct chat_lessons, info->model_count);
    return engine;
}

void chat_engine_free(void *state)
{
    struct chat_engine *engine = state;
    account_clear(&engine->account);
    mem_free(engine->authorization);
    mem_free(engine->reasoning);
    mem_free(engine->lessons);
    mem_free(engine);
}
