/* The streaming JSON writer: no tree, straight into a buffer. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/js.h"
#include "base/utf8.h"

void js_out_init(struct js_out *out, struct buf *buf)
{
    *out = (struct js_out){.buf = buf};
}

/* Writes the comma that is due before a key or a value. */
static void begin_item(struct js_out *out)
{
    uint64_t bit = (uint64_t)1 << (out->depth & 63);
    if (!out->after_key && out->depth > 0 && (out->has_item & bit))
        buf_append_char(out->buf, ',');
    out->has_item |= bit;
    out->after_key = false;
}

static void open_level(struct js_out *out, char bracket)
{
    begin_item(out);
    buf_append_char(out->buf, bracket);
    out->depth++;
    out->has_item &= ~((uint64_t)1 << (out->depth & 63));
}

static void close_level(struct js_out *out, char bracket)
{
    out->depth--;
    buf_append_char(out->buf, bracket);
}

void js_out_object(struct js_out *out)
{
    open_level(out, '{');
}

void js_out_object_end(struct js_out *out)
{
    close_level(out, '}');
}

void js_out_array(struct js_out *out)
{
    open_level(out, '[');
}

void js_out_array_end(struct js_out *out)
{
    close_level(out, ']');
}

/* The escape of a character that JSON does not take as it is, or NULL. */
static const char *escape_of(unsigned char c, char room[8])
{
    static const char *const named[] = {
        ['"'] = "\\\"", ['\\'] = "\\\\", ['\b'] = "\\b", ['\f'] = "\\f",
        ['\n'] = "\\n", ['\r'] = "\\r",  ['\t'] = "\\t",
    };
    if (c < ARRAY_LEN(named) && named[c])
        return named[c];
    if (c >= 0x20 || c == 0)
        return NULL;
    snprintf(room, 8, "\\u%04x", c);
    return room;
}

static void write_string(struct buf *buf, const char *text, size_t len)
{
    size_t plain = 0; /* start of the run that needs no change */
    char room[8];
    buf_append_char(buf, '"');
    for (size_t at = 0; at < len;) {
        const char *escape = escape_of((unsigned char)text[at], room);
        size_t n = escape || !text[at] ? 0 : utf8_decode(text + at, len - at, NULL);
        if (n == 0) {
            buf_append(buf, text + plain, at - plain);
            buf_append_str(buf, escape ? escape : "\xef\xbf\xbd");
            plain = at + 1;
        }
        at += n ? n : 1;
    }
    buf_append(buf, text + plain, len - plain);
    buf_append_char(buf, '"');
}

void js_out_key(struct js_out *out, const char *key)
{
    begin_item(out);
    write_string(out->buf, key, strlen(key));
    buf_append_char(out->buf, ':');
    out->after_key = true;
}

void js_out_text_n(struct js_out *out, const char *text, size_t len)
{
    begin_item(out);
    write_string(out->buf, text, len);
}

void js_out_text(struct js_out *out, const char *text)
{
    if (text)
        js_out_text_n(out, text, strlen(text));
    else
        js_out_null(out);
}

void js_out_int(struct js_out *out, int64_t value)
{
    begin_item(out);
    buf_printf(out->buf, "%" PRId64, value);
}

void js_out_real(struct js_out *out, double value)
{
    if (!isfinite(value)) {
        js_out_null(out);
        return;
    }
    begin_item(out);
    buf_printf(out->buf, "%.15g", value);
}

void js_out_bool(struct js_out *out, bool value)
{
    begin_item(out);
    buf_append_str(out->buf, value ? "true" : "false");
}

void js_out_null(struct js_out *out)
{
    begin_item(out);
    buf_append_str(out->buf, "null");
}

void js_out_usd4(struct js_out *out, int64_t usd4)
{
    uint64_t size = usd4 < 0 ? -(uint64_t)usd4 : (uint64_t)usd4;
    unsigned part = (unsigned)(size % 10000);
    int digits = 4;
    for (; digits > 0 && part % 10 == 0; digits--)
        part /= 10;
    begin_item(out);
    buf_printf(out->buf, "%s%" PRIu64, usd4 < 0 ? "-" : "", size / 10000);
    if (digits > 0)
        buf_printf(out->buf, ".%0*u", digits, part);
}

void js_out_time(struct js_out *out, int64_t wall_ms)
{
    char iso[CLOCK_ISO_SIZE];
    if (wall_ms != 0)
        clock_iso(wall_ms, iso);
    js_out_text(out, wall_ms ? iso : NULL);
}

void js_out_js(struct js_out *out, const struct js *js)
{
    begin_item(out);
    (void)!js_write(js, out->buf); /* a full buffer says so itself */
}
