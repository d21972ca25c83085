/* An association whose far side is written by hand: it knows its tags, and may send anything. */
#include <stdlib.h>
#include <string.h>

#include "abuse_kinds.h"
#include "base/attr.h"
#include "base/mem.h"
#include "rtc/sctp.h"
#include "rtc/sctp_init.h"
#include "rtc/sctp_wire.h"

enum {
    PORT = 5000,
    MTU = 1160,
    OUR_TAG = 0x1111, /* of the association that is measured */
    THEIR_TAG = 0x2222,
    FIRST_TSN = 5000,
    STREAMS_NAMED = 280,
    QUEUE_TSNS = 1000,
    WHOLE_TSNS = 125, /* as many as are held */
};

struct state {
    struct sctp *sctp;
    int64_t now_us;
    uint32_t next_tsn;
    uint16_t next_ssn;
    uint8_t packet[MTU];
    size_t len;
    uint32_t sent_tsn; /* the highest of theirs that we have seen */
    bool is_filled;
};

static void drain(struct state *state)
{
    uint8_t out[MTU + 100];
    struct sctp_event event;
    size_t len;
    while ((len = sctp_output(state->sctp, out, sizeof(out), state->now_us))) {
        struct sctp_reader reader = {out + SCTP_HEADER_BYTES, len - SCTP_HEADER_BYTES, false};
        struct sctp_tlv chunk;
        while (sctp_read_chunk(&reader, &chunk))
            if (chunk.type == SCTP_DATA)
                state->sent_tsn = sctp_get32(chunk.value);
    }
    while (sctp_event(state->sctp, &event))
        continue;
}

static void give(struct state *state, struct sctp_packet *packet)
{
    size_t len = sctp_packet_end(packet);
    sctp_input(state->sctp, packet->data, len, state->now_us);
    drain(state);
}

static void start(struct state *state, struct sctp_packet *packet)
{
    sctp_packet_begin(packet, state->packet, MTU, PORT, OUR_TAG);
}

static void open_association(struct state *state)
{
    static const uint8_t secret[32] = {1};
    struct sctp_peer peer = {.tag = THEIR_TAG,
                             .first_tsn = FIRST_TSN,
                             .window_bytes = 1 << 20,
                             .streams_out = 16,
                             .can_forward = true,
                             .can_reconfig = true};
    struct sctp_packet packet;
    uint8_t cookie[SCTP_COOKIE_BYTES];
    sctp_write_cookie(secret, &peer, cookie);
    start(state, &packet);
    memcpy(sctp_put_chunk(&packet, SCTP_COOKIE_ECHO, 0, sizeof(cookie)), cookie, sizeof(cookie));
    give(state, &packet);
    if (!sctp_is_open(state->sctp))
        abort();
}

void *sctp_begin(void)
{
    struct state *state = mem_new(struct state);
    struct sctp_config config = {
        .port = PORT, .mtu_bytes = MTU, .tag = OUR_TAG, .tsn = 1, .secret = {1}};
    state->sctp = sctp_new(&config);
    state->now_us = 1000000;
    state->next_tsn = FIRST_TSN;
    open_association(state);
    return state;
}

void sctp_end(void *arg)
{
    struct state *state = arg;
    sctp_free(state->sctp);
    mem_free(state);
}

void sctp_give(void *arg)
{
    struct state *state = arg;
    sctp_input(state->sctp, state->packet, state->len, state->now_us);
    drain(state);
}

struct fragment {
    uint32_t tsn;
    uint16_t stream, ssn;
    uint8_t flags;
};

static bool put_data(struct sctp_packet *packet, const struct fragment *fragment, size_t len)
{
    uint8_t *at = sctp_put_chunk(packet, SCTP_DATA, fragment->flags, SCTP_DATA_HEADER_BYTES + len);
    if (!at)
        return false;
    sctp_put32(at, fragment->tsn);
    sctp_put16(at + 4, fragment->stream);
    sctp_put16(at + 6, fragment->ssn);
    sctp_put32(at + 8, 51);
    memset(at + SCTP_DATA_HEADER_BYTES, 'x', len);
    return true;
}

/* Whole messages of one byte on stream 1 whose turn never comes: the first TSN is missing. */
static void fill_queue(struct state *state, uint32_t count, bool is_reversed)
{
    struct sctp_packet packet;
    uint32_t first = state->next_tsn + 1;
    for (uint32_t i = 0; i < count;) {
        start(state, &packet);
        struct fragment fragment;
        do {
            uint16_t turn = (uint16_t)(is_reversed ? count - i : i + 1);
            fragment = (struct fragment){first + i, 1, (uint16_t)(state->next_ssn + turn), 3};
        } while (i < count && put_data(&packet, &fragment, 1) && ++i);
        give(state, &packet);
    }
}

void sctp_prepare_text(void *arg)
{
    struct state *state = arg;
    struct sctp_packet packet;
    start(state, &packet);
    put_data(&packet, &(struct fragment){state->next_tsn++, 1, state->next_ssn++, 3}, 1000);
    state->len = sctp_packet_end(&packet);
    state->now_us += 20000;
}

void sctp_prepare_endless(void *arg)
{
    struct state *state = arg;
    struct sctp_packet packet;
    uint8_t begins = state->is_filled ? 0 : SCTP_FLAG_BEGIN;
    state->is_filled = true;
    start(state, &packet);
    while (put_data(&packet, &(struct fragment){state->next_tsn, 1, 0, begins}, 1)) {
        state->next_tsn++;
        begins = 0;
    }
    state->len = sctp_packet_end(&packet);
}

/* Forward over the whole queue, stream by stream; then it is filled anew. */
static void put_forward(struct sctp_packet *packet, const struct state *state, uint32_t tsn,
                        unsigned streams)
{
    uint8_t *at = sctp_put_chunk(packet, SCTP_FORWARD_TSN, 0, 4 + 4 * (size_t)streams);
    if (!at)
        return;
    sctp_put32(at, tsn);
    for (unsigned i = 0; i < streams; i++) {
        sctp_put16(at + 4 + 4 * i, 1);
        sctp_put16(at + 6 + 4 * i, (uint16_t)(state->next_ssn + QUEUE_TSNS));
    }
}

void sctp_prepare_forward(void *arg)
{
    struct state *state = arg;
    struct sctp_packet packet;
    fill_queue(state, QUEUE_TSNS, true);
    start(state, &packet);
    put_forward(&packet, state, state->next_tsn + QUEUE_TSNS, STREAMS_NAMED);
    state->len = sctp_packet_end(&packet);
    state->next_tsn += QUEUE_TSNS + 1;
    state->next_ssn = (uint16_t)(state->next_ssn + QUEUE_TSNS + 1);
}

void sctp_prepare_forwards(void *arg)
{
    struct state *state = arg;
    struct sctp_packet packet;
    fill_queue(state, QUEUE_TSNS, true);
    start(state, &packet);
    for (uint32_t i = 0; i < 90; i++)
        put_forward(&packet, state, state->next_tsn + i * 10, 1);
    state->len = sctp_packet_end(&packet);
    state->next_tsn += QUEUE_TSNS + 1;
    state->next_ssn = (uint16_t)(state->next_ssn + QUEUE_TSNS + 1);
}

void sctp_prepare_reversed(void *arg)
{
    struct state *state = arg;
    struct sctp_packet packet;
    fill_queue(state, WHOLE_TSNS, true);
    start(state, &packet);
    put_data(&packet, &(struct fragment){state->next_tsn, 1, state->next_ssn, 3}, 1);
    state->len = sctp_packet_end(&packet);
    state->next_tsn += WHOLE_TSNS + 1;
    state->next_ssn = (uint16_t)(state->next_ssn + WHOLE_TSNS + 1);
}

/* All that the association takes for sending, in messages of four bytes, is in flight. */
static void fill_flight(struct state *state)
{
    struct sctp_send how = {.stream = 1, .ppid = 51};
    for (int round = 0; round < 2000 && !state->is_filled; round++) {
        struct sctp_packet packet;
        enum err err = OK;
        while (err == OK && round < 1900)
            err = sctp_send(state->sctp, &how, "text", 4);
        drain(state);
        start(state, &packet);
        uint8_t *at = sctp_put_chunk(&packet, SCTP_SACK, 0, 12);
        sctp_put32(at, round < 100 ? state->sent_tsn : 1); /* the window grows first */
        sctp_put32(at + 4, 1 << 20);
        give(state, &packet);
    }
    state->is_filled = true;
}

static void put_sack(struct sctp_packet *packet, uint32_t tsn, unsigned gaps)
{
    uint8_t *at = sctp_put_chunk(packet, SCTP_SACK, 0, 12 + 4 * (size_t)gaps);
    if (!at)
        return;
    sctp_put32(at, tsn);
    sctp_put32(at + 4, 1 << 20);
    sctp_put16(at + 8, (uint16_t)gaps);
    for (unsigned i = 0; i < gaps; i++) {
        sctp_put16(at + 12 + 4 * i, (uint16_t)(60000 + i));
        sctp_put16(at + 14 + 4 * i, (uint16_t)(60000 + i));
    }
}

static uint32_t acked(const struct state *state)
{
    return state->sent_tsn > 20000 ? state->sent_tsn - 20000 : 0;
}

void sctp_prepare_sack(void *arg)
{
    struct state *state = arg;
    struct sctp_packet packet;
    fill_flight(state);
    start(state, &packet);
    put_sack(&packet, acked(state), STREAMS_NAMED);
    state->len = sctp_packet_end(&packet);
}

void sctp_prepare_sacks(void *arg)
{
    struct state *state = arg;
    struct sctp_packet packet;
    fill_flight(state);
    start(state, &packet);
    for (int i = 0; i < 70; i++)
        put_sack(&packet, acked(state), 0);
    state->len = sctp_packet_end(&packet);
}

void sctp_prepare_cookies(void *arg)
{
    struct state *state = arg;
    struct sctp_packet packet;
    start(state, &packet);
    uint8_t *at;
    while ((at = sctp_put_chunk(&packet, SCTP_COOKIE_ECHO, 0, SCTP_COOKIE_BYTES)))
        memset(at, 'x', SCTP_COOKIE_BYTES);
    state->len = sctp_packet_end(&packet);
}

void sctp_prepare_resets(void *arg)
{
    struct state *state = arg;
    struct sctp_packet packet;
    start(state, &packet);
    size_t len = 16 + 2 * (size_t)STREAMS_NAMED;
    uint8_t *at = sctp_put_chunk(&packet, SCTP_RE_CONFIG, 0, len);
    sctp_put16(at, 13);
    sctp_put16(at + 2, (uint16_t)len);
    sctp_put32(at + 4, state->next_tsn++); /* the sequence of requests begins at the first TSN */
    sctp_put32(at + 12, FIRST_TSN - 1);
    for (unsigned i = 0; i < STREAMS_NAMED; i++)
        sctp_put16(at + 16 + 2 * (size_t)i, (uint16_t)(i % 16));
    state->len = sctp_packet_end(&packet);
}
