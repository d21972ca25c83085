#include "rtc/sctp_reset.h"

#include "base/attr.h"
#include "rtc/sctp_rx.h"
#include "rtc/sctp_tx.h"
#include "rtc/sctp_wire.h"

enum {
    AGAIN_US = 500000,
    TRIES = 10,
    REQUEST_BYTES = 16, /* of an outgoing reset request before its streams */
    ANSWER_BYTES = 12
};

enum param { PARAM_OUTGOING = 13, PARAM_INCOMING = 14, PARAM_ANSWER = 16 };

enum result { RESULT_PERFORMED = 1, RESULT_DENIED = 2, RESULT_BAD_SEQ = 5, RESULT_IN_PROGRESS = 6 };

void sctp_reset_init(struct sctp_reset *reset, uint32_t first_seq)
{
    *reset = (struct sctp_reset){.next_seq = first_seq, .due_us = INT64_MAX};
}

void sctp_reset_peer(struct sctp_reset *reset, uint32_t first_seq, bool can_reconfig)
{
    reset->peer_seq = first_seq;
    reset->peer_can = can_reconfig;
}

void sctp_reset_ask(struct sctp_reset *reset, uint16_t stream)
{
    reset->asked |= (uint16_t)(1u << stream);
}

static void done(struct sctp_reset *reset)
{
    reset->under_way = 0;
    reset->wants_request = false;
    reset->tries = 0;
    reset->due_us = INT64_MAX;
    reset->next_seq++;
}

/*     | sequence | result |                                                                      */
static void input_answer(struct sctp_reset *reset, const struct sctp_tlv *param, struct sctp_tx *tx)
{
    if (param->len < 8 || !reset->under_way || sctp_get32(param->value) != reset->next_seq)
        return;
    uint32_t result = sctp_get32(param->value + 4);
    if (result == RESULT_IN_PROGRESS)
        return; /* asked again by the timer */
    for (uint16_t stream = 0; result <= RESULT_PERFORMED && stream < SCTP_STREAMS; stream++) {
        if (reset->under_way >> stream & 1)
            tx->next_ssn[stream] = 0;
    }
    done(reset);
}

static uint32_t reset_incoming(struct sctp_reset *reset, const struct sctp_tlv *param,
                               struct sctp_rx *rx)
{
    if (sctp_tsn_after(sctp_get32(param->value + 8), rx->cum_tsn))
        return RESULT_IN_PROGRESS;
    for (size_t at = 12; at + 2 <= param->len; at += 2) {
        uint16_t stream = sctp_get16(param->value + at);
        if (stream >= SCTP_STREAMS)
            continue;
        sctp_rx_reset_stream(rx, stream);
        reset->told |= (uint16_t)(1u << stream);
    }
    return RESULT_PERFORMED;
}

/*     | sequence | answers sequence | last TSN | streams (16) ... |                              */
static void input_request(struct sctp_reset *reset, const struct sctp_tlv *param,
                          struct sctp_rx *rx)
{
    if (param->len < 4)
        return;
    uint32_t seq = sctp_get32(param->value);
    reset->wants_answer = true;
    if (seq == reset->peer_seq - 1 && reset->answer_seq == seq)
        return; /* our answer was lost */
    reset->answer_seq = seq;
    if (seq != reset->peer_seq) {
        reset->answer_result = RESULT_BAD_SEQ;
        return;
    }
    if (param->type == PARAM_INCOMING || param->len < REQUEST_BYTES - 4)
        reset->answer_result = RESULT_DENIED;
    else
        reset->answer_result = reset_incoming(reset, param, rx);
    if (reset->answer_result != RESULT_IN_PROGRESS)
        reset->peer_seq++;
}

void sctp_reset_input(struct sctp_reset *reset, const uint8_t *value, size_t len,
                      struct sctp_rx *rx, struct sctp_tx *tx)
{
    struct sctp_reader reader = {value, len, false};
    struct sctp_tlv param;
    while (sctp_read_param(&reader, &param)) {
        if (param.type == PARAM_ANSWER)
            input_answer(reset, &param, tx);
        else if (param.type == PARAM_OUTGOING || param.type == PARAM_INCOMING)
            input_request(reset, &param, rx);
    }
}

void sctp_reset_timeout(struct sctp_reset *reset, int64_t now_us)
{
    if (reset->due_us > now_us)
        return;
    if (++reset->tries > TRIES)
        done(reset);
    else
        reset->wants_request = true;
    reset->due_us = reset->under_way ? now_us + AGAIN_US : INT64_MAX;
}

static void begin(struct sctp_reset *reset, const struct sctp_tx *tx)
{
    uint16_t ready = 0;
    for (uint16_t stream = 0; stream < SCTP_STREAMS; stream++) {
        if (reset->asked >> stream & 1 && !sctp_tx_has_stream(tx, stream))
            ready |= (uint16_t)(1u << stream);
    }
    if (!ready)
        return;
    reset->asked &= (uint16_t)~ready;
    reset->under_way = ready;
    reset->last_tsn = tx->next_tsn - 1;
    reset->wants_request = true;
}

static void write_request(struct sctp_reset *reset, struct sctp_packet *packet, int64_t now_us)
{
    unsigned count = (unsigned)__builtin_popcount(reset->under_way);
    size_t len = REQUEST_BYTES + 2 * (size_t)count;
    uint8_t *at = sctp_put_chunk(packet, SCTP_RE_CONFIG, 0, len);
    if (!at)
        return;
    sctp_put16(at, PARAM_OUTGOING);
    sctp_put16(at + 2, (uint16_t)len);
    sctp_put32(at + 4, reset->next_seq);
    sctp_put32(at + 8, reset->peer_seq - 1);
    sctp_put32(at + 12, reset->last_tsn);
    at += REQUEST_BYTES;
    for (uint16_t stream = 0; stream < SCTP_STREAMS; stream++) {
        if (!(reset->under_way >> stream & 1))
            continue;
        sctp_put16(at, stream);
        at += 2;
    }
    reset->wants_request = false;
    reset->due_us = now_us + AGAIN_US;
}

static void write_answer(struct sctp_reset *reset, struct sctp_packet *packet)
{
    uint8_t *at = sctp_put_chunk(packet, SCTP_RE_CONFIG, 0, ANSWER_BYTES);
    if (!at)
        return;
    sctp_put16(at, PARAM_ANSWER);
    sctp_put16(at + 2, ANSWER_BYTES);
    sctp_put32(at + 4, reset->answer_seq);
    sctp_put32(at + 8, reset->answer_result);
    reset->wants_answer = false;
}

void sctp_reset_write(struct sctp_reset *reset, struct sctp_packet *packet,
                      const struct sctp_tx *tx, int64_t now_us)
{
    if (!reset->peer_can)
        reset->asked = 0;
    if (reset->asked && !reset->under_way)
        begin(reset, tx);
    if (reset->wants_answer)
        write_answer(reset, packet);
    if (reset->wants_request)
        write_request(reset, packet, now_us);
}

bool sctp_reset_event(struct sctp_reset *reset, uint16_t *out_stream)
{
    if (!reset->told)
        return false;
    *out_stream = (uint16_t)__builtin_ctz(reset->told);
    reset->told &= (uint16_t)(reset->told - 1);
    return true;
}

int64_t sctp_reset_deadline_us(const struct sctp_reset *reset)
{
    return reset->due_us;
}
