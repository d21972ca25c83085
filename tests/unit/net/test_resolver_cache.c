#include "net/resolver_cache.h"

#include <stdio.h>

#include "test.h"

enum { SECOND_US = 1000000 };

static const struct resolver_lookup_answer good = {.count = 1, .ttl_s = 60};

TEST(an_answer_is_kept_as_long_as_it_says_within_bounds)
{
    static const struct {
        enum err err;
        int64_t ttl_s, kept_s;
    } rows[] = {{OK, 60, 60},          {OK, 1, 1},    {OK, 86400, 300}, {OK, 0, 0},
                {ERR_NOT_FOUND, 0, 5}, {ERR_IO, 0, 3}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(resolver_cache) cache = resolver_cache_new(10);
        const struct resolver_lookup_answer answer = {
            .count = rows[i].err == OK, .ttl_s = rows[i].ttl_s, .fault = {.err = rows[i].err}};
        resolver_cache_put(cache, "a.example", &answer, 0);
        int64_t until_us = rows[i].kept_s * SECOND_US;
        CHECK_INT(resolver_cache_get(cache, "a.example", until_us - 1) != NULL, rows[i].kept_s > 0);
        CHECK(resolver_cache_get(cache, "a.example", until_us) == NULL);
        CHECK_INT(resolver_cache_count(cache), 0);
    }
}

TEST(a_full_cache_forgets_the_name_used_least_recently)
{
    AUTO(resolver_cache) cache = resolver_cache_new(3);
    const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < 3; i++)
        resolver_cache_put(cache, names[i], &good, 0);
    CHECK(resolver_cache_get(cache, "a", 1) != NULL);
    resolver_cache_put(cache, "d", &good, 1);
    CHECK(resolver_cache_get(cache, "b", 2) == NULL);
    CHECK(resolver_cache_get(cache, "a", 2) && resolver_cache_get(cache, "c", 2));
    for (int i = 0; i < 100000; i++) {
        char name[24];
        snprintf(name, sizeof(name), "h%d.example", i);
        resolver_cache_put(cache, name, &good, 3);
    }
    CHECK_INT(resolver_cache_count(cache), 3);
}
