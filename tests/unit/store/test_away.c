/* A database that does not answer: frozen, or held by another. Nobody waits for it for ever, and
 * nobody waits for another's rows. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "await.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/internal.h"
#include "store/node.h"
#include "unit/store/fixture.h"

enum { PATIENCE_US = 1500000 };

struct tally {
    _Atomic unsigned left, ok, busy, other;
};

static void count(void *arg, enum err err)
{
    struct tally *tally = arg;
    atomic_fetch_add(err == OK ? &tally->ok : err == ERR_BUSY ? &tally->busy : &tally->other, 1);
    atomic_fetch_sub(&tally->left, 1);
}

static bool wait_for(struct tally *tally, unsigned left)
{
    return AWAITED(atomic_load(&tally->left) == left, 60);
}

static void ask(struct store *store, struct store_line line, store_fn *fn, struct loop *loop,
                struct tally *tally)
{
    atomic_fetch_add(&tally->left, 1);
    if (store_job_for(store, line, fn, tally, loop, count))
        count(tally, ERR_BUSY);
}

static enum err add_one(struct tx *tx, void *arg)
{
    (void)arg;
    EXEC(tx, "INSERT INTO counters (name, value) VALUES ('n', 1)"
             " ON CONFLICT (name) DO UPDATE SET value = counters.value + 1");
    return OK;
}

static enum err touch_nothing(struct tx *tx, void *arg)
{
    (void)arg;
    EXEC(tx, "UPDATE counters SET value = 0 WHERE name = 'another'");
    return OK;
}

static enum err look(struct tx *tx, void *arg)
{
    (void)arg;
    (void)QUERY_NUMBER(tx, 0, "SELECT value FROM counters WHERE name = 'n'");
    return OK;
}

static int64_t counted(struct fix *fix)
{
    struct tx *tx = fix_read(fix);
    int64_t n = QUERY_NUMBER(tx, 0, "SELECT value FROM counters WHERE name = 'n'");
    fix_rollback(tx);
    return n;
}

/* A server of the test's own, which may be frozen. */
static struct postgres *begin_own_server(struct fix *fix)
{
    struct postgres *postgres = postgres_start();
    *fix = (struct fix){.is_pg = true};
    log_set(LOG_ERROR, LOG_LOGFMT, 2);
    fix->arena = arena_new(0);
    snprintf(fix->dir, sizeof(fix->dir), "/tmp/earshot-store-XXXXXX");
    if (!postgres || !mkdtemp(fix->dir) ||
        !postgres_database(postgres, "away", fix->url, sizeof(fix->url)))
        return NULL;
    fix->store = fix_open(fix, "", "");
    return fix->store ? postgres : NULL;
}

TEST(frozen_server_holds_no_request_for_long)
{
    struct fix fix;
    struct postgres *postgres = begin_own_server(&fix);
    REQUIRE(postgres != NULL);
    AUTO(loop) loop = loop_new("done");
    REQUIRE(loop_start(loop) == OK);
    fix.store->patience_us[STORE_REQUESTS] = PATIENCE_US;
    struct tally warm = {0}, requests = {0}, own = {0};
    struct store_line write = {.key = "a", .mode = STORE_WRITE};
    struct store_line read = {.key = "b", .mode = STORE_READ};
    struct store_line journal = {.key = "a", .mode = STORE_WRITE, .lane = STORE_OWN};
    for (int i = 0; i < 20; i++) /* connections with prepared statements */
        ask(fix.store, i % 2 ? write : read, i % 2 ? add_one : look, loop, &warm);
    CHECK(wait_for(&warm, 0));
    CHECK_INT(warm.ok, 20);
    postgres_freeze(postgres, true);
    int64_t began_us = clock_now_us();
    for (int i = 0; i < 40; i++)
        ask(fix.store, i % 2 ? write : read, i % 2 ? add_one : look, loop, &requests);
    for (int i = 0; i < 10; i++)
        ask(fix.store, journal, add_one, loop, &own);
    CHECK(wait_for(&requests, 0));
    CHECK(clock_now_us() - began_us < 7 * PATIENCE_US); /* one after the other: 40 */
    CHECK_INT(requests.busy, 40);
    CHECK(!store_is_up(fix.store));
    CHECK_INT(own.left, 10);
    postgres_freeze(postgres, false);
    CHECK(wait_for(&own, 0));
    CHECK_INT(own.ok, 10);
    db_close(fix.store->direct);
    struct fault fault = {0};
    CHECK_INT(connection_open(fix.store, 0, &fix.store->direct, &fault), OK);
    CHECK_INT(counted(&fix), 10 + 10);
    loop_join(loop);
    fix_end(&fix);
    postgres_stop(postgres);
}

/* SIGTERM while the server is frozen: what waits is given up, the process can end. */
TEST(frozen_server_does_not_hold_the_end)
{
    struct fix fix;
    struct postgres *postgres = begin_own_server(&fix);
    REQUIRE(postgres != NULL);
    struct loop *loop = loop_new("done");
    REQUIRE(loop_start(loop) == OK);
    struct tally own = {0};
    struct store_line journal = {.key = "a", .mode = STORE_WRITE, .lane = STORE_OWN};
    ask(fix.store, journal, add_one, loop, &own);
    CHECK(wait_for(&own, 0));
    postgres_freeze(postgres, true);
    for (int i = 0; i < 20; i++)
        ask(fix.store, journal, add_one, loop, &own);
    int64_t began_us = clock_now_us();
    store_close(TAKE(fix.store));
    CHECK(clock_now_us() - began_us < 40000000);
    CHECK(wait_for(&own, 0));
    CHECK_INT(own.ok, 1);
    loop_join(loop);
    loop_free(loop);
    postgres_freeze(postgres, false);
    fix_end(&fix);
    postgres_stop(postgres);
}

/* One row is locked by somebody: whoever wants it waits and is told, everybody else goes on. */
TEST(locked_row_holds_only_its_own)
{
    struct fix fix = {0};
    fix_begin(&fix, true);
    AUTO(loop) loop = loop_new("done");
    REQUIRE(loop_start(loop) == OK);
    fix.store->patience_us[STORE_REQUESTS] = PATIENCE_US;
    struct store_line locked = {.key = "a", .mode = STORE_WRITE};
    struct store_line other = {.key = "b", .mode = STORE_WRITE};
    struct store_line own_locked = {.key = "a", .mode = STORE_WRITE, .lane = STORE_OWN};
    struct store_line own_other = {.key = "b", .mode = STORE_WRITE, .lane = STORE_OWN};
    struct store_line lease = {.mode = STORE_WRITE, .lane = STORE_LEASE};
    struct tally first = {0}, hit = {0}, calls = {0}, free_to_go = {0};
    ask(fix.store, locked, add_one, loop, &first);
    CHECK(wait_for(&first, 0));
    struct db *holder = NULL;
    struct fault fault = {0};
    int64_t now_ms;
    REQUIRE(connection_open(fix.store, 0, &holder, &fault) == OK);
    CHECK_INT(holder->ops->begin(holder, true, &now_ms, &fault), OK);
    CHECK_INT(holder->ops->script(holder, "SELECT * FROM counters FOR UPDATE", &fault), OK);
    for (int i = 0; i < 30; i++) {
        ask(fix.store, locked, add_one, loop, &hit);
        ask(fix.store, own_locked, add_one, loop, &calls);
    }
    for (int i = 0; i < 30; i++) {
        ask(fix.store, other, touch_nothing, loop, &free_to_go);
        ask(fix.store, own_other, touch_nothing, loop, &free_to_go);
        ask(fix.store, lease, touch_nothing, loop, &free_to_go);
    }
    CHECK(wait_for(&free_to_go, 0));
    CHECK_INT(free_to_go.ok, 90);
    CHECK(wait_for(&hit, 0));
    CHECK_INT(hit.busy, 30);
    CHECK_INT(calls.left, 30);
    CHECK(store_is_up(fix.store));
    holder->ops->rollback(holder);
    CHECK(wait_for(&calls, 0));
    CHECK_INT(calls.ok, 30);
    CHECK_INT(counted(&fix), 31);
    db_close(holder);
    loop_join(loop);
    fix_end(&fix);
}

/* Another process holds the file: requests are told in time, the service's own waits for it. */
TEST(file_held_by_another_process)
{
    struct fix fix = {0};
    fix_begin(&fix, false);
    struct loop *loop = loop_new("done");
    REQUIRE(loop_start(loop) == OK);
    fix.store->patience_us[STORE_REQUESTS] = PATIENCE_US;
    struct store_line write = {.key = "a", .mode = STORE_WRITE};
    struct store_line read = {.key = "a", .mode = STORE_READ};
    struct store_line journal = {.mode = STORE_WRITE, .lane = STORE_OWN};
    struct tally requests = {0}, reads = {0}, own = {0};
    struct db *holder = fix.store->direct;
    struct fault fault = {0};
    int64_t now_ms;
    CHECK_INT(holder->ops->begin(holder, true, &now_ms, &fault), OK);
    for (int i = 0; i < 20; i++) {
        ask(fix.store, journal, add_one, loop, &own);
        ask(fix.store, write, add_one, loop, &requests);
        ask(fix.store, read, look, loop, &reads);
    }
    CHECK(wait_for(&reads, 0));
    CHECK_INT(reads.ok, 20);
    CHECK(wait_for(&requests, 0));
    CHECK_INT(requests.busy, 20);
    CHECK_INT(own.left, 20);
    holder->ops->rollback(holder);
    CHECK(wait_for(&own, 0));
    CHECK_INT(own.ok, 20);
    CHECK_INT(counted(&fix), 20);
    CHECK_INT(holder->ops->begin(holder, true, &now_ms, &fault), OK);
    ask(fix.store, journal, add_one, loop, &own);
    atomic_store(&fix.store->drain.end_us, clock_now_us() + 300000);
    CHECK(wait_for(&own, 0)); /* the store's end comes first */
    CHECK_INT(own.busy, 1);
    holder->ops->rollback(holder);
    fix_end(&fix);
    loop_join(loop);
    loop_free(loop);
}
