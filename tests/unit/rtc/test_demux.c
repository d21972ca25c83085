/* rtc/demux: RFC 7983 and RFC 5761 as a table. */
#include "rtc/demux.h"

#include "base/attr.h"
#include "test.h"

TEST(demux_tells_protocols_by_the_first_bytes)
{
    static const struct {
        uint8_t first, second;
        size_t len;
        enum demux_kind want;
    } cases[] = {
        {0, 1, 20, DEMUX_STUN},      {3, 1, 20, DEMUX_STUN},        {0, 1, 19, DEMUX_UNKNOWN},
        {4, 0, 40, DEMUX_UNKNOWN},   {19, 0, 40, DEMUX_UNKNOWN},    {20, 254, 13, DEMUX_DTLS},
        {63, 254, 90, DEMUX_DTLS},   {22, 254, 12, DEMUX_UNKNOWN},  {64, 0, 40, DEMUX_UNKNOWN},
        {127, 0, 40, DEMUX_UNKNOWN}, {128, 111, 12, DEMUX_RTP},     {191, 239, 50, DEMUX_RTP},
        {144, 191, 50, DEMUX_RTP},   {128, 192, 8, DEMUX_RTCP},     {128, 223, 50, DEMUX_RTCP},
        {128, 224, 50, DEMUX_RTP},   {128, 111, 11, DEMUX_UNKNOWN}, {128, 200, 7, DEMUX_UNKNOWN},
        {192, 0, 50, DEMUX_UNKNOWN}, {255, 0, 50, DEMUX_UNKNOWN},   {128, 0, 1, DEMUX_UNKNOWN},
        {0, 0, 0, DEMUX_UNKNOWN},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint8_t data[128] = {cases[i].first, cases[i].second};
        CHECK_INT(demux_kind(data, cases[i].len), cases[i].want);
    }
}

TEST(what_begins_like_stun_and_is_none_is_unknown)
{
    uint8_t check[64], junk[20] = {0, 1};
    struct stun_writer writer;
    struct demux_packet packet;
    stun_begin(&writer, check, sizeof(check), STUN_BINDING_REQUEST,
               (const uint8_t *)"123456789012");
    size_t len = stun_finish(&writer, NULL);
    demux_read(check, len, &packet);
    CHECK_INT(packet.kind, DEMUX_STUN);
    CHECK_INT(packet.stun.type, STUN_BINDING_REQUEST);
    CHECK(packet.data == check && packet.len == len);
    demux_read(junk, sizeof(junk), &packet);
    CHECK_INT(packet.kind, DEMUX_UNKNOWN);
}
