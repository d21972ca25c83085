#include "test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
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

static bool run_forked(const struct test *test)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(120);
        test->run();
        fflush(NULL);
        exit(failures ? 1 : 0);
    }
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return false;
    if (WIFSIGNALED(status))
        fprintf(stderr, "    %s: signal %d\n", test->name, WTERMSIG(status));
    return status == 0;
}

static bool run_here(const struct test *test)
{
    failures = 0;
    test->run();
    return failures == 0;
}

int main(int argc, char **argv)
{
    bool in_process = argc > 1 && strcmp(argv[1], "--in-process") == 0;
    const char *wanted = argc > 1 + in_process ? argv[1 + in_process] : "";
    int passed = 0, failed = 0;
    for (struct test *test = first; test; test = test->next) {
        if (!strstr(test->name, wanted))
            continue;
        bool ok = in_process ? run_here(test) : run_forked(test);
        if (!ok)
            printf("FAIL %s\n", test->name);
        ok ? passed++ : failed++;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
