#include "vendor/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "net/http_client.h"
#include "net/http_head.h"
#include "vendor/account.h"
#include "vendor/internal.h"
#include "vendor/vendor_error.h"

enum {
    CONNECT_MS = 5000,
    BODY_MAX_BYTES = 8 * 1024 * 1024, /* of a request: tools and instructions, escaped */
    PAUSE_US = 250000, /* after a failure of the server, when it names none; a caller is waiting */
};

/* What a failure is. */

enum engine_error ask_error_of_fault(enum err err)
{
    switch (err) {
    case OK:
        return ENGINE_OK;
    case ERR_TIMEOUT:
        return ENGINE_TIMEOUT;
    case ERR_DENIED:
    case ERR_INVALID:
    case ERR_UNSUPPORTED:
        return ENGINE_BAD_REQUEST;
    case ERR_LIMIT:
        return ENGINE_PROTOCOL;
    default:
        return ENGINE_TRANSIENT;
    }
}

static const char *header(const struct http_fetch_result *result, const char *name)
{
    return http_header_find(result->headers, result->header_count, name);
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 section 5.6.7); false: it is none. */
static bool read_date(const char *text, int64_t *out_wall_ms)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char month[4] = "";
    struct tm tm = {0};
    if (sscanf(text, "%*3s, %2d %3s %4d %2d:%2d:%2d GMT", &tm.tm_mday, month, &tm.tm_year,
               &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6)
        return false;
    const char *at = strlen(month) == 3 ? strstr(months, month) : NULL;
    if (!at || (at - months) % 3 != 0)
        return false;
    tm.tm_mon = (int)(at - months) / 3;
    tm.tm_year -= 1900;
    *out_wall_ms = (int64_t)timegm(&tm) * 1000;
    return true;
}

/* The pause that the server asks for; -1: it says nothing that can be read. */
static int64_t asked_pause_us(const struct http_fetch_result *result)
{
    const char *ms = header(result, "retry-after-ms"), *after = header(result, "retry-after");
    const char *text = ms ? ms : after;
    int64_t at_wall_ms;
    if (!text)
        return -1;
    char *end;
    double wish = strtod(text, &end);
    if (end != text && *end == '\0' && wish >= 0)
        return wish < 1e9 ? (int64_t)(wish * (ms ? 1e3 : 1e6)) : ENGINE_NO_RETRY;
    if (!read_date(text, &at_wall_ms))
        return -1;
    return MAX((at_wall_ms - clock_wall_ms()) * 1000, 0);
}

/* What the headers say of another try; retry-after in seconds or as a date of HTTP. */
static int64_t retry_us_of(enum engine_error error, const struct http_fetch_result *result)
{
    const char *advice = header(result, "x-should-retry");
    bool is_passing = error == ENGINE_TRANSIENT || error == ENGINE_TIMEOUT ||
                      (error == ENGINE_QUOTA && result->status == 429);
    if (advice)
        is_passing = strcmp(advice, "true") == 0;
    if (!is_passing)
        return ENGINE_NO_RETRY;
    int64_t asked_us = asked_pause_us(result);
    if (asked_us >= 0)
        return asked_us;
    return PAUSE_US + (int64_t)(crypto_random_u64() % (PAUSE_US / 5));
}

void ask_clean(const struct account *account, const char *text, char out[ASK_MESSAGE_SIZE])
{
    AUTO_BUF clean = BUF_INIT(ASK_MESSAGE_SIZE - 1);
    char cut[ASK_MESSAGE_SIZE - 1];
    snprintf(cut, sizeof(cut), "%s", text);
    while (utf8_append_clean(&clean, cut, strlen(cut)) != OK) { /* replaced bytes grow */
        buf_reset(&clean);
        cut[strlen(cut) / 2] = '\0';
    }
    account_mask(account, &clean);
    snprintf(out, ASK_MESSAGE_SIZE, "%s", clean.data ? clean.data : "");
}

/* Telling. */

static void tell(struct ask *ask, struct ask_answer *answer, const char *message)
{
    char clean[ASK_MESSAGE_SIZE];
    ask_clean(ask->account, message, clean);
    answer->message = answer->error == ENGINE_OK ? "" : clean;
    ask->fns->on_done(ask->arg, answer);
}

static void on_refusing(void *arg)
{
    struct ask *ask = arg;
    struct ask_answer answer = {
        .error = ask->refusal_error, .retry_us = ENGINE_NO_RETRY, .body = ""};
    tell(ask, &answer, TAKE(ask->refusal));
}

static void refuse(struct ask *ask, enum engine_error error, const char *why)
{
    ask->refusal_error = error;
    ask->refusal = why;
    timer_set_after(&ask->refusing, 0);
}

/* The fetch. */

static int on_data(void *arg, int status, const char *data, size_t len)
{
    struct ask *ask = arg;
    (void)status;
    return ask->fns->on_data(ask->arg, data, len);
}

static void on_done(void *arg, const struct http_fetch_result *result)
{
    struct ask *ask = arg;
    char message[ASK_MESSAGE_SIZE] = "";
    struct ask_answer answer = {.error = ask_error_of_fault(result->fault.err),
                                .status = result->status,
                                .body = result->body ? result->body : "",
                                .body_len = result->body_len};
    ask->fetch = NULL;
    lane_leave(ask->lane, &ask->seat);
    if (result->status >= 300)
        answer.error =
            vendor_error(result->status, answer.body, answer.body_len, message, sizeof(message));
    answer.retry_us = retry_us_of(answer.error, result);
    tell(ask, &answer, result->status >= 300 ? message : result->fault.text);
}

static size_t write_headers(const struct ask_request *request, struct http_header *out)
{
    size_t count = 0;
    if (request->content_type)
        out[count++] = (struct http_header){"Content-Type", request->content_type};
    out[count++] = (struct http_header){"Accept-Encoding", "identity"};
    for (size_t i = 0; request->headers[i] && count < ASK_HEADERS_MAX + 2; i += 2)
        out[count++] = (struct http_header){request->headers[i], request->headers[i + 1]};
    return count;
}

/* There is room in the lane. */
static void on_go(void *arg)
{
    static const struct http_fetch_fns streaming = {on_data, on_done}, whole = {NULL, on_done};
    struct ask *ask = arg;
    const struct ask_request *request = &ask->request;
    struct http_header headers[ASK_HEADERS_MAX + 2];
    AUTO_MEM char *url = mem_printf("%s%s", ask->account->url, request->path);
    struct http_fetch_request fetch = {.method = "POST",
                                       .url = url,
                                       .headers = headers,
                                       .header_count = write_headers(request, headers),
                                       .body = ask->body.data,
                                       .body_len = ask->body.len,
                                       .connect_ms = CONNECT_MS,
                                       .timeout_ms = request->total_ms,
                                       .stall_ms = request->stall_ms,
                                       .max_body_bytes = request->max_answer_bytes,
                                       .scope = GUARD_OPERATOR,
                                       .wants_headers = true};
    ask->fetch = http_fetch_start(ask->http, &fetch, ask->fns->on_data ? &streaming : &whole, ask);
    buf_clear(&ask->body); /* the fetch has its own */
}

/* Asking. */

void ask_init(struct ask *ask, const struct account *account, struct loop *loop,
              const char *workspace, const struct ask_fns *fns, void *arg)
{
    struct vendor_loop *here = vendor_loop_of(account->vendor, loop);
    *ask = (struct ask){.account = account, .loop = loop, .fns = fns, .arg = arg};
    ask->http = here ? here->http : NULL;
    ask->lane =
        ask->http ? vendor_lane(account->vendor, here, account->engine, &account->limits) : NULL;
    ask->seat = (struct lane_seat){.go = on_go, .arg = ask};
    ask->workspace = mem_strdup(workspace ? workspace : "");
    buf_init(&ask->body, BODY_MAX_BYTES);
    timer_init(&ask->refusing, loop, on_refusing, ask);
}

bool ask_cancel(struct ask *ask)
{
    bool was_sent = ask->fetch != NULL;
    if (was_sent)
        http_fetch_cancel(TAKE(ask->fetch));
    if (ask->lane)
        lane_leave(ask->lane, &ask->seat);
    timer_stop(&ask->refusing);
    ask->refusal = NULL;
    return was_sent;
}

static void on_warm(void *arg, const struct http_fetch_result *result)
{
    struct ask *ask = arg;
    (void)result;
    ask->warming = NULL;
}

/* Where every server of this kind has an address that costs nothing. */
void ask_warm(struct ask *ask, const char *const *headers)
{
    static const struct http_fetch_fns fns = {NULL, on_warm};
    const struct ask_request request = {.headers = headers};
    struct http_header lines[ASK_HEADERS_MAX + 2];
    if (ask->warming || !ask->lane || lane_waiting(ask->lane) > 0)
        return;
    AUTO_MEM char *url = mem_printf("%s/models", ask->account->url);
    const struct http_fetch_request fetch = {.method = "HEAD",
                                             .url = url,
                                             .headers = lines,
                                             .header_count = write_headers(&request, lines),
                                             .connect_ms = CONNECT_MS,
                                             .timeout_ms = CONNECT_MS,
                                             .scope = GUARD_OPERATOR};
    ask->warming = http_fetch_start(ask->http, &fetch, &fns, ask);
}

void ask_clear(struct ask *ask)
{
    (void)ask_cancel(ask);
    http_fetch_cancel(TAKE(ask->warming));
    buf_clear(&ask->body);
    mem_free(ask->workspace);
}

void ask_send(struct ask *ask, const struct ask_request *request, struct buf *body)
{
    (void)ask_cancel(ask);
    ask->request = *request;
    buf_clear(&ask->body);
    bool is_full = body->is_full;
    ask->body = *body;
    *body = (struct buf)BUF_INIT(body->max_bytes);
    if (!ask->lane)
        refuse(ask, ENGINE_TRANSIENT, "no network on this loop");
    else if (is_full)
        refuse(ask, ENGINE_BAD_REQUEST, "the request is too long");
    else if (lane_enter(ask->lane, ask->workspace, &ask->seat) != OK)
        refuse(ask, ENGINE_CROWDED, "too many requests of this workspace wait");
}

bool ask_is_under_way(const struct ask *ask)
{
    return ask->fetch || ask->seat.is_in || ask->refusal;
}
