/* rtc/seal: both profiles end to end, changed and repeated packets, many sources. */
#include "rtc/seal.h"

#include "base/attr.h"
#include "rtc/rtp.h"
#include "test.h"

static void both_ways(enum dtls_srtp_profile profile, struct seal **out_a, struct seal **out_b)
{
    struct dtls_keys a = {.profile = profile}, b = {.profile = profile};
    for (unsigned i = 0; i < sizeof(a.local); i++) {
        a.local[i] = b.remote[i] = (uint8_t)i;
        a.remote[i] = b.local[i] = (uint8_t)(200 - i);
    }
    CHECK_INT(seal_new(&a, out_a), OK);
    CHECK_INT(seal_new(&b, out_b), OK);
}

static size_t make(uint8_t *data, uint16_t sequence, uint32_t ssrc)
{
    struct rtp_packet packet = {.payload_type = 111, .sequence = sequence, .ssrc = ssrc};
    rtp_write_header(data, &packet);
    memcpy(data + RTP_HEADER_BYTES, "payload", 7);
    return RTP_HEADER_BYTES + 7;
}

static const enum dtls_srtp_profile profiles[] = {DTLS_AEAD_AES_128_GCM, DTLS_AES128_CM_SHA1_80};

TEST(seal_opens_what_it_sealed_and_refuses_changes)
{
    for (size_t p = 0; p < ARRAY_LEN(profiles); p++) {
        AUTO(seal) a = NULL;
        AUTO(seal) b = NULL;
        both_ways(profiles[p], &a, &b);
        REQUIRE(a && b);
        uint8_t data[64], copy[64];
        size_t len = make(data, 1, 7);
        REQUIRE(seal_rtp(a, data, &len) == OK);
        for (size_t at = 0; at < len; at++) {
            size_t changed = len;
            memcpy(copy, data, len);
            copy[at] ^= 1;
            CHECK(seal_open_rtp(b, copy, &changed) != OK);
        }
        size_t opened = len;
        memcpy(copy, data, len);
        CHECK_INT(seal_open_rtp(b, copy, &opened), OK);
        CHECK(opened == RTP_HEADER_BYTES + 7 && memcmp(copy + RTP_HEADER_BYTES, "payload", 7) == 0);
        CHECK_INT(seal_open_rtp(b, data, &len), ERR_CONFLICT); /* a repetition */
    }
}

TEST(seal_carries_rtcp)
{
    for (size_t p = 0; p < ARRAY_LEN(profiles); p++) {
        AUTO(seal) a = NULL;
        AUTO(seal) b = NULL;
        both_ways(profiles[p], &a, &b);
        REQUIRE(a && b);
        uint8_t data[64] = "\x80\xc9\x00\x01\x00\x00\x00\x09";
        size_t len = 8;
        REQUIRE(seal_rtcp(a, data, &len) == OK);
        CHECK(len <= 8 + SEAL_EXTRA_BYTES);
        REQUIRE(seal_open_rtcp(b, data, &len) == OK);
        CHECK(len == 8 && data[7] == 9);
    }
}

TEST(seal_bounds_the_sources_and_still_takes_new_ones)
{
    AUTO(seal) a = NULL;
    AUTO(seal) b = NULL;
    both_ways(DTLS_AEAD_AES_128_GCM, &a, &b);
    REQUIRE(a && b);
    for (uint32_t ssrc = 1; ssrc <= 100; ssrc++) {
        uint8_t data[64];
        size_t len = make(data, 1, ssrc);
        REQUIRE(seal_rtp(a, data, &len) == OK);
        CHECK_INT(seal_open_rtp(b, data, &len), OK);
    }
}

TEST(seal_refuses_short_packets)
{
    AUTO(seal) a = NULL;
    AUTO(seal) b = NULL;
    both_ways(DTLS_AEAD_AES_128_GCM, &a, &b);
    REQUIRE(a && b);
    uint8_t data[64] = {0x80, 0xc8};
    for (size_t cut = 0; cut < 28; cut++) {
        size_t len = cut;
        CHECK(seal_open_rtp(b, data, &len) != OK);
        len = cut;
        CHECK(seal_open_rtcp(b, data, &len) != OK);
    }
}
