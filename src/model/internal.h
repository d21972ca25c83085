/* What the parts of the field engine share. A kind of field is one struct kind: parsing, writing,
 * copying and schemas know no kind by its name, and a new kind is one more row in field.c. */
#pragma once

#include <string.h>

#include "model/field.h"
#include "model/schema.h"

static inline void *field_member(const struct field *row, const void *object)
{
    return (char *)(uintptr_t)object + row->offset;
}

static inline const char *field_text(const struct field *row, const void *object)
{
    const char *text = *(const char *const *)field_member(row, object);
    return text ? text : "";
}

/* Any list member, whatever its items; copied, so that no rule of aliasing is bent. */
static inline struct any_list field_list(const struct field *row, const void *object)
{
    struct any_list list;
    memcpy(&list, field_member(row, object), sizeof(list));
    return list;
}

static inline void field_list_set(const struct field *row, void *object, void *items, size_t count)
{
    struct any_list list = {.items = items, .count = count};
    memcpy(field_member(row, object), &list, sizeof(list));
}

/* The allowed entries of a list of event types (model/event.h). */
#define SUBSCRIBABLE .names = subscribable_names, .name_count = EVENT_TYPE_COUNT + 1

/* A row for the store alone: in no answer and no body. */
#define STORED_ONLY(column_) .column = (column_), .flags = FIELD_READ_ONLY, .only = FIELD_VIEW_STORE

/* The context that a sealed secret is bound to: "Tool.authToken". */
void field_secret_context(const struct field_table *table, const struct field *row, char *out,
                          size_t size);

/* One row back to its default. */
void field_default(const struct field *row, void *object);

/* Parsing (field_parse.c). */
enum parse_mode {
    PARSE_CREATE,
    PARSE_MERGE,
    PARSE_STORED /* what the store kept: types are looked at, bounds are not, nothing is told */
};

/* Where parsing stands: one row of one object. */
struct reading {
    enum parse_mode mode;
    struct field_context *context;
    const uint8_t *master_key; /* PARSE_STORED */
    const struct field_table *table;
    const struct field *row;
    void *object;
    const char *path; /* "" in PARSE_STORED */
};

/* Adds a fault at its path; always false. */
bool reading_fault(const struct reading *at, const char *format, ...) PRINTF(2, 3);
/* The same at another path. */
bool reading_fault_at(const struct reading *at, const char *path, const char *format, ...)
    PRINTF(3, 4);
/* "must be a, b or c": none of the row's names. */
bool reading_word_fault(const struct reading *at);
/* Paths of what is inside: `path.name`, `path[index]`. */
const char *reading_name(const struct reading *at, const char *path, const char *name);
const char *reading_index(const struct reading *at, size_t index);
/* Bounds of a text in code points (max 0: none) and of a list's entries. */
bool reading_length(const struct reading *at, const char *path, const char *text, int64_t min,
                    int64_t max);
bool reading_count(const struct reading *at, size_t count);
/* The key of a map's entry: a variable's name, where the row says so. */
bool reading_key(const struct reading *at, const char *path, const char *name);
/* An object inside its own. */
void reading_object(const struct reading *above, void *object, const struct js *js,
                    const char *path, enum parse_mode mode);

/* Writing (field_write.c). */
struct writer {
    const struct field_table *table;
    unsigned views;
    const uint8_t *master_key;
    struct js_out *out;
};
void writer_object(const struct writer *w, const struct field_table *table, const void *object);

/* Schemas (schema.c). */
struct schema_place {
    struct schema_set *set;
    enum schema_use use;
    struct js_out *out;
};
void schema_int(struct js_out *out, const char *key, int64_t value);
void schema_text(struct js_out *out, const char *key, const char *value);
void schema_number(struct js_out *out, const char *key, double value); /* whole without a point */
void schema_names(const struct field *row, bool is_null_too, struct js_out *out); /* "enum" */
bool schema_is_nullable(const struct field *row, enum schema_use use);
/* The bounds of a map, up to the schema of its entries, which the caller writes. */
void schema_map(const struct schema_place *at, const struct field *row);
/* The entries of a list or map are made anew, also in an update. */
void schema_entry(const struct schema_place *at, const struct field_table *table);

/* What the engine does with a member of one kind. NULL: nothing. */
struct kind {
    const char
        *type; /* JSON Schema; NULL: an object where FIELD_OBJECT_ONLY says so, or anything */
    void (*set_default)(const struct field *row, void *object);
    bool (*parse)(const struct reading *at,
                  const struct js *js); /* false: a fault, nothing is set */
    bool (*is_empty)(const struct field *row, const void *object);
    void (*write)(const struct writer *w, const struct field *row, const void *object);
    /* The object was copied bitwise: makes what the member points at its own. */
    void (*copy)(const struct field *row, void *object, struct arena *arena);
    /* The column that keeps the member, if one may; text: in field_cell's text. */
    bool is_text_cell;
    struct field_cell (*cell)(const struct field *row, const void *object, struct arena *arena);
    bool (*set_cell)(const struct field *row, void *object, const struct field_cell *cell,
                     struct arena *arena);
    void (*write_bounds)(const struct schema_place *at, const struct field *row);
    void (*write_default)(const struct field *row, struct js_out *out);
    /* In place of type, bounds and default. */
    void (*write_schema)(const struct schema_place *at, const struct field *row);
};
const struct kind *field_kind(const struct field *row);

/* field_number.c */
extern const struct kind kind_int, kind_real, kind_bool, kind_enum, kind_time, kind_money;
/* field_text.c */
extern const struct kind kind_text, kind_json, kind_texts, kind_text_map;
/* field_object.c */
extern const struct kind kind_object, kind_pointer, kind_objects, kind_map;
