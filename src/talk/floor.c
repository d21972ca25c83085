/* Who has the floor, as far as the agent's voice decides it (turn.h has the states), and what the
 * room and the player are told of it. */
#include "talk/internal.h"

bool floor_move(struct talk *talk, enum turn_event event)
{
    return turn_move(&talk->floor, event);
}

/* Words that wait for a voice that is away are on their way, too: more of them help nobody. */
int64_t floor_quiet_us(const struct talk *talk)
{
    const struct speech_line *front = speech_front(&talk->voice.speech);
    bool is_coming = front && (speech_current(front) || speech_is_waiting(&talk->voice.speech));
    return is_coming ? INT64_MAX : talk->thinking_us;
}

/* All lines have ended: more is made, or nothing is left to say. */
static void fall_silent(struct talk *talk)
{
    floor_move(talk, mind_is_replying(&talk->mind) ? TURN_WAIT : TURN_DONE);
}

void floor_resume(struct talk *talk)
{
    struct hear *hear = &talk->hear;
    if (talk->floor != TURN_PAUSED)
        return;
    talk->quality.false_interruptions += !hear->was_thinking;
    floor_move(talk, hear->was_thinking ? TURN_RETHINK : TURN_RESUME);
    if (talk->floor == TURN_SPEAKING && !speech_front(&talk->voice.speech))
        fall_silent(talk);
    hear->was_thinking = false;
}

/* The voice cannot say what it was given: the conversation goes on without it. */
static void give_up_voice(struct talk *talk, int64_t now_us)
{
    answer_cancel(talk, now_us);
    floor_move(talk, TURN_DONE);
}

static void note_thinking(struct talk *talk, int64_t now_us)
{
    if (talk->floor != TURN_THINKING)
        talk->thinking_us = INT64_MAX;
    else if (talk->thinking_us == INT64_MAX)
        talk->thinking_us = now_us;
}

void floor_settle(struct talk *talk, int64_t now_us)
{
    note_thinking(talk, now_us);
    talk->voice.quiet_us = MIN(talk->thinking_us, talk->again_us);
    if (voice_settle(&talk->voice, now_us))
        give_up_voice(talk, now_us);
    const struct speech_line *line = speech_front(&talk->voice.speech);
    if (talk->floor == TURN_SPEAKING && !line)
        fall_silent(talk);
    else if (talk->floor == TURN_SPEAKING && list_is_empty(&line->pieces))
        floor_move(talk, TURN_WAIT);
    if (line && speech_ready_samples(&talk->voice.speech) > 0) {
        floor_move(talk, TURN_SPEAK);
        talk->again_us = INT64_MAX;
        if (!line->is_interruptible)
            floor_move(talk, TURN_INSIST);
    } else if (!line && !mind_is_replying(&talk->mind) && talk->floor == TURN_THINKING) {
        floor_move(talk, TURN_DONE);
    }
    note_thinking(talk, now_us);
}

static const char *state_of(const struct talk *talk)
{
    bool is_thinking =
        talk->floor == TURN_THINKING || (talk->floor == TURN_PAUSED && talk->hear.was_thinking);
    if (is_thinking)
        return "thinking";
    return talk->floor == TURN_SPEAKING ? "speaking" : "listening";
}

void floor_show(struct talk *talk)
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

bool talk_voice(struct talk *talk, const struct tts_event *event, int64_t now_us)
{
    if (talk->floor == TURN_OVER)
        return false;
    bool is_kept;
    if (voice_event(&talk->voice, event, now_us, &is_kept))
        give_up_voice(talk, now_us);
    talk_settle(talk, now_us);
    return is_kept;
}

void talk_played(struct talk *talk, size_t samples, int64_t now_us)
{
    int64_t *voice_end_us = &talk->hear.voice_end_us;
    if (voice_played(&talk->voice, samples, now_us) && *voice_end_us > 0) {
        quality_voice_to_voice(&talk->quality, *voice_end_us, now_us);
        talk_do(talk, (struct talk_action){.what = TALK_DO_ANSWERED, .at_us = *voice_end_us});
        *voice_end_us = 0;
    }
    talk_settle(talk, now_us);
}
