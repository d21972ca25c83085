/* What the caller's voice and words (hear.h) do to who has the floor and to the reply: the barge-in
 * in its two steps, the turn that is answered, the one that was nothing. */
#include "talk/internal.h"
#include "text/phrase.h"
#include "text/turn_words.h"

enum { EARLY_MAX = 3 /* early replies for one turn */ };

bool listen_may_interrupt(const struct talk *talk)
{
    const struct speech_line *line = speech_front(&talk->voice.speech);
    return !line || line->is_interruptible;
}

/* The second step of a barge-in: the caller says something, and has the floor. */
void listen_interrupt(struct talk *talk, int64_t now_us)
{
    bool was_thinking =
        talk->floor == TURN_THINKING || (talk->floor == TURN_PAUSED && talk->hear.was_thinking);
    hear_learn_cut(&talk->hear, was_thinking);
    if (!was_thinking && (talk->floor == TURN_SPEAKING || talk->floor == TURN_PAUSED))
        talk->quality.interruptions++;
    talk->is_ending = false;
    (void)voice_cut(&talk->voice, true); /* whatever it grew by is cancelled */
    answer_cancel(talk, now_us);
    floor_move(talk, TURN_WORDS);
}

/* Words that want no answer: they neither cut the agent nor keep a call that ends. is_growing: the
 * recogniser may still change or add to the last of them. */
static bool is_passing(const struct talk *talk, const char *text, bool is_growing)
{
    enum turn_words words = turn_words_of(text, talk->iso, is_growing);
    if (words != TURN_WORDS_OTHER)
        return words == TURN_WORDS_ACKNOWLEDGE;
    enum caller_intent intent = phrase_intent(text);
    return intent == INTENT_ACKNOWLEDGE ||
           (talk->is_ending && (intent == INTENT_THANKS || intent == INTENT_GOODBYE));
}

static void consider_words(struct talk *talk, int64_t now_us)
{
    const char *text = endpoint_text(&talk->hear.endpoint);
    if (!*text)
        return;
    switch (talk->floor) {
    case TURN_LISTENING:
        floor_move(talk, TURN_WORDS);
        return;
    case TURN_SPEAKING:
    case TURN_PAUSED:
    case TURN_THINKING:
        if (listen_may_interrupt(talk) && !is_passing(talk, text, !talk->hear.endpoint.is_stable))
            listen_interrupt(talk, now_us);
        return;
    case TURN_CALLER:
        /* A reply that was made early for other words is of no use any more. */
        if (!talk->mind.reply.is_committed &&
            !reply_answers(&talk->mind.reply, text, endpoint_unsure(&talk->hear.endpoint)))
            answer_cancel(talk, now_us);
        return;
    case TURN_ABSENT:
    case TURN_OVER:
    case TURN_STATE_COUNT:
        return;
    }
}

void talk_voice_started(struct talk *talk, int64_t now_us)
{
    if (talk->floor == TURN_ABSENT || talk->floor == TURN_OVER)
        return;
    endpoint_voice_started(&talk->hear.endpoint, now_us);
    talk->silence.reminders = 0;
    bool was_thinking = talk->floor == TURN_THINKING;
    if (listen_may_interrupt(talk) && floor_move(talk, TURN_VOICE) && talk->floor == TURN_PAUSED) {
        talk->hear.paused_us = now_us;
        talk->hear.was_thinking = was_thinking;
    }
    talk_settle(talk, now_us);
}

void talk_voice_stopped(struct talk *talk, int64_t last_voice_us, int64_t now_us)
{
    hear_voice_stopped(&talk->hear, last_voice_us);
    talk_settle(talk, now_us);
}

uint32_t talk_turn(const struct talk *talk)
{
    return talk->hear.turns;
}

bool talk_is_hearing(const struct talk *talk)
{
    return talk->hear.endpoint.is_open && talk->floor != TURN_ABSENT && talk->floor != TURN_OVER;
}

void talk_hears_again(struct talk *talk, bool is_whole, int64_t now_us)
{
    hear_again(&talk->hear, is_whole, now_us);
    talk_settle(talk, now_us);
}

void talk_heard(struct talk *talk, const struct stt_event *event, int64_t now_us)
{
    if (talk->floor == TURN_OVER)
        return;
    hear_recogniser(&talk->hear, event, now_us);
    if (talk->floor != TURN_ABSENT && hear_words(&talk->hear, event, now_us))
        consider_words(talk, now_us);
    talk_settle(talk, now_us);
}

void listen_answer(struct talk *talk, const char *text, int64_t now_us)
{
    talk->quality.turns++;
    talk->again_us = INT64_MAX;
    talk->is_ending = false; /* who speaks before the hang-up keeps the call */
    answer_commit(talk, text, now_us);
    floor_move(talk, TURN_COMMIT);
}

static void commit(struct talk *talk, int64_t now_us)
{
    struct endpoint *endpoint = &talk->hear.endpoint;
    const char *text = endpoint_text(endpoint);
    bool is_undecided = talk->floor == TURN_PAUSED || talk->floor == TURN_THINKING;
    bool passes = (is_undecided || talk->is_ending) && is_passing(talk, text, false);
    if (is_undecided && !passes && listen_may_interrupt(talk)) /* words that grew until now */
        listen_interrupt(talk, now_us);
    if (talk->hear.typed.text.len > 0 && !talk->mind.reply.is_committed)
        answer_cancel(talk, now_us); /* what was typed goes before these words */
    hear_take(&talk->hear);
    if (passes) {
        floor_resume(talk);
        floor_move(talk, TURN_VOID);
    } else {
        quality_add(&talk->quality.endpointing, now_us - endpoint->last_voice_us);
        talk->hear.voice_end_us = talk->hear.turn_end_us = endpoint->last_voice_us;
        listen_answer(talk, text, now_us);
        talk->thinking_us = MAX(endpoint->last_voice_us, now_us - ENDPOINT_CAP_US);
        timing_commit(&talk->timing, endpoint->last_voice_us);
        timing_pass(&talk->timing, POINT_ENDPOINT, now_us);
    }
    talk->hear.early_count = 0;
    hear_count_unanswered(&talk->hear, now_us);
    hear_next(&talk->hear, true);
}

static void void_turn(struct talk *talk, int64_t now_us)
{
    bool asks_again = talk->floor == TURN_CALLER && hear_has_lost(&talk->hear);
    int64_t voice_end_us = talk->hear.endpoint.last_voice_us;
    hear_count_unanswered(&talk->hear, now_us);
    hear_next(&talk->hear, false);
    floor_resume(talk);
    floor_move(talk, TURN_VOID);
    talk->again_us = asks_again ? voice_end_us : INT64_MAX;
    if (asks_again)
        voice_say(&talk->voice, SPEECH_NOTICE, phrase_line(PHRASE_NOT_HEARD, talk->iso), false);
}

static void make_early(struct talk *talk, int64_t now_us)
{
    const char *text = endpoint_text(&talk->hear.endpoint);
    if (talk->floor != TURN_CALLER || !endpoint_is_likely(&talk->hear.endpoint) ||
        talk->hear.early_count >= EARLY_MAX || (talk->is_ending && is_passing(talk, text, false)))
        return;
    if (reply_answers(&talk->mind.reply, text, endpoint_unsure(&talk->hear.endpoint)))
        return;
    talk->hear.early_count++;
    answer_start(talk, text, false, now_us);
}

void listen_settle(struct talk *talk, int64_t now_us)
{
    struct endpoint *endpoint = &talk->hear.endpoint;
    if (talk->floor == TURN_LISTENING && endpoint->is_open && !talk->hear.is_noise)
        floor_move(talk, TURN_VOICE);
    if (talk->floor == TURN_PAUSED && endpoint->is_voiced && !*endpoint_text(endpoint) &&
        now_us >= talk->hear.paused_us + TALK_NOISE_US) {
        talk->hear.is_noise = true;
        floor_resume(talk);
        return;
    }
    bool is_deciding = talk->floor == TURN_CALLER || talk->floor == TURN_PAUSED;
    if (!is_deciding && endpoint->is_open && talk->floor != TURN_THINKING) {
        /* Under a voice that cannot be cut: sound without words passes, words wait. */
        if (endpoint_verdict(endpoint, now_us) == ENDPOINT_VOID)
            hear_next(&talk->hear, false);
        return;
    }
    switch (endpoint_verdict(endpoint, now_us)) {
    case ENDPOINT_COMMIT:
        commit(talk, now_us);
        return;
    case ENDPOINT_VOID:
        void_turn(talk, now_us);
        return;
    case ENDPOINT_OPEN:
        make_early(talk, now_us);
        return;
    }
}

int64_t listen_deadline_us(const struct talk *talk)
{
    const struct endpoint *endpoint = &talk->hear.endpoint;
    bool is_waiting = talk->floor == TURN_SPEAKING && *endpoint_text(endpoint);
    int64_t due_us = is_waiting ? INT64_MAX : endpoint_deadline_us(endpoint);
    if (talk->floor == TURN_PAUSED && endpoint->is_voiced && !*endpoint_text(endpoint))
        due_us = MIN(due_us, talk->hear.paused_us + TALK_NOISE_US);
    return due_us;
}
