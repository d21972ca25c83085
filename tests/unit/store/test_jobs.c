/* Jobs: answered after their commit, many at once, through kill -9 and a database that goes away.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "await.h"
#include "base/log.h"
#include "store/agent.h"
#include "store/internal.h"
#include "store/schema.h"
#include "store/workspace.h"
#include "unit/store/fixture.h"

struct step {
    struct fix *fix;
    _Atomic unsigned *left, *failed;
    bool refuses;
};

/* Reads, thinks, writes: loses updates unless the row is held. */
static enum err count_up(struct tx *tx, void *arg)
{
    struct step *step = arg;
    struct agent agent;
    enum err err = store_agent_lock(tx, step->fix->workspace_id, step->fix->agent_id, &agent);
    if (err)
        return err;
    agent.system_instruction =
        arena_printf(tx->arena, "%lld", strtoll(agent.system_instruction, NULL, 10) + 1);
    err = store_agent_update(tx, &agent);
    return err ? err : step->refuses ? ERR_CONFLICT : OK;
}

static void count_done(void *arg, enum err err)
{
    struct step *step = arg;
    if (err != (step->refuses ? ERR_CONFLICT : OK))
        atomic_fetch_add(step->failed, 1);
    atomic_fetch_sub(step->left, 1);
}

static int64_t counted(struct fix *fix)
{
    struct tx *tx = fix_read(fix);
    struct agent agent = {0};
    CHECK_INT(store_agent_get(tx, fix->workspace_id, fix->agent_id, &agent), OK);
    fix_rollback(tx);
    return strtoll(agent.system_instruction, NULL, 10);
}

STORE_TEST(two_hundred_parallel_writers_lose_no_update)
{
    enum { WRITERS = 200, ROUNDS = 3 };
    fix_people(fix);
    AUTO(loop) loop = loop_new("done");
    REQUIRE(loop_start(loop) == OK);
    _Atomic unsigned left = WRITERS * ROUNDS, failed = 0;
    static struct step steps[WRITERS * ROUNDS];
    for (int i = 0; i < WRITERS * ROUNDS; i++) {
        steps[i] = (struct step){fix, &left, &failed, i % 4 == 3};
        CHECK_INT(store_job(fix->store, STORE_WRITE, count_up, &steps[i], loop, count_done), OK);
    }
    AWAIT(atomic_load(&left) == 0, 60);
    CHECK_INT(failed, 0);
    CHECK_INT(counted(fix), WRITERS * ROUNDS * 3 / 4); /* refused ones left nothing */
    loop_join(loop);
}

static enum err read_workspace(struct tx *tx, void *arg)
{
    struct step *step = arg;
    struct workspace workspace;
    return store_workspace_get(tx, step->fix->workspace_id, &workspace);
}

STORE_TEST(readers_see_what_was_answered)
{
    enum { READS = 500 };
    fix_people(fix);
    AUTO(loop) loop = loop_new("done");
    REQUIRE(loop_start(loop) == OK);
    _Atomic unsigned left = READS, failed = 0;
    struct step step = {fix, &left, &failed, false};
    for (int i = 0; i < READS; i++)
        CHECK_INT(store_job(fix->store, STORE_READ, read_workspace, &step, loop, count_done), OK);
    AWAIT(atomic_load(&left) == 0, 30);
    CHECK_INT(failed, 0);
    loop_join(loop);
}

static enum err bad_sql(struct tx *tx, void *arg)
{
    (void)arg;
    EXEC(tx, "UPDATE workspaces SET balance_usd4 = 0");
    EXEC(tx, "INSERT INTO nowhere (a) VALUES (1)");
    EXEC(tx, "UPDATE workspaces SET balance_usd4 = 1");
    return OK;
}

STORE_TEST(database_fault_undoes_the_job)
{
    fix_people(fix);
    log_set(LOG_ERROR + 1, LOG_LOGFMT, 2);
    struct fault fault = {0};
    CHECK_INT(store_run(fix->store, STORE_WRITE, bad_sql, NULL, &fault), ERR_INVALID);
    CHECK(strstr(fault.text, "nowhere") != NULL);
    struct tx *tx = fix_read(fix);
    struct workspace workspace;
    CHECK_INT(store_workspace_get(tx, fix->workspace_id, &workspace), OK);
    CHECK_INT(workspace.balance_usd4, 100000);
    fix_rollback(tx);
}

static void note_topics(void *arg, unsigned topics)
{
    atomic_fetch_or((_Atomic unsigned *)arg, topics);
}

static enum err credit_one(struct tx *tx, void *arg)
{
    return store_workspace_credit(tx, arg, 1, NULL);
}

/* A command-line program credits a workspace beside the service. */
STORE_TEST(change_by_another_process_is_noticed)
{
    fix_people(fix);
    AUTO(loop) loop = loop_new("watch");
    _Atomic unsigned seen = 0;
    struct store_watch *watch = store_watch(fix->store, STORE_BALANCE, loop, note_topics, &seen);
    REQUIRE(loop_start(loop) == OK);
    struct store *other = fix_open(fix, "node-b", fix->is_pg ? "-b" : "");
    struct fault fault = {0};
    REQUIRE(other != NULL);
    CHECK_INT(store_run(other, STORE_WRITE, credit_one, (void *)fix->workspace_id, &fault), OK);
    AWAIT(atomic_load(&seen) != 0, 30);
    CHECK_INT(seen, STORE_BALANCE);
    store_close(other);
    loop_join(loop);
    store_unwatch(watch);
}

static void count_told(void *arg, unsigned topics)
{
    (void)topics;
    atomic_fetch_add((_Atomic unsigned *)arg, 1);
}

static unsigned break_listener(struct fix *fix)
{
    struct tx *tx = fix_write(fix);
    int64_t broken = QUERY_NUMBER(tx, 0,
                                  "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity"
                                  " WHERE datname = current_database() AND query = ?",
                                  TEXT("LISTEN earshot"));
    CHECK_INT(fix_commit(tx), OK);
    return (unsigned)broken;
}

/* Told when the connection breaks, and again when there is another: what changed between the two
 * was told to nobody. Two that fall together are one; then it is broken once more. */
TEST(what_changed_while_nobody_listened_is_told_on_postgres)
{
    struct fix fix = {0};
    fix_begin(&fix, true);
    AUTO(loop) loop = loop_new("watch");
    _Atomic unsigned told = 0;
    unsigned broken = 0;
    struct store_watch *watch = store_watch(fix.store, STORE_BALANCE, loop, count_told, &told);
    REQUIRE(loop_start(loop) == OK);
    for (int i = 0; i < 6 && told <= broken; i++) {
        broken += break_listener(&fix);
        (void)AWAITED(told > broken, 10);
    }
    CHECK(told > broken);
    loop_join(loop);
    store_unwatch(watch);
    fix_end(&fix);
}

/* Kill -9. */

struct writer {
    struct fix *fix;
    int pipe;
    _Atomic unsigned left, failed;
};

static void tell_done(void *arg, enum err err)
{
    struct writer *writer = arg;
    char c = err ? 'x' : '.';
    if (write(writer->pipe, &c, 1) != 1)
        _exit(3);
}

static enum err count_up_once(struct tx *tx, void *arg)
{
    struct writer *writer = arg;
    _Atomic unsigned none = 0;
    struct step step = {writer->fix, &none, &none, false};
    return count_up(tx, &step);
}

static void write_until_killed(struct fix *fix, int pipe)
{
    struct fix own = *fix;
    own.store = fix_open(fix, "writer", "");
    struct writer writer = {.fix = &own, .pipe = pipe};
    AUTO(loop) loop = loop_new("done");
    if (!own.store || loop_start(loop))
        _exit(2);
    for (;;) {
        if (store_job(own.store, STORE_WRITE, count_up_once, &writer, loop, tell_done))
            usleep(1000);
        usleep(200);
    }
}

/* So many answers of the child, or all until it ends. */
static int64_t answers_of(int pipe, int64_t most)
{
    int64_t count = 0;
    char text[4096];
    ssize_t n = 1;
    for (; n > 0 && count < most; count += MAX(n, (ssize_t)0))
        n = read(pipe, text, MIN((int64_t)sizeof(text), most - count));
    return count;
}

STORE_TEST(what_was_answered_survives_kill_9)
{
    fix_people(fix);
    int64_t answered = 0;
    store_close(fix->store); /* a process with threads cannot be forked */
    for (int round = 0; round < 3; round++) {
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        pid_t pid = fork();
        if (pid == 0)
            write_until_killed(fix, ends[1]);
        close(ends[1]);
        int64_t first = answers_of(ends[0], 50 + 37 * round); /* it is in the midst of it */
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        CHECK(first > 0);
        answered += first + answers_of(ends[0], INT64_MAX);
        close(ends[0]);
    }
    fix->store = fix_open(fix, "", "");
    int64_t found = counted(fix);
    CHECK(found >= answered);
    CHECK(found <= answered + 3 * 300); /* committed, but not told before the end */
}

/* A server that goes away. */

TEST(database_away_loses_and_doubles_nothing)
{
    enum { JOBS = 400 };
    struct fix fix = {.is_pg = true};
    struct postgres *postgres = postgres_start();
    REQUIRE(postgres != NULL);
    log_set(LOG_ERROR, LOG_LOGFMT, 2);
    fix.arena = arena_new(0);
    snprintf(fix.dir, sizeof(fix.dir), "/tmp/earshot-store-XXXXXX");
    REQUIRE(mkdtemp(fix.dir) != NULL);
    REQUIRE(postgres_database(postgres, "away", fix.url, sizeof(fix.url)));
    fix.store = fix_open(&fix, "", "");
    REQUIRE(fix.store != NULL);
    fix_people(&fix);
    AUTO(loop) loop = loop_new("done");
    REQUIRE(loop_start(loop) == OK);
    _Atomic unsigned left = JOBS, failed = 0;
    struct step step = {&fix, &left, &failed, false};
    for (int i = 0; i < JOBS; i++) {
        CHECK_INT(store_job(fix.store, STORE_WRITE, count_up, &step, loop, count_done), OK);
        if (i == JOBS / 4 || i == JOBS / 2) {
            postgres_crash(postgres);
            AWAIT(i == JOBS / 4 || !store_is_up(fix.store), 60);
            REQUIRE(postgres_again(postgres));
        }
    }
    AWAIT(atomic_load(&left) == 0, 60);
    CHECK_INT(failed, 0);
    db_close(fix.store->direct); /* it was cut as well */
    struct fault fault = {0};
    CHECK_INT(connection_open(fix.store, 0, &fix.store->direct, &fault), OK);
    CHECK_INT(counted(&fix), JOBS);
    CHECK(store_is_up(fix.store));
    loop_join(loop);
    fix_end(&fix);
    postgres_stop(postgres);
}

/* A crashing server says goodbye in a warning. What is sent after it fails to go out, and libpq
 * still calls the connection a good one. */
TEST(connection_lost_between_statements_is_closed)
{
    struct postgres *postgres = postgres_start();
    REQUIRE(postgres != NULL);
    char url[256];
    REQUIRE(postgres_database(postgres, "lost", url, sizeof(url)));
    static const struct db_value none[] = {{.type = DB_END}};
    static const char write[] = "CREATE TABLE lost (a BIGINT)";
    enum { IDLE, SCRIPT, QUERY, PREPARED, COMMIT, OUTCOME, WAYS };
    struct db *db[WAYS];
    struct rows *rows;
    struct fault fault = {0};
    int64_t now_ms;
    for (int i = 0; i < WAYS; i++) {
        REQUIRE(db_pg_open(url, &db[i], &fault) == OK);
        if (i == IDLE)
            CHECK_INT(schema_migrate(db[i], &fault), OK);
        else if (i != OUTCOME)
            CHECK_INT(db[i]->ops->begin(db[i], true, &now_ms, &fault), OK);
    }
    REQUIRE(db[PREPARED]->ops->query(db[PREPARED], "SELECT 1", none, &rows, &fault) == OK);
    db[PREPARED]->ops->rows_close(rows);
    postgres_crash(postgres);
    CHECK_INT(db[IDLE]->ops->begin(db[IDLE], false, &now_ms, &fault), ERR_CLOSED);
    CHECK_INT(db[SCRIPT]->ops->script(db[SCRIPT], write, &fault), ERR_CLOSED);
    CHECK_INT(db[QUERY]->ops->query(db[QUERY], "SELECT 1", none, &rows, &fault), ERR_CLOSED);
    CHECK_INT(db[PREPARED]->ops->query(db[PREPARED], "SELECT 1", none, &rows, &fault), ERR_CLOSED);
    CHECK_INT(db[COMMIT]->ops->commit(db[COMMIT], &fault), ERR_CLOSED);
    CHECK_INT(db[OUTCOME]->ops->outcome(db[OUTCOME], "slot_x 1", &fault), ERR_CLOSED);
    for (int i = 0; i < WAYS; i++)
        db_close(db[i]);
    postgres_stop(postgres);
}

/* Whoever asks for the outcome of a commit settles it: it took effect, or it never will. */
TEST(commit_in_doubt_is_settled_by_asking)
{
    struct fix fix = {0};
    fix_begin(&fix, true);
    struct db *writer = NULL, *asker = NULL;
    struct fault fault = {0};
    int64_t now_ms;
    REQUIRE(connection_open(fix.store, 0, &writer, &fault) == OK);
    REQUIRE(connection_open(fix.store, 0, &asker, &fault) == OK);
    static const char insert[] = "INSERT INTO counters (name, value) VALUES ('a', 1)";
    CHECK_INT(writer->ops->begin(writer, true, &now_ms, &fault), OK);
    CHECK_INT(writer->ops->script(writer, insert, &fault), OK);
    char first[DB_TRANSACTION_SIZE], second[DB_TRANSACTION_SIZE];
    snprintf(first, sizeof(first), "%s", writer->ops->transaction(writer));
    CHECK_INT(writer->ops->commit(writer, &fault), OK);
    CHECK_INT(asker->ops->outcome(asker, first, &fault), OK);
    CHECK_INT(asker->ops->outcome(asker, first, &fault), OK); /* the answer may have been lost */

    CHECK_INT(writer->ops->begin(writer, true, &now_ms, &fault), OK);
    CHECK_INT(writer->ops->script(writer, "DELETE FROM counters WHERE name = 'a'", &fault), OK);
    snprintf(second, sizeof(second), "%s", writer->ops->transaction(writer));
    CHECK(strcmp(first, second) != 0);
    CHECK_INT(asker->ops->outcome(asker, second, &fault), ERR_NOT_FOUND);
    CHECK_INT(asker->ops->outcome(asker, second, &fault), ERR_NOT_FOUND);
    CHECK_INT(writer->ops->commit(writer, &fault), ERR_AGAIN); /* too late: given up for lost */
    writer->ops->rollback(writer);
    CHECK_INT(asker->ops->begin(asker, false, &now_ms, &fault), OK);
    struct tx tx = {.arena = fix.arena, .db = asker};
    CHECK_INT(QUERY_NUMBER(&tx, 0, "SELECT COUNT(*) FROM counters WHERE name = 'a'"), 1);
    asker->ops->rollback(asker);
    CHECK_INT(writer->ops->begin(writer, true, &now_ms, &fault), OK); /* and goes on afresh */
    CHECK_INT(writer->ops->commit(writer, &fault), OK);
    db_close(writer);
    db_close(asker);
    fix_end(&fix);
}

/* Several processes start on one empty database. */
STORE_TEST(concurrent_starts_migrate_once)
{
    pid_t pids[6];
    store_close(fix->store);
    if (fix->is_pg)
        REQUIRE(postgres_database(fix_server(), "fresh", fix->url, sizeof(fix->url)));
    for (int i = 0; i < 6; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            struct store *store = fix_open(fix, "node-x", "-fresh");
            store_close(store);
            _exit(store ? 0 : 1);
        }
    }
    for (int i = 0; i < 6; i++) {
        int status = -1;
        waitpid(pids[i], &status, 0);
        CHECK_INT(status, 0);
    }
    fix->store = fix_open(fix, "node-x", "-fresh");
}

static enum err holds_too_much(struct tx *tx, void *arg)
{
    const char *const *id = arg;
    struct agent agent;
    (void)arena_alloc(tx->arena, JOB_ARENA_BYTES + 1);
    enum err err = store_agent_get(tx, *id, *id, &agent);
    CHECK_INT(err, ERR_IO);
    return OK;
}

/* The size of what tenants store ends a job, never the process. */
STORE_TEST(a_job_that_holds_too_much_fails_and_the_next_runs)
{
    fix_people(fix);
    struct fault fault = {0};
    CHECK_INT(store_run(fix->store, STORE_READ, holds_too_much, &fix->agent_id, &fault), ERR_LIMIT);
    CHECK_TEXT(fault.text, "a job would hold more than 128 MB");
    struct step step = {.fix = fix};
    CHECK_INT(store_run(fix->store, STORE_READ, read_workspace, &step, NULL), OK);
}

static enum err never_through(struct tx *tx, void *arg)
{
    (void)tx;
    ++*(int *)arg;
    return ERR_AGAIN;
}

STORE_TEST(a_job_that_never_gets_through_is_given_up_after_twenty_tries)
{
    int tries = 0;
    struct fault fault = {0};
    CHECK_INT(store_run(fix->store, STORE_WRITE, never_through, &tries, &fault), ERR_AGAIN);
    CHECK_INT(tries, 20);
}

struct late {
    struct fix *fix;
    struct store *store;
    struct loop *loop;
    unsigned answered, refused;
};

static enum err read_late(struct tx *tx, void *arg)
{
    struct late *late = arg;
    return read_workspace(tx, &(struct step){.fix = late->fix});
}

static void answer_late(void *arg, enum err err)
{
    struct late *late = arg;
    late->answered++;
    CHECK_INT(err, OK);
    err = store_job(late->store, STORE_READ, read_late, late, late->loop, answer_late);
    late->refused += err == ERR_BUSY;
}

/* Its loop runs no more, and tells what was posted to it when it is freed. */
STORE_TEST(an_answer_may_come_when_the_store_is_closed)
{
    fix_people(fix);
    struct late late = {.fix = fix, .store = fix->store, .loop = loop_new("late")};
    CHECK_INT(store_job(fix->store, STORE_READ, read_late, &late, late.loop, answer_late), OK);
    store_close(fix->store);
    fix->store = NULL;
    CHECK_INT(late.answered, 0);
    loop_free(late.loop);
    CHECK_INT(late.answered, 1);
    CHECK_INT(late.refused, 1);
}
