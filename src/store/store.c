/* The store as a whole: opened, closed, asked what it is. Jobs: job.c. Thread: see store.h. */
#include "store/store.h"

#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/pool.h"
#include "store/internal.h"
#include "store/schema.h"

enum {
    SQLITE_READERS = 3,
    PG_CONNECTIONS = 8,
    CLOSE_US = 5000000, /* for what waits */
};

void store_release(struct store *store)
{
    if (atomic_fetch_sub(&store->users, 1) == 1)
        mem_free(store);
}

/* What is left is for jobs whose answers wait on a loop that runs no more, or later. */
static void store_free(struct store *store)
{
    watches_clear(store);
    db_close(store->direct);
    db_close(store->sqlite.db);
    for (unsigned i = 0; i < CONNECTIONS_MAX; i++)
        db_close(store->idle[i]);
    mem_free(store->data_dir);
    mem_free(store->location);
    crypto_random(store->master_key, sizeof(store->master_key));
    atomic_store(&store->drain.is_begun, true); /* what an answer asks for is refused */
    atomic_store(&store->drain.is_over, true);  /* whoever would be told may be gone */
    store_release(store);
}

/* Migrations, and is it our key? */
static enum err prepare_database(struct store *store, struct fault *fault)
{
    enum err err = connection_open(store, 0, &store->direct, fault);
    if (!err)
        err = schema_migrate(store->direct, fault);
    bool fits = false;
    if (!err)
        err = store_run(store, STORE_WRITE, identity_check, &fits, fault);
    if (!err && !fits)
        err =
            fault_set(fault, ERR_INVALID,
                      "the master key is not the one that this database's secrets are sealed with");
    return err;
}

static enum err start_threads(struct store *store, unsigned connections, struct fault *fault)
{
    store->loop = loop_new("store");
    if (!store->is_pg) {
        enum err err = connection_open(store, 0, &store->sqlite.db, fault);
        if (err)
            return err;
        sqlite_open_pools(store, connections ? connections : SQLITE_READERS);
        sqlite_start(store);
    } else {
        pg_open_pools(store, connections ? connections : PG_CONNECTIONS);
        pg_start(store);
    }
    timer_init(&store->sweep, store->loop, jobs_sweep, store);
    jobs_sweep(store);
    enum err err = loop_start(store->loop);
    store->is_running = !err;
    return err ? fault_set(fault, err, "the store's thread did not start") : OK;
}

static void stop_threads(struct store *store)
{
    int64_t for_ever = INT64_MAX;
    atomic_compare_exchange_strong(&store->drain.end_us, &for_ever, clock_now_us() + CLOSE_US);
    atomic_store(&store->is_closing, true);
    if (store->is_running)
        loop_join(store->loop);
    timer_stop(&store->sweep);
    for (unsigned i = 0; i < STORE_LANES; i++)
        pool_free(store->pools[i]);
    if (store->loop && store->is_pg)
        pg_stop(store);
    else if (store->loop && store->sqlite.db)
        sqlite_stop(store);
    if (store->loop)
        loop_free(store->loop);
}

enum err store_open(const struct store_config *config, struct store **out, struct fault *fault)
{
    struct store *store = mem_new(struct store);
    const char *url = config->database_url;
    list_init(&store->sqlite.group);
    list_init(&store->pg.retrying);
    store->data_dir = mem_strdup(config->data_dir);
    store->starts_later = config->starts_later;
    store->is_pg = url && *url;
    store->run_us = jobs_run_us;
    memcpy(store->patience_us, jobs_patience_us, sizeof(store->patience_us));
    store->location = store->is_pg ? mem_strdup(url) : mem_printf("%s/earshot.db", store->data_dir);
    atomic_store(&store->is_up, true);
    atomic_store(&store->drain.end_us, INT64_MAX);
    atomic_store(&store->drain.under_way, 1);
    atomic_store(&store->users, 1);
    enum err err = OK;
    if (store->is_pg && strncmp(url, "postgres://", 11) != 0 &&
        strncmp(url, "postgresql://", 13) != 0)
        err = fault_set(fault, ERR_INVALID, "the database's URL does not begin with postgres://");
    if (!err)
        err = identity_load(store, config, fault);
    if (!err)
        err = prepare_database(store, fault);
    if (!err)
        err = start_threads(store, config->connections, fault);
    if (err) {
        store_close(store);
        return err;
    }
    *out = store;
    return OK;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    stop_threads(store);
    store_free(store);
}

bool store_is_up(const struct store *store)
{
    return atomic_load(&store->is_up);
}

uint64_t store_commits(const struct store *store)
{
    return atomic_load(&store->commits);
}

bool store_is_postgres(const struct store *store)
{
    return store->is_pg;
}

const char *store_node(const struct store *store)
{
    return store->node;
}

const uint8_t *store_master_key(const struct store *store)
{
    return store->master_key;
}

const char *store_data_dir(const struct store *store)
{
    return store->data_dir;
}

enum err store_describe(struct tx *tx, struct buf *out)
{
    bool is_pg = tx->store->is_pg;
    AUTO(cursor) row = QUERY(tx, is_pg ? "SELECT current_setting('server_version'),"
                                         " pg_database_size(current_database())"
                                       : "SELECT sqlite_version(), page_count * page_size"
                                         " FROM pragma_page_count(), pragma_page_size()");
    if (!cursor_next(row))
        return tx_missing(tx);
    return buf_printf(out, "%s %s, %lld MB, version %d", is_pg ? "postgresql" : "sqlite",
                      cursor_text(row, 0), (long long)(cursor_number(row, 1) / (1024 * 1024)),
                      schema_version());
}
