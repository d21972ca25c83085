/* The event loop on libuv: uv_poll for descriptors. Timers are ours, in a binary heap over one
 * timerfd, because libuv's count whole milliseconds and audio is paced finer. Messages of other
 * threads wake it by an eventfd of ours: a loop that uv_async_send() wakes spins until the sender
 * has returned from it, and one with a real-time place never lets a sender on its core return.
 *
 *     one turn:  uv_run(ONCE): wait, descriptors  ->  due timers  ->  deferred  ->  posted,
 * deferred
 *
 * Thread: the loop's own; what other threads touch stands under `mutex` or is atomic. */
#include "base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <uv.h>

#include "base/armed.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"

enum {
    NAME_SIZE = 16, /* what the kernel keeps of a thread's name */
    SLOW_US = 2000, /* style 28: a callback over this is counted */
    STACK_BYTES = 1 << 20,
};

struct call {
    loop_fn *fn;
    void *arg;
};

struct call_queue {
    struct call *calls;
    size_t count, cap;
};

/* What the loop's thread has had of the processor. */
struct share {
    int64_t cpu_us;
    int64_t times_preempted; /* others took the processor from it; not: it waited */
};

struct loop {
    uv_loop_t uv;
    char name[NAME_SIZE];
    int64_t now_us;
    bool is_turn_begun; /* now_us is of this turn */
    int64_t mark_us;    /* when the last callback ended */
    struct share share; /* at the turn's start, or after a slow callback */

    struct timer **heap;
    size_t timer_count, timer_cap;
    uint64_t next_order;
    int timer_fd;
    struct io *timer_io;
    int64_t armed_us; /* what timer_fd is set to; 0: nothing */
    int wake_fd;
    struct io *wake_io;

    struct call_queue deferred;
    struct list_node leftovers;

    /* Any thread, under the mutex. */
    pthread_mutex_t mutex;
    struct call_queue posted;

    /* Any thread. */
    _Atomic bool is_stopping;
    _Atomic uint64_t turns, slow_callbacks;
    _Atomic int64_t longest_us;

    pthread_t thread;
    bool has_thread;
};

struct io {
    uv_poll_t poll;
    struct loop *loop;
    io_fn *fn;
    void *arg;
    unsigned events;
    int own_fd; /* closed with it; -1: the descriptor is somebody else's */
    bool is_closed;
};

static _Thread_local struct loop *current;

static void insist(int status, const char *what)
{
    if (status == 0)
        return;
    fprintf(stderr, "earshot: %s: %s\n", what, uv_strerror(status));
    abort();
}

/* Time and the watchdog. */

static void take_share(struct share *out)
{
    struct rusage use;
    getrusage(RUSAGE_THREAD, &use);
    out->cpu_us = (int64_t)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000 +
                  (int64_t)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    out->times_preempted = use.ru_nivcsw;
}

static void begin_turn(struct loop *loop)
{
    if (loop->is_turn_begun)
        return;
    loop->is_turn_begun = true;
    loop->now_us = loop->mark_us = clock_now_us();
    take_share(&loop->share);
}

/* Why it took so long: it worked, others took the processor from it, or it waited, which gives the
 * processor away and is no preemption. */
static enum metric cause(struct loop *loop)
{
    struct share before = loop->share;
    take_share(&loop->share);
    if (loop->share.cpu_us - before.cpu_us > SLOW_US)
        return METRIC_LOOP_BUSY;
    bool was_preempted = loop->share.times_preempted > before.times_preempted;
    return was_preempted ? METRIC_LOOP_PREEMPTED : METRIC_LOOP_WAITED;
}

static void end_callback(struct loop *loop)
{
    int64_t now_us = clock_now_us(), took_us = now_us - loop->mark_us;
    loop->mark_us = now_us;
    if (took_us <= SLOW_US)
        return;
    metric_add_label(cause(loop), loop->name, 1);
    atomic_fetch_add_explicit(&loop->slow_callbacks, 1, memory_order_relaxed);
    if (took_us > atomic_load_explicit(&loop->longest_us, memory_order_relaxed))
        atomic_store_explicit(&loop->longest_us, took_us, memory_order_relaxed);
    metric_add_label(METRIC_LOOP_SLOW, loop->name, 1);
    log_debug("loop.slow", LOG_S("loop", loop->name), LOG_I("took_us", took_us));
}

void loop_stats(const struct loop *loop, struct loop_stats *out)
{
    out->turns = atomic_load_explicit(&loop->turns, memory_order_relaxed);
    out->slow_callbacks = atomic_load_explicit(&loop->slow_callbacks, memory_order_relaxed);
    out->longest_us = atomic_load_explicit(&loop->longest_us, memory_order_relaxed);
}

int64_t loop_now_us(const struct loop *loop)
{
    return loop->now_us;
}

bool loop_is_current(const struct loop *loop)
{
    return current == loop;
}

const char *loop_name(const struct loop *loop)
{
    return loop->name;
}

/* Queues of functions. */

static void queue_push(struct call_queue *queue, loop_fn *fn, void *arg)
{
    if (queue->count == queue->cap) {
        queue->cap = queue->cap ? 2 * queue->cap : 16;
        queue->calls = mem_realloc_n(queue->calls, queue->cap, sizeof(*queue->calls));
    }
    queue->calls[queue->count++] = (struct call){fn, arg};
    armed_add(arg, ARMED_FUNCTION);
}

static void run(struct call call)
{
    armed_remove(call.arg, ARMED_FUNCTION);
    call.fn(call.arg);
}

/* Runs all, and what they add meanwhile. */
static void run_deferred(struct loop *loop)
{
    for (size_t i = 0; i < loop->deferred.count; i++) {
        run(loop->deferred.calls[i]);
        end_callback(loop);
    }
    loop->deferred.count = 0;
}

/* Runs what was posted until now; what comes meanwhile wakes the next turn. */
static void run_posted(struct loop *loop)
{
    pthread_mutex_lock(&loop->mutex);
    struct call_queue batch = loop->posted;
    loop->posted = (struct call_queue){0};
    pthread_mutex_unlock(&loop->mutex);
    for (size_t i = 0; i < batch.count; i++) {
        run(batch.calls[i]);
        end_callback(loop);
    }
    mem_free(batch.calls);
}

void loop_defer(struct loop *loop, loop_fn *fn, void *arg)
{
    queue_push(&loop->deferred, fn, arg);
}

static void wake(struct loop *loop)
{
    (void)eventfd_write(loop->wake_fd, 1); /* fails only when it is set for long */
}

void loop_post(struct loop *loop, loop_fn *fn, void *arg)
{
    pthread_mutex_lock(&loop->mutex);
    bool is_first = loop->posted.count == 0;
    queue_push(&loop->posted, fn, arg);
    if (is_first) /* under the mutex: the loop may be freed by what it then runs */
        wake(loop);
    pthread_mutex_unlock(&loop->mutex);
}

/* The heap of timers: heap[i] fires no later than its children 2i+1 and 2i+2. */

static bool fires_before(const struct timer *a, const struct timer *b)
{
    return a->due_us != b->due_us ? a->due_us < b->due_us : a->order < b->order;
}

static void heap_put(struct loop *loop, size_t i, struct timer *timer)
{
    loop->heap[i] = timer;
    timer->slot = i + 1;
}

static void heap_up(struct loop *loop, size_t i, struct timer *timer)
{
    for (; i > 0 && fires_before(timer, loop->heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap_put(loop, i, loop->heap[(i - 1) / 2]);
    heap_put(loop, i, timer);
}

static void heap_down(struct loop *loop, size_t i, struct timer *timer)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child + 1 < loop->timer_count && fires_before(loop->heap[child + 1], loop->heap[child]))
            child++;
        if (child >= loop->timer_count || !fires_before(loop->heap[child], timer))
            break;
        heap_put(loop, i, loop->heap[child]);
        i = child;
    }
    heap_put(loop, i, timer);
}

void timer_init(struct timer *timer, struct loop *loop, loop_fn *fn, void *arg)
{
    *timer = (struct timer){.loop = loop, .fn = fn, .arg = arg};
}

void timer_set(struct timer *timer, int64_t due_us)
{
    struct loop *loop = timer->loop;
    timer_stop(timer);
    /* One set into the past comes after those that are due, so that it cannot starve them. */
    timer->due_us = MAX(due_us, loop->now_us);
    timer->order = loop->next_order++;
    if (loop->timer_count == loop->timer_cap) {
        loop->timer_cap = loop->timer_cap ? 2 * loop->timer_cap : 64;
        loop->heap = mem_realloc_n(loop->heap, loop->timer_cap, sizeof(*loop->heap));
    }
    heap_up(loop, loop->timer_count++, timer);
    armed_add(timer, ARMED_TIMER);
}

void timer_set_after(struct timer *timer, int64_t delay_us)
{
    timer_set(timer, loop_now_us(timer->loop) + delay_us);
}

void timer_stop(struct timer *timer)
{
    if (timer->slot == 0)
        return;
    struct loop *loop = timer->loop;
    size_t i = timer->slot - 1;
    timer->slot = 0;
    armed_remove(timer, ARMED_TIMER);
    struct timer *last = loop->heap[--loop->timer_count];
    if (last == timer)
        return;
    if (i > 0 && fires_before(last, loop->heap[(i - 1) / 2]))
        heap_up(loop, i, last);
    else
        heap_down(loop, i, last);
}

bool timer_is_set(const struct timer *timer)
{
    return timer->slot != 0;
}

static void run_timers(struct loop *loop)
{
    uint64_t limit = loop->next_order; /* those set meanwhile wait for the next turn */
    while (loop->timer_count > 0) {
        struct timer *timer = loop->heap[0];
        if (timer->due_us > loop->now_us || timer->order >= limit)
            break;
        timer_stop(timer);
        timer->fn(timer->arg);
        end_callback(loop);
    }
}

/* Sets the timerfd to the first timer; setting it also takes back its last expiry. */
static void arm_timers(struct loop *loop)
{
    int64_t due_us = loop->timer_count > 0 ? MAX(loop->heap[0]->due_us, (int64_t)1) : 0;
    bool has_fired = loop->armed_us != 0 && loop->armed_us <= loop->now_us;
    if (due_us == loop->armed_us && !has_fired)
        return;
    struct itimerspec spec = {
        .it_value = {.tv_sec = due_us / 1000000, .tv_nsec = due_us % 1000000 * 1000}};
    timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
    loop->armed_us = due_us;
}

/* Descriptors. */

static int uv_events(unsigned events)
{
    return (events & IO_READ ? UV_READABLE : 0) | (events & IO_WRITE ? UV_WRITABLE : 0);
}

static void on_poll(uv_poll_t *poll, int status, int ready)
{
    struct io *io = CONTAINER_OF(poll, struct io, poll);
    struct loop *loop = io->loop;
    begin_turn(loop);
    unsigned events = (ready & UV_READABLE ? IO_READ : 0) | (ready & UV_WRITABLE ? IO_WRITE : 0);
    if (status < 0) { /* an error is pending: libuv has stopped; reading or writing will show it */
        insist(uv_poll_start(poll, uv_events(io->events), on_poll), "watch a descriptor again");
        events = io->events;
    }
    events &= io->events;
    if (events && !io->is_closed)
        io->fn(io->arg, events);
    end_callback(loop);
}

struct io *io_open(struct loop *loop, int fd, unsigned events, io_fn *fn, void *arg)
{
    struct io *io = mem_new(struct io);
    io->loop = loop;
    io->fn = fn;
    io->arg = arg;
    io->own_fd = -1;
    insist(uv_poll_init(&loop->uv, &io->poll, fd), "watch a descriptor");
    armed_add(arg, ARMED_WATCH);
    io_want(io, events);
    return io;
}

struct io *io_open_apart(struct loop *loop, int fd, unsigned events, io_fn *fn, void *arg)
{
    int own_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own_fd < 0)
        return NULL;
    struct io *io = io_open(loop, own_fd, events, fn, arg);
    io->own_fd = own_fd;
    return io;
}

void io_want(struct io *io, unsigned events)
{
    if (io->is_closed || io->events == events)
        return;
    io->events = events;
    if (events)
        insist(uv_poll_start(&io->poll, uv_events(events), on_poll), "watch a descriptor");
    else
        uv_poll_stop(&io->poll);
}

static void on_io_closed(uv_handle_t *handle)
{
    mem_free(CONTAINER_OF((uv_poll_t *)handle, struct io, poll));
}

static void check_open(const struct io *io)
{
    uv_os_fd_t fd;
    if (ARMED_IS_CHECKED && uv_fileno((const uv_handle_t *)&io->poll, &fd) == 0)
        insist(fcntl(fd, F_GETFD) < 0 ? -errno : 0, "find a watched descriptor open");
}

void io_close(struct io *io)
{
    if (!io || io->is_closed)
        return;
    check_open(io);
    io->is_closed = true;
    armed_remove(io->arg, ARMED_WATCH);
    io->events = 0;
    uv_close((uv_handle_t *)&io->poll, on_io_closed);
    if (io->own_fd >= 0)
        close(io->own_fd);
}

/* The loop itself. */

/* Only ends the wait: the turn looks into the queue. */
static void on_wake(void *arg, unsigned events)
{
    struct loop *loop = arg;
    eventfd_t count;
    (void)events;
    (void)eventfd_read(loop->wake_fd, &count);
}

static void on_timer_fd(void *arg, unsigned events)
{
    (void)arg, (void)events; /* the same */
}

/* Who holds it while a real-time loop waits for it runs at that loop's place until it lets go. */
static void mutex_init(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(mutex, &attr);
    pthread_mutexattr_destroy(&attr);
}

struct loop *loop_new(const char *name)
{
    struct loop *loop = mem_new(struct loop);
    snprintf(loop->name, sizeof(loop->name), "%s", name);
    list_init(&loop->leftovers);
    insist(uv_loop_init(&loop->uv), "make an event loop");
    mutex_init(&loop->mutex);
    loop->now_us = loop->mark_us = clock_now_us();
    loop->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    insist(loop->timer_fd < 0 ? -errno : 0, "make a timer descriptor");
    loop->timer_io = io_open(loop, loop->timer_fd, IO_READ, on_timer_fd, loop);
    loop->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    insist(loop->wake_fd < 0 ? -errno : 0, "make a descriptor to wake by");
    loop->wake_io = io_open(loop, loop->wake_fd, IO_READ, on_wake, loop);
    return loop;
}

static void run_queues(struct loop *loop)
{
    run_deferred(loop);
    run_posted(loop);
    run_deferred(loop);
}

static void close_left_over(uv_handle_t *handle, void *arg)
{
    (void)arg;
    if (handle->type == UV_POLL)
        io_close(CONTAINER_OF((uv_poll_t *)handle, struct io, poll));
    else if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

void loop_take_leftover(struct loop *loop, struct loop_leftover *leftover, loop_fn *fn, void *arg)
{
    leftover->fn = fn;
    leftover->arg = arg;
    list_push_back(&loop->leftovers, &leftover->node);
}

static void end_leftovers(struct loop *loop)
{
    while (!list_is_empty(&loop->leftovers)) {
        struct loop_leftover *leftover = LIST_FIRST(&loop->leftovers, struct loop_leftover, node);
        list_remove(&leftover->node);
        leftover->fn(leftover->arg);
    }
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    current = loop;
    do {
        end_leftovers(loop);
        run_queues(loop);
    } while (!list_is_empty(&loop->leftovers) || loop->deferred.count > 0 ||
             loop->posted.count > 0);
    while (loop->timer_count > 0) /* their owners may still look at them */
        timer_stop(loop->heap[0]);
    uv_walk(&loop->uv, close_left_over, NULL);
    while (uv_loop_close(&loop->uv) == UV_EBUSY)
        uv_run(&loop->uv, UV_RUN_NOWAIT);
    current = NULL;
    close(loop->timer_fd);
    close(loop->wake_fd);
    pthread_mutex_destroy(&loop->mutex);
    mem_free(loop->deferred.calls);
    mem_free(loop->posted.calls);
    mem_free(loop->heap);
    mem_free(loop);
}

void loop_run(struct loop *loop)
{
    current = loop;
    loop->is_turn_begun = false;
    begin_turn(loop);
    run_queues(loop); /* what was deferred or posted before the start */
    while (!atomic_load(&loop->is_stopping)) {
        arm_timers(loop);
        loop->is_turn_begun = false;
        uv_run(&loop->uv, UV_RUN_ONCE);
        begin_turn(loop);
        atomic_fetch_add_explicit(&loop->turns, 1, memory_order_relaxed);
        run_timers(loop);
        run_queues(loop);
    }
    atomic_store(&loop->is_stopping, false);
    current = NULL;
}

void loop_stop(struct loop *loop)
{
    atomic_store(&loop->is_stopping, true);
    wake(loop);
}

static void *thread_main(void *arg)
{
    struct loop *loop = arg;
    pthread_setname_np(pthread_self(), loop->name);
    loop_run(loop);
    return NULL;
}

enum err loop_start(struct loop *loop)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    int failed = pthread_create(&loop->thread, &attr, thread_main, loop);
    pthread_attr_destroy(&attr);
    loop->has_thread = !failed;
    return failed ? ERR_IO : OK;
}

void loop_join(struct loop *loop)
{
    if (!loop->has_thread)
        return;
    loop_stop(loop);
    pthread_join(loop->thread, NULL);
    loop->has_thread = false;
}
