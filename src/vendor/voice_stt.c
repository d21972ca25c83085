/* PocketSphinx in a worker process: the session here only frames and passes on. */
#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "vendor/internal.h"
#include "vendor/voice_pool.h"

struct voice_stt {
    struct stt base;
    struct voice_session session;
    struct loop *loop;
    struct timer failure; /* tells a failed opening */
    struct fault fault;
    stt_event_fn *on_event;
    void *arg;
};

static void tell_lost(struct voice_stt *stt, enum engine_error error, const char *message)
{
    struct stt_event event = {
        .kind = STT_ERROR, .is_fatal = true, .error = error, .message = message};
    stt->on_event(stt->arg, &event);
}

static void on_failure(void *arg)
{
    struct voice_stt *stt = arg;
    tell_lost(stt, voice_refusal(stt->fault.err), stt->fault.text);
}

static void on_lost(void *arg, enum engine_error error, const char *why)
{
    tell_lost(arg, error, why);
}

static void on_frame(void *arg, const struct voice_frame *frame)
{
    static const struct {
        enum voice_kind frame;
        enum stt_event_kind event;
    } kinds[] = {
        {VOICE_READY, STT_READY},
        {VOICE_PARTIAL, STT_PARTIAL},
        {VOICE_FINAL, STT_FINAL},
        {VOICE_FLUSHED, STT_FLUSHED},
    };
    struct voice_stt *stt = arg;
    AUTO_MEM char *text = mem_strndup(frame->body, frame->len);
    if (frame->kind == VOICE_FAILED) {
        tell_lost(stt, ENGINE_BAD_REQUEST, text);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (kinds[i].frame != frame->kind)
            continue;
        char *unsure = text;
        strsep(&unsure, "\n");
        struct stt_event event = {
            .kind = kinds[i].event, .gen = frame->gen, .text = text, .unsure = unsure};
        stt->on_event(stt->arg, &event);
        return;
    }
}

static struct stt *voice_stt_open(const struct engine *engine, struct loop *loop,
                                  const struct stt_config *config, stt_event_fn *on_event,
                                  void *arg)
{
    struct vendor_loop *here = vendor_loop_of(engine->state, loop);
    struct voice_stt *stt = mem_new(struct voice_stt);
    stt->base.ops = &pocketsphinx_ops;
    stt->loop = loop;
    stt->on_event = on_event;
    stt->arg = arg;
    stt->session = (struct voice_session){.on_frame = on_frame, .on_lost = on_lost, .arg = stt};
    snprintf(stt->session.workspace, sizeof(stt->session.workspace), "%s",
             config->workspace ? config->workspace : "");
    timer_init(&stt->failure, loop, on_failure, stt);
    enum err err = here && here->voices
                       ? voice_session_open(here->voices, VOICE_HEARING, &stt->session, &stt->fault)
                       : fault_set(&stt->fault, ERR_UNSUPPORTED, "no speech on this loop");
    if (err) {
        timer_set_after(&stt->failure, 0);
        return &stt->base;
    }
    const char *vocabulary = config->vocabulary ? config->vocabulary : "";
    voice_session_send(&stt->session, VOICE_OPEN_HEARING, 0, vocabulary, strlen(vocabulary));
    return &stt->base;
}

static void voice_stt_push(struct stt *base, const int16_t *samples, size_t count)
{
    struct voice_stt *stt = (struct voice_stt *)base;
    voice_session_send(&stt->session, VOICE_PUSH, 0, samples, count * sizeof(*samples));
}

static void voice_stt_flush(struct stt *base, uint32_t gen)
{
    struct voice_stt *stt = (struct voice_stt *)base;
    voice_session_send(&stt->session, VOICE_FLUSH, gen, NULL, 0);
}

static void voice_stt_close(struct stt *base)
{
    struct voice_stt *stt = (struct voice_stt *)base;
    voice_session_close(&stt->session);
    timer_stop(&stt->failure);
    loop_defer(stt->loop, mem_free, stt);
}

const struct stt_ops pocketsphinx_ops = {voice_stt_open, voice_stt_push, voice_stt_flush,
                                         voice_stt_close};
