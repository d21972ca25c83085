#include "api/page.h"

#include <string.h>

#include "api/request.h"
#include "store/tx.h"

enum { LIMIT_STANDARD = 50, IDS_MAX = 100 };

/* The job's memory ends with the first piece. */
static void keep(struct request *request, const struct page *page, struct page *out)
{
    const char **items = arena_new_n(request->arena, const char *, page->ids.count + 1);
    for (size_t i = 0; i < page->ids.count; i++)
        items[i] = arena_strdup(request->arena, page->ids.items[i]);
    *out = *page;
    out->ids.items = items;
    if (page->next)
        out->next = arena_strdup(request->arena, page->next);
}

bool page_find(struct request *request, enum listed listed, const struct page_query *query,
               struct page_filter *filter, struct page *out)
{
    struct page page;
    filter->workspace_id = request_workspace(request);
    filter->named = query->named;
    filter->before = query->before;
    filter->limit = (unsigned)query->limit;
    if (query->before && !query->limit)
        filter->limit = LIMIT_STANDARD;
    enum err err = store_page(request->job.tx, listed, filter, &page);
    if (err == ERR_INVALID)
        request_fault(request, "before", "is no nextCursor of this list");
    else if (request_found(request, err))
        keep(request, &page, out);
    return !err;
}

bool page_of_ids(struct request *request, const char *ids, const char *own, struct page *out)
{
    const char **items = arena_new_n(request->arena, const char *, IDS_MAX);
    size_t count = 0;
    for (const char *at = ids, *end; *at; at = end + (*end == ',')) {
        end = at + strcspn(at, ",");
        const char *id = arena_strndup(request->arena, at, (size_t)(end - at));
        if (own && strcmp(id, own) != 0)
            continue;
        if (count == IDS_MAX) {
            request_fault(request, "ids", "must have at most 100 entries");
            return false;
        }
        items[count++] = id;
    }
    *out = (struct page){.ids = {items, count}};
    return true;
}

bool page_is_asked(const struct page_query *query)
{
    return query->limit || query->before || query->named;
}

struct page_answer page_answer(const struct page *page)
{
    return (struct page_answer){page->total, page->next ? page->next : ""};
}

void page_write_end(const struct page *page, struct js_out *out)
{
    js_out_array_end(out);
    if (page->is_part) {
        js_out_key(out, "total");
        js_out_int(out, page->total);
        js_out_key(out, "nextCursor");
        if (page->next)
            js_out_text(out, page->next);
        else
            js_out_null(out);
    }
    js_out_object_end(out);
}
