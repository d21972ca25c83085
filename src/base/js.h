/* JSON: a strict parser into a tree, a tree builder, and a streaming writer. Wraps jansson (js.c),
 * whose symbols own the prefix json_. Strict: UTF-8 only, no duplicate keys, no U+0000, no lone
 * surrogates, nothing after the value, depth counted with the outermost as 1. Integers are exact
 * to 64 bits; reals are written with 15 digits. Thread: a tree belongs to one thread at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

struct js;

enum js_type { JS_NULL, JS_BOOL, JS_INT, JS_REAL, JS_STRING, JS_ARRAY, JS_OBJECT };

/* ERR_INVALID with a sentence that names the place; ERR_LIMIT is not used: bound len before. */
enum err js_parse(const char *text, size_t len, unsigned max_depth, struct js **out,
                  struct fault *fault) MUST_USE;
struct js *js_ref(const struct js *js);
void js_free(struct js *js); /* drops one reference; NULL is fine */
DEFINE_AUTO(js)
struct js *js_copy(const struct js *js); /* deep */
bool js_equal(const struct js *a, const struct js *b);

/* Reading. A NULL tree reads as null, so look-ups can be chained: js_text(js_get(js_get(root, "a"),
 * "b")). Results are borrowed. */
enum js_type js_type(const struct js *js);
const struct js *js_get(const struct js *object, const char *key); /* NULL: absent or no object */
const struct js *js_at(const struct js *array, size_t index);
size_t js_count(const struct js *js);     /* entries of an array or object, else 0 */
const char *js_text(const struct js *js); /* NULL unless a string */
size_t js_text_len(const struct js *js);
const char *js_text_or(const struct js *js, const char *fallback);
int64_t js_int(const struct js *js, int64_t fallback); /* a real with an integral value counts */
double js_real(const struct js *js, double fallback);
bool js_bool(const struct js *js, bool fallback);

/* Object iteration in insertion order: for (void *it = js_first(o); it; it = js_next(o, it)) */
void *js_first(const struct js *object);
void *js_next(const struct js *object, void *it);
const char *js_key(void *it);
const struct js *js_value(void *it);

/* Building. js_set and js_push take their child (NULL becomes null) and cannot fail. Text must be
 * UTF-8; what is not is replaced by U+FFFD. */
struct js *js_object(void);
struct js *js_array(void);
struct js *js_string(const char *text); /* NULL: JSON null */
struct js *js_string_n(const char *text, size_t len);
struct js *js_integer(int64_t value);
struct js *js_number(double value);
struct js *js_boolean(bool value);
struct js *js_null(void);
void js_set(struct js *object, const char *key, struct js *take_value);
void js_push(struct js *array, struct js *take_value);
void js_remove(struct js *object, const char *key);

/* Compact text, appended. ERR_LIMIT when the buffer is full. */
enum err js_write(const struct js *js, struct buf *out);
char *js_print(const struct js *js); /* mem_free; "null" for NULL */

/* Streaming writer: commas and escapes are its business; balance is the caller's. Text that is not
 * UTF-8 is replaced as above. Faults are the buffer's is_full. */
struct js_out {
    struct buf *buf;
    unsigned depth;
    uint64_t has_item; /* bit per depth (at most 64) */
    bool after_key;
};
void js_out_init(struct js_out *out, struct buf *buf);
void js_out_object(struct js_out *out);
void js_out_object_end(struct js_out *out);
void js_out_array(struct js_out *out);
void js_out_array_end(struct js_out *out);
void js_out_key(struct js_out *out, const char *key);
void js_out_text(struct js_out *out, const char *text); /* NULL: null */
void js_out_text_n(struct js_out *out, const char *text, size_t len);
void js_out_int(struct js_out *out, int64_t value);
void js_out_real(struct js_out *out, double value);
void js_out_bool(struct js_out *out, bool value);
void js_out_null(struct js_out *out);
void js_out_usd4(struct js_out *out, int64_t usd4);    /* 123400 -> 12.34 */
void js_out_time(struct js_out *out, int64_t wall_ms); /* 0: null, else an ISO string */
void js_out_js(struct js_out *out, const struct js *js);
