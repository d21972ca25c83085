/* Connecting: resolve, guard every address, connect to the first that answers, TLS. A dialer is
 * what app_parts.c makes for each loop and hands to all who connect there. Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "net/guard.h"

struct dial;
struct dialer;
struct resolver;
struct stream;
struct tls_context;

/* Both borrowed; tls: a client context. */
struct dialer *dialer_new(struct resolver *resolver, struct tls_context *tls);
void dialer_free(struct dialer *dialer);
DEFINE_AUTO(dialer)
struct resolver *dialer_resolver(const struct dialer *dialer);

struct dial_target {
    const char *host; /* as url_parse() gives it; copied */
    uint16_t port;
    bool is_tls;
    enum guard_scope scope;
    int64_t timeout_ms; /* for all of it; 0: 10,000 */
    const char *tenant; /* a workspace's id; NULL: the operator */
};

/* stream is NULL when fault->err is not OK; else the callee owns it, its TLS handshake done. */
typedef void dial_fn(void *arg, struct stream *take_stream, const struct fault *fault);
/* fn never comes inside the call. The handle is gone after it. */
struct dial *dial_start(struct dialer *dialer, const struct dial_target *target, dial_fn *fn,
                        void *arg);
void dial_cancel(struct dial *dial);
