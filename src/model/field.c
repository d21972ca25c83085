/* Field tables: defaults, copies, faults, masks. Parsing is in field_parse.c, writing in
 * field_write.c, the OpenAPI schemas in schema.c. Thread: any. */
#include "model/field.h"
#include "base/utf8.h"

#include <math.h>
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
            memcpy(items, faults->items, faults->count * sizeof *items);
        faults->items = items;
        faults->cap = cap;
    }
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
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

static const char *default_text(const struct field *row)
{
    if (row->standard_text || row->flags & FIELD_OPTIONAL)
        return row->standard_text;
    return row->kind == FIELD_JSON ? "null" : "";
}

void field_default(const struct field *row, void *object)
{
    void *member = field_member(row, object);
    switch (row->kind) {
    case FIELD_TEXT:
    case FIELD_JSON:
        *(const char **)member = default_text(row);
        break;
    case FIELD_INT:
    case FIELD_MONEY:
    case FIELD_TIME:
        *(int64_t *)member = row->standard;
        break;
    case FIELD_REAL:
        *(double *)member = row->standard_real;
        break;
    case FIELD_BOOL:
        *(bool *)member = row->standard != 0;
        break;
    case FIELD_ENUM: {
        int value = (int)row->standard;
        memcpy(member, &value, sizeof value);
        break;
    }
    case FIELD_OBJECT:
        field_defaults(row->table, member);
        break;
    case FIELD_OBJECT_PTR:
        *(void **)member = NULL;
        break;
    case FIELD_TEXTS:
    case FIELD_TEXT_MAP:
    case FIELD_OBJECTS:
    case FIELD_MAP:
        field_list_set(row, object, NULL, 0);
        break;
    }
}

void field_defaults(const struct field_table *table, void *object)
{
    for (size_t i = 0; i < table->count; i++)
        field_default(&table->rows[i], object);
}

static void copy_texts(const struct field *row, void *object, struct arena *arena)
{
    struct any_list list = field_list(row, object);
    const char *const *from = list.items;
    const char **items = arena_new_n(arena, const char *, list.count);
    for (size_t i = 0; i < list.count; i++)
        items[i] = arena_strdup(arena, from[i]);
    field_list_set(row, object, items, list.count);
}

static void copy_pairs(const struct field *row, void *object, struct arena *arena)
{
    struct any_list list = field_list(row, object);
    const struct text_pair *from = list.items;
    struct text_pair *items = arena_new_n(arena, struct text_pair, list.count);
    for (size_t i = 0; i < list.count; i++)
        items[i] = (struct text_pair){.name = arena_strdup(arena, from[i].name),
                                      .text = arena_strdup(arena, from[i].text)};
    field_list_set(row, object, items, list.count);
}

static void copy_objects(const struct field *row, void *object, struct arena *arena)
{
    struct any_list list = field_list(row, object);
    size_t size = row->table->size;
    char *items = arena_alloc(arena, list.count * size);
    for (size_t i = 0; i < list.count; i++) {
        const char *from = (const char *)list.items + i * size;
        field_copy(row->table, from, items + i * size, arena);
        if (row->kind == FIELD_MAP) {
            const char *key = arena_strdup(arena, *(const char *const *)(const void *)from);
            memcpy(items + i * size, &key, sizeof key);
        }
    }
    field_list_set(row, object, items, list.count);
}

static void copy_pointer(const struct field *row, void *object, struct arena *arena)
{
    void **member = field_member(row, object);
    if (!*member)
        return;
    void *copy = arena_alloc(arena, row->table->size);
    field_copy(row->table, *member, copy, arena);
    *member = copy;
}

/* `object` holds the members as they were copied bitwise; what they point at is made its own. */
static void copy_row(const struct field *row, void *object, struct arena *arena)
{
    void *member = field_member(row, object);
    switch (row->kind) {
    case FIELD_TEXT:
    case FIELD_JSON:
        *(const char **)member = arena_strdup(arena, *(const char **)member);
        break;
    case FIELD_TEXTS:
        copy_texts(row, object, arena);
        break;
    case FIELD_TEXT_MAP:
        copy_pairs(row, object, arena);
        break;
    case FIELD_OBJECTS:
    case FIELD_MAP:
        copy_objects(row, object, arena);
        break;
    case FIELD_OBJECT:
        for (size_t i = 0; i < row->table->count; i++)
            copy_row(&row->table->rows[i], member, arena);
        break;
    case FIELD_OBJECT_PTR:
        copy_pointer(row, object, arena);
        break;
    case FIELD_INT:
    case FIELD_REAL:
    case FIELD_BOOL:
    case FIELD_ENUM:
    case FIELD_TIME:
    case FIELD_MONEY:
        break;
    }
}

void field_copy(const struct field_table *table, const void *from, void *to, struct arena *arena)
{
    if (to != from)
        memcpy(to, from, table->size);
    for (size_t i = 0; i < table->count; i++)
        copy_row(&table->rows[i], to, arena);
}
