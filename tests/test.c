#include "test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sweep.h"

static struct test *first, **last = &first;
static int failures;

void test_add(struct test *test)
{
    *last = test;
    last = &test->next;
}

void test_fail(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "    %s:%d: %s", file, line, sweep_where());
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    failures++;
}

int test_failures(void)
{
    return failures;
}

bool test_equal_text(const char *file, int line, const char *got, const char *want,
                     const char *expr)
{
    if (got == want || (got && want && strcmp(got, want) == 0))
        return true;
    test_fail(file, line, "%s\n      got  %s\n      want %s", expr, got ? got : "(null)",
              want ? want : "(null)");
    return false;
}

bool test_equal_int(const char *file, int line, long long got, long long want, const char *expr)
{
    if (got == want)
        return true;
    test_fail(file, line, "%s: got %lld, want %lld", expr, got, want);
    return false;
}

/* Slow tests are named, so that a suite's log says where its time went. */
enum { SLOW_MS = 1000 };

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static bool run_here(const struct test *test)
{
    failures = 0;
    test->run();
    return failures == 0;
}

int test_at_once = 1;

/* Tests that run, each in a process of its own; what one says comes out in one piece, at its end.
 */
static struct running {
    const struct test *test; /* NULL: free */
    pid_t pid;
    FILE *said;
    long long began_ms;
} running[TEST_AT_ONCE_MAX];

static void start(struct running *place, const struct test *test)
{
    *place = (struct running){.test = test, .said = tmpfile(), .began_ms = now_ms()};
    fflush(NULL);
    place->pid = fork();
    if (place->pid != 0)
        return;
    if (place->said)
        dup2(fileno(place->said), 2);
    alarm(600); /* for what never ends, on whatever machine */
    test->run();
    fflush(NULL);
    exit(failures ? 1 : 0);
}

static void repeat(FILE *said)
{
    char text[4096];
    if (!said)
        return;
    rewind(said);
    for (size_t n; (n = fread(text, 1, sizeof(text), said)) > 0;)
        fwrite(text, 1, n, stderr);
    fclose(said);
}

static bool tell(const struct test *test, bool is_good, long long began_ms)
{
    if (!is_good)
        printf("FAIL %s\n", test->name);
    if (now_ms() - began_ms >= SLOW_MS)
        printf("     %lld ms %s\n", now_ms() - began_ms, test->name);
    return is_good;
}

static struct running *place_of(pid_t pid)
{
    for (int i = 0; i < test_at_once; i++)
        if (running[i].test && running[i].pid == pid)
            return &running[i];
    return NULL;
}

/* Waits for one that ends. Other children of this process, such as a server, are none of ours. */
static bool await_one(struct running **out_place)
{
    int status = 0;
    pid_t pid;
    do
        pid = waitpid(-1, &status, 0);
    while (pid > 0 && !place_of(pid));
    if (pid <= 0)
        exit(1);
    struct running *place = place_of(pid);
    repeat(place->said);
    if (WIFSIGNALED(status))
        fprintf(stderr, "    %s: signal %d\n", place->test->name, WTERMSIG(status));
    *out_place = place;
    return tell(place->test, status == 0, place->began_ms);
}

struct tally {
    int passed, failed;
};

static void add(struct tally *tally, bool is_good)
{
    *(is_good ? &tally->passed : &tally->failed) += 1;
}

static void run_forked(const char *wanted, struct tally *tally)
{
    int under_way = 0;
    const struct test *test = first;
    for (;;) {
        while (test && !strstr(test->name, wanted))
            test = test->next;
        struct running *place = NULL;
        if (under_way == test_at_once || (!test && under_way)) {
            add(tally, await_one(&place));
            place->test = NULL;
            under_way--;
            continue;
        }
        if (!test)
            return;
        for (place = running; place->test;)
            place++;
        start(place, test);
        under_way++;
        test = test->next;
    }
}

static void run_all_here(const char *wanted, struct tally *tally)
{
    for (const struct test *test = first; test; test = test->next) {
        long long began_ms = now_ms();
        if (strstr(test->name, wanted))
            add(tally, tell(test, run_here(test), began_ms));
    }
}

int main(int argc, char **argv)
{
    bool in_process = argc > 1 && strcmp(argv[1], "--in-process") == 0;
    const char *wanted = argc > 1 + in_process ? argv[1 + in_process] : "";
    struct tally tally = {0};
    (in_process ? run_all_here : run_forked)(wanted, &tally);
    printf("%d passed, %d failed\n", tally.passed, tally.failed);
    return tally.failed ? 1 : 0;
}
