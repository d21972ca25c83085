#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/loop.h"
#include "base/pool.h"
#include "fake/loop.h"
#include "fake/pool.h"
#include "test.h"

static char journal[256];

struct note {
    char letter;
    struct loop *loop;
};

static void write_down(void *arg)
{
    struct note *note = arg;
    journal[strlen(journal)] = note->letter;
}

static void write_down_and_stop(void *arg)
{
    struct note *note = arg;
    write_down(note);
    loop_stop(note->loop);
}

TEST(the_calendar_can_be_stepped_and_elapsed_time_stays)
{
    AUTO(loop) loop = loop_new("a");
    struct note note = {'a', loop};
    struct timer timer;
    timer_init(&timer, loop, write_down, &note);
    timer_set_after(&timer, 1000000);
    int64_t wall_ms = clock_wall_ms(), now_us = clock_now_us();
    fake_step_wall(3600000);
    CHECK_INT(clock_wall_ms(), wall_ms + 3600000);
    CHECK_INT(clock_now_us(), now_us);
    fake_run_for(500000);
    CHECK_TEXT(journal, "");
    fake_step_wall(-7200000);
    fake_run_for(500000);
    CHECK_TEXT(journal, "a");
    CHECK_INT(clock_wall_ms(), wall_ms - 3600000 + 1000);
}

TEST(fake_time_jumps_to_the_next_timer)
{
    AUTO(loop) loop = loop_new("a");
    struct note notes[] = {{'a', loop}, {'b', loop}, {'c', loop}};
    struct timer timers[3];
    for (int i = 0; i < 3; i++)
        timer_init(&timers[i], loop, write_down, &notes[i]);
    timer_set_after(&timers[2], 3600 * INT64_C(1000000));
    timer_set_after(&timers[0], 1000);
    timer_set_after(&timers[1], 1000);
    int64_t start_us = clock_now_us(), wall_ms = clock_wall_ms();
    fake_run_until(start_us + 999);
    CHECK_TEXT(journal, "");
    CHECK_INT(clock_now_us(), start_us + 999);
    fake_run_for(1);
    CHECK_TEXT(journal, "ab");
    CHECK(fake_run_idle(2 * 3600 * INT64_C(1000000)));
    CHECK_TEXT(journal, "abc");
    CHECK_INT(clock_now_us(), start_us + 3600 * INT64_C(1000000));
    CHECK_INT(clock_wall_ms(), wall_ms + 3600 * 1000);
}

TEST(fake_loops_keep_their_order)
{
    AUTO(loop) one = loop_new("one");
    AUTO(loop) two = loop_new("two");
    struct note a = {'a', one}, b = {'b', two}, c = {'c', one}, d = {'d', two};
    loop_post(two, write_down, &d);
    loop_defer(two, write_down, &b);
    loop_post(one, write_down, &c);
    loop_defer(one, write_down, &a);
    CHECK(fake_turn());
    CHECK_TEXT(journal, "acbd");
    CHECK(!fake_turn());
}

TEST(fake_loop_runs_until_stopped)
{
    AUTO(loop) loop = loop_new("a");
    struct note a = {'a', loop}, late = {'z', loop};
    struct timer timer, too_late;
    timer_init(&timer, loop, write_down_and_stop, &a);
    timer_init(&too_late, loop, write_down, &late);
    timer_set_after(&timer, 5000);
    timer_set_after(&too_late, 6000);
    loop_run(loop);
    CHECK_TEXT(journal, "a");
}

struct wire {
    int fd;
    struct io *io;
    char got[16];
};

static void on_wire(void *arg, unsigned events)
{
    struct wire *wire = arg;
    CHECK_INT(events, IO_READ);
    if (read(wire->fd, wire->got, sizeof(wire->got) - 1) <= 0)
        io_close(wire->io);
}

TEST(fake_loop_watches_real_descriptors)
{
    AUTO(loop) loop = loop_new("a");
    int fds[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    struct wire wire = {.fd = fds[0]};
    wire.io = io_open(loop, fds[0], IO_READ, on_wire, &wire);
    fake_run_for(10);
    REQUIRE(write(fds[1], "hi", 2) == 2);
    fake_run_for(10);
    CHECK_TEXT(wire.got, "hi");
    close(fds[1]);
    CHECK(fake_run_idle(10));
    close(fds[0]);
}

static bool has_two(void *arg)
{
    (void)arg;
    return strlen(journal) == 2;
}

TEST(fake_pool_takes_its_scripted_time)
{
    AUTO(loop) loop = loop_new("a");
    AUTO(pool) pool = pool_new("pool", 2, 5);
    struct note note = {'w', loop};
    fake_pool_delay(7000);
    int64_t start_us = clock_now_us();
    CHECK_INT(pool_run(pool, write_down, loop, write_down, &note), OK);
    fake_run_for(6999);
    CHECK_TEXT(journal, "");
    CHECK(fake_run_while_not(has_two, NULL, 1000000));
    CHECK_INT(clock_now_us(), start_us + 7000);
}

/* Two workers, one of them for one key: ten jobs of one do not stand before another's. */
TEST(fake_pool_is_shared_fairly)
{
    AUTO(loop) loop = loop_new("a");
    AUTO(pool) pool = pool_new("pool", 2, 5);
    struct note a = {'a', loop}, b = {'b', loop}, o = {'o', loop};
    fake_pool_delay(1000);
    for (int i = 0; i < 4; i++)
        CHECK_INT(pool_run_fair(pool, "a", write_down, NULL, NULL, &a), OK);
    CHECK_INT(pool_run_fair(pool, "b", write_down, NULL, NULL, &b), OK);
    CHECK_INT(pool_run(pool, write_down, NULL, NULL, &o), OK);
    fake_run_for(10000);
    CHECK_TEXT(journal, "aobaaa");
}
