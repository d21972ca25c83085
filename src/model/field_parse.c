/* Walks JSON into objects by their field table: what a body sends (types, then bounds, then the
 * row's own check; every fault is collected) and what the store kept (trusted: types only). How a
 * value of a kind is taken is in field_number.c, field_text.c, field_object.c. Thread: any. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "model/field.h"
#include "model/internal.h"

enum { FAULT_TEXT_MAX = 400, STORED_DEPTH_MAX = 128 };

static bool add_fault(const struct reading *at, const char *path, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
static bool add_fault(const struct reading *at, const char *path, const char *format, va_list args)
{
    if (at->mode == PARSE_STORED)
        return false;
    char text[FAULT_TEXT_MAX];
    vsnprintf(text, sizeof(text), format, args);
    faults_add(&at->context->faults, path, "%s", text);
    return false;
}

bool reading_fault(const struct reading *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_fault(at, at->path, format, args);
    va_end(args);
    return false;
}

bool reading_fault_at(const struct reading *at, const char *path, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_fault(at, path, format, args);
    va_end(args);
    return false;
}

const char *reading_name(const struct reading *at, const char *path, const char *name)
{
    if (at->mode == PARSE_STORED)
        return "";
    return *path ? arena_printf(at->context->arena, "%s.%s", path, name) : name;
}

const char *reading_index(const struct reading *at, size_t index)
{
    if (at->mode == PARSE_STORED)
        return "";
    return arena_printf(at->context->arena, "%s[%zu]", at->path, index);
}

bool reading_length(const struct reading *at, const char *path, const char *text, int64_t min,
                    int64_t max)
{
    if (at->mode == PARSE_STORED)
        return true;
    int64_t length = (int64_t)utf8_count(text);
    if (length >= min && (length <= max || max == 0))
        return true;
    if (min == 0)
        return reading_fault_at(at, path, "must have at most %lld characters", (long long)max);
    if (max == 0)
        return reading_fault_at(at, path, "must have at least %lld characters", (long long)min);
    return reading_fault_at(at, path, "must have %lld to %lld characters", (long long)min,
                            (long long)max);
}

bool reading_count(const struct reading *at, size_t count)
{
    const struct field *row = at->row;
    if (at->mode == PARSE_STORED)
        return true;
    if (row->max && count > (size_t)row->max)
        return reading_fault(at, "must have at most %lld entries", (long long)row->max);
    if (count < (size_t)row->min)
        return reading_fault(at, "must have at least %lld entries", (long long)row->min);
    return true;
}

bool reading_word_fault(const struct reading *at)
{
    char names[200] = "";
    for (size_t i = 0; i < at->row->name_count; i++) {
        if (*names)
            strncat(names, i + 1 == at->row->name_count ? " or " : ", ",
                    sizeof(names) - strlen(names) - 1);
        strncat(names, at->row->names[i], sizeof(names) - strlen(names) - 1);
    }
    return reading_fault(at, "must be %s", names);
}

/* [A-Za-z_][A-Za-z0-9_]{0,63} */
static bool is_variable_name(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    size_t len = strlen(name);
    return len >= 1 && len <= 64 && strspn(name, letters) == len && (*name < '0' || *name > '9');
}

bool reading_key(const struct reading *at, const char *path, const char *name)
{
    if (at->mode == PARSE_STORED || !at->row->is_pattern_name || is_variable_name(name))
        return true;
    return reading_fault_at(
        at, path, "a name must be 1 to 64 letters, digits and _, and not begin with a digit");
}

static void parse_null(const struct reading *at)
{
    if (at->mode != PARSE_MERGE)
        return;
    if (at->row->flags & FIELD_REQUIRED)
        reading_fault(at, "must not be null");
    else
        field_default(at->row, at->object);
}

static bool is_taken(const struct reading *at)
{
    unsigned flags = at->row->flags;
    if (at->mode == PARSE_STORED)
        return !at->row->column && !(flags & FIELD_NO_STORE);
    return !(flags & (FIELD_READ_ONLY | FIELD_BY_HANDLER)) &&
           !(flags & FIELD_KEPT && at->mode == PARSE_MERGE);
}

static void parse_row(const struct reading *at, const struct js *js)
{
    if (at->mode == PARSE_MERGE && at->row->flags & FIELD_CREATE_ONLY)
        reading_fault(at, "cannot be changed");
    else if (js_type(js) == JS_NULL)
        parse_null(at);
    else if (field_kind(at->row)->parse(at, js) && at->row->check && at->mode != PARSE_STORED)
        at->row->check(at->context, at->row, at->object, at->path);
}

/* The rows are few and their names short: a walk beats a map. */
static const struct field *find_row(const struct field_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].name, name) == 0)
            return &table->rows[i];
    return NULL;
}

static void check_required(const struct reading *at, const struct js *js)
{
    for (size_t i = 0; i < at->table->count; i++) {
        const struct field *row = &at->table->rows[i];
        if (row->flags & FIELD_REQUIRED && js_type(js_get(js, row->name)) == JS_NULL)
            faults_add(&at->context->faults, reading_name(at, at->path, row->name), "is required");
    }
}

static void parse_object(const struct reading *above, const struct field_table *table, void *object,
                         const struct js *js, const char *path, enum parse_mode mode)
{
    struct reading at = *above;
    at.table = table;
    at.object = object;
    at.mode = mode;
    size_t faults = at.context->faults.count;
    if (mode != PARSE_MERGE)
        field_defaults(table, object);
    if (js_type(js) != JS_OBJECT) {
        at.path = path;
        reading_fault(&at, "must be an object");
        return;
    }
    for (void *it = js_first(js); it; it = js_next(js, it)) {
        at.row = find_row(table, js_key(it));
        if (!at.row) {
            if (table->is_closed && mode != PARSE_STORED)
                faults_add(&at.context->forbidden, reading_name(&at, path, js_key(it)),
                           "may not be set here");
            continue;
        }
        if (!is_taken(&at))
            continue;
        at.path = reading_name(&at, path, js_key(it));
        parse_row(&at, js_value(it));
    }
    at.path = path;
    if (mode == PARSE_CREATE)
        check_required(&at, js);
    if (table->check && mode != PARSE_STORED && at.context->faults.count == faults)
        table->check(at.context, NULL, object, path);
}

void reading_object(const struct reading *above, void *object, const struct js *js,
                    const char *path, enum parse_mode mode)
{
    parse_object(above, above->row->table, object, js, path, mode);
}

void field_create(const struct field_table *table, void *object, const struct js *body,
                  struct field_context *context, const char *path)
{
    struct reading at = {.context = context};
    parse_object(&at, table, object, body, path, PARSE_CREATE);
}

void field_merge(const struct field_table *table, void *object, const struct js *body,
                 struct field_context *context, const char *path)
{
    struct reading at = {.context = context};
    parse_object(&at, table, object, body, path, PARSE_MERGE);
}

enum err field_read(const struct field_table *table, void *object, const char *json, size_t len,
                    const uint8_t *master_key, struct arena *arena)
{
    struct js *js = NULL;
    enum err err = js_parse(json, len, STORED_DEPTH_MAX, &js, NULL);
    if (err)
        return err;
    struct field_context context;
    field_context_init(&context, arena, NULL);
    struct reading at = {.context = &context, .master_key = master_key};
    parse_object(&at, table, object, js, "", PARSE_STORED);
    js_free(js);
    return context.faults.count ? ERR_INVALID : OK;
}
