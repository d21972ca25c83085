#include "talk/history.h"

#include <string.h>

#include "base/mem.h"

struct entry {
    struct list_node node;
    enum llm_role role;
    char *text;
    struct llm_tool_call *calls; /* LLM_ASSISTANT with calls: owned texts */
    char **results;
    size_t call_count, bytes;
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
    mem_free(entry->text);
    mem_free(entry);
}

void history_clear(struct history *history)
{
    struct entry *entry;
    LIST_EACH (entry, &history->entries, struct entry, node)
        drop(history, entry);
}

static void add(struct history *history, struct entry *entry)
{
    list_push_back(&history->entries, &entry->node);
    history->count++;
    history->bytes += entry->bytes;
    while (history->count > 1 &&
           (history->count > HISTORY_MAX_ENTRIES || history->bytes > HISTORY_MAX_BYTES))
        drop(history, LIST_FIRST(&history->entries, struct entry, node));
}

void history_add(struct history *history, enum llm_role role, const char *text)
{
    struct entry *entry = mem_new(struct entry);
    entry->role = role;
    entry->text = mem_strdup(text);
    entry->bytes = strlen(text);
    add(history, entry);
}

void history_add_calls(struct history *history, const struct llm_tool_call *calls,
                       const char *const *results, size_t count)
{
    struct entry *entry = mem_new(struct entry);
    entry->role = LLM_ASSISTANT;
    entry->calls = mem_new_n(struct llm_tool_call, count);
    entry->results = mem_new_n(char *, count);
    entry->call_count = count;
    for (size_t i = 0; i < count; i++) {
        entry->calls[i] = (struct llm_tool_call){
            .id = mem_strdup(calls[i].id),
            .name = mem_strdup(calls[i].name),
            .arguments = mem_strdup(calls[i].arguments),
            .extra = mem_strdup(calls[i].extra),
        };
        entry->results[i] = mem_strdup(results[i]);
        entry->bytes += strlen(results[i]) + strlen(calls[i].arguments ? calls[i].arguments : "");
    }
    add(history, entry);
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
