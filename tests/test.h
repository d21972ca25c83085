/* The test runner: TEST(thing_does_this) { ... } registers itself; test_main() (tests/test.c) runs
 * all, or those whose name contains the first argument, each in its own process so that one crash
 * is one failure, and closes with `N passed, N failed`. `--in-process` runs without fork, for
 * debuggers and sanitizers' stack traces. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct test {
    const char *name;
    void (*run)(void);
    struct test *next;
};
void test_add(struct test *test);
void test_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int test_failures(void); /* of the test that runs */
bool test_equal_text(const char *file, int line, const char *got, const char *want,
                     const char *expr);
bool test_equal_int(const char *file, int line, long long got, long long want, const char *expr);

/* How many tests of the program run at once; a program whose tests mostly wait sets it before
 * main(). */
enum { TEST_AT_ONCE_MAX = 8 };
extern int test_at_once;

#define TEST(name_)                                                                                \
    static void test_##name_(void);                                                                \
    static struct test test_entry_##name_ = {.name = #name_, .run = test_##name_};                 \
    __attribute__((constructor)) static void test_register_##name_(void)                           \
    {                                                                                              \
        test_add(&test_entry_##name_);                                                             \
    }                                                                                              \
    static void test_##name_(void)

/* A failed CHECK is reported and the test goes on; a failed REQUIRE ends the test. */
#define CHECK(cond) ((cond) ? true : (test_fail(__FILE__, __LINE__, "CHECK(%s)", #cond), false))
#define CHECK_INT(got, want)                                                                       \
    test_equal_int(__FILE__, __LINE__, (long long)(got), (long long)(want), #got)
#define CHECK_TEXT(got, want) test_equal_text(__FILE__, __LINE__, (got), (want), #got)
#define REQUIRE(cond)                                                                              \
    do {                                                                                           \
        if (!CHECK(cond))                                                                          \
            return;                                                                                \
    } while (0)
