#include "talk/voice.h"

#include <string.h>

#include "engine/tts.h"
#include "talk/actions.h"
#include "talk/health.h"
#include "talk/history.h"
#include "talk/quality.h"
#include "talk/timing.h"
#include "text/aloud.h"
#include "text/plain.h"
#include "text/script.h"
#include "text/sentence.h"

enum {
    PIECE_MAX_BYTES = 16 * 1024,
    SHOW_AHEAD_SAMPLES = 24000, /* live words lead the voice by this */
    SHOW_EVERY_SAMPLES = 19200, /* and come in bunches of it */
};

/* Who has another voice does not wait long for this one. */
static int64_t wait_us(const struct voice *voice)
{
    return health_has_more(voice->health, TALK_TTS) ? VOICE_WAIT_LITTLE_US : VOICE_WAIT_US;
}

/* To the first sound. What the model took is gone from the caller's patience. */
static int64_t first_due_us(const struct voice *voice, int64_t now_us)
{
    int64_t due_us = now_us + wait_us(voice);
    if (!health_has_more(voice->health, TALK_TTS) || voice->tries > 0 ||
        voice->quiet_us == INT64_MAX)
        return due_us;
    int64_t patience_us = voice->quiet_us + VOICE_SILENCE_US;
    return MIN(due_us, MAX(patience_us, now_us + VOICE_WAIT_LEAST_US));
}

void voice_init(struct voice *voice)
{
    speech_init(&voice->speech);
    voice->due_us = voice->quiet_us = INT64_MAX;
}

void voice_clear(struct voice *voice)
{
    speech_clear(&voice->speech);
}

bool voice_plain(const char *text, const char *iso, struct buf *out)
{
    size_t before = out->len;
    if (script_is_speakable(text, iso))
        plain_speech(text, out);
    return out->len > before;
}

void voice_add(struct voice *voice, enum speech_kind kind, const char *plain, bool is_fixed)
{
    if (!voice->growing)
        voice->growing = speech_open(&voice->speech, kind, voice->config->is_interruptible, false);
    speech_add(voice->growing, plain, is_fixed);
}

void voice_close(struct voice *voice)
{
    struct speech_line *line = TAKE(voice->growing);
    if (!line)
        return;
    speech_close(line);
    if (!line->is_heard && list_is_empty(&line->pieces))
        speech_drop(line);
}

void voice_tell_silent(struct voice *voice, const char *text)
{
    if (voice->has_script_error)
        return;
    voice->has_script_error = true;
    actions_add(
        voice->actions,
        (struct talk_action){.what = TALK_DO_ERROR, .stage = TALK_STAGE_SPEECH, .text = text});
}

void voice_say(struct voice *voice, enum speech_kind kind, const char *text, bool is_urgent)
{
    struct speech_line *line =
        speech_open(&voice->speech, kind, voice->config->is_interruptible, is_urgent);
    struct splitter splitter;
    splitter_init(&splitter, false);
    size_t count = 0, silent = 0;
    if (splitter_push(&splitter, text, strlen(text)) == OK)
        splitter_finish(&splitter);
    const char *piece;
    while ((piece = splitter_next(&splitter))) {
        AUTO_BUF plain = BUF_INIT(PIECE_MAX_BYTES);
        count++;
        silent += !script_is_speakable(piece, voice->iso);
        if (voice_plain(piece, voice->iso, &plain))
            speech_add(line, plain.data, kind != SPEECH_SAY);
    }
    splitter_clear(&splitter);
    speech_close(line);
    if (silent * 2 > count)
        voice_tell_silent(voice, "most of the line is in a script that the call's language does "
                                 "not use, and is not spoken");
    if (list_is_empty(&line->pieces))
        speech_drop(line);
}

/* What the caller has heard of a line becomes a turn of the agent. */
static void end_line(struct voice *voice, struct speech_line *line)
{
    AUTO_BUF heard = BUF_INIT(SPEECH_LINE_MAX_BYTES);
    speech_heard(line, &heard);
    if (voice->shown_line == line->id) {
        actions_add(voice->actions, (struct talk_action){.what = TALK_DO_TRANSCRIPT,
                                                         .role = TALK_AGENT,
                                                         .segment = line->id,
                                                         .text = "",
                                                         .is_last = true});
        voice->shown_line = 0;
    }
    if (heard.len > 0 && line->is_heard) {
        history_add(voice->history, LLM_ASSISTANT, heard.data);
        actions_add(voice->actions,
                    (struct talk_action){.what = TALK_DO_TURN,
                                         .role = TALK_AGENT,
                                         .text = heard.data,
                                         .at_us = line->began_us,
                                         .timing = line->is_timed ? &line->timing : NULL});
    }
    if (voice->growing == line)
        voice->growing = NULL;
    speech_drop(line);
}

bool voice_cut(struct voice *voice, bool is_by_caller)
{
    bool has_cut = false, has_cut_growing = false;
    struct speech_line *line = speech_front(&voice->speech);
    if (!is_by_caller && line && line->kind == SPEECH_SAY && line->is_heard)
        return false;
    LIST_EACH (line, &voice->speech.lines, struct speech_line, node) {
        if (!line->is_heard && (line->kind == SPEECH_SAY || !is_by_caller))
            continue;
        has_cut_growing = has_cut_growing || voice->growing == line;
        end_line(voice, line);
        has_cut = true;
    }
    if (!has_cut && !speech_front(&voice->speech))
        return false;
    actions_add(voice->actions, (struct talk_action){.what = TALK_DO_UNSPEAK});
    speech_unask(&voice->speech);
    voice->due_us = INT64_MAX;
    return has_cut_growing;
}

void voice_end(struct voice *voice)
{
    struct speech_line *line;
    LIST_EACH (line, &voice->speech.lines, struct speech_line, node)
        end_line(voice, line);
}

/* Live words. */

/* Where a word ends at or after a place in the text. */
static size_t word_end(const char *text, size_t at)
{
    return at + strcspn(text + at, " ");
}

/* Live words keep pace with the voice, so that those of a line that is cut are hardly more than was
 * heard. more: samples that are about to be played. */
static void show_words(struct voice *voice, struct speech_line *line, size_t more)
{
    struct speech_piece *piece = speech_current(line);
    if (!piece || piece->samples == 0)
        return;
    size_t len = strlen(piece->text), total = speech_total(piece), played = piece->played + more;
    size_t reach = played + SHOW_AHEAD_SAMPLES;
    bool is_end = piece->is_done && played >= total;
    size_t bytes = reach >= total ? len : word_end(piece->text, len * reach / total);
    bool is_due =
        piece->shown_bytes == 0 || is_end || played >= piece->shown_at + SHOW_EVERY_SAMPLES;
    if (bytes <= piece->shown_bytes || !is_due)
        return;
    bool is_next = voice->shown_line == line->id && piece->shown_bytes == 0;
    AUTO_BUF text = BUF_INIT(PIECE_MAX_BYTES + 1);
    buf_append_str(&text, is_next ? " " : "");
    buf_append(&text, piece->text + piece->shown_bytes, bytes - piece->shown_bytes);
    piece->shown_bytes = bytes;
    piece->shown_at = played;
    voice->shown_line = line->id;
    actions_add(voice->actions, (struct talk_action){.what = TALK_DO_TRANSCRIPT,
                                                     .role = TALK_AGENT,
                                                     .segment = line->id,
                                                     .text = text.data});
}

/* A piece whose samples were all played before their end was known. */
static void finish_words(struct voice *voice, uint32_t gen)
{
    struct speech_line *line = speech_front(&voice->speech);
    struct speech_piece *piece = line ? speech_current(line) : NULL;
    if (!piece || piece->gen != gen || piece->played == 0 || piece->played < piece->samples)
        return;
    piece->is_done = true;
    show_words(voice, line, 0);
}

/* The voice's answers. */

/* Another try cannot bring this piece, and there is no other voice that might. */
static bool is_unspeakable(const struct voice *voice, const struct tts_event *event)
{
    return event->gen && event->error == ENGINE_BAD_REQUEST &&
           !health_has_more(voice->health, TALK_TTS);
}

/* True: it cannot be said, the conversation goes on without it. */
static bool has_failed(struct voice *voice, enum engine_error error, const char *detail,
                       bool is_fatal, int64_t now_us)
{
    const struct speech_line *front = speech_front(&voice->speech);
    bool is_greeting = front && front->kind == SPEECH_GREETING;
    bool counts = health_failed(
        voice->health,
        &(struct talk_failure){TALK_TTS, is_greeting ? TALK_STAGE_GREETING : TALK_STAGE_TTS, error,
                               detail, is_fatal},
        now_us);
    actions_add(voice->actions, (struct talk_action){.what = TALK_DO_UNSPEAK});
    speech_unask(&voice->speech);
    voice->due_us = INT64_MAX;
    voice->tries += counts;
    if (voice->tries < VOICE_TRIES_MAX)
        return false;
    voice->tries = 0;
    voice_end(voice);
    return true;
}

static bool take_audio(struct voice *voice, const struct tts_event *event, int64_t now_us,
                       bool *out_is_kept)
{
    if (speech_is_endless(&voice->speech, event->gen, event->count))
        return has_failed(voice, ENGINE_PROTOCOL, "its sound does not end", true, now_us);
    *out_is_kept = speech_audio(&voice->speech, event->gen, event->count);
    if (!*out_is_kept)
        return false;
    if (!voice->has_first_byte)
        quality_add(&voice->quality->first_byte, now_us - voice->asked_us);
    voice->has_first_byte = true;
    if (speech_is_answer(&voice->speech, event->gen))
        timing_pass(voice->timing, POINT_FIRST_BYTE, now_us);
    voice->due_us = now_us + wait_us(voice);
    voice->tries = 0;
    health_worked(voice->health, TALK_TTS);
    return false;
}

bool voice_event(struct voice *voice, const struct tts_event *event, int64_t now_us,
                 bool *out_is_kept)
{
    *out_is_kept = false;
    switch (event->kind) {
    case TTS_AUDIO:
        return take_audio(voice, event, now_us, out_is_kept);
    case TTS_DONE:
        finish_words(voice, event->gen);
        speech_done(&voice->speech, event->gen);
        voice->due_us = speech_is_waiting(&voice->speech) ? now_us + wait_us(voice) : INT64_MAX;
        return false;
    case TTS_ERROR:
        if (event->gen && !speech_has(&voice->speech, event->gen) && !event->is_fatal)
            return false;
        if (is_unspeakable(voice, event))
            speech_skip(&voice->speech, event->gen);
        return has_failed(voice, event->error, event->message, event->is_fatal, now_us);
    }
    return false;
}

void voice_reopened(struct voice *voice)
{
    speech_unask(&voice->speech);
}

/* What is heard. */

static void end_lines(struct voice *voice)
{
    struct speech_line *line;
    while ((line = speech_front(&voice->speech)) && speech_is_over(line))
        end_line(voice, line);
}

bool voice_played(struct voice *voice, size_t samples, int64_t now_us)
{
    bool is_answer = false;
    struct speech_line *line;
    while (samples > 0 && (line = speech_front(&voice->speech))) {
        if (speech_is_over(line)) { /* nothing of it could be said */
            end_line(voice, line);
            continue;
        }
        is_answer = is_answer || (!line->is_heard && line->kind == SPEECH_REPLY);
        if (!line->is_heard && speech_line_answers(line))
            line->is_timed = timing_take(voice->timing, now_us, &line->timing);
        show_words(voice, line, samples);
        samples = speech_played(line, samples, now_us);
        if (!speech_is_over(line))
            break;
        end_line(voice, line);
    }
    return is_answer;
}

static void ask_voice(struct voice *voice, int64_t now_us)
{
    if (health_is_closed(voice->health, TALK_TTS) || !voice->may_ask)
        return;
    struct speech_piece *piece;
    bool is_last = false;
    while ((piece = speech_ask(&voice->speech, &is_last))) {
        if (voice->due_us == INT64_MAX) {
            voice->asked_us = now_us;
            voice->has_first_byte = false;
            voice->due_us = first_due_us(voice, now_us);
        }
        AUTO_BUF aloud = BUF_INIT(SPEECH_LINE_MAX_BYTES);
        aloud_write(piece->text, voice->iso, &aloud);
        actions_add(voice->actions, (struct talk_action){.what = TALK_DO_SPEAK,
                                                         .gen = piece->gen,
                                                         .text = aloud.data,
                                                         .is_fixed = piece->is_fixed,
                                                         .is_last = is_last});
    }
}

bool voice_settle(struct voice *voice, int64_t now_us)
{
    bool is_given_up =
        now_us >= voice->due_us && has_failed(voice, ENGINE_TIMEOUT, NULL, true, now_us);
    ask_voice(voice, now_us);
    end_lines(voice);
    return is_given_up;
}

int64_t voice_deadline_us(const struct voice *voice)
{
    return voice->due_us;
}
