/* What the agent has to say, in order, and how much of it was heard. A line is a reply, a greeting,
 * a `say`; it grows by pieces (sentences) while the model writes. Pieces are given to the voice a
 * little ahead of what is played, so that little audio is held; samples are counted as they come
 * and as they are played, so that a line that is cut holds exactly what the caller has heard.
 *
 *     line:  [piece played][piece playing ..|..][piece asked][piece waiting]   <- more
 *
 * Sans-I/O. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "talk/talk.h"

enum speech_kind { SPEECH_GREETING, SPEECH_REPLY, SPEECH_SAY, SPEECH_NOTICE };

enum {
    SPEECH_AHEAD_SAMPLES = 3 * 48000, /* audio in hand over which no further piece is asked */
    SPEECH_AHEAD_PIECES = 2,          /* asked and not yet complete */
    SPEECH_LINE_MAX_BYTES = 64 * 1024,
    SPEECH_CHAR_SAMPLES = 48000 / 15, /* of a piece whose length is not known yet */
    /* What a voice may make of a piece: ten times as slow as people speak, and a pause. */
    SPEECH_CHAR_MAX_SAMPLES = 10 * SPEECH_CHAR_SAMPLES,
    SPEECH_PIECE_MORE_SAMPLES = 10 * 48000,
};

struct speech_piece {
    struct list_node node;
    char *text;
    uint32_t gen;           /* 0: the voice was not asked yet */
    size_t samples, played; /* come so far; of those, played */
    bool is_done;           /* all samples have come */
    size_t shown_bytes;     /* of its text, in the live transcript */
    size_t shown_at;        /* samples played when that was shown last */
    bool is_fixed;          /* no model made it up: others will say the same */
};

struct speech_line {
    struct list_node node;
    struct list_node pieces; /* not yet played to the end */
    enum speech_kind kind;
    uint32_t id;
    bool is_interruptible;
    bool is_closed; /* no more pieces will come */
    bool is_heard;  /* at least one sample was played */
    int64_t began_us;
    bool is_timed; /* it is the first that answers a turn */
    struct talk_timing timing;
    struct buf heard; /* text of the pieces played to the end */
};

struct speech {
    struct list_node lines;
    uint32_t last_gen, last_id;
};

void speech_init(struct speech *speech);
void speech_clear(struct speech *speech);

/* At the end of the queue, or (is_urgent) after the lines of its kind at the front; what was asked
 * for those after it must then be asked again (speech_unask). */
struct speech_line *speech_open(struct speech *speech, enum speech_kind kind, bool is_interruptible,
                                bool is_urgent);
void speech_add(struct speech_line *line, const char *text, bool is_fixed);
void speech_close(struct speech_line *line);
void speech_drop(struct speech_line *line);                    /* frees, heard or not */
struct speech_line *speech_front(const struct speech *speech); /* NULL: nothing to say */

/* The next piece to ask the voice for, given a new generation; NULL: none, or enough is in hand. */
struct speech_piece *speech_ask(struct speech *speech, bool *out_is_last);
/* The voice must be asked again for all that was not played (it was cancelled), of a piece that was
 * begun for its rest. */
void speech_unask(struct speech *speech);
/* Leaves the piece of a generation out, but for what was heard of it. */
void speech_skip(struct speech *speech, uint32_t gen);
/* Samples of a generation: true when they belong to a piece. */
bool speech_audio(struct speech *speech, uint32_t gen, size_t samples);
/* Would so many more be more than any voice makes of the text? */
bool speech_is_endless(const struct speech *speech, uint32_t gen, size_t samples);
bool speech_has(const struct speech *speech, uint32_t gen);       /* is it asked and wanted? */
bool speech_line_answers(const struct speech_line *line);         /* the caller's turn */
bool speech_is_answer(const struct speech *speech, uint32_t gen); /* to the caller's turn */
void speech_done(struct speech *speech, uint32_t gen);            /* all of its audio has come */
size_t speech_ready_samples(const struct speech *speech); /* of the front line, to be played */
bool speech_is_waiting(const struct speech *speech);      /* the voice owes audio */

/* Counts played samples into the pieces in order; returns those that are left over, which means
 * that a line has ended in between: call again after it is dropped. */
size_t speech_played(struct speech_line *line, size_t samples, int64_t now_us);
size_t speech_total(const struct speech_piece *piece); /* its samples, a guess until all came */
/* The piece that is now at the front of the line, or NULL. */
struct speech_piece *speech_current(const struct speech_line *line);
bool speech_is_over(const struct speech_line *line); /* closed, and all is played */
/* Appends what the caller has heard of the line so far. */
void speech_heard(const struct speech_line *line, struct buf *out);
