/* The worker pool: one fair queue, a mutex, a condition. Thread: any. */
#include "base/pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/mem.h"

enum { WAITING_MAX = 10000, WAITING_PER_KEY = 1000, NAME_SIZE = 16 };

struct job {
    struct fair_item item;
    struct list_node node; /* in pool->waiting; then, refused, in a list of those */
    loop_fn *work, *done;
    struct loop *loop;
    void *arg;
};

struct pool {
    char name[NAME_SIZE];
    int nice;
    pthread_t *threads;
    unsigned thread_count;
    pool_between_fn *between;
    void *between_arg;

    pthread_mutex_t mutex; /* for all below */
    pthread_cond_t has_work;
    struct fair *jobs;        /* struct job */
    struct list_node waiting; /* the same, of those that do not run yet */
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
    if (!item)
        return NULL;
    struct job *job = CONTAINER_OF(item, struct job, item);
    list_remove(&job->node);
    return job;
}

static void run_job(struct pool *pool, struct job *job)
{
    int64_t began_us = clock_now_us();
    job->work(job->arg);
    if (job->done)
        loop_post(job->loop, job->done, job->arg);
    pthread_mutex_lock(&pool->mutex);
    fair_done(pool->jobs, &job->item, clock_now_us() - began_us);
    bool has_more = fair_waiting(pool->jobs) > 0;
    pthread_mutex_unlock(&pool->mutex);
    mem_free(job);
    if (pool->between)
        pool->between(pool->between_arg, has_more);
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
        run_job(pool, job);
        pthread_mutex_lock(&pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

struct pool *pool_new_limited(const char *name, unsigned threads, int nice,
                              const struct fair_limits *limits)
{
    struct pool *pool = mem_new(struct pool);
    snprintf(pool->name, sizeof(pool->name), "%s", name);
    pool->nice = nice;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->has_work, NULL);
    pool->jobs = fair_new(limits);
    list_init(&pool->waiting);
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

void pool_set_between(struct pool *pool, pool_between_fn *fn, void *arg)
{
    pool->between_arg = arg;
    pool->between = fn;
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
    if (!err) {
        list_push_back(&pool->waiting, &job->node);
        pthread_cond_signal(&pool->has_work);
    }
    pthread_mutex_unlock(&pool->mutex);
    if (err)
        mem_free(job);
    return err;
}

enum err pool_run(struct pool *pool, loop_fn *work, struct loop *loop, loop_fn *done, void *arg)
{
    return pool_run_fair(pool, FAIR_OPERATOR, work, loop, done, arg);
}

void pool_sweep(struct pool *pool, loop_fn *work, bool (*is_over)(void *arg), loop_fn *refuse)
{
    struct list_node refused;
    list_init(&refused);
    struct job *job;
    pthread_mutex_lock(&pool->mutex);
    LIST_EACH (job, &pool->waiting, struct job, node) {
        if (job->work != work || !is_over(job->arg))
            continue;
        list_remove(&job->node);
        fair_remove(pool->jobs, &job->item);
        list_push_back(&refused, &job->node);
    }
    if (pool->is_closing)
        pthread_cond_broadcast(&pool->has_work);
    pthread_mutex_unlock(&pool->mutex);
    LIST_EACH (job, &refused, struct job, node) {
        list_remove(&job->node);
        refuse(job->arg);
        mem_free(job);
    }
}
