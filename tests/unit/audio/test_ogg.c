#include "audio/ogg.h"

#include <string.h>

#include "base/attr.h"
#include "ogg_file.h"
#include "test.h"

struct got {
    unsigned heads, packets;
    struct ogg_head head;
    struct buf bytes; /* of the packets, a length of two bytes before each */
    bool refuses;
};

static void on_head(void *arg, const struct ogg_head *head)
{
    struct got *got = arg;
    got->heads++;
    got->head = *head;
}

static bool on_packet(void *arg, const uint8_t *packet, size_t bytes)
{
    struct got *got = arg;
    const uint8_t length[] = {(uint8_t)bytes, (uint8_t)(bytes >> 8)};
    got->packets++;
    (void)buf_append(&got->bytes, length, 2);
    (void)buf_append(&got->bytes, packet, bytes);
    return !got->refuses;
}

static bool read_in(const struct buf *file, size_t step, struct got *got)
{
    static const struct ogg_fns fns = {on_head, on_packet};
    struct ogg ogg;
    bool refuses = got->refuses;
    buf_clear(&got->bytes);
    *got = (struct got){.refuses = refuses};
    buf_init(&got->bytes, 1 << 20);
    ogg_init(&ogg, &fns, got);
    bool is_fine = true;
    for (size_t at = 0; at < file->len && is_fine; at += step)
        is_fine = ogg_push(&ogg, file->data + at, MIN(step, file->len - at));
    is_fine = is_fine && ogg_finish(&ogg);
    ogg_clear(&ogg);
    return is_fine;
}

/* Packets of these lengths, each byte its own. */
static void write_file(struct ogg_file *file, const size_t *lengths, size_t count)
{
    uint8_t packet[OGG_PACKET_MAX_BYTES + 1];
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < lengths[i]; k++)
            packet[k] = (uint8_t)(i * 31 + k * 7 + k / 256);
        ogg_file_packet(file, packet, lengths[i]);
    }
    ogg_file_end(file);
}

static void expect(const size_t *lengths, size_t count, struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        (void)buf_append_char(out, (char)lengths[i]);
        (void)buf_append_char(out, (char)(lengths[i] >> 8));
        for (size_t k = 0; k < lengths[i]; k++)
            (void)buf_append_char(out, (char)(i * 31 + k * 7 + k / 256));
    }
}

TEST(ogg_gives_packets_of_all_lengths_cut_anywhere)
{
    static const size_t lengths[] = {1, 70, 254, 255, 256, 509, 510, 511, 1275, 7680, 0, 3};
    static const unsigned a_page[] = {1, 3, 50};
    AUTO_BUF want = BUF_INIT(1 << 16);
    expect(lengths, ARRAY_LEN(lengths), &want);
    for (size_t i = 0; i < ARRAY_LEN(a_page); i++) {
        AUTO_BUF bytes = BUF_INIT(1 << 16);
        struct ogg_file file = {.out = &bytes, .packets_a_page = a_page[i], .serial = 77};
        write_file(&file, lengths, ARRAY_LEN(lengths));
        for (size_t step = 1; step <= bytes.len; step = step * 3 + 1) {
            struct got got = {0};
            CHECK(read_in(&bytes, step, &got));
            CHECK_INT(got.packets, ARRAY_LEN(lengths));
            CHECK(got.bytes.len == want.len && memcmp(got.bytes.data, want.data, want.len) == 0);
            buf_clear(&got.bytes);
        }
    }
}

/* 300 segments of 255 bytes do not fit in one page. */
TEST(ogg_follows_a_packet_from_page_to_page_and_skips_tags_of_any_length)
{
    static const size_t lengths[] = {7000, 7001, 7002, 7003, 7004, 7005,
                                     7006, 7007, 7008, 7009, 7010, 10};
    AUTO_BUF bytes = BUF_INIT(1 << 20);
    AUTO_BUF want = BUF_INIT(1 << 20);
    struct ogg_file file = {.out = &bytes, .packets_a_page = 100, .tags_bytes = 700000};
    struct got got = {0};
    write_file(&file, lengths, ARRAY_LEN(lengths));
    expect(lengths, ARRAY_LEN(lengths), &want);
    CHECK(read_in(&bytes, 1400, &got));
    CHECK(got.bytes.len == want.len && memcmp(got.bytes.data, want.data, want.len) == 0);
    buf_clear(&got.bytes);
}

TEST(ogg_tells_what_the_head_says_and_reads_the_next_stream)
{
    static const size_t lengths[] = {10, 20};
    AUTO_BUF bytes = BUF_INIT(1 << 16);
    struct ogg_file first = {.out = &bytes, .serial = 5, .skip = 3840, .gain_q8_db = -768};
    struct ogg_file next = {.out = &bytes, .serial = 6, .skip = 312, .channels = 2};
    struct got got = {0};
    write_file(&first, lengths, 2);
    CHECK(read_in(&bytes, 100, &got));
    CHECK_INT(got.heads, 1);
    CHECK_INT(got.head.skip, 3840);
    CHECK_INT(got.head.gain_q8_db, -768);
    write_file(&next, lengths, 2);
    CHECK(read_in(&bytes, 100, &got));
    CHECK_INT(got.heads, 2);
    CHECK_INT(got.head.skip, 312);
    CHECK_INT(got.head.gain_q8_db, 0);
    CHECK_INT(got.packets, 4);
    buf_clear(&got.bytes);
}

/* Bytes of a right file: head page 47 bytes, then tags, then sound. */
enum { TAGS_AT = 47, SOUND_AT = TAGS_AT + 28 + 20 };

TEST(ogg_hears_nothing_of_a_page_that_is_damaged)
{
    static const size_t lengths[] = {40};
    AUTO_BUF bytes = BUF_INIT(1 << 16);
    struct ogg_file file = {.out = &bytes};
    write_file(&file, lengths, 1);
    for (size_t at = 0; at < bytes.len; at++) {
        struct got got = {0};
        bytes.data[at] ^= 0x10;
        CHECK(!read_in(&bytes, 64, &got));
        CHECK_INT(got.packets, at < SOUND_AT + 28 + 40 ? 0 : 1);
        bytes.data[at] ^= 0x10;
        buf_clear(&got.bytes);
    }
}

TEST(ogg_that_ends_too_early_is_told)
{
    static const size_t lengths[] = {40, 300};
    AUTO_BUF bytes = BUF_INIT(1 << 16);
    struct ogg_file file = {.out = &bytes};
    write_file(&file, lengths, 2);
    size_t whole = bytes.len, ends[3] = {SOUND_AT, SOUND_AT + 28 + 40, whole - 27};
    for (size_t len = 0; len <= whole; len++) {
        struct got got = {0};
        bytes.len = len;
        bool is_page_end = len == whole || len == ends[0] || len == ends[1] || len == ends[2];
        CHECK(read_in(&bytes, 64, &got) == is_page_end);
        buf_clear(&got.bytes);
    }
}

struct page {
    unsigned flags;
    uint32_t serial, number;
    const char *body;
};

#define HEAD        "OpusHead\1\1\x38\1\x80\xbb\0\0\0\0\0"
#define SIZED(text) (text), sizeof(text) - 1

static void add_page(struct buf *out, const struct page *page, size_t len)
{
    const uint8_t length = (uint8_t)len;
    ogg_file_page(out, page->flags, page->serial, page->number, &length, 1, page->body, len);
}

TEST(ogg_refuses_pages_that_do_not_follow)
{
    static const struct page rows[][3] = {
        {{0, 1, 0, "sound"}, {0, 1, 1, "sound"}, {0, 1, 2, "sound"}}, /* no head */
        {{2, 1, 0, HEAD}, {0, 1, 1, "sound"}, {0, 1, 2, "sound"}},    /* no tags */
        {{2, 1, 0, HEAD}, {0, 2, 1, "OpusTags"}, {0, 1, 2, "sound"}}, /* another stream's */
        {{2, 1, 0, HEAD}, {0, 1, 1, "OpusTags"}, {0, 1, 3, "sound"}}, /* one is missing */
        {{2, 1, 0, HEAD}, {0, 1, 1, "OpusTags"}, {1, 1, 2, "sound"}}, /* goes on from nothing */
        {{2, 1, 0, HEAD}, {4, 1, 1, "OpusTags"}, {0, 1, 2, "sound"}}, /* after the last */
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF bytes = BUF_INIT(4096);
        struct got got = {0};
        for (size_t k = 0; k < 3; k++)
            add_page(&bytes, &rows[i][k], rows[i][k].flags == 2 ? 19 : strlen(rows[i][k].body));
        CHECK(!read_in(&bytes, 4096, &got));
        CHECK_INT(got.packets, 0);
        buf_clear(&got.bytes);
    }
}

TEST(ogg_refuses_heads_that_are_not_mono_or_stereo_opus)
{
    static const struct {
        const char *body;
        size_t len;
    } rows[] = {
        {SIZED("OpusHead\1\1\x38\1\x80\xbb\0\0\0\0")},             /* short */
        {SIZED("OpusHead\x10\1\x38\1\x80\xbb\0\0\0\0\0")},         /* of a later version */
        {SIZED("OpusHead\1\0\x38\1\x80\xbb\0\0\0\0\0")},           /* no channel */
        {SIZED("OpusHead\1\3\x38\1\x80\xbb\0\0\0\0\0")},           /* three */
        {SIZED("OpusHead\1\2\x38\1\x80\xbb\0\0\0\0\1\1\1\0\1")},   /* surround */
        {SIZED("\1vorbis\0\0\0\0\1\x44\xac\0\0\0\0\0\0\0\0\0\0")}, /* not Opus */
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF bytes = BUF_INIT(4096);
        struct got got = {0};
        add_page(&bytes, &(struct page){2, 1, 0, rows[i].body}, rows[i].len);
        add_page(&bytes, &(struct page){0, 1, 1, "OpusTags"}, 8);
        CHECK(!read_in(&bytes, 4096, &got));
        CHECK_INT(got.heads, 0);
        buf_clear(&got.bytes);
    }
}

TEST(ogg_has_ceilings_and_stops_where_a_packet_is_refused)
{
    static const size_t large[] = {OGG_PACKET_MAX_BYTES + 1}, small[] = {10, 10};
    AUTO_BUF packet = BUF_INIT(1 << 16);
    AUTO_BUF tags = BUF_INIT(4 << 20);
    AUTO_BUF refused = BUF_INIT(1 << 16);
    struct ogg_file files[] = {
        {.out = &packet}, {.out = &tags, .tags_bytes = OGG_TAGS_MAX_BYTES + 1}, {.out = &refused}};
    struct got got = {0};
    write_file(&files[0], large, 1);
    CHECK(!read_in(&packet, 4096, &got));
    CHECK_INT(got.packets, 0);
    write_file(&files[1], small, 1);
    CHECK(!read_in(&tags, 4096, &got));
    write_file(&files[2], small, 2);
    got.refuses = true;
    CHECK(!read_in(&refused, 4096, &got));
    CHECK_INT(got.packets, 1);
    buf_clear(&got.bytes);
}
