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

enum { PASSAGES_MAX_BYTES = 256 * 1024, PASSAGES_MOST = 20, SLICE_BYTES = 16 * 1024 };

void reply_init(struct reply *reply)
{
    *reply = (struct reply){
        .due_us = INT64_MAX, .until_us = INT64_MAX, .hold_us = INT64_MAX, .again_us = INT64_MAX};
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
    reply->until_us = now_us + TALK_ANSWER_US;
    reply->again_us = INT64_MAX;
    reply->has_token = reply->has_text = false;
    reply->chars = 0;
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

/* One more line for this answer. */
static const char *instruction_of(const struct talk *talk)
{
    const struct reply *reply = &talk->reply;
    const char *wish = talk->config->greeting_instruction;
    if (reply->steps >= TALK_STEPS_MOST)
        return "Answer the caller now, in words, with what you know: no further tool can be used "
               "for this answer.";
    if (!reply->is_greeting)
        return NULL;
    return arena_printf(talk->request, "The caller has just joined. Say only the opening line: %s",
                        wish && *wish ? wish
                                      : "Greet the caller and offer your help, in one or two "
                                        "sentences.");
}

void reply_request(struct talk *talk, struct llm_request *out)
{
    const struct talk_config *config = talk->config;
    const struct reply *reply = &talk->reply;
    size_t most = config->tool_count + 2, count = 0;
    struct llm_tool *tools = arena_new_n(talk->request, struct llm_tool, most);
    if (tools_are_offered(talk)) {
        for (size_t i = 0; i < config->tool_count; i++)
            tools[count++] = config->tools[i];
        if (config->has_end_call)
            tools[count++] = prompt_end_call;
        if (config->has_change_language)
            tools[count++] = prompt_change_language;
    }
    struct prompt_turn turn = {
        .system = config->system,
        .history = &talk->history,
        .caller = reply->is_committed ? NULL : reply->caller,
        .instruction = instruction_of(talk),
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
    bool is_mute = reply->spoken_chars == 0; /* a holding line is no answer */
    if (reply->line) {
        speech_close(reply->line);
        if (!reply->line->is_heard && list_is_empty(&reply->line->pieces))
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
    bool is_partly_said = talk->reply.has_text;
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

/* The same engine once more: what passes by itself, after the pause that it asks for. */
static bool may_ask_again(enum engine_error error, int64_t retry_us)
{
    bool is_passing = error == ENGINE_TRANSIENT || error == ENGINE_PROTOCOL ||
                      (error == ENGINE_QUOTA && retry_us > 0);
    return is_passing && retry_us <= TALK_PAUSE_MOST_US;
}

static void ask_after(struct talk *talk, int64_t pause_us, int64_t now_us)
{
    struct reply *reply = &talk->reply;
    if (pause_us == 0 || talk->engines[TALK_LLM].is_closed) {
        ask(talk, now_us);
        return;
    }
    reply->due_us = INT64_MAX;
    reply->again_us = now_us + pause_us;
}

/* The one place that decides about another try of a model: adapters make none. */
static void model_failed(struct talk *talk, const struct llm_event *event, int64_t now_us)
{
    struct reply *reply = &talk->reply;
    enum talk_stage stage = reply->is_greeting ? TALK_STAGE_GREETING : TALK_STAGE_LLM;
    talk_do(talk, (struct talk_action){.what = TALK_DO_UNASK});
    talk_failed(talk, &(struct talk_failure){TALK_LLM, stage, event->error, event->message, false},
                now_us);
    bool is_replaced = talk->engines[TALK_LLM].is_closed;
    reply->until_us = INT64_MAX;
    if (!reply->is_committed && !is_replaced) {
        reply_clear(talk);
        return;
    }
    if (reply->has_text || ++reply->tries >= TALK_TRIES_MOST ||
        (!is_replaced && !may_ask_again(event->error, event->retry_us)))
        give_up(talk);
    else
        ask_after(talk, event->retry_us, now_us);
}

/* A model that calls tools which it was not offered: what it said counts, or else the apology. */
static void finish_without_tools(struct talk *talk)
{
    tools_clear(&talk->reply);
    if (talk->reply.has_text || talk->reply.is_greeting)
        finish(talk);
    else
        give_up(talk);
}

/* The model has said all of this answer, and the turn is committed. */
static void conclude(struct talk *talk, int64_t now_us)
{
    if (talk->reply.call_count == 0)
        finish(talk);
    else if (tools_are_offered(talk))
        tools_start(talk, now_us);
    else
        finish_without_tools(talk);
}

/* As much of a delta as the answer may still hold; false: it is full. */
static bool take_slice(struct talk *talk, const char *slice)
{
    struct reply *reply = &talk->reply;
    AUTO_BUF text = BUF_INIT(SLICE_BYTES + sizeof(reply->think.held));
    think_filter_push(&reply->think, slice, &text);
    if (text.len == 0)
        return true;
    size_t room = TALK_REPLY_MOST_CHARS - reply->chars;
    size_t bytes = text_bytes(text.data, room);
    bool fits = bytes == text.len && splitter_push(&reply->splitter, text.data, bytes) == OK;
    reply->chars += fits ? text_length(text.data) : room;
    if (!fits && bytes < text.len && splitter_push(&reply->splitter, text.data, bytes) != OK)
        reply->chars = TALK_REPLY_MOST_CHARS;
    speak_pieces(talk);
    return fits;
}

static bool take_text(struct talk *talk, const char *delta)
{
    size_t left = strlen(delta);
    while (left > 0) {
        size_t len = MIN(left, (size_t)SLICE_BYTES);
        AUTO_MEM char *slice = mem_strndup(delta, len);
        if (!take_slice(talk, slice))
            return false;
        delta += len;
        left -= len;
    }
    return true;
}

static void model_done(struct talk *talk, int64_t now_us)
{
    struct reply *reply = &talk->reply;
    AUTO_BUF text = BUF_INIT(SLICE_BYTES);
    think_filter_finish(&reply->think, &text);
    if (text.len > 0 && reply->chars < TALK_REPLY_MOST_CHARS &&
        splitter_push(&reply->splitter, text.data, text.len) != OK)
        reply->tries++;
    splitter_finish(&reply->splitter);
    talk_worked(talk, TALK_LLM);
    reply->due_us = reply->until_us = INT64_MAX;
    reply->stage = REPLY_READY;
    if (!reply->is_committed)
        return;
    speak_pieces(talk);
    conclude(talk, now_us);
}

/* A model that does not come to an end is stopped: what it has said is the answer. */
static void cut_short(struct talk *talk, int64_t now_us)
{
    talk_do(talk, (struct talk_action){.what = TALK_DO_UNASK});
    model_done(talk, now_us);
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
        if (!take_text(talk, event->text))
            cut_short(talk, now_us);
        break;
    case LLM_TOOL_CALL:
        tools_take(reply, &event->call);
        break;
    case LLM_DONE:
        model_done(talk, now_us);
        break;
    case LLM_ERROR:
        model_failed(talk, event, now_us);
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
    if (now_us >= reply->again_us)
        ask(talk, now_us);
    if (now_us < MIN(reply->due_us, reply->until_us))
        return;
    bool is_endless = now_us < reply->due_us && (reply->chars > 0 || reply->call_count > 0);
    reply->due_us = reply->until_us = INT64_MAX;
    if (reply->stage == REPLY_LOOK_UP)
        ask(talk, now_us);
    else if (reply->stage == REPLY_ASKED && is_endless)
        cut_short(talk, now_us);
    else if (reply->stage == REPLY_ASKED)
        model_failed(talk, &(struct llm_event){.error = ENGINE_TIMEOUT}, now_us);
    else if (reply->stage == REPLY_TOOLS)
        tools_overdue(talk, now_us);
}

int64_t reply_deadline_us(const struct talk *talk)
{
    const struct reply *reply = &talk->reply;
    if (reply->stage == REPLY_NONE)
        return INT64_MAX;
    int64_t hold_us = talk->floor == TURN_THINKING ? reply->hold_us : INT64_MAX;
    return MIN(MIN(reply->due_us, reply->until_us), MIN(hold_us, reply->again_us));
}
