/* Two kinds of evidence. A server that names the parameter in a field of its own (`param`, or
 * `loc` of a validator) is believed. Where only its sentence does, it may quote what the caller or
 * the agent said: it is believed for all only when the request holds no such word. */
#include "vendor/chat_lesson.h"

#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "base/js.h"
#include "engine/llm.h"

enum { DEPTH_MAX = 64 };

static const char *const quirk_names[] = {
    "temperature",      "stream_options", "max_tokens", "max_completion_tokens",
    "reasoning_effort", "system",         "tools",      "tool_choice",
};
_Static_assert(ARRAY_LEN(quirk_names) == CHAT_QUIRKS, "a name for each bit");

const char *chat_quirk_name(unsigned quirk)
{
    return quirk_names[__builtin_ctz(quirk)];
}

static const struct {
    const char *name;
    unsigned quirk;
} options[] = {
    {"max_completion_tokens", CHAT_COMPLETION_CAP}, {"max_tokens", CHAT_NO_CAP},
    {"temperature", CHAT_NO_TEMPERATURE},           {"stream_options", CHAT_NO_STREAM_OPTIONS},
    {"reasoning_effort", CHAT_NO_REASONING},        {"tool_choice", CHAT_NO_TOOL_CHOICE},
};

/* Sentences that speak of no parameter. */
static const struct {
    const char *words;
    unsigned quirk;
} sentences[] = {
    {"system message must be", CHAT_ONE_SYSTEM},  {"roles must alternate", CHAT_ONE_SYSTEM},
    {"only one system message", CHAT_ONE_SYSTEM}, {"multiple system messages", CHAT_ONE_SYSTEM},
    {"does not support tool", CHAT_NO_TOOLS},     {"tools are not supported", CHAT_NO_TOOLS},
    {"tool choice requires", CHAT_NO_TOOLS},      {"tools param requires", CHAT_NO_TOOLS},
    {"does not support function", CHAT_NO_TOOLS},
};

/* What tells a parameter that is not taken from one whose value is bad. */
static const char *const refusals[] = {
    "not support", "unsupported", "unknown",    "unrecognized", "unexpected", "not permitted",
    "not allowed", "extra",       "deprecated", "no longer",    "forbidden",
};

struct refusal {
    const char *param, *code, *words;
};

/* {"detail": [{"loc": ["body", "stream_options"], "type": "extra_forbidden", "msg": ...}]} */
static void read_validator(const struct js *detail, struct refusal *out)
{
    const struct js *first = js_at(detail, 0), *loc = js_get(first, "loc");
    if (js_count(loc) > 0)
        out->param = js_text(js_at(loc, js_count(loc) - 1));
    out->code = js_text_or(js_get(first, "type"), "");
    out->words = js_text_or(js_get(first, "msg"), "");
}

static void read_refusal(const struct js *tree, const char *body, struct refusal *out)
{
    if (js_type(tree) == JS_ARRAY) /* Gemini wraps an error so */
        tree = js_at(tree, 0);
    const struct js *error =
        js_type(js_get(tree, "error")) == JS_OBJECT ? js_get(tree, "error") : tree;
    const char *words = js_text(js_get(error, "message"));
    out->param = js_text(js_get(error, "param"));
    out->code = js_text_or(js_get(error, "code"), "");
    out->words = words ? words : body;
    if (js_type(js_get(tree, "detail")) == JS_ARRAY)
        read_validator(js_get(tree, "detail"), out);
}

static bool is_refused(const struct refusal *refusal)
{
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
        if (strcasestr(refusal->words, refusals[i]) || strcasestr(refusal->code, refusals[i]))
            return true;
    return false;
}

static bool has(const char *text, const char *words)
{
    return text && strcasestr(text, words);
}

/* Does anything that the call brought along hold these words? */
static bool is_quoted(const struct llm_request *request, const char *words)
{
    for (size_t i = 0; i < request->message_count; i++) {
        const struct llm_message *message = &request->messages[i];
        bool is_in = has(message->text, words);
        for (size_t k = 0; k < message->call_count && !is_in; k++)
            is_in = has(message->calls[k].name, words) || has(message->calls[k].arguments, words);
        if (is_in)
            return true;
    }
    for (size_t i = 0; i < request->tool_count; i++)
        if (has(request->tools[i].name, words) || has(request->tools[i].description, words) ||
            has(request->tools[i].parameters, words))
            return true;
    return false;
}

/* The newer name of the cap is tried before none is sent. */
static unsigned cap_of(const struct refusal *refusal, unsigned known)
{
    bool is_told = strcasestr(refusal->words, "max_completion_tokens") != NULL;
    return is_told && !(known & CHAT_COMPLETION_CAP) ? CHAT_COMPLETION_CAP : CHAT_NO_CAP;
}

static unsigned quirk_of_option(size_t i, const struct refusal *refusal, unsigned known)
{
    bool is_cap = options[i].quirk & (CHAT_COMPLETION_CAP | CHAT_NO_CAP);
    unsigned quirk = is_cap ? cap_of(refusal, known) : options[i].quirk;
    return known & quirk ? 0 : quirk;
}

/* "stream_options.include_usage" is a part of stream_options. */
static bool is_param(const char *param, const char *name)
{
    size_t len = strlen(name);
    return strncmp(param, name, len) == 0 && strchr(".[", param[len]); /* the end counts */
}

static struct chat_lesson by_param(const struct refusal *refusal, unsigned known)
{
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (is_param(refusal->param, options[i].name))
            return (struct chat_lesson){quirk_of_option(i, refusal, known), is_refused(refusal)};
    bool is_tools = strncmp(refusal->param, "tool", 4) == 0;
    return (struct chat_lesson){is_tools && !(known & CHAT_NO_TOOLS) ? CHAT_NO_TOOLS : 0, false};
}

static struct chat_lesson by_words(const struct refusal *refusal, const struct llm_request *request,
                                   unsigned known)
{
    for (size_t i = 0; i < ARRAY_LEN(options) && is_refused(refusal); i++) {
        if (!strcasestr(refusal->words, options[i].name))
            continue;
        unsigned quirk = quirk_of_option(i, refusal, known);
        if (quirk)
            return (struct chat_lesson){quirk, !is_quoted(request, options[i].name)};
    }
    for (size_t i = 0; i < ARRAY_LEN(sentences); i++) {
        unsigned quirk = sentences[i].quirk;
        if (!(known & quirk) && strcasestr(refusal->words, sentences[i].words))
            return (struct chat_lesson){quirk, quirk != CHAT_NO_TOOLS &&
                                                   !is_quoted(request, sentences[i].words)};
    }
    return (struct chat_lesson){0};
}

struct chat_lesson chat_lesson_read(const char *body, size_t len, const struct llm_request *request,
                                    unsigned known)
{
    AUTO(js) tree = NULL;
    struct refusal refusal;
    if (len == 0 || js_parse(body, len, DEPTH_MAX, &tree, NULL) != OK)
        tree = NULL;
    read_refusal(tree, body, &refusal);
    if (refusal.param && *refusal.param)
        return by_param(&refusal, known);
    return by_words(&refusal, request, known);
}

void chat_lessons_keep(struct chat_lessons *lessons, unsigned quirks, int64_t until_us)
{
    for (int i = 0; i < CHAT_QUIRKS; i++)
        if (quirks >> i & 1)
            atomic_store(&lessons->until_us[i], until_us);
}

unsigned chat_lessons_now(const struct chat_lessons *lessons, int64_t now_us)
{
    unsigned quirks = 0;
    for (int i = 0; i < CHAT_QUIRKS; i++)
        if (now_us < atomic_load(&lessons->until_us[i]))
            quirks |= 1u << i;
    return quirks;
}
