/* toolIds and @name, on heads of tools. */
#include "api/tools_on.h"

#include <stdlib.h>
#include <string.h>

#include "model/agent.h"
#include "store/tx.h"

enum { NAMES_ASKED_MAX = 32 /* more mentions: all tools of no agent are read at once */ };

/* Mentions. */

struct mention {
    const char *name;
    bool is_own; /* the agent has a tool of that name, so no other one is meant */
};
struct mention_list LIST_OF(struct mention);

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct mention *)a)->name, ((const struct mention *)b)->name);
}

/* The name after an @, in the form in which names are saved; NULL: none, or too long for one. */
static const char *read_name(const char *at, struct arena *arena)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    size_t len = strspn(at, letters);
    return len && len <= TOOL_NAME_MAX ? tool_name_saved(arena_strndup(arena, at, len), arena)
                                       : NULL;
}

/* Each once, sorted. */
static struct mention_list mentions_of(const struct agent *agent, struct arena *arena)
{
    struct mention_list list = {0};
    const char *text = agent->system_instruction ? agent->system_instruction : "";
    for (const char *at = strchr(text, '@'); at; at = strchr(at + 1, '@')) {
        const char *name = read_name(at + 1, arena);
        if (name)
            GROW(&list, arena)->name = name;
    }
    if (!list.count)
        return list;
    qsort(list.items, list.count, sizeof(*list.items), by_name);
    size_t kept = 1;
    for (size_t i = 1; i < list.count; i++)
        if (strcmp(list.items[i].name, list.items[kept - 1].name) != 0)
            list.items[kept++] = list.items[i];
    list.count = kept;
    return list;
}

static struct mention *find_mention(const struct mention_list *list, const char *name)
{
    const struct mention wanted = {.name = name};
    return list->count ? bsearch(&wanted, list->items, list->count, sizeof(wanted), by_name) : NULL;
}

/* What is around. */

static int newest_first(const void *a, const void *b)
{
    const struct tool_head *x = a, *y = b;
    if (x->created_wall_ms != y->created_wall_ms)
        return x->created_wall_ms < y->created_wall_ms ? 1 : -1;
    return strcmp(y->id, x->id);
}

static int by_id(const void *a, const void *b)
{
    return strcmp((*(const struct tool_head *const *)a)->id,
                  (*(const struct tool_head *const *)b)->id);
}

static const struct tool_head *find_head(const struct tools_around *around, const char *id)
{
    const struct tool_head wanted = {.id = id}, *key = &wanted;
    size_t count = around->heads.count;
    const struct tool_head **found =
        count ? bsearch(&key, around->by_id, count, sizeof(key), by_id) : NULL;
    return found ? *found : NULL;
}

/* Sorts, and drops what was found twice. */
static void settle(struct tools_around *around, struct arena *arena)
{
    struct tool_head_list *heads = &around->heads;
    size_t kept = 0;
    around->by_id = arena_new_n(arena, const struct tool_head *, heads->count + 1);
    if (!heads->count)
        return;
    qsort(heads->items, heads->count, sizeof(*heads->items), newest_first);
    for (size_t i = 0; i < heads->count; i++)
        if (kept == 0 || strcmp(heads->items[i].id, heads->items[kept - 1].id) != 0)
            heads->items[kept++] = heads->items[i];
    heads->count = kept;
    for (size_t i = 0; i < kept; i++)
        around->by_id[i] = &heads->items[i];
    qsort(around->by_id, kept, sizeof(*around->by_id), by_id);
}

enum err tools_around_all(struct tx *tx, const char *workspace_id, struct tools_around *out)
{
    *out = (struct tools_around){0};
    enum err err = store_tool_heads(tx, workspace_id, NULL, NULL, &out->heads);
    settle(out, tx->arena);
    return err;
}

static bool has_head(const struct tool_head_list *heads, const char *id)
{
    for (size_t i = 0; i < heads->count; i++)
        if (strcmp(heads->items[i].id, id) == 0)
            return true;
    return false;
}

static enum err add_mentioned(struct tx *tx, const struct agent *agent, struct tool_head_list *out)
{
    struct mention_list names = mentions_of(agent, tx->arena);
    if (names.count > NAMES_ASKED_MAX)
        return store_tool_heads(tx, agent->user_id, "", NULL, out);
    enum err err = OK;
    for (size_t i = 0; i < names.count && !err; i++)
        err = store_tool_heads(tx, agent->user_id, "", names.items[i].name, out);
    return err;
}

enum err tools_around_agent(struct tx *tx, const struct agent *agent, struct tools_around *out)
{
    *out = (struct tools_around){0};
    struct tool_head_list *heads = &out->heads;
    enum err err = *agent->id ? store_tool_heads(tx, agent->user_id, agent->id, NULL, heads) : OK;
    for (size_t i = 0; i < agent->tool_ids.count && !err; i++)
        if (!has_head(heads, agent->tool_ids.items[i]))
            err = store_tool_head(tx, agent->user_id, agent->tool_ids.items[i], heads);
    if (!err)
        err = add_mentioned(tx, agent, heads);
    settle(out, tx->arena);
    return err;
}

/* What is on. */

static bool is_own(const struct tool_head *head, const struct agent *agent)
{
    return *head->agent_id && strcmp(head->agent_id, agent->id) == 0;
}

static void add_listed(struct tx *tx, struct agent *agent, const struct tools_around *around,
                       struct tool_head_list *out)
{
    struct text_list known = {0};
    for (size_t i = 0; i < agent->tool_ids.count; i++) {
        const struct tool_head *head = find_head(around, agent->tool_ids.items[i]);
        if (!head)
            continue;
        *GROW(out, tx->arena) = *head;
        *GROW(&known, tx->arena) = head->id;
    }
    agent->tool_ids = known;
}

void tools_on(struct tx *tx, struct agent *agent, const struct tools_around *around,
              struct tool_head_list *out)
{
    struct mention_list names = mentions_of(agent, tx->arena);
    *out = (struct tool_head_list){0};
    add_listed(tx, agent, around, out);
    size_t listed = out->count;
    for (size_t i = 0; names.count && i < around->heads.count; i++) {
        const struct tool_head *head = &around->heads.items[i];
        struct mention *mention = is_own(head, agent) ? find_mention(&names, head->name) : NULL;
        if (mention)
            mention->is_own = true;
    }
    struct tool_head_list before = {out->items, listed};
    for (size_t i = 0; names.count && i < around->heads.count; i++) {
        const struct tool_head *head = &around->heads.items[i];
        bool is_shared = *head->agent_id == '\0';
        const struct mention *mention =
            is_shared || is_own(head, agent) ? find_mention(&names, head->name) : NULL;
        if (mention && !(is_shared && mention->is_own) && !has_head(&before, head->id))
            *GROW(out, tx->arena) = *head;
    }
}

/* Is `a` the one to keep of two tools of one name? */
static bool wins(const struct tool_head *a, const struct tool_head *b, const struct agent *agent)
{
    if (is_own(a, agent) != is_own(b, agent))
        return is_own(a, agent);
    return newest_first(a, b) > 0;
}

void tools_on_keep_best(const struct agent *agent, struct tool_head_list *tools)
{
    size_t kept = 0;
    for (size_t i = 0; i < tools->count; i++) {
        struct tool_head *head = &tools->items[i];
        bool is_best = true;
        for (size_t j = 0; j < tools->count && is_best; j++)
            is_best = i == j || strcmp(head->name, tools->items[j].name) != 0 ||
                      wins(head, &tools->items[j], agent);
        tools->items[i].bytes = is_best ? head->bytes : -1; /* marked: dropped below */
    }
    for (size_t i = 0; i < tools->count; i++)
        if (tools->items[i].bytes >= 0)
            tools->items[kept++] = tools->items[i];
    tools->count = kept;
}
