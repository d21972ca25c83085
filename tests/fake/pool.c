#include "fake/pool.h"

#include "base/list.h"
#include "base/mem.h"
#include "base/pool.h"

struct pool {
    struct loop *loop; /* where the workers' time passes */
    unsigned threads, busy;
    struct fair *jobs;                 /* struct job */
    struct list_node waiting, running; /* the same */
    pool_between_fn *between;
    void *between_arg;
};

struct job {
    struct fair_item item;
    struct list_node node; /* in pool->waiting, then in pool->running */
    struct pool *pool;
    struct timer timer;
    int64_t delay_us;
    loop_fn *work, *done;
    struct loop *loop;
    void *arg;
};

static int64_t delay;

void fake_pool_delay(int64_t delay_us)
{
    delay = delay_us;
}

struct pool *pool_new_limited(const char *name, unsigned threads, int nice,
                              const struct fair_limits *limits)
{
    (void)nice;
    struct pool *pool = mem_new(struct pool);
    pool->loop = loop_new(name);
    pool->threads = threads;
    pool->jobs = fair_new(limits);
    list_init(&pool->waiting);
    list_init(&pool->running);
    return pool;
}

struct pool *pool_new(const char *name, unsigned threads, int nice)
{
    const struct fair_limits limits = {.waiting_per_key = 1000,
                                       .waiting = 10000,
                                       .operator_waiting = 10000,
                                       .running_per_key = MAX(threads / 2, 1),
                                       .running = threads > 1 ? threads - 1 : 1};
    return pool_new_limited(name, threads, nice, &limits);
}

static void look(struct pool *pool);

static void run_job(void *arg)
{
    struct job *job = arg;
    struct pool *pool = job->pool;
    timer_stop(&job->timer);
    list_remove(&job->node);
    job->work(job->arg);
    if (pool->between)
        pool->between(pool->between_arg, fair_waiting(pool->jobs) > 0);
    if (job->done)
        loop_post(job->loop, job->done, job->arg);
    fair_done(pool->jobs, &job->item, job->delay_us);
    pool->busy--;
    mem_free(job);
    look(pool);
}

/* Idle workers begin what may run. */
static void look(struct pool *pool)
{
    for (struct fair_item *item; pool->busy < pool->threads && (item = fair_next(pool->jobs));) {
        struct job *job = CONTAINER_OF(item, struct job, item);
        pool->busy++;
        list_remove(&job->node);
        list_push_back(&pool->running, &job->node);
        timer_init(&job->timer, pool->loop, run_job, job);
        timer_set_after(&job->timer, job->delay_us);
    }
}

void pool_free(struct pool *pool)
{
    if (!pool)
        return;
    for (struct job *job; (job = LIST_FIRST(&pool->running, struct job, node));)
        run_job(job);
    fair_free(pool->jobs);
    loop_free(pool->loop);
    mem_free(pool);
}

enum err pool_run_fair(struct pool *pool, const char *key, loop_fn *work, struct loop *loop,
                       loop_fn *done, void *arg)
{
    struct job *job = mem_new(struct job);
    *job = (struct job){
        .pool = pool, .delay_us = delay, .work = work, .done = done, .loop = loop, .arg = arg};
    if (fair_push(pool->jobs, key, &job->item)) {
        mem_free(job);
        return ERR_BUSY;
    }
    list_push_back(&pool->waiting, &job->node);
    look(pool);
    return OK;
}

void pool_set_between(struct pool *pool, pool_between_fn *fn, void *arg)
{
    pool->between_arg = arg;
    pool->between = fn;
}

void pool_sweep(struct pool *pool, loop_fn *work, bool (*is_over)(void *arg), loop_fn *refuse)
{
    struct job *job;
    LIST_EACH (job, &pool->waiting, struct job, node) {
        if (job->work != work || !is_over(job->arg))
            continue;
        list_remove(&job->node);
        fair_remove(pool->jobs, &job->item);
        refuse(job->arg);
        mem_free(job);
    }
}

enum err pool_run(struct pool *pool, loop_fn *work, struct loop *loop, loop_fn *done, void *arg)
{
    return pool_run_fair(pool, FAIR_OPERATOR, work, loop, done, arg);
}
