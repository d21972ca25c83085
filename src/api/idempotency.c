/* A POST with an Idempotency-Key: reserved before any effect, answered again as the first time
 * (contract, Idempotency). */
#include "api/idempotency.h"

#include <string.h>
#include <sys/mman.h>

#include "api/request.h"
#include "base/crypto.h"
#include "store/idempotency.h"

/* Far above what a workspace uses in a day. Visitors get less: an old answer holds a token that has
 * expired. */
static const struct idempotency_limits workspace_limits = {20000, 64 << 20},
                                       visitors_limits = {2000, 16 << 20};

static const char json_type[] = "application/json";

bool idempotency_keeps(int status)
{
    return status < 300 || status == 400 || status == 403 || status == 404 || status == 409;
}

/* The file is mapped, so that it is never whole in our memory. */
static bool sha_of_file(const struct http_request *http, char out[SHA256_HEX])
{
    void *data = mmap(NULL, http->body_len, PROT_READ, MAP_PRIVATE, http->body_fd, 0);
    if (data == MAP_FAILED)
        return false;
    crypto_sha256_hex(data, http->body_len, out);
    munmap(data, http->body_len);
    return true;
}

static const char *body_sha(struct request *request)
{
    const struct http_request *http = request->head.http;
    struct request_body *sent = &request->body;
    if (*sent->sha)
        return sent->sha;
    bool is_file = sent->is_upload && http->body_fd >= 0 && http->body_len;
    if (!is_file || !sha_of_file(http, sent->sha))
        crypto_sha256_hex(http->body ? http->body : "", http->body ? http->body_len : 0, sent->sha);
    return sent->sha;
}

/* All visitors of a page share its publishable key, so their addresses tell them apart. */
static const char *owner(struct request *request)
{
    const struct principal *who = &request->who.principal;
    if (who->kind == KEY_PUBLISHABLE)
        return arena_printf(request->arena, "pk:%s:%s", who->agent_id, request->who.admitted.site);
    return *who->key_id ? who->key_id : who->agent_id;
}

static struct idempotency_key key_of(struct request *request)
{
    return (struct idempotency_key){
        .scope = request->who.admitted.workspace,
        .limits =
            request->who.principal.kind == KEY_PUBLISHABLE ? visitors_limits : workspace_limits,
        .owner = owner(request),
        .target = request->head.http->target,
        .key = request->once.key,
        .body_sha = body_sha(request),
    };
}

static bool is_printable(const char *text)
{
    size_t len = strlen(text);
    for (const char *p = text; *p; p++)
        if (*p < ' ' || *p > '~')
            return false;
    return len >= 1 && len <= 255;
}

static enum api_error reserve_error(enum err err)
{
    switch (err) {
    case ERR_BUSY:
        return API_IDEMPOTENCY_KEY_IN_USE;
    case ERR_INVALID:
        return API_IDEMPOTENCY_KEY_REUSED;
    default:
        return API_INTERNAL_ERROR;
    }
}

bool idempotency_is_asked(const struct request *request)
{
    return request_header(request, "Idempotency-Key") && request->who.is_known &&
           strcmp(request->head.http->method, "POST") == 0; /* signing in is nobody's yet */
}

enum idempotency idempotency_reserve(struct request *request)
{
    const char *header = request_header(request, "Idempotency-Key");
    struct request_once *once = &request->once;
    once->key = NULL;
    once->is_replay = false;
    if (!idempotency_is_asked(request))
        return IDEMPOTENCY_NEW;
    if (!is_printable(header)) {
        request_fault(request, "Idempotency-Key", "must be 1 to 255 printable characters");
        return IDEMPOTENCY_ANSWERED;
    }
    once->key = header;
    struct idempotency_key key = key_of(request);
    enum err err = store_idempotency_reserve(request->job.tx, &key);
    if (!err)
        return IDEMPOTENCY_NEW;
    once->key = NULL; /* this answer must not be kept for it */
    once->is_replay = err == ERR_CONFLICT;
    if (once->is_replay)
        return IDEMPOTENCY_KEPT;
    request_error(request, reserve_error(err));
    return IDEMPOTENCY_ANSWERED;
}

bool idempotency_replay(struct request *request)
{
    struct request_once *once = &request->once;
    struct idempotency_key key = key_of(request);
    struct kept_answer kept = {0};
    key.key = request_header(request, "Idempotency-Key");
    enum err err = store_idempotency_answer(request->job.tx, &key, &kept);
    once->is_replay = !err;
    if (err) { /* released or trimmed in between: like one under way */
        request_error(request, reserve_error(err == ERR_NOT_FOUND ? ERR_BUSY : err));
        return true;
    }
    once->shown = *kept.shown ? arena_strdup(request->arena, kept.shown) : NULL;
    if (once->shown)
        return false;
    request_answer_as(request, kept.status, json_type);
    buf_reset(&request->answer.body);
    (void)buf_append(&request->answer.body, kept.body, kept.body_len);
    return true;
}

enum err idempotency_settle(struct request *request)
{
    struct idempotency_key key = key_of(request);
    const struct answer *answer = &request->answer;
    struct kept_answer kept = {.status = answer->status};
    if (answer->status == 0 || (request->once.shown && pieces_has_more(&request->pieces))) {
        kept.status = request->head.route->status;
        kept.shown = request->once.shown;
        request->once.is_noted = true;
    } else if (!idempotency_keeps(answer->status) || strcmp(answer->content_type, json_type) != 0) {
        return request->once.is_noted ? OK : store_idempotency_release(request->job.tx, &key);
    } else {
        kept.body = answer->body.data;
        kept.body_len = answer->body.len;
    }
    return store_idempotency_keep(request->job.tx, &key, &kept);
}
