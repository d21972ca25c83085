/* One blocking look-up of a name, by the system's resolver or by a name server that the operator
 * names. Thread: worker. */
#pragma once

#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"
#include "net/addr.h"

/* nameserver: NULL for the system's. Fills up to max addresses, port 0. ERR_NOT_FOUND: no such
 * name, or it has no address. ERR_IO: nobody could say. */
enum err net_lookup(const struct net_addr *nameserver, const char *host, struct net_addr *out,
                    size_t max, size_t *out_count, struct fault *fault) MUST_USE;
