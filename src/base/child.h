/* Child processes: spawned with a socketpair or pipes as their standard input and output, watched,
 * killed, reaped. The one place that calls posix_spawn and waitpid (through pidfd, so no SIGCHLD
 * handler is needed). Thread: its loop. */
#pragma once

#include <sys/types.h>

#include "base/attr.h"
#include "base/loop.h"

struct child;
struct sandbox_wish;

typedef void child_exit_fn(void *arg, int exit_code, int signal_number);

/* How to start one. */
struct child_spec {
    const char *const *argv; /* argv[0] is the path; NULL after the last */
    int stdio_fd;            /* what the child gets as descriptor 0 and 1; not closed here */
    int nice;                /* added to ours */
    child_exit_fn *on_exit;
    void *arg;
    int output_fd; /* descriptor 1, where it is another one; 0: stdio_fd */
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

/* A program that a process of one thread and without a loop (the extractor) starts, locked in from
 * its first instruction on, its output in a pipe. */
struct child_pipe_spec {
    const char *const *argv;         /* argv[0] is the path; NULL after the last */
    int input_fd;                    /* its descriptor 0, or -1: none */
    const struct sandbox_wish *wish; /* its executable names argv[0] */
};
/* It dies with us; stderr goes nowhere; its environment is empty. *out_fd: to be closed. ERR_IO. */
enum err child_pipe(const struct child_pipe_spec *spec, pid_t *out_pid, int *out_fd,
                    struct fault *fault) MUST_USE;
/* Waits for its end: the exit status, or 128 and the signal's number. */
int child_pipe_wait(pid_t pid);
