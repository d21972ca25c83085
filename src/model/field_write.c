/* Writes objects as JSON by their field table, in one of the views. Thread: any. */
#include <string.h>

#include "base/buf.h"
#include "model/field.h"
#include "model/internal.h"

static bool is_shown(const struct field *row, unsigned views)
{
    if (row->hide & views || (row->only && !(row->only & views)))
        return false;
    if (views & FIELD_VIEW_STORE)
        return !row->column && !(row->flags & FIELD_NO_STORE);
    return !(row->flags & FIELD_WRITE_ONLY);
}

static void write_row(const struct writer *w, const struct field *row, const void *object)
{
    if (!is_shown(row, w->views))
        return;
    const struct kind *kind = field_kind(row);
    bool is_bare = kind->is_empty && kind->is_empty(row, object);
    if (is_bare && row->flags & FIELD_OMIT_EMPTY)
        return;
    js_out_key(w->out, row->name);
    if (is_bare && row->flags & FIELD_NULL_EMPTY && !(w->views & FIELD_VIEW_STORE))
        js_out_null(w->out);
    else
        kind->write(w, row, object);
}

void field_write(const struct field_table *table, const void *object, unsigned views,
                 const uint8_t *master_key, struct js_out *out)
{
    struct writer w = {.table = table, .views = views, .master_key = master_key, .out = out};
    js_out_object(out);
    for (size_t i = 0; i < table->count; i++)
        write_row(&w, &table->rows[i], object);
    js_out_object_end(out);
}

void writer_object(const struct writer *w, const struct field_table *table, const void *object)
{
    field_write(table, object, w->views, w->master_key, w->out);
}

void field_write_open(const struct field_table *table, const void *object, unsigned views,
                      const char *last, struct js_out *out)
{
    struct writer w = {.table = table, .views = views, .out = out};
    js_out_object(out);
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].name, last) != 0)
            write_row(&w, &table->rows[i], object);
    js_out_key(out, last);
    js_out_array(out);
}

const char *field_store_text(const struct field_table *table, const void *object,
                             const uint8_t *master_key, struct arena *arena)
{
    AUTO_BUF buf = BUF_INIT(SIZE_MAX);
    struct js_out out;
    js_out_init(&out, &buf);
    field_write(table, object, FIELD_VIEW_STORE, master_key, &out);
    return arena_strndup(arena, buf.data, buf.len);
}
