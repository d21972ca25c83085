/* Where the socket lies, and a blocking connection to it. */
#include "cli/unix_socket.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum err unix_socket_address(const char *data_dir, struct sockaddr_un *out, struct fault *fault)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t size = sizeof(address.sun_path);
    int len = snprintf(address.sun_path, size, "%s/earshot.sock", data_dir);
    if (len < 0 || (size_t)len >= size)
        return fault_set(fault, ERR_INVALID, "the data directory's path is too long for a socket");
    *out = address;
    return OK;
}

int unix_socket_connect(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}
