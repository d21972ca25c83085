#include "api/cors.h"

#include <string.h>
#include <strings.h>

#include "api/request.h"
#include "model/agent.h"
#include "store/agent.h"

/* "https://example.com:8443" -> "example.com:8443"; NULL for "null" and the like. */
static const char *origin_host(const char *origin)
{
    const char *host = origin ? strstr(origin, "://") : NULL;
    return host && host[3] ? host + 3 : NULL;
}

static bool origin_fits(const char *entry, const char *host)
{
    size_t host_len = strlen(host), entry_len = strlen(entry);
    if (!strchr(entry[0] == '[' ? strchr(entry, ']') : entry, ':')) /* any port */
        host_len = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    if (strncmp(entry, "*.", 2) != 0)
        return entry_len == host_len && strncasecmp(entry, host, host_len) == 0;
    const char *suffix = entry + 1; /* ".example.com" does not cover "example.com" */
    size_t suffix_len = entry_len - 1;
    return host_len > suffix_len &&
           strncasecmp(host + host_len - suffix_len, suffix, suffix_len) == 0;
}

bool cors_allows(const struct text_list *allowed, const char *origin)
{
    const char *host = origin_host(origin);
    if (allowed->count == 0)
        return true;
    for (size_t i = 0; host && i < allowed->count; i++)
        if (origin_fits(allowed->items[i], host))
            return true;
    return false;
}

void cors_allow_any(struct request *request)
{
    request->who.allow_origin = request_header(request, "Origin");
}

void cors_preflight(struct request *request)
{
    struct answer *answer = &request->answer;
    cors_allow_any(request);
    answer_header(answer, "Access-Control-Allow-Methods", "POST");
    answer_header(answer, "Access-Control-Allow-Headers",
                  "Authorization, Content-Type, Idempotency-Key, X-Request-Id");
    answer_header(answer, "Access-Control-Max-Age", "600");
}

struct origin_look {
    struct request *request;
    const char *origin;
    bool is_allowed;
    handler_fn *done;
};

static enum err origin_job(struct tx *tx, void *arg)
{
    struct origin_look *job = arg;
    struct agent agent;
    const struct principal *principal = &job->request->who.principal;
    enum err err = store_agent_get(tx, principal->workspace_id, principal->agent_id, &agent);
    job->is_allowed = !err && cors_allows(&agent.embed.allowed_origins, job->origin);
    return OK;
}

static void on_origin(void *arg, enum err err)
{
    const struct origin_look *job = arg;
    if (!err && job->is_allowed)
        job->request->who.allow_origin = job->origin;
    job->done(job->request);
}

void cors_find(struct request *request, handler_fn *done)
{
    struct origin_look *job = arena_new_of(request->arena, struct origin_look);
    *job = (struct origin_look){
        .request = request, .origin = request_header(request, "Origin"), .done = done};
    struct store_line line = {.key = request_workspace(request), .mode = STORE_READ};
    if (!job->origin || store_job_for(request->deps->store, line, origin_job, job,
                                      request->deps->control, on_origin) != OK)
        done(request);
}
