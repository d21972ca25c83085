/* Whose job goes next, who is refused, and what class a fault has. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "await.h"
#include "base/log.h"
#include "store/internal.h"
#include "unit/store/fixture.h"

enum { ORDER_MAX = 4096 };

/* Jobs that stand at a gate, and who ran in which order behind it. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static char order[ORDER_MAX];
static _Atomic unsigned begun, ran, left, refused;

static enum err note(struct tx *tx, void *arg)
{
    (void)tx;
    atomic_fetch_add(&begun, 1);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    order[atomic_fetch_add(&ran, 1)] = *(const char *)arg;
    return OK;
}

static enum err pass(struct tx *tx, void *arg)
{
    (void)tx, (void)arg;
    return OK;
}

static void count(void *arg, enum err err)
{
    (void)arg;
    atomic_fetch_add(&refused, err == ERR_BUSY);
    atomic_fetch_sub(&left, 1);
}

static bool wait_until(_Atomic unsigned *value, unsigned wanted)
{
    return AWAITED(atomic_load(value) == wanted, 60);
}

/* key: a letter, or "*" for the service's own. */
static enum err ask(struct fix *fix, struct loop *loop, enum store_mode mode, const char *key,
                    store_fn *fn)
{
    struct store_line line = {.key = key, .mode = mode};
    if (*key == '*')
        line = (struct store_line){.mode = mode, .lane = STORE_OWN};
    atomic_fetch_add(&left, 1);
    enum err err = store_job_for(fix->store, line, fn, (void *)key, loop, count);
    if (err)
        atomic_fetch_sub(&left, 1);
    return err;
}

/* One writer: another's job and the service's own wait behind the job that runs and one more. */
TEST(writer_serves_workspaces_in_turn)
{
    struct fix fix = {0};
    fix_begin(&fix, false);
    AUTO(loop) loop = loop_new("done");
    REQUIRE(loop_start(loop) == OK);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < 500; i++)
        CHECK_INT(ask(&fix, loop, STORE_WRITE, "a", note), OK);
    for (int i = 0; i < 3; i++)
        CHECK_INT(ask(&fix, loop, STORE_WRITE, "b", note), OK);
    CHECK_INT(ask(&fix, loop, STORE_WRITE, "*", note), OK);
    pthread_mutex_unlock(&gate);
    CHECK(wait_until(&left, 0));
    CHECK(strchr(order, '*') - order <= 1);
    CHECK(strchr(order, 'b') - order <= 3);
    CHECK_INT(ran, 504);
    loop_join(loop);
    fix_end(&fix);
}

/* While a workspace's jobs hang, others' and the service's own go on. */
static void others_go_on(struct fix *fix, enum store_mode mode)
{
    AUTO(loop) loop = loop_new("done");
    REQUIRE(loop_start(loop) == OK);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < 100; i++)
        CHECK_INT(ask(fix, loop, mode, "a", note), OK);
    for (int i = 0; i < 20; i++)
        CHECK_INT(ask(fix, loop, mode, i % 2 ? "b" : "*", pass), OK);
    CHECK(wait_until(&left, 100));
    pthread_mutex_unlock(&gate);
    CHECK(wait_until(&left, 0));
    CHECK_INT(refused, 0);
    loop_join(loop);
}

STORE_TEST(readers_are_not_held_by_one_workspace)
{
    others_go_on(fix, STORE_READ);
}

TEST(connections_are_not_held_by_one_workspace)
{
    struct fix fix = {0};
    fix_begin(&fix, true);
    others_go_on(&fix, STORE_WRITE);
    fix_end(&fix);
}

STORE_TEST(only_the_workspace_with_too_much_is_refused)
{
    AUTO(loop) loop = loop_new("done");
    REQUIRE(loop_start(loop) == OK);
    pthread_mutex_lock(&gate);
    unsigned taken = 0;
    while (taken < 3000 && !ask(fix, loop, STORE_WRITE, "a", note))
        taken++;
    CHECK(taken >= 1000 && taken <= 1000 + CONNECTIONS_MAX);
    CHECK_INT(ask(fix, loop, STORE_WRITE, "b", note), OK);
    CHECK_INT(ask(fix, loop, STORE_WRITE, "*", note), OK);
    pthread_mutex_unlock(&gate);
    CHECK(wait_until(&left, 0));
    CHECK_INT(ran, taken + 2);
    loop_join(loop);
}

/* Who waits for a request's answer is told in time; the service's own waits on. */
static void wait_too_long(struct fix *fix, enum store_mode mode)
{
    fix->store->patience_us[STORE_REQUESTS] = 300000;
    AUTO(loop) loop = loop_new("done");
    REQUIRE(loop_start(loop) == OK);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < 100; i++)
        CHECK_INT(ask(fix, loop, mode, "a", note), OK);
    unsigned running = fix->is_pg ? 4 : 1;
    CHECK(wait_until(&begun, running));
    for (int i = 0; i < 10; i++)
        CHECK_INT(ask(fix, loop, mode, "*", note), OK);
    CHECK(wait_until(&refused, 100 - running));
    CHECK_INT(left, running + 10);
    pthread_mutex_unlock(&gate);
    CHECK(wait_until(&left, 0));
    CHECK_INT(ran, running + 10);
    loop_join(loop);
}

STORE_TEST(request_that_waits_too_long_is_given_up)
{
    wait_too_long(fix, STORE_WRITE);
}

STORE_TEST(request_that_waits_too_long_to_read_is_given_up)
{
    wait_too_long(fix, STORE_READ);
}

static _Atomic bool is_away;

/* As if the database took no more of this for a while. */
static enum err fails_for_a_while(struct tx *tx, void *arg)
{
    (void)arg;
    if (atomic_load(&is_away))
        fault_set(&tx->fault, ERR_BUSY, "not now");
    return tx_result(tx);
}

/* A hundred requests of a workspace wait for their next attempt, what is more is told at once. */
TEST(a_workspace_has_its_share_of_requests_that_are_tried_again)
{
    enum { ASKED = 400, SHARE = 100 };
    struct fix fix = {0};
    fix_begin(&fix, true);
    fix.store->patience_us[STORE_REQUESTS] = INT64_C(3600000000);
    AUTO(loop) loop = loop_new("done");
    REQUIRE(loop_start(loop) == OK);
    atomic_store(&is_away, true);
    for (int i = 0; i < ASKED; i++)
        CHECK_INT(ask(&fix, loop, STORE_WRITE, "a", fails_for_a_while), OK);
    for (int i = 0; i < 20; i++)
        CHECK_INT(ask(&fix, loop, STORE_WRITE, i % 2 ? "b" : "*", fails_for_a_while), OK);
    CHECK(AWAITED(atomic_load(&refused) > 0, 60));
    atomic_store(&is_away, false);
    CHECK(wait_until(&left, 0));
    CHECK(atomic_load(&refused) <= ASKED - SHARE);
    loop_join(loop);
    fix_end(&fix);
}

/* Classes of faults. */

static enum err twice(struct tx *tx, void *arg)
{
    EXEC(tx, "INSERT INTO counters (name, value) VALUES (?, 1)", TEXT(arg));
    EXEC(tx, "INSERT INTO counters (name, value) VALUES (?, 1)", TEXT(arg));
    return OK;
}

static enum err no_utf8(struct tx *tx, void *arg)
{
    EXEC(tx, "INSERT INTO counters (name, value) VALUES (?, 1)", TEXT(arg));
    return OK;
}

static enum err big(struct tx *tx, void *arg)
{
    (void)arg;
    char *text = arena_alloc(tx->arena, 4 * 1024 * 1024);
    memset(text, 'x', 4 * 1024 * 1024 - 1);
    EXEC(tx, "INSERT INTO counters (name, value) VALUES (?, 1)", TEXT(text));
    return OK;
}

STORE_TEST(what_the_database_refuses_is_permanent)
{
    log_set(LOG_ERROR + 1, LOG_LOGFMT, 2);
    struct fault fault = {0};
    CHECK_INT(store_run(fix->store, STORE_WRITE, twice, (char[]){"a"}, &fault), ERR_INVALID);
    CHECK(!store_is_transient(ERR_INVALID));
    if (fix->is_pg)
        CHECK_INT(store_run(fix->store, STORE_WRITE, no_utf8, (char[]){"\xff\xfe"}, &fault),
                  ERR_INVALID);
}

static enum err reads_on(struct tx *tx, void *arg)
{
    AUTO(cursor) rows = QUERY(tx, "SELECT 1 UNION ALL SELECT 2");
    CHECK(cursor_next(rows));
    fault_set(&tx->fault, ERR_INVALID, "of another statement");
    *(bool *)arg = cursor_next(rows);
    return tx_result(tx);
}

STORE_TEST(a_transaction_that_has_failed_reads_no_more_rows)
{
    log_set(LOG_ERROR + 1, LOG_LOGFMT, 2);
    bool has_read = true;
    struct fault fault = {0};
    CHECK_INT(store_run(fix->store, STORE_READ, reads_on, &has_read, &fault), ERR_INVALID);
    CHECK(!has_read);
}

static enum err writes(struct tx *tx, void *arg)
{
    (void)arg;
    EXEC(tx, "UPDATE workspaces SET balance_usd4 = 0");
    return tx_result(tx);
}

/* A fault of ours: tried again it would be one for ever. */
TEST(a_reading_job_that_writes_is_permanent)
{
    struct fix fix = {0};
    fix_begin(&fix, true);
    log_set(LOG_ERROR + 1, LOG_LOGFMT, 2);
    struct fault fault = {0};
    CHECK_INT(store_run(fix.store, STORE_READ, writes, NULL, &fault), ERR_INVALID);
    CHECK_INT(store_run(fix.store, STORE_WRITE, writes, NULL, &fault), OK);
    fix_end(&fix);
}

TEST(full_disk_is_transient)
{
    struct fix fix = {0};
    fix_begin(&fix, false);
    log_set(LOG_ERROR + 1, LOG_LOGFMT, 2);
    struct db *db = fix.store->direct;
    struct fault fault = {0};
    CHECK_INT(db->ops->script(db, "PRAGMA max_page_count = 100", &fault), OK);
    CHECK(store_is_transient(store_run(fix.store, STORE_WRITE, big, NULL, &fault)));
    CHECK_INT(db->ops->script(db, "PRAGMA max_page_count = 100000", &fault), OK);
    CHECK_INT(store_run(fix.store, STORE_WRITE, big, NULL, &fault), OK);
    fix_end(&fix);
}

TEST(lock_not_had_is_transient)
{
    struct fix fix = {0};
    fix_begin(&fix, true);
    log_set(LOG_ERROR + 1, LOG_LOGFMT, 2);
    struct db *other = NULL;
    struct fault fault = {0};
    int64_t now_ms;
    REQUIRE(connection_open(fix.store, 0, &other, &fault) == OK);
    CHECK_INT(other->ops->begin(other, true, &now_ms, &fault), OK);
    CHECK_INT(other->ops->script(other, "LOCK TABLE counters", &fault), OK);
    fix.store->run_us = 500000;
    CHECK_INT(store_run(fix.store, STORE_WRITE, no_utf8, (char[]){"a"}, &fault), ERR_BUSY);
    other->ops->rollback(other);
    db_close(other);
    fix.store->run_us = jobs_run_us;
    CHECK_INT(store_run(fix.store, STORE_WRITE, no_utf8, (char[]){"a"}, &fault), OK);
    fix_end(&fix);
}

/* What fn says is its own. */

static enum err say(struct tx *tx, void *arg)
{
    (void)tx;
    return *(enum err *)arg;
}

static void hear(void *arg, enum err err)
{
    CHECK_INT(err, *(enum err *)arg);
    atomic_fetch_sub(&left, 1);
}

STORE_TEST(done_gets_what_fn_returned)
{
    static enum err said[ERR_COUNT];
    AUTO(loop) loop = loop_new("done");
    REQUIRE(loop_start(loop) == OK);
    for (int err = 0; err < ERR_COUNT; err++)
        said[err] = (enum err)err;
    for (int mode = STORE_READ; mode <= STORE_WRITE; mode++) {
        for (int err = 0; err < ERR_COUNT; err++) {
            struct store_line line = {.key = "a", .mode = (enum store_mode)mode};
            atomic_fetch_add(&left, 1);
            CHECK_INT(store_job_for(fix->store, line, say, &said[err], loop, hear), OK);
        }
    }
    CHECK(wait_until(&left, 0));
    loop_join(loop);
}
