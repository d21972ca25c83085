/* Log lines, as logfmt (key=value) or JSON, each one write() so that lines of several threads never
 * mix. */
#include "base/log.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/js.h"

enum {
    TEXT_MAX = 1024, /* of a field, so that a line stays readable */
    LINE_MAX_BYTES = 64 << 10,
};

static enum log_level least_level = LOG_INFO;
static enum log_format line_format = LOG_LOGFMT;
static int line_fd = 2;

static _Thread_local const char *scope_call, *scope_request;

void log_set(enum log_level least, enum log_format format, int fd)
{
    least_level = least;
    line_format = format;
    line_fd = fd;
}

int log_is_on(enum log_level level)
{
    return level >= least_level;
}

void log_scope(const char *call_id, const char *request_id)
{
    scope_call = call_id;
    scope_request = request_id;
}

static bool is_bare(const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c <= ' ' || *c == '"' || *c == '=' || *c == '\\' || *c == 0x7f)
            return false;
    }
    return *text != '\0';
}

static size_t text_len(const char *text)
{
    size_t len = strnlen(text, TEXT_MAX + 1);
    if (len <= TEXT_MAX)
        return len;
    len = TEXT_MAX;
    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--; /* never through a character */
    return len;
}

static void logfmt_field(struct buf *line, const struct log_field *field)
{
    buf_printf(line, "%s%s=", line->len ? " " : "", field->key);
    if (!field->text) {
        buf_printf(line, "%" PRId64, field->number);
    } else if (is_bare(field->text)) {
        buf_append(line, field->text, text_len(field->text));
    } else {
        struct js_out out;
        js_out_init(&out, line);
        js_out_text_n(&out, field->text, text_len(field->text));
    }
}

static void json_field(struct js_out *out, const struct log_field *field)
{
    js_out_key(out, field->key);
    if (field->text)
        js_out_text_n(out, field->text, text_len(field->text));
    else
        js_out_int(out, field->number);
}

static void write_line(struct buf *line)
{
    buf_append_char(line, '\n');
    if (line->is_full)
        return;
    ssize_t ignored = write(line_fd, line->data, line->len); /* nobody to tell */
    (void)ignored;
}

void log_write(enum log_level level, const char *event, const struct log_field *fields)
{
    static const char *const levels[] = {"debug", "info", "warn", "error"};
    if (!log_is_on(level))
        return;
    char time[CLOCK_ISO_SIZE];
    clock_iso(clock_wall_ms(), time);
    const struct log_field head[] = {LOG_S("time", time), LOG_S("level", levels[level]),
                                     LOG_S("event", event), LOG_S("call", scope_call),
                                     LOG_S("request", scope_request)};
    AUTO_BUF line = BUF_INIT(LINE_MAX_BYTES);
    struct js_out out;
    js_out_init(&out, &line);
    if (line_format == LOG_JSON)
        js_out_object(&out);
    for (size_t i = 0; i < ARRAY_LEN(head) || fields[i - ARRAY_LEN(head)].key; i++) {
        bool is_head = i < ARRAY_LEN(head);
        const struct log_field *field = is_head ? &head[i] : &fields[i - ARRAY_LEN(head)];
        if (is_head && !*field->text)
            continue;
        if (line_format == LOG_JSON)
            json_field(&out, field);
        else
            logfmt_field(&line, field);
    }
    if (line_format == LOG_JSON)
        js_out_object_end(&out);
    write_line(&line);
}
