#include "base/arena.h"

#include <stdint.h>
#include <string.h>

#include "test.h"

TEST(arena_memory_is_zeroed_and_aligned)
{
    AUTO(arena) arena = arena_new(0);
    for (size_t len = 0; len < 6000; len += 37) {
        char *p = arena_alloc(arena, len);
        CHECK_INT((uintptr_t)p % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < len; i++)
            if (p[i] != 0) {
                test_fail(__FILE__, __LINE__, "not zeroed at %zu of %zu", i, len);
                break;
            }
        memset(p, 0xff, len);
    }
}

TEST(arena_makes_text)
{
    AUTO(arena) arena = arena_new(0);
    CHECK_TEXT(arena_strdup(arena, "abc"), "abc");
    CHECK_TEXT(arena_strndup(arena, "abcdef", 3), "abc");
    CHECK_TEXT(arena_strndup(arena, "ab", 10), "ab");
    CHECK_TEXT(arena_printf(arena, "%s=%d", "x", 5), "x=5");
    CHECK(arena_strdup(arena, NULL) == NULL);
    CHECK(arena_bytes(arena) > 0);
}

TEST(arena_takes_large_pieces_without_losing_its_block)
{
    AUTO(arena) arena = arena_new(0);
    char *small = arena_alloc(arena, 100);
    char *large = arena_alloc(arena, 1 << 20);
    char *next = arena_alloc(arena, 100);
    memset(large, 1, 1 << 20);
    CHECK(next - small < 4096 && next > small);
}

/* What tenants size must not end the process: who fills an arena is told and stops. */
TEST(arena_past_its_ceiling_is_full_and_still_gives)
{
    AUTO(arena) arena = arena_new(1000);
    memset(arena_alloc(arena, 600), 1, 600);
    CHECK(!arena_is_full(arena));
    memset(arena_alloc(arena, 600), 1, 600);
    CHECK(arena_is_full(arena));
    CHECK_TEXT(arena_strdup(arena, "still"), "still");
    CHECK(arena_is_full(arena));
}
