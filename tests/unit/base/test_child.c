#include "base/child.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

struct watch {
    struct loop *loop;
    int exits, exit_code, signal_number;
};

static void on_exit_stop(void *arg, int exit_code, int signal_number)
{
    struct watch *watch = arg;
    watch->exits++;
    watch->exit_code = exit_code;
    watch->signal_number = signal_number;
    loop_stop(watch->loop);
}

static void stop(void *arg)
{
    loop_stop(arg);
}

TEST(child_speaks_over_its_stdio_and_exits)
{
    AUTO(loop) loop = loop_new("test");
    struct watch watch = {.loop = loop};
    struct child *child = NULL;
    int fds[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    const char *const argv[] = {"/bin/sh", "-c", "read x; echo got $x; exit 7", NULL};
    REQUIRE(child_spawn(loop, &(struct child_spec){argv, fds[1], 5, on_exit_stop, &watch}, &child,
                        NULL) == OK);
    close(fds[1]);
    CHECK(child_pid(child) > 0);
    CHECK_INT(write(fds[0], "it\n", 3), 3);
    loop_run(loop);
    char got[32] = "";
    CHECK(read(fds[0], got, sizeof(got) - 1) > 0);
    CHECK_TEXT(got, "got it\n");
    CHECK_INT(watch.exit_code, 7);
    CHECK_INT(watch.signal_number, 0);
    child_close(child);
    close(fds[0]);
}

TEST(child_is_killed)
{
    AUTO(loop) loop = loop_new("test");
    struct watch watch = {.loop = loop};
    struct child *child = NULL;
    const char *const argv[] = {"/bin/sleep", "100", NULL};
    REQUIRE(child_spawn(loop, &(struct child_spec){argv, 2, 0, on_exit_stop, &watch}, &child,
                        NULL) == OK);
    child_kill(child, SIGTERM);
    loop_run(loop);
    CHECK_INT(watch.signal_number, SIGTERM);
    CHECK_INT(watch.exit_code, -1);
    child_close(child);
}

static void close_child(void *arg)
{
    child_close(arg);
}

TEST(child_closed_is_reaped_without_a_word)
{
    AUTO(loop) loop = loop_new("test");
    struct watch watch = {.loop = loop};
    struct child *running = NULL, *idle = NULL;
    const char *const argv[] = {"/bin/sleep", "100", NULL};
    REQUIRE(child_spawn(loop, &(struct child_spec){argv, 2, 0, on_exit_stop, &watch}, &running,
                        NULL) == OK);
    REQUIRE(child_spawn(loop, &(struct child_spec){argv, 2, 0, on_exit_stop, &watch}, &idle,
                        NULL) == OK);
    pid_t pids[] = {child_pid(running), child_pid(idle)};
    loop_defer(loop, close_child, running);
    struct timer timer;
    timer_init(&timer, loop, stop, loop);
    for (int i = 0; i < 6000 && kill(pids[0], 0) == 0; i++) {
        timer_set_after(&timer, 10000);
        loop_run(loop);
    }
    child_close(idle); /* beside the loop: at once */
    CHECK_INT(watch.exits, 0);
    CHECK(kill(pids[0], 0) != 0);
    CHECK(kill(pids[1], 0) != 0);
}

TEST(child_that_cannot_start_says_why)
{
    AUTO(loop) loop = loop_new("test");
    struct child *child = NULL;
    struct fault fault = {0};
    const char *const argv[] = {"/no/such/program", NULL};
    CHECK_INT(
        child_spawn(loop, &(struct child_spec){argv, 2, 0, on_exit_stop, NULL}, &child, &fault),
        ERR_IO);
    CHECK_TEXT(fault.text, "cannot start /no/such/program: No such file or directory");
    CHECK(child == NULL);
}
