/* Pages of a workspace's lists: ids in the order of the list, from a cursor on. A cursor is the
 * place of an entry, "<milliseconds>.<id>", not its number: what is added or removed meanwhile
 * moves no page. Which lists there are, and how each is ordered, is a table in page.c; calls have
 * filters and counts of their own (call_list.c). Thread: inside a job. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "model/field.h"

struct tx;

enum listed {
    LISTED_AGENTS,
    LISTED_TOOLS,
    LISTED_DOCUMENTS,
    LISTED_KEYS,
    LISTED_MEMBERS, /* named: or part of the address */
    LISTED_COUNT
};

struct page_filter {
    const char *workspace_id;
    const char *id;        /* NULL, or the only one that may be seen */
    const char *agent_id;  /* tools: NULL, or only those of this agent */
    const char *usable_by; /* tools: NULL, or those of this agent and those of none */
    const char *named;     /* NULL, or part of the name in any case, or the id */
    unsigned limit;        /* 0: all, as the list was before it had pages */
    const char *before;    /* the cursor of the page before, or NULL */
};
struct page {
    struct text_list ids;
    bool is_part;     /* a limit was asked for: what follows is known */
    int64_t total;    /* all that match, across pages, in the same snapshot */
    const char *next; /* cursor, NULL on the last page */
};
/* ERR_INVALID: `before` is no cursor of this list. */
enum err store_page(struct tx *tx, enum listed listed, const struct page_filter *filter,
                    struct page *out) MUST_USE;

/* "<milliseconds>.<id>"; what stands after the point is the caller's to check. */
bool page_cursor_read(const char *text, int64_t *out_ms, const char **out_id);
const char *page_cursor(struct tx *tx, int64_t at_ms, const char *id);
