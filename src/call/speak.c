#include "call/speak.h"

#include "base/attr.h"
#include "base/mem.h"
#include "call/engines.h"
#include "call/line_cache.h"
#include "call/media.h"
#include "engine/tts.h"
#include "talk/talk.h"

static struct encoded_line *cached_of(const struct speak *speak, uint32_t gen)
{
    for (size_t i = 0; gen && i < ARRAY_LEN(speak->cached); i++)
        if (speak->cached[i].gen == gen)
            return speak->cached[i].line;
    return NULL;
}

/* gen 0: all of them. */
static void forget(struct speak *speak, uint32_t gen)
{
    for (size_t i = 0; i < ARRAY_LEN(speak->cached); i++) {
        if (!speak->cached[i].gen || (gen && speak->cached[i].gen != gen))
            continue;
        encoded_line_unref(speak->cached[i].line);
        speak->cached[i].line = NULL;
        speak->cached[i].gen = 0;
    }
}

static void cache(struct speak *speak, uint32_t gen, const char *key)
{
    for (size_t i = 0; i < ARRAY_LEN(speak->cached); i++) {
        if (speak->cached[i].gen)
            continue;
        speak->cached[i].gen = gen;
        speak->cached[i].line = encoded_line_new(key, speak->workspace_id);
        return;
    }
}

/* All that the sound of a line depends on. */
static char *key_of(const struct speak *speak, const char *text)
{
    const struct tts_config *config = &speak->engines->tts_config;
    const struct engine_choice *choice = &speak->engines->choice[ENGINE_TTS];
    return mem_printf("%s|%d|%s|%s|%s|%g|%g|%d|%s", choice->info->id,
                      engine_choice_is_named(choice), config->language, config->speaker,
                      config->emotion, config->speed, config->volume, (int)speak->media->profile,
                      text);
}

static void replay(struct speak *speak, uint32_t gen, struct encoded_line *line, int64_t now_us)
{
    struct tts_event event = {
        .kind = TTS_AUDIO, .gen = gen, .count = encoded_line_frames(line) * AUDIO_OUT_SAMPLES};
    if (talk_voice(speak->talk, &event, now_us))
        media_replay(speak->media, line);
    event.kind = TTS_DONE;
    (void)!talk_voice(speak->talk, &event, now_us); /* no samples: nothing to keep */
    encoded_line_unref(line);
}

void speak_piece(struct speak *speak, const struct talk_action *action, int64_t now_us)
{
    AUTO_MEM char *key = action->is_fixed ? key_of(speak, action->text) : NULL;
    /* Not ahead of what was asked for before. */
    struct encoded_line *line = key && !speak->owed ? line_cache_find(speak->lines, key) : NULL;
    if (line) {
        replay(speak, action->gen, line, now_us);
        return;
    }
    if (key)
        cache(speak, action->gen, key);
    struct tts *tts = speak->engines->tts;
    speak->owed++;
    tts->ops->speak(tts, action->gen, action->text, action->is_last);
}

static void keep(struct speak *speak, const struct tts_event *event)
{
    struct encoded_line *line = cached_of(speak, event->gen);
    if (event->packet)
        media_relay(speak->media, event->packet, event->packet_bytes, line);
    else
        media_keep(speak->media, event->samples, event->count, line);
}

/* The conversation counts the samples that it takes (talk/speech.c), and media holds them: a piece
 * goes to both or to neither, else the transcript keeps words that nobody heard. */
void speak_heard(struct speak *speak, const struct tts_event *event, int64_t now_us)
{
    if (talk_voice(speak->talk, event, now_us)) {
        keep(speak, event);
    } else if (event->kind == TTS_DONE) {
        media_whole(speak->media);
        forget(speak, event->gen);
        speak->owed -= speak->owed > 0;
    }
}

void speak_drop(struct speak *speak)
{
    media_drop(speak->media);
    forget(speak, 0);
    speak->owed = 0;
}

void speak_clear(struct speak *speak)
{
    forget(speak, 0);
}
