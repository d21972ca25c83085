/* Commits whose answer is lost: done once, never claimed to be undone. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "await.h"
#include "base/log.h"
#include "store/internal.h"
#include "store/workspace.h"
#include "unit/store/fixture.h"

/* The driver of one connection, whose next commit loses its answer, or never leaves. */
static struct db_ops faulty;
static const struct db_ops *real;
static bool is_sent;
static unsigned lose;
static struct postgres *_Atomic frozen; /* stands still from the lost answer on */

static enum err lossy_commit(struct db *db, struct fault *fault)
{
    if (lose == 0)
        return real->commit(db, fault);
    lose--;
    enum err err = is_sent ? real->commit(db, fault) : OK;
    db->ops = real;
    shutdown(db_pg_socket(db), SHUT_RDWR);
    if (frozen)
        postgres_freeze(frozen, true);
    return err ? err : fault_set(fault, ERR_CLOSED, "the answer was lost");
}

static void make_lossy(struct db *db, bool sends)
{
    real = db->ops;
    faulty = *real;
    faulty.commit = lossy_commit;
    db->ops = &faulty;
    is_sent = sends;
    lose = 1;
}

static enum err credit_one(struct tx *tx, void *arg)
{
    return store_workspace_credit(tx, arg, 1, NULL);
}

static int64_t balance(struct fix *fix)
{
    struct tx *tx = fix_read(fix);
    struct workspace workspace = {0};
    CHECK_INT(store_workspace_get(tx, fix->workspace_id, &workspace), OK);
    fix_rollback(tx);
    return workspace.balance_usd4;
}

static struct postgres *begin_own_server(struct fix *fix)
{
    struct postgres *postgres = postgres_start();
    *fix = (struct fix){.is_pg = true};
    log_set(LOG_ERROR, LOG_LOGFMT, 2);
    fix->arena = arena_new(0);
    snprintf(fix->dir, sizeof(fix->dir), "/tmp/earshot-store-XXXXXX");
    if (!postgres || !mkdtemp(fix->dir) ||
        !postgres_database(postgres, "doubt", fix->url, sizeof(fix->url)))
        return NULL;
    fix->store = fix_open(fix, "", "");
    if (fix->store)
        fix_people(fix);
    return fix->store ? postgres : NULL;
}

/* `earshot workspace credit`: the money is given once, whether or not the commit had taken effect.
 */
TEST(credit_in_doubt_is_given_once)
{
    struct fix fix = {0};
    fix_begin(&fix, true);
    fix_people(&fix);
    struct fault fault = {0};
    for (int sends = 0; sends < 2; sends++) {
        make_lossy(fix.store->direct, sends);
        CHECK_INT(store_run(fix.store, STORE_WRITE, credit_one, (void *)fix.workspace_id, &fault),
                  OK);
        CHECK_INT(lose, 0);
        CHECK_INT(balance(&fix), 100000 + 1 + sends);
    }
    fix_end(&fix);
}

/* Nobody can say what became of it: then that is what is said. */
TEST(credit_that_stays_in_doubt_says_so)
{
    struct fix fix;
    struct postgres *postgres = begin_own_server(&fix);
    REQUIRE(postgres != NULL);
    struct fault fault = {0};
    fix.store->run_us = 1000000;
    frozen = postgres;
    make_lossy(fix.store->direct, true);
    CHECK_INT(store_run(fix.store, STORE_WRITE, credit_one, (void *)fix.workspace_id, &fault),
              ERR_TIMEOUT);
    CHECK_INT(fault.err, ERR_TIMEOUT);
    CHECK(!store_is_transient(fault.err));
    postgres_freeze(postgres, false);
    frozen = NULL;
    CHECK_INT(connection_open(fix.store, 0, &fix.store->direct, &fault), OK);
    CHECK_INT(balance(&fix), 100001);
    fix_end(&fix);
    postgres_stop(postgres);
}

static _Atomic int answer;

static void note(void *arg, enum err err)
{
    (void)arg;
    atomic_store(&answer, (int)err);
}

/* A request is told that nobody knows; the service's own asks on until it is known. */
static void in_doubt(enum store_lane lane)
{
    struct fix fix;
    struct postgres *postgres = begin_own_server(&fix);
    REQUIRE(postgres != NULL);
    AUTO(loop) loop = loop_new("done");
    REQUIRE(loop_start(loop) == OK);
    fix.store->patience_us[lane] = 1500000;
    struct db *db = NULL;
    struct fault fault = {0};
    REQUIRE(connection_open(fix.store, 0, &db, &fault) == OK);
    make_lossy(db, true);
    connection_give(fix.store, db);
    frozen = postgres;
    atomic_store(&answer, -1);
    struct store_line line = {.key = "a", .mode = STORE_WRITE, .lane = lane};
    CHECK_INT(store_job_for(fix.store, line, credit_one, (void *)fix.workspace_id, loop, note), OK);
    (void)AWAITED(atomic_load(&answer) != -1, lane == STORE_OWN ? 4 : 30);
    CHECK_INT(answer, lane == STORE_OWN ? -1 : ERR_TIMEOUT);
    postgres_freeze(postgres, false);
    frozen = NULL;
    AWAIT(atomic_load(&answer) != -1, 30);
    CHECK_INT(answer, lane == STORE_OWN ? OK : ERR_TIMEOUT);
    db_close(fix.store->direct);
    CHECK_INT(connection_open(fix.store, 0, &fix.store->direct, &fault), OK);
    CHECK_INT(balance(&fix), 100001);
    loop_join(loop);
    fix_end(&fix);
    postgres_stop(postgres);
}

TEST(request_in_doubt_is_told_that_nobody_knows)
{
    in_doubt(STORE_REQUESTS);
}

TEST(own_job_in_doubt_asks_until_it_knows)
{
    in_doubt(STORE_OWN);
}
