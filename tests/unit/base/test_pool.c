#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "test.h"

struct work {
    struct loop *loop;
    _Atomic int ran;
    int done, wanted;
    pthread_mutex_t gate;
};

static void work_fn(void *arg)
{
    struct work *work = arg;
    atomic_fetch_add(&work->ran, 1);
}

static void done_fn(void *arg)
{
    struct work *work = arg;
    CHECK(loop_is_current(work->loop));
    if (++work->done == work->wanted)
        loop_stop(work->loop);
}

TEST(pool_works_and_reports_to_the_loop)
{
    AUTO(loop) loop = loop_new("test");
    AUTO(pool) pool = pool_new("workers", 3, 5);
    struct work work = {.loop = loop, .wanted = 200};
    for (int i = 0; i < 200; i++)
        CHECK_INT(pool_run(pool, work_fn, loop, done_fn, &work), OK);
    loop_run(loop);
    CHECK_INT(work.ran, 200);
    CHECK_INT(work.done, 200);
}

TEST(pool_finishes_before_it_is_freed)
{
    AUTO(loop) loop = loop_new("test");
    struct pool *pool = pool_new("workers", 2, 0);
    struct work work = {.loop = loop};
    for (int i = 0; i < 100; i++)
        CHECK_INT(pool_run(pool, work_fn, NULL, NULL, &work), OK);
    pool_free(pool);
    CHECK_INT(work.ran, 100);
}

static void wait_at_gate(void *arg)
{
    struct work *work = arg;
    pthread_mutex_lock(&work->gate);
    pthread_mutex_unlock(&work->gate);
}

TEST(pool_refuses_when_too_much_waits)
{
    struct pool *pool = pool_new("workers", 1, 0);
    struct work work = {0};
    pthread_mutex_init(&work.gate, NULL);
    pthread_mutex_lock(&work.gate);
    enum err err = OK;
    int accepted = 0;
    for (; accepted < 20000 && !err; accepted += !err)
        err = pool_run(pool, wait_at_gate, NULL, NULL, &work);
    CHECK_INT(err, ERR_BUSY);
    CHECK(accepted == 10000 || accepted == 10001);
    pthread_mutex_unlock(&work.gate);
    pool_free(pool);
}

/* Whose jobs ran, in which order, once the gate opened. */
struct visit {
    struct work *gate;
    char key, *order;
};

static void pass_gate(void *arg)
{
    struct visit *visit = arg;
    wait_at_gate(visit->gate);
    pthread_mutex_lock(&visit->gate->gate);
    visit->order[strlen(visit->order)] = visit->key;
    pthread_mutex_unlock(&visit->gate->gate);
}

TEST(pool_lets_a_key_wait_behind_one_job_of_another)
{
    struct pool *pool = pool_new("workers", 1, 0);
    struct work work = {0};
    char order[16] = "";
    pthread_mutex_init(&work.gate, NULL);
    pthread_mutex_lock(&work.gate);
    struct visit a = {&work, 'a', order}, b = {&work, 'b', order}, o = {&work, 'o', order};
    for (int i = 0; i < 6; i++)
        CHECK_INT(pool_run_fair(pool, "a", pass_gate, NULL, NULL, &a), OK);
    CHECK_INT(pool_run_fair(pool, "b", pass_gate, NULL, NULL, &b), OK);
    CHECK_INT(pool_run(pool, pass_gate, NULL, NULL, &o), OK);
    pthread_mutex_unlock(&work.gate);
    pool_free(pool);
    CHECK_INT(strlen(order), 8);
    CHECK(strchr(order, 'o') - order <= 1);
    CHECK(strchr(order, 'b') - order <= 2);
}

/* Two of four threads at most for one key, three for all; the last one is the operator's. */
TEST(pool_keeps_threads_free_of_one_key_and_for_the_operator)
{
    AUTO(loop) loop = loop_new("test");
    struct pool *pool = pool_new("workers", 4, 0);
    struct work held = {0}, free_to_go = {.loop = loop, .wanted = 1};
    pthread_mutex_init(&held.gate, NULL);
    pthread_mutex_lock(&held.gate);
    for (int i = 0; i < 10; i++)
        CHECK_INT(pool_run_fair(pool, "a", wait_at_gate, NULL, NULL, &held), OK);
    CHECK_INT(pool_run_fair(pool, "b", work_fn, loop, done_fn, &free_to_go), OK);
    loop_run(loop);
    for (int i = 0; i < 10; i++)
        CHECK_INT(pool_run_fair(pool, "b", wait_at_gate, NULL, NULL, &held), OK);
    CHECK_INT(pool_run_fair(pool, "c", wait_at_gate, NULL, NULL, &held), OK);
    free_to_go.done = 0;
    CHECK_INT(pool_run(pool, work_fn, loop, done_fn, &free_to_go), OK);
    loop_run(loop);
    CHECK_INT(free_to_go.ran, 2);
    pthread_mutex_unlock(&held.gate);
    pool_free(pool);
}

TEST(pool_refuses_only_the_key_that_has_too_much)
{
    struct pool *pool = pool_new("workers", 1, 0);
    struct work work = {0};
    pthread_mutex_init(&work.gate, NULL);
    pthread_mutex_lock(&work.gate);
    int accepted = 0;
    while (accepted < 5000 && !pool_run_fair(pool, "a", wait_at_gate, NULL, NULL, &work))
        accepted++;
    CHECK(accepted == 1000 || accepted == 1001);
    CHECK_INT(pool_run_fair(pool, "b", wait_at_gate, NULL, NULL, &work), OK);
    CHECK_INT(pool_run(pool, wait_at_gate, NULL, NULL, &work), OK);
    pthread_mutex_unlock(&work.gate);
    pool_free(pool);
}

static bool is_over(void *arg)
{
    return *(char *)arg == 'x';
}

static void count_refused(void *arg)
{
    *(char *)arg = 'r';
}

static void cross_out(void *arg)
{
    *(char *)arg = 'w';
}

TEST(pool_sweeps_what_has_waited_enough)
{
    struct pool *pool = pool_new("workers", 1, 0);
    struct work work = {0};
    char over[] = "xx", stays[] = "ss", other[] = "x";
    pthread_mutex_init(&work.gate, NULL);
    pthread_mutex_lock(&work.gate);
    CHECK_INT(pool_run(pool, wait_at_gate, NULL, NULL, &work), OK);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(pool_run_fair(pool, "a", cross_out, NULL, NULL, &over[i]), OK);
        CHECK_INT(pool_run_fair(pool, "a", cross_out, NULL, NULL, &stays[i]), OK);
    }
    CHECK_INT(pool_run_fair(pool, "a", count_refused, NULL, NULL, other), OK);
    pool_sweep(pool, cross_out, is_over, count_refused);
    CHECK_TEXT(over, "rr");
    CHECK_TEXT(stays, "ss");
    CHECK_TEXT(other, "x");
    pthread_mutex_unlock(&work.gate);
    pool_free(pool);
    CHECK_TEXT(over, "rr");
    CHECK_TEXT(stays, "ww");
}

/* What a group of jobs shares is settled when nobody waits. */
static void note_between(void *arg, bool has_more)
{
    char *text = arg;
    text[strlen(text)] = has_more ? ',' : '.';
}

static void note_run(void *arg)
{
    char *text = arg;
    text[strlen(text)] = 'j';
}

TEST(pool_tells_between_jobs_whether_more_wait)
{
    struct pool *pool = pool_new("workers", 1, 0);
    struct work work = {0};
    char text[32] = "";
    pool_set_between(pool, note_between, text);
    pthread_mutex_init(&work.gate, NULL);
    pthread_mutex_lock(&work.gate);
    CHECK_INT(pool_run(pool, wait_at_gate, NULL, NULL, &work), OK);
    for (int i = 0; i < 3; i++)
        CHECK_INT(pool_run_fair(pool, "a", note_run, NULL, NULL, text), OK);
    pthread_mutex_unlock(&work.gate);
    pool_free(pool);
    CHECK_TEXT(text, ",j,j,j.");
}
