/* Signalling and data packets: what reading them costs. */
#include <stdlib.h>
#include <string.h>

#include "abuse_kinds.h"
#include "base/attr.h"
#include "base/mem.h"
#include "room/livekit.pb-c.h"
#include "room/unpack.h"
#include "rtc/sdp.h"

enum { SIGNAL_BYTES = 262144, PACKET_BYTES = 64000, LINES = 3000 };

struct state {
    const ProtobufCMessageDescriptor *kind;
    uint8_t bytes[SIGNAL_BYTES];
    size_t len;
    struct sdp *sdp;
};

static void *begin(void)
{
    struct state *state = mem_new(struct state);
    state->sdp = sdp_new();
    return state;
}

static void end(void *arg)
{
    struct state *state = arg;
    sdp_free(state->sdp);
    mem_free(state);
}

static void give_message(void *arg)
{
    struct state *state = arg;
    ProtobufCMessage *message = unpack_message(state->kind, state->bytes, state->len);
    if (message)
        protobuf_c_message_free_unpacked(message, NULL);
}

static void fill(struct state *state, size_t len, uint8_t tag)
{
    for (state->len = 0; state->len + 2 <= len; state->len += 2) {
        state->bytes[state->len] = tag;
        state->bytes[state->len + 1] = 0;
    }
}

static void prepare_ping(void *arg)
{
    struct state *state = arg;
    state->kind = &lk__signal_request__descriptor;
    state->bytes[0] = 14 << 3;
    state->bytes[1] = 5;
    state->len = 2;
}

static void prepare_pings(void *arg)
{
    struct state *state = arg;
    state->kind = &lk__signal_request__descriptor;
    fill(state, SIGNAL_BYTES, 14 << 3);
}

static void prepare_identities(void *arg)
{
    struct state *state = arg;
    state->kind = &lk__data_packet__descriptor;
    fill(state, PACKET_BYTES, 5 << 3 | 2);
}

/* As long as one may be: lines of an attribute that has to be looked at. */
static void prepare_offer(void *arg)
{
    static const char head[] = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n"
                               "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n";
    static const char line[] = "a=rtpmap:111 opus/48000/2\r\n";
    struct state *state = arg;
    memcpy(state->bytes, head, sizeof(head) - 1);
    for (state->len = sizeof(head) - 1; state->len + sizeof(line) <= SDP_MAX_BYTES;
         state->len += sizeof(line) - 1)
        memcpy(state->bytes + state->len, line, sizeof(line) - 1);
}

static void give_offer(void *arg)
{
    struct state *state = arg;
    (void)!sdp_parse((const char *)state->bytes, state->len, state->sdp, NULL);
}

const struct abuse_kind abuse_room_kinds[] = {
    {"signal-ping", "a request of two bytes, the ordinary case", begin, prepare_ping, give_message,
     end},
    {"signal-fields", "the longest request, of 131,072 fields", begin, prepare_pings, give_message,
     end},
    {"data-identities", "a data packet for 32,000 empty identities", begin, prepare_identities,
     give_message, end},
    {"signal-offer", "the longest offer, 131,072 bytes of attributes", begin, prepare_offer,
     give_offer, end},
};
const size_t abuse_room_kind_count = ARRAY_LEN(abuse_room_kinds);
