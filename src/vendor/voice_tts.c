/* flite and espeak-ng in a worker process. The worker sends audio little faster than it is played,
 * so that a long sentence is not held here. Both engines are one code with two names. */
#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "vendor/internal.h"
#include "vendor/voice_pool.h"

struct voice_tts {
    struct tts base;
    struct voice_session session;
    struct loop *loop;
    struct timer failure; /* tells a failed opening */
    struct fault fault;
    tts_event_fn *on_event;
    void *arg;
    uint32_t last_gen, cancelled_gen; /* frames up to the second are dropped */
};

/* gen: of the line that ended it; 0: none. */
static void tell_lost(struct voice_tts *tts, enum engine_error error, uint32_t gen,
                      const char *message)
{
    struct tts_event event = {
        .kind = TTS_ERROR, .is_fatal = true, .error = error, .gen = gen, .message = message};
    tts->on_event(tts->arg, &event);
}

static void on_failure(void *arg)
{
    struct voice_tts *tts = arg;
    tell_lost(tts, voice_refusal(tts->fault.err), 0, tts->fault.text);
}

static void on_lost(void *arg, enum engine_error error, const char *why)
{
    struct voice_tts *tts = arg;
    tell_lost(tts, error, error == ENGINE_BAD_REQUEST ? tts->session.saying : 0, why);
}

/* Samples are copied out of the frame's buffer for their alignment. */
static void tell_audio(struct voice_tts *tts, const struct voice_frame *frame)
{
    size_t count = frame->len / sizeof(int16_t);
    AUTO_MEM int16_t *samples = mem_new_n(int16_t, count + 1);
    memcpy(samples, frame->body, count * sizeof(*samples));
    struct tts_event event = {
        .kind = TTS_AUDIO, .gen = frame->gen, .samples = samples, .count = count};
    tts->on_event(tts->arg, &event);
}

static void on_frame(void *arg, const struct voice_frame *frame)
{
    struct voice_tts *tts = arg;
    bool is_old = (int32_t)(frame->gen - tts->cancelled_gen) <= 0;
    if (frame->kind == VOICE_FAILED) {
        AUTO_MEM char *text = mem_strndup(frame->body, frame->len);
        tell_lost(tts, ENGINE_BAD_REQUEST, 0, text);
    } else if (frame->kind == VOICE_AUDIO && !is_old) {
        tell_audio(tts, frame);
    } else if (frame->kind == VOICE_DONE && !is_old) {
        struct tts_event event = {.kind = TTS_DONE, .gen = frame->gen};
        tts->on_event(tts->arg, &event);
    }
}

static struct tts *voice_tts_open(const struct engine *engine, struct loop *loop,
                                  const struct tts_config *config, tts_event_fn *on_event,
                                  void *arg)
{
    struct vendor_loop *here = vendor_loop_of(engine->state, loop);
    struct voice_tts *tts = mem_new(struct voice_tts);
    tts->base.ops = engine->ops.tts;
    tts->loop = loop;
    tts->on_event = on_event;
    tts->arg = arg;
    tts->session = (struct voice_session){.on_frame = on_frame, .on_lost = on_lost, .arg = tts};
    snprintf(tts->session.workspace, sizeof(tts->session.workspace), "%s",
             config->workspace ? config->workspace : "");
    timer_init(&tts->failure, loop, on_failure, tts);
    enum err err =
        here && here->voices
            ? voice_session_open(here->voices, VOICE_SPEAKING, &tts->session, &tts->fault)
            : fault_set(&tts->fault, ERR_UNSUPPORTED, "no speech on this loop");
    if (err) {
        timer_set_after(&tts->failure, 0);
        return &tts->base;
    }
    AUTO_MEM char *wish =
        mem_printf("%s\n%s\n%s\n%.3f\n%.3f\n%s", engine->info.id, config->language, config->speaker,
                   config->speed, config->volume, tts->session.workspace);
    voice_session_send(&tts->session, VOICE_OPEN_SPEAKING, 0, wish, strlen(wish));
    return &tts->base;
}

static void voice_tts_speak(struct tts *base, uint32_t gen, const char *text, bool is_last)
{
    struct voice_tts *tts = (struct voice_tts *)base;
    (void)is_last;
    tts->last_gen = gen;
    voice_session_send(&tts->session, VOICE_SPEAK, gen, text, strlen(text));
}

static void voice_tts_cancel(struct tts *base)
{
    struct voice_tts *tts = (struct voice_tts *)base;
    tts->cancelled_gen = tts->last_gen;
    voice_session_send(&tts->session, VOICE_CANCEL, 0, NULL, 0);
}

static void voice_tts_close(struct tts *base)
{
    struct voice_tts *tts = (struct voice_tts *)base;
    voice_session_close(&tts->session);
    timer_stop(&tts->failure);
    loop_defer(tts->loop, mem_free, tts);
}

const struct tts_ops flite_ops = {voice_tts_open, voice_tts_speak, voice_tts_cancel,
                                  voice_tts_close};
const struct tts_ops espeak_ops = {voice_tts_open, voice_tts_speak, voice_tts_cancel,
                                   voice_tts_close};
