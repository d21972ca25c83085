/* The caller's side: voice and words in, turns out; the barge-in in its two steps. */
#include <string.h>

#include "base/mem.h"
#include "talk/internal.h"
#include "text/phrase.h"
#include "text/turn_words.h"
#include "text/words.h"

bool hear_may_interrupt(const struct talk *talk)
{
    const struct speech_line *line = speech_front(&talk->voice.speech);
    return !line || line->is_interruptible;
}

static void show_caller(struct talk *talk, bool is_last)
{
    const char *text = endpoint_text(&talk->hear.endpoint);
    if (!*text)
        return;
    if (talk->hear.segment == 0)
        talk->hear.segment = ++talk->voice.speech.last_id;
    talk_do(talk, (struct talk_action){.what = TALK_DO_TRANSCRIPT,
                                       .role = TALK_CALLER,
                                       .segment = talk->hear.segment,
                                       .text = text,
                                       .is_last = is_last});
    if (is_last)
        talk->hear.segment = 0;
}

/* The turn that is being answered was no whole one: the caller has gone on before the agent was
 * heard. */
static void learn_cut(struct hear *hear)
{
    if (hear->voice_end_us > 0)
        endpoint_learn_pause(&hear->endpoint, hear->paused_us - hear->voice_end_us);
}

/* The second step of a barge-in: the caller says something, and has the floor. */
void hear_interrupt(struct talk *talk, int64_t now_us)
{
    bool was_thinking =
        talk->floor == TURN_THINKING || (talk->floor == TURN_PAUSED && talk->hear.was_thinking);
    if (was_thinking)
        learn_cut(&talk->hear);
    else if (talk->floor == TURN_SPEAKING || talk->floor == TURN_PAUSED)
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
        if (hear_may_interrupt(talk) && !is_passing(talk, text, !talk->hear.endpoint.is_stable))
            hear_interrupt(talk, now_us);
        return;
    case TURN_CALLER:
        /* A reply that was made early for other words is of no use any more. */
        if (!talk->mind.reply.is_committed && !reply_answers(&talk->mind.reply, text))
            answer_cancel(talk, now_us);
        return;
    case TURN_ABSENT:
    case TURN_OVER:
    case TURN_STATE_COUNT:
        return;
    }
}

/* The recogniser is gone: what it was to say of this turn is not awaited. */
static void lose_words(struct hear *hear)
{
    hear->is_lost = hear->is_lost || hear->endpoint.is_open;
    endpoint_deaf(&hear->endpoint);
}

void talk_voice_started(struct talk *talk, int64_t now_us)
{
    if (talk->floor == TURN_ABSENT || talk->floor == TURN_OVER)
        return;
    endpoint_voice_started(&talk->hear.endpoint, now_us);
    talk->silence.reminders = 0;
    bool was_thinking = talk->floor == TURN_THINKING;
    if (hear_may_interrupt(talk) && floor_move(talk, TURN_VOICE) && talk->floor == TURN_PAUSED) {
        talk->hear.paused_us = now_us;
        talk->hear.was_thinking = was_thinking;
    }
    talk_settle(talk, now_us);
}

void talk_voice_stopped(struct talk *talk, int64_t last_voice_us, int64_t now_us)
{
    talk->hear.is_noise = false;
    uint32_t gen = endpoint_voice_stopped(&talk->hear.endpoint, last_voice_us);
    if (health_is_closed(&talk->health, TALK_STT))
        lose_words(&talk->hear);
    else if (gen)
        talk_do(talk, (struct talk_action){.what = TALK_DO_FLUSH, .gen = gen});
    talk_settle(talk, now_us);
}

/* A turn holds so much: what goes on is a further turn. The caller still has the floor, so only
 * the last one is answered. */
static void begin_further_turn(struct talk *talk, int64_t now_us)
{
    show_caller(talk, true);
    typed_tell(talk);
    hear_turn(talk, endpoint_text(&talk->hear.endpoint), talk->hear.endpoint.began_us);
    endpoint_go_on(&talk->hear.endpoint, now_us);
}

static bool take_words(struct talk *talk, const struct stt_event *event, int64_t now_us)
{
    struct stt_event part = *event;
    bool has_changed = false;
    while (part.kind == STT_FINAL && part.text) {
        size_t room = endpoint_room_chars(&talk->hear.endpoint);
        size_t bytes = text_bytes(part.text, room);
        if (!part.text[bytes])
            break;
        AUTO_MEM char *front = mem_strndup(part.text, bytes);
        struct stt_event first = part;
        first.text = front;
        if (bytes > 0 && !endpoint_heard(&talk->hear.endpoint, &first, now_us))
            return has_changed; /* of a turn that was taken */
        begin_further_turn(talk, now_us);
        part.text += bytes;
        has_changed = true;
    }
    return endpoint_heard(&talk->hear.endpoint, &part, now_us) || has_changed;
}

void talk_heard(struct talk *talk, const struct stt_event *event, int64_t now_us)
{
    if (talk->floor == TURN_OVER)
        return;
    if (event->kind == STT_ERROR) {
        health_failed(&talk->health,
                      &(struct talk_failure){TALK_STT, TALK_STAGE_STT, event->error, event->message,
                                             event->is_fatal},
                      now_us);
        if (health_is_closed(&talk->health, TALK_STT))
            lose_words(&talk->hear);
        talk_settle(talk, now_us);
        return;
    }
    if (event->kind == STT_FLUSHED)
        talk->hear.unanswered = 0;
    if (event->kind == STT_FINAL || event->kind == STT_PARTIAL)
        health_worked(&talk->health, TALK_STT);
    if (talk->floor == TURN_ABSENT)
        return;
    if (take_words(talk, event, now_us)) {
        show_caller(talk, false);
        consider_words(talk, now_us);
    }
    talk_settle(talk, now_us);
}

void hear_turn(struct talk *talk, const char *text, int64_t at_us)
{
    history_add(&talk->mind.history, LLM_USER, text);
    talk_do(talk, (struct talk_action){
                      .what = TALK_DO_TURN, .role = TALK_CALLER, .text = text, .at_us = at_us});
}

void hear_answer(struct talk *talk, const char *text, int64_t now_us)
{
    talk->quality.turns++;
    talk->is_ending = false; /* who speaks before the hang-up keeps the call */
    answer_commit(talk, text, now_us);
    floor_move(talk, TURN_COMMIT);
}

/* What is typed and not answered yet belongs before the spoken words, and into their answer. */
static void join_typed(struct talk *talk, int64_t now_us)
{
    if (talk->hear.typed.text.len == 0)
        return;
    if (!talk->mind.reply.is_committed)
        answer_cancel(talk, now_us);
    typed_tell(talk);
}

/* A recogniser answers each flush, be it that there was no word. One that does not is slow once,
 * and has failed when it is so again. */
static void mind_unanswered(struct talk *talk, int64_t now_us)
{
    struct hear *hear = &talk->hear;
    bool owes = !hear->endpoint.is_flushed && !hear->endpoint.is_ended;
    if (!owes || ++hear->unanswered < TALK_UNANSWERED_MAX)
        return;
    hear->unanswered = 0;
    health_failed(&talk->health,
                  &(struct talk_failure){TALK_STT, TALK_STAGE_STT, ENGINE_TIMEOUT, NULL, true},
                  now_us);
}

static void commit(struct talk *talk, int64_t now_us)
{
    struct endpoint *endpoint = &talk->hear.endpoint;
    const char *text = endpoint_text(endpoint);
    bool is_undecided = talk->floor == TURN_PAUSED || talk->floor == TURN_THINKING;
    bool passes = (is_undecided || talk->is_ending) && is_passing(talk, text, false);
    if (is_undecided && !passes && hear_may_interrupt(talk)) /* words that grew until now */
        hear_interrupt(talk, now_us);
    show_caller(talk, true);
    join_typed(talk, now_us);
    hear_turn(talk, text, endpoint->began_us);
    if (passes) {
        floor_resume(talk);
        floor_move(talk, TURN_VOID);
    } else {
        quality_add(&talk->quality.endpointing, now_us - endpoint->last_voice_us);
        talk->hear.voice_end_us = endpoint->last_voice_us;
        hear_answer(talk, text, now_us);
    }
    talk->hear.early_count = 0;
    talk->hear.is_lost = false;
    mind_unanswered(talk, now_us);
    endpoint_reset(endpoint, true);
}

void hear_last_words(struct talk *talk)
{
    struct endpoint *endpoint = &talk->hear.endpoint;
    const char *text = endpoint_text(endpoint);
    bool is_typed_first = talk->hear.typed.at_us <= endpoint->began_us;
    if (is_typed_first)
        typed_tell(talk);
    show_caller(talk, true);
    if (*text && talk->floor != TURN_OVER)
        hear_turn(talk, text, endpoint->began_us);
    if (!is_typed_first)
        typed_tell(talk);
}

/* The caller said something that nobody heard. */
static bool is_lost(const struct hear *hear)
{
    const struct endpoint *endpoint = &hear->endpoint;
    bool is_long = endpoint->last_voice_us - endpoint->began_us >= TALK_LOST_LEAST_US;
    return is_long && (hear->is_lost || !endpoint->is_flushed);
}

static void void_turn(struct talk *talk, int64_t now_us)
{
    bool asks_again = talk->floor == TURN_CALLER && is_lost(&talk->hear);
    mind_unanswered(talk, now_us);
    endpoint_reset(&talk->hear.endpoint, false);
    talk->hear.is_lost = false;
    floor_resume(talk);
    floor_move(talk, TURN_VOID);
    if (asks_again)
        voice_say(&talk->voice, SPEECH_NOTICE, phrase_line(PHRASE_NOT_HEARD, talk->iso), false);
}

static void make_early(struct talk *talk, int64_t now_us)
{
    const char *text = endpoint_text(&talk->hear.endpoint);
    if (talk->floor != TURN_CALLER || !endpoint_is_likely(&talk->hear.endpoint) ||
        talk->hear.early_count >= TALK_EARLY_MAX ||
        (talk->is_ending && is_passing(talk, text, false)))
        return;
    if (reply_answers(&talk->mind.reply, text))
        return;
    talk->hear.early_count++;
    answer_start(talk, text, false, now_us);
}

void hear_settle(struct talk *talk, int64_t now_us)
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
        if (endpoint_verdict(endpoint, now_us) != ENDPOINT_VOID)
            return;
        endpoint_reset(endpoint, false);
        talk->hear.is_lost = false;
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

int64_t hear_deadline_us(const struct talk *talk)
{
    const struct endpoint *endpoint = &talk->hear.endpoint;
    bool is_waiting = talk->floor == TURN_SPEAKING && *endpoint_text(endpoint);
    int64_t due_us = is_waiting ? INT64_MAX : endpoint_deadline_us(endpoint);
    if (talk->floor == TURN_PAUSED && endpoint->is_voiced && !*endpoint_text(endpoint))
        due_us = MIN(due_us, talk->hear.paused_us + TALK_NOISE_US);
    return due_us;
}
