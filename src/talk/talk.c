#include "talk/talk.h"

#include <stdio.h>

#include "base/mem.h"
#include "talk/internal.h"
#include "text/phrase.h"

enum { HANG_UP_US = 300 * 1000 /* after the last sample, for the way to the caller's ear */ };

const char *talk_stage_name(enum talk_stage stage)
{
    static const char *const names[] = {
        [TALK_STAGE_STT] = "stt",       [TALK_STAGE_LLM] = "llm",
        [TALK_STAGE_TTS] = "tts",       [TALK_STAGE_GREETING] = "greeting",
        [TALK_STAGE_SPEECH] = "speech",
    };
    return names[stage];
}

const char *talk_state_name(const struct talk *talk)
{
    return turn_state_name(talk->floor);
}

static void join_parts(struct talk *talk)
{
    actions_init(&talk->actions);
    health_init(&talk->health, &talk->actions);
    mind_init(&talk->mind, talk->config, talk->iso);
    talk->voice = (struct voice){.config = talk->config,
                                 .iso = talk->iso,
                                 .actions = &talk->actions,
                                 .health = &talk->health,
                                 .history = &talk->mind.history,
                                 .quality = &talk->quality,
                                 .timing = &talk->timing};
    voice_init(&talk->voice);
    talk->hear = (struct hear){.actions = &talk->actions,
                               .health = &talk->health,
                               .history = &talk->mind.history,
                               .last_segment = &talk->voice.speech.last_id};
    hear_init(&talk->hear, talk->config, talk->iso);
}

struct talk *talk_new(const struct talk_config *config)
{
    struct talk *talk = mem_new(struct talk);
    talk->config = config;
    snprintf(talk->iso, sizeof(talk->iso), "%s", config->iso);
    join_parts(talk);
    talk->hang_up_us = talk->thinking_us = talk->again_us = INT64_MAX;
    return talk;
}

void talk_free(struct talk *talk)
{
    if (!talk)
        return;
    actions_clear(&talk->actions);
    hear_clear(&talk->hear);
    voice_clear(&talk->voice);
    mind_clear(&talk->mind);
    mem_free(talk);
}

void talk_set_window(struct talk *talk, int64_t tokens)
{
    talk->mind.window_tokens = (size_t)tokens;
}

void talk_do(struct talk *talk, struct talk_action action)
{
    actions_add(&talk->actions, action);
}

bool talk_action(struct talk *talk, struct talk_action *out)
{
    if (!actions_next(&talk->actions, out))
        return false;
    if (out->what == TALK_DO_ASK)
        out->request = mind_request(&talk->mind);
    return true;
}

/* What is due. */

/* A caller who says nothing is asked whether they are there, where the operator wants it. True:
 * there is a line to say. */
static bool watch_silence(struct talk *talk, int64_t now_us)
{
    if (talk->floor != TURN_LISTENING || talk->is_ending || talk->config->caller_silence_us == 0) {
        talk->silence.since_us = 0;
        return false;
    }
    if (talk->silence.since_us == 0)
        talk->silence.since_us = now_us;
    if (now_us < talk->silence.since_us + talk->config->caller_silence_us)
        return false;
    talk->silence.since_us = now_us;
    talk->is_ending = talk->config->caller_silence_count > 0 &&
                      talk->silence.reminders >= talk->config->caller_silence_count;
    talk->silence.reminders++;
    voice_say(&talk->voice, SPEECH_NOTICE,
              phrase_line(talk->is_ending ? PHRASE_GOODBYE : PHRASE_STILL_THERE, talk->iso), false);
    return true;
}

/* A caller who speaks again keeps the call (listen_answer); noise does not, nor does it keep back
 * the goodbye that was still to be said. */
static int64_t noise_until_us(const struct talk *talk)
{
    bool is_noise = talk->is_ending && talk->floor == TURN_CALLER &&
                    talk->hear.endpoint.is_voiced && !*endpoint_text(&talk->hear.endpoint);
    return is_noise ? talk->hear.endpoint.began_us + TALK_NOISE_US : INT64_MAX;
}

static void pass_noise(struct talk *talk, int64_t now_us)
{
    if (now_us < noise_until_us(talk))
        return;
    talk->hear.is_noise = true;
    floor_move(talk, TURN_VOID);
}

static void watch_hang_up(struct talk *talk, int64_t now_us)
{
    bool is_said = talk->is_ending && talk->floor == TURN_LISTENING &&
                   !speech_front(&talk->voice.speech) && !mind_is_replying(&talk->mind);
    if (!is_said) {
        talk->hang_up_us = INT64_MAX;
        return;
    }
    if (talk->hang_up_us == INT64_MAX)
        talk->hang_up_us = now_us + HANG_UP_US;
    if (now_us < talk->hang_up_us)
        return;
    talk->is_ending = false;
    talk_do(talk, (struct talk_action){.what = TALK_DO_HANG_UP});
}

void talk_settle(struct talk *talk, int64_t now_us)
{
    if (talk->floor == TURN_OVER)
        return;
    health_settle(&talk->health, now_us);
    listen_settle(talk, now_us);
    answer_settle(talk, now_us);
    pass_noise(talk, now_us);
    floor_settle(talk, now_us);
    if (typed_settle(talk, now_us) || watch_silence(talk, now_us))
        floor_settle(talk, now_us);
    watch_hang_up(talk, now_us);
    floor_show(talk);
}

void talk_time(struct talk *talk, int64_t now_us)
{
    talk_settle(talk, now_us);
}

int64_t talk_deadline_us(const struct talk *talk)
{
    if (talk->floor == TURN_OVER)
        return INT64_MAX;
    int64_t due_us =
        MIN(listen_deadline_us(talk), reply_deadline_us(&talk->mind.reply, floor_quiet_us(talk)));
    due_us = MIN(due_us, voice_deadline_us(&talk->voice));
    due_us = MIN(due_us, talk->hang_up_us);
    due_us = MIN(due_us, noise_until_us(talk));
    if (talk->silence.since_us > 0)
        due_us = MIN(due_us, talk->silence.since_us + talk->config->caller_silence_us);
    return MIN(due_us, health_deadline_us(&talk->health));
}

/* Comings and goings. */

void talk_begin(struct talk *talk, int64_t now_us)
{
    const struct talk_config *config = talk->config;
    talk->is_begun = talk->voice.may_ask = true;
    if (config->greeting == TALK_GREETING_STATIC && *config->greeting_text)
        voice_say(&talk->voice, SPEECH_GREETING, config->greeting_text, false);
    else if (config->greeting == TALK_GREETING_GENERATE)
        answer_start(talk, NULL, true, now_us);
    talk_settle(talk, now_us);
}

void talk_joined(struct talk *talk, int64_t now_us)
{
    if (!floor_move(talk, TURN_JOINED))
        return;
    if (!speech_front(&talk->voice.speech)) /* where nothing comes, this settles it */
        floor_move(talk, TURN_WAIT);
    talk_settle(talk, now_us);
}

void talk_left(struct talk *talk, int64_t now_us)
{
    if (talk->hear.endpoint.is_voiced) /* in mid-voice: the recogniser is to begin anew as well */
        hear_voice_stopped(&talk->hear, now_us);
    hear_last_words(&talk->hear);
    hear_next(&talk->hear, true);
    talk->hear.is_noise = talk->hear.was_thinking = false;
    floor_move(talk, TURN_LEFT);
    talk_settle(talk, now_us);
}

enum err talk_say(struct talk *talk, const char *text, int64_t now_us)
{
    if (talk->floor == TURN_OVER)
        return ERR_CONFLICT;
    int waiting = 0;
    struct speech_line *line;
    LIST_EACH (line, &talk->voice.speech.lines, struct speech_line, node)
        waiting += line->kind == SPEECH_SAY;
    if (waiting > TALK_SAY_MAX_WAITING)
        return ERR_LIMIT;
    bool is_here = talk->floor != TURN_ABSENT;
    if (is_here && voice_cut(&talk->voice, false))
        answer_cancel(talk, now_us);
    /* It goes first, but does not cut another. */
    const struct speech_line *front = speech_front(&talk->voice.speech);
    bool is_urgent = is_here && !(front && front->kind == SPEECH_SAY);
    voice_say(&talk->voice, SPEECH_SAY, text, is_urgent);
    talk_settle(talk, now_us);
    return OK;
}

void talk_end(struct talk *talk, int64_t now_us)
{
    voice_end(&talk->voice);
    hear_last_words(&talk->hear);
    answer_cancel(talk, now_us);
    floor_move(talk, TURN_END);
    talk->actions.is_over = true;
}

void talk_engine_opened(struct talk *talk, enum talk_engine engine, bool has_more, int64_t now_us)
{
    health_opened(&talk->health, engine, has_more);
    if (!talk->is_begun)
        return;
    if (engine == TALK_LLM)
        answer_reopened(talk, now_us);
    if (engine == TALK_TTS)
        voice_reopened(&talk->voice);
    talk_settle(talk, now_us);
}

void talk_quality(const struct talk *talk, struct talk_quality *out)
{
    quality_report(&talk->quality, out);
}
