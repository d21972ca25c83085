/* What the files of net/ share and nobody else needs: struct sockaddr, socket options.
 * Thread: any. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

#include "base/err.h"
#include "net/addr.h"

/* To the kernel's form: AF_INET6 with a mapped address when as_ipv6, else AF_INET where it fits. */
socklen_t net_addr_to_sockaddr(const struct net_addr *addr, bool as_ipv6,
                               struct sockaddr_storage *out);
void net_addr_from_sockaddr(const struct sockaddr_storage *from, struct net_addr *out);

/* A non-blocking, close-on-exec socket bound to addr. :: serves both families. */
enum err net_bind_socket(int type, const struct net_addr *addr, int *out_fd, struct fault *fault);
struct net_addr net_socket_address(int fd);
