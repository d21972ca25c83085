#include "talk/speech.h"

#include <string.h>

#include "base/attr.h"
#include "base/mem.h"
#include "text/words.h"

void speech_init(struct speech *speech)
{
    *speech = (struct speech){0};
    list_init(&speech->lines);
}

void speech_clear(struct speech *speech)
{
    struct speech_line *line;
    LIST_EACH (line, &speech->lines, struct speech_line, node)
        speech_drop(line);
}

static void piece_free(struct speech_piece *piece)
{
    list_remove(&piece->node);
    mem_free(piece->text);
    mem_free(piece);
}

/* While audio still comes its length is a guess, so that the first samples do not look like the
 * whole sentence. */
size_t speech_total(const struct speech_piece *piece)
{
    if (piece->is_done)
        return piece->samples;
    return MAX(piece->samples, text_length(piece->text) * SPEECH_CHAR_SAMPLES);
}

static size_t heard_bytes(const struct speech_piece *piece)
{
    return piece->played ? words_played(piece->text, piece->played, speech_total(piece)) : 0;
}

static void add_heard(struct buf *buf, const char *text, size_t len)
{
    if (len == 0)
        return;
    if (buf->len > 0)
        buf_append_char(buf, ' ');
    buf_append(buf, text, len);
}

struct speech_line *speech_open(struct speech *speech, enum speech_kind kind, bool is_interruptible,
                                bool is_urgent)
{
    struct speech_line *line = mem_new(struct speech_line);
    line->kind = kind;
    line->id = ++speech->last_id;
    line->is_interruptible = is_interruptible;
    list_init(&line->pieces);
    buf_init(&line->heard, SPEECH_LINE_MAX_BYTES);

    struct list_node *before = &speech->lines;
    if (is_urgent) {
        struct speech_line *other;
        LIST_EACH (other, &speech->lines, struct speech_line, node) {
            if (other->kind == kind)
                continue;
            before = &other->node;
            break;
        }
    }
    list_push_back(before, &line->node);
    return line;
}

void speech_add(struct speech_line *line, const char *text, bool is_fixed)
{
    struct speech_piece *piece = mem_new(struct speech_piece);
    piece->text = mem_strdup(text);
    piece->is_fixed = is_fixed;
    list_push_back(&line->pieces, &piece->node);
}

void speech_close(struct speech_line *line)
{
    line->is_closed = true;
}

void speech_drop(struct speech_line *line)
{
    struct speech_piece *piece;
    LIST_EACH (piece, &line->pieces, struct speech_piece, node)
        piece_free(piece);
    buf_clear(&line->heard);
    list_remove(&line->node);
    mem_free(line);
}

struct speech_line *speech_front(const struct speech *speech)
{
    return LIST_FIRST(&speech->lines, struct speech_line, node);
}

struct speech_piece *speech_ask(struct speech *speech, bool *out_is_last)
{
    size_t samples = 0;
    int owed = 0;
    struct speech_line *line;
    LIST_EACH (line, &speech->lines, struct speech_line, node) {
        struct speech_piece *piece;
        LIST_EACH (piece, &line->pieces, struct speech_piece, node) {
            if (samples > SPEECH_AHEAD_SAMPLES || owed >= SPEECH_AHEAD_PIECES)
                return NULL;
            if (!piece->gen) {
                piece->gen = ++speech->last_gen;
                *out_is_last = line->is_closed && piece->node.next == &line->pieces;
                return piece;
            }
            samples += piece->samples - piece->played;
            owed += !piece->is_done;
        }
        if (!line->is_closed) /* what it still gets comes before the next line */
            return NULL;
    }
    return NULL;
}

/* What was heard of a piece stands; its rest is a piece that was not played yet. False: there is no
 * rest. */
static bool keep_rest(struct speech_line *line, struct speech_piece *piece)
{
    size_t heard = heard_bytes(piece);
    add_heard(&line->heard, piece->text, heard);
    size_t rest = heard + strspn(piece->text + heard, " ");
    if (!piece->text[rest])
        return false;
    char *text = mem_strdup(piece->text + rest);
    mem_free(piece->text);
    piece->text = text;
    piece->shown_bytes -= MIN(piece->shown_bytes, rest);
    piece->shown_at = piece->played = 0;
    piece->is_fixed = false; /* others do not say the rest alone */
    return true;
}

/* A sentence is spoken on from the word that was not heard any more. */
void speech_unask(struct speech *speech)
{
    struct speech_line *line;
    LIST_EACH (line, &speech->lines, struct speech_line, node) {
        struct speech_piece *piece;
        LIST_EACH (piece, &line->pieces, struct speech_piece, node) {
            if (piece->played > 0 && !keep_rest(line, piece)) {
                piece_free(piece);
                continue;
            }
            piece->gen = 0;
            piece->samples = 0;
            piece->is_done = false;
        }
    }
}

void speech_skip(struct speech *speech, uint32_t gen)
{
    struct speech_line *line;
    LIST_EACH (line, &speech->lines, struct speech_line, node) {
        struct speech_piece *piece;
        LIST_EACH (piece, &line->pieces, struct speech_piece, node) {
            if (!gen || piece->gen != gen)
                continue;
            add_heard(&line->heard, piece->text, heard_bytes(piece));
            piece_free(piece);
            return;
        }
    }
}

static struct speech_piece *piece_of(const struct speech *speech, uint32_t gen)
{
    struct speech_line *line;
    LIST_EACH (line, &speech->lines, struct speech_line, node) {
        struct speech_piece *piece;
        LIST_EACH (piece, &line->pieces, struct speech_piece, node)
            if (gen && piece->gen == gen)
                return piece;
    }
    return NULL;
}

bool speech_has(const struct speech *speech, uint32_t gen)
{
    return piece_of(speech, gen) != NULL;
}

bool speech_line_answers(const struct speech_line *line)
{
    return line->kind == SPEECH_REPLY || line->kind == SPEECH_NOTICE;
}

bool speech_is_answer(const struct speech *speech, uint32_t gen)
{
    struct speech_line *line;
    LIST_EACH (line, &speech->lines, struct speech_line, node) {
        struct speech_piece *piece;
        LIST_EACH (piece, &line->pieces, struct speech_piece, node)
            if (gen && piece->gen == gen)
                return speech_line_answers(line);
    }
    return false;
}

bool speech_is_endless(const struct speech *speech, uint32_t gen, size_t samples)
{
    const struct speech_piece *piece = piece_of(speech, gen);
    return piece && piece->samples + samples > text_length(piece->text) * SPEECH_CHAR_MAX_SAMPLES +
                                                   SPEECH_PIECE_MORE_SAMPLES;
}

bool speech_audio(struct speech *speech, uint32_t gen, size_t samples)
{
    struct speech_piece *piece = piece_of(speech, gen);
    if (!piece || piece->is_done)
        return false;
    piece->samples += samples;
    return true;
}

static void finish_piece(struct speech_line *line, struct speech_piece *piece)
{
    if (piece->samples > 0)
        add_heard(&line->heard, piece->text, strlen(piece->text));
    piece_free(piece);
}

/* Takes the pieces off the front that have been played to the end. */
static void settle(struct speech_line *line)
{
    struct speech_piece *piece;
    LIST_EACH (piece, &line->pieces, struct speech_piece, node) {
        if (!piece->is_done || piece->played < piece->samples)
            return;
        finish_piece(line, piece);
    }
}

void speech_done(struct speech *speech, uint32_t gen)
{
    struct speech_piece *piece = piece_of(speech, gen);
    if (!piece)
        return;
    piece->is_done = true;
    struct speech_line *line;
    LIST_EACH (line, &speech->lines, struct speech_line, node)
        settle(line);
}

size_t speech_ready_samples(const struct speech *speech)
{
    size_t samples = 0;
    struct speech_line *line = speech_front(speech);
    struct speech_piece *piece;
    if (line)
        LIST_EACH (piece, &line->pieces, struct speech_piece, node)
            samples += piece->samples - piece->played;
    return samples;
}

bool speech_is_waiting(const struct speech *speech)
{
    struct speech_line *line;
    LIST_EACH (line, &speech->lines, struct speech_line, node) {
        struct speech_piece *piece;
        LIST_EACH (piece, &line->pieces, struct speech_piece, node)
            if (piece->gen && !piece->is_done)
                return true;
    }
    return false;
}

size_t speech_played(struct speech_line *line, size_t samples, int64_t now_us)
{
    if (samples > 0 && !line->is_heard && !list_is_empty(&line->pieces)) {
        line->is_heard = true;
        line->began_us = now_us;
    }
    struct speech_piece *piece;
    LIST_EACH (piece, &line->pieces, struct speech_piece, node) {
        size_t part = piece->samples - piece->played;
        if (part > samples)
            part = samples;
        piece->played += part;
        samples -= part;
        if (piece->played < piece->samples || !piece->is_done)
            break;
        finish_piece(line, piece); /* and with the last sample those that have none */
    }
    return samples;
}

struct speech_piece *speech_current(const struct speech_line *line)
{
    return LIST_FIRST(&line->pieces, struct speech_piece, node);
}

bool speech_is_over(const struct speech_line *line)
{
    return line->is_closed && list_is_empty(&line->pieces);
}

void speech_heard(const struct speech_line *line, struct buf *out)
{
    buf_append(out, line->heard.data ? line->heard.data : "", line->heard.len);
    const struct speech_piece *piece = speech_current(line);
    if (piece)
        add_heard(out, piece->text, heard_bytes(piece));
}
