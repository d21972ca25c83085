/* Structured log lines: time, level, event, fields. One line a matter, written by the function that
 * ends it. Never a secret: no key, token, password or URL with a query goes into a field.
 * Thread: any; lines are written whole. */
#pragma once

#include <stdint.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_LOGFMT, LOG_JSON };

struct log_field {
    const char *key;
    const char *text; /* NULL: number */
    int64_t number;
};

/* A function, so that LOG_S takes arrays as well. */
static inline const char *log_text_of(const char *text)
{
    return text ? text : "";
}

#define LOG_S(k, v)                                                                                \
    (struct log_field)                                                                             \
    {                                                                                              \
        .key = (k), .text = log_text_of(v)                                                         \
    }
#define LOG_I(k, v)                                                                                \
    (struct log_field)                                                                             \
    {                                                                                              \
        .key = (k), .number = (v)                                                                  \
    }

void log_set(enum log_level least, enum log_format format,
             int fd); /* at start only; default INFO, logfmt, 2 */
int log_is_on(enum log_level level);
void log_write(enum log_level level, const char *event, const struct log_field *fields);

/* log_info("call.ended", LOG_S("call", id), LOG_S("reason", r), LOG_I("duration_s", s)); */
#define log_debug(event, ...)                                                                      \
    (log_is_on(LOG_DEBUG)                                                                          \
         ? log_write(LOG_DEBUG, event, (const struct log_field[]){__VA_ARGS__ __VA_OPT__(, ){0}})  \
         : (void)0)
#define log_info(event, ...)                                                                       \
    log_write(LOG_INFO, event, (const struct log_field[]){__VA_ARGS__ __VA_OPT__(, ){0}})
#define log_warn(event, ...)                                                                       \
    log_write(LOG_WARN, event, (const struct log_field[]){__VA_ARGS__ __VA_OPT__(, ){0}})
#define log_error(event, ...)                                                                      \
    log_write(LOG_ERROR, event, (const struct log_field[]){__VA_ARGS__ __VA_OPT__(, ){0}})

/* Ids that every line of this thread carries until they are set again (NULL: none). Set when a
 * callback of a call or a request begins. Borrowed: they must outlive the scope. */
void log_scope(const char *call_id, const char *request_id);
