#include "talk/talk.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/language.h"
#include "talk/internal.h"
#include "talk/prompt.h"
#include "text/phrase.h"

enum { REQUEST_MAX_BYTES = 2 * 1024 * 1024 }; /* history, passages and tools at their greatest */

struct talk_step { /* an action that waits */
    struct list_node node;
    struct talk_action action;
    char *text, *name, *detail;
};

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

struct talk *talk_new(const struct talk_config *config)
{
    struct talk *talk = mem_new(struct talk);
    talk->config = config;
    talk->language = config->language;
    snprintf(talk->iso, sizeof(talk->iso), "%s", config->iso);
    endpoint_init(&talk->endpoint, config->endpoint_min_us, config->silence_us, talk->iso);
    speech_init(&talk->speech);
    history_init(&talk->history);
    list_init(&talk->actions);
    reply_init(&talk->reply);
    typed_init(&talk->typed);
    health_init(talk);
    talk->speak_due_us = talk->hang_up_us = INT64_MAX;
    return talk;
}

static void step_free(struct talk_step *step)
{
    if (!step)
        return;
    list_remove(&step->node);
    mem_free(step->text);
    mem_free(step->name);
    mem_free(step->detail);
    mem_free(step);
}

void talk_free(struct talk *talk)
{
    if (!talk)
        return;
    struct talk_step *step;
    LIST_EACH (step, &talk->actions, struct talk_step, node)
        step_free(step);
    step_free(talk->current);
    arena_free(talk->request);
    reply_clear(talk);
    for (size_t i = 0; i < ARRAY_LEN(talk->late); i++)
        mem_free(talk->late[i].name);
    endpoint_clear(&talk->endpoint);
    typed_clear(&talk->typed);
    speech_clear(&talk->speech);
    history_clear(&talk->history);
    mem_free(talk);
}

/* ---- actions ---- */

void talk_do(struct talk *talk, struct talk_action action)
{
    if (talk->floor == TURN_OVER)
        return;
    struct talk_step *step = mem_new(struct talk_step);
    step->action = action;
    step->action.text = step->text = mem_strdup(action.text);
    step->action.name = step->name = mem_strdup(action.name);
    step->action.detail = step->detail = mem_strdup(action.detail);
    list_push_back(&talk->actions, &step->node);
}

bool talk_action(struct talk *talk, struct talk_action *out)
{
    step_free(talk->current);
    talk->current = LIST_FIRST(&talk->actions, struct talk_step, node);
    if (!talk->current)
        return false;
    list_remove(&talk->current->node);
    *out = talk->current->action;
    if (out->what == TALK_DO_ASK) {
        arena_free(talk->request);
        talk->request = arena_new(REQUEST_MAX_BYTES);
        struct llm_request *request = arena_new_of(talk->request, struct llm_request);
        reply_request(talk, request);
        out->request = request;
    }
    return true;
}

/* ---- state ---- */

bool talk_move(struct talk *talk, enum turn_event event)
{
    return turn_move(&talk->floor, event);
}

static const char *state_of(const struct talk *talk)
{
    switch (talk->floor) {
    case TURN_THINKING:
        return "thinking";
    case TURN_SPEAKING:
        return "speaking";
    case TURN_PAUSED:
        return talk->was_thinking ? "thinking" : "listening";
    case TURN_ABSENT:
    case TURN_LISTENING:
    case TURN_CALLER:
    case TURN_OVER:
    case TURN_STATE_COUNT:
        break;
    }
    return "listening";
}

/* The room learns of the state, the media of what may be heard. */
static void show(struct talk *talk)
{
    bool is_playing = talk->floor == TURN_SPEAKING;
    if (is_playing != talk->is_playing)
        talk_do(talk, (struct talk_action){.what = is_playing ? TALK_DO_PLAY : TALK_DO_PAUSE});
    talk->is_playing = is_playing;
    const char *state = state_of(talk);
    if (!talk->is_begun || state == talk->state)
        return;
    talk->state = state;
    talk_do(talk, (struct talk_action){.what = TALK_DO_STATE, .text = state});
}

/* A caller who says nothing is asked whether they are there, where the operator wants it. True:
 * there is a line to say. */
static bool mind_silence(struct talk *talk, int64_t now_us)
{
    if (talk->floor != TURN_LISTENING || talk->is_ending || talk->config->caller_silence_us == 0) {
        talk->quiet_us = 0;
        return false;
    }
    if (talk->quiet_us == 0)
        talk->quiet_us = now_us;
    if (now_us < talk->quiet_us + talk->config->caller_silence_us)
        return false;
    talk->quiet_us = now_us;
    talk->is_ending = talk->config->caller_silence_count > 0 &&
                      talk->reminders >= talk->config->caller_silence_count;
    talk->reminders++;
    voice_say(talk, SPEECH_NOTICE,
              phrase_line(talk->is_ending ? PHRASE_GOODBYE : PHRASE_STILL_THERE, talk->iso),
              talk->config->is_interruptible);
    return true;
}

/* A caller who speaks again keeps the call (hear_answer); noise does not. */
static int64_t noise_until_us(const struct talk *talk)
{
    bool is_noise = talk->is_ending && talk->floor == TURN_CALLER && talk->endpoint.is_voiced &&
                    !*endpoint_text(&talk->endpoint);
    return is_noise ? talk->endpoint.began_us + TALK_NOISE_US : INT64_MAX;
}

static void mind_hang_up(struct talk *talk, int64_t now_us)
{
    bool is_free = talk->floor == TURN_LISTENING || now_us >= noise_until_us(talk);
    bool is_said =
        talk->is_ending && is_free && !speech_front(&talk->speech) && !reply_is_active(talk);
    if (!is_said) {
        talk->hang_up_us = INT64_MAX;
        return;
    }
    if (talk->hang_up_us == INT64_MAX)
        talk->hang_up_us = now_us + TALK_HANG_UP_US;
    if (now_us < talk->hang_up_us)
        return;
    talk->is_ending = false;
    talk_do(talk, (struct talk_action){.what = TALK_DO_HANG_UP});
}

void talk_settle(struct talk *talk, int64_t now_us)
{
    if (talk->floor == TURN_OVER)
        return;
    health_settle(talk, now_us);
    hear_settle(talk, now_us);
    reply_settle(talk, now_us);
    voice_settle(talk, now_us);
    if (typed_settle(talk, now_us) || mind_silence(talk, now_us))
        voice_settle(talk, now_us);
    mind_hang_up(talk, now_us);
    show(talk);
}

void talk_time(struct talk *talk, int64_t now_us)
{
    talk_settle(talk, now_us);
}

int64_t talk_deadline_us(const struct talk *talk)
{
    if (talk->floor == TURN_OVER)
        return INT64_MAX;
    int64_t due_us = MIN(hear_deadline_us(talk), reply_deadline_us(talk));
    due_us = MIN(due_us, voice_deadline_us(talk));
    due_us = MIN(due_us, talk->hang_up_us);
    if (talk->hang_up_us == INT64_MAX)
        due_us = MIN(due_us, noise_until_us(talk));
    if (talk->quiet_us > 0)
        due_us = MIN(due_us, talk->quiet_us + talk->config->caller_silence_us);
    return MIN(due_us, health_deadline_us(talk));
}

/* ---- comings and goings ---- */

void talk_begin(struct talk *talk, int64_t now_us)
{
    const struct talk_config *config = talk->config;
    talk->is_begun = true;
    if (config->greeting == TALK_GREETING_STATIC && *config->greeting_text)
        voice_say(talk, SPEECH_GREETING, config->greeting_text, config->is_interruptible);
    else if (config->greeting == TALK_GREETING_GENERATE)
        reply_start(talk, NULL, true, now_us);
    talk_settle(talk, now_us);
}

void talk_joined(struct talk *talk, int64_t now_us)
{
    if (!talk_move(talk, TURN_JOINED))
        return;
    if (reply_is_active(talk) && !speech_front(&talk->speech))
        talk_move(talk, TURN_WAIT);
    talk_settle(talk, now_us);
}

void talk_left(struct talk *talk, int64_t now_us)
{
    hear_last_words(talk);
    talk->endpoint.is_voiced = false;
    endpoint_reset(&talk->endpoint, true);
    talk->is_noise = talk->was_thinking = false;
    talk_move(talk, TURN_LEFT);
    talk_settle(talk, now_us);
}

enum err talk_say(struct talk *talk, const char *text, int64_t now_us)
{
    if (talk->floor == TURN_OVER)
        return ERR_CONFLICT;
    int waiting = 0;
    struct speech_line *line;
    LIST_EACH (line, &talk->speech.lines, struct speech_line, node)
        waiting += line->kind == SPEECH_SAY;
    if (waiting > TALK_SAY_MAX_WAITING)
        return ERR_LIMIT;
    if (talk->floor != TURN_ABSENT)
        voice_cut(talk, false);
    voice_say(talk, SPEECH_SAY, text, talk->config->is_interruptible);
    talk_settle(talk, now_us);
    return OK;
}

void talk_end(struct talk *talk, int64_t now_us)
{
    (void)now_us;
    voice_end(talk);
    hear_last_words(talk);
    reply_cancel(talk);
    talk_move(talk, TURN_END);
}

void talk_quality(const struct talk *talk, struct talk_quality *out)
{
    quality_report(&talk->quality, out);
}
