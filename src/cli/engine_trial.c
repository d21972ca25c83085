#include "cli/engine_trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "audio/resample.h"
#include "base/loop.h"
#include "base/mem.h"
#include "engine/registry.h"

enum {
    LIMIT_US = 10 * 1000 * 1000,
    SETTLE_US = 50 * 1000, /* a closed session says goodbye */
    TEXT_MAX_BYTES = 4096,
    SOUND_MAX_BYTES = 10 * TTS_RATE_HZ * 2,
    PIECE = STT_RATE_HZ / 50,
    TONE_SAMPLES = STT_RATE_HZ,
};

static const char sentence[] = "What are your opening hours?";

struct run {
    struct trial *trial;
    struct loop *loop;
    struct timer limit;
    int64_t from_us;
    bool is_over;
};

static void end(struct run *run)
{
    if (!run->is_over)
        run->trial->all_us = loop_now_us(run->loop) - run->from_us;
    run->is_over = true;
    loop_stop(run->loop);
}

static void fail(struct run *run, enum engine_error error, const char *message)
{
    if (run->is_over)
        return;
    run->trial->error = error;
    snprintf(run->trial->message, sizeof(run->trial->message), "%s", message ? message : "");
    end(run);
}

static void note_first(struct run *run)
{
    if (run->trial->first_us < 0)
        run->trial->first_us = loop_now_us(run->loop) - run->from_us;
}

static void on_limit(void *arg)
{
    fail(arg, ENGINE_TIMEOUT, "no answer within 10 s");
}

static void wait_for_end(struct run *run)
{
    timer_init(&run->limit, run->loop, on_limit, run);
    timer_set_after(&run->limit, LIMIT_US);
    if (!run->is_over)
        loop_run(run->loop);
    timer_stop(&run->limit);
}

/* A voice. */

static void on_tts(void *arg, const struct tts_event *event)
{
    struct run *run = arg;
    if (run->is_over)
        return;
    if (event->kind == TTS_ERROR) {
        fail(run, event->error, event->message);
        return;
    }
    if (event->kind == TTS_AUDIO) {
        note_first(run);
        (void)buf_append(&run->trial->sound, event->samples,
                         event->count * sizeof(*event->samples));
        return;
    }
    if (run->trial->sound.len == 0)
        fail(run, ENGINE_PROTOCOL, "it said nothing");
    end(run);
}

static void try_tts(const struct engine *engine, struct run *run)
{
    const struct tts_config config = {
        .language = "en", .speaker = "", .emotion = "", .model = "", .speed = 1, .volume = 1};
    struct tts *tts = engine->ops.tts->open(engine, run->loop, &config, on_tts, run);
    tts->ops->speak(tts, 1, sentence, true);
    wait_for_end(run);
    tts->ops->close(tts);
}

/* A recogniser. */

static void on_stt(void *arg, const struct stt_event *event)
{
    struct run *run = arg;
    if (run->is_over)
        return;
    if (event->kind == STT_ERROR) {
        fail(run, event->error, event->message);
        return;
    }
    if (event->kind == STT_PARTIAL || event->kind == STT_FINAL)
        note_first(run);
    if (event->kind == STT_FINAL)
        (void)buf_printf(&run->trial->text, "%s%s", run->trial->text.len ? " " : "", event->text);
    if (event->kind == STT_FLUSHED)
        end(run);
}

static size_t make_tone(int16_t *out)
{
    for (int i = 0; i < TONE_SAMPLES; i++)
        out[i] = (int16_t)(6000 * sin(i * 2 * 3.14159265 * 330 / STT_RATE_HZ));
    return TONE_SAMPLES;
}

static size_t make_sound(const struct buf *sound, int16_t **out_samples)
{
    size_t count = sound->len / sizeof(int16_t);
    if (count == 0) {
        *out_samples = mem_new_n(int16_t, TONE_SAMPLES);
        return make_tone(*out_samples);
    }
    AUTO(resampler) resampler = resampler_new(TTS_RATE_HZ, STT_RATE_HZ);
    *out_samples = mem_new_n(int16_t, resampler_out_max(resampler, count));
    return resampler_run(resampler, (const int16_t *)(const void *)sound->data, count,
                         *out_samples);
}

static void try_stt(const struct engine *engine, struct run *run, const struct buf *sound)
{
    const struct stt_config config = {.language = "en"};
    struct stt *stt = engine->ops.stt->open(engine, run->loop, &config, on_stt, run);
    int16_t *made = NULL;
    size_t count = make_sound(sound, &made);
    for (size_t at = 0; at < count; at += PIECE)
        stt->ops->push(stt, made + at, MIN((size_t)PIECE, count - at));
    stt->ops->flush(stt, 1);
    wait_for_end(run);
    stt->ops->close(stt);
    mem_free(made);
}

/* A model. */

static void on_llm(void *arg, const struct llm_event *event)
{
    struct run *run = arg;
    if (run->is_over)
        return;
    if (event->kind == LLM_ERROR) {
        fail(run, event->error, event->message);
        return;
    }
    if (event->kind == LLM_TEXT) {
        note_first(run);
        (void)buf_append_str(&run->trial->text, event->text);
    }
    if (event->kind == LLM_DONE)
        end(run);
}

static void try_llm(const struct engine *engine, struct run *run)
{
    static const struct llm_message messages[] = {
        {.role = LLM_SYSTEM, .text = "Answer with the single word OK."},
        {.role = LLM_USER, .text = "Are you there?"}};
    const struct llm_request request = {.messages = messages,
                                        .message_count = ARRAY_LEN(messages),
                                        .language = "en",
                                        .temperature = engine->info.standard_temperature,
                                        .max_tokens = 40};
    const struct llm_config config = {.model = ""};
    struct llm *llm = engine->ops.llm->open(engine, &config, run->loop, on_llm, run);
    llm->ops->start(llm, 1, &request);
    wait_for_end(run);
    llm->ops->close(llm);
}

/* Vectors. */

static void on_embed(void *arg, const struct embed_event *event)
{
    struct run *run = arg;
    if (run->is_over)
        return;
    if (event->kind == EMBED_ERROR) {
        fail(run, event->error, event->message);
        return;
    }
    (void)buf_printf(&run->trial->text, "%zu numbers", event->size);
    end(run);
}

static void try_embed(const struct engine *engine, struct run *run)
{
    const char *const texts[] = {sentence};
    const struct embed_config config = {.model = ""};
    struct embed *embed = engine->ops.embed->open(engine, &config, run->loop, on_embed, run);
    embed->ops->start(embed, 1, texts, ARRAY_LEN(texts));
    wait_for_end(run);
    embed->ops->close(embed);
}

static void stop(void *arg)
{
    loop_stop(arg);
}

void engine_try(const struct engine *engine, struct loop *loop, const struct buf *sound,
                struct trial *out)
{
    *out = (struct trial){.first_us = -1, .all_us = -1};
    buf_init(&out->text, TEXT_MAX_BYTES);
    buf_init(&out->sound, SOUND_MAX_BYTES);
    struct run run = {.trial = out, .loop = loop, .from_us = loop_now_us(loop)};
    if (engine->ops.tts)
        try_tts(engine, &run);
    else if (engine->ops.stt)
        try_stt(engine, &run, sound);
    else if (engine->ops.llm)
        try_llm(engine, &run);
    else if (engine->ops.embed)
        try_embed(engine, &run);
    timer_init(&run.limit, loop, stop, loop);
    timer_set_after(&run.limit, SETTLE_US);
    loop_run(loop);
    timer_stop(&run.limit);
}

void trial_clear(struct trial *trial)
{
    buf_clear(&trial->text);
    buf_clear(&trial->sound);
}
