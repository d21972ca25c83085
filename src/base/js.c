/* JSON trees on jansson: `struct js` is its json_t. What jansson does not refuse by itself (depth
 * beyond ours) is refused before it runs; all else by its flags. */
#include "base/js.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

enum {
    WRITE_FLAGS =
        JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15), /* 12.3456, not ...599 */
    STRING_MAX_BYTES = 64 << 20,
};

static json_t *in(const struct js *js)
{
    return (json_t *)(uintptr_t)js;
}

static struct js *out(json_t *json)
{
    return (struct js *)json;
}

/* How deep brackets nest outside of strings; jansson finds all other faults. */
static unsigned depth_of(const char *text, size_t len)
{
    unsigned depth = 0, deepest = 0;
    bool in_string = false;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (in_string) {
            i += c == '\\';
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            depth++;
            deepest = MAX(deepest, depth);
        } else if ((c == ']' || c == '}') && depth > 0) {
            depth--;
        }
    }
    return deepest;
}

enum err js_parse(const char *text, size_t len, unsigned max_depth, struct js **out_js,
                  struct fault *fault)
{
    if (depth_of(text, len) > max_depth)
        return fault_set(fault, ERR_INVALID, "nested deeper than %u levels", max_depth);
    json_error_t error;
    size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;
    json_t *json = json_loadb(text, len, flags, &error);
    if (!json && json_error_code(&error) == json_error_numeric_overflow)
        /* integers beyond 64 bits are numbers as well: all become reals */
        json = json_loadb(text, len, flags | JSON_DECODE_INT_AS_REAL, &error);
    if (!json)
        return fault_set(fault, ERR_INVALID, "%.120s (line %d, column %d)", error.text, error.line,
                         error.column);
    *out_js = out(json);
    return OK;
}

struct js *js_ref(const struct js *js)
{
    return out(json_incref(in(js)));
}

void js_free(struct js *js)
{
    json_decref(in(js));
}

struct js *js_copy(const struct js *js)
{
    return out(js ? json_deep_copy(in(js)) : json_null());
}

bool js_equal(const struct js *a, const struct js *b)
{
    return json_equal(a ? in(a) : json_null(), b ? in(b) : json_null());
}

enum js_type js_type(const struct js *js)
{
    static const enum js_type types[] = {
        [JSON_OBJECT] = JS_OBJECT, [JSON_ARRAY] = JS_ARRAY, [JSON_STRING] = JS_STRING,
        [JSON_INTEGER] = JS_INT,   [JSON_REAL] = JS_REAL,   [JSON_TRUE] = JS_BOOL,
        [JSON_FALSE] = JS_BOOL,    [JSON_NULL] = JS_NULL,
    };
    return js ? types[json_typeof(in(js))] : JS_NULL;
}

const struct js *js_get(const struct js *object, const char *key)
{
    return out(json_object_get(in(object), key));
}

const struct js *js_at(const struct js *array, size_t index)
{
    return out(json_array_get(in(array), index));
}

size_t js_count(const struct js *js)
{
    return json_is_object(in(js)) ? json_object_size(in(js)) : json_array_size(in(js));
}

const char *js_text(const struct js *js)
{
    return json_string_value(in(js));
}

size_t js_text_len(const struct js *js)
{
    return json_string_length(in(js));
}

const char *js_text_or(const struct js *js, const char *fallback)
{
    const char *text = js_text(js);
    return text ? text : fallback;
}

int64_t js_int(const struct js *js, int64_t fallback)
{
    if (json_is_integer(in(js)))
        return json_integer_value(in(js));
    double real = json_real_value(in(js));
    bool is_integral = json_is_real(in(js)) && real == floor(real) && fabs(real) < 9.2e18;
    return is_integral ? (int64_t)real : fallback;
}

double js_real(const struct js *js, double fallback)
{
    return json_is_number(in(js)) ? json_number_value(in(js)) : fallback;
}

bool js_bool(const struct js *js, bool fallback)
{
    return json_is_boolean(in(js)) ? json_is_true(in(js)) : fallback;
}

void *js_first(const struct js *object)
{
    return json_object_iter(in(object));
}

void *js_next(const struct js *object, void *it)
{
    return json_object_iter_next(in(object), it);
}

const char *js_key(void *it)
{
    return json_object_iter_key(it);
}

const struct js *js_value(void *it)
{
    return out(json_object_iter_value(it));
}

struct js *js_object(void)
{
    return out(json_object());
}

struct js *js_array(void)
{
    return out(json_array());
}

struct js *js_string_n(const char *text, size_t len)
{
    if (!memchr(text, '\0', len)) {
        json_t *json = json_stringn(text, len);
        if (json)
            return out(json);
    }
    AUTO_BUF clean = BUF_INIT(STRING_MAX_BYTES);
    utf8_append_clean(&clean, text, len);
    return out(json_stringn_nocheck(clean.data ? clean.data : "", clean.len));
}

struct js *js_string(const char *text)
{
    return text ? js_string_n(text, strlen(text)) : js_null();
}

struct js *js_integer(int64_t value)
{
    return out(json_integer(value));
}

struct js *js_number(double value)
{
    return isfinite(value) ? out(json_real(value)) : js_null();
}

struct js *js_boolean(bool value)
{
    return out(json_boolean(value));
}

struct js *js_null(void)
{
    return out(json_null());
}

void js_set(struct js *object, const char *key, struct js *take_value)
{
    json_t *value = take_value ? in(take_value) : json_null();
    if (utf8_is_valid(key, strlen(key))) {
        json_object_set_new_nocheck(in(object), key, value);
        return;
    }
    AUTO_BUF clean = BUF_INIT(STRING_MAX_BYTES);
    utf8_append_clean(&clean, key, strlen(key));
    json_object_set_new_nocheck(in(object), clean.data, value);
}

void js_push(struct js *array, struct js *take_value)
{
    json_array_append_new(in(array), take_value ? in(take_value) : json_null());
}

void js_remove(struct js *object, const char *key)
{
    json_object_del(in(object), key);
}

static int append_chunk(const char *chunk, size_t len, void *buf)
{
    return buf_append(buf, chunk, len) ? -1 : 0;
}

enum err js_write(const struct js *js, struct buf *out_buf)
{
    json_t *json = js ? in(js) : json_null();
    return json_dump_callback(json, append_chunk, out_buf, WRITE_FLAGS) ? ERR_LIMIT : OK;
}

char *js_print(const struct js *js)
{
    struct buf text = BUF_INIT(SIZE_MAX / 4); /* as large as the tree, which was bounded before */
    (void)!js_write(js, &text);
    return buf_take(&text, NULL);
}
