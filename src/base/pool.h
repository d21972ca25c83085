/* A small pool of worker threads (nice +5) for what may block: files, password hashes. No SQL here.
 * Tenants share it fairly (base/fair.h): what a job cost is the time that it took, and no key holds
 * all threads. tests/fake/pool.c runs jobs on the simulated clock with scripted delay, by as many
 * workers and in the same order. */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/fair.h"
#include "base/loop.h"

struct pool;

/* One thread stays for the operator's jobs, and one key gets half of them at most (each at least
 * 1); 1,000 jobs of a key may wait, 10,000 in all. */
struct pool *pool_new(const char *name, unsigned threads, int nice);
struct pool *pool_new_limited(const char *name, unsigned threads, int nice,
                              const struct fair_limits *limits);
void pool_free(struct pool *pool); /* waits for what runs; queued work is run too */
DEFINE_AUTO(pool)

/* fn(arg, has_more) runs on a worker after each job, before the next one; has_more: others wait.
 * Set once, before the first job. For one thread that gathers what several jobs share. */
typedef void pool_between_fn(void *arg, bool has_more);
void pool_set_between(struct pool *pool, pool_between_fn *fn, void *arg);

/* Runs work(arg) on a worker, then done(arg) on `loop` (done may be NULL). arg is owned by the two
 * in turn. key: whose job it is (a workspace's id), copied; FAIR_OPERATOR: the service's own, which
 * goes before all others. Thread: any. ERR_BUSY: too many jobs of the key or of all wait already
 * (then neither is called). */
enum err pool_run_fair(struct pool *pool, const char *key, loop_fn *work, struct loop *loop,
                       loop_fn *done, void *arg) MUST_USE;
/* The same for FAIR_OPERATOR. */
enum err pool_run(struct pool *pool, loop_fn *work, struct loop *loop, loop_fn *done,
                  void *arg) MUST_USE;

/* Takes out the jobs of this `work` that wait and of which is_over(arg) says that they have waited
 * enough, and runs refuse(arg) for each of them in the calling thread instead of work and done.
 * is_over must not wait nor call the pool. Thread: any. */
void pool_sweep(struct pool *pool, loop_fn *work, bool (*is_over)(void *arg), loop_fn *refuse);
