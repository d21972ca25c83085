/* The streaming JSON writer: no tree, straight into a buffer. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/js.h"
#include "base/utf8.h"

void out_init(struct json_out *out, struct buf *buf)
{
    *out = (struct json_out){.buf = buf};
}

/* Writes the comma that is due before a key or a value. */
static void begin_item(struct json_out *out)
{
    uint64_t bit = (uint64_t)1 << (out->depth & 63);
    if (!out->after_key && out->depth > 0 && (out->has_item & bit))
        buf_append_char(out->buf, ',');
    out->has_item |= bit;
    out->after_key = false;
}

static void open_level(struct json_out *out, char bracket)
{
    begin_item(out);
    buf_append_char(out->buf, bracket);
    out->depth++;
    out->has_item &= ~((uint64_t)1 << (out->depth & 63));
}

static void close_level(struct json_out *out, char bracket)
{
    out->depth--;
    buf_append_char(out->buf, bracket);
}

void out_object(struct json_out *out)
{
    open_level(out, '{');
}

void out_object_end(struct json_out *out)
{
    close_level(out, '}');
}

void out_array(struct json_out *out)
{
    open_level(out, '[');
}

void out_array_end(struct json_out *out)
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

void out_key(struct json_out *out, const char *key)
{
    begin_item(out);
    write_string(out->buf, key, strlen(key));
    buf_append_char(out->buf, ':');
    out->after_key = true;
}

void out_text_n(struct json_out *out, const char *text, size_t len)
{
    begin_item(out);
    write_string(out->buf, text, len);
}

void out_text(struct json_out *out, const char *text)
{
    if (text)
        out_text_n(out, text, strlen(text));
    else
        out_null(out);
}

void out_int(struct json_out *out, int64_t value)
{
    begin_item(out);
    buf_printf(out->buf, "%" PRId64, value);
}

void out_real(struct json_out *out, double value)
{
    if (!isfinite(value)) {
        out_null(out);
        return;
    }
    begin_item(out);
    buf_printf(out->buf, "%.15g", value);
}

void out_bool(struct json_out *out, bool value)
{
    begin_item(out);
    buf_append_str(out->buf, value ? "true" : "false");
}

void out_null(struct json_out *out)
{
    begin_item(out);
    buf_append_str(out->buf, "null");
}

void out_usd4(struct json_out *out, int64_t usd4)
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

void out_time(struct json_out *out, int64_t wall_ms)
{
    char iso[CLOCK_ISO_SIZE];
    if (wall_ms != 0)
        clock_iso(wall_ms, iso);
    out_text(out, wall_ms ? iso : NULL);
}

void out_js(struct json_out *out, const struct js *js)
{
    begin_item(out);
    (void)!js_write(js, out->buf); /* a full buffer says so itself */
}
