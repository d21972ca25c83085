/* rtc/rtcp: reading and writing reports and NACKs, and what must be refused. */
#include "rtc/rtcp.h"

#include "base/attr.h"
#include "test.h"

TEST(rtcp_reads_a_compound_packet_that_it_wrote)
{
    uint8_t data[RTCP_MAX_BYTES];
    struct rtcp_writer writer = {.data = data, .cap = sizeof(data)};
    const struct rtcp_sender_report report = {0x0102030405060708u, 9, 10, 11};
    const struct rtcp_report_block blocks[2] = {
        {.ssrc = 21,
         .fraction_lost = 64,
         .total_lost = -5,
         .highest_sequence = 0x10002,
         .jitter = 7,
         .last_sr = 8,
         .delay_since_sr = 65536},
        {.ssrc = 22, .total_lost = 0x7fffff},
    };
    rtcp_put_report(&writer, 1, &report, blocks, 2);
    rtcp_put_cname(&writer, 1, "earshot");
    rtcp_put_bye(&writer, 1);
    CHECK(!writer.is_full);

    struct rtcp_reader reader;
    struct rtcp_item item;
    REQUIRE(rtcp_begin(&reader, data, writer.len) == OK);
    REQUIRE(rtcp_next(&reader, &item) && item.type == RTCP_SENDER_REPORT);
    CHECK_INT(item.sender, 1);
    CHECK(item.report.ntp == report.ntp && item.report.timestamp == 9);
    CHECK(item.report.packets == 10 && item.report.bytes == 11);
    for (unsigned i = 0; i < 2; i++) {
        REQUIRE(rtcp_next(&reader, &item) && item.type == RTCP_REPORT_BLOCK);
        CHECK_INT(item.sender, 1);
        CHECK(memcmp(&item.block, &blocks[i], sizeof(item.block)) == 0);
    }
    REQUIRE(rtcp_next(&reader, &item) && item.type == RTCP_DESCRIPTION);
    REQUIRE(rtcp_next(&reader, &item) && item.type == RTCP_BYE);
    CHECK(!rtcp_next(&reader, &item));
}

/* RFC 4585 section 6.2.1: a packet id, and a mask of the sixteen after it. */
TEST(rtcp_reads_the_sequences_of_a_nack)
{
    static const uint8_t data[] = "\x81\xcd\x00\x04\x00\x00\x00\x01\x00\x00\x00\x15"
                                  "\xff\xfa\x01\x01\x00\x28\x00\x00";
    static const uint16_t lost[] = {65530, 65531, 3, 40};
    struct rtcp_reader reader;
    struct rtcp_item item;
    REQUIRE(rtcp_begin(&reader, data, sizeof(data) - 1) == OK);
    REQUIRE(rtcp_next(&reader, &item) && item.type == RTCP_NACK);
    CHECK_INT(item.sender, 1);
    CHECK_INT(item.media, 21);
    CHECK_INT(item.count, ARRAY_LEN(lost));
    CHECK(memcmp(item.lost, lost, sizeof(lost)) == 0);
}

TEST(rtcp_writer_adds_nothing_that_does_not_fit)
{
    uint8_t data[64];
    for (size_t cap = 0; cap < 64; cap++) {
        struct rtcp_writer writer = {.data = data, .cap = cap};
        rtcp_put_report(&writer, 1, NULL, NULL, 0);
        rtcp_put_cname(&writer, 1, "a name of some length that needs room");
        CHECK(writer.len <= cap);
        CHECK_INT(writer.is_full, cap < 8 + 48);
        struct rtcp_reader reader;
        CHECK_INT(rtcp_begin(&reader, data, writer.len), OK);
    }
}

TEST(rtcp_refuses_chains_that_do_not_end_with_the_datagram)
{
    static const struct {
        const char *data;
        size_t len;
    } cases[] = {
        {"\x80\xc9\x00\x02\x00\x00\x00\x01", 8},          /* longer than there is */
        {"\x80\xc9\x00\x00\x00\x00\x00\x01", 8},          /* rest is not RTCP */
        {"\x40\xc9\x00\x01\x00\x00\x00\x01", 8},          /* version 1 */
        {"\x80\xc9\x00\x01\x00\x00\x00\x01\x80\xc9", 10}, /* cut */
    };
    struct rtcp_reader reader;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_INT(rtcp_begin(&reader, (const uint8_t *)cases[i].data, cases[i].len), ERR_INVALID);
}

TEST(rtcp_reads_no_more_blocks_than_there_are)
{
    /* A receiver report that says 31 blocks and has none, a sender report that is cut. */
    static const uint8_t data[] = "\x9f\xc9\x00\x01\x00\x00\x00\x01"
                                  "\x81\xc8\x00\x01\x00\x00\x00\x01";
    struct rtcp_reader reader;
    struct rtcp_item item;
    REQUIRE(rtcp_begin(&reader, data, sizeof(data) - 1) == OK);
    REQUIRE(rtcp_next(&reader, &item) && item.type == RTCP_RECEIVER_REPORT);
    REQUIRE(rtcp_next(&reader, &item) && item.type == RTCP_OTHER);
    CHECK(!rtcp_next(&reader, &item));
}

TEST(rtcp_bounds_the_sequences_of_a_nack)
{
    uint8_t data[12 + 4 * 100] = "\x81\xcd\x00\x00\x00\x00\x00\x01\x00\x00\x00\x02";
    data[3] = sizeof(data) / 4 - 1;
    memset(data + 12, 0xff, sizeof(data) - 12);
    struct rtcp_reader reader;
    struct rtcp_item item;
    REQUIRE(rtcp_begin(&reader, data, sizeof(data)) == OK);
    REQUIRE(rtcp_next(&reader, &item) && item.type == RTCP_NACK);
    CHECK_INT(item.count, RTCP_NACK_MAX);
}
