/* What a process that is locked in can still do, and what it cannot. Each test is a process. */
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { HAS_FILTER = 0 };
#else
enum { HAS_FILTER = 1 };
#endif

static struct sandbox_state enter(const char *const *readable)
{
    struct sandbox_state state, could = sandbox_support();
    struct fault fault = {0};
    const struct sandbox_wish wish = {.readable = readable,
                                      .memory_bytes = (size_t)1 << 30,
                                      .file_bytes = 1 << 20,
                                      .descriptors = 64};
    CHECK_INT(sandbox_enter(&wish, &state, &fault), OK);
    CHECK_INT(state.has_paths, could.has_paths);
    CHECK_INT(state.has_filter, could.has_filter && HAS_FILTER);
    return state;
}

static const char *const nothing[] = {NULL};

TEST(a_locked_in_process_opens_no_file)
{
    char path[64];
    snprintf(path, sizeof(path), "/tmp/earshot-sandbox-%d", getpid());
    struct sandbox_state state = enter(nothing);
    int fd = open("/etc/passwd", O_RDONLY);
    CHECK(fd < 0 || !state.has_paths);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    CHECK(fd < 0 || (!state.has_paths && !state.has_filter));
    if (fd >= 0)
        unlink(path);
    if (state.has_filter) {
        CHECK(unlink("/tmp/earshot-not-there") != 0 && errno == EPERM);
        CHECK(mkdir(path, 0700) != 0 && errno == EPERM);
        CHECK(chmod("/tmp", 0700) != 0 && errno == EPERM);
    }
}

TEST(a_locked_in_process_reads_what_it_was_given)
{
    static const char *const readable[] = {"/usr/share/doc", "/etc/hostname", "/not/there", NULL};
    struct sandbox_state state = enter(readable);
    CHECK(open("/usr/share/doc", O_RDONLY | O_DIRECTORY) >= 0);
    CHECK(open("/etc/hostname", O_RDONLY) >= 0);
    CHECK(open("/usr/share", O_RDONLY | O_DIRECTORY) < 0 || !state.has_paths);
    CHECK(open("/etc/hostname", O_RDWR) < 0 || (!state.has_paths && getuid() == 0));
    int memory = memfd_create("m", MFD_CLOEXEC);
    CHECK(memory >= 0 && write(memory, "x", 1) == 1);
}

TEST(a_locked_in_process_has_no_network)
{
    struct sandbox_state state = enter(nothing);
    if (!state.has_filter)
        return;
    static const int families[] = {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK};
    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        errno = 0;
        CHECK(socket(families[i], SOCK_DGRAM, 0) < 0 && errno == EPERM);
    }
}

TEST(a_locked_in_process_starts_no_other)
{
    struct sandbox_state state = enter(nothing);
    if (!state.has_filter)
        return;
    char program[] = "/bin/true", *argv[] = {program, NULL};
    execve(program, argv, NULL); /* would end this test without its last check */
    CHECK_INT(errno, EPERM);
    CHECK(fork() < 0 && errno == EPERM);
    CHECK(kill(getppid(), 0) != 0 && errno == EPERM);
    CHECK(syscall(SYS_ptrace, 16, getppid(), 0, 0) != 0 && errno == EPERM);
    CHECK(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
          MAP_FAILED);
    CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
          MAP_FAILED);
}

static void *in_thread(void *arg)
{
    *(bool *)arg = socket(AF_INET, SOCK_STREAM, 0) >= 0 || open("/etc/passwd", O_RDONLY) >= 0;
    return NULL;
}

TEST(a_thread_of_a_locked_in_process_is_locked_in)
{
    struct sandbox_state state = enter(nothing);
    bool is_free = true;
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, in_thread, &is_free) == 0);
    pthread_join(thread, NULL);
    CHECK(!is_free || !state.has_filter || !state.has_paths);
}

TEST(a_locked_in_process_is_bounded)
{
    struct sandbox_state state = enter(nothing);
    struct rlimit core, files, memory;
    CHECK(getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max == 0);
    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max == 64);
    CHECK(getrlimit(RLIMIT_AS, &memory) == 0);
    if (state.has_filter) {
        CHECK(memory.rlim_max == (size_t)1 << 30);
        CHECK(setrlimit(RLIMIT_CORE, &(struct rlimit){1, 1}) != 0);
        CHECK(mmap(NULL, (size_t)2 << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
              MAP_FAILED);
    }
}
