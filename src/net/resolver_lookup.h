/* One question to the name system, on a loop: c-ares with the machine's /etc/hosts, resolv.conf and
 * search domains, or a name server that the operator names. Each question has a channel of its own,
 * so that it has ports of its own (a forged answer must guess them), can be given up alone, and
 * sees the machine's files as they are now. Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/addr.h"

struct resolver_lookup;
struct loop;

enum { RESOLVER_LOOKUP_ADDRESSES = 8 };

struct resolver_lookup_target {
    const char *host;
    const struct net_addr *nameserver; /* NULL: the machine's files and servers */
    bool searches;                     /* in the machine's search domains too */
};

struct resolver_lookup_answer {
    struct net_addr
        addrs[RESOLVER_LOOKUP_ADDRESSES]; /* port 0; at least one when fault.err is OK */
    size_t count;
    int64_t ttl_s;
    struct fault fault; /* ERR_NOT_FOUND: no such name, or it has no address. ERR_IO: nobody could
                           say within 6 s */
};

typedef void resolver_lookup_fn(void *arg,
                                const struct resolver_lookup_answer *answer); /* borrowed */
/* fn comes once, never inside the call; the handle is gone after it. */
struct resolver_lookup *resolver_lookup_start(struct loop *loop,
                                              const struct resolver_lookup_target *target,
                                              resolver_lookup_fn *fn, void *arg);
void resolver_lookup_cancel(struct resolver_lookup *lookup); /* fn comes no more; NULL is fine */
