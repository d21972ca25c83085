/* A peer of the lite role, its far side written by hand: checks, DTLS, RTP and RTCP. */
#include <stdlib.h>
#include <string.h>

#include "abuse_kinds.h"
#include "base/attr.h"
#include "base/mem.h"
#include "rtc/demux.h"
#include "rtc/dtls.h"
#include "rtc/ice.h"
#include "rtc/peer.h"
#include "rtc/rtp_media.h"
#include "rtc/stun.h"
#include "rtc/wire.h"

enum { PACKET_BYTES = 1400, RTP_PAYLOAD_BYTES = 80, STEP_US = 20000 };

struct state {
    struct dtls_identity *identity;
    struct peer *peer;
    struct rtp_media near, far;
    int64_t now_us;
    uint8_t packet[PACKET_BYTES + 100];
    size_t len;
    unsigned count;
};

void *peer_begin(void)
{
    struct state *state = mem_new(struct state);
    struct dtls_keys keys = {.profile = DTLS_AEAD_AES_128_GCM}, turned;
    if (dtls_identity_new(&state->identity, NULL) != OK)
        abort();
    struct peer_config config = {.role = PEER_LITE, .identity = state->identity};
    state->now_us = 1000000;
    state->peer = peer_new(&config, state->now_us);
    memset(keys.local, 1, sizeof(keys.local));
    memset(keys.remote, 2, sizeof(keys.remote));
    turned = keys;
    memcpy(turned.local, keys.remote, sizeof(keys.local));
    memcpy(turned.remote, keys.local, sizeof(keys.remote));
    rtp_media_init(&state->near);
    rtp_media_init(&state->far);
    if (rtp_media_start(&state->near, &keys, state->now_us) != OK ||
        rtp_media_start(&state->far, &turned, state->now_us) != OK)
        abort();
    return state;
}

void peer_end(void *arg)
{
    struct state *state = arg;
    rtp_media_clear(&state->near);
    rtp_media_clear(&state->far);
    peer_free(state->peer);
    dtls_identity_free(state->identity);
    mem_free(state);
}

void peer_give(void *arg)
{
    struct state *state = arg;
    struct ice_path path = {net_addr_ipv4(10, 0, 0, 1, 1000), net_addr_ipv4(10, 0, 0, 2, 2)};
    struct demux_packet packet;
    struct peer_datagram out;
    demux_read(state->packet, state->len, &packet);
    peer_input(state->peer, &path, &packet, state->now_us);
    while (peer_output(state->peer, &out, state->now_us))
        continue;
}

/* STUN. */

static void write_check(struct state *state, const char *password, unsigned unknown)
{
    static const uint8_t transaction[STUN_TRANSACTION_BYTES] = {1};
    struct stun_writer writer;
    state->now_us += STEP_US;
    stun_begin(&writer, state->packet, PACKET_BYTES, STUN_BINDING_REQUEST, transaction);
    stun_put_username(&writer, peer_ufrag(state->peer), "them");
    stun_put_priority(&writer, 1);
    stun_put_role(&writer, true, 7);
    for (unsigned i = 0; i < unknown; i++) { /* empty attributes that must be understood */
        wire_put16(writer.data + writer.len, (uint16_t)(0x7000 + i));
        wire_put16(writer.data + writer.len + 2, 0);
        writer.len += 4;
    }
    state->len = stun_finish(&writer, password);
}

void peer_prepare_check(void *arg)
{
    struct state *state = arg;
    write_check(state, peer_pwd(state->peer), 0);
}

void peer_prepare_long_check(void *arg)
{
    struct state *state = arg;
    write_check(state, peer_pwd(state->peer), 300);
}

void peer_prepare_forged_check(void *arg)
{
    write_check(arg, "0123456789012345678901234", 300);
}

/* DTLS. */

/* The first of a handshake: keys are made, and signed for. */
void peer_prepare_hello(void *arg)
{
    struct state *state = arg;
    struct peer_config config = {.role = PEER_LITE, .identity = state->identity};
    AUTO(dtls) client = dtls_new(state->identity, true);
    peer_free(state->peer);
    state->peer = peer_new(&config, state->now_us);
    peer_prepare_check(state);
    peer_give(state);
    dtls_start(client, state->now_us);
    state->len = dtls_output(client, state->packet, PACKET_BYTES, state->now_us);
}

/* Records of handshake fragments that lead nowhere, as many as fit. */
void peer_prepare_records(void *arg)
{
    static const uint8_t record[] = {22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 9, 0, 13,
                                     1,  0,   16,  0, 0, 0, 0, 0, 8, 0, 0, 1, 7};
    struct state *state = arg;
    peer_prepare_check(state);
    peer_give(state);
    for (state->len = 0; state->len + sizeof(record) <= PACKET_BYTES; state->len += sizeof(record))
        memcpy(state->packet + state->len, record, sizeof(record));
}

/* RTP and RTCP. */

static void take(struct state *state)
{
    const uint8_t *data;
    size_t len;
    while (rtp_media_output(&state->far, &data, &len, state->now_us)) {
        memcpy(state->packet, data, len);
        state->len = len;
    }
}

void media_prepare_audio(void *arg)
{
    struct state *state = arg;
    uint8_t payload[RTP_PAYLOAD_BYTES] = {0};
    struct peer_opus opus = {.payload = payload,
                             .len = sizeof(payload),
                             .timestamp = state->count++ * 960,
                             .payload_type = 111};
    state->now_us += STEP_US;
    rtp_media_send(&state->far, &opus, state->now_us);
    take(state);
}

void media_prepare_source(void *arg)
{
    struct state *state = arg;
    state->far.outgoing.ssrc += 7919;
    media_prepare_audio(state);
}

void media_prepare_forged(void *arg)
{
    struct state *state = arg;
    media_prepare_audio(state);
    state->packet[state->len - 1] ^= 1;
}

void media_give(void *arg)
{
    struct state *state = arg;
    struct peer_audio audio;
    (void)rtp_media_input_rtp(&state->near, state->packet, state->len, state->now_us, &audio);
}

static void seal_report(struct state *state)
{
    state->now_us += STEP_US;
    if (seal_rtcp(state->far.seal, state->packet, &state->len) != OK)
        abort();
}

/* All that were sent are asked for again. */
void media_prepare_nacks(void *arg)
{
    struct state *state = arg;
    uint8_t payload[RTP_PAYLOAD_BYTES] = {0};
    const uint8_t *data;
    size_t len;
    for (int i = 0; i < 60; i++) {
        struct peer_opus opus = {.payload = payload, .len = sizeof(payload), .payload_type = 111};
        rtp_media_send(&state->near, &opus, state->now_us);
        while (rtp_media_output(&state->near, &data, &len, state->now_us))
            continue;
    }
    state->now_us += 1000000;
    state->len = 0;
    uint16_t first = (uint16_t)(state->near.outgoing.next_sequence - 60);
    for (; state->len + 16 <= 1200; state->len += 16) {
        uint8_t *at = state->packet + state->len;
        at[0] = 2 << 6 | 1;
        at[1] = 205;
        wire_put16(at + 2, 3);
        wire_put32(at + 4, 1);
        wire_put32(at + 8, state->near.outgoing.ssrc);
        wire_put16(at + 12, (uint16_t)(first + state->len / 16 % 60));
        wire_put16(at + 14, UINT16_MAX);
    }
    seal_report(state);
}

void media_prepare_empties(void *arg)
{
    struct state *state = arg;
    for (state->len = 0; state->len + 8 <= 1200; state->len += 8) {
        uint8_t *at = state->packet + state->len;
        at[0] = 2 << 6;
        at[1] = 201;
        wire_put16(at + 2, 1);
        wire_put32(at + 4, 1);
    }
    seal_report(state);
}

void media_give_report(void *arg)
{
    struct state *state = arg;
    const uint8_t *data;
    size_t len;
    (void)rtp_media_input_rtcp(&state->near, state->packet, state->len, state->now_us);
    while (rtp_media_output(&state->near, &data, &len, state->now_us))
        continue;
}
