/* The making of a reply: look-up, model, tools, until the words of the answer are cut into pieces
 * for the voice. Made early, it waits in READY (or still runs) until its turn is committed.
 *
 *     NONE -> LOOK_UP -> ASKED -> (READY) -> NONE
 *                          ^ '-> TOOLS -.
 *                          '------------' */
#include <string.h>

#include "base/mem.h"
#include "talk/internal.h"
#include "talk/prompt.h"
#include "text/phrase.h"
#include "text/script.h"
#include "text/words.h"

enum { PASSAGES_MAX_BYTES = 256 * 1024, PASSAGES_MOST = 20, DELTA_MAX_BYTES = 64 * 1024 };

void reply_init(struct reply *reply)
{
    *reply = (struct reply){.due_us = INT64_MAX, .hold_us = INT64_MAX};
    splitter_init(&reply->splitter, true);
    think_filter_init(&reply->think);
}

void reply_clear(struct talk *talk)
{
    struct reply *reply = &talk->reply;
    tools_clear(reply);
    mem_free(reply->caller);
    arena_free(reply->memory);
    splitter_clear(&reply->splitter);
    reply_init(reply);
}

bool reply_is_active(const struct talk *talk)
{
    return talk->reply.stage != REPLY_NONE && talk->reply.is_committed;
}

void reply_cancel(struct talk *talk)
{
    if (talk->reply.stage == REPLY_NONE)
        return;
    if (talk->reply.stage == REPLY_ASKED)
        talk_do(talk, (struct talk_action){.what = TALK_DO_UNASK});
    if (talk->reply.stage == REPLY_TOOLS)
        tools_abandon(talk);
    if (talk->reply.line)
        speech_close(talk->reply.line);
    reply_clear(talk);
}

static void ask(struct talk *talk, int64_t now_us)
{
    struct reply *reply = &talk->reply;
    reply->stage = REPLY_ASKED;
    reply->asked_us = now_us;
    reply->due_us = now_us + TALK_MODEL_US;
    reply->has_token = reply->has_text = false;
    splitter_reset(&reply->splitter);
    think_filter_init(&reply->think);
    if (!talk->engines[TALK_LLM].is_closed) /* else reply_reopened() asks */
        talk_do(talk, (struct talk_action){.what = TALK_DO_ASK, .gen = ++talk->last_gen});
}

void reply_start(struct talk *talk, const char *caller, bool is_committed, int64_t now_us)
{
    reply_cancel(talk);
    struct reply *reply = &talk->reply;
    reply->caller = mem_strdup(caller);
    reply->is_committed = is_committed;
    reply->is_greeting = !caller;
    if (!caller || !talk->config->has_documents) {
        ask(talk, now_us);
        return;
    }
    reply->stage = REPLY_LOOK_UP;
    reply->due_us = now_us + TALK_LOOK_UP_US;
    talk_do(talk,
            (struct talk_action){.what = TALK_DO_LOOK_UP, .gen = ++talk->last_gen, .text = caller});
}

static void keep_passages(struct reply *reply, const struct llm_passage *passages, size_t count)
{
    count = MIN(count, (size_t)PASSAGES_MOST);
    if (count == 0)
        return;
    size_t bytes = 0;
    reply->memory = arena_new(PASSAGES_MAX_BYTES);
    struct llm_passage *kept = arena_new_n(reply->memory, struct llm_passage, count);
    for (size_t i = 0; i < count; i++) {
        const char *question = passages[i].question;
        bytes += strlen(passages[i].text) + (question ? strlen(question) : 0) + 1024;
        if (bytes > PASSAGES_MAX_BYTES / 2)
            break;
        kept[i] = (struct llm_passage){
            .question = arena_strdup(reply->memory, passages[i].question),
            .text = arena_strdup(reply->memory, passages[i].text),
            .document = arena_strdup(reply->memory, passages[i].document),
            .similarity = passages[i].similarity,
        };
        reply->passage_count = i + 1;
    }
    reply->passages = kept;
}

void talk_found(struct talk *talk, uint32_t gen, const struct llm_passage *passages, size_t count,
                int64_t now_us)
{
    if (talk->reply.stage != REPLY_LOOK_UP || gen != talk->last_gen)
        return;
    keep_passages(&talk->reply, passages, count);
    ask(talk, now_us);
    talk_settle(talk, now_us);
}

void reply_request(struct talk *talk, struct llm_request *out)
{
    const struct talk_config *config = talk->config;
    const struct reply *reply = &talk->reply;
    size_t most = config->tool_count + 2, count = 0;
    struct llm_tool *tools = arena_new_n(talk->request, struct llm_tool, most);
    if (!reply->is_greeting && reply->steps < TALK_STEPS_MOST) {
        for (size_t i = 0; i < config->tool_count; i++)
            tools[count++] = config->tools[i];
        if (config->has_end_call)
            tools[count++] = prompt_end_call;
        if (config->has_change_language)
            tools[count++] = prompt_change_language;
    }
    const char *wish = config->greeting_instruction && *config->greeting_instruction
                           ? config->greeting_instruction
                           : "Greet the caller and offer your help, in one or two sentences.";
    struct prompt_turn turn = {
        .system = config->system,
        .history = &talk->history,
        .caller = reply->is_committed ? NULL : reply->caller,
        .instruction =
            reply->is_greeting
                ? arena_printf(talk->request,
                               "The caller has just joined. Say only the opening line: %s", wish)
                : NULL,
        .has_documents = config->has_documents && !reply->is_greeting,
        .passages = reply->passages,
        .passage_count = reply->passage_count,
    };
    *out = (struct llm_request){
        .tools = tools,
        .tool_count = count,
        .language = talk->iso,
        .temperature = config->temperature,
        .max_tokens = config->max_tokens,
    };
    prompt_messages(&turn, talk->request, out);
}

/* ---- words ---- */

static void speak_pieces(struct talk *talk)
{
    struct reply *reply = &talk->reply;
    if (!reply->is_committed)
        return;
    const char *piece;
    while ((piece = splitter_next(&reply->splitter))) {
        if (!reply->line)
            reply->line =
                speech_open(&talk->speech, reply->is_greeting ? SPEECH_GREETING : SPEECH_REPLY,
                            talk->config->is_interruptible, false);
        size_t chars = text_length(piece);
        if (voice_add(talk, reply->line, piece, false)) {
            reply->spoken_chars += chars;
            reply->has_text = true;
        } else if (!script_is_speakable(piece, talk->iso)) {
            reply->silent_chars += chars;
        }
    }
}

/* The contract's event table: told when most of a reply could not be spoken. */
static void tell_silent(struct talk *talk)
{
    const struct reply *reply = &talk->reply;
    if (reply->silent_chars <= reply->spoken_chars)
        return;
    if (!reply->is_greeting && talk->has_script_error)
        return;
    talk->has_script_error = talk->has_script_error || !reply->is_greeting;
    talk_do(talk, (struct talk_action){
                      .what = TALK_DO_ERROR,
                      .stage = reply->is_greeting ? TALK_STAGE_GREETING : TALK_STAGE_SPEECH,
                      .text = "most of the text was in a script that the call's language does "
                              "not use, and was not spoken",
                  });
}

/* The answer is complete: its line is closed; a caller is never left without one. */
static void finish(struct talk *talk)
{
    struct reply *reply = &talk->reply;
    tell_silent(talk);
    bool is_mute = !reply->line || (!reply->line->is_heard && list_is_empty(&reply->line->pieces));
    if (reply->line) {
        speech_close(reply->line);
        if (is_mute)
            speech_drop(reply->line);
        reply->line = NULL;
    }
    bool is_greeting = reply->is_greeting;
    reply_clear(talk);
    if (is_mute && !talk->is_ending)
        voice_say(talk, is_greeting ? SPEECH_GREETING : SPEECH_NOTICE,
                  phrase_line(is_greeting ? PHRASE_GREETING : PHRASE_NOT_HEARD, talk->iso),
                  talk->config->is_interruptible);
}

static void give_up(struct talk *talk)
{
    bool is_greeting = talk->reply.is_greeting;
    bool is_partly_said = talk->reply.line != NULL;
    if (talk->reply.line)
        speech_close(talk->reply.line);
    talk->reply.line = NULL;
    bool is_committed = talk->reply.is_committed;
    reply_clear(talk);
    if (is_partly_said || !is_committed)
        return;
    voice_say(talk, is_greeting ? SPEECH_GREETING : SPEECH_NOTICE,
              phrase_line(is_greeting ? PHRASE_GREETING : PHRASE_FAILED, talk->iso),
              talk->config->is_interruptible);
}

static void model_failed(struct talk *talk, enum engine_error error, const char *message,
                         int64_t now_us)
{
    struct reply *reply = &talk->reply;
    enum talk_stage stage = reply->is_greeting ? TALK_STAGE_GREETING : TALK_STAGE_LLM;
    talk_do(talk, (struct talk_action){.what = TALK_DO_UNASK});
    talk_failed(talk, &(struct talk_failure){TALK_LLM, stage, error, message, false}, now_us);
    if (!reply->is_committed && !talk->engines[TALK_LLM].is_closed) {
        reply_clear(talk);
        return;
    }
    if (reply->has_text || ++reply->tries >= TALK_TRIES_MOST ||
        (!talk->engines[TALK_LLM].is_closed && error != ENGINE_TRANSIENT &&
         error != ENGINE_PROTOCOL)) {
        give_up(talk);
        return;
    }
    ask(talk, now_us);
}

/* The model has said all of this answer, and the turn is committed. */
static void conclude(struct talk *talk, int64_t now_us)
{
    if (talk->reply.call_count > 0)
        tools_start(talk, now_us);
    else
        finish(talk);
}

static void take_call(struct reply *reply, const struct llm_tool_call *call)
{
    if (reply->call_count == TALK_CALLS_MOST)
        return;
    reply->calls[reply->call_count++].call = (struct llm_tool_call){
        .id = mem_strdup(call->id),
        .name = mem_strdup(call->name),
        .arguments = mem_strdup(call->arguments ? call->arguments : "{}"),
        .extra = mem_strdup(call->extra),
    };
}

static void take_text(struct talk *talk, const char *delta)
{
    struct reply *reply = &talk->reply;
    AUTO_BUF text = BUF_INIT(DELTA_MAX_BYTES);
    think_filter_push(&reply->think, delta, &text);
    if (text.len > 0 && splitter_push(&reply->splitter, text.data, text.len) == OK)
        speak_pieces(talk);
}

static void model_done(struct talk *talk, int64_t now_us)
{
    struct reply *reply = &talk->reply;
    AUTO_BUF text = BUF_INIT(DELTA_MAX_BYTES);
    think_filter_finish(&reply->think, &text);
    if (text.len > 0 && splitter_push(&reply->splitter, text.data, text.len) != OK)
        reply->tries++;
    splitter_finish(&reply->splitter);
    talk_worked(talk, TALK_LLM);
    reply->due_us = INT64_MAX;
    reply->stage = REPLY_READY;
    if (!reply->is_committed)
        return;
    speak_pieces(talk);
    conclude(talk, now_us);
}

void talk_model(struct talk *talk, const struct llm_event *event, int64_t now_us)
{
    struct reply *reply = &talk->reply;
    if (reply->stage != REPLY_ASKED || event->gen != talk->last_gen || talk->floor == TURN_OVER)
        return;
    if (!reply->has_token && event->kind != LLM_ERROR) {
        reply->has_token = true;
        quality_add(&talk->quality.first_token, now_us - reply->asked_us);
    }
    reply->due_us = now_us + TALK_MODEL_US;
    switch (event->kind) {
    case LLM_TEXT:
        take_text(talk, event->text);
        break;
    case LLM_TOOL_CALL:
        take_call(reply, &event->call);
        break;
    case LLM_DONE:
        model_done(talk, now_us);
        break;
    case LLM_ERROR:
        model_failed(talk, event->error, event->message, now_us);
        break;
    }
    talk_settle(talk, now_us);
}

/* ---- the turn ---- */

void reply_commit(struct talk *talk, const char *caller, int64_t now_us)
{
    struct reply *reply = &talk->reply;
    bool is_made = reply->stage != REPLY_NONE && reply->caller && !reply->is_committed &&
                   words_equal(reply->caller, caller);
    if (!is_made) {
        reply_start(talk, caller, true, now_us);
        return;
    }
    reply->is_committed = true;
    speak_pieces(talk);
    if (reply->stage == REPLY_READY)
        conclude(talk, now_us);
}

void reply_reopened(struct talk *talk, int64_t now_us)
{
    if (talk->reply.stage == REPLY_ASKED)
        ask(talk, now_us);
}

void reply_settle(struct talk *talk, int64_t now_us)
{
    struct reply *reply = &talk->reply;
    if (reply->stage == REPLY_TOOLS && now_us >= reply->hold_us && talk->floor == TURN_THINKING) {
        reply->hold_us = INT64_MAX;
        reply->is_held = true;
        if (!reply->line)
            reply->line =
                speech_open(&talk->speech, SPEECH_REPLY, talk->config->is_interruptible, false);
        voice_add(talk, reply->line, phrase_line(PHRASE_HOLD, talk->iso), true);
    }
    if (now_us < reply->due_us)
        return;
    reply->due_us = INT64_MAX;
    if (reply->stage == REPLY_LOOK_UP)
        ask(talk, now_us);
    else if (reply->stage == REPLY_ASKED)
        model_failed(talk, ENGINE_TIMEOUT, "the language model did not answer in time", now_us);
}

int64_t reply_deadline_us(const struct talk *talk)
{
    const struct reply *reply = &talk->reply;
    if (reply->stage == REPLY_NONE)
        return INT64_MAX;
    int64_t hold_us = talk->floor == TURN_THINKING ? reply->hold_us : INT64_MAX;
    return MIN(reply->due_us, hold_us);
}
