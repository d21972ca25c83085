#include "talk/history.h"

#include <string.h>

#include "base/attr.h"
#include "base/mem.h"
#include "text/words.h"

struct entry {
    struct list_node node;
    enum llm_role role;
    char *text;
    struct llm_tool_call *calls; /* LLM_ASSISTANT with calls: owned texts */
    char **results;
    uint32_t *runs; /* that still run; 0: not */
    size_t call_count, bytes, tokens;
};

void history_init(struct history *history)
{
    *history = (struct history){0};
    list_init(&history->entries);
}

static void drop(struct history *history, struct entry *entry)
{
    history->count--;
    history->bytes -= entry->bytes;
    history->tokens -= entry->tokens;
    list_remove(&entry->node);
    for (size_t i = 0; i < entry->call_count; i++) {
        mem_free((char *)entry->calls[i].id);
        mem_free((char *)entry->calls[i].name);
        mem_free((char *)entry->calls[i].arguments);
        mem_free((char *)entry->calls[i].extra);
        mem_free(entry->results[i]);
    }
    mem_free(entry->calls);
    mem_free(entry->results);
    mem_free(entry->runs);
    mem_free(entry->text);
    mem_free(entry);
}

void history_clear(struct history *history)
{
    struct entry *entry;
    LIST_EACH (entry, &history->entries, struct entry, node)
        drop(history, entry);
}

static void measure(struct entry *entry)
{
    entry->bytes = entry->text ? strlen(entry->text) : 0;
    entry->tokens = text_tokens(entry->text);
    for (size_t i = 0; i < entry->call_count; i++) {
        const char *arguments = entry->calls[i].arguments;
        const char *extra = entry->calls[i].extra;
        entry->bytes += strlen(entry->results[i]) + strlen(arguments ? arguments : "") +
                        strlen(extra ? extra : "");
        entry->tokens += text_tokens(entry->results[i]) + text_tokens(arguments) +
                         text_tokens(entry->calls[i].name);
    }
}

static void measure_again(struct history *history, struct entry *entry)
{
    history->bytes -= entry->bytes;
    history->tokens -= entry->tokens;
    measure(entry);
    history->bytes += entry->bytes;
    history->tokens += entry->tokens;
}

/* How much of it there may be. */
struct measure {
    size_t count, bytes, tokens;
};

static bool is_larger(const struct history *history, const struct measure *most)
{
    return history->bytes > most->bytes || history->tokens > most->tokens;
}

static bool is_over(const struct history *history, const struct measure *most)
{
    return is_larger(history, most) || history->count > most->count;
}

static size_t less_a_quarter(size_t most)
{
    return most - most / 4;
}

static void shorten_results(struct history *history, struct entry *entry)
{
    for (size_t i = 0; i < entry->call_count; i++) {
        size_t len = text_bytes(entry->results[i], HISTORY_RESULT_CHARS);
        if (!entry->results[i][len])
            continue;
        char *short_text = mem_printf("%.*s [shortened]", (int)len, entry->results[i]);
        mem_free(entry->results[i]);
        entry->results[i] = short_text;
    }
    measure_again(history, entry);
}

/* A model asks for the signatures of its thoughts back only while it still answers. */
static void drop_extra(struct history *history, struct entry *entry)
{
    for (size_t i = 0; i < entry->call_count; i++) {
        mem_free((char *)entry->calls[i].extra);
        entry->calls[i].extra = NULL;
    }
    measure_again(history, entry);
}

static struct entry *newest_of(const struct history *history)
{
    return CONTAINER_OF(history->entries.prev, struct entry, node);
}

/* What the caller said last; the newest entry where there is nothing of the caller. */
static const struct entry *question_of(const struct history *history)
{
    const struct list_node *at = history->entries.prev;
    for (; at != &history->entries; at = at->prev) {
        const struct entry *entry = CONTAINER_OF(at, struct entry, node);
        if (entry->role == LLM_USER)
            return entry;
    }
    return newest_of(history);
}

static void drop_until(struct history *history, const struct entry *kept,
                       const struct measure *most)
{
    struct entry *oldest;
    while ((oldest = LIST_FIRST(&history->entries, struct entry, node)) != kept &&
           is_over(history, most))
        drop(history, oldest);
}

static void shorten(struct history *history, const struct entry *question,
                    const struct measure *goal)
{
    const struct entry *newest = newest_of(history);
    bool is_past = true; /* before the question */
    struct entry *entry;
    LIST_EACH (entry, &history->entries, struct entry, node) {
        is_past = is_past && entry != question;
        if (entry == newest || !is_larger(history, goal))
            return;
        shorten_results(history, entry);
        if (is_past)
            drop_extra(history, entry);
    }
}

static void shorten_arguments(struct history *history, struct entry *entry)
{
    for (size_t i = 0; i < entry->call_count; i++) {
        const char *arguments = entry->calls[i].arguments;
        if (!arguments || strlen(arguments) <= HISTORY_RESULT_CHARS)
            continue;
        mem_free((char *)arguments);
        entry->calls[i].arguments = mem_strdup("{}");
    }
    measure_again(history, entry);
}

/* What the model wrote itself goes before the question that it answers. */
static void shorten_calls(struct history *history, const struct measure *most)
{
    static void (*const steps[])(struct history *, struct entry *) = {shorten_arguments,
                                                                      drop_extra};
    struct entry *entry;
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        LIST_EACH (entry, &history->entries, struct entry, node) {
            if (!is_larger(history, most))
                return;
            steps[i](history, entry);
        }
}

static void cut(struct history *history, const struct measure *most)
{
    const struct measure goal = {less_a_quarter(most->count), less_a_quarter(most->bytes),
                                 less_a_quarter(most->tokens)};
    if (!is_over(history, most))
        return;
    struct entry *newest = newest_of(history);
    const struct entry *question = question_of(history);
    shorten(history, question, &goal);
    drop_until(history, question, &goal);
    if (is_larger(history, most))
        shorten_results(history, newest);
    shorten_calls(history, most);
    drop_until(history, newest, most);
}

void history_fit(struct history *history, size_t most_tokens)
{
    cut(history, &(struct measure){SIZE_MAX, SIZE_MAX, most_tokens});
}

static void add(struct history *history, struct entry *entry)
{
    measure(entry);
    list_push_back(&history->entries, &entry->node);
    history->count++;
    history->bytes += entry->bytes;
    history->tokens += entry->tokens;
    cut(history, &(struct measure){HISTORY_MAX_ENTRIES, HISTORY_MAX_BYTES, SIZE_MAX});
}

void history_add(struct history *history, enum llm_role role, const char *text)
{
    struct entry *entry = mem_new(struct entry);
    entry->role = role;
    entry->text = mem_strdup(text);
    add(history, entry);
}

void history_add_calls(struct history *history, const struct history_call *calls, size_t count)
{
    struct entry *entry = mem_new(struct entry);
    entry->role = LLM_ASSISTANT;
    entry->calls = mem_new_n(struct llm_tool_call, count);
    entry->results = mem_new_n(char *, count);
    entry->runs = mem_new_n(uint32_t, count);
    entry->call_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct llm_tool_call *call = calls[i].call;
        entry->calls[i] = (struct llm_tool_call){
            .id = mem_strdup(call->id),
            .name = mem_strdup(call->name),
            .arguments = mem_strdup(call->arguments),
            .extra = mem_strdup(call->extra),
        };
        entry->results[i] = mem_strdup(calls[i].result);
        entry->runs[i] = calls[i].run;
    }
    add(history, entry);
}

bool history_has_call(const struct history *history, const char *id)
{
    const struct entry *entry;
    LIST_EACH (entry, &history->entries, struct entry, node)
        for (size_t i = 0; i < entry->call_count; i++)
            if (strcmp(entry->calls[i].id, id) == 0)
                return true;
    return false;
}

void history_settle(struct history *history, uint32_t run, const char *result)
{
    struct entry *entry;
    LIST_EACH (entry, &history->entries, struct entry, node)
        for (size_t i = 0; i < entry->call_count; i++) {
            if (entry->runs[i] != run)
                continue;
            mem_free(entry->results[i]);
            entry->results[i] = mem_strdup(result);
            entry->runs[i] = 0;
            measure_again(history, entry);
        }
}

size_t history_message_count(const struct history *history)
{
    size_t count = 0;
    struct entry *entry;
    LIST_EACH (entry, &history->entries, struct entry, node)
        count += 1 + entry->call_count;
    return count;
}

void history_write(const struct history *history, struct llm_message *out, size_t *count)
{
    struct entry *entry;
    LIST_EACH (entry, &history->entries, struct entry, node) {
        out[(*count)++] = (struct llm_message){
            .role = entry->role,
            .text = entry->text,
            .calls = entry->calls,
            .call_count = entry->call_count,
        };
        for (size_t i = 0; i < entry->call_count; i++)
            out[(*count)++] = (struct llm_message){
                .role = LLM_TOOL,
                .text = entry->results[i],
                .tool_call_id = entry->calls[i].id,
            };
    }
}
