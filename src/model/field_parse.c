/* Reads JSON into objects by their field table: what a body sends (types, then bounds, then the
 * row's own check; every fault is collected) and what the store kept (trusted: types only).
 * Thread: any. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "model/field.h"
#include "model/internal.h"

enum parse_mode { PARSE_CREATE, PARSE_MERGE, PARSE_STORED };

/* Where the parser stands: one row of one object. */
struct place {
    enum parse_mode mode;
    struct field_context *context;
    const uint8_t *master_key; /* PARSE_STORED */
    const struct field_table *table;
    const struct field *row;
    void *object;
    const char *path; /* "" in PARSE_STORED */
};

static void parse_object(const struct place *above, const struct field_table *table, void *object,
                         const struct js *js, const char *path, enum parse_mode mode);

static bool fault(const struct place *at, const char *message)
{
    if (at->mode != PARSE_STORED)
        faults_add(&at->context->faults, at->path, "%s", message);
    return false;
}

static const char *path_join(const struct place *at, const char *path, const char *name)
{
    if (at->mode == PARSE_STORED)
        return "";
    return *path ? arena_printf(at->context->arena, "%s.%s", path, name) : name;
}

static const char *path_index(const struct place *at, size_t index)
{
    if (at->mode == PARSE_STORED)
        return "";
    return arena_printf(at->context->arena, "%s[%zu]", at->path, index);
}

static bool check_length(const struct place *at, const char *path, const char *text, int64_t min,
                         int64_t max)
{
    if (at->mode == PARSE_STORED)
        return true;
    int64_t length = (int64_t)utf8_count(text);
    if (length >= min && (length <= max || max == 0))
        return true;
    if (min == 0)
        faults_add(&at->context->faults, path, "must have at most %lld characters", (long long)max);
    else if (max == 0)
        faults_add(&at->context->faults, path, "must have at least %lld characters",
                   (long long)min);
    else
        faults_add(&at->context->faults, path, "must have %lld to %lld characters", (long long)min,
                   (long long)max);
    return false;
}

static bool check_count(const struct place *at, size_t count)
{
    const struct field *row = at->row;
    if (at->mode == PARSE_STORED)
        return true;
    if (row->max && count > (size_t)row->max) {
        faults_add(&at->context->faults, at->path, "must have at most %lld entries",
                   (long long)row->max);
        return false;
    }
    if (count < (size_t)row->min) {
        faults_add(&at->context->faults, at->path, "must have at least %lld entries",
                   (long long)row->min);
        return false;
    }
    return true;
}

/* A secret as stored is sealed text. */
static bool take_sealed(const struct place *at, const char *sealed)
{
    const char **member = field_member(at->row, at->object);
    *member = "";
    if (*sealed == '\0')
        return true;
    char context[128];
    field_secret_context(at->table, at->row, context, sizeof context);
    AUTO_BUF plain = BUF_INIT(1 << 20);
    if (!at->master_key ||
        crypto_open(at->master_key, context, sealed, strlen(sealed), &plain) != OK) {
        faults_add(&at->context->faults, at->row->name, "does not open");
        return false;
    }
    *member = arena_strndup(at->context->arena, plain.data ? plain.data : "", plain.len);
    return true;
}

static bool take_text(const struct place *at, const struct js *js)
{
    const char **member = field_member(at->row, at->object);
    const char *text = js_text(js);
    if (!text)
        return fault(at, "must be a string");
    if (at->row->flags & FIELD_SECRET) {
        if (at->mode == PARSE_STORED)
            return take_sealed(at, text);
        if (secret_is_masked(text)) {
            if (*field_text(at->row, at->object))
                return true;
            return fault(at, "is masked, and no secret is stored");
        }
    }
    if (!check_length(at, at->path, text, at->row->min, at->row->max))
        return false;
    *member = arena_strdup(at->context->arena, text);
    return true;
}

static bool take_int(const struct place *at, const struct js *js)
{
    double real = js_real(js, 0);
    bool is_whole = js_type(js) == JS_INT ||
                    (js_type(js) == JS_REAL && floor(real) == real && fabs(real) < 9e15);
    if (!is_whole)
        return fault(at, "must be an integer");
    int64_t value = js_type(js) == JS_INT ? js_int(js, 0) : (int64_t)real;
    if (at->mode != PARSE_STORED && (value < at->row->min || value > at->row->max)) {
        faults_add(&at->context->faults, at->path, "must be %lld to %lld", (long long)at->row->min,
                   (long long)at->row->max);
        return false;
    }
    *(int64_t *)field_member(at->row, at->object) = value;
    return true;
}

static bool take_real(const struct place *at, const struct js *js)
{
    if (js_type(js) != JS_INT && js_type(js) != JS_REAL)
        return fault(at, "must be a number");
    double value = js_real(js, 0);
    if (at->mode != PARSE_STORED && !(value >= at->row->real_min && value <= at->row->real_max)) {
        faults_add(&at->context->faults, at->path, "must be %g to %g", at->row->real_min,
                   at->row->real_max);
        return false;
    }
    *(double *)field_member(at->row, at->object) = value;
    return true;
}

static bool take_money(const struct place *at, const struct js *js)
{
    if (js_type(js) != JS_INT && js_type(js) != JS_REAL)
        return fault(at, "must be a number");
    double usd4 = js_real(js, 0) * 10000;
    if (!(usd4 >= -9e15 && usd4 <= 9e15) ||
        (at->mode != PARSE_STORED &&
         (usd4 < (double)at->row->min || usd4 > (double)at->row->max))) {
        if (at->mode != PARSE_STORED)
            faults_add(&at->context->faults, at->path, "must be %g to %g",
                       (double)at->row->min / 10000, (double)at->row->max / 10000);
        return false;
    }
    *(int64_t *)field_member(at->row, at->object) = llround(usd4);
    return true;
}

static bool take_bool(const struct place *at, const struct js *js)
{
    if (js_type(js) != JS_BOOL)
        return fault(at, "must be true or false");
    *(bool *)field_member(at->row, at->object) = js_bool(js, false);
    return true;
}

static bool take_time(const struct place *at, const struct js *js)
{
    int64_t wall_ms;
    if (!js_text(js) || !clock_parse_iso(js_text(js), &wall_ms))
        return fault(at, "must be an ISO 8601 time");
    *(int64_t *)field_member(at->row, at->object) = wall_ms;
    return true;
}

static bool take_enum(const struct place *at, const struct js *js)
{
    const struct field *row = at->row;
    const char *text = js_text(js);
    for (size_t i = 0; text && i < row->name_count; i++) {
        if (strcmp(row->names[i], text) == 0) {
            int value = (int)i;
            memcpy(field_member(row, at->object), &value, sizeof value);
            return true;
        }
    }
    char names[200] = "";
    for (size_t i = 0; i < row->name_count; i++) {
        if (*names)
            strncat(names, i + 1 == row->name_count ? " or " : ", ",
                    sizeof names - strlen(names) - 1);
        strncat(names, row->names[i], sizeof names - strlen(names) - 1);
    }
    if (at->mode != PARSE_STORED)
        faults_add(&at->context->faults, at->path, "must be %s", names);
    return false;
}

static bool take_json(const struct place *at, const struct js *js)
{
    if (at->row->flags & FIELD_OBJECT_ONLY && js_type(js) != JS_OBJECT)
        return fault(at, "must be an object");
    AUTO_MEM char *text = js_print(js);
    size_t len = strlen(text);
    if (at->mode != PARSE_STORED && at->row->max && len > (size_t)at->row->max) {
        faults_add(&at->context->faults, at->path, "must be at most %lld bytes of JSON",
                   (long long)at->row->max);
        return false;
    }
    *(const char **)field_member(at->row, at->object) =
        arena_strndup(at->context->arena, text, len);
    return true;
}

static bool is_listed(const struct field *row, const char *text)
{
    for (size_t i = 0; i < row->name_count; i++)
        if (strcmp(row->names[i], text) == 0)
            return true;
    return row->name_count == 0;
}

static bool take_texts(const struct place *at, const struct js *js)
{
    const struct field *row = at->row;
    if (js_type(js) != JS_ARRAY)
        return fault(at, "must be an array of strings");
    if (!check_count(at, js_count(js)))
        return false;
    bool is_good = true;
    const char **items = arena_new_n(at->context->arena, const char *, js_count(js));
    for (size_t i = 0; i < js_count(js); i++) {
        const char *text = js_text(js_at(js, i));
        if (text && at->mode == PARSE_STORED) {
            items[i] = arena_strdup(at->context->arena, text);
            continue;
        }
        const char *path = path_index(at, i);
        if (!text || !is_listed(row, text)) {
            if (at->mode != PARSE_STORED)
                faults_add(&at->context->faults, path,
                           text ? "is not one that is known" : "must be a string");
            is_good = false;
            continue;
        }
        is_good &= check_length(at, path, text, (int64_t)row->entry_min, (int64_t)row->entry_max);
        items[i] = arena_strdup(at->context->arena, text);
    }
    if (is_good)
        field_list_set(row, at->object, items, js_count(js));
    return is_good;
}

/* [A-Za-z_][A-Za-z0-9_]{0,63} */
static bool is_variable_name(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    size_t len = strlen(name);
    return len >= 1 && len <= 64 && strspn(name, letters) == len && (*name < '0' || *name > '9');
}

static bool check_name(const struct place *at, const char *path, const char *name)
{
    if (at->mode == PARSE_STORED || !at->row->is_pattern_name || is_variable_name(name))
        return true;
    faults_add(&at->context->faults, path,
               "a name must be 1 to 64 letters, digits and _, and not begin with a digit");
    return false;
}

static bool take_text_map(const struct place *at, const struct js *js)
{
    if (js_type(js) != JS_OBJECT)
        return fault(at, "must be an object of strings");
    if (!check_count(at, js_count(js)))
        return false;
    bool is_good = true;
    size_t count = 0;
    struct text_pair *items = arena_new_n(at->context->arena, struct text_pair, js_count(js));
    for (void *it = js_first(js); it; it = js_next(js, it)) {
        const char *path = path_join(at, at->path, js_key(it)), *text = js_text(js_value(it));
        if (!text) {
            if (at->mode != PARSE_STORED)
                faults_add(&at->context->faults, path, "must be a string");
            is_good = false;
            continue;
        }
        is_good &= check_name(at, path, js_key(it));
        is_good &= check_length(at, path, text, 0, (int64_t)at->row->entry_max);
        items[count++] = (struct text_pair){.name = arena_strdup(at->context->arena, js_key(it)),
                                            .text = arena_strdup(at->context->arena, text)};
    }
    if (is_good)
        field_list_set(at->row, at->object, items, count);
    return is_good;
}

/* Entries of a list or map are made anew, also when the object around them is merged. */
static enum parse_mode entry_mode(const struct place *at)
{
    return at->mode == PARSE_STORED ? PARSE_STORED : PARSE_CREATE;
}

static bool take_objects(const struct place *at, const struct js *js)
{
    if (js_type(js) != JS_ARRAY)
        return fault(at, "must be an array");
    if (!check_count(at, js_count(js)))
        return false;
    size_t faults = at->context->faults.count, size = at->row->table->size, count = js_count(js);
    char *items = arena_alloc(at->context->arena, count * size);
    for (size_t i = 0; i < count; i++)
        parse_object(at, at->row->table, items + i * size, js_at(js, i), path_index(at, i),
                     entry_mode(at));
    if (at->context->faults.count != faults)
        return false;
    field_list_set(at->row, at->object, items, count);
    return true;
}

static bool take_map(const struct place *at, const struct js *js)
{
    if (js_type(js) != JS_OBJECT)
        return fault(at, "must be an object");
    if (!check_count(at, js_count(js)))
        return false;
    size_t faults = at->context->faults.count, size = at->row->table->size, count = 0;
    char *items = arena_alloc(at->context->arena, js_count(js) * size);
    for (void *it = js_first(js); it; it = js_next(js, it), count++) {
        const char *path = path_join(at, at->path, js_key(it));
        const char *key = arena_strdup(at->context->arena, js_key(it));
        check_name(at, path, key);
        parse_object(at, at->row->table, items + count * size, js_value(it), path, entry_mode(at));
        memcpy(items + count * size, &key, sizeof key); /* the first member is the key */
    }
    if (at->context->faults.count != faults)
        return false;
    field_list_set(at->row, at->object, items, count);
    return true;
}

static bool take_object(const struct place *at, const struct js *js)
{
    if (js_type(js) != JS_OBJECT)
        return fault(at, "must be an object");
    size_t faults = at->context->faults.count;
    /* Merged even on create: the defaults of the whole are in place already. */
    parse_object(at, at->row->table, field_member(at->row, at->object), js, at->path, at->mode);
    return at->context->faults.count == faults;
}

static bool take_pointer(const struct place *at, const struct js *js)
{
    if (js_type(js) != JS_OBJECT)
        return fault(at, "must be an object");
    size_t faults = at->context->faults.count;
    void *target = arena_alloc(at->context->arena, at->row->table->size);
    parse_object(at, at->row->table, target, js, at->path, entry_mode(at));
    *(void **)field_member(at->row, at->object) = target;
    return at->context->faults.count == faults;
}

typedef bool take_fn(const struct place *at, const struct js *js);
static take_fn *const takers[] = {
    [FIELD_TEXT] = take_text,
    [FIELD_INT] = take_int,
    [FIELD_REAL] = take_real,
    [FIELD_BOOL] = take_bool,
    [FIELD_ENUM] = take_enum,
    [FIELD_TIME] = take_time,
    [FIELD_MONEY] = take_money,
    [FIELD_TEXTS] = take_texts,
    [FIELD_TEXT_MAP] = take_text_map,
    [FIELD_OBJECT] = take_object,
    [FIELD_OBJECT_PTR] = take_pointer,
    [FIELD_OBJECTS] = take_objects,
    [FIELD_MAP] = take_map,
    [FIELD_JSON] = take_json,
};

static void parse_null(const struct place *at)
{
    if (at->mode != PARSE_MERGE)
        return;
    if (at->row->flags & FIELD_REQUIRED)
        fault(at, "must not be null");
    else
        field_default(at->row, at->object);
}

static bool is_taken(const struct place *at)
{
    unsigned flags = at->row->flags;
    if (at->mode == PARSE_STORED)
        return !(flags & FIELD_NO_STORE);
    return !(flags & (FIELD_READ_ONLY | FIELD_BY_HANDLER)) &&
           !(flags & FIELD_KEPT && at->mode == PARSE_MERGE);
}

static void parse_row(const struct place *at, const struct js *js)
{
    if (at->mode == PARSE_MERGE && at->row->flags & FIELD_CREATE_ONLY)
        fault(at, "cannot be changed");
    else if (js_type(js) == JS_NULL)
        parse_null(at);
    else if (takers[at->row->kind](at, js) && at->row->check && at->mode != PARSE_STORED)
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

static void check_required(const struct place *at, const struct js *js)
{
    for (size_t i = 0; i < at->table->count; i++) {
        const struct field *row = &at->table->rows[i];
        if (row->flags & FIELD_REQUIRED && js_type(js_get(js, row->name)) == JS_NULL)
            faults_add(&at->context->faults, path_join(at, at->path, row->name), "is required");
    }
}

static void parse_object(const struct place *above, const struct field_table *table, void *object,
                         const struct js *js, const char *path, enum parse_mode mode)
{
    struct place at = *above;
    at.table = table;
    at.object = object;
    at.mode = mode;
    size_t faults = at.context->faults.count;
    if (mode != PARSE_MERGE)
        field_defaults(table, object);
    if (js_type(js) != JS_OBJECT) {
        at.path = path;
        fault(&at, "must be an object");
        return;
    }
    for (void *it = js_first(js); it; it = js_next(js, it)) {
        at.row = find_row(table, js_key(it));
        if (!at.row) {
            if (table->is_closed && mode != PARSE_STORED)
                faults_add(&at.context->forbidden, path_join(&at, path, js_key(it)),
                           "may not be set here");
            continue;
        }
        if (!is_taken(&at))
            continue;
        at.path = path_join(&at, path, js_key(it));
        parse_row(&at, js_value(it));
    }
    at.path = path;
    if (mode == PARSE_CREATE)
        check_required(&at, js);
    if (table->check && mode != PARSE_STORED && at.context->faults.count == faults)
        table->check(at.context, NULL, object, path);
}

void field_create(const struct field_table *table, void *object, const struct js *body,
                  struct field_context *context, const char *path)
{
    struct place at = {.context = context};
    parse_object(&at, table, object, body, path, PARSE_CREATE);
}

void field_merge(const struct field_table *table, void *object, const struct js *body,
                 struct field_context *context, const char *path)
{
    struct place at = {.context = context};
    parse_object(&at, table, object, body, path, PARSE_MERGE);
}

enum err field_read(const struct field_table *table, void *object, const char *json, size_t len,
                    const uint8_t *master_key, struct arena *arena)
{
    struct js *js = NULL;
    enum err err = js_parse(json, len, 128, &js, NULL);
    if (err != OK)
        return err;
    struct field_context context;
    field_context_init(&context, arena, NULL);
    struct place at = {.context = &context, .master_key = master_key};
    parse_object(&at, table, object, js, "", PARSE_STORED);
    js_free(js);
    return context.faults.count ? ERR_INVALID : OK;
}
