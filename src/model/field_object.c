/* The kinds of field that hold objects of another table: embedded, by pointer, in a list, in a map.
 * Thread: any. */
#include "model/internal.h"

/* An embedded struct, merged field by field. */

static void set_object(const struct field *row, void *object)
{
    field_defaults(row->table, field_member(row, object));
}

static bool parse_object(const struct reading *at, const struct js *js)
{
    if (js_type(js) != JS_OBJECT)
        return reading_fault(at, "must be an object");
    size_t faults = at->context->faults.count;
    /* Merged even on create: the defaults of the whole are in place already. */
    reading_object(at, field_member(at->row, at->object), js, at->path, at->mode);
    return at->context->faults.count == faults;
}

static void write_object(const struct writer *w, const struct field *row, const void *object)
{
    writer_object(w, row->table, field_member(row, object));
}

static void copy_object(const struct field *row, void *object, struct arena *arena)
{
    void *member = field_member(row, object);
    field_copy(row->table, member, member, arena);
}

/* A reference, or null. */
static void write_reference(const struct schema_place *at, const struct field *row)
{
    struct js_out *out = at->out;
    if (!schema_is_nullable(row, at->use)) {
        schema_ref(at->set, row->table, at->use, out);
        return;
    }
    js_out_object(out);
    if (row->about)
        schema_text(out, "description", row->about);
    js_out_key(out, "anyOf");
    js_out_array(out);
    schema_ref(at->set, row->table, at->use, out);
    js_out_object(out);
    schema_text(out, "type", "null");
    js_out_object_end(out);
    js_out_array_end(out);
    js_out_object_end(out);
}

const struct kind kind_object = {.type = "object",
                                 .set_default = set_object,
                                 .parse = parse_object,
                                 .write = write_object,
                                 .copy = copy_object,
                                 .write_schema = write_reference};

/* A pointer to a struct; NULL is null. */

static void **pointer_of(const struct field *row, const void *object)
{
    return field_member(row, object);
}

static void set_null(const struct field *row, void *object)
{
    *pointer_of(row, object) = NULL;
}

/* Entries of a list or map, and what a pointer points at, are made anew, also when the object
 * around them is merged. */
static enum parse_mode entry_mode(const struct reading *at)
{
    return at->mode == PARSE_STORED ? PARSE_STORED : PARSE_CREATE;
}

static bool parse_pointer(const struct reading *at, const struct js *js)
{
    if (js_type(js) != JS_OBJECT)
        return reading_fault(at, "must be an object");
    size_t faults = at->context->faults.count;
    void *target = arena_alloc(at->context->arena, at->row->table->size);
    reading_object(at, target, js, at->path, entry_mode(at));
    *pointer_of(at->row, at->object) = target;
    return at->context->faults.count == faults;
}

static bool is_null(const struct field *row, const void *object)
{
    return *pointer_of(row, object) == NULL;
}

static void write_pointer(const struct writer *w, const struct field *row, const void *object)
{
    if (is_null(row, object))
        js_out_null(w->out);
    else
        writer_object(w, row->table, *pointer_of(row, object));
}

static void copy_pointer(const struct field *row, void *object, struct arena *arena)
{
    void **member = pointer_of(row, object);
    if (!*member)
        return;
    void *copy = arena_alloc(arena, row->table->size);
    field_copy(row->table, *member, copy, arena);
    *member = copy;
}

const struct kind kind_pointer = {.type = "object",
                                  .set_default = set_null,
                                  .parse = parse_pointer,
                                  .is_empty = is_null,
                                  .write = write_pointer,
                                  .copy = copy_pointer,
                                  .write_schema = write_reference};

/* A list of structs, replaced as a whole. */

static void set_none(const struct field *row, void *object)
{
    field_list_set(row, object, NULL, 0);
}

static bool is_none(const struct field *row, const void *object)
{
    return field_list(row, object).count == 0;
}

static bool parse_objects(const struct reading *at, const struct js *js)
{
    if (js_type(js) != JS_ARRAY)
        return reading_fault(at, "must be an array");
    if (!reading_count(at, js_count(js)))
        return false;
    size_t faults = at->context->faults.count, size = at->row->table->size, count = js_count(js);
    char *items = arena_alloc(at->context->arena, count * size);
    for (size_t i = 0; i < count; i++)
        reading_object(at, items + i * size, js_at(js, i), reading_index(at, i), entry_mode(at));
    if (at->context->faults.count != faults)
        return false;
    field_list_set(at->row, at->object, items, count);
    return true;
}

static void write_objects(const struct writer *w, const struct field *row, const void *object)
{
    struct any_list list = field_list(row, object);
    js_out_array(w->out);
    for (size_t i = 0; i < list.count; i++)
        writer_object(w, row->table, (const char *)list.items + i * row->table->size);
    js_out_array_end(w->out);
}

static void copy_objects(const struct field *row, void *object, struct arena *arena)
{
    struct any_list list = field_list(row, object);
    size_t size = row->table->size;
    char *items = arena_alloc(arena, list.count * size);
    for (size_t i = 0; i < list.count; i++)
        field_copy(row->table, (const char *)list.items + i * size, items + i * size, arena);
    field_list_set(row, object, items, list.count);
}

static void write_objects_bounds(const struct schema_place *at, const struct field *row)
{
    if (at->use != SCHEMA_ANSWER && row->min)
        schema_int(at->out, "minItems", row->min);
    if (at->use != SCHEMA_ANSWER && row->max)
        schema_int(at->out, "maxItems", row->max);
    js_out_key(at->out, "items");
    schema_entry(at, row->table);
}

const struct kind kind_objects = {.type = "array",
                                  .set_default = set_none,
                                  .parse = parse_objects,
                                  .is_empty = is_none,
                                  .write = write_objects,
                                  .copy = copy_objects,
                                  .write_bounds = write_objects_bounds};

/* A list of structs whose first member is its key, an object in JSON. */

static const char **key_of(void *entry)
{
    return entry;
}

static bool parse_map(const struct reading *at, const struct js *js)
{
    if (js_type(js) != JS_OBJECT)
        return reading_fault(at, "must be an object");
    if (!reading_count(at, js_count(js)))
        return false;
    size_t faults = at->context->faults.count, size = at->row->table->size, count = 0;
    char *items = arena_alloc(at->context->arena, js_count(js) * size);
    for (void *it = js_first(js); it; it = js_next(js, it), count++) {
        const char *path = reading_name(at, at->path, js_key(it));
        reading_key(at, path, js_key(it));
        reading_object(at, items + count * size, js_value(it), path, entry_mode(at));
        *key_of(items + count * size) = arena_strdup(at->context->arena, js_key(it));
    }
    if (at->context->faults.count != faults)
        return false;
    field_list_set(at->row, at->object, items, count);
    return true;
}

static void write_map(const struct writer *w, const struct field *row, const void *object)
{
    struct any_list list = field_list(row, object);
    js_out_object(w->out);
    for (size_t i = 0; i < list.count; i++) {
        char *entry = (char *)list.items + i * row->table->size;
        js_out_key(w->out, *key_of(entry));
        writer_object(w, row->table, entry);
    }
    js_out_object_end(w->out);
}

static void copy_map(const struct field *row, void *object, struct arena *arena)
{
    copy_objects(row, object, arena);
    struct any_list list = field_list(row, object);
    for (size_t i = 0; i < list.count; i++) {
        const char **key = key_of((char *)list.items + i * row->table->size);
        *key = arena_strdup(arena, *key);
    }
}

static void write_map_bounds(const struct schema_place *at, const struct field *row)
{
    schema_map(at, row);
    schema_entry(at, row->table);
}

const struct kind kind_map = {.type = "object",
                              .set_default = set_none,
                              .parse = parse_map,
                              .is_empty = is_none,
                              .write = write_map,
                              .copy = copy_map,
                              .write_bounds = write_map_bounds};
