/* The event loop: one a thread. It waits, runs timers, watches descriptors and takes messages of
 * other threads. loop.c uses libuv; tests/fake/loop.c is the same interface on a simulated
 * clock.
 *
 * Order of a turn: descriptors and timers that are due, then deferred functions, then posted
 * messages; what a callback defers runs in the same turn. Nothing is freed inside its own callback:
 * defer it. Thread: each function the loop's own, except where it says `any`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/list.h"

struct loop;
struct io;

typedef void loop_fn(void *arg);
typedef void io_fn(void *arg, unsigned events);

/* A timer is a member of its owner. It fires once a timer_set(). Ties fire in the order of setting.
 */
struct timer {
    struct loop *loop;
    loop_fn *fn;
    void *arg;
    int64_t due_us;
    uint64_t order;
    size_t slot; /* place in the loop's heap + 1; 0: not set */
};

struct loop *loop_new(const char *name); /* name: at most 15 characters, of the thread too */
void loop_free(struct loop *loop);       /* not running; runs what is still deferred or posted */
DEFINE_AUTO(loop)
void loop_run(struct loop *loop);                /* in the calling thread, until loop_stop() */
void loop_stop(struct loop *loop);               /* any */
enum err loop_start(struct loop *loop) MUST_USE; /* loop_run() in a new thread */
void loop_join(struct loop *loop); /* any other thread: loop_stop() and wait for the thread's end */
const char *loop_name(const struct loop *loop);

int64_t loop_now_us(const struct loop *loop);  /* monotonic time at the start of this turn;
                                                  clock_now_us() for finer */
bool loop_is_current(const struct loop *loop); /* any: is the caller on the loop's thread? */

/* Runs fn(arg) on the loop. fn owns arg. Messages of one thread keep their order. any. */
void loop_post(struct loop *loop, loop_fn *fn, void *arg);
/* Runs fn(arg) at the end of this turn. */
void loop_defer(struct loop *loop, loop_fn *fn, void *arg);

void timer_init(struct timer *timer, struct loop *loop, loop_fn *fn, void *arg);
void timer_set(struct timer *timer, int64_t due_us); /* moves a set one; the past counts as this
                                                        turn's time: it fires in the next turn */
void timer_set_after(struct timer *timer, int64_t delay_us);
void timer_stop(struct timer *timer);
bool timer_is_set(const struct timer *timer);

/* What outlives its owner on the loop for a while, such as a stream that still flushes: when the
 * loop is freed before it has ended, fn(arg) ends it. A member of that thing; list_remove(&x.node)
 * when it has ended by itself. */
struct loop_leftover {
    struct list_node node;
    loop_fn *fn;
    void *arg;
};
void loop_take_leftover(struct loop *loop, struct loop_leftover *leftover, loop_fn *fn, void *arg);

/* Watches a non-blocking descriptor, level-triggered. io_close() stops callbacks at once and frees
 * at the end of the turn; the descriptor stays the caller's, to be closed after io_close(): before
 * it, its number may be another thread's. */
enum { IO_READ = 1, IO_WRITE = 2 };
struct io *io_open(struct loop *loop, int fd, unsigned events, io_fn *fn, void *arg);
/* The same of a library's descriptor, which the library may close before it says so: watched by a
 * number of its own. NULL: none is left. */
struct io *io_open_apart(struct loop *loop, int fd, unsigned events, io_fn *fn, void *arg);
void io_want(struct io *io, unsigned events);
void io_close(struct io *io);

/* What the watchdog has seen: callbacks over 2 ms, and the longest one. any. */
struct loop_stats {
    uint64_t turns, slow_callbacks;
    int64_t longest_us;
};
void loop_stats(const struct loop *loop, struct loop_stats *out);
