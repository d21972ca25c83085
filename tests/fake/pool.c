#include "fake/pool.h"

#include "base/list.h"
#include "base/mem.h"
#include "base/pool.h"

struct pool {
    struct loop *loop; /* where the workers' time passes */
    struct list_node jobs;
};

struct job {
    struct list_node node;
    struct timer timer;
    loop_fn *work, *done;
    struct loop *loop;
    void *arg;
};

static int64_t delay;

void fake_pool_delay(int64_t delay_us)
{
    delay = delay_us;
}

struct pool *pool_new(const char *name, unsigned threads, int nice)
{
    (void)threads, (void)nice;
    struct pool *pool = mem_new(struct pool);
    pool->loop = loop_new(name);
    list_init(&pool->jobs);
    return pool;
}

static void run_job(void *arg)
{
    struct job *job = arg;
    timer_stop(&job->timer);
    list_remove(&job->node);
    job->work(job->arg);
    if (job->done)
        loop_post(job->loop, job->done, job->arg);
    mem_free(job);
}

void pool_free(struct pool *pool)
{
    if (!pool)
        return;
    for (struct job *job; (job = LIST_FIRST(&pool->jobs, struct job, node));)
        run_job(job);
    loop_free(pool->loop);
    mem_free(pool);
}

enum err pool_run(struct pool *pool, loop_fn *work, struct loop *loop, loop_fn *done, void *arg)
{
    struct job *job = mem_new(struct job);
    *job = (struct job){.work = work, .done = done, .loop = loop, .arg = arg};
    list_push_back(&pool->jobs, &job->node);
    timer_init(&job->timer, pool->loop, run_job, job);
    timer_set_after(&job->timer, delay);
    return OK;
}
