#include "net/resolver_lookup.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/time.h>

#include <ares.h>

#include "base/list.h"
#include "base/loop.h"
#include "base/mem.h"
#include "net/internal.h"

enum {
    TRY_MS = 1500, /* before asking the next server; doubled in the second round */
    TRIES = 2,
    LIMIT_US = 6 * 1000 * 1000, /* of all of it, however many servers there are */
    UDP_BYTES = 1232,           /* what passes unfragmented (DNS flag day 2020) */
};

/*   asking --c-ares has answered, or the limit--> over: told and freed at the end of the turn */
struct resolver_lookup {
    struct loop *loop;
    ares_channel channel;
    struct list_node watches;
    struct timer next;  /* c-ares's */
    struct timer limit; /* of all of it */
    struct resolver_lookup_answer answer;
    resolver_lookup_fn *fn; /* NULL: cancelled */
    void *arg;
    bool is_over;
};

/* One socket of c-ares's. */
struct watch {
    struct list_node node;
    struct resolver_lookup *lookup;
    struct io *io;
    ares_socket_t fd;
};

static void drop_watch(struct watch *watch)
{
    list_remove(&watch->node);
    io_close(watch->io);
    mem_free(watch);
}

static void end(struct resolver_lookup *lookup);

static void drive(struct resolver_lookup *lookup, ares_socket_t readable, ares_socket_t writable)
{
    struct timeval wait;
    ares_process_fd(lookup->channel, readable, writable);
    if (!lookup->is_over && ares_timeout(lookup->channel, NULL, &wait))
        timer_set_after(&lookup->next, (int64_t)wait.tv_sec * 1000000 + wait.tv_usec);
}

static void on_ready(void *arg, unsigned events)
{
    const struct watch *watch = arg;
    struct resolver_lookup *lookup = watch->lookup;
    ares_socket_t fd = watch->fd; /* the watch may go meanwhile */
    if (lookup->is_over)
        return;
    drive(lookup, events & IO_READ ? fd : ARES_SOCKET_BAD,
          events & IO_WRITE ? fd : ARES_SOCKET_BAD);
}

static void on_next(void *arg)
{
    drive(arg, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

static void on_limit(void *arg)
{
    struct resolver_lookup *lookup = arg;
    fault_set(&lookup->answer.fault, ERR_IO, "the host name cannot be resolved: no answer");
    end(lookup);
}

/* c-ares tells what it wants to know of a descriptor; of nothing: it is about to close it. */
static void on_wanted(void *arg, ares_socket_t fd, int reads, int writes)
{
    struct resolver_lookup *lookup = arg;
    unsigned events = (reads ? IO_READ : 0) | (writes ? IO_WRITE : 0);
    struct watch *watch, *found = NULL;
    LIST_EACH (watch, &lookup->watches, struct watch, node) {
        if (watch->fd == fd)
            found = watch;
    }
    if (found && events) {
        io_want(found->io, events);
    } else if (found) {
        drop_watch(found);
    } else if (events) {
        watch = mem_new(struct watch);
        watch->lookup = lookup;
        watch->fd = fd;
        watch->io = io_open(lookup->loop, fd, events, on_ready, watch);
        list_push_back(&lookup->watches, &watch->node);
    }
}

static void take_addresses(struct resolver_lookup_answer *answer, const struct ares_addrinfo *info)
{
    answer->ttl_s = INT32_MAX;
    for (const struct ares_addrinfo_node *it = info->nodes; it; it = it->ai_next) {
        bool is_known = it->ai_family == AF_INET || it->ai_family == AF_INET6;
        if (!is_known || answer->count == RESOLVER_LOOKUP_ADDRESSES)
            continue;
        struct sockaddr_storage storage = {0};
        memcpy(&storage, it->ai_addr, MIN(sizeof(storage), (size_t)it->ai_addrlen));
        struct net_addr *addr = &answer->addrs[answer->count++];
        net_addr_from_sockaddr(&storage, addr);
        addr->port = 0;
        answer->ttl_s = MIN(answer->ttl_s, (int64_t)it->ai_ttl);
    }
}

static void take_failure(struct resolver_lookup_answer *answer, int status)
{
    if (status == ARES_ENOTFOUND || status == ARES_EBADNAME)
        fault_set(&answer->fault, ERR_NOT_FOUND, "the host name does not exist");
    else if (status == ARES_SUCCESS || status == ARES_ENODATA)
        fault_set(&answer->fault, ERR_NOT_FOUND, "the host name has no address");
    else
        fault_set(&answer->fault, ERR_IO, "the host name cannot be resolved: %s",
                  ares_strerror(status));
}

/* Inside a call of c-ares's, which also comes here as the channel is destroyed. */
static void on_answer(void *arg, int status, int timeouts, struct ares_addrinfo *info)
{
    struct resolver_lookup *lookup = arg;
    (void)timeouts;
    if (!lookup->is_over) {
        if (status == ARES_SUCCESS && info)
            take_addresses(&lookup->answer, info);
        if (lookup->answer.count == 0)
            take_failure(&lookup->answer, status);
        end(lookup);
    }
    ares_freeaddrinfo(info);
}

static void finish(void *arg)
{
    struct resolver_lookup *lookup = arg;
    if (lookup->channel)
        ares_destroy(lookup->channel);
    while (!list_is_empty(&lookup->watches))
        drop_watch(LIST_FIRST(&lookup->watches, struct watch, node));
    if (lookup->fn)
        lookup->fn(lookup->arg, &lookup->answer);
    mem_free(lookup);
}

/* c-ares may be on the stack, so it is let go of at the end of the turn. */
static void end(struct resolver_lookup *lookup)
{
    lookup->is_over = true;
    timer_stop(&lookup->next);
    timer_stop(&lookup->limit);
    loop_defer(lookup->loop, finish, lookup);
}

static int open_channel(struct resolver_lookup *lookup, const struct resolver_lookup_target *target)
{
    static char dns_only[] = "b";
    struct ares_options options = {
        .flags = ARES_FLAG_EDNS | (target->searches ? 0 : ARES_FLAG_NOSEARCH),
        .timeout = TRY_MS,
        .tries = TRIES,
        .ednspsz = UDP_BYTES,
        .sock_state_cb = on_wanted,
        .sock_state_cb_data = lookup,
        .lookups = dns_only,
    };
    int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_EDNSPSZ |
               ARES_OPT_SOCK_STATE_CB | (target->nameserver ? ARES_OPT_LOOKUPS : 0);
    int status = ares_init_options(&lookup->channel, &options, mask);
    if (status != ARES_SUCCESS || !target->nameserver)
        return status;
    struct ares_addr_port_node server = {.family = AF_INET};
    server.udp_port = server.tcp_port = target->nameserver->port;
    memcpy(&server.addr.addr4, target->nameserver->ip + 12, sizeof(server.addr.addr4));
    return ares_set_servers_ports(lookup->channel, &server);
}

struct resolver_lookup *resolver_lookup_start(struct loop *loop,
                                              const struct resolver_lookup_target *target,
                                              resolver_lookup_fn *fn, void *arg)
{
    static const struct ares_addrinfo_hints hints = {
        .ai_flags = ARES_AI_NOSORT, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct resolver_lookup *lookup = mem_new(struct resolver_lookup);
    lookup->loop = loop;
    lookup->fn = fn;
    lookup->arg = arg;
    list_init(&lookup->watches);
    timer_init(&lookup->next, loop, on_next, lookup);
    timer_init(&lookup->limit, loop, on_limit, lookup);
    int status = open_channel(lookup, target);
    if (status != ARES_SUCCESS) {
        take_failure(&lookup->answer, status);
        end(lookup);
        return lookup;
    }
    timer_set_after(&lookup->limit, LIMIT_US);
    ares_getaddrinfo(lookup->channel, target->host, NULL, &hints, on_answer, lookup);
    if (!lookup->is_over)
        drive(lookup, ARES_SOCKET_BAD, ARES_SOCKET_BAD); /* sets c-ares's timer */
    return lookup;
}

void resolver_lookup_cancel(struct resolver_lookup *lookup)
{
    if (!lookup)
        return;
    lookup->fn = NULL;
    if (!lookup->is_over)
        end(lookup);
}
