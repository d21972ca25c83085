#include "vendor/speaker.h"

#include <string.h>

#include "audio/frame.h"
#include "base/mem.h"
#include "engine/registry.h"

enum { LINES_MAX = 64 };

struct line {
    struct list_node node;
    uint32_t gen;
    char *text;
};

static void tell(struct speaker *speaker, struct tts_event *event)
{
    if (!speaker->is_closed)
        speaker->on_event(speaker->arg, event);
}

/* The line. */

static void drop_line(struct speaker *speaker, struct line *line)
{
    list_remove(&line->node);
    speaker->line_count--;
    mem_free(line->text);
    mem_free(line);
}

static void say_next(void *arg)
{
    struct speaker *speaker = arg;
    if (speaker->is_saying || list_is_empty(&speaker->lines))
        return;
    struct line *line = LIST_FIRST(&speaker->lines, struct line, node);
    speaker->is_saying = true;
    speaker->gen = line->gen;
    speaker->id = speaker->id == UINT32_MAX ? 1 : speaker->id + 1;
    sound_reset(&speaker->sound);
    speaker->wire->say(speaker->session, speaker->id, line->text);
    drop_line(speaker, line);
}

static bool is_under_way(const struct speaker *speaker, uint32_t id)
{
    return speaker->is_saying && speaker->id == id && !speaker->is_closed;
}

static void drop_all(struct speaker *speaker)
{
    while (!list_is_empty(&speaker->lines))
        drop_line(speaker, LIST_FIRST(&speaker->lines, struct line, node));
    if (speaker->is_saying)
        speaker->wire->stop(speaker->session, speaker->id);
    speaker->is_saying = false;
    timer_stop(&speaker->next);
}

/* For the wire. */

static void on_samples(void *arg, const int16_t *samples, size_t count)
{
    struct speaker *speaker = arg;
    if (speaker->is_saying) /* not cancelled by an event of these very samples */
        tell(speaker,
             &(struct tts_event){
                 .kind = TTS_AUDIO, .gen = speaker->gen, .samples = samples, .count = count});
}

static void on_packet(void *arg, const uint8_t *packet, size_t bytes)
{
    struct speaker *speaker = arg;
    if (speaker->is_saying)
        tell(speaker, &(struct tts_event){.kind = TTS_AUDIO,
                                          .gen = speaker->gen,
                                          .packet = packet,
                                          .packet_bytes = bytes,
                                          .count = AUDIO_OUT_SAMPLES});
}

void speaker_rate(struct speaker *speaker, int rate_hz)
{
    sound_reset(&speaker->sound);
    speaker->sound.rate_hz = rate_hz;
}

void speaker_failed(struct speaker *speaker, uint32_t id, enum engine_error error,
                    const char *message, bool is_fatal)
{
    if (id && !is_under_way(speaker, id))
        return;
    uint32_t gen = id ? speaker->gen : 0;
    speaker->is_saying = speaker->is_saying && !id;
    tell(speaker, &(struct tts_event){.kind = TTS_ERROR,
                                      .gen = gen,
                                      .error = error,
                                      .message = message,
                                      .is_fatal = is_fatal});
    if (!speaker->is_saying && !speaker->is_closed && !list_is_empty(&speaker->lines))
        timer_set_after(&speaker->next, 0);
}

void speaker_sound(struct speaker *speaker, uint32_t id, const void *data, size_t len)
{
    if (is_under_way(speaker, id) && !sound_push(&speaker->sound, data, len)) {
        speaker->wire->stop(speaker->session, id);
        speaker_failed(speaker, id, ENGINE_PROTOCOL, "its answer is no sound that we can read",
                       false);
    }
}

void speaker_done(struct speaker *speaker, uint32_t id)
{
    if (!is_under_way(speaker, id))
        return;
    bool is_sound = sound_finish(&speaker->sound);
    if (!is_under_way(speaker, id))
        return;
    if (!is_sound) {
        speaker_failed(speaker, id, ENGINE_PROTOCOL, "its answer is no sound that we can read",
                       false);
        return;
    }
    speaker->is_saying = false;
    timer_set_after(&speaker->next, 0);
    tell(speaker, &(struct tts_event){.kind = TTS_DONE, .gen = speaker->gen});
}

/* What the agent wishes, as the engine can. */

static double clamp(double wish, struct engine_range range)
{
    if (range.min >= range.max || wish <= 0)
        return 1;
    return MIN(MAX(wish, range.min), range.max);
}

double speaker_speed(const struct speaker *speaker)
{
    return clamp(speaker->config.speed, speaker->engine->info.speed);
}

double speaker_volume(const struct speaker *speaker)
{
    return clamp(speaker->config.volume, speaker->engine->info.volume);
}

const char *speaker_voice(const struct speaker *speaker)
{
    const struct engine_info *info = &speaker->engine->info;
    for (size_t i = 0; i < info->voice_count; i++)
        if (strcmp(info->voices[i].id, speaker->config.speaker) == 0)
            return info->voices[i].id;
    if (*speaker->config.speaker) /* a voice that the operator has not listed */
        return speaker->config.speaker;
    return info->voice_count > 0 ? info->voices[0].id : "";
}

const char *speaker_model(const struct speaker *speaker)
{
    const struct engine_info *info = &speaker->engine->info;
    if (*speaker->config.model)
        return speaker->config.model;
    return info->model_count > 0 ? info->models[0] : "";
}

const char *speaker_emotion(const struct speaker *speaker)
{
    const char *all = speaker->engine->info.emotions, *wish = speaker->config.emotion;
    size_t len = strlen(wish);
    for (const char *at = all ? all : ""; *at && len;) {
        size_t word = strcspn(at, " ");
        if (word == len && strncmp(at, wish, len) == 0)
            return wish;
        at += word + strspn(at + word, " ");
    }
    return "";
}

bool speaker_wants_opus(const struct speaker *speaker)
{
    return speaker->config.volume == 1;
}

/* The session. */

static const char *copied(const char *text)
{
    return mem_strdup(text ? text : "");
}

struct tts *speaker_open(const struct engine *engine, struct loop *loop,
                         const struct tts_config *config, tts_event_fn *on_event, void *arg,
                         const struct speaker_wire *wire)
{
    struct speaker *speaker = mem_new(struct speaker);
    speaker->base.ops = engine->ops.tts;
    speaker->engine = engine;
    speaker->loop = loop;
    speaker->wire = wire;
    speaker->on_event = on_event;
    speaker->arg = arg;
    speaker->config = (struct tts_config){
        .language = copied(config->language),
        .speaker = copied(config->speaker),
        .emotion = copied(config->emotion),
        .model = copied(config->model),
        .workspace = copied(config->workspace),
        .speed = config->speed,
        .volume = config->volume,
        .takes_opus = config->takes_opus,
        .is_ahead = config->is_ahead,
    };
    list_init(&speaker->lines);
    timer_init(&speaker->next, loop, say_next, speaker);
    sound_init(&speaker->sound, wire->rate_hz, on_samples, speaker);
    if (config->takes_opus && speaker_wants_opus(speaker))
        speaker->sound.on_packet = on_packet;
    speaker->session = wire->open(speaker);
    return &speaker->base;
}

void speaker_speak(struct tts *base, uint32_t gen, const char *text, bool is_last)
{
    struct speaker *speaker = (struct speaker *)base;
    (void)is_last;
    if (speaker->line_count == LINES_MAX)
        return; /* the conversation asks for a few at a time; it will miss this one's sound */
    struct line *line = mem_new(struct line);
    line->gen = gen;
    line->text = mem_strdup(text);
    list_push_back(&speaker->lines, &line->node);
    speaker->line_count++;
    if (!speaker->is_saying)
        timer_set_after(&speaker->next, 0);
}

void speaker_cancel(struct tts *base)
{
    drop_all((struct speaker *)base);
}

static void free_session(void *arg)
{
    struct speaker *speaker = arg;
    const struct tts_config *config = &speaker->config;
    const char *texts[] = {config->language, config->speaker, config->emotion, config->model,
                           config->workspace};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        mem_free((char *)texts[i]);
    sound_clear(&speaker->sound);
    mem_free(speaker);
}

void speaker_close(struct tts *base)
{
    struct speaker *speaker = (struct speaker *)base;
    speaker->is_closed = true;
    drop_all(speaker);
    speaker->wire->close(speaker->session);
    loop_defer(speaker->loop, free_session, speaker);
}
