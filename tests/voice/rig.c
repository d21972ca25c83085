#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audio/resample.h"
#include "base/config.h"
#include "base/loop.h"
#include "base/mem.h"

enum { WAIT_US = 60 * 1000 * 1000, MOST_SAMPLES = 48000 * 120 };

void speech_rig_open_with(struct speech_rig *rig, const char *program)
{
    static char *none[] = {NULL};
    AUTO(config) config = NULL;
    struct fault fault = {0};
    rig->loop = loop_new("rig");
    rig->vendor = vendor_new(&(struct vendor_config){.voice_path = program, .voice_workers = 1});
    vendor_add_loop(rig->vendor, rig->loop, NULL, NULL);
    enum err err = config_load(NULL, none, &config, &fault);
    if (!err)
        err = registry_new(config, vendor_adapters, vendor_adapter_count, rig->vendor,
                           &rig->registry, &fault);
    if (!err)
        return;
    fprintf(stderr, "rig: %s\n", fault.text);
    abort();
}

void speech_rig_close(struct speech_rig *rig)
{
    registry_free(rig->registry);
    vendor_free(rig->vendor);
    loop_free(rig->loop);
}

static void stop(void *arg)
{
    loop_stop(arg);
}

/* Until something stops the loop. */
static void wait_for(struct speech_rig *rig, int64_t most_us)
{
    struct timer timer;
    timer_init(&timer, rig->loop, stop, rig->loop);
    timer_set_after(&timer, most_us);
    loop_run(rig->loop);
    timer_stop(&timer);
}

struct speaker {
    struct speech_rig *rig;
    struct spoken *out;
    int64_t asked_us;
};

static void on_tts(void *arg, const struct tts_event *event)
{
    struct speaker *speaker = arg;
    struct spoken *out = speaker->out;
    int64_t after_us = loop_now_us(speaker->rig->loop) - speaker->asked_us;
    if (event->kind == TTS_AUDIO) {
        size_t count =
            event->count < MOST_SAMPLES - out->count ? event->count : MOST_SAMPLES - out->count;
        memcpy(out->samples + out->count, event->samples, count * sizeof(*event->samples));
        out->count += count;
        out->first_us = out->first_us < 0 ? after_us : out->first_us;
        return;
    }
    out->done_us = after_us;
    out->error = event->error;
    loop_stop(speaker->rig->loop);
}

void speech_rig_speak(struct speech_rig *rig, const char *engine, const struct tts_config *config,
                      const char *text, struct spoken *out)
{
    struct speaker speaker = {rig, out, loop_now_us(rig->loop)};
    const struct engine *found = registry_find(rig->registry, ENGINE_TTS, engine);
    *out = (struct spoken){mem_new_n(int16_t, MOST_SAMPLES), 0, -1, -1, ENGINE_OK};
    struct tts *tts = found->ops.tts->open(found, rig->loop, config, on_tts, &speaker);
    tts->ops->speak(tts, 1, text, true);
    wait_for(rig, WAIT_US);
    tts->ops->close(tts);
}

static struct listener {
    struct speech_rig *rig;
    struct heard *out;
    int64_t asked_us;
} listener;

static void on_stt(void *arg, const struct stt_event *event)
{
    struct listener *to = arg;
    struct heard *out = to->out;
    out->partials += event->kind == STT_PARTIAL;
    size_t len = strlen(out->text);
    if (event->kind == STT_FINAL)
        snprintf(out->text + len, sizeof(out->text) - len, "%s%s", len ? " " : "", event->text);
    if (event->kind == STT_FINAL && event->unsure)
        snprintf(out->unsure, sizeof(out->unsure), "%s", event->unsure);
    if (event->kind == STT_FLUSHED)
        out->flushed_us = loop_now_us(to->rig->loop) - to->asked_us;
    if (event->kind == STT_ERROR)
        out->error = event->error;
    if (event->kind == STT_FLUSHED || event->kind == STT_ERROR || event->kind == STT_READY)
        loop_stop(to->rig->loop);
}

struct stt *speech_rig_listen(struct speech_rig *rig, const char *vocabulary, struct heard *out)
{
    const struct engine *found = registry_find(rig->registry, ENGINE_STT, "pocketsphinx");
    struct stt_config config = {.language = "en", .vocabulary = vocabulary};
    listener = (struct listener){rig, out, 0};
    *out = (struct heard){.flushed_us = -1};
    struct stt *stt = found->ops.stt->open(found, rig->loop, &config, on_stt, &listener);
    wait_for(rig, WAIT_US);
    return stt;
}

void speech_rig_hear_16k(struct speech_rig *rig, struct stt *stt, const int16_t *samples,
                         size_t count, struct heard *out)
{
    enum { FRAME = STT_RATE_HZ / 50 };
    *out = (struct heard){.flushed_us = -1};
    for (size_t at = 0; at + FRAME <= count; at += FRAME)
        stt->ops->push(stt, samples + at, FRAME);
    listener.out = out;
    listener.asked_us = loop_now_us(rig->loop);
    stt->ops->flush(stt, 1);
    wait_for(rig, WAIT_US);
}

void speech_rig_hear(struct speech_rig *rig, struct stt *stt, const int16_t *samples_48k,
                     size_t count, struct heard *out)
{
    AUTO(resampler) down = resampler_new(48000, STT_RATE_HZ);
    AUTO_MEM int16_t *samples = mem_new_n(int16_t, resampler_out_max(down, count));
    size_t got = resampler_run(down, samples_48k, count, samples);
    speech_rig_hear_16k(rig, stt, samples, got, out);
}
