/* What lists that have pages share: how a page is asked for, and how it is answered. Without limit
 * and before a list is whole, as the contract has it (List agents, List tools, List documents).
 * Thread: inside a job. */
#pragma once

#include <stdbool.h>

#include "model/field.h"
#include "store/page.h"

struct request;

/* In the query's struct, and its rows: limit, before, q; prefix: of the list's ids. */
struct page_query {
    int64_t limit; /* 0: not sent */
    const char *before, *named;
};
#define PAGE_QUERY_ROWS(T, m, prefix)                                                              \
    ROW_INT(T, m.limit, "limit", .min = 1, .max = 100,                                             \
            .about = "Entries of a page; 50 where only before is sent, and without both all."),    \
        ROW_TEXT(T, m.before, "before", .flags = FIELD_OPTIONAL,                                   \
                 .pattern = "^[0-9]{1,15}\\." prefix "[0-9A-Za-z]+$",                              \
                 .about = "The nextCursor of the page before."),                                   \
        ROW_TEXT(T, m.named, "q", .flags = FIELD_OPTIONAL, .max = 255,                             \
                 .about = "Only entries with this in their name, in any case, or with this id.")

/* Of lists whose entries are also asked for by what others hold of them. */
#define PAGE_IDS_ROW(T, m)                                                                         \
    ROW_TEXT(T, m, "ids", .flags = FIELD_OPTIONAL, .max = 4096,                                    \
             .about = "Only these, in this order: ids with a comma between, 100 at most; "         \
                      "unknown ones are left out. No limit, before or q beside it.")

/* In the answer's struct, and its rows, after the list. */
struct page_answer {
    int64_t total;
    const char *next;
};
#define PAGE_ANSWER_ROWS(T, m)                                                                     \
    ROW_INT(T, m.total, "total", .only = FIELD_VIEW_PAGE,                                          \
            .about = "All that match, across pages; only where a page was asked for."),            \
        ROW_TEXT(T, m.next, "nextCursor", .flags = FIELD_NULL_EMPTY, .only = FIELD_VIEW_PAGE,      \
                 .about = "Passed back as before, with the same filters; null on the last page. "  \
                          "Only where a page was asked for.")

/* Finds the page; fills workspace, name, limit and cursor of the filter itself. out: lives until
 * the answer is sent. false: answered. */
bool page_find(struct request *request, enum listed listed, const struct page_query *query,
               struct page_filter *filter, struct page *out);
/* The entries that `ids` names, unknown ones included. own: NULL, or the only one that may be seen.
 * false: answered. */
bool page_of_ids(struct request *request, const char *ids, const char *own, struct page *out);
/* Was a page asked for, or what has a name? Else the list is whole. */
bool page_is_asked(const struct page_query *query);
struct page_answer page_answer(const struct page *page);
/* Ends the list and the object, for answers that are written piece by piece. */
void page_write_end(const struct page *page, struct js_out *out);
