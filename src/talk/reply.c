#include "talk/reply.h"

#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/states.h"
#include "talk/voice.h"
#include "text/script.h"
#include "text/words.h"

enum { PASSAGES_MAX_BYTES = 256 * 1024, PASSAGES_MAX = 20, SLICE_BYTES = 16 * 1024 };

struct reply_wanted { /* a want that waits */
    struct list_node node;
    struct reply_want want;
    char *text, *name;
};

static const struct states_row rows[] = {
    {REPLY_NONE, REPLY_LOOKS, REPLY_LOOKING}, {REPLY_NONE, REPLY_ASKS, REPLY_ASKED},
    {REPLY_LOOKING, REPLY_ASKS, REPLY_ASKED}, {REPLY_ASKED, REPLY_ASKS, REPLY_ASKED},
    {REPLY_TOOLS, REPLY_ASKS, REPLY_ASKED},   {REPLY_ASKED, REPLY_DONE, REPLY_READY},
    {REPLY_READY, REPLY_RUNS, REPLY_TOOLS},   {REPLY_LOOKING, REPLY_ENDS, REPLY_NONE},
    {REPLY_ASKED, REPLY_ENDS, REPLY_NONE},    {REPLY_READY, REPLY_ENDS, REPLY_NONE},
    {REPLY_TOOLS, REPLY_ENDS, REPLY_NONE},
};

bool reply_move(struct reply *reply, enum reply_event event)
{
    static const char *const state_names[] = {
        [REPLY_NONE] = "none",   [REPLY_LOOKING] = "looking", [REPLY_ASKED] = "asked",
        [REPLY_READY] = "ready", [REPLY_TOOLS] = "tools",
    };
    static const char *const event_names[] = {
        [REPLY_LOOKS] = "looks", [REPLY_ASKS] = "asks", [REPLY_DONE] = "done",
        [REPLY_RUNS] = "runs",   [REPLY_ENDS] = "ends",
    };
    _Static_assert(ARRAY_LEN(state_names) == REPLY_STATE_COUNT, "a name for each state");
    _Static_assert(ARRAY_LEN(event_names) == REPLY_EVENT_COUNT, "a name for each event");
    static const struct states states = {.name = "reply",
                                         .state_names = state_names,
                                         .event_names = event_names,
                                         .state_count = REPLY_STATE_COUNT,
                                         .event_count = REPLY_EVENT_COUNT,
                                         .rows = rows,
                                         .count = ARRAY_LEN(rows)};
    int next = states_next(&states, (int)reply->state, (int)event, NULL);
    if (next == STATES_REFUSED)
        return false;
    reply->state = (enum reply_state)next;
    return true;
}

/* What it wants. */

static void wanted_free(struct reply_wanted *wanted)
{
    if (!wanted)
        return;
    list_remove(&wanted->node);
    mem_free(wanted->text);
    mem_free(wanted->name);
    mem_free(wanted);
}

void reply_wish(struct reply *reply, struct reply_want want)
{
    struct reply_wanted *wanted = mem_new(struct reply_wanted);
    wanted->want = want;
    wanted->want.text = wanted->text = mem_strdup(want.text);
    wanted->want.name = wanted->name = mem_strdup(want.name);
    list_push_back(&reply->wants, &wanted->node);
}

static void wish(struct reply *reply, enum reply_wish wish)
{
    reply_wish(reply, (struct reply_want){.wish = wish});
}

bool reply_want(struct reply *reply, struct reply_want *out)
{
    wanted_free(reply->current);
    reply->current = LIST_FIRST(&reply->wants, struct reply_wanted, node);
    if (!reply->current)
        return false;
    list_remove(&reply->current->node);
    *out = reply->current->want;
    return true;
}

static void say(struct reply *reply, bool is_greeting, enum phrase phrase)
{
    reply_wish(reply, (struct reply_want){.wish = REPLY_WANTS_SAY,
                                          .kind = is_greeting ? SPEECH_GREETING : SPEECH_NOTICE,
                                          .phrase = is_greeting ? PHRASE_GREETING : phrase});
}

/* Beginning and end. */

/* Wants stay: they are carried out although the reply is over. */
static void begin_anew(struct reply *reply)
{
    struct list_node *wants = &reply->wants;
    reply_clear_calls(reply);
    mem_free(reply->caller);
    mem_free(reply->unsure);
    arena_free(reply->found.memory);
    splitter_clear(&reply->answer.splitter);
    struct reply fresh = {.iso = reply->iso,
                          .current = reply->current,
                          .state = reply->state,
                          .due_us = INT64_MAX,
                          .answer.until_us = INT64_MAX,
                          .hold_us = INT64_MAX,
                          .answer.again_us = INT64_MAX};
    struct list_node kept = *wants;
    *reply = fresh;
    *wants = kept;
    splitter_init(&reply->answer.splitter, true);
    think_filter_init(&reply->answer.think);
}

void reply_init(struct reply *reply, const char *iso)
{
    *reply = (struct reply){.iso = iso};
    list_init(&reply->wants);
    begin_anew(reply);
}

void reply_clear(struct reply *reply)
{
    struct reply_wanted *wanted;
    LIST_EACH (wanted, &reply->wants, struct reply_wanted, node)
        wanted_free(wanted);
    wanted_free(TAKE(reply->current));
    begin_anew(reply);
    splitter_clear(&reply->answer.splitter);
}

static void end(struct reply *reply)
{
    if (reply_move(reply, REPLY_ENDS))
        begin_anew(reply);
}

void reply_cancel(struct reply *reply)
{
    if (reply->state == REPLY_NONE)
        return;
    if (reply->state == REPLY_ASKED)
        wish(reply, REPLY_WANTS_UNASK);
    if (reply->is_committed)
        wish(reply, REPLY_WANTS_LINE_END);
    end(reply);
}

static void ask(struct reply *reply, int64_t now_us)
{
    if (!reply_move(reply, REPLY_ASKS))
        return;
    reply->answer.asked_us = now_us;
    reply->due_us = now_us + REPLY_MODEL_US;
    reply->answer.until_us = now_us + REPLY_ANSWER_US;
    reply->answer.again_us = INT64_MAX;
    reply->answer.has_token = reply->answer.has_text = false;
    reply->answer.chars = 0;
    splitter_reset(&reply->answer.splitter);
    think_filter_init(&reply->answer.think);
    wish(reply, REPLY_WANTS_ASK);
}

void reply_start(struct reply *reply, const char *caller, const char *unsure, bool is_committed,
                 bool looks_up, int64_t now_us)
{
    reply->caller = mem_strdup(caller);
    reply->unsure = mem_strdup(unsure);
    reply->is_committed = is_committed;
    reply->is_greeting = !caller;
    if (!caller || !looks_up) {
        ask(reply, now_us);
        return;
    }
    if (!reply_move(reply, REPLY_LOOKS))
        return;
    reply->due_us = now_us + REPLY_LOOK_UP_US;
    reply_wish(reply, (struct reply_want){.wish = REPLY_WANTS_LOOK_UP, .text = caller});
}

bool reply_answers(const struct reply *reply, const char *caller, const char *unsure)
{
    return reply->state != REPLY_NONE && reply->caller && words_equal(reply->caller, caller) &&
           strcmp(reply->unsure, unsure) == 0;
}

static void keep_passages(struct reply *reply, const struct llm_passage *passages, size_t count)
{
    count = MIN(count, (size_t)PASSAGES_MAX);
    if (count == 0)
        return;
    size_t bytes = 0;
    reply->found.memory = arena_new(PASSAGES_MAX_BYTES);
    struct llm_passage *kept = arena_new_n(reply->found.memory, struct llm_passage, count);
    for (size_t i = 0; i < count; i++) {
        const char *question = passages[i].question;
        bytes += strlen(passages[i].text) + (question ? strlen(question) : 0) + 1024;
        if (bytes > PASSAGES_MAX_BYTES / 2)
            break;
        kept[i] = (struct llm_passage){
            .question = arena_strdup(reply->found.memory, passages[i].question),
            .text = arena_strdup(reply->found.memory, passages[i].text),
            .document = arena_strdup(reply->found.memory, passages[i].document),
            .similarity = passages[i].similarity,
        };
        reply->found.count = i + 1;
    }
    reply->found.passages = kept;
}

void reply_found(struct reply *reply, const struct llm_passage *passages, size_t count,
                 int64_t now_us)
{
    keep_passages(reply, passages, count);
    ask(reply, now_us);
}

/* Words. */

static void speak_pieces(struct reply *reply)
{
    if (!reply->is_committed)
        return;
    const char *piece;
    while ((piece = splitter_next(&reply->answer.splitter))) {
        AUTO_BUF plain = BUF_INIT(SLICE_BYTES);
        if (voice_plain(piece, reply->iso, &plain)) {
            reply->spoken_chars += text_length(piece);
            reply->answer.has_text = true;
            reply_wish(reply, (struct reply_want){.wish = REPLY_WANTS_PIECE,
                                                  .kind = reply->is_greeting ? SPEECH_GREETING
                                                                             : SPEECH_REPLY,
                                                  .text = plain.data});
        } else if (!script_is_speakable(piece, reply->iso)) {
            reply->silent_chars += text_length(piece);
        }
    }
}

/* The contract's event table: told when most of a reply could not be spoken. */
static void tell_silent(struct reply *reply)
{
    if (reply->silent_chars > reply->spoken_chars)
        reply_wish(reply,
                   (struct reply_want){
                       .wish = REPLY_WANTS_ERROR,
                       .text = "most of the text was in a script that the call's language does "
                               "not use, and was not spoken",
                   });
}

/* The answer is complete: its line is closed; a caller is never left without one. */
static void finish(struct reply *reply)
{
    tell_silent(reply);
    wish(reply, REPLY_WANTS_LINE_END);
    /* A holding line is no answer, nor is what was said before a tool ran. */
    bool is_owed = reply->silent_chars > 0 || reply->tools.has_run;
    bool is_mute =
        (reply->spoken_chars == 0 || (is_owed && !reply->answer.has_text)) && !reply->is_ending;
    bool is_greeting = reply->is_greeting;
    end(reply);
    if (is_mute)
        say(reply, is_greeting, PHRASE_NOT_HEARD);
}

/* What was said of it so far stands; that it ends there is said as well. */
static void give_up(struct reply *reply)
{
    bool is_greeting = reply->is_greeting;
    bool is_owed = reply->is_committed && !(is_greeting && reply->answer.has_text);
    if (reply->is_committed)
        wish(reply, REPLY_WANTS_LINE_END);
    end(reply);
    if (is_owed)
        say(reply, is_greeting, PHRASE_FAILED);
}

/* The same engine once more: what passes by itself, after the pause that it asks for. */
static bool may_ask_again(enum engine_error error, int64_t retry_us)
{
    bool is_passing = error == ENGINE_TRANSIENT || error == ENGINE_PROTOCOL ||
                      (error == ENGINE_QUOTA && retry_us > 0);
    return is_passing && retry_us <= REPLY_PAUSE_MAX_US;
}

void reply_failed(struct reply *reply, const struct llm_event *event, bool is_replaced,
                  int64_t now_us)
{
    wish(reply, REPLY_WANTS_UNASK);
    reply->answer.until_us = INT64_MAX;
    if (!reply->is_committed && !is_replaced) {
        end(reply);
        return;
    }
    bool is_hopeless = !is_replaced && !may_ask_again(event->error, event->retry_us);
    if (reply->answer.has_text || ++reply->answer.tries >= REPLY_TRIES_MAX || is_hopeless) {
        give_up(reply);
    } else if (event->retry_us == 0 || is_replaced) {
        ask(reply, now_us);
    } else {
        reply->due_us = INT64_MAX;
        reply->answer.again_us = now_us + event->retry_us;
    }
}

/* A model that calls tools which it was not offered: what it said counts, or else the apology. */
static void finish_without_tools(struct reply *reply)
{
    reply_clear_calls(reply);
    if (reply->answer.has_text || reply->is_greeting)
        finish(reply);
    else
        give_up(reply);
}

/* The model has said all of this answer, and the turn is committed. */
static void conclude(struct reply *reply)
{
    if (reply->tools.count == 0)
        finish(reply);
    else if (!reply_may_use_tools(reply))
        finish_without_tools(reply);
    else if (reply_move(reply, REPLY_RUNS))
        wish(reply, REPLY_WANTS_TOOLS);
}

/* As much of a delta as the answer may still hold; false: it is full. */
static bool take_slice(struct reply *reply, const char *slice)
{
    AUTO_BUF text = BUF_INIT(SLICE_BYTES + sizeof(reply->answer.think.held));
    think_filter_push(&reply->answer.think, slice, &text);
    if (text.len == 0)
        return true;
    size_t room = REPLY_MAX_CHARS - reply->answer.chars;
    size_t bytes = text_bytes(text.data, room);
    bool fits = bytes == text.len && splitter_push(&reply->answer.splitter, text.data, bytes) == OK;
    reply->answer.chars += fits ? text_length(text.data) : room;
    if (!fits && bytes < text.len && splitter_push(&reply->answer.splitter, text.data, bytes) != OK)
        reply->answer.chars = REPLY_MAX_CHARS;
    speak_pieces(reply);
    return fits;
}

static bool take_text(struct reply *reply, const char *delta)
{
    size_t left = strlen(delta);
    while (left > 0) {
        size_t len = MIN(left, (size_t)SLICE_BYTES);
        AUTO_MEM char *slice = mem_strndup(delta, len);
        if (!take_slice(reply, slice))
            return false;
        delta += len;
        left -= len;
    }
    return true;
}

void reply_done(struct reply *reply)
{
    AUTO_BUF text = BUF_INIT(SLICE_BYTES);
    think_filter_finish(&reply->answer.think, &text);
    if (text.len > 0 && reply->answer.chars < REPLY_MAX_CHARS &&
        splitter_push(&reply->answer.splitter, text.data, text.len) != OK)
        reply->answer.tries++;
    splitter_finish(&reply->answer.splitter);
    reply->due_us = reply->answer.until_us = INT64_MAX;
    if (!reply_move(reply, REPLY_DONE) || !reply->is_committed)
        return;
    speak_pieces(reply);
    conclude(reply);
}

/* A model that does not come to an end is stopped: what it has said is the answer. */
static void cut_short(struct reply *reply)
{
    wish(reply, REPLY_WANTS_UNASK);
    reply_done(reply);
}

void reply_text(struct reply *reply, const char *text, int64_t now_us)
{
    reply->due_us = now_us + REPLY_MODEL_US;
    if (!take_text(reply, text))
        cut_short(reply);
}

/* The turn. */

void reply_commit(struct reply *reply)
{
    reply->is_committed = true;
    speak_pieces(reply);
    if (reply->state == REPLY_READY)
        conclude(reply);
}

void reply_reopened(struct reply *reply, int64_t now_us)
{
    if (reply->state == REPLY_ASKED)
        ask(reply, now_us);
}

void reply_go_on(struct reply *reply, int64_t now_us)
{
    bool is_goodbye = reply->tools.ends == reply->tools.count, has_text = reply->answer.has_text;
    reply_clear_calls(reply);
    reply->hold_us = reply->due_us = INT64_MAX;
    if (!is_goodbye) {
        reply->tools.steps++;
        reply->answer.tries = 0;
        ask(reply, now_us);
        return;
    }
    wish(reply, REPLY_WANTS_LINE_END);
    end(reply);
    if (!has_text)
        reply_wish(reply, (struct reply_want){.wish = REPLY_WANTS_SAY,
                                              .kind = SPEECH_REPLY,
                                              .phrase = PHRASE_GOODBYE});
}

static void hold(struct reply *reply)
{
    reply->hold_us = INT64_MAX;
    reply->is_held = true;
    AUTO_BUF plain = BUF_INIT(SLICE_BYTES);
    if (voice_plain(phrase_line(PHRASE_HOLD, reply->iso), reply->iso, &plain))
        reply_wish(reply, (struct reply_want){.wish = REPLY_WANTS_PIECE,
                                              .kind = SPEECH_REPLY,
                                              .text = plain.data,
                                              .is_fixed = true});
}

/* When the caller is told that it takes a while: early for a tool, as the contract has it, and
 * whenever nothing was heard for so long. */
static int64_t hold_due_us(const struct reply *reply, int64_t quiet_us)
{
    if (!reply->is_committed || reply->state == REPLY_NONE || quiet_us == INT64_MAX)
        return INT64_MAX;
    return MIN(reply->hold_us, quiet_us + REPLY_QUIET_US);
}

enum reply_late reply_settle(struct reply *reply, int64_t quiet_us, int64_t now_us)
{
    if (now_us >= hold_due_us(reply, quiet_us))
        hold(reply);
    if (now_us >= reply->answer.again_us)
        ask(reply, now_us);
    if (reply->state == REPLY_NONE || now_us < MIN(reply->due_us, reply->answer.until_us))
        return REPLY_IN_TIME;
    bool is_endless = now_us < reply->due_us && (reply->answer.chars > 0 || reply->tools.count > 0);
    reply->due_us = reply->answer.until_us = INT64_MAX;
    if (reply->state == REPLY_TOOLS)
        return REPLY_TOOLS_ARE_LATE;
    if (reply->state == REPLY_ASKED && !is_endless)
        return REPLY_MODEL_IS_LATE;
    if (reply->state == REPLY_LOOKING)
        ask(reply, now_us);
    else if (reply->state == REPLY_ASKED)
        cut_short(reply);
    return REPLY_IN_TIME;
}

int64_t reply_deadline_us(const struct reply *reply, int64_t quiet_us)
{
    if (reply->state == REPLY_NONE)
        return INT64_MAX;
    return MIN(MIN(reply->due_us, reply->answer.until_us),
               MIN(hold_due_us(reply, quiet_us), reply->answer.again_us));
}
