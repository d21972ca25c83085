#include "base/armed.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/list.h"
#include "base/loop.h"
#include "base/mem.h"
#include "test.h"

struct owner {
    char before[200];
    struct timer timer;
    struct list_node node;
};

static void never(void *arg)
{
    (void)arg;
}

static void never_ready(void *arg, unsigned events)
{
    (void)arg, (void)events;
}

static void leave_timer(struct loop *loop, struct owner *owner)
{
    timer_init(&owner->timer, loop, never, owner);
    timer_set_after(&owner->timer, 1000000);
}

static void leave_deferred(struct loop *loop, struct owner *owner)
{
    loop_defer(loop, never, owner);
}

static void leave_posted(struct loop *loop, struct owner *owner)
{
    loop_post(loop, never, owner);
}

static void leave_watch(struct loop *loop, struct owner *owner)
{
    int ends[2];
    if (pipe(ends) == 0)
        io_open(loop, ends[0], IO_READ, never_ready, owner);
}

static void leave_node(struct loop *loop, struct owner *owner)
{
    static struct list_node head;
    (void)loop;
    list_init(&head);
    list_push_back(&head, &owner->node);
}

static void leave_nothing(struct loop *loop, struct owner *owner)
{
    leave_timer(loop, owner);
    timer_stop(&owner->timer);
    leave_node(loop, owner);
    list_remove(&owner->node);
}

/* Frees an owner that something was done to, in a child; true: that ended the child. */
static bool freeing_aborts(void (*leave)(struct loop *loop, struct owner *owner), bool moves)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct owner *owner = mem_new(struct owner);
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        leave(loop_new("test"), owner);
        if (moves)
            owner = mem_realloc_n(owner, 1000, sizeof(*owner));
        else
            mem_free(owner);
        _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

TEST(freeing_what_a_callback_will_touch_ends_a_debug_build)
{
    static const struct {
        void (*leave)(struct loop *loop, struct owner *owner);
        bool aborts;
    } rows[] = {{leave_timer, true}, {leave_deferred, true}, {leave_posted, true},
                {leave_watch, true}, {leave_node, true},     {leave_nothing, false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool aborts = ARMED_IS_CHECKED && rows[i].aborts;
        if (!aborts && rows[i].aborts)
            continue; /* this build does not look */
        CHECK_INT(freeing_aborts(rows[i].leave, false), aborts);
        CHECK_INT(freeing_aborts(rows[i].leave, true), aborts);
    }
}
