/* Nodes tell each other one line for each name: "<kind> <tokens> <name>". */
#include "api/rates.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "store/rate.h"
#include "store/store.h"

enum {
    EXCHANGE_US = 1000000,
    TOLD_MAX = 1000, /* names a second; what is more waits for the next one */
    TOLD_BYTES = 256 * 1024,
    COARSE_BUCKETS_MAX = 50000,
    CLOCK_SET_MS = 30000, /* older than that: the database's clock was set back */
};

enum rate_kind { RATE_KEY, RATE_SITE, RATE_NET48, RATE_NET32, RATE_COUNT };
static const char kind_letters[RATE_COUNT + 1] = "kabc";

struct rates {
    struct loop *loop;
    struct store *store;
    struct limit *limits[RATE_COUNT];
    struct timer timer;
    struct map *heard; /* node -> int64_t *: at_ms of what it told last */
    bool has_heard;    /* false: what others told before this node began is skipped */
    bool is_under_way;
    struct buf told;
    struct rate_telling_list others; /* in the job's arena */
};

static void on_timer(void *arg);

struct rates *rates_new(const struct config *config, struct loop *loop, struct store *store)
{
    struct rates *rates = mem_new(struct rates);
    int64_t failures = config_int(config, SET_AUTH_FAIL_LIMIT);
    rates->loop = loop;
    rates->store = store;
    rates->limits[RATE_KEY] =
        limit_new(config_int(config, SET_RATE_LIMIT), config_int(config, SET_RATE_BURST), 0);
    rates->limits[RATE_SITE] = limit_new(failures, failures, 0);
    rates->limits[RATE_NET48] = limit_new(4 * failures, 4 * failures, COARSE_BUCKETS_MAX);
    rates->limits[RATE_NET32] = limit_new(16 * failures, 16 * failures, COARSE_BUCKETS_MAX);
    rates->heard = map_new();
    buf_init(&rates->told, TOLD_BYTES);
    timer_init(&rates->timer, loop, on_timer, rates);
    if (store_is_postgres(store))
        timer_set_after(&rates->timer, EXCHANGE_US);
    return rates;
}

static int drop(void *arg, const void *key, size_t key_len, void *value)
{
    (void)arg, (void)key, (void)key_len;
    mem_free(value);
    return 0;
}

void rates_free(struct rates *rates)
{
    if (!rates)
        return;
    timer_stop(&rates->timer);
    for (int i = 0; i < RATE_COUNT; i++)
        limit_free(rates->limits[i]);
    map_each(rates->heard, drop, NULL);
    map_free(rates->heard);
    buf_clear(&rates->told);
    mem_free(rates);
}

bool rates_is_idle(const struct rates *rates)
{
    return !rates->is_under_way;
}

bool rates_request(struct rates *rates, const char *key, struct limit_state *out)
{
    return limit_take(rates->limits[RATE_KEY], key, loop_now_us(rates->loop), out);
}

/* The widest network first: one that is over its rate makes no buckets for the addresses in it. */
bool rates_failure(struct rates *rates, const struct net_addr *client, struct limit_state *out)
{
    static const struct {
        enum rate_kind kind;
        unsigned bits;
    } levels[] = {{RATE_NET32, 32}, {RATE_NET48, 48}, {RATE_SITE, NET_SITE_BITS}};
    char name[NET_ADDR_SIZE];
    size_t first = net_addr_is_ipv4(client) ? ARRAY_LEN(levels) - 1 : 0;
    for (size_t i = first; i < ARRAY_LEN(levels); i++) {
        net_ip_print_site(client, levels[i].bits, name);
        if (!limit_take(rates->limits[levels[i].kind], name, loop_now_us(rates->loop), out))
            return false;
    }
    return true;
}

/* The exchange. */

struct telling {
    struct rates *rates;
    enum rate_kind kind;
    size_t count;
};

static void tell(void *arg, const char *name, int64_t tokens)
{
    struct telling *telling = arg;
    telling->count++;
    (void)buf_printf(&telling->rates->told, "%c %" PRId64 " %s\n", kind_letters[telling->kind],
                     tokens, name);
}

static void charge_line(struct rates *rates, char *line)
{
    const char *kind = strchr(kind_letters, *line);
    char *name;
    int64_t tokens = *line && line[1] == ' ' ? strtoll(line + 2, &name, 10) : 0;
    if (!*line || !kind || tokens <= 0 || *name != ' ')
        return; /* of a node that knows more kinds than we do */
    limit_charge(rates->limits[kind - kind_letters], name + 1, tokens, loop_now_us(rates->loop));
}

static void hear(struct rates *rates, const struct rate_telling *telling)
{
    int64_t *last = map_get_str(rates->heard, telling->node);
    if (last && telling->at_ms <= *last && telling->at_ms > *last - CLOCK_SET_MS)
        return;
    if (!last) {
        last = mem_new(int64_t);
        map_set_str(rates->heard, telling->node, last);
    }
    *last = telling->at_ms;
    if (!rates->has_heard)
        return;
    AUTO_MEM char *copy = mem_strdup(telling->text);
    char *rest = copy;
    for (char *line; (line = strsep(&rest, "\n"));)
        charge_line(rates, line);
}

static enum err exchange_job(struct tx *tx, void *arg)
{
    struct rates *rates = arg;
    return store_rate_exchange(tx, rates->told.data ? rates->told.data : "", &rates->others);
}

static void on_exchanged(void *arg, enum err err)
{
    struct rates *rates = arg;
    rates->is_under_way = false;
    if (err) {
        log_debug("rates.exchange", LOG_S("error", err_name(err)));
        return;
    }
    for (size_t i = 0; i < rates->others.count; i++)
        hear(rates, &rates->others.items[i]);
    rates->has_heard = true;
}

static void on_timer(void *arg)
{
    struct rates *rates = arg;
    timer_set_after(&rates->timer, EXCHANGE_US);
    if (rates->is_under_way)
        return;
    buf_reset(&rates->told);
    struct telling telling = {.rates = rates};
    for (; telling.kind < RATE_COUNT; telling.kind++)
        limit_tell(rates->limits[telling.kind], TOLD_MAX - telling.count, tell, &telling);
    /* In the lane of requests, which gives up after 10 s: older news is of no use. */
    struct store_line line = {.key = FAIR_OPERATOR,
                              .mode = rates->told.len ? STORE_WRITE : STORE_READ,
                              .lane = STORE_REQUESTS};
    rates->is_under_way =
        store_job_for(rates->store, line, exchange_job, rates, rates->loop, on_exchanged) == OK;
}
