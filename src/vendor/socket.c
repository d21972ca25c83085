#include "vendor/socket.h"

#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "net/http_server.h"
#include "net/ws.h"
#include "vendor/account.h"
#include "vendor/ask.h"
#include "vendor/internal.h"
#include "vendor/lane.h"
#include "vendor/vendor_error.h"

enum {
    OPEN_MS = 5000,                      /* a caller is waiting */
    PING_MS = 5000,                      /* a vendor that is silent for twice as long is gone */
    KEPT_TEXT_MAX = 2 * 1024 * 1024,     /* as much, in base64 and at a higher rate */
    KEPT_AUDIO_MAX = 640 * 1024,         /* twenty seconds at 16 kHz: a turn that is said again */
    MESSAGE_MAX_BYTES = 4 * 1024 * 1024, /* a second of base64 at 48 kHz has 128 kB */
    UNSENT_MAX = 2 * 1024 * 1024,
    STATUS_MIN = 300,
    STATUS_MAX = 599, /* of HTTP; codes of WebSocket begin at 1000 */
};

struct kept {
    struct list_node node;
    bool is_text;
    size_t len;
    char data[];
};

struct vendor_socket {
    const struct account *account;
    struct loop *loop;
    const struct socket_fns *fns;
    void *arg;
    struct vendor_loop *here;
    struct lane *lane;
    struct lane_seat seat;
    char *workspace, *url, *protocol, *quiet_text;
    char *headers[2 * SOCKET_HEADERS_MAX];
    int64_t quiet_us, sent_us, ping_ms;
    const struct socket_code *codes;
    struct ws *ws;
    struct list_node kept;        /* messages before it is open */
    size_t kept_audio, kept_text; /* bytes */
    struct timer timer;           /* quiet times; before the connection: a refusal */
    const char *refusal;
    enum engine_error refusal_error;
    bool is_open, is_starting, is_ended, is_closed;
};

/* Its end. */

static void leave(struct vendor_socket *socket)
{
    timer_stop(&socket->timer);
    ws_close(TAKE(socket->ws), WS_NORMAL, NULL);
    if (socket->lane)
        lane_leave(socket->lane, &socket->seat);
    socket->is_open = false;
}

static void end(struct vendor_socket *socket, enum engine_error error, const char *message)
{
    char clean[ASK_MESSAGE_SIZE];
    if (socket->is_ended)
        return;
    socket->is_ended = true;
    leave(socket);
    ask_clean(socket->account, message, clean);
    log_info("vendor.connection_ended", LOG_S("engine", socket->account->engine),
             LOG_S("because", engine_error_name(error)), LOG_S("message", clean));
    if (!socket->is_closed)
        socket->fns->on_ended(socket->arg, error, clean);
}

static enum engine_error error_of_code(const struct vendor_socket *socket, unsigned code)
{
    static const struct socket_code standard[] = {
        {WS_PROTOCOL_ERROR, ENGINE_PROTOCOL},
        {WS_NOT_ACCEPTABLE, ENGINE_BAD_REQUEST},
        {WS_BAD_DATA, ENGINE_BAD_REQUEST},
        {WS_POLICY, ENGINE_BAD_REQUEST},
        {WS_TOO_BIG, ENGINE_BAD_REQUEST},
        {4001, ENGINE_AUTH},
        {4002, ENGINE_QUOTA},
    };
    for (size_t i = 0; socket->codes && socket->codes[i].code; i++)
        if (socket->codes[i].code == code)
            return socket->codes[i].error;
    for (size_t i = 0; i < ARRAY_LEN(standard); i++)
        if (standard[i].code == code)
            return standard[i].error;
    return ENGINE_TRANSIENT;
}

static void on_ws_closed(void *arg, unsigned code, const struct fault *fault)
{
    struct vendor_socket *socket = arg;
    char message[ASK_MESSAGE_SIZE];
    bool is_refused = code >= STATUS_MIN && code <= STATUS_MAX;
    enum engine_error error = error_of_code(socket, code);
    if (is_refused)
        error = vendor_error_of_status((int)code);
    else if (fault->err && fault->err != ERR_CLOSED && code == WS_ABNORMAL)
        error = ask_error_of_fault(fault->err);
    if (is_refused)
        snprintf(message, sizeof(message), "HTTP %u", code);
    else
        snprintf(message, sizeof(message), "closed with %u%s%s", code, *fault->text ? ": " : "",
                 fault->text);
    end(socket, error, message);
}

/* Sending. */

static void send_now(struct vendor_socket *socket, bool is_text, const char *data, size_t len)
{
    enum err err =
        is_text ? ws_send_text(socket->ws, data, len) : ws_send_binary(socket->ws, data, len);
    socket->sent_us = loop_now_us(socket->loop);
    if (err == ERR_LIMIT) {
        socket->refusal = "the vendor takes no more data";
        socket->refusal_error = ENGINE_TIMEOUT;
        timer_set_after(&socket->timer, 0); /* told from the loop */
    }
}

static void refuse(struct vendor_socket *socket, enum engine_error error, const char *why)
{
    socket->refusal_error = error;
    socket->refusal = why;
    timer_set_after(&socket->timer, 0);
}

static void drop_oldest_audio(struct vendor_socket *socket)
{
    struct kept *kept;
    LIST_EACH (kept, &socket->kept, struct kept, node) {
        if (kept->is_text)
            continue;
        socket->kept_audio -= kept->len;
        list_remove(&kept->node);
        mem_free(kept);
        return;
    }
}

static void keep(struct vendor_socket *socket, bool is_text, const char *data, size_t len)
{
    struct kept *kept = mem_zalloc(sizeof(*kept) + len);
    kept->is_text = is_text;
    kept->len = len;
    memcpy(kept->data, data, len);
    list_push_back(&socket->kept, &kept->node);
    *(is_text ? &socket->kept_text : &socket->kept_audio) += len;
    while (socket->kept_audio > KEPT_AUDIO_MAX)
        drop_oldest_audio(socket);
    if (socket->kept_text > KEPT_TEXT_MAX)
        refuse(socket, ENGINE_TIMEOUT, "the connection takes too long to open");
}

static void send_or_keep(struct vendor_socket *socket, bool is_text, const char *data, size_t len)
{
    if (socket->is_ended)
        return;
    if (socket->is_open || socket->is_starting)
        send_now(socket, is_text, data, len);
    else
        keep(socket, is_text, data, len);
}

void vendor_socket_text(struct vendor_socket *socket, const char *text)
{
    send_or_keep(socket, true, text, strlen(text));
}

void vendor_socket_audio(struct vendor_socket *socket, const void *data, size_t len)
{
    send_or_keep(socket, false, data, len);
}

bool vendor_socket_is_open(const struct vendor_socket *socket)
{
    return socket->is_open;
}

static void drop_kept(struct vendor_socket *socket)
{
    struct kept *kept;
    while (!list_is_empty(&socket->kept)) {
        kept = LIST_FIRST(&socket->kept, struct kept, node);
        list_remove(&kept->node);
        mem_free(kept);
    }
    socket->kept_audio = socket->kept_text = 0;
}

static void send_kept(struct vendor_socket *socket)
{
    struct kept *kept;
    LIST_EACH (kept, &socket->kept, struct kept, node)
        send_now(socket, kept->is_text, kept->data, kept->len);
    drop_kept(socket);
}

/* The connection. */

static void arm_quiet(struct vendor_socket *socket)
{
    int64_t due_us = socket->sent_us + socket->quiet_us - loop_now_us(socket->loop);
    if (socket->quiet_text && !socket->refusal)
        timer_set_after(&socket->timer, MAX(due_us, 0));
}

static void on_timer(void *arg)
{
    struct vendor_socket *socket = arg;
    if (socket->refusal) {
        end(socket, socket->refusal_error, TAKE(socket->refusal));
        return;
    }
    if (loop_now_us(socket->loop) >= socket->sent_us + socket->quiet_us)
        send_now(socket, true, socket->quiet_text, strlen(socket->quiet_text));
    arm_quiet(socket);
}

static void on_ws_open(void *arg)
{
    struct vendor_socket *socket = arg;
    socket->is_starting = true; /* what on_open sends goes before what was kept */
    socket->sent_us = loop_now_us(socket->loop);
    if (socket->fns->on_open)
        socket->fns->on_open(socket->arg);
    socket->is_starting = false;
    if (socket->is_ended || socket->is_closed)
        return;
    socket->is_open = true;
    send_kept(socket);
    arm_quiet(socket);
}

static void on_ws_message(void *arg, bool is_text, const uint8_t *data, size_t len)
{
    struct vendor_socket *socket = arg;
    socket->fns->on_message(socket->arg, is_text, (const char *)data, len);
}

/* There is room in the lane. */
static void on_go(void *arg)
{
    static const struct ws_fns fns = {
        .on_open = on_ws_open, .on_message = on_ws_message, .on_closed = on_ws_closed};
    struct vendor_socket *socket = arg;
    const struct ws_config config = {MESSAGE_MAX_BYTES, UNSENT_MAX, socket->ping_ms};
    struct http_header headers[SOCKET_HEADERS_MAX];
    size_t count = 0;
    while (count < SOCKET_HEADERS_MAX && socket->headers[2 * count]) {
        headers[count] =
            (struct http_header){socket->headers[2 * count], socket->headers[2 * count + 1]};
        count++;
    }
    const struct ws_request request = {.url = socket->url,
                                       .headers = headers,
                                       .header_count = count,
                                       .protocol = socket->protocol,
                                       .open_ms = OPEN_MS,
                                       .is_operators = true};
    socket->ws = ws_connect(socket->loop, socket->here->dialer, &request, &config, &fns, socket);
}

static void copy_plan(struct vendor_socket *socket, const struct socket_plan *plan)
{
    socket->workspace = mem_strdup(plan->workspace ? plan->workspace : "");
    socket->url = mem_strdup(plan->url);
    socket->protocol = mem_strdup(plan->protocol);
    socket->quiet_text = mem_strdup(plan->quiet_text);
    socket->quiet_us = plan->quiet_us;
    socket->ping_ms = plan->ping_ms ? plan->ping_ms : PING_MS;
    socket->codes = plan->codes;
    for (size_t i = 0; i < ARRAY_LEN(socket->headers) && plan->headers[i]; i++)
        socket->headers[i] = mem_strdup(plan->headers[i]);
}

struct vendor_socket *vendor_socket_open(const struct account *account, struct loop *loop,
                                         const struct socket_plan *plan,
                                         const struct socket_fns *fns, void *arg)
{
    struct vendor_socket *socket = mem_new(struct vendor_socket);
    socket->account = account;
    socket->loop = loop;
    socket->fns = fns;
    socket->arg = arg;
    socket->seat = (struct lane_seat){.go = on_go, .arg = socket};
    list_init(&socket->kept);
    timer_init(&socket->timer, loop, on_timer, socket);
    copy_plan(socket, plan);
    socket->here = vendor_loop_of(account->vendor, loop);
    if (!socket->here || !socket->here->dialer) {
        refuse(socket, ENGINE_TRANSIENT, "no network on this loop");
        return socket;
    }
    if (plan->is_shared) {
        on_go(socket);
        return socket;
    }
    socket->lane = vendor_lane(account->vendor, socket->here, account->engine, &account->limits);
    if (lane_enter(socket->lane, socket->workspace, &socket->seat) != OK)
        refuse(socket, ENGINE_CROWDED, "too many connections of this workspace wait");
    return socket;
}

static void free_socket(void *arg)
{
    struct vendor_socket *socket = arg;
    mem_free(socket->workspace);
    mem_free(socket->url);
    mem_free(socket->protocol);
    mem_free(socket->quiet_text);
    for (size_t i = 0; i < ARRAY_LEN(socket->headers); i++)
        mem_free(socket->headers[i]);
    mem_free(socket);
}

void vendor_socket_close(struct vendor_socket *socket, const char *farewell)
{
    if (!socket)
        return;
    if (farewell && socket->is_open)
        send_now(socket, true, farewell, strlen(farewell));
    socket->is_closed = true;
    socket->is_ended = true;
    leave(socket);
    drop_kept(socket);
    loop_defer(socket->loop, free_socket, socket);
}
