/* Children: vfork and exec (a fork of a large service would stall its loop while the page tables
 * are copied), watched through a pidfd. Thread: its loop. */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/list.h"
#include "base/mem.h"
#include "base/sandbox.h"

enum { LAST_DESCRIPTOR_OF_STDIO = 2 };

/* All that a child learns of our environment. */
static const char *const passed_on[] = {
    "LANG", "LC_ALL", "TZ", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"};
enum { ENVIRONMENT_SIZE = ARRAY_LEN(passed_on) + 2 };

struct child {
    struct loop *loop;
    pid_t pid;
    int pidfd;
    struct io *io;
    child_exit_fn *on_exit;
    void *arg;
    bool is_closed;
    struct loop_leftover leftover; /* once is_closed: until it is reaped */
};

int pidfd_open(pid_t pid,
               unsigned flags); /* glibc 2.36 has it in a header that clashes with ours */

/* What the child does between vfork and exec: system calls only, since it runs in our memory. */
/* When memory runs out, rather this child than the service; needs no privilege. */
static void die_first(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = write(fd, "1000", 4);
    (void)n; /* without, it is as likely as the others */
    close(fd);
}

static _Noreturn void become(const struct child_spec *spec, char *const environment[], pid_t parent,
                             volatile int *out_errno)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    die_first();
    if (getppid() != parent) /* it died before prctl() */
        _exit(127);
    if (spec->nice)
        setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + spec->nice);
    int output_fd = spec->output_fd ? spec->output_fd : spec->stdio_fd;
    bool has_stdio = dup2(spec->stdio_fd, 0) == 0 && dup2(output_fd, 1) == 1;
    close_range(LAST_DESCRIPTOR_OF_STDIO + 1, ~0U, 0);
    if (has_stdio)
        execve(spec->argv[0], (char *const *)(uintptr_t)spec->argv, environment);
    *out_errno = errno;
    _exit(127);
}

static void free_child(void *arg)
{
    mem_free(arg);
}

/* Without the loop: the killed child is dead at any moment. */
static void reap_now(void *arg)
{
    struct child *child = arg;
    waitpid(child->pid, NULL, 0);
    io_close(child->io);
    close(child->pidfd);
    loop_defer(child->loop, free_child, child);
}

/* Reaps it and tells the owner, once. */
static void on_pidfd(void *arg, unsigned events)
{
    struct child *child = arg;
    (void)events;
    siginfo_t info = {0};
    int options = WEXITED | WNOHANG;
    if (waitid(P_PIDFD, (id_t)child->pidfd, &info, options) != 0 || info.si_pid == 0)
        return;
    io_close(child->io);
    child->io = NULL;
    close(child->pidfd);
    child->pid = 0;
    if (child->is_closed) {
        list_remove(&child->leftover.node);
        loop_defer(child->loop, free_child, child);
        return;
    }
    bool has_exited = info.si_code == CLD_EXITED;
    child->on_exit(child->arg, has_exited ? info.si_status : -1, has_exited ? 0 : info.si_status);
}

static void make_environment(char *out[ENVIRONMENT_SIZE])
{
    size_t count = 0;
    out[count++] = mem_strdup("PATH=/usr/bin:/bin");
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++) {
        const char *value = getenv(passed_on[i]);
        if (value)
            out[count++] = mem_printf("%s=%s", passed_on[i], value);
    }
    out[count] = NULL;
}

static void free_environment(char *environment[ENVIRONMENT_SIZE])
{
    for (size_t i = 0; environment[i]; i++)
        mem_free(environment[i]);
}

enum err child_spawn(struct loop *loop, const struct child_spec *spec, struct child **out,
                     struct fault *fault)
{
    volatile int failure = 0; /* shared with the child until exec */
    if (access(spec->argv[0], X_OK) != 0)
        return fault_set(fault, ERR_IO, "cannot start %s: %s", spec->argv[0], strerror(errno));
    char *environment[ENVIRONMENT_SIZE];
    make_environment(environment);
    pid_t parent = getpid();
    pid_t pid = vfork(); /* NOLINT: posix_spawn sets neither the nice value nor PR_SET_PDEATHSIG */
    if (pid == 0)
        become(spec, environment, parent, &failure);
    free_environment(environment);
    if (pid < 0)
        return fault_set(fault, ERR_IO, "cannot start %s: %s", spec->argv[0], strerror(errno));
    int pidfd = failure ? -1 : pidfd_open(pid, 0);
    if (pidfd < 0) {
        int cause = failure ? failure : errno;
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0); /* dead already, or this very moment */
        return fault_set(fault, ERR_IO, "cannot start %s: %s", spec->argv[0], strerror(cause));
    }
    struct child *child = mem_new(struct child);
    *child = (struct child){
        .loop = loop, .pid = pid, .pidfd = pidfd, .on_exit = spec->on_exit, .arg = spec->arg};
    child->io = io_open(loop, pidfd, IO_READ, on_pidfd, child);
    *out = child;
    return OK;
}

pid_t child_pid(const struct child *child)
{
    return child->pid;
}

void child_kill(struct child *child, int signal_number)
{
    if (child->pid > 0)
        kill(child->pid, signal_number); /* not reaped yet, so the pid is still its own */
}

void child_close(struct child *child)
{
    if (!child)
        return;
    child->is_closed = true;
    child_kill(child, SIGKILL);
    if (child->pid > 0 && loop_is_current(child->loop))
        loop_take_leftover(child->loop, &child->leftover, reap_now,
                           child); /* on_pidfd() comes first */
    else if (child->pid > 0)
        reap_now(child); /* the loop runs no more: nobody is kept waiting */
    else
        loop_defer(child->loop, free_child, child);
}

/* Without a loop. */

/* In the forked child, which has one thread. */
static _Noreturn void become_locked_in(const struct child_pipe_spec *spec, int output_fd,
                                       pid_t parent)
{
    static char *const nothing[] = {NULL};
    struct sandbox_state state;
    struct fault fault;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    die_first();
    int null_fd = open("/dev/null", O_RDWR);
    bool has_stdio = getppid() == parent && null_fd >= 0 && dup2(null_fd, 2) == 2 &&
                     dup2(output_fd, 1) == 1 &&
                     dup2(spec->input_fd >= 0 ? spec->input_fd : null_fd, 0) == 0;
    close_range(LAST_DESCRIPTOR_OF_STDIO + 1, ~0U, 0);
    if (has_stdio && sandbox_enter(spec->wish, &state, &fault) == OK)
        execve(spec->argv[0], (char *const *)(uintptr_t)spec->argv, nothing);
    _exit(127);
}

enum err child_pipe(const struct child_pipe_spec *spec, pid_t *out_pid, int *out_fd,
                    struct fault *fault)
{
    int ends[2];
    if (access(spec->argv[0], X_OK) != 0 || pipe2(ends, O_CLOEXEC) != 0)
        return fault_set(fault, ERR_IO, "cannot start %s: %s", spec->argv[0], strerror(errno));
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0)
        become_locked_in(spec, ends[1], parent);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return fault_set(fault, ERR_IO, "cannot start %s: %s", spec->argv[0], strerror(errno));
    }
    *out_pid = pid;
    *out_fd = ends[0];
    return OK;
}

int child_pipe_wait(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
