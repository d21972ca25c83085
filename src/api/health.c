/* /healthz, /readyz and /metrics: for those who run the service, without an API key. */
#include <string.h>

#include "api/internal.h"
#include "api/request.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/crypto.h"
#include "base/metrics.h"
#include "call/calls.h"
#include "engine/registry.h"

enum { NAMES_MAX_BYTES = 1024 };

static void answer_text(struct request *request, int status, const char *text)
{
    request_answer_as(request, status, "text/plain; charset=utf-8");
    (void)buf_append_str(&request->answer.body, text);
}

void health_get(struct request *request)
{
    answer_text(request, 200, "ok\n");
}

/* Calls go on with other engines: the node is ready, and says which ones are left out. */
static void answer_ready(struct request *request)
{
    AUTO_BUF left_out = BUF_INIT(NAMES_MAX_BYTES);
    if (request->deps->registry)
        registry_left_out(request->deps->registry, clock_now_us(), &left_out);
    answer_text(request, 200, "ready\n");
    if (left_out.len > 0)
        (void)buf_printf(&request->answer.body, "engines left out: %s\n", left_out.data);
}

void ready_get(struct request *request)
{
    const struct api_deps *deps = request->deps;
    if (!store_is_up(deps->store) || (deps->is_ready && !deps->is_ready(deps->arg)))
        answer_text(request, 503, "not ready\n");
    else if (deps->calls && calls_is_full(deps->calls))
        answer_text(request, 503, "full: no further call without harm to the others\n");
    else
        answer_ready(request);
}

/* From loopback, and not on behalf of somebody else, or with the operator's token. */
static bool may_read_metrics(const struct request *request)
{
    static const char scheme[] = "Bearer ";
    const char *token = config_text(request->deps->config, SET_METRICS_TOKEN);
    const char *header = request_header(request, "Authorization");
    if (*token && header && strncmp(header, scheme, sizeof(scheme) - 1) == 0) {
        const char *sent = header + sizeof(scheme) - 1;
        return strlen(sent) == strlen(token) && crypto_equal(sent, token, strlen(token));
    }
    return net_addr_is_loopback(&request->head.http->peer) &&
           net_addr_is_loopback(&request->who.client);
}

void metrics_get(struct request *request)
{
    if (!may_read_metrics(request)) {
        request_error(request, API_UNAUTHORIZED);
        return;
    }
    request_answer_as(request, 200, "text/plain; version=0.0.4; charset=utf-8");
    metrics_print(&request->answer.body);
}
