/* WebSocket: the server's answer to our handshake, and frames in either role, from a peer that
 * sends what it likes and then leaves. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/loop.h"
#include "net/stream.h"
#include "net/ws_conn.h"
#include "net/ws_handshake.h"

enum { MESSAGE_MAX_BYTES = 1000 };

struct chat {
    struct loop *loop;
    struct ws *ws;
};

static void on_message(void *arg, bool is_text, const uint8_t *data, size_t len)
{
    struct chat *chat = arg;
    assert(len <= MESSAGE_MAX_BYTES);
    if (is_text)
        ws_send_text(chat->ws, (const char *)data, len);
    else
        ws_send_binary(chat->ws, data, len);
}

static void on_closed(void *arg, unsigned code, const struct fault *fault)
{
    struct chat *chat = arg;
    assert(code >= 1000 || fault->err == OK);
    loop_stop(chat->loop);
}

static void talk(const uint8_t *data, size_t size, bool is_server)
{
    static const struct ws_fns fns = {.on_message = on_message, .on_closed = on_closed};
    static const struct ws_config config = {.max_message_bytes = MESSAGE_MAX_BYTES};
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0)
        return;
    struct chat chat = {.loop = loop_new("fuzz")};
    chat.ws = ws_make(chat.loop, &config, &fns, &chat);
    ws_begin(chat.ws, stream_open(chat.loop, fds[0], NULL), is_server);
    ssize_t n = write(fds[1], data, size);
    (void)n;
    shutdown(fds[1], SHUT_WR);
    loop_run(chat.loop); /* until the end of the stream, or a fault before it */
    close(fds[1]);
    ws_close(chat.ws, WS_GOING_AWAY, "bye");
    loop_free(chat.loop);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t answer_len = 0;
    struct fault fault;
    if (size == 0)
        return 0;
    if (data[0] == 'H' && ws_read_answer((const char *)data, size, "dGhlIHNhbXBsZSBub25jZQ==",
                                         "a, b", &answer_len, &fault) == OK)
        assert(answer_len <= size);
    talk(data, size, true);
    talk(data, size, false);
    return 0;
}
