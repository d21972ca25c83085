#include "net/sse.h"

#include <stdio.h>
#include <string.h>

void sse_init(struct sse *sse, size_t max_event_bytes)
{
    *sse = (struct sse){.at_start = true};
    buf_init(&sse->line, max_event_bytes);
    buf_init(&sse->data, max_event_bytes);
}

void sse_clear(struct sse *sse)
{
    buf_clear(&sse->line);
    buf_clear(&sse->data);
}

static void dispatch(struct sse *sse, sse_fn *fn, void *arg)
{
    if (sse->has_data)
        fn(arg, sse->event[0] ? sse->event : "message", sse->data.data ? sse->data.data : "",
           sse->data.len);
    buf_reset(&sse->data);
    sse->has_data = false;
    sse->event[0] = '\0';
}

static enum err take_field(struct sse *sse, const char *name, size_t name_len, const char *value,
                           size_t value_len)
{
    if (name_len == 4 && memcmp(name, "data", 4) == 0) {
        if (sse->has_data && buf_append_char(&sse->data, '\n') != OK)
            return ERR_LIMIT;
        sse->has_data = true;
        return buf_append(&sse->data, value, value_len);
    }
    if (name_len == 5 && memcmp(name, "event", 5) == 0)
        snprintf(sse->event, sizeof(sse->event), "%.*s", (int)MIN(value_len, sizeof(sse->event)),
                 value);
    return OK; /* id, retry and unknown fields mean nothing to us: we do not reconnect */
}

static enum err end_line(struct sse *sse, sse_fn *fn, void *arg)
{
    const char *line = sse->line.data ? sse->line.data : "";
    size_t len = sse->line.len;
    enum err err = OK;
    if (sse->at_start && len >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) {
        line += 3;
        len -= 3;
    }
    sse->at_start = false;
    const char *colon = memchr(line, ':', len);
    if (len == 0) {
        dispatch(sse, fn, arg);
    } else if (colon != line) { /* else a comment */
        size_t name_len = colon ? (size_t)(colon - line) : len;
        const char *value = colon ? colon + 1 : line + len;
        if (value < line + len && *value == ' ')
            value++;
        err = take_field(sse, line, name_len, value, (size_t)(line + len - value));
    }
    buf_reset(&sse->line);
    return err;
}

enum err sse_input(struct sse *sse, const char *data, size_t len, sse_fn *fn, void *arg)
{
    size_t at = 0;
    if (sse->line.is_full || sse->data.is_full)
        return ERR_LIMIT;
    while (at < len) {
        if (sse->last_was_cr && data[at] == '\n')
            at++;
        sse->last_was_cr = false;
        size_t start = at;
        while (at < len && data[at] != '\r' && data[at] != '\n')
            at++;
        if (at > start && buf_append(&sse->line, data + start, at - start) != OK)
            return ERR_LIMIT;
        if (at == len)
            break;
        sse->last_was_cr = data[at++] == '\r';
        enum err err = end_line(sse, fn, arg);
        if (err)
            return err;
    }
    return OK;
}
