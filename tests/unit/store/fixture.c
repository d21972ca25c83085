/* See fixture.h. The PostgreSQL server is started once, before the runner forks a process for each
 * test, and stopped by the process that started it. */
#include "unit/store/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/pool.h"
#include "store/agent.h"
#include "store/internal.h"
#include "store/schema.h"
#include "store/workspace.h"

#define WITH_TABLES "with_tables"

#ifndef TESTS_AT_ONCE /* a program says so in its meson.build */
#define TESTS_AT_ONCE 1
#endif

static struct postgres *server;

/* The tables are made once; each test's database is a copy. */
static bool make_tables(void)
{
    char url[256];
    struct db *db;
    struct fault fault = {0};
    if (!postgres_database(server, WITH_TABLES, url, sizeof(url)) || db_pg_open(url, &db, &fault))
        return false;
    enum err err = schema_migrate(db, &fault);
    db_close(db);
    return err == OK;
}

__attribute__((constructor)) static void start_server(void)
{
    server = postgres_start();
    if (server && !make_tables()) {
        postgres_stop(server);
        server = NULL;
    }
    test_at_once = TESTS_AT_ONCE; /* most of them wait for a database or a clock */
}

__attribute__((destructor)) static void stop_server(void)
{
    postgres_stop(server);
}

struct postgres *fix_server(void)
{
    return server;
}

struct store *fix_open(struct fix *fix, const char *node, const char *dir_suffix)
{
    AUTO_MEM char *dir = mem_printf("%s%s", fix->dir, dir_suffix);
    struct store_config config = {
        .data_dir = dir,
        .database_url = fix->url,
        .node_name = node,
        .master_key = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
    };
    struct store *store = NULL;
    struct fault fault = {0};
    if (store_open(&config, &store, &fault))
        test_fail(__FILE__, __LINE__, "store_open: %s", fault.text);
    return store;
}

void fix_begin(struct fix *fix, bool is_pg)
{
    log_set(LOG_ERROR, LOG_LOGFMT, 2);
    fix->is_pg = is_pg;
    fix->arena = arena_new(0);
    snprintf(fix->dir, sizeof(fix->dir), "/tmp/earshot-store-XXXXXX");
    CHECK(mkdtemp(fix->dir) != NULL);
    if (is_pg) {
        char name[40];
        random_base62(name, 20);
        CHECK(server && postgres_copy(server, WITH_TABLES, name, fix->url, sizeof(fix->url)));
    }
    fix->store = fix_open(fix, "", "");
    if (!fix->store)
        exit(1);
}

/* Transactions of this test's process: kept to its end, so that what was read can be looked at. */
static struct job *jobs[64];
static size_t jobs_count;

static void free_jobs(void)
{
    while (jobs_count) {
        struct job *job = jobs[--jobs_count];
        arena_free(job->tx.arena);
        mem_free(job);
    }
}

void fix_end(struct fix *fix)
{
    store_close(fix->store);
    free_jobs();
    arena_free(fix->arena);
    AUTO_MEM char *remove = mem_printf("rm -rf %s*", fix->dir);
    CHECK_INT(system(remove), 0);
}

static struct tx *begin(struct fix *fix, enum store_mode mode)
{
    if (jobs_count == ARRAY_LEN(jobs)) /* a test that looks often: the oldest have been looked at */
        free_jobs();
    struct job *job = jobs[jobs_count++] = mem_new(struct job);
    *job = (struct job){.store = fix->store, .mode = mode};
    struct db *db = fix->store->direct;
    int64_t now_ms = 0;
    struct fault fault = {0};
    if (db->ops->begin(db, mode == STORE_WRITE, &now_ms, &fault))
        test_fail(__FILE__, __LINE__, "begin: %s", fault.text);
    job_tx_init(job, db, now_ms + fix->ahead_ms);
    return &job->tx;
}

struct tx *fix_write(struct fix *fix)
{
    return begin(fix, STORE_WRITE);
}

struct tx *fix_read(struct fix *fix)
{
    return begin(fix, STORE_READ);
}

enum err fix_commit(struct tx *tx)
{
    struct db *db = tx->db;
    enum err err = tx->fault.err;
    if (!err && tx->store->is_pg)
        err = pg_notify(tx);
    if (!err)
        err = db->ops->commit(db, &tx->fault);
    if (err) {
        test_fail(__FILE__, __LINE__, "commit: %s", tx->fault.text);
        db->ops->rollback(db);
    } else {
        watch_tell(tx->store, tx->changed);
    }
    return err;
}

void fix_rollback(struct tx *tx)
{
    if (tx->fault.err)
        test_fail(__FILE__, __LINE__, "fault: %s", tx->fault.text);
    tx->db->ops->rollback(tx->db);
}

void fix_people_in(struct fix *fix, struct tx *tx)
{
    struct workspace workspace = {
        .name = "Acme", .plan = "standard", .balance_usd4 = 100000, .max_concurrent_calls = 5};
    CHECK_INT(store_workspace_insert(tx, &workspace), OK);
    struct agent agent = {0};
    field_defaults(&agent_table, &agent);
    agent.user_id = workspace.id;
    agent.name = "Front desk";
    agent.webhook_url = "https://example.com/agent";
    CHECK_INT(store_agent_insert(tx, &agent), OK);
    fix->workspace_id = arena_strdup(fix->arena, workspace.id);
    fix->agent_id = arena_strdup(fix->arena, agent.id);
}

struct db *fix_old(struct fix *fix, const char *name, int version)
{
    struct db *db = NULL;
    struct fault fault = {0};
    char url[300];
    snprintf(url, sizeof(url), "%s/%s.db", fix->dir, name);
    if (fix->is_pg && !CHECK(postgres_database(fix_server(), name, url, sizeof(url))))
        return NULL;
    (void)!(fix->is_pg ? db_pg_open(url, &db, &fault) : db_sqlite_open(url, 0, &db, &fault));
    if (db)
        CHECK_INT(schema_migrate_to(db, version, &fault), OK);
    CHECK_TEXT(fault.text, "");
    return db;
}

void fix_people(struct fix *fix)
{
    struct tx *tx = fix_write(fix);
    fix_people_in(fix, tx);
    CHECK_INT(fix_commit(tx), OK);
}

bool fix_wait(struct fix_wait *wait)
{
    enum { PAUSE_US = 10000, NEVER_US = 90 * 1000 * 1000 };
    int64_t now_us = clock_now_us();
    if (!wait->until_us)
        wait->until_us = now_us + NEVER_US;
    usleep(PAUSE_US);
    return now_us < wait->until_us;
}
