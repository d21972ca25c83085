#include "room/negotiate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static const struct negotiate_track agent = {"PA_a|TR_a", "TR_a", 1234};
static const struct negotiate_track nobody = {0};

static struct negotiate_own own(void)
{
    return (struct negotiate_own){
        .transport = {.ufrag = "abcd", .pwd = "0123456789012345678901", .has_fingerprint = true},
        .is_ice_lite = true,
    };
}

/* SDP_VECTORS is the folder of the captured descriptions. */
static void read_offer(const char *name, struct sdp *out)
{
    static char text[SDP_MAX_BYTES];
    char path[512];
    struct fault fault = {0};
    snprintf(path, sizeof(path), "%s/%s.sdp", SDP_VECTORS, name);
    FILE *file = fopen(path, "rb");
    if (!CHECK(file != NULL))
        return;
    size_t len = fread(text, 1, sizeof(text), file);
    fclose(file);
    CHECK_INT(sdp_parse(text, len, out, &fault), OK);
}

struct exchange {
    struct sdp *offer, *answer;
    struct negotiate_result result;
};

static void answer(struct exchange *c, const char *name, const struct negotiate_track *track,
                   const char *mid)
{
    struct negotiate_own mine = own();
    c->offer = sdp_new();
    c->answer = sdp_new();
    read_offer(name, c->offer);
    negotiate_answer(c->offer, &mine, track, mid, c->answer, &c->result);
}

static void clear(struct exchange *c)
{
    sdp_free(c->offer);
    sdp_free(c->answer);
}

TEST(negotiate_puts_the_agent_into_the_first_free_section)
{
    static const char *const names[] = {"browser-single-1-offer",
                                        "rtc-node-single-2-with-mic-offer"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct exchange c;
        answer(&c, names[i], &agent, "");
        CHECK_TEXT(c.result.track_mid, "0");
        CHECK_INT(c.result.payload_type, 111);
        CHECK_INT(c.result.level_extension, 1);
        CHECK(c.result.has_data && !c.result.is_dtls_client);
        CHECK_INT(c.answer->section_count, c.offer->section_count);
        CHECK_INT(c.answer->sections[0].direction, SDP_SENDONLY);
        CHECK_TEXT(c.answer->sections[0].msid_stream, "PA_a|TR_a");
        CHECK_INT(c.answer->sections[1].direction, SDP_INACTIVE);
        CHECK_INT(c.answer->sections[3].direction, SDP_INACTIVE);
        CHECK(!c.answer->sections[3].is_rejected); /* a rejected one would be used again */
        CHECK_INT(c.answer->sections[0].transport.setup, SDP_PASSIVE);
        clear(&c);
    }
}

TEST(negotiate_hears_the_microphone)
{
    struct exchange c;
    answer(&c, "browser-single-2-with-mic-offer", &agent, "");
    CHECK_INT(c.answer->sections[7].direction, SDP_RECVONLY);
    CHECK(strstr(c.answer->sections[7].codec_fmtp, "usedtx=1"));
    clear(&c);
    answer(&c, "browser-dual-publisher-1-offer", &nobody, "");
    CHECK_INT(c.answer->sections[0].direction, SDP_RECVONLY);
    CHECK_TEXT(c.result.track_mid, "");
    CHECK(!c.result.has_data);
    CHECK_INT(c.result.payload_type, 111);
    clear(&c);
}

TEST(negotiate_keeps_the_agent_where_it_was)
{
    struct exchange c;
    answer(&c, "browser-single-1-offer", &agent, "2");
    CHECK_TEXT(c.result.track_mid, "2");
    CHECK_INT(c.answer->sections[0].direction, SDP_INACTIVE);
    CHECK_INT(c.answer->sections[2].direction, SDP_SENDONLY);
    clear(&c);
    answer(&c, "browser-single-1-offer", &agent, "gone");
    CHECK_TEXT(c.result.track_mid, "0");
    clear(&c);
}

TEST(negotiate_without_an_agent_leaves_all_sections_idle)
{
    struct exchange c;
    answer(&c, "browser-single-1-offer", &nobody, "");
    CHECK_TEXT(c.result.track_mid, "");
    for (unsigned i = 0; i < c.answer->section_count; i++)
        CHECK_INT(c.answer->sections[i].direction, SDP_INACTIVE);
    clear(&c);
}

TEST(negotiate_answers_a_passive_side_actively)
{
    struct exchange c;
    struct negotiate_own mine = own();
    answer(&c, "browser-single-1-offer", &agent, "");
    for (unsigned i = 0; i < c.offer->section_count; i++)
        c.offer->sections[i].transport.setup = SDP_PASSIVE;
    negotiate_answer(c.offer, &mine, &agent, "", c.answer, &c.result);
    CHECK(c.result.is_dtls_client);
    CHECK_INT(c.answer->sections[0].transport.setup, SDP_ACTIVE);
    clear(&c);
}

TEST(negotiate_both_sides_of_ours_understand_one_another)
{
    for (int has_downlink = 0; has_downlink <= 1; has_downlink++) {
        struct negotiate_own client = own(), server = own();
        struct negotiate_track mic = {"stream", "cid", 77};
        struct negotiate_result at_server, at_client;
        AUTO(sdp) offer = sdp_new();
        AUTO(sdp) written = sdp_new();
        client.is_ice_lite = false;
        negotiate_uplink(&client, &mic, has_downlink, offer);
        negotiate_answer(offer, &server, &agent, "", written, &at_server);
        negotiate_read_answer(written, &at_client);
        CHECK_INT(written->sections[0].direction, SDP_RECVONLY);
        CHECK_TEXT(at_server.track_mid, has_downlink ? "2" : "");
        CHECK(at_client.has_data && at_client.is_dtls_client && !at_server.is_dtls_client);
        CHECK_INT(at_client.payload_type, at_server.payload_type);
    }
}

TEST(negotiate_downlink_is_idle_until_there_is_a_track)
{
    struct negotiate_own mine = own();
    AUTO(sdp) offer = sdp_new();
    negotiate_downlink(&mine, &nobody, offer);
    CHECK_INT(offer->section_count, 2);
    CHECK_INT(offer->sections[0].direction, SDP_INACTIVE);
    negotiate_downlink(&mine, &agent, offer);
    CHECK_INT(offer->sections[0].direction, SDP_SENDONLY);
    CHECK_TEXT(offer->sections[0].msid_track, "TR_a");
    CHECK(offer->sections[0].ssrc == 1234);
}
