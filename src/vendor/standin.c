/* Engines of fixed delay and fixed words, in the process: for the load test, simulations and tests
 * of other parts. On only when the configuration says so. Recognition hears the configured text in
 * any voice, the model answers the configured text, the voice is a hum of 16 characters a second,
 * in samples or (format = opus) packets. Thread: the call's loop. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audio/codec.h"
#include "base/config.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "vendor/internal.h"

enum {
    PARTIAL_SAMPLES = STT_RATE_HZ * 3 / 10, /* of voice, before the first words are heard */
    LOUD = 300,                             /* a sample of voice, of 32,767 */
    DELTA_BYTES = 12,
    DELTA_EVERY_US = 5000,
    CHUNK_SAMPLES = TTS_RATE_HZ / 10,
    CHUNK_EVERY_US = 25000, /* four times as fast as it is played */
    CHAR_SAMPLES = TTS_RATE_HZ / 16,
    HUM_SAMPLES = TTS_RATE_HZ / 5, /* a syllable; played in a ring */
    HUM_PACKETS = HUM_SAMPLES / AUDIO_OUT_SAMPLES,
    LINES_MAX = 16,
};

struct standin { /* state of an engine */
    int64_t delay_us;
    char *text;
    int16_t hum[HUM_SAMPLES];
    bool has_packets;
    struct {
        uint8_t data[CODEC_PACKET_MAX_BYTES];
        size_t bytes;
    } packets[HUM_PACKETS];
};

static const char *const texts[ENGINE_KIND_COUNT] = {
    [ENGINE_STT] = "What are your opening hours?",
    [ENGINE_LLM] = "We are open from nine to five every day. Is there anything else?",
    [ENGINE_TTS] = "",
};

/* A voice-like sound: harmonics of 120 Hz that swell once a syllable. */
static void make_hum(int16_t hum[HUM_SAMPLES])
{
    const double two_pi = 6.283185307179586;
    for (int i = 0; i < HUM_SAMPLES; i++) {
        double t = (double)i / TTS_RATE_HZ, sum = 0;
        for (int h = 1; h <= 20; h++)
            sum += sin(two_pi * 120 * h * t) / (1 + fabs(h - 6.0) / 3);
        hum[i] = (int16_t)(2500 * (0.6 - 0.4 * cos(two_pi * t * 5)) * sum);
    }
}

/* The second time round, when the encoder knows what it comes from. */
static void make_packets(struct standin *standin)
{
    AUTO(codec_encoder) encoder = codec_encoder_new(CODEC_VOIP);
    for (size_t i = 0; i < 2 * (size_t)HUM_PACKETS; i++) {
        size_t at = i % HUM_PACKETS;
        standin->packets[at].bytes =
            codec_encode(encoder, standin->hum + at * AUDIO_OUT_SAMPLES, standin->packets[at].data);
    }
}

bool standin_configure(void *env, const struct config *config, const struct engine_info *info,
                       void **out_state)
{
    (void)env;
    struct standin *standin = mem_new(struct standin);
    const char *delay = config_engine(config, info->id, "delay_ms");
    const char *text = config_engine(config, info->id, "text");
    standin->delay_us = delay ? strtoll(delay, NULL, 10) * 1000 : 0;
    standin->text = mem_strdup(text && *text ? text : texts[info->kind]);
    make_hum(standin->hum);
    const char *format = config_engine(config, info->id, "format");
    standin->has_packets = format && strcmp(format, "opus") == 0;
    if (standin->has_packets)
        make_packets(standin);
    *out_state = standin;
    return true;
}

void standin_unconfigure(void *state)
{
    struct standin *standin = state;
    mem_free(standin->text);
    mem_free(standin);
}

/* Recognition. */

struct standin_stt {
    struct stt base;
    const struct standin *standin;
    stt_event_fn *on_event;
    void *arg;
    struct timer timer;
    size_t heard; /* samples since the last flush */
    bool is_closed, is_ready, has_partial, owes_partial, owes_flush;
    uint32_t gen;
};

static void stt_tell(struct standin_stt *stt, enum stt_event_kind kind, const char *text)
{
    struct stt_event event = {.kind = kind, .gen = stt->gen, .text = text};
    if (!stt->is_closed)
        stt->on_event(stt->arg, &event);
}

static void stt_on_timer(void *arg)
{
    struct standin_stt *stt = arg;
    if (!stt->is_ready) {
        stt->is_ready = true;
        stt_tell(stt, STT_READY, NULL);
    }
    if (stt->owes_partial) {
        stt->owes_partial = false;
        stt_tell(stt, STT_PARTIAL, stt->standin->text);
    }
    if (!stt->owes_flush || timer_is_set(&stt->timer))
        return;
    stt->owes_flush = false;
    if (stt->heard > 0)
        stt_tell(stt, STT_FINAL, stt->standin->text);
    stt->heard = 0;
    stt->has_partial = false;
    stt_tell(stt, STT_FLUSHED, NULL);
}

static struct stt *stt_open(const struct engine *engine, struct loop *loop,
                            const struct stt_config *config, stt_event_fn *on_event, void *arg)
{
    (void)config;
    struct standin_stt *stt = mem_new(struct standin_stt);
    stt->base.ops = &standin_stt_ops;
    stt->standin = engine->state;
    stt->on_event = on_event;
    stt->arg = arg;
    timer_init(&stt->timer, loop, stt_on_timer, stt);
    timer_set_after(&stt->timer, 0);
    return &stt->base;
}

static bool is_loud(const int16_t *samples, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (samples[i] > LOUD || samples[i] < -LOUD)
            return true;
    return false;
}

/* Hears nothing in silence: what is pushed between the voice's end and the turn's is no speech. */
static void stt_push(struct stt *base, const int16_t *samples, size_t count)
{
    struct standin_stt *stt = (struct standin_stt *)base;
    if (!is_loud(samples, count))
        return;
    stt->heard += count;
    if (stt->has_partial || stt->heard < PARTIAL_SAMPLES)
        return;
    stt->has_partial = stt->owes_partial = true;
    if (!stt->owes_flush)
        timer_set_after(&stt->timer, 0);
}

static void stt_flush(struct stt *base, uint32_t gen)
{
    struct standin_stt *stt = (struct standin_stt *)base;
    stt->gen = gen;
    stt->owes_flush = true;
    timer_set_after(&stt->timer, stt->standin->delay_us);
}

static void stt_close(struct stt *base)
{
    struct standin_stt *stt = (struct standin_stt *)base;
    stt->is_closed = true;
    timer_stop(&stt->timer);
    loop_defer(stt->timer.loop, mem_free, stt);
}

const struct stt_ops standin_stt_ops = {stt_open, stt_push, stt_flush, stt_close};

/* The model. */

struct standin_llm {
    struct llm base;
    const struct standin *standin;
    llm_event_fn *on_event;
    void *arg;
    struct timer timer;
    uint32_t gen;
    size_t told; /* bytes of the text */
};

static size_t delta_len(const char *text)
{
    size_t len = strlen(text) < DELTA_BYTES ? strlen(text) : DELTA_BYTES;
    while (text[len] && !utf8_is_valid(text, len))
        len++;
    return len;
}

static void llm_on_timer(void *arg)
{
    struct standin_llm *llm = arg;
    const char *rest = llm->standin->text + llm->told;
    struct llm_event event = {.kind = LLM_DONE, .gen = llm->gen};
    char delta[DELTA_BYTES + 8] = "";
    if (*rest) {
        memcpy(delta, rest, delta_len(rest));
        llm->told += strlen(delta);
        event.kind = LLM_TEXT;
        event.text = delta;
        timer_set_after(&llm->timer, DELTA_EVERY_US);
    }
    llm->on_event(llm->arg, &event);
}

static struct llm *llm_open(const struct engine *engine, const struct llm_config *config,
                            struct loop *loop, llm_event_fn *on_event, void *arg)
{
    (void)config;
    struct standin_llm *llm = mem_new(struct standin_llm);
    llm->base.ops = &standin_llm_ops;
    llm->standin = engine->state;
    llm->on_event = on_event;
    llm->arg = arg;
    timer_init(&llm->timer, loop, llm_on_timer, llm);
    return &llm->base;
}

static void llm_start(struct llm *base, uint32_t gen, const struct llm_request *request)
{
    struct standin_llm *llm = (struct standin_llm *)base;
    (void)request;
    llm->gen = gen;
    llm->told = 0;
    timer_set_after(&llm->timer, llm->standin->delay_us);
}

static void llm_cancel(struct llm *base)
{
    timer_stop(&((struct standin_llm *)base)->timer);
}

static void llm_close(struct llm *base)
{
    llm_cancel(base);
    loop_defer(((struct standin_llm *)base)->timer.loop, mem_free, base);
}

const struct llm_ops standin_llm_ops = {llm_open, llm_start, llm_cancel, llm_close};

/* The voice. */

struct standin_line {
    uint32_t gen;
    size_t left; /* samples */
};

struct standin_tts {
    struct tts base;
    const struct standin *standin;
    tts_event_fn *on_event;
    void *arg;
    struct timer timer;
    struct standin_line lines[LINES_MAX]; /* the first is spoken */
    size_t count, phase;
    bool is_closed, has_packets;
};

/* The first line is said to its end. */
static void end_line(struct standin_tts *tts)
{
    memmove(tts->lines, tts->lines + 1, --tts->count * sizeof(*tts->lines));
    if (tts->count > 0)
        timer_set_after(&tts->timer, tts->standin->delay_us);
}

/* A tenth of a second. Whoever is told may cancel. */
static void tell_packets(struct standin_tts *tts)
{
    uint32_t gen = tts->lines[0].gen;
    timer_set_after(&tts->timer, CHUNK_EVERY_US);
    for (int i = 0; i < CHUNK_SAMPLES / AUDIO_OUT_SAMPLES; i++) {
        if (tts->count == 0 || tts->lines[0].gen != gen || tts->lines[0].left == 0)
            break;
        size_t at = tts->phase / AUDIO_OUT_SAMPLES, left = tts->lines[0].left;
        tts->phase = (tts->phase + AUDIO_OUT_SAMPLES) % HUM_SAMPLES;
        tts->lines[0].left -= MIN(left, (size_t)AUDIO_OUT_SAMPLES);
        tts->on_event(tts->arg, &(struct tts_event){.kind = TTS_AUDIO,
                                                    .gen = gen,
                                                    .packet = tts->standin->packets[at].data,
                                                    .packet_bytes = tts->standin->packets[at].bytes,
                                                    .count = AUDIO_OUT_SAMPLES});
    }
    if (tts->count == 0 || tts->lines[0].gen != gen || tts->lines[0].left > 0)
        return;
    timer_stop(&tts->timer);
    end_line(tts);
    tts->on_event(tts->arg, &(struct tts_event){.kind = TTS_DONE, .gen = gen});
}

static void tts_on_timer(void *arg)
{
    struct standin_tts *tts = arg;
    if (tts->has_packets) {
        tell_packets(tts);
        return;
    }
    struct standin_line *line = &tts->lines[0];
    size_t room = HUM_SAMPLES - tts->phase;
    size_t count = line->left < CHUNK_SAMPLES ? line->left : CHUNK_SAMPLES;
    count = count < room ? count : room;
    struct tts_event event = {.kind = TTS_AUDIO,
                              .gen = line->gen,
                              .samples = tts->standin->hum + tts->phase,
                              .count = count};
    tts->phase = (tts->phase + count) % HUM_SAMPLES;
    line->left -= count;
    bool is_done = line->left == 0;
    if (is_done)
        memmove(tts->lines, tts->lines + 1, --tts->count * sizeof(*tts->lines));
    if (tts->count > 0)
        timer_set_after(&tts->timer, is_done ? tts->standin->delay_us : CHUNK_EVERY_US);
    tts->on_event(tts->arg, &event);
    if (!is_done || tts->is_closed)
        return;
    event = (struct tts_event){.kind = TTS_DONE, .gen = event.gen};
    tts->on_event(tts->arg, &event);
}

static struct tts *tts_open(const struct engine *engine, struct loop *loop,
                            const struct tts_config *config, tts_event_fn *on_event, void *arg)
{
    struct standin_tts *tts = mem_new(struct standin_tts);
    tts->base.ops = &standin_tts_ops;
    tts->standin = engine->state;
    tts->has_packets = tts->standin->has_packets && config->takes_opus && config->volume == 1;
    tts->on_event = on_event;
    tts->arg = arg;
    timer_init(&tts->timer, loop, tts_on_timer, tts);
    return &tts->base;
}

/* Over LINES_MAX the last line grows: nothing is lost but the boundary. */
static void tts_speak(struct tts *base, uint32_t gen, const char *text, bool is_last)
{
    struct standin_tts *tts = (struct standin_tts *)base;
    (void)is_last;
    size_t samples = utf8_count(text) * CHAR_SAMPLES;
    if (tts->count == LINES_MAX) {
        tts->lines[LINES_MAX - 1].left += samples;
        return;
    }
    if (tts->count == 0)
        timer_set_after(&tts->timer, tts->standin->delay_us);
    tts->lines[tts->count++] = (struct standin_line){gen, samples};
}

static void tts_cancel(struct tts *base)
{
    struct standin_tts *tts = (struct standin_tts *)base;
    tts->count = 0;
    timer_stop(&tts->timer);
}

static void tts_close(struct tts *base)
{
    struct standin_tts *tts = (struct standin_tts *)base;
    tts->is_closed = true;
    tts_cancel(base);
    loop_defer(tts->timer.loop, mem_free, tts);
}

const struct tts_ops standin_tts_ops = {tts_open, tts_speak, tts_cancel, tts_close};
