/* POST /v1/session by a link, by e-mail and password, or by the e-mail that a trusted proxy vouches
 * for. */

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/internal.h"
#include "api/proxy.h"
#include "api/rates.h"
#include "api/request.h"
#include "api/resources.h"
#include "api/run.h"
#include "api/sign_in_internal.h"
#include "base/config.h"
#include "base/ids.h"
#include "base/js.h"
#include "base/password.h"
#include "base/utf8.h"
#include "store/member.h"
#include "store/session.h"
#include "store/workspace.h"

enum {
    BROWSER_MAX_BYTES = 200,
    BROWSER_SENT_MAX_BYTES = 64 * 1024, /* headers are shorter */
};

static const char STUDIO_HEADER[] = "X-Earshot-Studio", MEMBER_HEADER[] = "X-Earshot-Member";

/* The cookie. */

static bool is_secure(const struct request *request)
{
    return strncmp(request->deps->public_url, "https:", 6) == 0;
}

/* A browser gives a __Host- cookie to this host over TLS alone. */
static const char *cookie_name(const struct request *request)
{
    return is_secure(request) ? "__Host-earshot" : "earshot";
}

const char *request_session(struct request *request)
{
    const char *cookies = request_header(request, "Cookie");
    const char *name = cookie_name(request);
    size_t len = strlen(name);
    for (const char *at = cookies; at && *at; at += strcspn(at, ";"), at += strspn(at, "; ")) {
        if (strncmp(at, name, len) != 0 || at[len] != '=')
            continue;
        const char *value = at + len + 1;
        return arena_printf(request->arena, "%.*s", (int)strcspn(value, ";"), value);
    }
    return NULL;
}

static void set_cookie(struct request *request, const char *value)
{
    long long age_s = *value ? SESSION_MAX_MS / 1000 : 0;
    answer_header(
        &request->answer, "Set-Cookie",
        arena_printf(request->arena, "%s=%s; Path=/; Max-Age=%lld; HttpOnly; SameSite=Strict%s",
                     cookie_name(request), value, age_s, is_secure(request) ? "; Secure" : ""));
}

/* Behind a proxy that ends TLS a page of ours may be an https one, whatever public_url says; where
 * that says https, a page without it is not ours. */
static bool is_our_scheme(const struct request *request, const char *origin, size_t len)
{
    bool is_https = len == 5 && strncasecmp(origin, "https", len) == 0;
    bool is_http = len == 4 && strncasecmp(origin, "http", len) == 0;
    return is_https || (is_http && !is_secure(request));
}

bool request_is_from_studio(const struct request *request)
{
    if (!request_header(request, STUDIO_HEADER))
        return false;
    const char *origin = request_header(request, "Origin"), *host = request_header(request, "Host");
    const char *method = request->head.http->method;
    if (!origin)
        return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    const char *from = strstr(origin, "://");
    return strcmp(origin, request->deps->public_url) == 0 ||
           (from && host && is_our_scheme(request, origin, (size_t)(from - origin)) &&
            strcasecmp(from + 3, host) == 0);
}

bool request_is_of_another(const struct request *request)
{
    const struct principal *who = &request->who.principal;
    const char *opened_for = request_header(request, MEMBER_HEADER);
    return opened_for && who->kind == KEY_SESSION && strcmp(opened_for, who->key_id) != 0;
}

/* Signing in. */

struct sign_in_body {
    const char *link, *email, *password, *workspace_id;
};
static const struct field body_rows[] = {
    ROW_TEXT(struct sign_in_body, link, "link", .max = 100,
             .about = "What follows #link= in a link."),
    ROW_TEXT(struct sign_in_body, email, "email", .max = 254),
    ROW_TEXT(struct sign_in_body, password, "password", .max = PASSWORD_MAX),
    ROW_TEXT(
        struct sign_in_body, workspace_id, "workspaceId", .max = 63,
        .about =
            "Of those in which the address and the password fit; an address that is vouched for "
            "and in several workspaces must name one, which the refusal lists."),
};
FIELD_TABLE(sign_in_body_table, struct sign_in_body, "SignIn", body_rows,
            .about = "A link, or e-mail and password; nothing behind a proxy that signs in.");

struct signed_in {
    struct member member;
    struct workspace workspace;
};
static const struct field signed_in_rows[] = {
    ROW_OBJECT(struct signed_in, member, "member", struct member, &member_table),
    ROW_OBJECT(struct signed_in, workspace, "workspace", struct workspace, &workspace_table),
};
FIELD_TABLE(signed_in_table, struct signed_in, "SignedIn", signed_in_rows);

/* The address that a proxy of ours vouches for; NULL: none does. Of two that differ one may be the
 * client's own, to which the proxy has added. */
static const char *vouched_email(struct request *request)
{
    const char *name = config_text(request->deps->config, SET_STUDIO_TRUSTED_HEADER);
    if (!*name || !proxies_have(request->api->proxies, &request->head.http->peer))
        return NULL;
    const struct http_request *http = request->head.http;
    const char *email = request_header(request, name);
    for (size_t i = 0; i < http->header_count; i++)
        if (strcasecmp(http->headers[i].name, name) == 0 &&
            strcmp(http->headers[i].value, email) != 0)
            return NULL;
    return email;
}

/* What a header holds need be no UTF-8, and PostgreSQL takes no other text. */
static const char *browser_of(struct request *request)
{
    const char *sent = request_header(request, "User-Agent");
    AUTO_BUF clean = BUF_INIT(BROWSER_SENT_MAX_BYTES);
    if (!sent || utf8_append_clean(&clean, sent, strlen(sent)) != OK || !clean.data)
        return "";
    size_t len = MIN(clean.len, (size_t)BROWSER_MAX_BYTES);
    while (len > 0 && len < clean.len && (clean.data[len] & 0xC0) == 0x80) /* within a character */
        len--;
    return arena_strndup(request->job.tx->arena, clean.data, len);
}

static void open_session(struct request *request, const struct member *member)
{
    struct signed_in answer = {.member = *member};
    char key[KEY_SIZE], address[NET_ADDR_SIZE];
    const char *vouched = vouched_email(request);
    net_ip_print(&request->who.client, address);
    if (!request_found(request, store_session_create(request->job.tx, member, browser_of(request),
                                                     address, key)) ||
        (vouched && strcasecmp(vouched, member->email) == 0 &&
         !request_found(request, store_member_vouch(request->job.tx, member->id))) ||
        !request_found(request,
                       store_workspace_get(request->job.tx, member->user_id, &answer.workspace)))
        return;
    set_cookie(request, key);
    request_answer(request, &answer, 0);
}

static void use_link(struct request *request)
{
    const struct attempt *attempt = request->job.state;
    struct member member;
    enum err err = store_link_use(request->job.tx, attempt->link, &member);
    if (err == ERR_NOT_FOUND) /* somebody was quicker */
        request_error(request, API_UNAUTHORIZED);
    else if (request_found(request, err))
        open_session(request, &member);
}

/* Under the workspace's lock, as members are changed: ERR_NOT_FOUND when the address or the
 * password is another one by now. Looking at a password takes a while. */
static enum err read_chosen(struct request *request, struct member *out)
{
    const struct attempt *attempt = request->job.state;
    const struct candidate *chosen = &attempt->candidates[attempt->chosen];
    struct tx *tx = request->job.tx;
    const char *hash;
    enum err err = store_workspace_lock(tx, chosen->workspace_id);
    if (!err)
        err = store_member_get(tx, chosen->workspace_id, chosen->id, out);
    if (!err && strcmp(out->email, attempt->email) != 0)
        err = ERR_NOT_FOUND;
    if (!err && attempt->password)
        err = store_member_hash(tx, chosen->id, &hash);
    return !err && attempt->password && strcmp(hash, chosen->hash) != 0 ? ERR_NOT_FOUND : err;
}

void sign_in_open_chosen(struct request *request)
{
    struct member member;
    enum err err = read_chosen(request, &member);
    if (err == ERR_NOT_FOUND)
        request_error(request, API_UNAUTHORIZED);
    else if (request_found(request, err))
        open_session(request, &member);
}

/* What was sent signs nobody in, and cannot be guessed: a failed authentication. */
static void refuse_stranger(struct request *request)
{
    struct limit_state state;
    if (!rates_failure(request->api->rates, &request->who.client, &state)) {
        sign_in_refuse_rate(request, state.retry_s);
        return;
    }
    request_error(request, API_UNAUTHORIZED);
    run_finish(request);
}

static const char *lower(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text);
    for (char *c = copy; *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c | 0x20 : *c);
    return copy;
}

/* Copies what the pool and the next job need: the job's own memory goes with it. */
static bool find_candidates(struct request *request, const char *email, const char *workspace_id,
                            struct attempt *out)
{
    struct member_hash_list found;
    if (!utf8_is_valid(email, strlen(email))) /* a proxy's header; PostgreSQL takes no other text */
        return true;
    if (!request_found(request, store_member_find(request->job.tx, email, workspace_id, &found)))
        return false;
    for (size_t i = 0; i < found.count; i++) {
        const struct member *member = &found.items[i].member;
        if (out->password && !*found.items[i].hash)
            continue;
        out->has_more = out->count == CANDIDATES_MAX;
        if (out->has_more)
            break;
        out->candidates[out->count++] = (struct candidate){
            .id = arena_strdup(request->arena, member->id),
            .workspace_id = arena_strdup(request->arena, member->user_id),
            .hash = arena_strdup(request->arena, found.items[i].hash),
            .is_vouched = found.items[i].is_vouched,
        };
    }
    return true;
}

static void write_session(struct request *request)
{
    run_job(request, STORE_WRITE, sign_in_open_chosen);
}

/* Which of several workspaces does a vouched address enter? Anybody may write it into theirs, and
 * so only the one that its owner has entered this way is chosen; count: the owner must say. */
static size_t choose(const struct attempt *attempt)
{
    size_t chosen = attempt->count, vouched = 0;
    for (size_t i = 0; i < attempt->count; i++) {
        if (!attempt->candidates[i].is_vouched)
            continue;
        chosen = i;
        vouched++;
    }
    return attempt->count == 1 ? 0 : vouched == 1 ? chosen : attempt->count;
}

static void ask_which(struct request *request, const struct attempt *attempt)
{
    struct field_context context;
    request_context(request, &context);
    for (size_t i = 0; i < attempt->count; i++) {
        const char *id = attempt->candidates[i].workspace_id;
        struct workspace workspace;
        if (!request_found(request, store_workspace_get(request->job.tx, id, &workspace)))
            return;
        faults_add(&context.faults, "workspaceId", "%s",
                   arena_printf(request->arena, "%s %s", id, workspace.name));
    }
    (void)request_is_valid(request, &context);
}

static void by_proxy(struct request *request, const char *email, const char *workspace_id)
{
    struct attempt *attempt = request->job.state;
    attempt->email = lower(request->arena, email);
    if (!find_candidates(request, attempt->email, workspace_id, attempt))
        return;
    attempt->chosen = choose(attempt);
    if (attempt->chosen < attempt->count || attempt->count == 0)
        request_after(request, attempt->count > 0 ? write_session : refuse_stranger);
    else
        ask_which(request, attempt);
}

static void write_used(struct request *request)
{
    run_job(request, STORE_WRITE, use_link);
}

static void by_link(struct request *request, const char *link)
{
    struct attempt *attempt = request->job.state;
    attempt->link = arena_strdup(request->arena, link);
    enum err err = key_is_valid(link) ? store_link_look(request->job.tx, link) : ERR_NOT_FOUND;
    if (err == ERR_NOT_FOUND)
        request_after(request, refuse_stranger);
    else if (request_found(request, err))
        request_after(request, write_used);
}

void sign_in(struct request *request)
{
    struct sign_in_body body;
    struct field_context context;
    request_context(request, &context);
    field_create(&sign_in_body_table, &body, request_json(request), &context, "");
    if (!request_is_valid(request, &context))
        return;
    struct attempt *attempt = arena_new_of(request->arena, struct attempt);
    request->job.state = attempt;
    attempt->request = request;
    const char *vouched = vouched_email(request);
    if (*body.link) {
        by_link(request, body.link);
    } else if (vouched) {
        by_proxy(request, vouched, body.workspace_id);
    } else if (*body.email == '\0') {
        request_error(request, API_UNAUTHORIZED); /* nobody vouches: a page that asks is no try */
    } else {
        attempt->email = lower(request->arena, body.email);
        attempt->member = attempt->email;
        attempt->password = arena_strdup(request->arena, body.password);
        if (find_candidates(request, attempt->email, body.workspace_id, attempt))
            request_after(request, sign_in_check_password);
    }
}

/* The end of one's own sessions. */

static void end_session(struct request *request, const char *id)
{
    struct removed answer = {.is_ok = true, .id = id};
    const struct principal *who = &request->who.principal;
    if (!request_found(request, store_session_end(request->job.tx, who->key_id, id)))
        return;
    if (strcmp(id, who->session_id) == 0)
        set_cookie(request, "");
    request_answer(request, &answer, 0);
}

void sessions_end(struct request *request)
{
    end_session(request, request->head.params[0]);
}

void sign_out(struct request *request)
{
    end_session(request, request->who.principal.session_id);
}
