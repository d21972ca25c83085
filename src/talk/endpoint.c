#include "talk/endpoint.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "engine/stt.h"
#include "text/clause.h"
#include "text/words.h"

enum {
    PAUSE_RISES = 2,              /* a longer pause goes in by half of its difference, */
    PAUSE_FALLS = 8,              /* a shorter one by an eighth: the long ones are to be met */
    PAUSE_FADES = 8,              /* of it goes with each turn without one */
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

/* A recogniser that did not see the end of this turn in time is not waited for at the next one; a
 * caller who spoke without a pause is given a little less. */
static void learn_from_turn(struct endpoint *endpoint)
{
    endpoint->tells_end = endpoint->is_ended;
    if (!endpoint->has_paused)
        endpoint->pause_us -= endpoint->pause_us / PAUSE_FADES;
}

void endpoint_learn_pause(struct endpoint *endpoint, int64_t pause_us)
{
    if (pause_us <= 0 || pause_us > ENDPOINT_CAP_US)
        return;
    endpoint->has_paused = true;
    if (endpoint->pause_us == 0)
        endpoint->pause_us = pause_us;
    else
        endpoint->pause_us += (pause_us - endpoint->pause_us) /
                              (pause_us > endpoint->pause_us ? PAUSE_RISES : PAUSE_FALLS);
}

void endpoint_reset(struct endpoint *endpoint, bool is_taken)
{
    endpoint_forget(endpoint);
    if (is_taken)
        learn_from_turn(endpoint);
    endpoint->is_stale = is_taken && !endpoint->is_voiced;
    endpoint->is_open = endpoint->is_voiced;
    endpoint->is_flushed = endpoint->is_stable = endpoint->is_ended = false;
    endpoint->has_paused = false;
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
        endpoint_learn_pause(endpoint, now_us - endpoint->last_voice_us);
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

static bool ends_sentence(const char *text)
{
    static const char *const ends[] = {".", "?", "!", "।", "॥", "。", "？", "！", "؟", "۔"};
    size_t len = strlen(text);
    while (len > 0 && strchr(" \"')", text[len - 1]))
        len--;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        size_t end_len = strlen(ends[i]);
        if (len >= end_len && memcmp(text + len - end_len, ends[i], end_len) == 0)
            return true;
    }
    return false;
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
        endpoint->punctuates = endpoint->punctuates || ends_sentence(piece);
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

/* How much longer than another such a text waits. */
static int64_t patience_of(const char *text, const char *iso, bool punctuates)
{
    bool is_stopped = ends_sentence(text);
    switch (clause_end(text, iso, is_stopped)) {
    case CLAUSE_DICTATED:
        return ENDPOINT_DICTATED_US;
    case CLAUSE_OPEN:
        return ENDPOINT_UNFINISHED_US;
    case CLAUSE_WHOLE:
        break;
    }
    size_t len = strlen(text);
    bool is_open = !is_stopped && (punctuates || (len > 0 && strchr(",;:-", text[len - 1])));
    return is_open ? ENDPOINT_UNFINISHED_US : 0;
}

/* When the caller pauses: does the text look as if they went on? */
static void judge(struct endpoint *endpoint)
{
    endpoint->patience_us =
        patience_of(endpoint_text(endpoint), endpoint->iso, endpoint->punctuates);
}

bool endpoint_is_likely(const struct endpoint *endpoint)
{
    return endpoint->is_open && !endpoint->is_voiced && *endpoint_text(endpoint) &&
           (endpoint->is_flushed || endpoint->is_stable || endpoint->is_ended);
}

/* What this caller needs beyond the least: who pauses within turns is not cut off in them. */
static int64_t own_pause_us(const struct endpoint *endpoint, int64_t least_us)
{
    if (endpoint->pause_us == 0)
        return least_us;
    return MAX(least_us, MIN(endpoint->pause_us + PAUSE_MARGIN_US, least_us + PAUSE_MAX_US));
}

static int64_t due_with_text(const struct endpoint *endpoint)
{
    int64_t least_us = MAX(endpoint->min_us, endpoint->silence_us);
    int64_t cap_us = MAX(least_us, (int64_t)ENDPOINT_CAP_US);
    if (endpoint->is_ended)
        return endpoint->last_voice_us + least_us;
    if (!endpoint->is_flushed)
        return endpoint->last_voice_us + cap_us;
    int64_t more_us = MAX(endpoint->patience_us, endpoint->tells_end ? ENDPOINT_UNFINISHED_US : 0);
    int64_t wait_us = MAX(own_pause_us(endpoint, least_us), endpoint->min_us + more_us);
    return endpoint->last_voice_us + MIN(wait_us, cap_us);
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
