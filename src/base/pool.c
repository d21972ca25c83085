/* The worker pool: one queue, a mutex, a condition. Thread: any. */
#include "base/pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/list.h"
#include "base/mem.h"

enum { WAITING_MAX = 10000, NAME_SIZE = 16 };

struct job {
    struct list_node node;
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
    struct list_node waiting; /* struct job */
    size_t waiting_count;
    bool is_closing;
};

/* The next job, or NULL when the pool closes and nothing waits. */
static struct job *next_job(struct pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    while (list_is_empty(&pool->waiting) && !pool->is_closing)
        pthread_cond_wait(&pool->has_work, &pool->mutex);
    struct job *job = LIST_FIRST(&pool->waiting, struct job, node);
    if (job) {
        list_remove(&job->node);
        pool->waiting_count--;
    }
    pthread_mutex_unlock(&pool->mutex);
    return job;
}

static void *worker_main(void *arg)
{
    struct pool *pool = arg;
    pthread_setname_np(pthread_self(), pool->name);
    if (pool->nice) /* of this thread only, as Linux has it */
        setpriority(PRIO_PROCESS, (id_t)gettid(), getpriority(PRIO_PROCESS, 0) + pool->nice);
    for (struct job *job; (job = next_job(pool));) {
        job->work(job->arg);
        if (job->done)
            loop_post(job->loop, job->done, job->arg);
        mem_free(job);
    }
    return NULL;
}

struct pool *pool_new(const char *name, unsigned threads, int nice)
{
    struct pool *pool = mem_new(struct pool);
    snprintf(pool->name, sizeof pool->name, "%s", name);
    pool->nice = nice;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->has_work, NULL);
    list_init(&pool->waiting);
    pool->threads = mem_new_n(pthread_t, threads);
    for (; pool->thread_count < threads; pool->thread_count++) {
        if (pthread_create(&pool->threads[pool->thread_count], NULL, worker_main, pool))
            break;
    }
    return pool;
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
    mem_free(pool->threads);
    mem_free(pool);
}

enum err pool_run(struct pool *pool, loop_fn *work, struct loop *loop, loop_fn *done, void *arg)
{
    struct job *job = mem_new(struct job);
    *job = (struct job){.work = work, .done = done, .loop = loop, .arg = arg};
    pthread_mutex_lock(&pool->mutex);
    bool has_room = pool->waiting_count < WAITING_MAX && pool->thread_count > 0;
    if (has_room) {
        list_push_back(&pool->waiting, &job->node);
        pool->waiting_count++;
        pthread_cond_signal(&pool->has_work);
    }
    pthread_mutex_unlock(&pool->mutex);
    if (has_room)
        return OK;
    mem_free(job);
    return ERR_BUSY;
}
