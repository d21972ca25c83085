/* JSON Schemas from field tables. What a row says about bounds, enumerations and nulls is what the
 * parser enforces, because it is the same row. */
#include "model/schema.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/js.h"
#include "base/mem.h"
#include "model/internal.h"

static void write_name(const struct field_table *table, enum schema_use use, const char *prefix,
                       char *out, size_t size)
{
    static const char *const suffixes[] = {"", "Body", "Patch"};
    snprintf(out, size, "%s%s%s", prefix, table->name, suffixes[use]);
}

void schema_ref(struct schema_set *set, const struct field_table *table, enum schema_use use,
                struct js_out *out)
{
    char name[128];
    size_t i = 0;
    while (i < set->count && (set->items[i].table != table || set->items[i].use != use))
        i++;
    if (i == set->count) {
        assert(set->count < SCHEMA_SET_MAX);
        set->items[set->count].table = table;
        set->items[set->count++].use = use;
    }
    write_name(table, use, "#/components/schemas/", name, sizeof(name));
    js_out_object(out);
    js_out_key(out, "$ref");
    js_out_text(out, name);
    js_out_object_end(out);
}

void schema_int(struct js_out *out, const char *key, int64_t value)
{
    js_out_key(out, key);
    js_out_int(out, value);
}

void schema_text(struct js_out *out, const char *key, const char *value)
{
    js_out_key(out, key);
    js_out_text(out, value);
}

static void write_json(struct js_out *out, const char *key, const char *text)
{
    struct js *js = NULL;
    if (js_parse(text, strlen(text), 16, &js, NULL) != OK)
        return;
    js_out_key(out, key);
    js_out_js(out, js);
    js_free(js);
}

/* In answers some rows may be null; in bodies all may that need not be sent. */
bool schema_is_nullable(const struct field *row, enum schema_use use)
{
    if (use == SCHEMA_ANSWER)
        return row->flags & FIELD_NULL_EMPTY && !(row->flags & FIELD_OMIT_EMPTY);
    return !(row->flags & FIELD_REQUIRED);
}

static void write_type(const struct field *row, enum schema_use use, struct js_out *out)
{
    const char *type = field_kind(row)->type;
    if (!type && row->flags & FIELD_OBJECT_ONLY)
        type = "object";
    if (!type)
        return; /* anything */
    js_out_key(out, "type");
    if (!schema_is_nullable(row, use)) {
        js_out_text(out, type);
        return;
    }
    js_out_array(out);
    js_out_text(out, type);
    js_out_text(out, "null");
    js_out_array_end(out);
}

void schema_names(const struct field *row, bool is_null_too, struct js_out *out)
{
    js_out_key(out, "enum");
    js_out_array(out);
    for (size_t i = 0; i < row->name_count; i++)
        if (*row->names[i])
            js_out_text(out, row->names[i]);
    if (is_null_too)
        js_out_null(out);
    js_out_array_end(out);
}

void schema_number(struct js_out *out, const char *key, double value)
{
    js_out_key(out, key);
    if (floor(value) == value)
        js_out_int(out, (int64_t)value);
    else
        js_out_real(out, value);
}

void schema_map(const struct schema_place *at, const struct field *row)
{
    struct js_out *out = at->out;
    if (at->use != SCHEMA_ANSWER && row->max)
        schema_int(out, "maxProperties", row->max);
    if (row->is_pattern_name) {
        js_out_key(out, "propertyNames");
        js_out_object(out);
        schema_text(out, "pattern", "^[A-Za-z_][A-Za-z0-9_]{0,63}$");
        js_out_object_end(out);
    }
    js_out_key(out, "additionalProperties");
}

void schema_entry(const struct schema_place *at, const struct field_table *table)
{
    schema_ref(at->set, table, at->use == SCHEMA_ANSWER ? SCHEMA_ANSWER : SCHEMA_BODY, at->out);
}

static void write_default(const struct field *row, struct js_out *out)
{
    if (field_kind(row)->write_default && !(row->flags & (FIELD_REQUIRED | FIELD_OPTIONAL)))
        field_kind(row)->write_default(row, out);
}

void schema_value(struct schema_set *set, const struct field *row, enum schema_use use,
                  struct js_out *out)
{
    if (use == SCHEMA_PATCH && row->flags & FIELD_CREATE_ONLY) {
        js_out_object(out);
        schema_text(out, "description", "Cannot be changed.");
        js_out_key(out, "not");
        js_out_object(out);
        js_out_object_end(out);
        js_out_object_end(out);
        return;
    }
    struct schema_place at = {.set = set, .use = use, .out = out};
    const struct kind *kind = field_kind(row);
    if (kind->write_schema) {
        kind->write_schema(&at, row);
        return;
    }
    js_out_object(out);
    write_type(row, use, out);
    if (row->about)
        schema_text(out, "description", row->about);
    if (kind->write_bounds)
        kind->write_bounds(&at, row);
    if (use == SCHEMA_BODY)
        write_default(row, out);
    if (row->example) {
        js_out_key(out, "examples");
        js_out_array(out);
        struct js *js = NULL;
        if (js_parse(row->example, strlen(row->example), 16, &js, NULL) == OK)
            js_out_js(out, js);
        js_free(js);
        js_out_array_end(out);
    }
    js_out_object_end(out);
}

static bool is_described(const struct field *row, enum schema_use use)
{
    if (use == SCHEMA_ANSWER)
        return !(row->flags & FIELD_WRITE_ONLY) && row->only != FIELD_VIEW_STORE;
    return !(row->flags & FIELD_READ_ONLY) && !(use == SCHEMA_PATCH && row->flags & FIELD_KEPT);
}

/* In every answer, whoever asks? */
static bool is_always_sent(const struct field *row)
{
    return !(row->flags & FIELD_OMIT_EMPTY) && !row->hide && !row->only;
}

static bool is_required(const struct field *row, enum schema_use use)
{
    if (!is_described(row, use) || use == SCHEMA_PATCH)
        return false;
    return use == SCHEMA_ANSWER ? is_always_sent(row) : (row->flags & FIELD_REQUIRED) != 0;
}

static void write_required(const struct field_table *table, enum schema_use use, struct js_out *out)
{
    bool has_any = false;
    for (size_t i = 0; i < table->count; i++)
        has_any |= is_required(&table->rows[i], use);
    if (!has_any)
        return;
    js_out_key(out, "required");
    js_out_array(out);
    for (size_t i = 0; i < table->count; i++)
        if (is_required(&table->rows[i], use))
            js_out_text(out, table->rows[i].name);
    js_out_array_end(out);
}

static void write_component(struct schema_set *set, const struct field_table *table,
                            enum schema_use use, struct js_out *out)
{
    char name[128];
    write_name(table, use, "", name, sizeof(name));
    js_out_key(out, name);
    js_out_object(out);
    schema_text(out, "type", "object");
    if (table->about)
        schema_text(out, "description", table->about);
    write_required(table, use, out);
    js_out_key(out, "properties");
    js_out_object(out);
    for (size_t i = 0; i < table->count; i++) {
        if (!is_described(&table->rows[i], use))
            continue;
        js_out_key(out, table->rows[i].name);
        schema_value(set, &table->rows[i], use, out);
    }
    js_out_object_end(out);
    if (use != SCHEMA_ANSWER && table->is_closed) {
        js_out_key(out, "additionalProperties");
        js_out_bool(out, false);
    }
    js_out_object_end(out);
}

void schema_components(struct schema_set *set, struct js_out *out)
{
    for (size_t i = 0; i < set->count; i++) /* grows while it is walked */
        write_component(set, set->items[i].table, set->items[i].use, out);
}

bool schema_has_example(const struct field_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].example && !(table->rows[i].flags & FIELD_READ_ONLY))
            return true;
    return false;
}

void schema_example(const struct field_table *table, struct js_out *out)
{
    js_out_object(out);
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].example && !(table->rows[i].flags & FIELD_READ_ONLY))
            write_json(out, table->rows[i].name, table->rows[i].example);
    js_out_object_end(out);
}
