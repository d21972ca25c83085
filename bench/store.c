/* The store alone: jobs a second, their p50 and p99 from store_job() to done, and CPU a job, with
 * 64 under way; beside an empty job of the same run, because absolute figures belong to one
 * machine. bench/store [sqlite|postgres] [milliseconds a row] */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "model/agent.h"
#include "model/call.h"
#include "model/webhook.h"
#include "model/workspace.h"
#include "store/agent.h"
#include "store/call.h"
#include "store/event.h"
#include "store/outbox.h"
#include "store/page.h"
#include "store/store.h"
#include "store/webhook.h"
#include "store/workspace.h"
#include "unit/store/postgres.h"

enum { UNDER_WAY = 64, AGENTS = 100, LATENCIES_MAX = 2000000, BATCH = 64 };

struct bench {
    struct store *store;
    struct loop *loop;
    char workspace_id[ID_SIZE], agent_id[ID_SIZE], call_id[ID_SIZE];
};

struct row {
    const char *name;
    enum store_mode mode;
    store_fn *fn;
};

struct run {
    struct bench *bench;
    const struct row *row;
    int64_t until_us;
    unsigned open;
    uint32_t count, failed;
    _Atomic uint32_t deliveries; /* settled by deliver() */
    uint32_t *latencies_us;
    _Atomic bool is_dry, is_over;
};

struct one {
    struct run *run;
    int64_t began_us;
};

/* The jobs. */

static struct bench *bench_of(void *arg)
{
    return ((struct one *)arg)->run->bench;
}

static enum err nothing(struct tx *tx, void *arg)
{
    (void)tx, (void)arg;
    return OK;
}

static enum err get_agent(struct tx *tx, void *arg)
{
    struct agent agent;
    return store_agent_get(tx, bench_of(arg)->workspace_id, bench_of(arg)->agent_id, &agent);
}

static enum err list_agents(struct tx *tx, void *arg)
{
    struct page page;
    struct agent agent;
    const struct page_filter filter = {.workspace_id = bench_of(arg)->workspace_id};
    enum err err = store_page(tx, LISTED_AGENTS, &filter, &page);
    for (size_t i = 0; i < page.ids.count && !err; i++)
        err = store_agent_get(tx, filter.workspace_id, page.ids.items[i], &agent);
    return err;
}

static enum err update_agent(struct tx *tx, void *arg)
{
    struct agent agent;
    enum err err =
        store_agent_lock(tx, bench_of(arg)->workspace_id, bench_of(arg)->agent_id, &agent);
    return err ? err : store_agent_update(tx, &agent);
}

static enum err add_turn(struct tx *tx, void *arg)
{
    struct call_turn turn = {TURN_USER, "When do you open on Saturday?", tx->now_ms};
    return store_call_turn(tx, bench_of(arg)->call_id, &turn);
}

static enum err insert_call(struct tx *tx, struct bench *bench, char id[ID_SIZE])
{
    uuid_new(id);
    struct call call = {.id = id,
                        .user_id = bench->workspace_id,
                        .agent_id = bench->agent_id,
                        .room_name = id,
                        .cost_per_minute_usd4 = 600,
                        .participant_identity = "caller-bench",
                        .metadata = "{}",
                        .metadata_sent = "{}"};
    return store_call_insert(tx, &call, "", tx->now_ms + 3600000);
}

static enum err start_and_end(struct tx *tx, void *arg)
{
    char id[ID_SIZE];
    struct call_end end = {.reason = END_API, .ended_wall_ms = tx->now_ms};
    enum err err = insert_call(tx, bench_of(arg), id);
    if (!err)
        err = store_call_started(tx, id);
    return err ? err : store_call_end(tx, id, &end, NULL);
}

static unsigned any_line(const void *arg, const char *workspace_id, const char *line)
{
    (void)arg, (void)workspace_id, (void)line;
    return BATCH;
}

static unsigned any_workspace(const void *arg, const char *workspace_id)
{
    (void)arg, (void)workspace_id;
    return BATCH;
}

/* At most 64 deliveries taken and settled; when none is left the row is over. */
static enum err deliver(struct tx *tx, void *arg)
{
    struct run *run = ((struct one *)arg)->run;
    static struct outbox_turns *turns; /* takes come one by one */
    if (!turns)
        turns = outbox_turns_new();
    const struct outbox_wish wish = {.units = BATCH,
                                     .lease_ms = 10000,
                                     .longest_ms = 15000,
                                     .is_fresh = true,
                                     .line_room = any_line,
                                     .workspace_room = any_workspace};
    struct outbox_taken taken;
    struct outbox_result results[BATCH];
    enum err err = store_outbox_take(tx, turns, &wish, tx->now_ms, &taken);
    for (size_t i = 0; !err && i < taken.count; i++)
        results[i] = (struct outbox_result){
            .id = taken.items[i].id, .attempt = 1, .status = 200, .is_delivered = true};
    if (err)
        return err;
    atomic_fetch_add(&run->deliveries, taken.count);
    if (taken.count == 0)
        atomic_store(&run->is_dry, true);
    return store_outbox_settle(tx, tx->now_ms, results, taken.count);
}

static const struct row rows[] = {
    {"nothing (read)", STORE_READ, nothing},
    {"nothing (write)", STORE_WRITE, nothing},
    {"get agent", STORE_READ, get_agent},
    {"list 100 agents", STORE_READ, list_agents},
    {"update one agent", STORE_WRITE, update_agent},
    {"add turn + event", STORE_WRITE, add_turn},
    {"start + end call", STORE_WRITE, start_and_end},
    {"take and settle 64", STORE_WRITE, deliver},
};

/* Running them. */

static void job_done(void *arg, enum err err);

static void submit(struct run *run)
{
    struct one *one = mem_new(struct one);
    *one = (struct one){run, clock_now_us()};
    char key[2] = {(char)('a' + run->count % 16)}; /* as many workspaces */
    struct store_line line = {.key = key, .mode = run->row->mode};
    run->open++;
    if (store_job_for(run->bench->store, line, run->row->fn, one, run->bench->loop, job_done))
        abort();
}

static void job_done(void *arg, enum err err)
{
    struct one *one = arg;
    struct run *run = one->run;
    int64_t now_us = clock_now_us();
    if (run->count < LATENCIES_MAX)
        run->latencies_us[run->count++] = (uint32_t)(now_us - one->began_us);
    run->failed += err != OK;
    mem_free(one);
    run->open--;
    if (now_us < run->until_us && !run->is_dry)
        submit(run);
    else if (run->open == 0)
        run->is_over = true;
}

static void begin(void *arg)
{
    for (int i = 0; i < UNDER_WAY; i++)
        submit(arg);
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int64_t cpu_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000) +
           usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

static double measure(struct bench *bench, const struct row *row, int64_t for_ms, double empty)
{
    struct run run = {.bench = bench, .row = row};
    run.latencies_us = mem_new_n(uint32_t, LATENCIES_MAX);
    int64_t began_us = clock_now_us(), began_cpu_us = cpu_us();
    run.until_us = began_us + for_ms * 1000;
    loop_post(bench->loop, begin, &run);
    while (!run.is_over)
        usleep(1000);
    double seconds = (double)(clock_now_us() - began_us) / 1e6;
    qsort(run.latencies_us, run.count, sizeof(uint32_t), by_size);
    double rate = run.count / seconds;
    printf("%-18s %9.0f/s  p50 %7.2f ms  p99 %7.2f ms  %7.1f us CPU  %6.2f x empty%s\n", row->name,
           rate, run.latencies_us[run.count / 2] / 1000.0,
           run.latencies_us[run.count * 99UL / 100] / 1000.0,
           (double)(cpu_us() - began_cpu_us) / run.count, empty > 0 ? empty / rate : 1.0,
           run.failed ? "  WITH FAULTS" : "");
    if (run.deliveries)
        printf("%-18s %9.0f/s\n", "  deliveries", run.deliveries / seconds);
    mem_free(run.latencies_us);
    return rate;
}

static enum err populate(struct tx *tx, void *arg)
{
    struct bench *bench = arg;
    struct workspace workspace = {.name = "Bench",
                                  .plan = "standard",
                                  .balance_usd4 = INT64_C(1000000000),
                                  .max_concurrent_calls = 10};
    enum err err = store_workspace_insert(tx, &workspace);
    for (int i = 0; !err && i < AGENTS; i++) {
        struct agent agent = {0};
        field_defaults(&agent_table, &agent);
        agent.user_id = workspace.id;
        agent.name = "Agent";
        agent.system_instruction = "You are the front desk. Answer from the documents, briefly.";
        err = store_agent_insert(tx, &agent);
        snprintf(bench->agent_id, ID_SIZE, "%s", agent.id);
    }
    snprintf(bench->workspace_id, ID_SIZE, "%s", workspace.id);
    static const char *all[] = {"*"};
    struct webhook webhook = {.user_id = workspace.id,
                              .url = "https://example.com/hook",
                              .events = {all, 1},
                              .is_enabled = true,
                              .secret = "whsec_bench"};
    if (!err)
        err = store_webhook_insert(tx, &webhook);
    return err ? err : insert_call(tx, bench, bench->call_id);
}

int main(int argc, char **argv)
{
    bool is_pg = argc > 1 && strcmp(argv[1], "postgres") == 0;
    int64_t for_ms = argc > 2 ? strtoll(argv[2], NULL, 10) : 2000;
    char dir[] = "/var/tmp/earshot-bench-XXXXXX", url[256] = "";
    struct postgres *postgres = is_pg ? postgres_start() : NULL;
    struct fault fault = {0};
    struct bench bench = {0};
    log_set(LOG_ERROR, LOG_LOGFMT, 2);
    if (!mkdtemp(dir) || (is_pg && (!postgres || !postgres_database(postgres, "bench", url, 256))))
        return 1;
    struct store_config config = {.data_dir = dir, .database_url = url};
    if (store_open(&config, &bench.store, &fault) ||
        store_run(bench.store, STORE_WRITE, populate, &bench, &fault)) {
        fprintf(stderr, "%s\n", fault.text);
        return 1;
    }
    bench.loop = loop_new("bench");
    if (loop_start(bench.loop))
        return 1;
    printf("%s, %d under way\n", is_pg ? "postgresql" : "sqlite", UNDER_WAY);
    double empty[2] = {0};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (argc > 3 && !strstr(rows[i].name, argv[3]))
            continue;
        double rate = measure(&bench, &rows[i], for_ms, empty[rows[i].mode]);
        if (rows[i].fn == nothing)
            empty[rows[i].mode] = rate;
    }
    loop_join(bench.loop);
    store_close(bench.store);
    loop_free(bench.loop);
    postgres_stop(postgres);
    AUTO_MEM char *remove = mem_printf("rm -rf %s", dir);
    return system(remove) != 0;
}
