#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <seccomp.h>

#include "base/attr.h"

/* A sanitizer's runtime reserves terabytes and stops threads of its own at the end. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

/* Limits. */

static enum err limit(int resource, rlim_t most, const char *name, struct fault *fault)
{
    struct rlimit now;
    if (getrlimit(resource, &now) != 0)
        return fault_set(fault, ERR_IO, "%s: %s", name, strerror(errno));
    most = MIN(most, now.rlim_max);
    if (setrlimit(resource, &(struct rlimit){most, most}) != 0)
        return fault_set(fault, ERR_IO, "%s: %s", name, strerror(errno));
    return OK;
}

static enum err set_limits(const struct sandbox_wish *wish, struct fault *fault)
{
    enum err err = limit(RLIMIT_CORE, 0, "RLIMIT_CORE", fault);
    if (!err)
        err = limit(RLIMIT_NOFILE, wish->descriptors, "RLIMIT_NOFILE", fault);
    if (!err)
        err = limit(RLIMIT_FSIZE, wish->file_bytes, "RLIMIT_FSIZE", fault);
    if (!err && wish->cpu_s)
        err = limit(RLIMIT_CPU, wish->cpu_s, "RLIMIT_CPU", fault);
    if (!err && wish->memory_bytes && !IS_SANITIZED)
        err = limit(RLIMIT_AS, wish->memory_bytes, "RLIMIT_AS", fault);
    return err;
}

/* Paths: Landlock has no wrapper in the C library. */

enum {
    ALL_OF_VERSION_1 = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1,
    READING = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
};

static int landlock_version(void)
{
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

static void allow_path(int rules, const char *path, __u64 more)
{
    struct stat info;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return;
    bool is_known = fstat(fd, &info) == 0;
    __u64 reading = is_known && S_ISDIR(info.st_mode) ? READING : LANDLOCK_ACCESS_FS_READ_FILE;
    struct landlock_path_beneath_attr rule = {.allowed_access = reading | more, .parent_fd = fd};
    (void)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(fd);
}

/* Later versions of Landlock know more rights (renaming across directories, truncating); both need
 * one that the first version refuses already. */
static bool restrict_paths(const struct sandbox_wish *wish)
{
    struct landlock_ruleset_attr attr = {.handled_access_fs = ALL_OF_VERSION_1};
    if (landlock_version() < 1)
        return false;
    int rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
    if (rules < 0)
        return false;
    for (size_t i = 0; wish->readable[i]; i++)
        allow_path(rules, wish->readable[i], 0);
    for (size_t i = 0; wish->executable && wish->executable[i]; i++)
        allow_path(rules, wish->executable[i], LANDLOCK_ACCESS_FS_EXECUTE);
    if (IS_SANITIZED)
        allow_path(rules, "/proc", 0); /* its runtime looks at itself at the end */
    bool is_done = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return is_done;
}

/* System calls: memory, time, what is open, and files to be read. */

static const int allowed[] = {
    /* what is open */
    SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(writev),
    SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(close),
    SCMP_SYS(lseek), SCMP_SYS(fstat), SCMP_SYS(fstatfs), SCMP_SYS(fcntl), SCMP_SYS(dup),
    SCMP_SYS(ftruncate), SCMP_SYS(fadvise64),
    /* names, which Landlock looks at */
    SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(access),
    SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
    SCMP_SYS(getdents64), SCMP_SYS(getcwd),
    /* memory */
    SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(memfd_create),
    /* waiting, time */
    SCMP_SYS(futex), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(epoll_pwait2), SCMP_SYS(eventfd2),
    SCMP_SYS(pipe2), SCMP_SYS(timerfd_create), SCMP_SYS(timerfd_settime), SCMP_SYS(timerfd_gettime),
    SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(restart_syscall), SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    /* itself */
    SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getppid), SCMP_SYS(getuid), SCMP_SYS(geteuid),
    SCMP_SYS(getgid), SCMP_SYS(getegid), SCMP_SYS(getrandom), SCMP_SYS(uname), SCMP_SYS(sysinfo),
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),
    SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(exit), SCMP_SYS(exit_group),
    SCMP_SYS(getrusage), SCMP_SYS(wait4), /* for what it had started before */
};

/* With a condition on one argument: (argument & mask) == value. */
struct condition {
    int number;
    unsigned argument;
    scmp_datum_t mask, value;
};
static const struct condition conditional[] = {
    {SCMP_SYS(openat), 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY},
    {SCMP_SYS(open), 1, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY},
    {SCMP_SYS(clone), 0, CLONE_THREAD, CLONE_THREAD}, /* a thread, which is locked in as well */
    {SCMP_SYS(ioctl), 1, UINT32_MAX, FIONBIO}, /* libuv makes descriptors non-blocking by it */
    {SCMP_SYS(prctl), 0, UINT32_MAX, PR_SET_NAME},
    {SCMP_SYS(prlimit64), 2, UINT64_MAX, 0}, /* to read them */
};

/* To become a program that Landlock lets be executed, and to load it. */
static const int executing[] = {
    SCMP_SYS(execve),          SCMP_SYS(mmap), SCMP_SYS(mprotect), SCMP_SYS(arch_prctl),
    SCMP_SYS(set_tid_address),
};
/* Whoever executes nothing gets no new code. */
static const struct condition no_code[] = {
    {SCMP_SYS(mmap), 2, PROT_EXEC, 0},
    {SCMP_SYS(mprotect), 2, PROT_EXEC, 0},
};

static bool allow_all(scmp_filter_ctx filter, const int *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, numbers[i], 0) != 0)
            return false;
    return true;
}

static bool allow_conditional(scmp_filter_ctx filter, const struct condition *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct scmp_arg_cmp condition = {rows[i].argument, SCMP_CMP_MASKED_EQ, rows[i].mask,
                                               rows[i].value};
        if (seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, rows[i].number, 1, &condition) != 0)
            return false;
    }
    return true;
}

static bool add_rules(scmp_filter_ctx filter, bool executes)
{
    if (!allow_all(filter, allowed, ARRAY_LEN(allowed)) ||
        !allow_conditional(filter, conditional, ARRAY_LEN(conditional)))
        return false;
    if (executes ? !allow_all(filter, executing, ARRAY_LEN(executing))
                 : !allow_conditional(filter, no_code, ARRAY_LEN(no_code)))
        return false;
    /* clone3() cannot be looked into; told that it is missing, the C library takes clone(). */
    if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) != 0)
        return false;
    /* Only at itself: abort(). */
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                            SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid())) == 0;
}

static bool filter_calls(bool executes)
{
    if (IS_SANITIZED)
        return false;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (!filter)
        return false;
    bool is_done = add_rules(filter, executes) && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return is_done;
}

enum err sandbox_enter(const struct sandbox_wish *wish, struct sandbox_state *out,
                       struct fault *fault)
{
    *out = (struct sandbox_state){0};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return fault_set(fault, ERR_IO, "PR_SET_NO_NEW_PRIVS: %s", strerror(errno));
    enum err err = set_limits(wish, fault);
    if (err)
        return err;
    out->has_paths = restrict_paths(wish);
    out->has_filter = filter_calls(wish->executable != NULL);
    return OK;
}

struct sandbox_state sandbox_support(void)
{
    uint32_t action = SECCOMP_RET_ERRNO;
    return (struct sandbox_state){
        .has_paths = landlock_version() >= 1,
        .has_filter = syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0,
    };
}
