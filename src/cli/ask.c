#include "cli/ask.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/config.h"
#include "cli/print.h"
#include "cli/unix_socket.h"

enum { TREE_DEPTH_MAX = 32, READ_BYTES = 65536, PATIENCE_S = 5 };

static enum err read_all(const struct config *config, struct buf *out, struct fault *fault)
{
    struct sockaddr_un address;
    enum err err = unix_socket_address(config_text(config, SET_DATA), &address, fault);
    if (err)
        return err;
    int fd = unix_socket_connect(&address);
    if (fd < 0)
        return fault_set(fault, ERR_NOT_FOUND, "no service runs on %.120s",
                         config_text(config, SET_DATA));
    struct timeval patience = {.tv_sec = PATIENCE_S};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    ssize_t n = 0;
    while (!buf_reserve(out, READ_BYTES) && (n = read(fd, out->data + out->len, READ_BYTES)) > 0)
        out->len += (size_t)n;
    close(fd);
    return n == 0 ? OK : fault_set(fault, ERR_IO, "the service's answer broke off");
}

enum err ask_service(const struct config *config, struct js **out_tree, struct buf *text,
                     struct fault *fault)
{
    AUTO_BUF own = BUF_INIT(PRINT_MAX_BYTES);
    struct buf *answer = text ? text : &own;
    enum err err = read_all(config, answer, fault);
    if (err)
        return err;
    if (answer->data)
        answer->data[answer->len] = '\0';
    return js_parse(answer->data ? answer->data : "", answer->len, TREE_DEPTH_MAX, out_tree, fault);
}
