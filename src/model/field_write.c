/* Writes objects as JSON by their field table, in one of the views. Thread: any. */
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "model/field.h"
#include "model/internal.h"

struct writer {
    const struct field_table *table;
    unsigned views;
    const uint8_t *master_key;
    struct json_out *out;
};

static bool is_shown(const struct field *row, unsigned views)
{
    if (row->hide & views || (row->only && !(row->only & views)))
        return false;
    if (views & FIELD_VIEW_STORE)
        return !(row->flags & FIELD_NO_STORE);
    return !(row->flags & FIELD_WRITE_ONLY);
}

static bool is_empty(const struct field *row, const void *object)
{
    const void *member = field_member(row, object);
    switch (row->kind) {
    case FIELD_TEXT:
        return *field_text(row, object) == '\0';
    case FIELD_JSON:
        return strcmp(field_text(row, object), "null") == 0 || *field_text(row, object) == '\0';
    case FIELD_INT:
    case FIELD_MONEY:
    case FIELD_TIME:
        return *(const int64_t *)member == 0;
    case FIELD_REAL:
        return isnan(*(const double *)member);
    case FIELD_BOOL:
        return !*(const bool *)member;
    case FIELD_ENUM:
        return field_enum(row, object) == 0;
    case FIELD_OBJECT_PTR:
        return *(void *const *)member == NULL;
    case FIELD_TEXTS:
    case FIELD_TEXT_MAP:
    case FIELD_OBJECTS:
    case FIELD_MAP:
        return field_list(row, object).count == 0;
    case FIELD_OBJECT:
        break;
    }
    return false;
}

static void write_secret(const struct writer *w, const struct field *row, const char *secret)
{
    if (w->views & FIELD_VIEW_REVEAL || *secret == '\0') {
        out_text(w->out, secret);
        return;
    }
    if (!(w->views & FIELD_VIEW_STORE)) {
        AUTO(arena) arena = arena_new(0);
        out_text(w->out, secret_mask(secret, arena));
        return;
    }
    if (!w->master_key) { /* nobody to seal it: better lost than legible */
        out_text(w->out, "");
        return;
    }
    char context[128];
    field_secret_context(w->table, row, context, sizeof context);
    AUTO_BUF sealed = BUF_INIT(SIZE_MAX);
    if (crypto_seal(w->master_key, context, secret, strlen(secret), &sealed) != OK)
        out_text(w->out, "");
    else
        out_text_n(w->out, sealed.data, sealed.len);
}

static void write_json(const char *text, struct json_out *out)
{
    struct js *js = NULL;
    if (js_parse(text, strlen(text), 128, &js, NULL) != OK) {
        out_null(out);
        return;
    }
    out_js(out, js);
    js_free(js);
}

static void write_list(const struct writer *w, const struct field *row, const void *object)
{
    struct any_list list = field_list(row, object);
    out_array(w->out);
    for (size_t i = 0; i < list.count; i++) {
        if (row->kind == FIELD_TEXTS)
            out_text(w->out, ((const char *const *)list.items)[i]);
        else
            field_write(row->table, (const char *)list.items + i * row->table->size, w->views,
                        w->master_key, w->out);
    }
    out_array_end(w->out);
}

static void write_map(const struct writer *w, const struct field *row, const void *object)
{
    struct any_list list = field_list(row, object);
    out_object(w->out);
    for (size_t i = 0; i < list.count; i++) {
        if (row->kind == FIELD_TEXT_MAP) {
            const struct text_pair *pair = (const struct text_pair *)list.items + i;
            out_key(w->out, pair->name);
            out_text(w->out, pair->text);
            continue;
        }
        const void *entry = (const char *)list.items + i * row->table->size;
        out_key(w->out, *(const char *const *)entry);
        field_write(row->table, entry, w->views, w->master_key, w->out);
    }
    out_object_end(w->out);
}

static void write_pointer(const struct writer *w, const struct field *row, const void *object)
{
    const void *target = *(void *const *)field_member(row, object);
    if (target)
        field_write(row->table, target, w->views, w->master_key, w->out);
    else
        out_null(w->out);
}

static void write_real(double value, struct json_out *out)
{
    if (isnan(value))
        out_null(out);
    else
        out_real(out, value);
}

static void write_text(const struct writer *w, const struct field *row, const void *object)
{
    if (row->flags & FIELD_SECRET)
        write_secret(w, row, field_text(row, object));
    else
        out_text(w->out, field_text(row, object));
}

static void write_value(const struct writer *w, const struct field *row, const void *object)
{
    const void *member = field_member(row, object);
    switch (row->kind) {
    case FIELD_TEXT:
        write_text(w, row, object);
        return;
    case FIELD_INT:
        out_int(w->out, *(const int64_t *)member);
        return;
    case FIELD_REAL:
        write_real(*(const double *)member, w->out);
        return;
    case FIELD_BOOL:
        out_bool(w->out, *(const bool *)member);
        return;
    case FIELD_ENUM:
        out_text(w->out, row->names[field_enum(row, object)]);
        return;
    case FIELD_TIME:
        out_time(w->out, *(const int64_t *)member);
        return;
    case FIELD_MONEY:
        out_usd4(w->out, *(const int64_t *)member);
        return;
    case FIELD_TEXTS:
    case FIELD_OBJECTS:
        write_list(w, row, object);
        return;
    case FIELD_TEXT_MAP:
    case FIELD_MAP:
        write_map(w, row, object);
        return;
    case FIELD_OBJECT:
        field_write(row->table, member, w->views, w->master_key, w->out);
        return;
    case FIELD_OBJECT_PTR:
        write_pointer(w, row, object);
        return;
    case FIELD_JSON:
        write_json(field_text(row, object), w->out);
        return;
    }
}

static void write_row(const struct writer *w, const struct field *row, const void *object)
{
    if (!is_shown(row, w->views))
        return;
    bool is_bare = is_empty(row, object);
    if (is_bare && row->flags & FIELD_OMIT_EMPTY)
        return;
    out_key(w->out, row->name);
    if (is_bare && row->flags & FIELD_NULL_EMPTY && !(w->views & FIELD_VIEW_STORE))
        out_null(w->out);
    else
        write_value(w, row, object);
}

void field_write(const struct field_table *table, const void *object, unsigned views,
                 const uint8_t *master_key, struct json_out *out)
{
    struct writer w = {.table = table, .views = views, .master_key = master_key, .out = out};
    out_object(out);
    for (size_t i = 0; i < table->count; i++)
        write_row(&w, &table->rows[i], object);
    out_object_end(out);
}

void field_write_open(const struct field_table *table, const void *object, unsigned views,
                      const char *last, struct json_out *out)
{
    struct writer w = {.table = table, .views = views, .out = out};
    out_object(out);
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].name, last) != 0)
            write_row(&w, &table->rows[i], object);
    out_key(out, last);
    out_array(out);
}

const char *field_store_text(const struct field_table *table, const void *object,
                             const uint8_t *master_key, struct arena *arena)
{
    AUTO_BUF buf = BUF_INIT(SIZE_MAX);
    struct json_out out;
    out_init(&out, &buf);
    field_write(table, object, FIELD_VIEW_STORE, master_key, &out);
    return arena_strndup(arena, buf.data, buf.len);
}
