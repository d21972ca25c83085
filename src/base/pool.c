/* The worker pool: one fair queue, a mutex, a condition. Thread: any. */
#include "base/pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

enum { WAITING_MAX = 10000, WAITING_PER_KEY = 1000, NAME_SIZE = 16 };

struct job {
    struct fair_item item;
    loop_fn *work, *done;
    struct loop *loop;
    void *arg;
};

struct pool {
    char name[NAME_SIZE];
    int nice;
    pthread_t *threads;
    unsigned thread_count;

    pthread_mutex_t mutex; /* for all below */
    pthread_cond_t has_work;
    struct fair *jobs; /* struct job */
    bool is_closing;
};

/* The next job that may run, or NULL when the pool closes and nothing waits. What waits because its
 * key has all that it may have is taken up by the thread that ends one of the key's jobs. */
static struct job *next_job(struct pool *pool)
{
    struct fair_item *item;
    while (!(item = fair_next(pool->jobs)) && !(pool->is_closing && !fair_waiting(pool->jobs)))
        pthread_cond_wait(&pool->has_work, &pool->mutex);
    if (pool->is_closing && !fair_waiting(pool->jobs))
        pthread_cond_broadcast(&pool->has_work);
    return item ? CONTAINER_OF(item, struct job, item) : NULL;
}

static void *worker_main(void *arg)
{
    struct pool *pool = arg;
    pthread_setname_np(pthread_self(), pool->name);
    if (pool->nice) /* of this thread only, as Linux has it */
        setpriority(PRIO_PROCESS, (id_t)gettid(), getpriority(PRIO_PROCESS, 0) + pool->nice);
    pthread_mutex_lock(&pool->mutex);
    for (struct job *job; (job = next_job(pool));) {
        pthread_mutex_unlock(&pool->mutex);
        int64_t began_us = clock_now_us();
        job->work(job->arg);
        if (job->done)
            loop_post(job->loop, job->done, job->arg);
        pthread_mutex_lock(&pool->mutex);
        fair_done(pool->jobs, &job->item, clock_now_us() - began_us);
        mem_free(job);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

struct pool *pool_new_limited(const char *name, unsigned threads, int nice,
                              const struct fair_limits *limits)
{
    struct pool *pool = mem_new(struct pool);
    snprintf(pool->name, sizeof pool->name, "%s", name);
    pool->nice = nice;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->has_work, NULL);
    pool->jobs = fair_new(limits);
    pool->threads = mem_new_n(pthread_t, threads);
    for (; pool->thread_count < threads; pool->thread_count++) {
        if (pthread_create(&pool->threads[pool->thread_count], NULL, worker_main, pool))
            break;
    }
    return pool;
}

struct pool *pool_new(const char *name, unsigned threads, int nice)
{
    const struct fair_limits limits = {.waiting_per_key = WAITING_PER_KEY,
                                       .waiting = WAITING_MAX,
                                       .operator_waiting = WAITING_MAX,
                                       .running_per_key = MAX(threads / 2, 1),
                                       .running = threads > 1 ? threads - 1 : 1};
    return pool_new_limited(name, threads, nice, &limits);
}

void pool_free(struct pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->mutex);
    pool->is_closing = true;
    pthread_cond_broadcast(&pool->has_work);
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned i = 0; i < pool->thread_count; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->has_work);
    pthread_mutex_destroy(&pool->mutex);
    fair_free(pool->jobs);
    mem_free(pool->threads);
    mem_free(pool);
}

enum err pool_run_fair(struct pool *pool, const char *key, loop_fn *work, struct loop *loop,
                       loop_fn *done, void *arg)
{
    if (pool->thread_count == 0)
        return ERR_BUSY;
    struct job *job = mem_new(struct job);
    *job = (struct job){.work = work, .done = done, .loop = loop, .arg = arg};
    pthread_mutex_lock(&pool->mutex);
    enum err err = fair_push(pool->jobs, key, &job->item);
    if (!err)
        pthread_cond_signal(&pool->has_work);
    pthread_mutex_unlock(&pool->mutex);
    if (err)
        mem_free(job);
    return err;
}

enum err pool_run(struct pool *pool, loop_fn *work, struct loop *loop, loop_fn *done, void *arg)
{
    return pool_run_fair(pool, FAIR_OPERATOR, work, loop, done, arg);
}
