/* Field tables: defaults, copies, faults, masks, and the table of kinds. What is done with a kind
 * is in field_number.c, field_text.c and field_object.c; bodies are walked in field_parse.c,
 * written in field_write.c, described in schema.c. Thread: any. */
#include "model/field.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "model/internal.h"

enum { MASK_LEN = 8, MASK_SHOWN = 4 };
#define MASK "********"

const char *text_pairs_get(const struct text_pair_list *pairs, const char *name)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (strcmp(pairs->items[i].name, name) == 0)
            return pairs->items[i].text;
    return NULL;
}

const char *secret_mask(const char *secret, struct arena *arena)
{
    size_t len = strlen(secret);
    if (len == 0)
        return "";
    if (utf8_count(secret) <= MASK_LEN)
        return MASK;
    const char *tail = secret + len;
    for (int shown = 0; shown < MASK_SHOWN;)
        shown += ((unsigned char)*--tail & 0xc0) != 0x80;
    return arena_printf(arena, MASK "%s", tail);
}

bool secret_is_masked(const char *text)
{
    size_t len = utf8_count(text);
    return strncmp(text, MASK, MASK_LEN) == 0 && (len == MASK_LEN || len == MASK_LEN + MASK_SHOWN);
}

void field_secret_context(const struct field_table *table, const struct field *row, char *out,
                          size_t size)
{
    snprintf(out, size, "%s.%s", table->name, row->name);
}

void faults_add(struct faults *faults, const char *path, const char *format, ...)
{
    if (faults->count >= FAULTS_MAX)
        return;
    if (faults->count == faults->cap) {
        size_t cap = faults->cap ? 2 * faults->cap : 8;
        struct fault_row *items = arena_new_n(faults->arena, struct fault_row, cap);
        if (faults->count)
            memcpy(items, faults->items, faults->count * sizeof(*items));
        faults->items = items;
        faults->cap = cap;
    }
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    faults->items[faults->count++] = (struct fault_row){
        .field = arena_strdup(faults->arena, path), .message = arena_strdup(faults->arena, text)};
}

void field_context_init(struct field_context *context, struct arena *arena,
                        const struct catalog *catalog)
{
    *context = (struct field_context){.arena = arena,
                                      .catalog = catalog,
                                      .faults = {.arena = arena},
                                      .forbidden = {.arena = arena}};
}

static const struct kind *const kinds[] = {
    [FIELD_TEXT] = &kind_text,
    [FIELD_INT] = &kind_int,
    [FIELD_REAL] = &kind_real,
    [FIELD_BOOL] = &kind_bool,
    [FIELD_ENUM] = &kind_enum,
    [FIELD_TIME] = &kind_time,
    [FIELD_MONEY] = &kind_money,
    [FIELD_TEXTS] = &kind_texts,
    [FIELD_TEXT_MAP] = &kind_text_map,
    [FIELD_OBJECT] = &kind_object,
    [FIELD_OBJECT_PTR] = &kind_pointer,
    [FIELD_OBJECTS] = &kind_objects,
    [FIELD_MAP] = &kind_map,
    [FIELD_JSON] = &kind_json,
};

const struct kind *field_kind(const struct field *row)
{
    return kinds[row->kind];
}

void field_default(const struct field *row, void *object)
{
    field_kind(row)->set_default(row, object);
}

void field_defaults(const struct field_table *table, void *object)
{
    for (size_t i = 0; i < table->count; i++)
        field_default(&table->rows[i], object);
}

bool field_has_text_cell(const struct field *row)
{
    return field_kind(row)->is_text_cell;
}

struct field_cell field_cell(const struct field *row, const void *object, struct arena *arena)
{
    return field_kind(row)->cell(row, object, arena);
}

bool field_set_cell(const struct field *row, void *object, const struct field_cell *cell,
                    struct arena *arena)
{
    return field_kind(row)->set_cell(row, object, cell, arena);
}

void field_copy(const struct field_table *table, const void *from, void *to, struct arena *arena)
{
    if (to != from)
        memcpy(to, from, table->size);
    for (size_t i = 0; i < table->count; i++)
        if (field_kind(&table->rows[i])->copy)
            field_kind(&table->rows[i])->copy(&table->rows[i], to, arena);
}
