#include "base/mem.h"
#include "call/line_cache.h"
#include "test.h"

static struct encoded_line *make_of(const char *key, const char *owner, size_t frames)
{
    struct encoded_line *line = encoded_line_new(key, owner);
    uint8_t packet[100] = {0};
    for (size_t i = 0; i < frames; i++) {
        packet[0] = (uint8_t)i;
        encoded_line_add(line, packet, 10 + i % 50);
    }
    return line;
}

static struct encoded_line *make(const char *key, size_t frames)
{
    return make_of(key, "usr_1", frames);
}

TEST(frames_come_back_as_they_were)
{
    struct encoded_line *line = make("a", 200);
    CHECK_INT(encoded_line_frames(line), 200);
    for (size_t i = 0; i < 200; i++) {
        size_t len;
        const uint8_t *packet = encoded_line_frame(line, i, &len);
        CHECK_INT(len, 10 + i % 50);
        CHECK_INT(packet[0], (uint8_t)i);
    }
    encoded_line_unref(line);
}

TEST(the_line_said_last_stays)
{
    AUTO(line_cache) cache = line_cache_new(25000);
    static const char *const keys[] = {"a", "b", "c"};
    for (int i = 0; i < 2; i++) {
        struct encoded_line *line = make(keys[i], 200);
        line_cache_keep(cache, line);
        encoded_line_unref(line);
    }
    struct encoded_line *held = line_cache_find(cache, "a");
    REQUIRE(held != NULL);
    struct encoded_line *line = make("c", 200);
    line_cache_keep(cache, line);
    encoded_line_unref(line);
    CHECK(line_cache_bytes(cache) <= 25000);
    CHECK(line_cache_find(cache, "b") == NULL);
    encoded_line_unref(held);
    held = line_cache_find(cache, "a");
    CHECK(held != NULL);
    encoded_line_unref(held);
}

TEST(empty_and_endless_lines_are_not_kept)
{
    AUTO(line_cache) cache = line_cache_new(LINE_CACHE_MAX_BYTES);
    struct encoded_line *empty = make("a", 0), *endless = make("b", 60 * 50 + 1);
    line_cache_keep(cache, empty);
    line_cache_keep(cache, endless);
    CHECK_INT(line_cache_bytes(cache), 0);
    encoded_line_unref(empty);
    encoded_line_unref(endless);
}

TEST(one_workspaces_lines_push_out_its_own)
{
    AUTO(line_cache) cache = line_cache_new(100000);
    struct encoded_line *line = make_of("other", "usr_2", 200);
    line_cache_keep(cache, line);
    encoded_line_unref(line);
    for (int i = 0; i < 100; i++) {
        AUTO_MEM char *key = mem_printf("flood %d", i);
        line = make_of(key, "usr_1", 200);
        line_cache_keep(cache, line);
        encoded_line_unref(line);
    }
    CHECK(line_cache_bytes(cache) <= 100000);
    line = line_cache_find(cache, "other");
    CHECK(line != NULL);
    encoded_line_unref(line);
    line = line_cache_find(cache, "flood 99");
    CHECK(line != NULL);
    encoded_line_unref(line);
    CHECK(line_cache_find(cache, "flood 0") == NULL);
}

TEST(a_spoilt_line_is_not_kept)
{
    AUTO(line_cache) cache = line_cache_new(LINE_CACHE_MAX_BYTES);
    struct encoded_line *line = make("a", 20);
    encoded_line_spoil(line);
    line_cache_keep(cache, line);
    CHECK_INT(line_cache_bytes(cache), 0);
    encoded_line_unref(line);
}
