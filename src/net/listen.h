/* A listening TCP socket on a loop. Thread: its loop. */
#pragma once

#include "base/attr.h"
#include "base/err.h"
#include "net/addr.h"

struct loop;
struct listener;

/* fd: connected, non-blocking, TCP_NODELAY; the callee owns it. */
typedef void listen_fn(void *arg, int take_fd, const struct net_addr *peer);

/* Port 0 takes any; :: serves both families. ERR_IO, the fault says why. When the process is out of
 * descriptors, waiting connections are refused rather than left hanging. */
enum err listener_open(struct loop *loop, const struct net_addr *bind, listen_fn *fn, void *arg,
                       struct listener **out, struct fault *fault) MUST_USE;
struct net_addr listener_address(const struct listener *listener); /* with the real port */
void listener_close(struct listener *listener);                    /* NULL is fine */
