#include "store/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/member.h"
#include "store/tx.h"
#include "text/words.h"

enum {
    NAMED_MAX = MEMBER_NAME_MAX + 1 + MEMBER_EMAIL_MAX, /* the longest: documents have 255 */
    NAME_MAX_BYTES = 4 * NAMED_MAX + 1,
    VALUES_MAX = 9,
};

/* Each list is read from an index in its order that holds the name as well (store/schema.c); those
 * of keys and members are short enough without. */
struct list {
    const char *prefix;                 /* of its ids */
    const char *select, *count, *order; /* WHERE and the conditions stand between */
    const char *from;                   /* the condition of a cursor: time, time, id */
};
#define CREATED_LAST " ORDER BY created_ms DESC, id DESC"
#define CREATED_FROM " AND created_ms <= ? AND (created_ms < ? OR id < ?)"
static const struct list lists[LISTED_COUNT] = {
    [LISTED_AGENTS] = {"ua_", "SELECT id, updated_ms, name FROM agents",
                       "SELECT COUNT(*) FROM agents", " ORDER BY updated_ms DESC, id",
                       " AND updated_ms <= ? AND (updated_ms < ? OR id > ?)"},
    [LISTED_TOOLS] = {"tool_", "SELECT id, created_ms, name FROM tools",
                      "SELECT COUNT(*) FROM tools", CREATED_LAST, CREATED_FROM},
    [LISTED_DOCUMENTS] = {"kd_", "SELECT id, created_ms, name FROM documents",
                          "SELECT COUNT(*) FROM documents", CREATED_LAST, CREATED_FROM},
    [LISTED_KEYS] = {"key_", "SELECT id, created_ms, name FROM api_keys",
                     "SELECT COUNT(*) FROM api_keys", CREATED_LAST, CREATED_FROM},
    [LISTED_MEMBERS] = {"mem_", "SELECT id, created_ms, name || ' ' || email FROM members",
                        "SELECT COUNT(*) FROM members", " ORDER BY created_ms, id",
                        " AND created_ms >= ? AND (created_ms > ? OR id > ?)"},
};

struct condition {
    const char *sql;
    struct db_value values[VALUES_MAX]; /* DB_END after them */
    size_t count;
    const char *id, *folded; /* of page_filter.named */
};

static void add(struct tx *tx, struct condition *where, const char *sql, struct db_value value)
{
    where->sql = arena_printf(tx->arena, "%s%s", where->sql, sql);
    where->values[where->count++] = value;
}

static const char *fold(struct tx *tx, const char *text)
{
    char folded[NAME_MAX_BYTES];
    text_fold(text, folded, sizeof(folded));
    return arena_strdup(tx->arena, folded);
}

static struct condition make_condition(struct tx *tx, const struct page_filter *filter)
{
    struct condition where = {.sql = " WHERE workspace_id = ?"};
    where.values[where.count++] = TEXT(filter->workspace_id);
    if (filter->id)
        add(tx, &where, " AND id = ?", TEXT(filter->id));
    if (filter->agent_id)
        add(tx, &where, " AND agent_id = ?", TEXT(filter->agent_id));
    if (filter->usable_by) /* nearly all of them: not by the index of an agent's */
        add(tx, &where, " AND agent_id || '' IN ('', ?)", TEXT(filter->usable_by));
    if (filter->named && *filter->named) {
        where.id = filter->named;
        where.folded = fold(tx, filter->named);
    }
    return where;
}

/* Cursors. */

bool page_cursor_read(const char *text, int64_t *out_ms, const char **out_id)
{
    enum { DIGITS_MAX = 15 };
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > DIGITS_MAX || text[digits] != '.')
        return false;
    *out_ms = strtoll(text, NULL, 10);
    *out_id = text + digits + 1;
    return true;
}

const char *page_cursor(struct tx *tx, int64_t at_ms, const char *id)
{
    return arena_printf(tx->arena, "%" PRId64 ".%s", at_ms, id);
}

static bool is_id(const char *text, const char *prefix)
{
    static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    size_t len = strlen(prefix);
    return strncmp(text, prefix, len) == 0 && text[len] && !text[len + strspn(text + len, letters)];
}

static enum err add_cursor(struct tx *tx, const struct list *list, const char *before,
                           struct condition *where)
{
    int64_t at_ms;
    const char *id;
    if (!page_cursor_read(before, &at_ms, &id) || !is_id(id, list->prefix))
        return ERR_INVALID;
    add(tx, where, list->from, NUMBER(at_ms));
    where->values[where->count++] = NUMBER(at_ms);
    where->values[where->count++] = TEXT(id);
    return OK;
}

/* Reading. */

/* The next row whose name is meant. Names are compared here: the databases fold case in ways of
 * their own, and not all of Unicode. */
static bool next_match(struct cursor *row, const struct condition *where)
{
    char folded[NAME_MAX_BYTES];
    size_t len;
    while (cursor_next(row)) {
        if (!where->folded || strcmp(cursor_peek(row, 0, &len), where->id) == 0)
            return true;
        text_fold(cursor_peek(row, 2, &len), folded, sizeof(folded));
        if (strstr(folded, where->folded))
            return true;
    }
    return false;
}

static struct cursor *select_rows(struct tx *tx, const struct list *list,
                                  const struct condition *where, const char *rest)
{
    const char *sql =
        arena_printf(tx->arena, "%s%s%s%s", list->select, where->sql, list->order, rest);
    return tx_query(tx, sql, where->values);
}

static int64_t count_matching(struct tx *tx, const struct list *list, const struct condition *where)
{
    if (!where->folded)
        return tx_query_number(tx, 0, arena_printf(tx->arena, "%s%s", list->count, where->sql),
                               where->values);
    int64_t count = 0;
    AUTO(cursor) row = select_rows(tx, list, where, "");
    while (next_match(row, where))
        count++;
    return count;
}

static void read_page(struct tx *tx, const struct list *list, unsigned limit,
                      struct condition *where, struct page *out)
{
    const char *rest = "";
    int64_t last_ms = 0;
    if (limit && !where->folded) { /* one more tells of a next */
        rest = " LIMIT ?";
        where->values[where->count] = NUMBER((int64_t)limit + 1);
    }
    AUTO(cursor) row = select_rows(tx, list, where, rest);
    while (!out->next && next_match(row, where)) {
        if (limit && out->ids.count == limit) {
            out->next = page_cursor(tx, last_ms, out->ids.items[limit - 1]);
            continue;
        }
        *GROW(&out->ids, tx->arena) = cursor_text(row, 0);
        last_ms = cursor_number(row, 1);
    }
}

enum err store_page(struct tx *tx, enum listed listed, const struct page_filter *filter,
                    struct page *out)
{
    const struct list *list = &lists[listed];
    struct condition where = make_condition(tx, filter);
    *out = (struct page){.is_part = filter->limit > 0};
    if (out->is_part)
        out->total = count_matching(tx, list, &where);
    if (filter->before) {
        enum err err = add_cursor(tx, list, filter->before, &where);
        if (err)
            return err;
    }
    read_page(tx, list, filter->limit, &where, out);
    return tx_result(tx);
}
