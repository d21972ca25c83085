#include "engines.h"

#include <stdio.h>
#include <string.h>

#include "../unit/audio/signal.h"
#include "audio/codec.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/mem.h"
#include "sweep.h"

enum {
    SPEECH_RMS = 300,
    PARTIAL_SAMPLES = STT_RATE_HZ * 6 / 10, /* what came before the voice counts */
    TONE_HZ = 440,
    TONE_AMPLITUDE = 9000,
    CHUNK = TTS_RATE_HZ / 10,
    CHUNK_US = 10000, /* ten times as fast as it is heard */
};

struct sim_engines sim_engines;

/* Recognition. */

struct sim_stt {
    struct stt stt;
    bool is_first;
    struct loop *loop;
    stt_event_fn *on_event;
    void *arg;
    struct timer answer, partial, told, broken;
    size_t loud_samples;
    bool has_told_partial, has_told;
    uint32_t gen;
};

static void tell_stt(struct sim_stt *stt, enum stt_event_kind kind, const char *text)
{
    struct stt_event event = {.kind = kind, .text = text, .gen = stt->gen};
    event.is_fatal = kind == STT_ERROR;
    event.error = kind == STT_ERROR ? ENGINE_TRANSIENT : ENGINE_OK;
    event.message = "scripted failure";
    stt->on_event(stt->arg, &event);
}

static const char *utterance(void)
{
    const char *text = sim_engines.utterances[sim_engines.next_utterance % SIM_UTTERANCES];
    return text && *text ? text : NULL;
}

static void stt_answers(void *arg)
{
    struct sim_stt *stt = arg;
    if ((stt->is_first && sim_engines.stt_failures > 0) || sweep_fails("stt")) {
        sim_engines.stt_failures -= sim_engines.stt_failures > 0;
        tell_stt(stt, STT_ERROR, NULL);
        return;
    }
    const char *text = stt->loud_samples > STT_RATE_HZ / 20 ? utterance() : NULL;
    if (stt->loud_samples > STT_RATE_HZ / 20)
        sim_engines.next_utterance++;
    stt->loud_samples = 0;
    stt->has_told_partial = false;
    if (text)
        tell_stt(stt, STT_FINAL, text);
    if (text && sim_engines.tells_end)
        tell_stt(stt, STT_ENDPOINT, NULL);
    tell_stt(stt, STT_FLUSHED, NULL);
}

static void stt_guesses(void *arg)
{
    if (utterance())
        tell_stt(arg, STT_PARTIAL, utterance());
}

static void stt_breaks(void *arg)
{
    tell_stt(arg, STT_ERROR, NULL);
}

static void stt_tells(void *arg)
{
    tell_stt(arg, STT_FINAL, utterance());
    sim_engines.next_utterance++;
}

static void stt_push(struct stt *base, const int16_t *samples, size_t count)
{
    struct sim_stt *stt = (struct sim_stt *)base;
    sim_engines.stt_samples += count;
    if (signal_rms(samples, count) > SPEECH_RMS)
        stt->loud_samples += count;
    if (stt->is_first && sim_engines.stt_tells_at && !stt->has_told &&
        stt->loud_samples >= sim_engines.stt_tells_at) {
        stt->has_told = true;
        timer_set_after(&stt->told, 0);
    }
    size_t breaks_at = MAX(sim_engines.stt_breaks_at, (size_t)PARTIAL_SAMPLES);
    if (stt->is_first && sim_engines.stt_breaks > 0 && stt->loud_samples >= breaks_at) {
        sim_engines.stt_breaks--;
        timer_set_after(&stt->broken, 0);
    }
    if (sim_engines.has_partials && !stt->has_told_partial &&
        stt->loud_samples >= PARTIAL_SAMPLES) {
        stt->has_told_partial = true;
        timer_set_after(&stt->partial, 0);
    }
}

static void stt_flush(struct stt *base, uint32_t gen)
{
    struct sim_stt *stt = (struct sim_stt *)base;
    stt->gen = gen;
    if (!stt->is_first || !sim_engines.is_stt_mute)
        timer_set_after(&stt->answer, sim_engines.stt_us);
}

static void stt_close(struct stt *base)
{
    struct sim_stt *stt = (struct sim_stt *)base;
    timer_stop(&stt->answer);
    timer_stop(&stt->partial);
    timer_stop(&stt->told);
    timer_stop(&stt->broken);
    loop_defer(stt->loop, mem_free, stt);
}

static struct stt *stt_open(const struct engine *engine, struct loop *loop,
                            const struct stt_config *config, stt_event_fn *on_event, void *arg);
static const struct stt_ops stt_ops = {stt_open, stt_push, stt_flush, stt_close};

static struct stt *stt_open(const struct engine *engine, struct loop *loop,
                            const struct stt_config *config, stt_event_fn *on_event, void *arg)
{
    snprintf(sim_engines.stt_language, sizeof(sim_engines.stt_language), "%s", config->language);
    sim_engines.stt_hints[0] = 0;
    for (size_t i = 0, len = 0; i < config->hint_count; i++)
        len += (size_t)snprintf(sim_engines.stt_hints + len, sizeof(sim_engines.stt_hints) - len,
                                "%s%s", i ? " " : "", config->hints[i]);
    struct sim_stt *stt = mem_new(struct sim_stt);
    stt->stt.ops = &stt_ops;
    stt->is_first = strcmp(engine->info.id, "first-stt") == 0;
    stt->loop = loop;
    stt->on_event = on_event;
    stt->arg = arg;
    timer_init(&stt->answer, loop, stt_answers, stt);
    timer_init(&stt->partial, loop, stt_guesses, stt);
    timer_init(&stt->told, loop, stt_tells, stt);
    timer_init(&stt->broken, loop, stt_breaks, stt);
    sim_engines.stt_opens++;
    return &stt->stt;
}

/* The model: one word each 5 ms. */

struct sim_llm {
    struct llm llm;
    bool is_first;
    struct loop *loop;
    llm_event_fn *on_event;
    void *arg;
    struct timer timer;
    uint32_t gen;
    char text[2000];
    size_t at;
};

static void tell_llm(struct sim_llm *llm, struct llm_event event)
{
    event.gen = llm->gen;
    llm->on_event(llm->arg, &event);
}

static void llm_answers(void *arg)
{
    struct sim_llm *llm = arg;
    if ((llm->is_first && sim_engines.llm_failures > 0) || (llm->at == 0 && sweep_fails("llm"))) {
        sim_engines.llm_failures -= sim_engines.llm_failures > 0;
        tell_llm(llm, (struct llm_event){
                          .kind = LLM_ERROR, .error = ENGINE_TRANSIENT, .message = "scripted"});
        return;
    }
    if (sim_engines.tool) {
        struct llm_tool_call call = {
            .id = "t1", .name = sim_engines.tool, .arguments = sim_engines.tool_arguments};
        if (sim_engines.tool_repeats == 0)
            sim_engines.tool = NULL;
        sim_engines.tool_repeats -= sim_engines.tool_repeats > 0;
        llm->text[llm->at] = 0;
        tell_llm(llm, (struct llm_event){.kind = LLM_TOOL_CALL, .call = call});
    }
    if (sim_engines.llm_breaks_at && llm->at >= sim_engines.llm_breaks_at) {
        tell_llm(llm, (struct llm_event){
                          .kind = LLM_ERROR, .error = ENGINE_TRANSIENT, .message = "broken"});
        return;
    }
    if (sim_engines.llm_stalls_at && llm->at >= sim_engines.llm_stalls_at)
        return;
    if (!llm->text[llm->at]) {
        tell_llm(llm, (struct llm_event){.kind = LLM_DONE});
        return;
    }
    size_t len = strcspn(llm->text + llm->at + 1, " ") + 1;
    char word[200];
    snprintf(word, sizeof(word), "%.*s", (int)len, llm->text + llm->at);
    llm->at += len;
    timer_set_after(&llm->timer, 5000);
    tell_llm(llm, (struct llm_event){.kind = LLM_TEXT, .text = word});
}

static void note_request(const struct llm_request *request)
{
    static const char roles[] = "SUAT";
    char *out = sim_engines.last_request;
    size_t cap = sizeof(sim_engines.last_request), len = 0;
    out[0] = 0;
    for (size_t i = 0; i < request->message_count && len < cap; i++)
        len += (size_t)snprintf(out + len, cap - len, "%c:%s\n", roles[request->messages[i].role],
                                request->messages[i].text ? request->messages[i].text : "");
}

static void llm_start(struct llm *base, uint32_t gen, const struct llm_request *request)
{
    struct sim_llm *llm = (struct sim_llm *)base;
    sim_engines.llm_starts++;
    note_request(request);
    llm->gen = gen;
    llm->at = 0;
    snprintf(llm->text, sizeof(llm->text), "%s",
             sim_engines.reply ? sim_engines.reply(request) : "This is the answer.");
    if (!llm->is_first || !sim_engines.is_llm_mute)
        timer_set_after(&llm->timer, sim_engines.llm_us);
}

static void llm_cancel(struct llm *base)
{
    sim_engines.llm_cancels++;
    timer_stop(&((struct sim_llm *)base)->timer);
}

static void llm_close(struct llm *base)
{
    struct sim_llm *llm = (struct sim_llm *)base;
    timer_stop(&llm->timer);
    loop_defer(llm->loop, mem_free, llm);
}

static struct llm *llm_open(const struct engine *engine, const struct llm_config *config,
                            struct loop *loop, llm_event_fn *on_event, void *arg);
static const struct llm_ops llm_ops = {llm_open, llm_start, llm_cancel, llm_close};

static struct llm *llm_open(const struct engine *engine, const struct llm_config *config,
                            struct loop *loop, llm_event_fn *on_event, void *arg)
{
    (void)config;
    struct sim_llm *llm = mem_new(struct sim_llm);
    llm->llm.ops = &llm_ops;
    llm->is_first = strcmp(engine->info.id, "first-llm") == 0;
    llm->loop = loop;
    llm->on_event = on_event;
    llm->arg = arg;
    timer_init(&llm->timer, loop, llm_answers, llm);
    return &llm->llm;
}

/* The voice: a tone, in order. */

uint32_t sim_sum(const uint8_t *bytes, size_t len)
{
    uint32_t sum = 2166136261U; /* FNV-1a */
    for (size_t i = 0; i < len; i++)
        sum = (sum ^ bytes[i]) * 16777619U;
    return sum;
}

size_t sim_samples(size_t chars, bool is_packets)
{
    size_t samples = chars * SIM_CHAR_SAMPLES, frame = AUDIO_OUT_SAMPLES;
    return is_packets ? (samples + frame - 1) / frame * frame : samples;
}

struct spoken {
    struct list_node node;
    uint32_t gen;
    size_t samples, made;
};

struct sim_tts {
    struct tts tts;
    bool is_first;
    struct loop *loop;
    tts_event_fn *on_event;
    void *arg;
    struct timer timer;
    struct list_node queue;
    struct codec_encoder *encoder; /* where it delivers packets */
    size_t made;                   /* of those */
};

static void drop_queue(struct sim_tts *tts)
{
    struct spoken *spoken;
    LIST_EACH (spoken, &tts->queue, struct spoken, node) {
        list_remove(&spoken->node);
        mem_free(spoken);
    }
}

static bool has_packets(const struct sim_tts *tts)
{
    return sim_engines.has_packets && (tts->is_first || sim_engines.has_packets_both);
}

/* The pitch rises and falls, so that no packet is like another. */
static void tell_packets(struct sim_tts *tts, uint32_t gen, size_t count)
{
    if (!tts->encoder)
        tts->encoder = codec_encoder_new(CODEC_CELT);
    for (size_t i = 0; i < count; i++) {
        int16_t tone[AUDIO_OUT_SAMPLES];
        uint8_t packet[CODEC_PACKET_MAX_BYTES];
        signal_tone(tone, AUDIO_OUT_SAMPLES, TTS_RATE_HZ, TONE_HZ + (double)(tts->made++ % 977),
                    TONE_AMPLITUDE);
        size_t len = codec_encode(tts->encoder, tone, packet);
        uint32_t sum = sim_sum(packet, len);
        if (sim_engines.packets)
            (void)buf_append(sim_engines.packets, &sum, sizeof(sum));
        tts->on_event(tts->arg, &(struct tts_event){.kind = TTS_AUDIO,
                                                    .gen = gen,
                                                    .packet = packet,
                                                    .packet_bytes = len,
                                                    .count = AUDIO_OUT_SAMPLES});
    }
}

static void tell_tone(struct sim_tts *tts, uint32_t gen, size_t count)
{
    int16_t tone[CHUNK];
    if (has_packets(tts)) {
        tell_packets(tts, gen, count / AUDIO_OUT_SAMPLES);
        return;
    }
    signal_tone(tone, CHUNK, TTS_RATE_HZ, TONE_HZ, TONE_AMPLITUDE);
    tts->on_event(tts->arg, &(struct tts_event){
                                .kind = TTS_AUDIO, .gen = gen, .samples = tone, .count = count});
}

static void tts_answers(void *arg)
{
    struct sim_tts *tts = arg;
    struct spoken *spoken = LIST_FIRST(&tts->queue, struct spoken, node);
    struct tts_event event = {.kind = TTS_AUDIO, .gen = spoken->gen};
    bool breaks =
        tts->is_first && sim_engines.tts_breaks_at && spoken->made >= sim_engines.tts_breaks_at;
    if ((tts->is_first && sim_engines.tts_failures > 0) || breaks || sweep_fails("tts")) {
        sim_engines.tts_failures -= sim_engines.tts_failures > 0;
        sim_engines.tts_breaks_at = breaks ? 0 : sim_engines.tts_breaks_at;
        event.kind = TTS_ERROR;
        event.error = ENGINE_TRANSIENT;
        event.is_fatal = true;
        drop_queue(tts);
        tts->on_event(tts->arg, &event);
        return;
    }
    size_t count = MIN(spoken->samples, (size_t)CHUNK);
    spoken->samples -= count;
    spoken->made += count;
    bool is_done = spoken->samples == 0;
    if (is_done) {
        list_remove(&spoken->node);
        mem_free(spoken);
    }
    if (!list_is_empty(&tts->queue))
        timer_set_after(&tts->timer, CHUNK_US);
    tell_tone(tts, event.gen, count);
    event = (struct tts_event){.kind = TTS_DONE, .gen = event.gen};
    if (is_done)
        tts->on_event(tts->arg, &event);
}

static void tts_speak(struct tts *base, uint32_t gen, const char *text, bool is_last)
{
    (void)is_last;
    struct sim_tts *tts = (struct sim_tts *)base;
    struct spoken *spoken = mem_new(struct spoken);
    spoken->gen = gen;
    spoken->samples = sim_samples(strlen(text), has_packets(tts));
    list_push_back(&tts->queue, &spoken->node);
    sim_engines.tts_speaks++;
    size_t len = strlen(sim_engines.said);
    snprintf(sim_engines.said + len, sizeof(sim_engines.said) - len, "%s\n", text);
    if (!timer_is_set(&tts->timer) && !(tts->is_first && sim_engines.is_tts_mute))
        timer_set_after(&tts->timer, sim_engines.tts_us);
}

static void tts_cancel(struct tts *base)
{
    struct sim_tts *tts = (struct sim_tts *)base;
    timer_stop(&tts->timer);
    drop_queue(tts);
}

static void tts_free(void *arg)
{
    struct sim_tts *tts = arg;
    codec_encoder_free(tts->encoder);
    mem_free(tts);
}

static void tts_close(struct tts *base)
{
    struct sim_tts *tts = (struct sim_tts *)base;
    tts_cancel(base);
    loop_defer(tts->loop, tts_free, tts);
}

static struct tts *tts_open(const struct engine *engine, struct loop *loop,
                            const struct tts_config *config, tts_event_fn *on_event, void *arg);
static const struct tts_ops tts_ops = {tts_open, tts_speak, tts_cancel, tts_close};

static struct tts *tts_open(const struct engine *engine, struct loop *loop,
                            const struct tts_config *config, tts_event_fn *on_event, void *arg)
{
    snprintf(sim_engines.tts_language, sizeof(sim_engines.tts_language), "%s", config->language);
    struct sim_tts *tts = mem_new(struct sim_tts);
    tts->tts.ops = &tts_ops;
    tts->is_first = strcmp(engine->info.id, "first-tts") == 0;
    tts->loop = loop;
    tts->on_event = on_event;
    tts->arg = arg;
    list_init(&tts->queue);
    timer_init(&tts->timer, loop, tts_answers, tts);
    return &tts->tts;
}

/* The table. */

#define INFO(kind_, id_) .kind = (kind_), .id = (id_), .label = (id_), .languages = "*"
const struct engine_adapter sim_adapters[] = {
    {.info = {INFO(ENGINE_STT, "first-stt")}, .ops.stt = &stt_ops},
    {.info = {INFO(ENGINE_STT, "second-stt"), .is_embedded = true}, .ops.stt = &stt_ops},
    {.info = {INFO(ENGINE_LLM, "first-llm")}, .ops.llm = &llm_ops},
    {.info = {INFO(ENGINE_LLM, "second-llm")}, .ops.llm = &llm_ops},
    {.info = {INFO(ENGINE_TTS, "first-tts")}, .ops.tts = &tts_ops},
    {.info = {INFO(ENGINE_TTS, "second-tts")}, .ops.tts = &tts_ops},
};
const size_t sim_adapter_count = ARRAY_LEN(sim_adapters);
