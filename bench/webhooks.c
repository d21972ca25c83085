/* What delivering events costs: `webhooks [--waiting N]`.
 *
 *   throughput   events that wait already, to one receiver on loopback; beside the same number of
 *                posts by the HTTP client alone
 *   delay        from an event's commit to its request at the receiver
 *   dead         the same at 500 a second to 99 receivers, without and with a dead one beside them
 *   waiting      memory of the process while N events wait for a receiver that never answers
 *
 * SQLite in a directory of its own , removed at the end. The receiver runs in a thread of this
 * process, whose CPU is counted apart. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ids.h"
#include "base/loop.h"
#include "base/mem.h"
#include "event/delivery.h"
#include "model/agent.h"
#include "model/call.h"
#include "model/event.h"
#include "model/workspace.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/resolver.h"
#include "store/agent.h"
#include "store/call.h"
#include "store/event.h"
#include "store/store.h"
#include "store/workspace.h"

enum {
    THROUGHPUT_EVENTS = 20000,
    DELAY_EVENTS = 1000,
    DELAY_GAP_US = 4000,
    DEAD_EVENTS = 4000,
    DEAD_GAP_US = 2000,
    RECEIVERS = 100,
    BATCH = 1000, /* events a transaction, while they are made */
    CLIENT_AT_ONCE = 64,
    WAIT_S = 300,
};

struct bench {
    struct store *store;
    struct guard *guard;
    struct resolver *resolver;
    struct loop *delivery_loop, *receiver_loop, *writer_loop, *client_loop;
    struct http_server *server;
    struct deliverer *deliverer;
    const char *workspace_id, *agent_id;
    char ids[2][ID_SIZE];
    _Atomic long received;
    _Atomic int64_t receiver_cpu_us;
    int64_t *committed_us, *arrived_us; /* by the event's number */
    long numbers;
    /* The client alone. */
    struct http_client *client;
    char url[64];
    long to_send;
};

static void fail(const char *what)
{
    fprintf(stderr, "bench/webhooks: %s\n", what);
    exit(1);
}

/* The receiver. */

static void on_request(void *arg, struct http_exchange *exchange)
{
    struct bench *bench = arg;
    const struct http_request *request = http_exchange_request(exchange);
    const struct http_answer answer = {.status = 204};
    const char *number = request->body ? strstr(request->body, "\"text\":\"#") : NULL;
    long at = number ? strtol(number + 9, NULL, 10) : -1;
    if (strcmp(request->path, "/dead") == 0)
        return; /* the exchange waits until the process ends */
    if (at >= 0 && at < bench->numbers && bench->arrived_us[at] == 0)
        bench->arrived_us[at] = clock_now_us();
    atomic_store(&bench->receiver_cpu_us, clock_cpu_us());
    http_answer(exchange, &answer);
    atomic_fetch_add(&bench->received, 1);
}

/* Events. */

struct emission {
    struct bench *bench;
    char url[64];
    long first, count;
};

static enum err emit_work(struct tx *tx, void *arg)
{
    struct emission *emission = arg;
    char id[ID_SIZE], text[32];
    uuid_new(id);
    struct call call = {.id = id,
                        .user_id = emission->bench->workspace_id,
                        .agent_id = emission->bench->agent_id,
                        .room_name = "room",
                        .participant_identity = "caller",
                        .metadata = "{}",
                        .metadata_sent = "{\"order\":7}"};
    enum err err = store_call_insert(tx, &call, emission->url, tx->now_ms + 3600000);
    for (long i = 0; i < emission->count && !err; i++) {
        snprintf(text, sizeof(text), "#%ld and so on", emission->first + i);
        err = store_event_emit(tx, id, EVENT_TRANSCRIPT_USER, &(struct event_text){text});
    }
    return err;
}

static void emit_now(struct bench *bench, const char *url, long first, long count)
{
    struct fault fault = {0};
    while (count > 0) {
        struct emission emission = {
            .bench = bench, .first = first, .count = MIN(count, (long)BATCH)};
        snprintf(emission.url, sizeof(emission.url), "%s", url);
        if (store_run(bench->store, STORE_WRITE, emit_work, &emission, &fault) != OK)
            fail(fault.text);
        first += emission.count;
        count -= emission.count;
    }
}

static void emitted(void *arg, enum err err)
{
    struct emission *emission = arg;
    if (err)
        fail("an event was not stored");
    emission->bench->committed_us[emission->first] = clock_now_us();
    mem_free(emission);
}

/* As a call does it: a job, told when it is committed. */
static void emit_later(struct bench *bench, const char *url, long number)
{
    struct emission *emission = mem_new(struct emission);
    emission->bench = bench;
    emission->first = number;
    emission->count = 1;
    snprintf(emission->url, sizeof(emission->url), "%s", url);
    if (store_job(bench->store, STORE_WRITE, emit_work, emission, bench->writer_loop, emitted) !=
        OK)
        fail("the store is busy");
}

/* Building. */

static enum err people_work(struct tx *tx, void *arg)
{
    struct bench *bench = arg;
    struct workspace workspace = {.name = "Bench", .plan = "standard", .balance_usd4 = 1000000};
    enum err err = store_workspace_insert(tx, &workspace);
    if (err)
        return err;
    struct agent agent = {0};
    field_defaults(&agent_table, &agent);
    agent.user_id = workspace.id;
    agent.name = "Bench";
    err = store_agent_insert(tx, &agent);
    snprintf(bench->ids[0], ID_SIZE, "%s", workspace.id);
    snprintf(bench->ids[1], ID_SIZE, "%s", agent.id);
    return err;
}

static void open_all(struct bench *bench, const char *dir)
{
    static const struct http_handler handler = {.on_request = on_request};
    const struct store_config store = {.data_dir = dir, .database_url = ""};
    const struct http_server_config server = {.bind = net_addr_ipv4(0, 0, 0, 0, 0)};
    struct fault fault = {0};
    bench->delivery_loop = loop_new("delivery");
    bench->receiver_loop = loop_new("receiver");
    bench->writer_loop = loop_new("writer");
    if (store_open(&store, &bench->store, &fault) ||
        store_run(bench->store, STORE_WRITE, people_work, bench, &fault) ||
        guard_new("127.0.0.0/8", &bench->guard, &fault) ||
        resolver_new(bench->delivery_loop, bench->guard, NULL, &bench->resolver, &fault) ||
        http_server_open(bench->receiver_loop, &server, &handler, bench, &bench->server, &fault) ||
        loop_start(bench->receiver_loop) || loop_start(bench->writer_loop))
        fail(fault.text);
    bench->workspace_id = bench->ids[0];
    bench->agent_id = bench->ids[1];
}

static void start_delivery(struct bench *bench)
{
    const struct delivery_config config = {
        .loop = bench->delivery_loop, .store = bench->store, .resolver = bench->resolver};
    bench->deliverer = delivery_new(&config);
    if (loop_start(bench->delivery_loop) != OK)
        fail("no thread");
}

static void wait_received(struct bench *bench, long count)
{
    for (long i = 0; i < WAIT_S * 1000L && atomic_load(&bench->received) < count; i++)
        usleep(1000);
    if (atomic_load(&bench->received) < count)
        fail("events are missing");
}

static int64_t process_cpu_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (int64_t)usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec +
           (int64_t)usage.ru_stime.tv_sec * 1000000 + usage.ru_stime.tv_usec;
}

/* The address of receiver i: each has its own, so that each is a receiver to the deliverer too. */
static void receiver_url(struct bench *bench, int i, const char *path, char out[64])
{
    snprintf(out, 64, "http://127.0.0.%d:%u%s", i + 1, http_server_address(bench->server).port,
             path);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void print_delays(struct bench *bench, const char *what)
{
    int64_t *delays = mem_new_n(int64_t, (size_t)bench->numbers);
    size_t count = 0;
    for (long i = 0; i < bench->numbers; i++)
        if (bench->arrived_us[i] && bench->committed_us[i])
            delays[count++] = MAX(bench->arrived_us[i] - bench->committed_us[i], 0);
    qsort(delays, count, sizeof(*delays), compare);
    if (count > 0)
        printf("%-34s p50 %6.2f ms   p99 %6.2f ms   (%zu events)\n", what,
               (double)delays[count / 2] / 1000, (double)delays[count * 99 / 100] / 1000, count);
    mem_free(delays);
}

static void forget_numbers(struct bench *bench, long numbers)
{
    bench->numbers = 0;
    mem_free(bench->committed_us);
    mem_free(bench->arrived_us);
    bench->committed_us = mem_new_n(int64_t, (size_t)numbers);
    bench->arrived_us = mem_new_n(int64_t, (size_t)numbers);
    bench->numbers = numbers;
}

/* The measurements. */

static void print_rate(const char *what, long count, int64_t took_us, int64_t cpu_us)
{
    printf("%-34s %6.0f a second   %5.0f us CPU each\n", what,
           (double)count * 1e6 / (double)took_us, (double)cpu_us / (double)count);
}

static void measure_throughput(struct bench *bench)
{
    char url[64];
    receiver_url(bench, 0, "/hook", url);
    emit_now(bench, url, 0, THROUGHPUT_EVENTS);
    int64_t began_us = clock_now_us(), cpu_us = process_cpu_us();
    int64_t receiver_us = atomic_load(&bench->receiver_cpu_us);
    start_delivery(bench);
    wait_received(bench, THROUGHPUT_EVENTS);
    int64_t took_us = clock_now_us() - began_us;
    receiver_us = atomic_load(&bench->receiver_cpu_us) - receiver_us;
    print_rate("deliveries from the outbox", THROUGHPUT_EVENTS, took_us,
               process_cpu_us() - cpu_us - receiver_us);
}

static void client_next(struct bench *bench);

static void client_done(void *arg, const struct http_fetch_result *result)
{
    struct bench *bench = arg;
    if (result->status != 204)
        fail(result->fault.text);
    client_next(bench);
}

static void client_next(struct bench *bench)
{
    const struct http_fetch_fns fns = {NULL, client_done};
    const struct http_fetch_request request = {.method = "POST",
                                               .url = bench->url,
                                               .body =
                                                   "{\"text\":\"as long as an event is, or so\"}",
                                               .body_len = 40};
    if (bench->to_send-- > 0)
        http_fetch_start(bench->client, &request, &fns, bench);
}

static void client_begin(void *arg)
{
    for (int i = 0; i < CLIENT_AT_ONCE; i++)
        client_next(arg);
}

static void measure_client(struct bench *bench)
{
    struct resolver *resolver = NULL;
    long before = atomic_load(&bench->received);
    bench->client_loop = loop_new("client");
    if (resolver_new(bench->client_loop, bench->guard, NULL, &resolver, NULL) != OK)
        fail("no resolver");
    const struct http_client_config config = {.resolver = resolver};
    bench->client = http_client_new(bench->client_loop, &config);
    bench->to_send = THROUGHPUT_EVENTS;
    receiver_url(bench, 0, "/hook", bench->url);
    int64_t began_us = clock_now_us(), cpu_us = process_cpu_us();
    int64_t receiver_us = atomic_load(&bench->receiver_cpu_us);
    loop_post(bench->client_loop, client_begin, bench);
    if (loop_start(bench->client_loop) != OK)
        fail("no thread");
    wait_received(bench, before + THROUGHPUT_EVENTS);
    int64_t took_us = clock_now_us() - began_us;
    receiver_us = atomic_load(&bench->receiver_cpu_us) - receiver_us;
    print_rate("the HTTP client alone", THROUGHPUT_EVENTS, took_us,
               process_cpu_us() - cpu_us - receiver_us);
}

static void measure_delay(struct bench *bench)
{
    char url[64];
    long before = atomic_load(&bench->received);
    receiver_url(bench, 0, "/hook", url);
    forget_numbers(bench, DELAY_EVENTS);
    for (long i = 0; i < DELAY_EVENTS; i++) {
        emit_later(bench, url, i);
        usleep(DELAY_GAP_US);
    }
    wait_received(bench, before + DELAY_EVENTS);
    print_delays(bench, "commit to request");
}

static void measure_dead(struct bench *bench, bool has_dead)
{
    char url[64];
    long before = atomic_load(&bench->received), living = 0;
    forget_numbers(bench, DEAD_EVENTS);
    for (long i = 0; i < DEAD_EVENTS; i++) {
        int receiver = (int)(i % RECEIVERS);
        bool is_dead = has_dead && receiver == RECEIVERS - 1;
        receiver_url(bench, receiver, is_dead ? "/dead" : "/hook", url);
        emit_later(bench, url, i);
        living += !is_dead;
        usleep(DEAD_GAP_US);
    }
    wait_received(bench, before + living);
    print_delays(bench, has_dead ? "100 receivers, one of them dead" : "100 receivers");
}

static long resident_kb(void)
{
    long kb = 0;
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kb = strtol(line + 6, NULL, 10);
    if (file)
        fclose(file);
    return kb;
}

static void measure_waiting(struct bench *bench, long count)
{
    char url[64];
    receiver_url(bench, RECEIVERS, "/dead", url);
    long before_kb = resident_kb();
    emit_now(bench, url, 0, count);
    long stored_kb = resident_kb(), most_kb = 0;
    delivery_wake(bench->deliverer);
    for (int i = 0; i < 60; i++) {
        usleep(500000);
        most_kb = MAX(most_kb, resident_kb());
    }
    printf("%ld waiting for a dead receiver     %.0f MB resident before, %.0f MB once stored, "
           "%.0f MB at most in 30 s of trying\n",
           count, (double)before_kb / 1024, (double)stored_kb / 1024, (double)most_kb / 1024);
}

int main(int argc, char **argv)
{
    static struct bench bench;
    char dir[64] = "/tmp/earshot-webhooks-XXXXXX";
    long waiting = argc > 2 && strcmp(argv[1], "--waiting") == 0 ? strtol(argv[2], NULL, 10) : 0;
    if (!mkdtemp(dir))
        fail("no directory");
    setlinebuf(stdout);
    open_all(&bench, dir);
    measure_throughput(&bench);
    measure_client(&bench);
    measure_delay(&bench);
    measure_dead(&bench, false);
    measure_dead(&bench, true);
    if (waiting > 0)
        measure_waiting(&bench, waiting);
    char command[96];
    snprintf(command, sizeof(command), "rm -rf '%s'", dir);
    _exit(system(command) != 0);
}
