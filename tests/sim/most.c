#include "most.h"

#include <stdio.h>
#include <string.h>

#include "base/js.h"
#include "base/mem.h"
#include "model/field.h"
#include "test.h"

/* What a row cannot say of itself. */
static const struct {
    const char *name, *text;
    char pad; /* '\0': none */
} special[] = {
    {"url", "https://example.com/", 'u'},
    {"webhookUrl", "https://example.com/", 'u'},
    {"name", "most", 'n'},
    {"key", "key", 'k'},
    {"authKeyHeader", "X-Key", 'x'},
    {"authToken", "token", 't'},
    {"authUsername", "user", 'u'},
    {"identity", "caller", 'c'},
    {"language", NULL, 0}, /* the catalog's */
    {"provider", NULL, 0},
    {"model", NULL, 0},
    {"speaker", NULL, 0},
    {"maxTokens", NULL, 0},
    {"agentId", "ua_", 0},
    {"toolIds", NULL, 0},
    {"documentIds", NULL, 0},
    {"allowedOrigins", NULL, 0},
    {"events", NULL, 0},
};

static char *text_of(const struct field *row, const char *unit, size_t nth)
{
    AUTO_BUF text = BUF_INIT(4 << 20);
    size_t most = row->max ? (size_t)row->max : row->entry_max ? row->entry_max : 64;
    for (size_t i = 0; i < ARRAY_LEN(special); i++) {
        if (strcmp(special[i].name, row->name) != 0)
            continue;
        buf_printf(&text, "%s%zu", special[i].text, nth);
        while (special[i].pad && text.len < most)
            buf_append_char(&text, special[i].pad);
        return mem_strdup(text.data);
    }
    bool is_plain = row->pattern != NULL; /* headers: no control characters */
    for (size_t i = 0; i < most; i++)
        buf_append_str(&text, is_plain ? "x" : unit);
    return mem_strdup(text.data);
}

static struct js *text_js(const struct field *row, const char *unit, size_t nth)
{
    AUTO_MEM char *text = text_of(row, unit, nth);
    return js_string(text);
}

static bool is_left_out(const struct field *row)
{
    if (row->flags & (FIELD_READ_ONLY | FIELD_BY_HANDLER))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(special); i++)
        if (strcmp(special[i].name, row->name) == 0)
            return !special[i].text;
    return false;
}

static struct js *body_of(const struct field_table *table, const char *unit, size_t nth);

static struct js *list_of(const struct field *row, const char *unit)
{
    struct js *list = js_array();
    for (int64_t i = 0; i < row->max; i++)
        js_push(list, row->kind == FIELD_TEXTS ? text_js(row, unit, (size_t)i)
                                               : body_of(row->table, unit, (size_t)i));
    return list;
}

static struct js *map_of(const struct field *row, const char *unit)
{
    struct js *map = js_object();
    for (int64_t i = 0; i < row->max; i++) {
        char key[80];
        snprintf(key, sizeof(key), "v%lld", (long long)i);
        memset(key + strlen(key), 'k', 64 - strlen(key));
        key[64] = '\0';
        js_set(map, key,
               row->kind == FIELD_TEXT_MAP ? text_js(row, unit, 0) : body_of(row->table, unit, 0));
    }
    return map;
}

/* {"m":"xxx..."}: as many bytes as the row allows. */
static struct js *json_of(const struct field *row)
{
    struct js *object = js_object();
    AUTO_BUF text = BUF_INIT(1 << 20);
    while ((int64_t)text.len + 16 < row->max)
        buf_append_char(&text, 'x');
    js_set(object, "m", js_string(text.data));
    return object;
}

static struct js *value_of(const struct field *row, const char *unit, size_t nth)
{
    switch (row->kind) {
    case FIELD_TEXT:
        return row->names ? js_string(row->names[row->name_count - 1]) : text_js(row, unit, nth);
    case FIELD_ENUM:
        return js_string(row->names[0]);
    case FIELD_INT:
        return js_integer(row->max ? row->max : 1);
    case FIELD_REAL:
        return js_number(row->real_max);
    case FIELD_MONEY:
        return js_number((double)row->max / 10000);
    case FIELD_BOOL:
        return js_boolean(true);
    case FIELD_TEXTS:
    case FIELD_OBJECTS:
        return list_of(row, unit);
    case FIELD_TEXT_MAP:
    case FIELD_MAP:
        return map_of(row, unit);
    case FIELD_OBJECT:
        return body_of(row->table, unit, nth);
    case FIELD_JSON:
        return json_of(row);
    case FIELD_OBJECT_PTR:
    case FIELD_TIME:
        break;
    }
    return js_null();
}

static struct js *body_of(const struct field_table *table, const char *unit, size_t nth)
{
    struct js *body = js_object();
    for (size_t i = 0; i < table->count; i++)
        if (!is_left_out(&table->rows[i]))
            js_set(body, table->rows[i].name, value_of(&table->rows[i], unit, nth));
    return body;
}

struct js *most_body(const struct field_table *table, const char *unit)
{
    return body_of(table, unit, 0);
}

void most_fill(const struct field_table *table, void *object, const char *unit, struct arena *arena)
{
    AUTO(js) body = most_body(table, unit);
    struct field_context context;
    field_context_init(&context, arena, NULL);
    field_create(table, object, body, &context, "");
    for (size_t i = 0; i < context.faults.count; i++)
        test_fail(__FILE__, __LINE__, "%s %s", context.faults.items[i].field,
                  context.faults.items[i].message);
}
