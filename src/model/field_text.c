/* The kinds of field that are text: one text (which may be a secret), JSON kept as it is, lists of
 * texts, maps of names to texts. Thread: any. */
#include "base/buf.h"
#include "base/crypto.h"
#include "base/enum.h"
#include "base/mem.h"
#include "model/internal.h"

enum { SECRET_MAX_BYTES = 1024 * 1024, JSON_DEPTH_MAX = 128 };

static const char **text_of(const struct field *row, void *object)
{
    return field_member(row, object);
}

static const char *arena_copy(const struct reading *at, const char *text)
{
    return arena_strdup(at->context->arena, text);
}

static void copy_text(const struct field *row, void *object, struct arena *arena)
{
    *text_of(row, object) = arena_strdup(arena, *text_of(row, object));
}

/* Is it one of the words that the row allows, if it names any? */
static bool is_listed(const struct field *row, const char *text)
{
    return row->name_count == 0 || enum_find(row->names, row->name_count, text) >= 0;
}

static struct field_cell text_cell(const struct field *row, const void *object, struct arena *arena)
{
    (void)arena;
    return (struct field_cell){.text = *(const char *const *)field_member(row, object)};
}

static bool set_text_cell(const struct field *row, void *object, const struct field_cell *cell,
                          struct arena *arena)
{
    (void)arena;
    *text_of(row, object) = cell->text;
    return true;
}

/* One text. */

static void set_text(const struct field *row, void *object)
{
    bool is_given = row->standard_text || row->flags & FIELD_OPTIONAL;
    *text_of(row, object) = is_given ? row->standard_text : "";
}

/* A secret as stored is sealed text. */
static bool parse_sealed(const struct reading *at, const char *sealed)
{
    *text_of(at->row, at->object) = "";
    if (*sealed == '\0')
        return true;
    char context[128];
    field_secret_context(at->table, at->row, context, sizeof(context));
    AUTO_BUF plain = BUF_INIT(SECRET_MAX_BYTES);
    if (!at->master_key ||
        crypto_open(at->master_key, context, sealed, strlen(sealed), &plain) != OK) {
        faults_add(&at->context->faults, at->row->name, "does not open");
        return false;
    }
    *text_of(at->row, at->object) =
        arena_strndup(at->context->arena, plain.data ? plain.data : "", plain.len);
    return true;
}

static bool parse_text(const struct reading *at, const struct js *js)
{
    const char *text = js_text(js);
    if (!text)
        return reading_fault(at, "must be a string");
    bool is_secret = at->row->flags & FIELD_SECRET;
    if (is_secret && at->mode == PARSE_STORED)
        return parse_sealed(at, text);
    if (is_secret && secret_is_masked(text)) /* sent back as it was shown: the stored one stays */
        return *field_text(at->row, at->object) ||
               reading_fault(at, "is masked, and no secret is stored");
    if (!reading_length(at, at->path, text, at->row->min, at->row->max))
        return false;
    if (at->mode != PARSE_STORED && !is_listed(at->row, text))
        return reading_word_fault(at);
    *text_of(at->row, at->object) = arena_copy(at, text);
    return true;
}

static bool is_text_empty(const struct field *row, const void *object)
{
    return *field_text(row, object) == '\0';
}

static void write_sealed(const struct writer *w, const struct field *row, const char *secret)
{
    if (!w->master_key) { /* nobody to seal it: better lost than legible */
        js_out_text(w->out, "");
        return;
    }
    char context[128];
    field_secret_context(w->table, row, context, sizeof(context));
    AUTO_BUF sealed = BUF_INIT(SIZE_MAX);
    if (crypto_seal(w->master_key, context, secret, strlen(secret), &sealed) != OK)
        js_out_text(w->out, "");
    else
        js_out_text_n(w->out, sealed.data, sealed.len);
}

static void write_text(const struct writer *w, const struct field *row, const void *object)
{
    const char *text = field_text(row, object);
    if (!(row->flags & FIELD_SECRET) || w->views & FIELD_VIEW_REVEAL || *text == '\0') {
        js_out_text(w->out, text);
        return;
    }
    if (w->views & FIELD_VIEW_STORE) {
        write_sealed(w, row, text);
        return;
    }
    AUTO(arena) arena = arena_new(0);
    js_out_text(w->out, secret_mask(text, arena));
}

static void write_text_bounds(const struct schema_place *at, const struct field *row)
{
    if (row->name_count)
        schema_names(row, schema_is_nullable(row, at->use), at->out);
    if (row->format)
        schema_text(at->out, "format", row->format);
    if (at->use == SCHEMA_ANSWER)
        return;
    if (row->pattern)
        schema_text(at->out, "pattern", row->pattern);
    if (row->min)
        schema_int(at->out, "minLength", row->min);
    if (row->max)
        schema_int(at->out, "maxLength", row->max);
}

static void write_text_default(const struct field *row, struct js_out *out)
{
    if (row->standard_text)
        schema_text(out, "default", row->standard_text);
}

const struct kind kind_text = {.type = "string",
                               .set_default = set_text,
                               .parse = parse_text,
                               .is_empty = is_text_empty,
                               .write = write_text,
                               .is_text_cell = true,
                               .cell = text_cell,
                               .set_cell = set_text_cell,
                               .copy = copy_text,
                               .write_bounds = write_text_bounds,
                               .write_default = write_text_default};

/* JSON kept as it is. */

static void set_json(const struct field *row, void *object)
{
    bool is_given = row->standard_text || row->flags & FIELD_OPTIONAL;
    *text_of(row, object) = is_given ? row->standard_text : "null";
}

static bool parse_json(const struct reading *at, const struct js *js)
{
    if (at->row->flags & FIELD_OBJECT_ONLY && js_type(js) != JS_OBJECT)
        return reading_fault(at, "must be an object");
    AUTO_MEM char *text = js_print(js);
    size_t len = strlen(text);
    if (at->mode != PARSE_STORED && at->row->max && len > (size_t)at->row->max)
        return reading_fault(at, "must be at most %lld bytes of JSON", (long long)at->row->max);
    *text_of(at->row, at->object) = arena_strndup(at->context->arena, text, len);
    return true;
}

static bool is_json_empty(const struct field *row, const void *object)
{
    return is_text_empty(row, object) || strcmp(field_text(row, object), "null") == 0;
}

static void write_json(const struct writer *w, const struct field *row, const void *object)
{
    const char *text = field_text(row, object);
    struct js *js = NULL;
    if (js_parse(text, strlen(text), JSON_DEPTH_MAX, &js, NULL) != OK) {
        js_out_null(w->out);
        return;
    }
    js_out_js(w->out, js);
    js_free(js);
}

static void write_json_bounds(const struct schema_place *at, const struct field *row)
{
    if (!(row->flags & FIELD_OBJECT_ONLY))
        return;
    js_out_key(at->out, "additionalProperties");
    js_out_bool(at->out, true);
}

const struct kind kind_json = {.set_default = set_json,
                               .parse = parse_json,
                               .is_empty = is_json_empty,
                               .write = write_json,
                               .is_text_cell = true,
                               .cell = text_cell,
                               .set_cell = set_text_cell,
                               .copy = copy_text,
                               .write_bounds = write_json_bounds};

/* Lists and maps: what they have in common. */

static void set_none(const struct field *row, void *object)
{
    field_list_set(row, object, NULL, 0);
}

static bool is_none(const struct field *row, const void *object)
{
    return field_list(row, object).count == 0;
}

/* Lists of texts. */

/* What the store kept may be a word that is not known any more; then nobody looks for it. */
static bool parse_entry(const struct reading *at, const char *path, const char *text)
{
    if (!text)
        return reading_fault_at(at, path, "must be a string");
    if (at->mode != PARSE_STORED && !is_listed(at->row, text))
        return reading_fault_at(at, path, "is not one that is known");
    return reading_length(at, path, text, (int64_t)at->row->entry_min, (int64_t)at->row->entry_max);
}

static bool parse_texts(const struct reading *at, const struct js *js)
{
    if (js_type(js) != JS_ARRAY)
        return reading_fault(at, "must be an array of strings");
    if (!reading_count(at, js_count(js)))
        return false;
    bool is_good = true;
    const char **items = arena_new_n(at->context->arena, const char *, js_count(js));
    for (size_t i = 0; i < js_count(js); i++) {
        const char *text = js_text(js_at(js, i));
        if (!parse_entry(at, reading_index(at, i), text))
            is_good = false;
        else
            items[i] = arena_copy(at, text);
    }
    if (is_good)
        field_list_set(at->row, at->object, items, js_count(js));
    return is_good;
}

static void write_texts(const struct writer *w, const struct field *row, const void *object)
{
    struct any_list list = field_list(row, object);
    js_out_array(w->out);
    for (size_t i = 0; i < list.count; i++)
        js_out_text(w->out, ((const char *const *)list.items)[i]);
    js_out_array_end(w->out);
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

static struct field_cell texts_cell(const struct field *row, const void *object,
                                    struct arena *arena)
{
    AUTO_BUF buf = BUF_INIT(SIZE_MAX);
    struct js_out out;
    js_out_init(&out, &buf);
    write_texts(&(struct writer){.out = &out}, row, object);
    return (struct field_cell){.text = arena_strndup(arena, buf.data, buf.len)};
}

static bool set_texts_cell(const struct field *row, void *object, const struct field_cell *cell,
                           struct arena *arena)
{
    struct field_context context;
    field_context_init(&context, arena, NULL);
    struct reading at = {.mode = PARSE_STORED, .context = &context, .row = row, .object = object};
    AUTO(js) js = NULL;
    return js_parse(cell->text, strlen(cell->text), JSON_DEPTH_MAX, &js, NULL) == OK &&
           parse_texts(&at, js);
}

static void write_texts_bounds(const struct schema_place *at, const struct field *row)
{
    struct js_out *out = at->out;
    bool is_body = at->use != SCHEMA_ANSWER;
    if (is_body && row->min)
        schema_int(out, "minItems", row->min);
    if (is_body && row->max)
        schema_int(out, "maxItems", row->max);
    js_out_key(out, "items");
    js_out_object(out);
    schema_text(out, "type", "string");
    if (row->name_count)
        schema_names(row, false, out);
    if (is_body && row->pattern)
        schema_text(out, "pattern", row->pattern);
    if (is_body && row->entry_min)
        schema_int(out, "minLength", (int64_t)row->entry_min);
    if (is_body && row->entry_max)
        schema_int(out, "maxLength", (int64_t)row->entry_max);
    js_out_object_end(out);
}

const struct kind kind_texts = {.type = "array",
                                .set_default = set_none,
                                .parse = parse_texts,
                                .is_empty = is_none,
                                .write = write_texts,
                                .is_text_cell = true,
                                .cell = texts_cell,
                                .set_cell = set_texts_cell,
                                .copy = copy_texts,
                                .write_bounds = write_texts_bounds};

/* Maps of names to texts. */

static bool parse_pair(const struct reading *at, const char *name, const struct js *value,
                       struct text_pair *out)
{
    const char *path = reading_name(at, at->path, name), *text = js_text(value);
    if (!text)
        return reading_fault_at(at, path, "must be a string");
    bool is_good = reading_key(at, path, name);
    is_good &= reading_length(at, path, text, 0, (int64_t)at->row->entry_max);
    *out = (struct text_pair){.name = arena_copy(at, name), .text = arena_copy(at, text)};
    return is_good;
}

static bool parse_text_map(const struct reading *at, const struct js *js)
{
    if (js_type(js) != JS_OBJECT)
        return reading_fault(at, "must be an object of strings");
    if (!reading_count(at, js_count(js)))
        return false;
    bool is_good = true;
    size_t count = 0;
    struct text_pair *items = arena_new_n(at->context->arena, struct text_pair, js_count(js));
    for (void *it = js_first(js); it; it = js_next(js, it))
        is_good &= parse_pair(at, js_key(it), js_value(it), &items[count++]);
    if (is_good)
        field_list_set(at->row, at->object, items, count);
    return is_good;
}

static void write_text_map(const struct writer *w, const struct field *row, const void *object)
{
    struct any_list list = field_list(row, object);
    const struct text_pair *pairs = list.items;
    js_out_object(w->out);
    for (size_t i = 0; i < list.count; i++) {
        js_out_key(w->out, pairs[i].name);
        js_out_text(w->out, pairs[i].text);
    }
    js_out_object_end(w->out);
}

static void copy_text_map(const struct field *row, void *object, struct arena *arena)
{
    struct any_list list = field_list(row, object);
    const struct text_pair *from = list.items;
    struct text_pair *items = arena_new_n(arena, struct text_pair, list.count);
    for (size_t i = 0; i < list.count; i++)
        items[i] = (struct text_pair){.name = arena_strdup(arena, from[i].name),
                                      .text = arena_strdup(arena, from[i].text)};
    field_list_set(row, object, items, list.count);
}

static void write_text_map_bounds(const struct schema_place *at, const struct field *row)
{
    schema_map(at, row);
    js_out_object(at->out);
    schema_text(at->out, "type", "string");
    if (at->use != SCHEMA_ANSWER && row->entry_max)
        schema_int(at->out, "maxLength", (int64_t)row->entry_max);
    js_out_object_end(at->out);
}

const struct kind kind_text_map = {.type = "object",
                                   .set_default = set_none,
                                   .parse = parse_text_map,
                                   .is_empty = is_none,
                                   .write = write_text_map,
                                   .copy = copy_text_map,
                                   .write_bounds = write_text_map_bounds};
