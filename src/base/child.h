/* Child processes: spawned with a socketpair or pipes as their standard input and output, watched,
 * killed, reaped. The one place that calls posix_spawn and waitpid (through pidfd, so no SIGCHLD
 * handler is needed). Thread: its loop. */
#pragma once

#include <sys/types.h>

#include "base/attr.h"
#include "base/loop.h"

struct child;

typedef void child_exit_fn(void *arg, int exit_code, int signal_number);

/* How to start one. */
struct child_spec {
    const char *const *argv; /* argv[0] is the path; NULL behind the last */
    int stdio_fd;            /* what the child gets as descriptor 0 and 1; not closed here */
    int nice;                /* added to ours */
    child_exit_fn *on_exit;
    void *arg;
};

/* stderr is ours; of our environment, which holds secrets, the child gets only what says language
 * and time zone and how a sanitizer works. The child dies with us (PR_SET_PDEATHSIG). ERR_IO: fault
 * says why. */
enum err child_spawn(struct loop *loop, const struct child_spec *spec, struct child **out,
                     struct fault *fault) MUST_USE;
pid_t child_pid(const struct child *child);
void child_kill(struct child *child, int signal_number);
void child_close(struct child *child); /* SIGKILL if it still runs, reaped in the background;
                                          on_exit comes no more */
