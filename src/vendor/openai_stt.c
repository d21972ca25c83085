/* Recognition by POST {url}/audio/transcriptions, as OpenAI, whisper.cpp, speaches, vLLM and others
 * serve it: an utterance at a time. What is pushed is gathered; flush() sends it as a WAV file and
 * its text comes back at once. Where the server is quick it is also asked while the caller goes on
 * speaking, for partial words: without them nobody could interrupt the agent.
 *
 * A failed utterance is sent once more: its sound is nowhere but here, so that the conversation
 * could not ask again. Wire facts: docs/engines.md. Thread: the call's loop. */
#include <stdio.h>
#include <string.h>

#include "audio/wav.h"
#include "base/arena.h"
#include "base/config.h"
#include "base/crypto.h"
#include "base/js.h"
#include "base/list.h"
#include "base/mem.h"
#include "engine/registry.h"
#include "vendor/account.h"
#include "vendor/ask.h"
#include "vendor/internal.h"
#include "vendor/terms.h"

enum {
    SOUND_MAX_BYTES = 30 * STT_RATE_HZ * 2,     /* models of this kind hear 30 s at a time */
    HEARD_MIN_BYTES = STT_RATE_HZ * 2 * 3 / 10, /* of less they invent words */
    PARTIAL_EVERY_BYTES = STT_RATE_HZ * 2 * 8 / 10,
    QUICK_US = 600 * 1000, /* a server that answers so fast is asked for partial words */
    RETRY_MAX_US = 1000 * 1000,
    STALL_MS = 8000,
    TOTAL_MS = 20000,
    BODY_MAX_BYTES = SOUND_MAX_BYTES + 16 * 1024,
    ANSWER_MAX_BYTES = 256 * 1024,
    DEPTH_MAX = 16,
    BOUNDARY_SIZE = 48,
    UTTERANCES_MAX = 8,
};

struct openai_stt_engine {
    struct account account;
    char *authorization; /* NULL: no key */
    char *model;
    enum { PARTIALS_AUTO, PARTIALS_ON, PARTIALS_OFF } partials;
};

struct utterance {
    struct list_node node;
    uint32_t gen;
    struct buf sound;
    bool is_again;
};

struct openai_stt {
    struct stt base;
    const struct openai_stt_engine *engine;
    struct loop *loop;
    stt_event_fn *on_event;
    void *arg;
    struct ask ask;
    const char *headers[3];
    char content_type[80], boundary[BOUNDARY_SIZE];
    char *language, *prompt;
    struct buf sound;            /* since the last flush */
    struct list_node utterances; /* flushed: the first is asked about */
    size_t utterance_count;
    size_t partial_bytes; /* of sound, when partial words were last asked for */
    bool is_partial;      /* the request under way */
    int64_t asked_us, took_us;
    struct timer timer; /* the next step, from the loop */
    bool is_ready, is_closed;
};

/* Telling. */

static void tell(struct openai_stt *stt, struct stt_event event)
{
    if (!stt->is_closed)
        stt->on_event(stt->arg, &event);
}

static void drop_first(struct openai_stt *stt)
{
    struct utterance *first = LIST_FIRST(&stt->utterances, struct utterance, node);
    list_remove(&first->node);
    stt->utterance_count--;
    buf_clear(&first->sound);
    mem_free(first);
}

static void finish_first(struct openai_stt *stt, const char *text)
{
    uint32_t gen = LIST_FIRST(&stt->utterances, struct utterance, node)->gen;
    drop_first(stt);
    timer_set_after(&stt->timer, 0);
    if (*text)
        tell(stt, (struct stt_event){.kind = STT_FINAL, .text = text});
    tell(stt, (struct stt_event){.kind = STT_FLUSHED, .gen = gen});
}

/* Asking. */

static void write_field(const struct openai_stt *stt, const char *name, const char *value,
                        struct buf *out)
{
    if (*value)
        (void)buf_printf(out, "--%s\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n",
                         stt->boundary, name, value);
}

static void send(struct openai_stt *stt, const struct buf *sound)
{
    const struct ask_request request = {.path = "/audio/transcriptions",
                                        .headers = stt->headers,
                                        .content_type = stt->content_type,
                                        .max_answer_bytes = ANSWER_MAX_BYTES,
                                        .stall_ms = STALL_MS,
                                        .total_ms = TOTAL_MS};
    AUTO_BUF body = BUF_INIT(BODY_MAX_BYTES);
    write_field(stt, "model", stt->engine->model, &body);
    write_field(stt, "language", stt->language, &body);
    write_field(stt, "prompt", stt->prompt, &body);
    write_field(stt, "response_format", "json", &body);
    (void)buf_printf(&body,
                     "--%s\r\nContent-Disposition: form-data; name=\"file\"; "
                     "filename=\"speech.wav\"\r\nContent-Type: audio/wav\r\n\r\n",
                     stt->boundary);
    if (wav_write(&body, STT_RATE_HZ, (const int16_t *)(const void *)sound->data,
                  sound->len / sizeof(int16_t)) != OK)
        body.is_full = true;
    (void)buf_printf(&body, "\r\n--%s--\r\n", stt->boundary);
    stt->asked_us = loop_now_us(stt->loop);
    ask_send(&stt->ask, &request, &body);
}

static bool wants_partial(const struct openai_stt *stt)
{
    if (stt->engine->partials == PARTIALS_OFF || ask_is_under_way(&stt->ask) ||
        stt->utterance_count > 0)
        return false;
    bool is_quick = stt->took_us <= QUICK_US;
    return (is_quick || stt->engine->partials == PARTIALS_ON) &&
           stt->sound.len >= stt->partial_bytes + PARTIAL_EVERY_BYTES;
}

static void on_timer(void *arg)
{
    struct openai_stt *stt = arg;
    if (!stt->is_ready) {
        stt->is_ready = true;
        tell(stt, (struct stt_event){.kind = STT_READY});
    }
    if (stt->is_closed || list_is_empty(&stt->utterances) ||
        (ask_is_under_way(&stt->ask) && !stt->is_partial))
        return;
    struct utterance *first = LIST_FIRST(&stt->utterances, struct utterance, node);
    stt->is_partial = false;
    if (first->sound.len < HEARD_MIN_BYTES)
        finish_first(stt, "");
    else
        send(stt, &first->sound);
}

/* Answers. */

/* NULL: no answer of this kind. */
static char *text_of(const struct ask_answer *answer)
{
    AUTO(js) tree = NULL;
    if (js_parse(answer->body, answer->body_len, DEPTH_MAX, &tree, NULL) != OK ||
        !js_text(js_get(tree, "text")))
        return NULL;
    const char *text = js_text(js_get(tree, "text"));
    text += strspn(text, " \t\r\n");
    size_t len = strlen(text);
    while (len > 0 && strchr(" \t\r\n", text[len - 1]))
        len--;
    return mem_strndup(text, len);
}

static void fail(struct openai_stt *stt, enum engine_error error, const char *message)
{
    tell(stt, (struct stt_event){
                  .kind = STT_ERROR, .error = error, .message = message, .is_fatal = true});
}

static void on_failed(struct openai_stt *stt, const struct ask_answer *answer)
{
    struct utterance *first = LIST_FIRST(&stt->utterances, struct utterance, node);
    if (first->is_again || answer->retry_us > RETRY_MAX_US) {
        fail(stt, answer->error, answer->message);
        return;
    }
    first->is_again = true;
    timer_set_after(&stt->timer, answer->retry_us);
}

static void on_done(void *arg, const struct ask_answer *answer)
{
    struct openai_stt *stt = arg;
    bool is_partial = stt->is_partial;
    AUTO_MEM char *text = answer->error == ENGINE_OK ? text_of(answer) : NULL;
    stt->took_us = loop_now_us(stt->loop) - stt->asked_us;
    stt->is_partial = false;
    if (is_partial && text && *text)
        tell(stt, (struct stt_event){.kind = STT_PARTIAL, .text = text});
    if (is_partial)
        return; /* what fails is told when it is about the whole utterance */
    if (text)
        finish_first(stt, text);
    else if (answer->error == ENGINE_OK)
        fail(stt, ENGINE_PROTOCOL, "the answer has no text");
    else
        on_failed(stt, answer);
}

/* The session. */

static void set_texts(struct openai_stt *stt, const struct stt_config *config)
{
    AUTO(arena) arena = arena_new(0);
    bool knows = !config->detect_language;
    stt->language = mem_strdup(knows && config->language ? config->language : "");
    stt->prompt = mem_strdup(terms_line(config->vocabulary, arena, TERMS_MAX));
    snprintf(stt->boundary, sizeof(stt->boundary), "earshot-%016llx%016llx",
             (unsigned long long)crypto_random_u64(), (unsigned long long)crypto_random_u64());
    snprintf(stt->content_type, sizeof(stt->content_type), "multipart/form-data; boundary=%s",
             stt->boundary);
}

static struct stt *open_stt(const struct engine *engine, struct loop *loop,
                            const struct stt_config *config, stt_event_fn *on_event, void *arg)
{
    static const struct ask_fns fns = {NULL, on_done};
    struct openai_stt *stt = mem_new(struct openai_stt);
    stt->base.ops = &openai_stt_ops;
    stt->engine = engine->state;
    stt->loop = loop;
    stt->on_event = on_event;
    stt->arg = arg;
    set_texts(stt, config);
    if (stt->engine->authorization) {
        stt->headers[0] = "Authorization";
        stt->headers[1] = stt->engine->authorization;
    }
    buf_init(&stt->sound, SOUND_MAX_BYTES);
    list_init(&stt->utterances);
    ask_init(&stt->ask, &stt->engine->account, loop, config->workspace, &fns, stt);
    timer_init(&stt->timer, loop, on_timer, stt);
    timer_set_after(&stt->timer, 0);
    if (config->is_ahead)
        ask_warm(&stt->ask, stt->headers);
    return &stt->base;
}

static void push(struct stt *base, const int16_t *samples, size_t count)
{
    struct openai_stt *stt = (struct openai_stt *)base;
    size_t len = MIN(count * sizeof(*samples), SOUND_MAX_BYTES / 2);
    if (stt->sound.len + len > SOUND_MAX_BYTES) /* the end of a long utterance matters more */
        buf_consume(&stt->sound, MIN(stt->sound.len, (size_t)PARTIAL_EVERY_BYTES));
    (void)buf_append(&stt->sound, samples, len);
    if (!wants_partial(stt))
        return;
    stt->partial_bytes = stt->sound.len;
    stt->is_partial = true;
    send(stt, &stt->sound);
}

static void flush(struct stt *base, uint32_t gen)
{
    struct openai_stt *stt = (struct openai_stt *)base;
    if (stt->utterance_count == UTTERANCES_MAX) {
        if (ask_is_under_way(&stt->ask))
            (void)ask_cancel(&stt->ask);
        drop_first(stt);
    }
    struct utterance *utterance = mem_new(struct utterance);
    utterance->gen = gen;
    utterance->sound = stt->sound;
    buf_init(&stt->sound, SOUND_MAX_BYTES);
    stt->partial_bytes = 0;
    list_push_back(&stt->utterances, &utterance->node);
    stt->utterance_count++;
    if (!timer_is_set(&stt->timer))
        timer_set_after(&stt->timer, 0);
}

static void free_stt(void *arg)
{
    struct openai_stt *stt = arg;
    while (!list_is_empty(&stt->utterances))
        drop_first(stt);
    ask_clear(&stt->ask);
    buf_clear(&stt->sound);
    mem_free(stt->language);
    mem_free(stt->prompt);
    mem_free(stt);
}

static void close_stt(struct stt *base)
{
    struct openai_stt *stt = (struct openai_stt *)base;
    stt->is_closed = true;
    (void)ask_cancel(&stt->ask);
    timer_stop(&stt->timer);
    loop_defer(stt->loop, free_stt, stt);
}

const struct stt_ops openai_stt_ops = {open_stt, push, flush, close_stt};

bool openai_stt_configure(void *env, const struct config *config, const struct engine_info *info,
                          void **out_state)
{
    static const struct account_plan plan = {"https://api.openai.com/v1", ACCOUNT_NEEDS_KEY_OR_URL};
    struct openai_stt_engine *engine = mem_new(struct openai_stt_engine);
    if (!account_read(&engine->account, env, config, info, &plan)) {
        mem_free(engine);
        return false;
    }
    AUTO_MEM char *partials = account_option(config, info, "partials");
    bool is_paid = strstr(engine->account.url, "api.openai.com") != NULL;
    engine->partials = is_paid ? PARTIALS_OFF : PARTIALS_AUTO; /* each costs as a whole one */
    if (*partials)
        engine->partials = config_is_true(partials) ? PARTIALS_ON : PARTIALS_OFF;
    engine->model = mem_strdup(info->model_count > 0 ? info->models[0] : "");
    if (engine->account.key)
        engine->authorization = mem_printf("Bearer %s", engine->account.key);
    *out_state = engine;
    return true;
}

void openai_stt_unconfigure(void *state)
{
    struct openai_stt_engine *engine = state;
    account_clear(&engine->account);
    mem_free(engine->authorization);
    mem_free(engine->model);
    mem_free(engine);
}
