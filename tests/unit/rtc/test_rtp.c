/* rtc/rtp: headers, both extension forms, and what must be refused. */
#include "rtc/rtp.h"

#include "base/attr.h"
#include "test.h"

/* What Chromium sends: level (id 1) and mid (id 4) in the one-byte form. */
static const uint8_t browser[] = "\x90\xef\x12\x34\x00\x00\x03\xc0\xde\xad\xbe\xef"
                                 "\xbe\xde\x00\x02\x10\xaa\x40\x37\x00\x00\x00\x00"
                                 "opus";

TEST(rtp_reads_a_browsers_packet)
{
    struct rtp_packet packet;
    REQUIRE(rtp_parse(browser, sizeof(browser) - 1, &packet) == OK);
    CHECK_INT(packet.payload_type, 111);
    CHECK(packet.is_marked);
    CHECK_INT(packet.sequence, 0x1234);
    CHECK_INT(packet.timestamp, 960);
    CHECK_INT(packet.ssrc, 0xdeadbeef);
    CHECK(packet.len == 4 && memcmp(packet.payload, "opus", 4) == 0);
    CHECK_INT(rtp_level_dbov(&packet, 1), -42);
    CHECK_INT(rtp_level_dbov(&packet, 2), RTP_NO_LEVEL);
    CHECK_INT(rtp_level_dbov(&packet, 0), RTP_NO_LEVEL);
    const uint8_t *mid;
    size_t len;
    REQUIRE(rtp_find_extension(&packet, 4, &mid, &len) == OK);
    CHECK(len == 1 && mid[0] == '7');
}

TEST(rtp_reads_the_two_byte_form)
{
    static const uint8_t data[] = "\x90\x6f\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01"
                                  "\x10\x00\x00\x03\x00\x05\x00\x10\x03"
                                  "abc\x01\x01\x7f\x00"
                                  "x";
    struct rtp_packet packet;
    REQUIRE(rtp_parse(data, sizeof(data) - 1, &packet) == OK);
    const uint8_t *value;
    size_t len;
    CHECK_INT(rtp_find_extension(&packet, 5, &value, &len), OK);
    CHECK_INT(len, 0);
    REQUIRE(rtp_find_extension(&packet, 16, &value, &len) == OK);
    CHECK(len == 3 && memcmp(value, "abc", 3) == 0);
    CHECK_INT(rtp_level_dbov(&packet, 1), -127);
}

TEST(rtp_takes_padding_and_contributing_sources_away)
{
    static const uint8_t data[] = "\xa1\x6f\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01"
                                  "\x00\x00\x00\x02"
                                  "opus\x00\x00\x03";
    struct rtp_packet packet;
    REQUIRE(rtp_parse(data, sizeof(data) - 1, &packet) == OK);
    CHECK(packet.len == 4 && memcmp(packet.payload, "opus", 4) == 0);
}

TEST(rtp_refuses_lengths_that_do_not_add_up)
{
    static const struct {
        const char *data;
        size_t len;
    } cases[] = {
        {"\x80\x6f\x00\x01\x00\x00\x00\x00\x00\x00\x00", 11},             /* cut */
        {"\x40\x6f\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01", 12},         /* version 1 */
        {"\x81\x6f\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01", 12},         /* a source is missing */
        {"\x90\x6f\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\xbe\xde", 14}, /* half an extension */
        {"\x90\x6f\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\xbe\xde\x00\x01", 16}, /* no value */
        {"\xa0\x6f\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00", 13},             /* padding of 0 */
        {"\xa0\x6f\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x05", 13}, /* more than there is */
    };
    struct rtp_packet packet;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_INT(rtp_parse((const uint8_t *)cases[i].data, cases[i].len, &packet), ERR_INVALID);
}

TEST(rtp_stops_at_broken_extension_elements)
{
    static const char *const elements[] = {
        "\x4f\x01\x02\x03", /* 16 bytes said, 3 there */
        "\xf0\x01\x40\x37", /* 15: stop */
    };
    for (size_t i = 0; i < ARRAY_LEN(elements); i++) {
        uint8_t data[20] = "\x90\x6f\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\xbe\xde\x00\x01";
        memcpy(data + 16, elements[i], 4);
        struct rtp_packet packet;
        const uint8_t *value;
        size_t len;
        REQUIRE(rtp_parse(data, sizeof(data), &packet) == OK);
        CHECK_INT(rtp_find_extension(&packet, 4, &value, &len), ERR_NOT_FOUND);
    }
}

TEST(rtp_writes_what_it_reads)
{
    const struct rtp_packet want = {.payload_type = 109,
                                    .is_marked = true,
                                    .sequence = 65535,
                                    .timestamp = 0xfffffff0,
                                    .ssrc = 0x80000001};
    uint8_t data[RTP_HEADER_BYTES];
    struct rtp_packet got;
    rtp_write_header(data, &want);
    REQUIRE(rtp_parse(data, sizeof(data), &got) == OK);
    CHECK_INT(got.payload_type, want.payload_type);
    CHECK_INT(got.is_marked, want.is_marked);
    CHECK_INT(got.sequence, want.sequence);
    CHECK_INT(got.timestamp, want.timestamp);
    CHECK_INT(got.ssrc, want.ssrc);
    CHECK_INT(got.len, 0);
}
