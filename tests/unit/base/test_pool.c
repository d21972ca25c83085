#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>

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
