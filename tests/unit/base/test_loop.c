#include "base/loop.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/place.h"
#include "test.h"

/* Writes down what ran, in order; one letter a callback. */
static char journal[256];

struct note {
    char letter;
    struct loop *loop;
    struct note *then;
    bool is_last;
};

static void write_down(void *arg)
{
    struct note *note = arg;
    size_t len = strlen(journal);
    journal[len] = note->letter;
    if (note->then)
        loop_defer(note->loop, write_down, note->then);
    if (note->is_last)
        loop_stop(note->loop);
}

TEST(loop_timers_fire_in_order)
{
    AUTO(loop) loop = loop_new("test");
    struct note notes[] = {{'a', loop},
                           {'b', loop},
                           {'c', loop},
                           {'d', loop},
                           {.letter = 'e', .loop = loop, .is_last = true}};
    struct timer timers[5];
    for (int i = 0; i < 5; i++)
        timer_init(&timers[i], loop, write_down, &notes[i]);
    timer_set_after(&timers[4], 9000);
    timer_set_after(&timers[1], 3000);
    timer_set_after(&timers[2], 3000);
    timer_set_after(&timers[0], 1000);
    timer_set_after(&timers[3], 2000);
    timer_set_after(&timers[3], 6000);
    int64_t start_us = loop_now_us(loop); /* what they are set from */
    loop_run(loop);
    int64_t took_us = clock_now_us() - start_us;
    CHECK_TEXT(journal, "abcde");
    CHECK(took_us >= 9000 && took_us < 60000000);
    CHECK(!timer_is_set(&timers[4]));
}

TEST(loop_timer_can_be_stopped)
{
    AUTO(loop) loop = loop_new("test");
    struct note a = {'a', loop}, b = {.letter = 'b', .loop = loop, .is_last = true};
    struct timer stopped, last;
    timer_init(&stopped, loop, write_down, &a);
    timer_init(&last, loop, write_down, &b);
    timer_set_after(&stopped, 1000);
    timer_set_after(&last, 3000);
    CHECK(timer_is_set(&stopped));
    timer_stop(&stopped);
    timer_stop(&stopped);
    CHECK(!timer_is_set(&stopped));
    loop_run(loop);
    CHECK_TEXT(journal, "b");
}

struct crowd {
    struct timer timers[500];
    struct loop *loop;
    int64_t last_due_us;
    int fired, wrong_order;
};

struct member {
    struct crowd *crowd;
    struct timer *timer;
};

static void count_member(void *arg)
{
    struct member *member = arg;
    struct crowd *crowd = member->crowd;
    crowd->wrong_order += member->timer->due_us < crowd->last_due_us;
    crowd->last_due_us = member->timer->due_us;
    if (++crowd->fired == 250)
        loop_stop(crowd->loop);
}

TEST(loop_heap_survives_many_changes)
{
    AUTO(loop) loop = loop_new("test");
    struct crowd crowd = {.loop = loop};
    struct member members[500];
    uint32_t seed = 1;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 500; i++) {
            members[i] = (struct member){&crowd, &crowd.timers[i]};
            if (round == 0)
                timer_init(&crowd.timers[i], loop, count_member, &members[i]);
            seed = seed * 1664525 + 1013904223;
            timer_set_after(&crowd.timers[i], seed >> 18);
        }
    }
    for (int i = 0; i < 500; i += 2)
        timer_stop(&crowd.timers[i]);
    loop_run(loop);
    CHECK_INT(crowd.fired, 250);
    CHECK_INT(crowd.wrong_order, 0);
}

static void set_again_in_the_past(void *arg)
{
    timer_set(arg, 0);
}

TEST(loop_past_timer_starves_nobody)
{
    AUTO(loop) loop = loop_new("test");
    struct note last = {.letter = 'z', .loop = loop, .is_last = true};
    struct timer greedy, other;
    timer_init(&greedy, loop, set_again_in_the_past, &greedy);
    timer_init(&other, loop, write_down, &last);
    timer_set(&greedy, 0);
    timer_set_after(&other, 1000);
    loop_run(loop);
    CHECK_TEXT(journal, "z");
}

TEST(loop_defers_within_the_turn)
{
    AUTO(loop) loop = loop_new("test");
    struct note c = {'c', loop}, b = {'b', loop, &c}, a = {'a', loop, &b};
    struct note posted = {'p', loop}, end = {.letter = 'e', .loop = loop, .is_last = true};
    loop_post(loop, write_down, &posted);
    loop_post(loop, write_down, &end);
    loop_defer(loop, write_down, &a);
    loop_run(loop);
    CHECK_TEXT(journal, "abcpe");
}

struct flood {
    struct loop *loop;
    int got, last, disorder;
};

struct message {
    struct flood *flood;
    int number;
};

static void receive(void *arg)
{
    struct message *message = arg;
    struct flood *flood = message->flood;
    flood->disorder += message->number != flood->last + 1;
    flood->last = message->number;
    if (++flood->got == 20000)
        loop_stop(flood->loop);
    mem_free(message);
}

static void *send_flood(void *arg)
{
    struct flood *flood = arg;
    for (int i = 1; i <= 20000; i++) {
        struct message *message = mem_new(struct message);
        *message = (struct message){flood, i};
        loop_post(flood->loop, receive, message);
    }
    return NULL;
}

TEST(loop_messages_keep_their_order)
{
    AUTO(loop) loop = loop_new("test");
    struct flood flood = {.loop = loop};
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, send_flood, &flood) == 0);
    loop_run(loop);
    pthread_join(thread, NULL);
    CHECK_INT(flood.got, 20000);
    CHECK_INT(flood.disorder, 0);
}

static void note_thread(void *arg)
{
    struct flood *flood = arg;
    flood->got = loop_is_current(flood->loop);
}

TEST(loop_runs_in_its_thread)
{
    struct loop *loop = loop_new("a-thread");
    struct flood flood = {.loop = loop};
    CHECK_TEXT(loop_name(loop), "a-thread");
    REQUIRE(loop_start(loop) == OK);
    CHECK(!loop_is_current(loop));
    loop_post(loop, note_thread, &flood);
    loop_join(loop);
    loop_join(loop);
    loop_free(loop); /* runs the message if the thread had no time to */
    CHECK_INT(flood.got, 1);
}

struct wire {
    struct loop *loop;
    struct io *io;
    int fd;
    char got[64];
    int write_events;
};

static void on_wire(void *arg, unsigned events)
{
    struct wire *wire = arg;
    if (events & IO_WRITE) {
        wire->write_events++;
        io_want(wire->io, IO_READ);
        return;
    }
    ssize_t n = read(wire->fd, wire->got, sizeof(wire->got) - 1);
    if (n <= 0) {
        io_close(wire->io);
        loop_stop(wire->loop);
    }
}

static void write_and_close(void *arg)
{
    int fd = *(int *)arg;
    CHECK_INT(write(fd, "hello", 5), 5);
    close(fd);
}

TEST(io_reads_writes_and_ends)
{
    AUTO(loop) loop = loop_new("test");
    int fds[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
    struct wire wire = {.loop = loop, .fd = fds[0]};
    wire.io = io_open(loop, fds[0], IO_READ | IO_WRITE, on_wire, &wire);
    struct timer timer;
    timer_init(&timer, loop, write_and_close, &fds[1]);
    timer_set_after(&timer, 1000);
    loop_run(loop);
    close(fds[0]);
    CHECK_TEXT(wire.got, "hello");
    CHECK_INT(wire.write_events, 1);
}

static void must_not_come(void *arg, unsigned events)
{
    (void)arg, (void)events;
    test_fail(__FILE__, __LINE__, "a callback after io_close");
}

static void close_both(void *arg, unsigned events)
{
    struct io **ios = arg;
    (void)events;
    io_close(ios[0]);
    io_close(ios[1]);
}

TEST(io_closed_gets_no_callback)
{
    AUTO(loop) loop = loop_new("test");
    int a[2], b[2];
    REQUIRE(pipe(a) == 0 && pipe(b) == 0);
    REQUIRE(write(a[1], "x", 1) == 1 && write(b[1], "x", 1) == 1);
    struct io *ios[2];
    ios[0] = io_open(loop, a[0], IO_READ, close_both, ios);
    ios[1] = io_open(loop, b[0], IO_READ, close_both, ios);
    struct note end = {.letter = 'e', .loop = loop, .is_last = true};
    struct timer timer;
    timer_init(&timer, loop, write_down, &end);
    timer_set_after(&timer, 2000);
    loop_run(loop);
    struct io *left_open = io_open(loop, a[0], IO_READ, must_not_come, NULL);
    io_want(left_open, 0);
    timer_set_after(&timer, 2000);
    loop_run(loop);
    CHECK_TEXT(journal, "ee");
}

static void dawdle(void *arg)
{
    usleep(5000);
    loop_stop(arg);
}

TEST(loop_watchdog_counts)
{
    AUTO(loop) loop = loop_new("test");
    loop_post(loop, dawdle, loop);
    loop_run(loop);
    struct loop_stats stats;
    loop_stats(loop, &stats);
    CHECK(stats.slow_callbacks >= 1); /* the machine may hold up another */
    CHECK(stats.longest_us >= 5000);
}

static void spin(void *arg)
{
    for (int64_t until_us = clock_cpu_us() + 5000; clock_cpu_us() < until_us;)
        continue;
    loop_stop(arg);
}

TEST(loop_watchdog_tells_work_from_waiting)
{
    AUTO(loop) loop = loop_new("test");
    int64_t waited = metric_read(METRIC_LOOP_WAITED), busy = metric_read(METRIC_LOOP_BUSY);
    loop_post(loop, dawdle, loop);
    loop_run(loop);
    CHECK_INT(metric_read(METRIC_LOOP_BUSY), busy);
    CHECK(metric_read(METRIC_LOOP_WAITED) > waited || metric_read(METRIC_LOOP_PREEMPTED) > 0);
    loop_post(loop, spin, loop);
    loop_run(loop);
    CHECK_INT(metric_read(METRIC_LOOP_BUSY), busy + 1);
}

static void count_end(void *arg)
{
    ++*(int *)arg;
}

TEST(loop_ends_what_outlives_its_owner)
{
    struct loop *loop = loop_new("test");
    struct loop_leftover stays = {0}, ends = {0};
    int stayed = 0, ended = 0;
    loop_take_leftover(loop, &stays, count_end, &stayed);
    loop_take_leftover(loop, &ends, count_end, &ended);
    list_remove(&ends.node);
    loop_free(loop);
    CHECK_INT(stayed, 1);
    CHECK_INT(ended, 0);
}

/* A loop with a real-time place and a poster without one, both on one core. */
struct placed {
    struct loop *loop;
    enum place place;
    int received;
    int64_t cpu_us; /* of the loop's thread */
};

enum { PLACED_POSTS = 200 };

static void take_place(void *arg)
{
    struct placed *placed = arg;
    placed->place = place_ask();
}

static void take_post(void *arg)
{
    ++((struct placed *)arg)->received;
}

static void note_cpu(void *arg)
{
    struct placed *placed = arg;
    struct timespec spent;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    placed->cpu_us = spent.tv_sec * INT64_C(1000000) + spent.tv_nsec / 1000;
}

/* A loop that waited for its sender in a circle would keep it from its core until the kernel stops
 * all real-time threads for a moment, 950 ms a time. */
TEST(loop_real_time_is_woken_by_a_normal_thread)
{
    cpu_set_t before, one;
    CHECK_INT(sched_getaffinity(0, sizeof(before), &before), 0);
    int core = 0;
    while (!CPU_ISSET(core, &before))
        core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    CHECK_INT(sched_setaffinity(0, sizeof(one), &one), 0); /* the loop's thread inherits it */
    struct placed placed = {.loop = loop_new("test")};
    loop_post(placed.loop, take_place, &placed);
    CHECK_INT(loop_start(placed.loop), OK);
    for (int i = 0; i < PLACED_POSTS; i++) {
        loop_post(placed.loop, take_post, &placed);
        usleep(100);
    }
    loop_post(placed.loop, note_cpu, &placed);
    loop_join(placed.loop);
    loop_free(placed.loop);
    CHECK_INT(sched_setaffinity(0, sizeof(before), &before), 0);
    CHECK_INT(placed.received, PLACED_POSTS);
    if (placed.place == PLACE_REAL_TIME) /* else the system does not let it */
        CHECK(placed.cpu_us < 900000);
}
