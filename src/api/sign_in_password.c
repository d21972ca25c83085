/* Passwords: how often they may be tried, who waits while they are looked at, and the member's own.
 * They are hashed on the pool: job -> pool -> job. */
#include <string.h>

#include "api/internal.h"
#include "api/request.h"
#include "api/resources.h"
#include "api/run.h"
#include "api/sign_in_internal.h"
#include "base/js.h"
#include "base/mem.h"
#include "base/password.h"
#include "base/pool.h"
#include "store/member.h"
#include "store/session.h"
#include "store/workspace.h"

enum {
    FAILURES_A_MINUTE = 10, /* of an address; of a member from one network */
    MEMBER_A_MINUTE = 200,  /* of a member, from everywhere */
    MEMBER_NET_BITS = 48,   /* the network, of IPv6: what one site may own */
    TRIED_COUNT = 3,        /* buckets that a password takes from */
    BUCKETS_MAX = 20000,
};

struct sign_ins {
    struct limit *failures, *members;
    struct password_line line;
};

struct sign_ins *sign_ins_new(void)
{
    struct sign_ins *sign_ins = mem_new(struct sign_ins);
    sign_ins->failures = limit_new(FAILURES_A_MINUTE, FAILURES_A_MINUTE, BUCKETS_MAX);
    sign_ins->members = limit_new(MEMBER_A_MINUTE, MEMBER_A_MINUTE, BUCKETS_MAX);
    password_line_init(&sign_ins->line);
    return sign_ins;
}

void sign_ins_free(struct sign_ins *sign_ins)
{
    if (!sign_ins)
        return;
    limit_free(sign_ins->failures);
    limit_free(sign_ins->members);
    mem_free(sign_ins);
}

void sign_in_refuse_rate(struct request *request, int64_t retry_s)
{
    request_error(request, API_RATE_LIMITED);
    answer_header(&request->answer, "Retry-After",
                  arena_printf(request->arena, "%lld", (long long)MAX(retry_s, 1)));
    run_finish(request);
}

/* How often a password may be tried. */

struct tried {
    struct limit *limit;
    const char *name;
};

static void list_tried(const struct request *request, const char *member,
                       struct tried out[TRIED_COUNT])
{
    const struct sign_ins *sign_ins = request->api->sign_ins;
    struct arena *arena = request->arena;
    char net[NET_ADDR_SIZE];
    net_ip_print_site(&request->who.client, MEMBER_NET_BITS, net);
    out[0] =
        (struct tried){sign_ins->failures, arena_printf(arena, "a:%s", request->who.admitted.site)};
    out[1] = (struct tried){sign_ins->failures, arena_printf(arena, "m:%s %s", net, member)};
    out[2] = (struct tried){sign_ins->members, member};
}

static void give_back(struct request *request, const struct tried *tried, size_t count)
{
    for (size_t i = 0; i < count; i++)
        limit_give(tried[i].limit, tried[i].name, loop_now_us(request->deps->control));
}

/* May it be tried? false: answered. The tries are taken before the password is looked at, or those
 * that are under way at once would all pass; a right one gives them back. */
static bool may_try(struct request *request, const char *member)
{
    struct tried tried[TRIED_COUNT];
    list_tried(request, member, tried);
    for (size_t i = 0; i < TRIED_COUNT; i++) {
        struct limit_state state;
        if (limit_take(tried[i].limit, tried[i].name, loop_now_us(request->deps->control), &state))
            continue;
        give_back(request, tried, i);
        sign_in_refuse_rate(request, state.retry_s);
        return false;
    }
    return true;
}

static void forget_try(struct request *request, const char *member)
{
    struct tried tried[TRIED_COUNT];
    list_tried(request, member, tried);
    give_back(request, tried, TRIED_COUNT);
}

static void verify(void *arg)
{
    struct attempt *attempt = arg;
    attempt->chosen = 0;
    while (attempt->chosen < attempt->count &&
           !password_fits(attempt->password, attempt->candidates[attempt->chosen].hash))
        attempt->chosen++;
    if (attempt->count == 0)
        (void)password_fits(attempt->password, "");
}

static void verified(void *arg)
{
    struct attempt *attempt = arg;
    struct request *request = attempt->request;
    password_line_remove(&request->api->sign_ins->line, &attempt->turn);
    if (attempt->chosen < attempt->count) {
        forget_try(request, attempt->member);
        run_job(request, STORE_WRITE, sign_in_open_chosen);
        return;
    }
    if (attempt->has_more) /* which anybody brings about who writes the address into workspaces */
        request_fault(request, "workspaceId",
                      "must name the workspace: the address is in too many");
    else
        request_error(request, API_UNAUTHORIZED);
    run_finish(request);
}

static bool on_pool(struct attempt *attempt, loop_fn *work, loop_fn *done)
{
    struct request *request = attempt->request;
    if (pool_run_fair(request->deps->pool, request->who.admitted.site, work, request->deps->control,
                      done, attempt) == OK)
        return true;
    request_error(request, API_UNAVAILABLE);
    run_finish(request);
    return false;
}

static bool has_yielded(void *arg)
{
    return ((const struct attempt *)arg)->has_yielded;
}

/* Nothing was looked at, so it was no try. */
static void refuse_yielded(void *arg)
{
    struct attempt *attempt = arg;
    struct request *request = attempt->request;
    forget_try(request, attempt->member);
    sign_in_refuse_rate(request, 0);
}

/* One that yields while it is being looked at gets its answer all the same. */
static void stand_in_line(struct attempt *attempt)
{
    struct request *request = attempt->request;
    struct password_line *line = &request->api->sign_ins->line;
    struct pool *pool = request->deps->pool;
    struct password_turn *turn;
    char net[NET_ADDR_SIZE];
    net_ip_print_site(&request->who.client, MEMBER_NET_BITS, net);
    attempt->turn = (struct password_turn){.net = arena_strdup(request->arena, net),
                                           .member = attempt->member,
                                           .looks = MAX(attempt->count, 1)};
    password_line_add(line, &attempt->turn);
    while ((turn = password_line_yield(line))) {
        CONTAINER_OF(turn, struct attempt, turn)->has_yielded = true;
        pool_sweep(pool, verify, has_yielded, refuse_yielded);
    }
}

void sign_in_check_password(struct request *request)
{
    struct attempt *attempt = request->job.state;
    if (may_try(request, attempt->member) && on_pool(attempt, verify, verified))
        stand_in_line(attempt);
}

/* The member's own. */

struct password_body {
    const char *password, *current;
};
static const struct field password_rows[] = {
    ROW_TEXT(struct password_body, password, "password", .flags = FIELD_REQUIRED,
             .min = PASSWORD_MIN, .max = PASSWORD_MAX),
    ROW_TEXT(struct password_body, current, "current", .max = PASSWORD_MAX,
             .about = "The one until now, where there is one."),
};
FIELD_TABLE(password_body_table, struct password_body, "NewPassword", password_rows);

struct password_change {
    struct attempt attempt; /* candidates[0].hash: as it was */
    const char *current;
    char hash[PASSWORD_HASH_SIZE];
    enum err err; /* ERR_INVALID: the current one does not fit */
};

static void store_password(struct request *request)
{
    const struct password_change *change = request->job.state;
    const struct principal *who = &request->who.principal;
    struct removed answer = {.is_ok = true, .id = who->key_id};
    enum err err = store_workspace_lock(request->job.tx, who->workspace_id);
    if (!err)
        err = store_session_look(request->job.tx, who->session_id);
    if (err == ERR_NOT_FOUND) /* it was ended meanwhile: the address may be another person's now */
        request_error(request, API_UNAUTHORIZED);
    else if (request_found(request, err) &&
             request_found(request,
                           store_member_set_hash(request->job.tx, who->key_id, change->hash)) &&
             request_found(request,
                           store_session_end_others(request->job.tx, who->key_id, who->session_id)))
        request_answer(request, &answer, 0);
}

static void hash_new(void *arg)
{
    struct password_change *change = arg;
    const char *old = change->attempt.candidates[0].hash;
    bool may = !*old || password_fits(change->current, old);
    change->err = may ? password_hash(change->attempt.password, change->hash) : ERR_INVALID;
}

static void hashed_new(void *arg)
{
    struct password_change *change = arg;
    struct request *request = change->attempt.request;
    if (change->err != ERR_INVALID)
        forget_try(request, change->attempt.member);
    if (!change->err) {
        run_job(request, STORE_WRITE, store_password);
        return;
    }
    if (change->err == ERR_INVALID) {
        request_fault(request, "current", "is not the password until now");
    } else {
        request_error(request, API_UNAVAILABLE);
    }
    run_finish(request);
}

static void change_password(struct request *request)
{
    struct password_change *change = request->job.state;
    if (may_try(request, change->attempt.member))
        (void)on_pool(&change->attempt, hash_new, hashed_new);
}

void password_set(struct request *request)
{
    struct password_body body;
    struct field_context context;
    const char *hash;
    request_context(request, &context);
    field_create(&password_body_table, &body, request_json(request), &context, "");
    if (!request_is_valid(request, &context) ||
        !request_found(request,
                       store_member_hash(request->job.tx, request->who.principal.key_id, &hash)))
        return;
    struct password_change *change = arena_new_of(request->arena, struct password_change);
    change->attempt = (struct attempt){
        .request = request,
        .password = arena_strdup(request->arena, body.password),
        .member = arena_strdup(request->arena, request->who.principal.key_id),
        .candidates = {{.hash = arena_strdup(request->arena, hash)}},
    };
    change->current = arena_strdup(request->arena, body.current);
    request->job.state = change;
    request_after(request, change_password);
}
