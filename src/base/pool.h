/* A small pool of worker threads (nice +5) for what may block: name resolution, files, password
 * hashes. No SQL here. tests/fake/pool.c runs jobs on the simulated clock with scripted delay. */
#pragma once

#include "base/attr.h"
#include "base/loop.h"

struct pool;

struct pool *pool_new(const char *name, unsigned threads, int nice);
void pool_free(struct pool *pool); /* waits for what runs; queued work is run too */
DEFINE_AUTO(pool)

/* Runs work(arg) on a worker, then done(arg) on `loop` (done may be NULL). arg is owned by the two
 * in turn. Thread: any. ERR_BUSY: 10,000 jobs wait already. */
enum err pool_run(struct pool *pool, loop_fn *work, struct loop *loop, loop_fn *done,
                  void *arg) MUST_USE;
