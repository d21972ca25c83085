#include "talk/hear.h"

#include "base/mem.h"
#include "engine/stt.h"
#include "talk/actions.h"
#include "talk/health.h"
#include "talk/history.h"
#include "text/words.h"

enum { TYPED_MAX_BYTES = 4 * ENDPOINT_MAX_CHARS };

void hear_init(struct hear *hear, const struct talk_config *config, const char *iso)
{
    endpoint_init(&hear->endpoint, config->endpoint_min_us, config->silence_us, iso);
    if (config->is_quick)
        endpoint_quicken(&hear->endpoint);
    buf_init(&hear->typed.text, TYPED_MAX_BYTES);
}

void hear_clear(struct hear *hear)
{
    endpoint_clear(&hear->endpoint);
    buf_clear(&hear->typed.text);
}

static void show(struct hear *hear, bool is_last)
{
    const char *text = endpoint_text(&hear->endpoint);
    if (!*text)
        return;
    if (hear->segment == 0)
        hear->segment = ++*hear->last_segment;
    actions_add(hear->actions, (struct talk_action){.what = TALK_DO_TRANSCRIPT,
                                                    .role = TALK_CALLER,
                                                    .segment = hear->segment,
                                                    .text = text,
                                                    .is_last = is_last});
    if (is_last)
        hear->segment = 0;
}

/* The recogniser. */

/* It is gone: what it was to say of this turn is not awaited. */
static void lose_words(struct hear *hear)
{
    hear->is_lost = hear->is_lost || hear->endpoint.is_open;
    endpoint_deaf(&hear->endpoint);
}

static void has_failed(struct hear *hear, enum engine_error error, const char *detail,
                       bool is_fatal, int64_t now_us)
{
    health_failed(hear->health,
                  &(struct talk_failure){TALK_STT, TALK_STAGE_STT, error, detail, is_fatal},
                  now_us);
}

void hear_recogniser(struct hear *hear, const struct stt_event *event, int64_t now_us)
{
    switch (event->kind) {
    case STT_ERROR:
        has_failed(hear, event->error, event->message, event->is_fatal, now_us);
        if (health_is_passing(hear->health, TALK_STT, now_us))
            hear->is_lost = hear->is_lost || hear->endpoint.is_open;
        else if (health_is_closed(hear->health, TALK_STT))
            lose_words(hear);
        return;
    case STT_FLUSHED:
        hear->unanswered = 0;
        return;
    case STT_FINAL:
    case STT_PARTIAL:
        health_worked(hear->health, TALK_STT);
        return;
    case STT_READY:
    case STT_ENDPOINT:
        return;
    }
}

void hear_voice_stopped(struct hear *hear, int64_t last_voice_us)
{
    hear->is_noise = false;
    uint32_t gen = endpoint_voice_stopped(&hear->endpoint, last_voice_us);
    if (health_is_closed(hear->health, TALK_STT))
        lose_words(hear);
    else if (gen)
        actions_add(hear->actions, (struct talk_action){.what = TALK_DO_FLUSH, .gen = gen});
}

void hear_count_unanswered(struct hear *hear, int64_t now_us)
{
    bool owes = !hear->endpoint.is_flushed && !hear->endpoint.is_ended;
    if (!owes || ++hear->unanswered < HEAR_UNANSWERED_MAX)
        return;
    hear->unanswered = 0;
    has_failed(hear, ENGINE_TIMEOUT, NULL, true, now_us);
}

void hear_again(struct hear *hear, bool is_whole, int64_t now_us)
{
    uint32_t gen = endpoint_again(&hear->endpoint, now_us);
    hear->is_told_anew = is_whole;
    if (gen)
        actions_add(hear->actions, (struct talk_action){.what = TALK_DO_FLUSH, .gen = gen});
}

bool hear_has_lost(const struct hear *hear)
{
    const struct endpoint *endpoint = &hear->endpoint;
    bool is_long = endpoint->last_voice_us - endpoint->began_us >= HEAR_LOST_MIN_US;
    return is_long && (hear->is_lost || !endpoint->is_flushed);
}

/* Words. */

/* A turn holds so much: what goes on is a further turn. The caller still has the floor, so only
 * the last one is answered. */
static void begin_further_turn(struct hear *hear, int64_t now_us)
{
    hear_take(hear);
    endpoint_go_on(&hear->endpoint, now_us);
}

static bool take_words(struct hear *hear, const struct stt_event *event, int64_t now_us)
{
    struct stt_event part = *event;
    bool has_changed = false;
    if (hear->is_told_anew && event->text && *event->text) {
        hear->is_told_anew = false;
        endpoint_forget(&hear->endpoint);
    }
    while (part.kind == STT_FINAL && part.text) {
        size_t room = endpoint_room_chars(&hear->endpoint);
        size_t bytes = text_bytes(part.text, room);
        if (!part.text[bytes])
            break;
        AUTO_MEM char *front = mem_strndup(part.text, bytes);
        struct stt_event first = part;
        first.text = front;
        if (bytes > 0 && !endpoint_heard(&hear->endpoint, &first, now_us))
            return has_changed; /* of a turn that was taken */
        begin_further_turn(hear, now_us);
        part.text += bytes;
        has_changed = true;
    }
    return endpoint_heard(&hear->endpoint, &part, now_us) || has_changed;
}

bool hear_words(struct hear *hear, const struct stt_event *event, int64_t now_us)
{
    if (event->kind == STT_ERROR || !take_words(hear, event, now_us))
        return false;
    show(hear, false);
    return true;
}

void hear_learn_cut(struct hear *hear, bool was_thinking)
{
    int64_t pause_us = hear->paused_us - hear->turn_end_us;
    if (hear->turn_end_us > 0 && (was_thinking || pause_us <= HEAR_OWN_PAUSE_US))
        endpoint_learn_pause(&hear->endpoint, pause_us);
    hear->turn_end_us = 0;
}

/* Turns. */

void hear_turn(struct hear *hear, const char *text, int64_t at_us)
{
    history_add(hear->history, LLM_USER, text);
    actions_add(hear->actions,
                (struct talk_action){
                    .what = TALK_DO_TURN, .role = TALK_CALLER, .text = text, .at_us = at_us});
}

void hear_typed(struct hear *hear)
{
    struct typed *typed = &hear->typed;
    if (typed->text.len == 0)
        return;
    hear_turn(hear, typed->text.data, typed->at_us);
    buf_reset(&typed->text);
    typed->chars = 0;
}

void hear_take(struct hear *hear)
{
    show(hear, true);
    hear_typed(hear);
    hear_turn(hear, endpoint_text(&hear->endpoint), hear->endpoint.began_us);
}

void hear_next(struct hear *hear, bool is_taken)
{
    endpoint_reset(&hear->endpoint, is_taken);
    hear->is_lost = hear->is_told_anew = false;
    hear->turns++;
}

void hear_last_words(struct hear *hear)
{
    const struct endpoint *endpoint = &hear->endpoint;
    const char *text = endpoint_text(endpoint);
    bool is_typed_first = hear->typed.at_us <= endpoint->began_us;
    if (is_typed_first)
        hear_typed(hear);
    show(hear, true);
    if (*text)
        hear_turn(hear, text, endpoint->began_us);
    if (!is_typed_first)
        hear_typed(hear);
}
