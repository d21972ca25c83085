#include "net/resolver.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/fair.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "net/resolver_cache.h"
#include "net/resolver_lookup.h"
#include "net/url.h"

enum {
    UNDER_WAY_PER_TENANT = 4, /* a call has a handful of hosts */
    UNDER_WAY = 64,           /* sockets; 16 tenants whose names never answer */
    WAITING_PER_TENANT = 256,
    WAITING = 4096,
    CACHE_NAMES = 4096,    /* of all tenants: 2 MB */
    OPERATORS_NAMES = 256, /* engines */
    CHECK_LIMIT_US = 8 * 1000 * 1000,
};

struct resolver {
    struct loop *loop;
    const struct guard *guard;
    bool has_nameserver;
    struct net_addr nameserver;
    struct fair *fair;                /* of questions */
    struct map *questions;            /* by tenant and host */
    struct resolver_cache *operators; /* its names are searched for in the machine's domains too */
    struct resolver_cache *tenants;
    struct list_node ready; /* struct resolve, to be told in the next turn */
    struct list_node checks;
    bool is_stopped;
    struct timer soon;
};

/* A name that one tenant waits for. */
struct question {
    struct fair_item turn; /* first: fair_next() gives it back */
    struct resolver *resolver;
    bool is_operators;
    char *key;
    const char *host;               /* in the key */
    struct list_node waits;         /* struct resolve */
    struct resolver_lookup *lookup; /* NULL: not yet its turn */
    int64_t began_us;
};

/*   ready (the answer is known), or among a question's waits --> told */
struct resolve {
    struct resolver *resolver;
    struct list_node node;
    uint16_t port;
    enum guard_scope scope;
    resolve_fn *fn;
    void *arg;
    struct question *question; /* NULL: ready */
    struct resolver_lookup_answer answer;
};

/* A URL that is about to be saved. */
struct url_check {
    struct list_node node; /* in the resolver */
    struct resolve *resolve;
    struct timer limit;
    bool is_private; /* a name that no public resolver answers */
    struct fault fault;
    url_check_fn *fn;
    void *arg;
};

static void tell_ready(void *arg);
static void free_check(struct url_check *check);
static int drop_question(void *arg, const void *key, size_t key_len, void *value);

enum err resolver_new(struct loop *loop, const struct guard *guard, const char *nameserver,
                      struct resolver **out, struct fault *fault)
{
    static const struct fair_limits limits = {
        .waiting_per_key = WAITING_PER_TENANT,
        .waiting = WAITING,
        .running_per_key = UNDER_WAY_PER_TENANT,
        .running = UNDER_WAY,
    };
    struct net_addr server = {0};
    bool has_server = nameserver && nameserver[0];
    if (has_server && (net_addr_parse(nameserver, &server) != OK || !net_addr_is_ipv4(&server)))
        return fault_set(fault, ERR_INVALID, "the name server '%.60s' is no IPv4 address:port",
                         nameserver);
    struct resolver *resolver = mem_new(struct resolver);
    resolver->loop = loop;
    resolver->guard = guard;
    resolver->has_nameserver = has_server;
    resolver->nameserver = server;
    if (has_server && server.port == 0)
        resolver->nameserver.port = 53;
    resolver->fair = fair_new(&limits);
    resolver->questions = map_new();
    resolver->operators = resolver_cache_new(OPERATORS_NAMES);
    resolver->tenants = resolver_cache_new(CACHE_NAMES);
    list_init(&resolver->ready);
    list_init(&resolver->checks);
    timer_init(&resolver->soon, loop, tell_ready, resolver);
    *out = resolver;
    return OK;
}

static void free_resolve(struct resolve *resolve)
{
    list_remove(&resolve->node);
    mem_free(resolve);
}

void resolver_free(struct resolver *resolver)
{
    if (!resolver)
        return;
    timer_stop(&resolver->soon);
    while (!list_is_empty(&resolver->checks))
        free_check(LIST_FIRST(&resolver->checks, struct url_check, node));
    map_each(resolver->questions, drop_question, NULL);
    while (!list_is_empty(&resolver->ready))
        free_resolve(LIST_FIRST(&resolver->ready, struct resolve, node));
    map_free(resolver->questions);
    fair_free(resolver->fair);
    resolver_cache_free(resolver->operators);
    resolver_cache_free(resolver->tenants);
    mem_free(resolver);
}

const struct guard *resolver_guard(const struct resolver *resolver)
{
    return resolver->guard;
}

struct loop *resolver_loop(const struct resolver *resolver)
{
    return resolver->loop;
}

/* Telling. */

/* Both families in turn, so that a machine without one of them soon meets the other. */
static void alternate(struct net_addr *addrs, size_t count)
{
    for (size_t at = 1; at < count; at++) {
        bool wants_ipv4 = !net_addr_is_ipv4(&addrs[at - 1]);
        size_t found = at;
        while (found < count && net_addr_is_ipv4(&addrs[found]) != wants_ipv4)
            found++;
        if (found == count)
            return;
        struct net_addr moved = addrs[found];
        memmove(&addrs[at + 1], &addrs[at], (found - at) * sizeof(*addrs));
        addrs[at] = moved;
    }
}

static void guard_all(struct resolve *resolve, struct resolver_lookup_answer *answer)
{
    for (size_t i = 0; i < answer->count && !answer->fault.err; i++) {
        answer->addrs[i].port = resolve->port;
        answer->fault.err = guard_check_address(resolve->resolver->guard, resolve->scope,
                                                &answer->addrs[i], &answer->fault);
    }
    if (!answer->fault.err)
        alternate(answer->addrs, answer->count);
}

/* Frees it before the callback, which may do what it likes. */
static void tell(struct resolve *resolve, const struct resolver_lookup_answer *found)
{
    struct resolver_lookup_answer answer = *found;
    resolve_fn *fn = resolve->fn;
    void *arg = resolve->arg;
    guard_all(resolve, &answer);
    free_resolve(resolve);
    fn(arg, answer.addrs, answer.fault.err ? 0 : answer.count, &answer.fault);
}

static void tell_ready(void *arg)
{
    struct resolver *resolver = arg;
    struct list_node batch; /* who asks again inside a callback is told in the next turn */
    list_init(&batch);
    while (!list_is_empty(&resolver->ready)) {
        struct resolve *resolve = LIST_FIRST(&resolver->ready, struct resolve, node);
        list_remove(&resolve->node);
        list_push_back(&batch, &resolve->node);
    }
    while (!list_is_empty(&batch)) {
        struct resolve *resolve = LIST_FIRST(&batch, struct resolve, node);
        const struct resolver_lookup_answer answer = resolve->answer;
        tell(resolve, &answer);
    }
}

static void make_ready(struct resolve *resolve, const struct resolver_lookup_answer *answer)
{
    struct resolver *resolver = resolve->resolver;
    resolve->answer = *answer;
    list_push_back(&resolver->ready, &resolve->node);
    if (!timer_is_set(&resolver->soon))
        timer_set_after(&resolver->soon, 0);
}

/* Questions. */

static void free_question(struct question *question)
{
    resolver_lookup_cancel(question->lookup);
    mem_free(question->key);
    mem_free(question);
}

static int drop_question(void *arg, const void *key, size_t key_len, void *value)
{
    struct question *question = value;
    (void)arg, (void)key, (void)key_len;
    while (!list_is_empty(&question->waits))
        free_resolve(LIST_FIRST(&question->waits, struct resolve, node));
    fair_remove(question->resolver->fair, &question->turn);
    free_question(question);
    return 0;
}

static struct resolver_cache *cache_of(const struct resolver *resolver, bool is_operators)
{
    return is_operators ? resolver->operators : resolver->tenants;
}

static void begin_next(struct resolver *resolver);

/* It is known: all that wait are told in the next turn, and the next question begins. */
static void end_question(struct question *question, const struct resolver_lookup_answer *answer)
{
    struct resolver *resolver = question->resolver;
    int64_t took_us = loop_now_us(resolver->loop) - question->began_us;
    map_remove_str(resolver->questions, question->key);
    if (question->began_us)
        fair_done(resolver->fair, &question->turn, took_us);
    else
        fair_remove(resolver->fair, &question->turn);
    while (!list_is_empty(&question->waits)) {
        struct resolve *resolve = LIST_FIRST(&question->waits, struct resolve, node);
        list_remove(&resolve->node);
        resolve->question = NULL;
        make_ready(resolve, answer);
    }
    free_question(question);
}

static void on_lookup(void *arg, const struct resolver_lookup_answer *answer)
{
    struct question *question = arg;
    struct resolver *resolver = question->resolver;
    question->lookup = NULL;
    resolver_cache_put(cache_of(resolver, question->is_operators), question->host, answer,
                       loop_now_us(resolver->loop));
    end_question(question, answer);
    begin_next(resolver);
}

/* Another tenant may have learnt the name while this one's line was long. */
static void begin(struct question *question)
{
    struct resolver *resolver = question->resolver;
    question->began_us = loop_now_us(resolver->loop);
    const struct resolver_lookup_answer *known = resolver_cache_get(
        cache_of(resolver, question->is_operators), question->host, question->began_us);
    if (known) {
        const struct resolver_lookup_answer answer = *known;
        end_question(question, &answer);
        return;
    }
    const struct resolver_lookup_target target = {
        .host = question->host,
        .nameserver = resolver->has_nameserver ? &resolver->nameserver : NULL,
        .searches = question->is_operators && !resolver->has_nameserver,
    };
    question->lookup = resolver_lookup_start(resolver->loop, &target, on_lookup, question);
}

static void begin_next(struct resolver *resolver)
{
    struct fair_item *turn;
    while ((turn = fair_next(resolver->fair)))
        begin(CONTAINER_OF(turn, struct question, turn));
}

static enum err ask(struct resolve *resolve, const struct resolve_target *target)
{
    struct resolver *resolver = resolve->resolver;
    const char *tenant = target->tenant;
    AUTO_MEM char *key = mem_printf("%s %s", tenant ? tenant : "", target->host);
    struct question *question = map_get_str(resolver->questions, key);
    if (!question) {
        question = mem_new(struct question);
        question->resolver = resolver;
        question->is_operators = !tenant;
        question->key = TAKE(key);
        question->host = question->key + (tenant ? strlen(tenant) : 0) + 1;
        list_init(&question->waits);
        if (fair_push(resolver->fair, tenant, &question->turn) != OK) {
            free_question(question);
            return ERR_BUSY;
        }
        map_set_str(resolver->questions, question->key, question);
    }
    resolve->question = question;
    list_push_back(&question->waits, &resolve->node);
    begin_next(resolver);
    return OK;
}

static int stop_question(void *arg, const void *key, size_t key_len, void *value)
{
    struct question *question = value;
    (void)key, (void)key_len;
    resolver_lookup_cancel(TAKE(question->lookup));
    end_question(question, arg);
    return 0;
}

static const struct resolver_lookup_answer stopped = {
    .fault = {ERR_CLOSED, "the service is ending"}};

void resolver_stop(struct resolver *resolver)
{
    resolver->is_stopped = true;
    map_each(resolver->questions, stop_question, (void *)&stopped);
}

struct resolve *resolve_start(struct resolver *resolver, const struct resolve_target *target,
                              resolve_fn *fn, void *arg)
{
    struct resolve *resolve = mem_new(struct resolve);
    resolve->resolver = resolver;
    resolve->port = target->port;
    resolve->scope = target->scope;
    resolve->fn = fn;
    resolve->arg = arg;
    struct resolver_lookup_answer answer = {0};
    if (resolver->is_stopped) {
        make_ready(resolve, &stopped);
        return resolve;
    }
    if (net_ip_parse(target->host, &answer.addrs[0]) == OK) {
        answer.count = 1;
        make_ready(resolve, &answer);
        return resolve;
    }
    const struct resolver_lookup_answer *known = resolver_cache_get(
        cache_of(resolver, !target->tenant), target->host, loop_now_us(resolver->loop));
    if (known) {
        make_ready(resolve, known);
    } else if (ask(resolve, target) != OK) {
        fault_set(&answer.fault, ERR_BUSY, "too many host names wait to be resolved");
        make_ready(resolve, &answer);
    }
    return resolve;
}

/* A look-up that runs goes on, for the cache; one that waits for its turn is dropped with the last
 * who wants it. */
void resolve_cancel(struct resolve *resolve)
{
    if (!resolve)
        return;
    struct question *question = resolve->question;
    free_resolve(resolve);
    if (!question || question->lookup || !list_is_empty(&question->waits))
        return;
    map_remove_str(question->resolver->questions, question->key);
    fair_remove(question->resolver->fair, &question->turn);
    free_question(question);
}

/* Checks of URLs. */

static void free_check(struct url_check *check)
{
    list_remove(&check->node);
    timer_stop(&check->limit);
    resolve_cancel(check->resolve);
    mem_free(check);
}

/* One label, or a domain for private use (RFC 6761, 6762, 8375, ICANN's .internal). If it cannot be
 * resolved now, it is still no public address. */
static bool is_private_name(const char *host)
{
    static const char *const domains[] = {".local",     ".internal",    ".localhost",
                                          ".home.arpa", ".localdomain", ".lan"};
    size_t len = strlen(host);
    if (len > 0 && host[len - 1] == '.')
        len--;
    const char *dot = memchr(host, '.', len);
    if (!dot)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(domains); i++) {
        size_t domain_len = strlen(domains[i]);
        if (len > domain_len && strncasecmp(host + len - domain_len, domains[i], domain_len) == 0)
            return true;
    }
    return false;
}

static void tell_check(struct url_check *check)
{
    struct fault fault = check->fault;
    bool is_known = fault.err != ERR_NOT_FOUND && fault.err != ERR_IO && fault.err != ERR_BUSY;
    if (!is_known && check->is_private)
        fault_set(&fault, ERR_DENIED, "not a public address: a name of private networks");
    url_check_fn *fn = check->fn;
    void *arg = check->arg;
    free_check(check);
    fn(arg, &fault);
}

static void on_check_limit(void *arg)
{
    struct url_check *check = arg;
    if (check->resolve)
        fault_set(&check->fault, ERR_IO, "the host name cannot be resolved in time");
    tell_check(check);
}

static void on_check_resolved(void *arg, const struct net_addr *addrs, size_t count,
                              const struct fault *fault)
{
    struct url_check *check = arg;
    (void)addrs, (void)count;
    check->resolve = NULL;
    check->fault = *fault;
    tell_check(check);
}

void resolver_check_url(struct resolver *resolver, const char *tenant, const char *text,
                        url_check_fn *fn, void *arg)
{
    struct url_check *check = mem_new(struct url_check);
    struct url url;
    check->fn = fn;
    check->arg = arg;
    list_push_back(&resolver->checks, &check->node);
    timer_init(&check->limit, resolver->loop, on_check_limit, check);
    enum err err = guard_check_url(resolver->guard, GUARD_PUBLIC, text, &url, &check->fault);
    check->fault.err = err;
    timer_set_after(&check->limit, err ? 0 : CHECK_LIMIT_US);
    if (err)
        return;
    const struct resolve_target target = {url.host, url.port, GUARD_PUBLIC, tenant};
    check->is_private = is_private_name(url.host);
    check->resolve = resolve_start(resolver, &target, on_check_resolved, check);
}
