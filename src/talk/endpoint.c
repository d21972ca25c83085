#include "talk/endpoint.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "engine/stt.h"
#include "text/clause.h"
#include "text/words.h"

enum {
    PAUSE_RISES = 2,              /* a longer pause goes in by half of its difference, */
    PAUSE_FALLS = 8,              /* a shorter one by an eighth: the long ones are to be met */
    PAUSE_FADES = 8,              /* of it goes with each turn without one; */
    WHOLE_FADES = 4,              /* after whole words sooner: most of those are the end */
    PAUSE_MARGIN_US = 150 * 1000, /* beyond what the caller's pauses are */
    PAUSE_MAX_US = 600 * 1000,    /* more than the least, for whoever pauses long */
};

static void judge(struct endpoint *endpoint);

void endpoint_init(struct endpoint *endpoint, int64_t min_us, int64_t silence_us, const char *iso)
{
    *endpoint = (struct endpoint){.min_us = min_us, .silence_us = silence_us};
    snprintf(endpoint->iso, sizeof(endpoint->iso), "%s", iso);
    buf_init(&endpoint->final, ENDPOINT_TEXT_MAX_BYTES);
    buf_init(&endpoint->text, ENDPOINT_TEXT_MAX_BYTES);
    buf_init(&endpoint->unsure, ENDPOINT_TEXT_MAX_BYTES);
}

void endpoint_quicken(struct endpoint *endpoint)
{
    endpoint->is_quick = true;
}

void endpoint_change_language(struct endpoint *endpoint, const char *iso)
{
    snprintf(endpoint->iso, sizeof(endpoint->iso), "%s", iso);
}

void endpoint_clear(struct endpoint *endpoint)
{
    buf_clear(&endpoint->final);
    buf_clear(&endpoint->text);
    buf_clear(&endpoint->unsure);
}

/* A caller who spoke without a pause is given a little less. */
static void fade(struct endpoint_habit *habit, int part)
{
    if (!habit->has_paused)
        habit->pause_us -= habit->pause_us / part;
    habit->has_paused = false;
}

/* A recogniser that did not see the end of this turn in time is not waited for at the next one. */
static void learn_from_turn(struct endpoint *endpoint)
{
    endpoint->tells_end = endpoint->is_ended;
    fade(&endpoint->goes_on, PAUSE_FADES);
    fade(&endpoint->whole, WHOLE_FADES);
}

static void learn(struct endpoint_habit *habit, int64_t pause_us)
{
    if (pause_us <= 0 || pause_us > ENDPOINT_CAP_US)
        return;
    habit->has_paused = true;
    if (habit->pause_us == 0)
        habit->pause_us = pause_us;
    else
        habit->pause_us +=
            (pause_us - habit->pause_us) / (pause_us > habit->pause_us ? PAUSE_RISES : PAUSE_FALLS);
}

void endpoint_learn_pause(struct endpoint *endpoint, int64_t pause_us)
{
    learn(&endpoint->whole, pause_us);
}

void endpoint_reset(struct endpoint *endpoint, bool is_taken)
{
    endpoint_forget(endpoint);
    if (is_taken)
        learn_from_turn(endpoint);
    endpoint->is_stale = is_taken && !endpoint->is_voiced;
    endpoint->is_open = endpoint->is_voiced;
    endpoint->is_flushed = endpoint->is_stable = endpoint->is_ended = false;
    endpoint->look = ENDPOINT_UNSURE;
    endpoint->patience_us = 0;
    endpoint->ended_us = endpoint->again_us = 0;
}

static void open_at(struct endpoint *endpoint, int64_t now_us)
{
    if (endpoint->is_open)
        return;
    endpoint->is_open = true;
    endpoint->began_us = endpoint->last_voice_us = now_us;
}

void endpoint_voice_started(struct endpoint *endpoint, int64_t now_us)
{
    if (endpoint->is_open && !endpoint->is_voiced && endpoint->text.len > 0)
        learn(endpoint->look == ENDPOINT_UNFINISHED || endpoint->look == ENDPOINT_UNSURE
                  ? &endpoint->goes_on
                  : &endpoint->whole,
              now_us - endpoint->last_voice_us);
    open_at(endpoint, now_us);
    endpoint->is_voiced = true;
    endpoint->is_flushed = endpoint->is_ended = endpoint->is_stale = false;
}

uint32_t endpoint_voice_stopped(struct endpoint *endpoint, int64_t last_voice_us)
{
    endpoint->is_voiced = false;
    if (!endpoint->is_open)
        return 0;
    endpoint->last_voice_us = last_voice_us;
    endpoint->is_ended = endpoint->ended_us > last_voice_us;
    endpoint->is_flushed = false; /* a recogniser that was opened meanwhile answers too */
    judge(endpoint);
    return ++endpoint->flush_gen;
}

const char *endpoint_text(const struct endpoint *endpoint)
{
    return endpoint->text.data ? endpoint->text.data : "";
}

const char *endpoint_unsure(const struct endpoint *endpoint)
{
    return endpoint->unsure.data ? endpoint->unsure.data : "";
}

/* A piece of text after what is there, one space between unless it brings its own. */
static void add_piece(struct buf *buf, const char *piece, size_t most_chars)
{
    while (*piece == ' ')
        piece++;
    size_t bytes = text_bytes(piece, most_chars);
    if (bytes == 0)
        return;
    if (buf->len > 0)
        buf_append_char(buf, ' ');
    buf_append(buf, piece, bytes);
}

size_t endpoint_room_chars(const struct endpoint *endpoint)
{
    size_t used = endpoint->final_chars + (endpoint->final_chars > 0); /* and a space */
    return used < ENDPOINT_MAX_CHARS ? ENDPOINT_MAX_CHARS - used : 0;
}

void endpoint_go_on(struct endpoint *endpoint, int64_t now_us)
{
    endpoint_forget(endpoint);
    endpoint->began_us = now_us;
}

static bool take_text(struct endpoint *endpoint, const struct stt_event *event, int64_t now_us)
{
    const char *piece = event->text ? event->text : "";
    if (endpoint->is_stale || (!*piece && !endpoint->is_open))
        return false;
    bool was_open = endpoint->is_open;
    if (*piece)
        open_at(endpoint, now_us);
    buf_reset(&endpoint->text);
    buf_append_str(&endpoint->text, endpoint->final.data ? endpoint->final.data : "");
    size_t room = endpoint_room_chars(endpoint);
    add_piece(&endpoint->text, piece, room);
    endpoint->is_stable = event->is_stable;
    if (event->kind == STT_FINAL) {
        add_piece(&endpoint->final, piece, room);
        if (event->unsure && *event->unsure)
            add_piece(&endpoint->unsure, event->unsure, room);
        endpoint->final_chars = endpoint->final.data ? text_length(endpoint->final.data) : 0;
        endpoint->is_stable = true;
        endpoint->punctuates = endpoint->punctuates || clause_mark(piece);
        if (!was_open) /* words that the detector took for noise: nothing more is owed */
            endpoint->is_flushed = true;
    }
    if (!endpoint->is_voiced)
        judge(endpoint);
    return true;
}

bool endpoint_heard(struct endpoint *endpoint, const struct stt_event *event, int64_t now_us)
{
    switch (event->kind) {
    case STT_PARTIAL:
    case STT_FINAL:
        return take_text(endpoint, event, now_us);
    case STT_ENDPOINT:
        endpoint->is_ended = endpoint->is_open && !endpoint->is_voiced;
        endpoint->ended_us = now_us;
        return false;
    case STT_FLUSHED:
        if (event->gen != endpoint->flush_gen)
            return false;
        endpoint->is_flushed = !endpoint->is_voiced;
        return false;
    case STT_READY:
    case STT_ERROR:
        return false;
    }
    return false;
}

void endpoint_deaf(struct endpoint *endpoint)
{
    endpoint->is_flushed = true;
}

uint32_t endpoint_again(struct endpoint *endpoint, int64_t now_us)
{
    endpoint->is_flushed = endpoint->is_ended = endpoint->is_stale = false;
    endpoint->again_us = now_us;
    return endpoint->is_voiced ? 0 : ++endpoint->flush_gen;
}

void endpoint_forget(struct endpoint *endpoint)
{
    buf_reset(&endpoint->final);
    buf_reset(&endpoint->text);
    buf_reset(&endpoint->unsure);
    endpoint->final_chars = 0;
}

static const struct {
    enum endpoint_look look;
    int64_t patience_us; /* how much longer than another such a text waits */
} looks[] = {
    [CLAUSE_WHOLE] = {ENDPOINT_WHOLE, 0},
    [CLAUSE_OPEN] = {ENDPOINT_UNFINISHED, ENDPOINT_UNFINISHED_US},
    [CLAUSE_DICTATED] = {ENDPOINT_UNFINISHED, ENDPOINT_DICTATED_US},
    [CLAUSE_SAID] = {ENDPOINT_SAID, 0},
    [CLAUSE_ASKED] = {ENDPOINT_ASKED, 0},
};

/* A comma, or no full stop from a recogniser that writes them. */
static bool lacks_stop(const char *text, enum clause_mark mark, bool punctuates)
{
    size_t len = strlen(text);
    return mark == CLAUSE_NO_MARK && (punctuates || (len > 0 && strchr(",;:-", text[len - 1])));
}

/* When the caller pauses: does the text look as if they went on? */
static void judge(struct endpoint *endpoint)
{
    const char *text = endpoint_text(endpoint);
    enum clause_mark mark = clause_mark(text);
    enum clause clause = clause_end(text, endpoint->iso, mark);
    if (clause != CLAUSE_DICTATED && lacks_stop(text, mark, endpoint->punctuates))
        clause = CLAUSE_OPEN;
    bool is_unsure = clause == CLAUSE_WHOLE && mark == CLAUSE_NO_MARK;
    endpoint->look = is_unsure ? ENDPOINT_UNSURE : looks[clause].look;
    endpoint->patience_us = looks[clause].patience_us;
}

bool endpoint_is_likely(const struct endpoint *endpoint)
{
    return endpoint->is_open && !endpoint->is_voiced && *endpoint_text(endpoint) &&
           (endpoint->is_flushed || endpoint->is_stable || endpoint->is_ended);
}

/* What this caller needs beyond the least: who pauses within turns is not cut off in them. */
static int64_t own_pause_us(const struct endpoint_habit *habit, int64_t least_us)
{
    if (habit->pause_us == 0)
        return least_us;
    return MAX(least_us, MIN(habit->pause_us + PAUSE_MARGIN_US, least_us + PAUSE_MAX_US));
}

static int64_t least_us_for(const struct endpoint *endpoint, enum endpoint_look look)
{
    int64_t least_us = MAX(endpoint->min_us, endpoint->silence_us);
    if (!endpoint->is_quick)
        return least_us;
    switch (look) {
    case ENDPOINT_ASKED:
        return MIN(least_us, (int64_t)ENDPOINT_ASKED_US);
    case ENDPOINT_SAID:
        return MIN(least_us, (int64_t)ENDPOINT_SAID_US);
    case ENDPOINT_UNSURE:
    case ENDPOINT_WHOLE:
    case ENDPOINT_UNFINISHED:
        break;
    }
    return least_us;
}

/* What the pauses of this caller add to it. */
static int64_t with_habits_us(const struct endpoint *endpoint, int64_t least_us)
{
    int64_t whole_us = own_pause_us(&endpoint->whole, least_us);
    int64_t goes_on_us = own_pause_us(&endpoint->goes_on, least_us);
    switch (endpoint->look) {
    case ENDPOINT_UNSURE:
        return MAX(whole_us, goes_on_us);
    case ENDPOINT_WHOLE:
    case ENDPOINT_SAID:
    case ENDPOINT_ASKED:
        return whole_us;
    case ENDPOINT_UNFINISHED:
        return goes_on_us;
    }
    return least_us;
}

/* How long after the voice the words that there are suffice. */
static int64_t wait_us(const struct endpoint *endpoint)
{
    int64_t least_us = with_habits_us(endpoint, least_us_for(endpoint, endpoint->look));
    int64_t more_us = MAX(endpoint->patience_us, endpoint->tells_end ? ENDPOINT_UNFINISHED_US : 0);
    return more_us > 0 ? MAX(least_us, endpoint->min_us + more_us) : least_us;
}

static int64_t due_with_text(const struct endpoint *endpoint)
{
    int64_t least_us = MAX(endpoint->min_us, endpoint->silence_us);
    int64_t cap_us = MAX(least_us, (int64_t)ENDPOINT_CAP_US);
    if (endpoint->is_ended)
        return endpoint->last_voice_us + least_us_for(endpoint, ENDPOINT_ASKED);
    if (!endpoint->is_flushed)
        return endpoint->last_voice_us + cap_us;
    return endpoint->last_voice_us + MIN(wait_us(endpoint), cap_us);
}

/* A recogniser that hears the turn a second time is given time for it. */
static int64_t due_again(const struct endpoint *endpoint)
{
    if (endpoint->again_us == 0 || endpoint->is_flushed)
        return 0;
    return MIN(endpoint->again_us + ENDPOINT_AGAIN_US,
               endpoint->last_voice_us + ENDPOINT_AGAIN_CAP_US);
}

int64_t endpoint_deadline_us(const struct endpoint *endpoint)
{
    if (!endpoint->is_open || endpoint->is_voiced)
        return INT64_MAX;
    if (*endpoint_text(endpoint))
        return MAX(due_with_text(endpoint), due_again(endpoint));
    int64_t due_us = endpoint->last_voice_us +
                     (endpoint->is_flushed ? endpoint->silence_us : (int64_t)ENDPOINT_FALSE_US);
    return MAX(due_us, due_again(endpoint));
}

enum endpoint_verdict endpoint_verdict(const struct endpoint *endpoint, int64_t now_us)
{
    if (now_us < endpoint_deadline_us(endpoint))
        return ENDPOINT_OPEN;
    return *endpoint_text(endpoint) ? ENDPOINT_COMMIT : ENDPOINT_VOID;
}
