/* A language model that writes nothing of its own: it answers with the sentences of the agent's
 * documents that hold the caller's words, with the fixed lines of text/phrase.h, and with what a
 * tool has answered. It is on without any key, and never says what is not in the documents.
 *
 *     caller's words -> greeting, thanks, goodbye -> a fixed line (goodbye: endCall as well)
 *                    -> a tool whose name they hold -> call it; then say its answer
 *                    -> passages -> the best sentences, or 'I don't have that information'
 *
 * Thread: the call's loop. */
#include <string.h>

#include "base/js.h"
#include "base/loop.h"
#include "base/mem.h"
#include "text/phrase.h"
#include "text/words.h"
#include "vendor/extract.h"
#include "vendor/internal.h"

enum { ANSWER_MAX_BYTES = 4096, EVENTS_MAX = 3, TOOL_WORDS_MIN = 2 };

struct extractive {
    struct llm base;
    llm_event_fn *on_event;
    void *arg;
    struct timer timer;
    uint32_t gen;
    struct buf answer;
    char *tool, *arguments; /* to be called after the answer */
    unsigned calls;         /* made so far, for ids */
    bool is_closed;
};

static bool tell(struct extractive *llm, const struct llm_event *event)
{
    llm->on_event(llm->arg, event);
    return !llm->is_closed && event->gen == llm->gen;
}

static void on_timer(void *arg)
{
    struct extractive *llm = arg;
    uint32_t gen = llm->gen;
    struct llm_event event = {.kind = LLM_TEXT, .gen = gen, .text = llm->answer.data};
    if (llm->answer.len > 0 && !tell(llm, &event))
        return;
    char id[32] = "";
    AUTO_BUF name = BUF_INIT(sizeof(id));
    (void)buf_printf(&name, "call_%u", llm->calls);
    if (llm->tool) {
        event = (struct llm_event){
            .kind = LLM_TOOL_CALL, .gen = gen, .call = {name.data, llm->tool, llm->arguments}};
        if (!tell(llm, &event))
            return;
    }
    event = (struct llm_event){.kind = LLM_DONE, .gen = gen};
    (void)tell(llm, &event);
}

static void call_tool(struct extractive *llm, const char *name, const char *arguments)
{
    llm->tool = mem_strdup(name);
    llm->arguments = mem_strdup(arguments);
    llm->calls++;
}

static const struct llm_tool *tool_named(const struct llm_request *request, const char *name)
{
    for (size_t i = 0; !request->is_without_calls && i < request->tool_count; i++)
        if (strcmp(request->tools[i].name, name) == 0)
            return &request->tools[i];
    return NULL;
}

/* Tools. */

struct match {
    const char *stems; /* of the caller's words, a space before and after each */
    const char *iso;
    size_t hits, all;
};

static int match_word(void *arg, const struct word *word)
{
    struct match *match = arg;
    char padded[WORD_MAX_BYTES + 2] = " ";
    size_t len = strlen(word->stem);
    memcpy(padded + 1, word->stem, len);
    padded[len + 1] = ' ';
    padded[len + 2 < sizeof(padded) ? len + 2 : sizeof(padded) - 1] = '\0';
    if (word_is_stop(word->folded, match->iso))
        return 0;
    match->all++;
    match->hits += strstr(match->stems, padded) != NULL;
    return 0;
}

static struct match match_text(const char *stems, const char *text, const char *iso)
{
    struct match match = {.stems = stems, .iso = iso};
    words_each(text, iso, match_word, &match);
    return match;
}

/* The tool whose name stands in the caller's words, or that has two words in common with them. */
static const struct llm_tool *tool_for(const struct llm_request *request, const char *said)
{
    AUTO_BUF stems = BUF_INIT(ANSWER_MAX_BYTES);
    (void)buf_append_char(&stems, ' ');
    words_stems(said, request->language, &stems);
    (void)buf_append_char(&stems, ' ');
    const struct llm_tool *best = NULL;
    size_t most = 0;
    for (size_t i = 0; !request->is_without_calls && i < request->tool_count; i++) {
        const struct llm_tool *tool = &request->tools[i];
        if (strcmp(tool->name, "endCall") == 0 || strcmp(tool->name, "changeLanguage") == 0)
            continue;
        AUTO_MEM char *name = mem_strdup(tool->name);
        for (char *c = name; *c; c++)
            *c = *c == '_' ? ' ' : *c;
        struct match by_name = match_text(stems.data, name, request->language);
        struct match by_text =
            match_text(stems.data, tool->description ? tool->description : "", request->language);
        size_t hits = by_name.hits + by_text.hits;
        bool is_named = by_name.all > 0 && by_name.hits == by_name.all;
        if ((is_named || hits >= TOOL_WORDS_MIN) && hits > most) {
            most = hits;
            best = tool;
        }
    }
    return best;
}

/* Says a tool's answer: text as it is, the values of an object one by one. */
static void say_result(const char *result, struct buf *out)
{
    AUTO(js) tree = NULL;
    if (js_parse(result, strlen(result), 16, &tree, NULL) != OK || js_type(tree) != JS_OBJECT) {
        extract_shorten(result, out);
        return;
    }
    for (void *it = js_first(tree); it && out->len < EXTRACT_MAX_BYTES; it = js_next(tree, it)) {
        const struct js *value = js_value(it);
        if (js_type(value) == JS_ARRAY || js_type(value) == JS_OBJECT)
            continue;
        AUTO_MEM char *text = js_text(value) ? mem_strdup(js_text(value)) : js_print(value);
        AUTO_MEM char *key = mem_strdup(js_key(it));
        for (char *c = key; *c; c++)
            *c = *c == '_' ? ' ' : *c;
        (void)buf_printf(out, "%s%s: %s.", out->len ? " " : "", key, text);
    }
}

/* The answer. */

static void say(struct extractive *llm, const struct llm_request *request, enum phrase phrase)
{
    (void)buf_append_str(&llm->answer, phrase_line(phrase, request->language));
}

/* "in Hindi, please", "अंग्रेज़ी में बोलिए" */
static const char *wanted_language(const char *said)
{
    static const struct {
        const char *word, *arguments;
    } rows[] = {
        {"hindi", "{\"language\":\"hi\"}"}, {"हिंदी", "{\"language\":\"hi\"}"},
        {"हिन्दी", "{\"language\":\"hi\"}"}, {"english", "{\"language\":\"en\"}"},
        {"अंग्रेजी", "{\"language\":\"en\"}"}, {"अंग्रेज़ी", "{\"language\":\"en\"}"},
        {"इंग्लिश", "{\"language\":\"en\"}"},
    };
    AUTO_BUF folded = BUF_INIT(ANSWER_MAX_BYTES);
    words_stems(said, NULL, &folded);
    for (size_t i = 0; folded.len && i < ARRAY_LEN(rows); i++)
        if (strstr(folded.data, rows[i].word) && words_count(said) <= 8)
            return rows[i].arguments;
    return NULL;
}

static bool answer_intent(struct extractive *llm, const struct llm_request *request,
                          const char *said)
{
    static const enum phrase lines[] = {
        [INTENT_ACKNOWLEDGE] = PHRASE_MORE,
        [INTENT_GREETING] = PHRASE_GREETING,
        [INTENT_THANKS] = PHRASE_WELCOME,
        [INTENT_GOODBYE] = PHRASE_GOODBYE,
    };
    enum caller_intent intent = phrase_intent(said);
    if (intent == INTENT_NONE)
        return false;
    say(llm, request, lines[intent]);
    if (intent == INTENT_GOODBYE && tool_named(request, "endCall"))
        call_tool(llm, "endCall", "{}");
    return true;
}

static void answer_caller(struct extractive *llm, const struct llm_request *request,
                          const char *said)
{
    if (answer_intent(llm, request, said))
        return;
    const char *language = tool_named(request, "changeLanguage") ? wanted_language(said) : NULL;
    if (language) {
        call_tool(llm, "changeLanguage", language);
        return;
    }
    const struct llm_tool *tool = tool_for(request, said);
    if (tool) {
        call_tool(llm, tool->name, "{}");
        return;
    }
    bool was_heard = extract_answer(request, said, &llm->answer);
    if (llm->answer.len == 0)
        say(llm, request, was_heard ? PHRASE_UNKNOWN : PHRASE_NOT_HEARD);
}

static void answer_tool(struct extractive *llm, const struct llm_request *request,
                        const struct llm_message *result, const char *name)
{
    if (name && strcmp(name, "changeLanguage") == 0)
        say(llm, request, PHRASE_MORE);
    else if (!name || strcmp(name, "endCall") != 0)
        say_result(result->text ? result->text : "", &llm->answer);
}

/* The last thing said by caller or tool; nothing: the call begins. */
static void compose(struct extractive *llm, const struct llm_request *request)
{
    const char *tool = NULL;
    for (size_t i = request->message_count; i-- > 0;) {
        const struct llm_message *message = &request->messages[i];
        if (message->role == LLM_TOOL) {
            for (size_t k = i; k-- > 0 && !tool;)
                if (request->messages[k].call_count)
                    tool = request->messages[k].calls[0].name;
            answer_tool(llm, request, message, tool);
            return;
        }
        if (message->role == LLM_USER && message->text) {
            answer_caller(llm, request, message->text);
            return;
        }
    }
    say(llm, request, PHRASE_GREETING);
}

static void forget(struct extractive *llm)
{
    timer_stop(&llm->timer);
    buf_reset(&llm->answer);
    mem_free(TAKE(llm->tool));
    mem_free(TAKE(llm->arguments));
}

static void extractive_start(struct llm *base, uint32_t gen, const struct llm_request *request)
{
    struct extractive *llm = (struct extractive *)base;
    forget(llm);
    llm->gen = gen;
    compose(llm, request);
    timer_set_after(&llm->timer, 0);
}

static void extractive_cancel(struct llm *base)
{
    forget((struct extractive *)base);
}

static void free_session(void *arg)
{
    struct extractive *llm = arg;
    forget(llm);
    buf_clear(&llm->answer);
    mem_free(llm);
}

static void extractive_close(struct llm *base)
{
    struct extractive *llm = (struct extractive *)base;
    llm->is_closed = true;
    timer_stop(&llm->timer);
    loop_defer(llm->timer.loop, free_session, llm);
}

static struct llm *extractive_open(const struct engine *engine, const struct llm_config *config,
                                   struct loop *loop, llm_event_fn *on_event, void *arg)
{
    (void)engine;
    (void)config;
    struct extractive *llm = mem_new(struct extractive);
    llm->base.ops = &extractive_ops;
    llm->on_event = on_event;
    llm->arg = arg;
    buf_init(&llm->answer, ANSWER_MAX_BYTES);
    timer_init(&llm->timer, loop, on_timer, llm);
    return &llm->base;
}

const struct llm_ops extractive_ops = {extractive_open, extractive_start, extractive_cancel,
                                       extractive_close};
