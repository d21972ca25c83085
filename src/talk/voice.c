/* The saying: lines to the voice a little ahead of what is heard, their ends, their cuts. */
#include <string.h>

#include "talk/internal.h"
#include "text/script.h"

enum { PIECE_MAX_BYTES = 16 * 1024 };

bool voice_add(struct talk *talk, struct speech_line *line, const char *text, bool is_fixed)
{
    if (!script_is_speakable(text, talk->iso))
        return false;
    AUTO_BUF plain = BUF_INIT(PIECE_MAX_BYTES);
    plain_speech(text, &plain);
    if (plain.len == 0)
        return false;
    speech_add(line, plain.data, is_fixed);
    return true;
}

void voice_say(struct talk *talk, enum speech_kind kind, const char *text, bool is_interruptible)
{
    /* A say goes first, but does not cut another. */
    const struct speech_line *front = speech_front(&talk->speech);
    bool is_urgent =
        kind == SPEECH_SAY && talk->floor != TURN_ABSENT && !(front && front->kind == SPEECH_SAY);
    struct speech_line *line = speech_open(&talk->speech, kind, is_interruptible, is_urgent);
    struct splitter splitter;
    splitter_init(&splitter, false);
    size_t count = 0, silent = 0;
    if (splitter_push(&splitter, text, strlen(text)) == OK)
        splitter_finish(&splitter);
    const char *piece;
    while ((piece = splitter_next(&splitter))) {
        count++;
        silent += !voice_add(talk, line, piece, kind != SPEECH_SAY) &&
                  !script_is_speakable(piece, talk->iso);
    }
    splitter_clear(&splitter);
    speech_close(line);
    if (silent * 2 > count && (kind == SPEECH_GREETING || !talk->has_script_error)) {
        talk->has_script_error = talk->has_script_error || kind != SPEECH_GREETING;
        talk_do(talk,
                (struct talk_action){
                    .what = TALK_DO_ERROR,
                    .stage = kind == SPEECH_GREETING ? TALK_STAGE_GREETING : TALK_STAGE_SPEECH,
                    .text = "most of the line is in a script that the call's language does "
                            "not use, and is not spoken"});
    }
    if (list_is_empty(&line->pieces))
        speech_drop(line);
}

/* What the caller has heard of a line becomes a turn of the agent. */
static void end_line(struct talk *talk, struct speech_line *line)
{
    AUTO_BUF heard = BUF_INIT(SPEECH_LINE_MAX_BYTES);
    speech_heard(line, &heard);
    if (talk->shown_line == line->id) {
        talk_do(talk, (struct talk_action){.what = TALK_DO_TRANSCRIPT,
                                           .role = TALK_AGENT,
                                           .segment = line->id,
                                           .text = "",
                                           .is_last = true});
        talk->shown_line = 0;
    }
    if (heard.len > 0 && line->is_heard) {
        history_add(&talk->history, LLM_ASSISTANT, heard.data);
        talk_do(talk, (struct talk_action){.what = TALK_DO_TURN,
                                           .role = TALK_AGENT,
                                           .text = heard.data,
                                           .at_us = line->began_us});
    }
    if (talk->reply.line == line)
        talk->reply.line = NULL;
    speech_drop(line);
}

void voice_cut(struct talk *talk, bool is_by_caller)
{
    bool has_cut = false;
    struct speech_line *line = speech_front(&talk->speech);
    if (!is_by_caller && line && line->kind == SPEECH_SAY && line->is_heard)
        return;
    LIST_EACH (line, &talk->speech.lines, struct speech_line, node) {
        if (!line->is_heard && (line->kind == SPEECH_SAY || !is_by_caller))
            continue;
        bool is_reply = talk->reply.line == line;
        end_line(talk, line);
        if (is_reply)
            reply_cancel(talk);
        has_cut = true;
    }
    if (!has_cut && !speech_front(&talk->speech))
        return;
    talk_do(talk, (struct talk_action){.what = TALK_DO_UNSPEAK});
    speech_unask(&talk->speech);
    talk->speak_due_us = INT64_MAX;
}

void voice_end(struct talk *talk)
{
    struct speech_line *line;
    LIST_EACH (line, &talk->speech.lines, struct speech_line, node)
        end_line(talk, line);
}

/* ---- live words ---- */

/* Where a word ends at or behind a place in the text. */
static size_t word_end(const char *text, size_t at)
{
    return at + strcspn(text + at, " ");
}

/* Live words keep pace with the voice, so that those of a line that is cut are hardly more than was
 * heard. more: samples that are about to be played. */
static void show_words(struct talk *talk, struct speech_line *line, size_t more)
{
    struct speech_piece *piece = speech_current(line);
    if (!piece || piece->samples == 0)
        return;
    size_t len = strlen(piece->text), total = speech_total(piece), played = piece->played + more;
    size_t reach = played + TALK_SHOW_AHEAD_SAMPLES;
    bool is_end = piece->is_done && played >= total;
    size_t bytes = reach >= total ? len : word_end(piece->text, len * reach / total);
    bool is_due =
        piece->shown_bytes == 0 || is_end || played >= piece->shown_at + TALK_SHOW_EVERY_SAMPLES;
    if (bytes <= piece->shown_bytes || !is_due)
        return;
    bool is_next = talk->shown_line == line->id && piece->shown_bytes == 0;
    AUTO_BUF text = BUF_INIT(PIECE_MAX_BYTES + 1);
    buf_append_str(&text, is_next ? " " : "");
    buf_append(&text, piece->text + piece->shown_bytes, bytes - piece->shown_bytes);
    piece->shown_bytes = bytes;
    piece->shown_at = played;
    talk->shown_line = line->id;
    talk_do(talk, (struct talk_action){.what = TALK_DO_TRANSCRIPT,
                                       .role = TALK_AGENT,
                                       .segment = line->id,
                                       .text = text.data});
}

/* A piece whose samples were all played before their end was known. */
static void finish_words(struct talk *talk, uint32_t gen)
{
    struct speech_line *line = speech_front(&talk->speech);
    struct speech_piece *piece = line ? speech_current(line) : NULL;
    if (!piece || piece->gen != gen || piece->played == 0 || piece->played < piece->samples)
        return;
    piece->is_done = true;
    show_words(talk, line, 0);
}

/* ---- the voice's answers ---- */

static void voice_failed(struct talk *talk, enum engine_error error, const char *detail,
                         bool is_fatal, int64_t now_us)
{
    const struct speech_line *front = speech_front(&talk->speech);
    bool is_greeting = front && front->kind == SPEECH_GREETING;
    talk_failed(talk,
                &(struct talk_failure){TALK_TTS, is_greeting ? TALK_STAGE_GREETING : TALK_STAGE_TTS,
                                       error, detail, is_fatal},
                now_us);
    talk_do(talk, (struct talk_action){.what = TALK_DO_UNSPEAK});
    speech_unask(&talk->speech);
    talk->speak_due_us = INT64_MAX;
    if (++talk->speak_tries < TALK_TRIES_MOST)
        return;
    talk->speak_tries = 0; /* it cannot be said: the conversation goes on without it */
    reply_cancel(talk);
    voice_end(talk);
    talk_move(talk, TURN_DONE);
}

bool talk_voice(struct talk *talk, const struct tts_event *event, int64_t now_us)
{
    if (talk->floor == TURN_OVER)
        return false;
    bool is_kept = false;
    switch (event->kind) {
    case TTS_AUDIO:
        if (speech_is_endless(&talk->speech, event->gen, event->count)) {
            voice_failed(talk, ENGINE_PROTOCOL, "its sound does not end", true, now_us);
            break;
        }
        is_kept = speech_audio(&talk->speech, event->gen, event->count);
        if (!is_kept)
            return false;
        if (!talk->has_first_byte)
            quality_add(&talk->quality.first_byte, now_us - talk->speak_asked_us);
        talk->has_first_byte = true;
        talk->speak_due_us = now_us + TALK_VOICE_US;
        talk->speak_tries = 0;
        talk_worked(talk, TALK_TTS);
        break;
    case TTS_DONE:
        finish_words(talk, event->gen);
        speech_done(&talk->speech, event->gen);
        talk->speak_due_us = speech_is_waiting(&talk->speech) ? now_us + TALK_VOICE_US : INT64_MAX;
        break;
    case TTS_ERROR:
        if (event->gen && !speech_has(&talk->speech, event->gen) && !event->is_fatal)
            return false;
        voice_failed(talk, event->error, event->message, event->is_fatal, now_us);
        break;
    }
    talk_settle(talk, now_us);
    return is_kept;
}

void voice_reopened(struct talk *talk)
{
    speech_unask(&talk->speech);
}

/* ---- what is heard ---- */

/* The front lines that are over become turns; then somebody else has the floor. */
static void end_lines(struct talk *talk)
{
    struct speech_line *line;
    while ((line = speech_front(&talk->speech)) && speech_is_over(line))
        end_line(talk, line);
    if (talk->floor != TURN_SPEAKING)
        return;
    if (!line)
        talk_move(talk, reply_is_active(talk) ? TURN_WAIT : TURN_DONE);
    else if (list_is_empty(&line->pieces))
        talk_move(talk, TURN_WAIT);
}

void talk_played(struct talk *talk, size_t samples, int64_t now_us)
{
    struct speech_line *line;
    while (samples > 0 && (line = speech_front(&talk->speech))) {
        if (!line->is_heard && talk->voice_end_us > 0 && line->kind == SPEECH_REPLY) {
            quality_voice_to_voice(&talk->quality, talk->voice_end_us, now_us);
            talk_do(talk,
                    (struct talk_action){.what = TALK_DO_ANSWERED, .at_us = talk->voice_end_us});
            talk->voice_end_us = 0;
        }
        show_words(talk, line, samples);
        size_t left = speech_played(line, samples, now_us);
        if (left == samples || !speech_is_over(line))
            break;
        samples = left;
        end_line(talk, line);
    }
    talk_settle(talk, now_us);
}

static void ask_voice(struct talk *talk, int64_t now_us)
{
    if (talk->engines[TALK_TTS].is_closed || !talk->is_begun)
        return;
    struct speech_piece *piece;
    bool is_last = false;
    while ((piece = speech_ask(&talk->speech, &is_last))) {
        if (talk->speak_due_us == INT64_MAX) {
            talk->speak_asked_us = now_us;
            talk->has_first_byte = false;
            talk->speak_due_us = now_us + TALK_VOICE_US;
        }
        talk_do(talk, (struct talk_action){.what = TALK_DO_SPEAK,
                                           .gen = piece->gen,
                                           .text = piece->text,
                                           .is_fixed = piece->is_fixed,
                                           .is_last = is_last});
    }
}

void voice_settle(struct talk *talk, int64_t now_us)
{
    if (now_us >= talk->speak_due_us)
        voice_failed(talk, ENGINE_TIMEOUT, NULL, true, now_us);
    ask_voice(talk, now_us);
    end_lines(talk);
    const struct speech_line *line = speech_front(&talk->speech);
    if (line && speech_ready_samples(&talk->speech) > 0) {
        talk_move(talk, TURN_SPEAK);
        if (!line->is_interruptible)
            talk_move(talk, TURN_INSIST);
    } else if (!line && !reply_is_active(talk) && talk->floor == TURN_THINKING) {
        talk_move(talk, TURN_DONE);
    }
}

int64_t voice_deadline_us(const struct talk *talk)
{
    return talk->speak_due_us;
}
