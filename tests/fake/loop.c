#include "fake/loop.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/armed.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/mem.h"

struct queued {
    struct list_node node;
    loop_fn *fn;
    void *arg;
};

struct loop {
    struct list_node node; /* in `loops` */
    char name[16];
    struct list_node timers; /* struct alarm, by time, then by order of setting */
    struct list_node deferred, posted;
    struct list_node ios;
    struct list_node leftovers;
    bool is_stopping;
    uint64_t turns, next_order;
};

/* What a struct timer cannot hold: its place in the list. */
struct alarm {
    struct list_node node;
    struct timer *timer;
};

struct io {
    struct list_node node;
    struct loop *loop;
    int fd;
    unsigned events;
    io_fn *fn;
    void *arg;
    bool is_closed;
};

static struct list_node loops;
static struct loop *current;
static int64_t now, wall_offset_ms;
static bool has_begun;

void fake_begin(int64_t now_us, int64_t wall_ms)
{
    if (!loops.next)
        list_init(&loops);
    has_begun = true;
    now = now_us;
    wall_offset_ms = wall_ms - now_us / 1000;
    clock_fake_set(now_us, wall_ms);
}

static void move_time(int64_t now_us)
{
    if (now_us <= now)
        return;
    now = now_us;
    clock_fake_set(now_us, now_us / 1000 + wall_offset_ms);
}

void fake_step_wall(int64_t ms)
{
    wall_offset_ms += ms;
    clock_fake_set(now, now / 1000 + wall_offset_ms);
}

int64_t fake_now_us(void)
{
    return now;
}

struct loop *loop_new(const char *name)
{
    if (!has_begun)
        fake_begin(FAKE_START_US, FAKE_START_WALL_MS);
    struct loop *loop = mem_new(struct loop);
    snprintf(loop->name, sizeof(loop->name), "%s", name);
    list_init(&loop->timers);
    list_init(&loop->deferred);
    list_init(&loop->posted);
    list_init(&loop->ios);
    list_init(&loop->leftovers);
    list_push_back(&loops, &loop->node);
    return loop;
}

static bool run_list(struct loop *loop, struct list_node *list)
{
    bool has_run = false;
    for (struct queued *item; (item = LIST_FIRST(list, struct queued, node)); has_run = true) {
        struct queued copy = *item;
        list_remove(&item->node);
        armed_remove(copy.arg, ARMED_FUNCTION);
        mem_free(item);
        current = loop;
        copy.fn(copy.arg);
        current = NULL;
    }
    return has_run;
}

static bool run_posted(struct loop *loop)
{
    struct list_node batch;
    list_init(&batch);
    for (struct queued *item; (item = LIST_FIRST(&loop->posted, struct queued, node));) {
        list_remove(&item->node);
        list_push_back(&batch, &item->node);
    }
    return run_list(loop, &batch);
}

static struct alarm *first_alarm(const struct loop *loop)
{
    return LIST_FIRST(&loop->timers, struct alarm, node);
}

static bool run_timers(struct loop *loop)
{
    uint64_t limit = loop->next_order;
    bool has_run = false;
    for (struct alarm *alarm; (alarm = first_alarm(loop)); has_run = true) {
        struct timer *timer = alarm->timer;
        if (timer->due_us > now || timer->order >= limit)
            break;
        timer_stop(timer);
        current = loop;
        timer->fn(timer->arg);
        current = NULL;
    }
    return has_run;
}

static unsigned ready_events(const struct io *io)
{
    struct pollfd p = {.fd = io->fd,
                       .events = (short)((io->events & IO_READ ? POLLIN : 0) |
                                         (io->events & IO_WRITE ? POLLOUT : 0))};
    if (io->is_closed || io->events == 0 || poll(&p, 1, 0) <= 0)
        return 0;
    if (p.revents & (POLLERR | POLLNVAL))
        return io->events;
    return (p.revents & (POLLIN | POLLHUP) ? IO_READ : 0) | (p.revents & POLLOUT ? IO_WRITE : 0);
}

static void free_closed(struct loop *loop)
{
    struct io *io;
    LIST_EACH (io, &loop->ios, struct io, node) {
        if (!io->is_closed)
            continue;
        list_remove(&io->node);
        mem_free(io);
    }
}

static bool run_ios(struct loop *loop)
{
    bool has_run = false;
    struct io *io;
    LIST_EACH (io, &loop->ios, struct io, node) {
        unsigned events = ready_events(io) & io->events;
        if (!events)
            continue;
        current = loop;
        io->fn(io->arg, events);
        current = NULL;
        has_run = true;
    }
    return has_run;
}

static bool turn_of(struct loop *loop)
{
    bool has_run = run_ios(loop);
    has_run |= run_timers(loop);
    has_run |= run_list(loop, &loop->deferred);
    has_run |= run_posted(loop);
    has_run |= run_list(loop, &loop->deferred);
    free_closed(loop);
    loop->turns += has_run;
    return has_run;
}

bool fake_turn(void)
{
    bool has_run = false;
    struct loop *loop;
    if (!loops.next)
        return false;
    LIST_EACH (loop, &loops, struct loop, node)
        has_run |= turn_of(loop);
    return has_run;
}

/* The time of the first timer of all loops, or INT64_MAX. */
static int64_t next_due_us(void)
{
    int64_t due_us = INT64_MAX;
    struct loop *loop;
    LIST_EACH (loop, &loops, struct loop, node) {
        const struct alarm *alarm = first_alarm(loop);
        if (alarm)
            due_us = MIN(due_us, alarm->timer->due_us);
    }
    return due_us;
}

static bool is_never(void *arg)
{
    (void)arg;
    return false;
}

/* Until is_done, idle, or the limit; the clock stays where the last thing happened. */
static bool run_to(int64_t limit_us, bool (*is_done)(void *arg), void *arg, bool *out_is_idle)
{
    *out_is_idle = false;
    while (!is_done(arg)) {
        if (fake_turn())
            continue;
        int64_t due_us = next_due_us();
        *out_is_idle = due_us == INT64_MAX;
        if (due_us > limit_us)
            return false;
        move_time(due_us);
    }
    return true;
}

void fake_run_until(int64_t now_us)
{
    bool is_idle;
    if (!has_begun)
        fake_begin(FAKE_START_US, FAKE_START_WALL_MS);
    run_to(now_us, is_never, NULL, &is_idle);
    move_time(now_us);
}

void fake_run_for(int64_t delay_us)
{
    fake_run_until(now + delay_us);
}

bool fake_run_idle(int64_t max_us)
{
    bool is_idle;
    run_to(now + max_us, is_never, NULL, &is_idle);
    return is_idle;
}

bool fake_run_while_not(bool (*is_done)(void *arg), void *arg, int64_t max_us)
{
    bool is_idle;
    return run_to(now + max_us, is_done, arg, &is_idle);
}

static bool is_stopping(void *arg)
{
    return ((struct loop *)arg)->is_stopping;
}

void loop_run(struct loop *loop)
{
    bool is_idle;
    if (!run_to(INT64_MAX - 1, is_stopping, loop, &is_idle)) {
        fputs("fake loop: nothing will ever stop it\n", stderr);
        abort();
    }
    loop->is_stopping = false;
}

void loop_stop(struct loop *loop)
{
    loop->is_stopping = true;
}

enum err loop_start(struct loop *loop)
{
    (void)loop;
    return OK;
}

void loop_join(struct loop *loop)
{
    (void)loop;
}

const char *loop_name(const struct loop *loop)
{
    return loop->name;
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
    end_leftovers(loop);
    while (run_list(loop, &loop->deferred) || run_posted(loop))
        ;
    struct alarm *alarm;
    LIST_EACH (alarm, &loop->timers, struct alarm, node) {
        timer_stop(alarm->timer);
    }
    struct io *io;
    LIST_EACH (io, &loop->ios, struct io, node) {
        io_close(io);
    }
    free_closed(loop);
    list_remove(&loop->node);
    mem_free(loop);
}

int64_t loop_now_us(const struct loop *loop)
{
    (void)loop;
    return now;
}

bool loop_is_current(const struct loop *loop)
{
    return !current || current == loop; /* the test itself may do all */
}

static void push(struct list_node *list, loop_fn *fn, void *arg)
{
    struct queued *item = mem_new(struct queued);
    item->fn = fn;
    item->arg = arg;
    list_push_back(list, &item->node);
    armed_add(arg, ARMED_FUNCTION);
}

void loop_post(struct loop *loop, loop_fn *fn, void *arg)
{
    push(&loop->posted, fn, arg);
}

void loop_defer(struct loop *loop, loop_fn *fn, void *arg)
{
    push(&loop->deferred, fn, arg);
}

void timer_init(struct timer *timer, struct loop *loop, loop_fn *fn, void *arg)
{
    *timer = (struct timer){.loop = loop, .fn = fn, .arg = arg};
}

void timer_set(struct timer *timer, int64_t due_us)
{
    struct loop *loop = timer->loop;
    timer_stop(timer);
    timer->due_us = MAX(due_us, now);
    timer->order = loop->next_order++;
    timer->slot = 1;
    struct alarm *alarm = mem_new(struct alarm);
    alarm->timer = timer;
    struct list_node *before = loop->timers.prev;
    while (before != &loop->timers &&
           CONTAINER_OF(before, struct alarm, node)->timer->due_us > timer->due_us)
        before = before->prev;
    list_push_front(before, &alarm->node); /* behind `before` */
    armed_add(timer, ARMED_TIMER);
}

void timer_set_after(struct timer *timer, int64_t delay_us)
{
    timer_set(timer, now + delay_us);
}

void timer_stop(struct timer *timer)
{
    if (timer->slot == 0)
        return;
    timer->slot = 0;
    armed_remove(timer, ARMED_TIMER);
    struct alarm *alarm;
    LIST_EACH (alarm, &timer->loop->timers, struct alarm, node) {
        if (alarm->timer != timer)
            continue;
        list_remove(&alarm->node);
        mem_free(alarm);
    }
}

bool timer_is_set(const struct timer *timer)
{
    return timer->slot != 0;
}

struct io *io_open(struct loop *loop, int fd, unsigned events, io_fn *fn, void *arg)
{
    struct io *io = mem_new(struct io);
    *io = (struct io){.loop = loop, .fd = fd, .events = events, .fn = fn, .arg = arg};
    list_push_back(&loop->ios, &io->node);
    armed_add(arg, ARMED_WATCH);
    return io;
}

struct io *io_open_apart(struct loop *loop, int fd, unsigned events, io_fn *fn, void *arg)
{
    return io_open(loop, fd, events, fn, arg);
}

void io_want(struct io *io, unsigned events)
{
    io->events = events;
}

void io_close(struct io *io)
{
    if (!io || io->is_closed)
        return;
    io->is_closed = true;
    armed_remove(io->arg, ARMED_WATCH);
}

void loop_stats(const struct loop *loop, struct loop_stats *out)
{
    *out = (struct loop_stats){.turns = loop->turns};
}
