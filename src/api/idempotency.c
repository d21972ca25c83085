/* A POST with an Idempotency-Key: reserved before any effect, answered again as the first time
 * (contract, Idempotency). */
#include <string.h>
#include <sys/mman.h>

#include "api/request.h"
#include "base/crypto.h"
#include "store/idempotency.h"

/* Far above a day's use; visitors of a page have no use for an old answer, whose token is over. */
static const struct idempotency_limits workspace_limits = {20000, 64 << 20},
                                       visitors_limits = {2000, 16 << 20};

bool idempotency_keeps(int status)
{
    return status < 300 || status == 400 || status == 403 || status == 404 || status == 409;
}

/* Of a spooled file, which is mapped and so never whole in our memory. */
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
    const struct http_request *http = request->http;
    if (*request->body_sha)
        return request->body_sha;
    bool is_file = request->is_upload && http->body_fd >= 0 && http->body_len;
    if (!is_file || !sha_of_file(http, request->body_sha))
        crypto_sha256_hex(http->body ? http->body : "", http->body ? http->body_len : 0,
                          request->body_sha);
    return request->body_sha;
}

/* All visitors of a page share its publishable key: what one was answered is not another's. */
static const char *owner(struct request *request)
{
    const struct principal *who = &request->principal;
    if (who->kind == KEY_PUBLISHABLE)
        return arena_printf(request->arena, "pk:%s:%s", who->agent_id, request->admitted.site);
    return *who->key_id ? who->key_id : who->agent_id;
}

static struct idempotency_key key_of(struct request *request)
{
    return (struct idempotency_key){
        .scope = request->admitted.workspace,
        .limits = request->principal.kind == KEY_PUBLISHABLE ? visitors_limits : workspace_limits,
        .owner = owner(request),
        .target = request->http->target,
        .key = request->idempotency_key,
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

/* Gives out what was answered before: as it was, or, where it was too long to be kept, what it
 * showed as that is now. */
static void replay(struct request *request, const struct kept_answer *kept)
{
    struct answer *answer = &request->answer;
    request->is_replay = true;
    if (*kept->shown) {
        request->shown = arena_strdup(request->arena, kept->shown);
        request->after = request_show_again;
        return;
    }
    answer->status = kept->status;
    buf_reset(&answer->body);
    (void)buf_append(&answer->body, kept->body, kept->body_len);
}

bool idempotency_reserve(struct request *request)
{
    const char *header = request_header(request, "Idempotency-Key");
    request->idempotency_key = NULL;
    if (!header || strcmp(request->http->method, "POST") != 0)
        return true;
    if (!is_printable(header)) {
        request_fault(request, "Idempotency-Key", "must be 1 to 255 printable characters");
        return false;
    }
    request->idempotency_key = header;
    struct idempotency_key key = key_of(request);
    struct kept_answer kept = {0};
    enum err err = store_idempotency_reserve(request->tx, &key, &kept);
    if (err == OK)
        return true;
    request->idempotency_key = NULL; /* this answer is none of its own */
    if (err == ERR_CONFLICT)
        replay(request, &kept);
    else
        request_error(request, err == ERR_BUSY      ? API_IDEMPOTENCY_KEY_IN_USE
                               : err == ERR_INVALID ? API_IDEMPOTENCY_KEY_REUSED
                                                    : API_INTERNAL_ERROR);
    return false;
}

enum err idempotency_settle(struct request *request)
{
    struct idempotency_key key = key_of(request);
    const struct answer *answer = &request->answer;
    bool is_whole = !request->pieces.more || request->pieces.is_whole;
    struct kept_answer kept = {.status = answer->status};
    if (answer->status == 0 || (request->shown && !is_whole)) {
        kept.status = request->route->status;
        kept.shown = request->shown;
        request->is_noted = true;
    } else if (!idempotency_keeps(answer->status)) {
        return request->is_noted ? OK : store_idempotency_release(request->tx, &key);
    } else {
        kept.body = answer->body.data;
        kept.body_len = answer->body.len;
    }
    return store_idempotency_keep(request->tx, &key, &kept);
}
