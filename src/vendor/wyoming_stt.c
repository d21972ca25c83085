/* Recognition by Wyoming servers (faster-whisper, Vosk and others): an utterance is a `transcribe`,
 * audio-start, chunks as the caller speaks, and at the pause audio-stop, answered by a
 * `transcript`. Servers that can, tell pieces of it before.
 *
 *   IDLE --push--> SPEAKING --flush: audio-stop--> WAITING --transcript--> IDLE, or the held one
 *                                                     '-- push, flush: held
 *
 * Many servers close the connection after a transcript, and what was sent after the audio-stop is
 * lost: each utterance has a connection of its own, and waits for the transcript of the one before
 * it. Thread: the call's loop. */
#include <string.h>

#include "base/arena.h"
#include "base/js.h"
#include "base/loop.h"
#include "base/mem.h"
#include "engine/registry.h"
#include "vendor/internal.h"
#include "vendor/terms.h"
#include "vendor/wyoming.h"

enum {
    TRANSCRIPT_US = 8000 * 1000, /* small machines take their time */
    CHUNK_BYTES = 32 * 1000,     /* a second */
    HELD_MAX_BYTES = 320 * 1000, /* ten seconds: longer than a transcript is awaited */
    PARTIAL_MAX_BYTES = 64 * 1024,
    DATA_MAX_BYTES = 16 * 1024,
};

static const char format[] = "{\"rate\":16000,\"width\":2,\"channels\":1}";

struct wyoming_stt {
    struct stt base;
    const struct wyoming_engine *engine;
    struct loop *loop;
    stt_event_fn *on_event;
    void *arg;
    struct wyoming *connection; /* NULL: none */
    char *request;              /* data of `transcribe` */
    struct buf partial;
    struct buf held; /* samples of the next utterance */
    bool is_held_whole;
    uint32_t gen, held_gen; /* of the newest flush; of the one that ended what is held */
    struct timer timer;     /* the transcript is overdue; or there was nothing to transcribe */
    bool is_speaking;       /* an utterance is open */
    bool is_waiting;        /* for its transcript */
    bool is_empty_flush;    /* answered from the loop */
    bool is_closed, is_ended;
};

static void tell(struct wyoming_stt *stt, struct stt_event event)
{
    if (!stt->is_closed && !stt->is_ended)
        stt->on_event(stt->arg, &event);
}

static void fail(struct wyoming_stt *stt, enum engine_error error, const char *message)
{
    tell(stt, (struct stt_event){
                  .kind = STT_ERROR, .error = error, .message = message, .is_fatal = true});
    stt->is_ended = true;
    timer_stop(&stt->timer);
}

static void connect_stt(struct wyoming_stt *stt);

static void begin_utterance(struct wyoming_stt *stt)
{
    if (!stt->connection)
        connect_stt(stt);
    wyoming_send(stt->connection, "transcribe", stt->request, NULL, 0);
    wyoming_send(stt->connection, "audio-start", format, NULL, 0);
    stt->is_speaking = true;
}

static void end_utterance(struct wyoming_stt *stt, uint32_t gen)
{
    wyoming_send(stt->connection, "audio-stop", NULL, NULL, 0);
    stt->gen = gen;
    stt->is_speaking = false;
    stt->is_waiting = true;
    timer_set_after(&stt->timer, TRANSCRIPT_US);
}

static void send_held(struct wyoming_stt *stt)
{
    if (stt->held.len == 0)
        return;
    begin_utterance(stt);
    for (size_t at = 0; at < stt->held.len; at += CHUNK_BYTES)
        wyoming_send(stt->connection, "audio-chunk", format, stt->held.data + at,
                     MIN(stt->held.len - at, (size_t)CHUNK_BYTES));
    buf_reset(&stt->held);
    if (stt->is_held_whole)
        end_utterance(stt, stt->held_gen);
    stt->is_held_whole = false;
}

static bool is_over(const struct wyoming_stt *stt)
{
    return stt->is_closed || stt->is_ended;
}

static void take_transcript(struct wyoming_stt *stt, const char *text)
{
    text += strspn(text, " \t\r\n");
    buf_reset(&stt->partial);
    if (*text)
        tell(stt, (struct stt_event){.kind = STT_FINAL, .text = text});
    if (is_over(stt) || !stt->is_waiting) /* what was told just before may have had it closed */
        return;
    stt->is_waiting = false;
    timer_stop(&stt->timer);
    wyoming_close(TAKE(stt->connection));
    tell(stt, (struct stt_event){.kind = STT_FLUSHED, .gen = stt->gen});
    if (!is_over(stt))
        send_held(stt);
}

static void take_piece(struct wyoming_stt *stt, const char *text)
{
    (void)buf_append_str(&stt->partial, text);
    if (stt->partial.len > 0)
        tell(stt, (struct stt_event){.kind = STT_PARTIAL, .text = stt->partial.data});
}

static void on_error(struct wyoming_stt *stt, const struct wyoming_event *event)
{
    char message[ASK_MESSAGE_SIZE];
    wyoming_error(stt->engine, event, message);
    fail(stt, ENGINE_TRANSIENT, message);
}

static void on_event(void *arg, const struct wyoming_event *event)
{
    struct wyoming_stt *stt = arg;
    const char *text = js_text_or(js_get(event->data, "text"), "");
    if (strcmp(event->type, "transcript") == 0)
        take_transcript(stt, text);
    else if (strcmp(event->type, "transcript-chunk") == 0)
        take_piece(stt, text);
    else if (strcmp(event->type, "error") == 0)
        on_error(stt, event);
}

/* Between two utterances it is no failure. */
static void on_ended(void *arg, enum engine_error error, const char *message)
{
    struct wyoming_stt *stt = arg;
    wyoming_close(TAKE(stt->connection));
    if (stt->is_speaking || stt->is_waiting)
        fail(stt, error, message);
}

static void on_timer(void *arg)
{
    struct wyoming_stt *stt = arg;
    if (!stt->is_empty_flush) {
        fail(stt, ENGINE_TIMEOUT, "it sent no transcript");
        return;
    }
    stt->is_empty_flush = false;
    tell(stt, (struct stt_event){.kind = STT_FLUSHED, .gen = stt->gen});
}

static void connect_stt(struct wyoming_stt *stt)
{
    static const struct wyoming_fns fns = {on_event, on_ended};
    stt->connection = wyoming_open(stt->engine, stt->loop, &fns, stt);
}

static char *write_request(const struct wyoming_engine *engine, const struct stt_config *config)
{
    AUTO(arena) arena = arena_new(0);
    const char *terms[TERMS_MAX];
    size_t count = terms_find(config->vocabulary, arena, terms, TERMS_MAX);
    struct buf data = BUF_INIT(DATA_MAX_BYTES);
    struct js_out out;
    js_out_init(&out, &data);
    js_out_object(&out);
    if (*engine->model) {
        js_out_key(&out, "name");
        js_out_text(&out, engine->model);
    }
    if (config->language && !config->detect_language) {
        js_out_key(&out, "language");
        js_out_text(&out, config->language);
    }
    if (count > 0) {
        js_out_key(&out, "transcript_names");
        js_out_array(&out);
        for (size_t i = 0; i < count; i++)
            js_out_text(&out, terms[i]);
        js_out_array_end(&out);
    }
    js_out_object_end(&out);
    return buf_take(&data, NULL);
}

static struct stt *open_stt(const struct engine *engine, struct loop *loop,
                            const struct stt_config *config, stt_event_fn *on_stt, void *arg)
{
    struct wyoming_stt *stt = mem_new(struct wyoming_stt);
    stt->base.ops = &wyoming_stt_ops;
    stt->engine = engine->state;
    stt->loop = loop;
    stt->on_event = on_stt;
    stt->arg = arg;
    stt->request = write_request(stt->engine, config);
    buf_init(&stt->partial, PARTIAL_MAX_BYTES);
    buf_init(&stt->held, HELD_MAX_BYTES);
    timer_init(&stt->timer, loop, on_timer, stt);
    connect_stt(stt);
    return &stt->base;
}

static void push(struct stt *base, const int16_t *samples, size_t count)
{
    struct wyoming_stt *stt = (struct wyoming_stt *)base;
    if (stt->is_ended)
        return;
    if (stt->is_waiting) {
        (void)buf_append(&stt->held, samples, count * sizeof(*samples)); /* full: it is lost */
        stt->is_held_whole = false;
        return;
    }
    if (!stt->is_speaking)
        begin_utterance(stt);
    wyoming_send(stt->connection, "audio-chunk", format, samples, count * sizeof(*samples));
}

/* Of flushes that wait together, the newest is answered. */
static void flush(struct stt *base, uint32_t gen)
{
    struct wyoming_stt *stt = (struct wyoming_stt *)base;
    if (stt->is_ended)
        return;
    if (stt->is_speaking) {
        stt->is_empty_flush = false;
        end_utterance(stt, gen);
    } else if (stt->held.len > 0) {
        stt->is_held_whole = true;
        stt->held_gen = gen;
    } else {
        stt->gen = gen;
        stt->is_empty_flush = !stt->is_waiting;
        if (stt->is_empty_flush)
            timer_set_after(&stt->timer, 0);
    }
}

static void free_stt(void *arg)
{
    struct wyoming_stt *stt = arg;
    buf_clear(&stt->partial);
    buf_clear(&stt->held);
    mem_free(stt->request);
    mem_free(stt);
}

static void close_stt(struct stt *base)
{
    struct wyoming_stt *stt = (struct wyoming_stt *)base;
    stt->is_closed = true;
    timer_stop(&stt->timer);
    wyoming_close(TAKE(stt->connection));
    loop_defer(stt->loop, free_stt, stt);
}

const struct stt_ops wyoming_stt_ops = {open_stt, push, flush, close_stt};
