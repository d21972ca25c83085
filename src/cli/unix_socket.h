/* The address of the service's Unix socket. Thread: any. */
#pragma once

#include <sys/un.h>

#include "base/attr.h"
#include "base/err.h"

/* <data_dir>/earshot.sock. ERR_INVALID: the path is too long for a socket. */
enum err unix_socket_address(const char *data_dir, struct sockaddr_un *out,
                             struct fault *fault) MUST_USE;
/* A connection to it, or -1 when nobody listens there. Blocking. */
int unix_socket_connect(const struct sockaddr_un *address);
