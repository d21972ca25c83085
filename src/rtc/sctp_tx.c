#include "rtc/sctp_tx.h"

#include "base/mem.h"

enum {
    RTO_FIRST_US = 500000, /* below RFC 9260's 1 s: the path was measured by ICE and DTLS already */
    RTO_MIN_US = 300000,   /* above the 200 ms by which a peer may delay its SACK */
    RTO_MAX_US = 5000000,  /* ICE gives the caller up after 10 s of silence */
    MISSING_REPORTS = 3,   /* RFC 9260 section 7.2.4 */
    FORWARD_STREAMS = 16,
    DATA_CHUNK_BYTES = SCTP_CHUNK_HEADER_BYTES + SCTP_DATA_HEADER_BYTES
};

enum fate { FATE_FLYING, FATE_LOST, FATE_ACKED, FATE_GIVEN_UP };

struct outgoing {
    struct list_node node;
    uint32_t tsn, ppid, message;
    uint16_t stream, ssn, len;
    uint8_t flags;
    uint8_t missing; /* SACKs that reported a later TSN and not this one */
    enum fate fate;
    bool has_limit;
    uint16_t max_retransmits, sends;
    int64_t sent_us;
    uint8_t data[];
};

void sctp_tx_init(struct sctp_tx *tx, uint32_t first_tsn, size_t mtu_bytes)
{
    memset(tx, 0, sizeof(*tx));
    list_init(&tx->waiting);
    list_init(&tx->flight);
    tx->mtu_bytes = mtu_bytes;
    tx->next_tsn = first_tsn;
    tx->acked_tsn = tx->forward_tsn = first_tsn - 1;
    tx->cwnd_bytes = 4 * mtu_bytes; /* RFC 9260 section 7.2.1 */
    tx->ssthresh_bytes = SCTP_SEND_MAX_BYTES;
    tx->rto_us = RTO_FIRST_US;
    tx->timer_us = INT64_MAX;
}

static void drop(struct sctp_tx *tx, struct outgoing *chunk)
{
    list_remove(&chunk->node);
    tx->chunk_count--;
    tx->queued_bytes -= chunk->len;
    mem_free(chunk);
}

static void drop_all(struct sctp_tx *tx, struct list_node *list)
{
    struct outgoing *chunk;
    LIST_EACH (chunk, list, struct outgoing, node)
        drop(tx, chunk);
}

void sctp_tx_clear(struct sctp_tx *tx)
{
    if (!tx->waiting.next)
        return;
    drop_all(tx, &tx->waiting);
    drop_all(tx, &tx->flight);
}

void sctp_tx_peer(struct sctp_tx *tx, uint32_t window_bytes, bool can_forward)
{
    tx->peer_window_bytes = window_bytes;
    tx->peer_can_forward = can_forward;
}

static void queue_fragment(struct sctp_tx *tx, const struct sctp_send *how, const uint8_t *data,
                           size_t len, uint8_t flags)
{
    struct outgoing *chunk = mem_zalloc(sizeof(*chunk) + len);
    chunk->ppid = how->ppid;
    chunk->message = tx->next_message;
    chunk->stream = how->stream;
    chunk->ssn = how->is_unordered ? 0 : tx->next_ssn[how->stream];
    chunk->flags = (uint8_t)(flags | (how->is_unordered ? SCTP_FLAG_UNORDERED : 0));
    chunk->has_limit = how->has_retransmit_limit;
    chunk->max_retransmits = how->max_retransmits;
    chunk->len = (uint16_t)len;
    memcpy(chunk->data, data, len);
    list_push_back(&tx->waiting, &chunk->node);
    tx->chunk_count++;
    tx->queued_bytes += len;
}

enum err sctp_tx_queue(struct sctp_tx *tx, const struct sctp_send *how, const void *data,
                       size_t len)
{
    if (how->stream >= SCTP_STREAMS || len == 0)
        return ERR_INVALID;
    if (len > SCTP_MESSAGE_MAX_BYTES || tx->queued_bytes + len > SCTP_SEND_MAX_BYTES)
        return ERR_LIMIT;
    size_t most = (tx->mtu_bytes - SCTP_HEADER_BYTES - DATA_CHUNK_BYTES) & ~(size_t)3;
    if (tx->chunk_count + (len + most - 1) / most > SCTP_SEND_MAX_CHUNKS)
        return ERR_LIMIT;
    for (size_t at = 0; at < len; at += most) {
        size_t step = len - at < most ? len - at : most;
        uint8_t flags =
            (uint8_t)((at == 0 ? SCTP_FLAG_BEGIN : 0) | (at + step == len ? SCTP_FLAG_END : 0));
        queue_fragment(tx, how, (const uint8_t *)data + at, step, flags);
    }
    tx->next_message++;
    if (!how->is_unordered)
        tx->next_ssn[how->stream]++;
    return OK;
}

static void count_out_of_flight(struct sctp_tx *tx, const struct outgoing *chunk)
{
    if (chunk->fate == FATE_FLYING)
        tx->flight_bytes -= chunk->len;
}

/* RFC 3758 section 3.5: all fragments of a message are given up together; those never sent need
 * not be told. */
static void give_up(struct sctp_tx *tx, uint32_t message)
{
    struct outgoing *chunk;
    LIST_EACH (chunk, &tx->flight, struct outgoing, node) {
        if (chunk->message != message || chunk->fate == FATE_ACKED)
            continue;
        count_out_of_flight(tx, chunk);
        chunk->fate = FATE_GIVEN_UP;
    }
    LIST_EACH (chunk, &tx->waiting, struct outgoing, node) {
        if (chunk->message == message)
            drop(tx, chunk);
    }
    tx->given_up++;
}

static void lose(struct sctp_tx *tx, struct outgoing *chunk)
{
    if (chunk->fate != FATE_FLYING)
        return;
    count_out_of_flight(tx, chunk);
    chunk->fate = FATE_LOST;
    chunk->missing = 0;
    if (tx->peer_can_forward && chunk->has_limit && chunk->sends > chunk->max_retransmits)
        give_up(tx, chunk->message);
}

static void find_forward(struct sctp_tx *tx)
{
    uint32_t forward = tx->acked_tsn;
    struct outgoing *chunk;
    LIST_EACH (chunk, &tx->flight, struct outgoing, node) {
        if (chunk->tsn != forward + 1 ||
            (chunk->fate != FATE_GIVEN_UP && chunk->fate != FATE_ACKED))
            break;
        forward = chunk->tsn;
    }
    tx->forward_tsn = forward;
    tx->wants_forward = false;
    LIST_EACH (chunk, &tx->flight, struct outgoing, node) {
        if (!sctp_tsn_after(chunk->tsn, forward) && chunk->fate == FATE_GIVEN_UP)
            tx->wants_forward = true;
    }
}

/* Two passes: streams are collected first, because the chunk's length must be known. */
static void write_forward(struct sctp_tx *tx, struct sctp_packet *packet)
{
    uint16_t streams[FORWARD_STREAMS][2];
    unsigned count = 0;
    struct outgoing *chunk;
    LIST_EACH (chunk, &tx->flight, struct outgoing, node) {
        if (sctp_tsn_after(chunk->tsn, tx->forward_tsn) || chunk->fate != FATE_GIVEN_UP ||
            chunk->flags & SCTP_FLAG_UNORDERED)
            continue;
        unsigned i = 0;
        while (i < count && streams[i][0] != chunk->stream)
            i++;
        if (i == FORWARD_STREAMS)
            continue;
        streams[i][0] = chunk->stream;
        streams[i][1] = chunk->ssn;
        count = i == count ? count + 1 : count;
    }
    uint8_t *at = sctp_put_chunk(packet, SCTP_FORWARD_TSN, 0, 4 + 4 * (size_t)count);
    if (!at)
        return;
    sctp_put32(at, tx->forward_tsn);
    for (unsigned i = 0; i < count; i++) {
        sctp_put16(at + 4 + 4 * i, streams[i][0]);
        sctp_put16(at + 6 + 4 * i, streams[i][1]);
    }
    tx->wants_forward = false;
}

static bool write_chunk(struct sctp_tx *tx, struct sctp_packet *packet, struct outgoing *chunk,
                        int64_t now_us)
{
    uint8_t *at =
        sctp_put_chunk(packet, SCTP_DATA, chunk->flags, SCTP_DATA_HEADER_BYTES + chunk->len);
    if (!at)
        return false;
    sctp_put32(at, chunk->tsn);
    sctp_put16(at + 4, chunk->stream);
    sctp_put16(at + 6, chunk->ssn);
    sctp_put32(at + 8, chunk->ppid);
    memcpy(at + SCTP_DATA_HEADER_BYTES, chunk->data, chunk->len);
    chunk->sends++;
    chunk->sent_us = now_us;
    chunk->fate = FATE_FLYING;
    tx->flight_bytes += chunk->len;
    if (tx->timer_us == INT64_MAX)
        tx->timer_us = now_us + tx->rto_us;
    return true;
}

static bool may_send(const struct sctp_tx *tx, size_t len)
{
    if (tx->flight_bytes == 0)
        return true; /* one chunk may always probe a closed window */
    return tx->flight_bytes < tx->cwnd_bytes && tx->flight_bytes + len <= tx->peer_window_bytes;
}

void sctp_tx_write(struct sctp_tx *tx, struct sctp_packet *packet, int64_t now_us)
{
    if (tx->wants_forward)
        write_forward(tx, packet);
    struct outgoing *chunk;
    LIST_EACH (chunk, &tx->flight, struct outgoing, node) {
        if (chunk->fate != FATE_LOST)
            continue;
        if (!may_send(tx, chunk->len) || !write_chunk(tx, packet, chunk, now_us))
            return;
        tx->retransmitted++;
    }
    LIST_EACH (chunk, &tx->waiting, struct outgoing, node) {
        if (!may_send(tx, chunk->len) ||
            sctp_packet_room(packet) < SCTP_DATA_HEADER_BYTES + (size_t)chunk->len)
            return;
        chunk->tsn = tx->next_tsn++;
        list_remove(&chunk->node);
        list_push_back(&tx->flight, &chunk->node);
        write_chunk(tx, packet, chunk, now_us);
    }
}

/* RFC 9260 section 6.3.1; only of fragments that were sent once (Karn). */
static void measure(struct sctp_tx *tx, int64_t rtt_us)
{
    if (tx->srtt_us == 0) {
        tx->srtt_us = rtt_us > 0 ? rtt_us : 1;
        tx->rttvar_us = rtt_us / 2;
    } else {
        int64_t off = tx->srtt_us > rtt_us ? tx->srtt_us - rtt_us : rtt_us - tx->srtt_us;
        tx->rttvar_us += (off - tx->rttvar_us) / 4;
        tx->srtt_us += (rtt_us - tx->srtt_us) / 8;
    }
    int64_t rto_us = tx->srtt_us + 4 * tx->rttvar_us;
    tx->rto_us = MAX(RTO_MIN_US, MIN(rto_us, RTO_MAX_US));
}

static size_t ack(struct sctp_tx *tx, struct outgoing *chunk, int64_t now_us)
{
    if (chunk->fate == FATE_ACKED)
        return 0;
    if (chunk->sends == 1 && chunk->fate == FATE_FLYING)
        measure(tx, now_us - chunk->sent_us);
    count_out_of_flight(tx, chunk);
    chunk->fate = FATE_ACKED;
    return chunk->len;
}

static size_t ack_to(struct sctp_tx *tx, uint32_t cum_tsn, int64_t now_us)
{
    size_t bytes = 0;
    struct outgoing *chunk;
    LIST_EACH (chunk, &tx->flight, struct outgoing, node) {
        if (sctp_tsn_after(chunk->tsn, cum_tsn))
            break;
        bytes += ack(tx, chunk, now_us);
        drop(tx, chunk);
    }
    return bytes;
}

/* Gap blocks rise, as TSNs in flight do: one walk over both. A block that does not rise hides those
 * after it. */
static size_t ack_gaps(struct sctp_tx *tx, uint32_t cum_tsn, const uint8_t *gaps, unsigned count,
                       uint32_t *out_top, int64_t now_us)
{
    size_t bytes = 0;
    unsigned i = 0;
    struct outgoing *chunk;
    LIST_EACH (chunk, &tx->flight, struct outgoing, node) {
        uint32_t offset = chunk->tsn - cum_tsn;
        while (i < count && offset > sctp_get16(gaps + 4 * (size_t)i + 2))
            i++;
        if (i == count)
            break;
        if (offset < sctp_get16(gaps + 4 * (size_t)i))
            continue;
        bytes += ack(tx, chunk, now_us);
        *out_top = chunk->tsn;
    }
    return bytes;
}

/* Three SACKs that skip a fragment mean that it is lost (fast retransmit), and so does one SACK of
 * a fragment three after it, for a peer that answers bursts with one. The window is cut once in a
 * recovery. */
static void report_missing(struct sctp_tx *tx, uint32_t top_tsn)
{
    bool is_lost = false;
    struct outgoing *chunk;
    LIST_EACH (chunk, &tx->flight, struct outgoing, node) {
        if (!sctp_tsn_after(top_tsn, chunk->tsn))
            break;
        if (chunk->fate != FATE_FLYING || chunk->sends > 1)
            continue;
        if (++chunk->missing < MISSING_REPORTS && top_tsn - chunk->tsn < MISSING_REPORTS)
            continue;
        lose(tx, chunk);
        is_lost = true;
    }
    if (!is_lost || tx->is_recovering)
        return;
    tx->is_recovering = true;
    tx->recovery_tsn = tx->next_tsn - 1;
    tx->ssthresh_bytes = MAX(tx->cwnd_bytes / 2, 4 * tx->mtu_bytes);
    tx->cwnd_bytes = tx->ssthresh_bytes;
}

static void grow_window(struct sctp_tx *tx, size_t acked_bytes)
{
    if (tx->is_recovering)
        return;
    if (tx->cwnd_bytes <= tx->ssthresh_bytes) {
        tx->cwnd_bytes += MIN(acked_bytes, tx->mtu_bytes);
    } else {
        tx->partial_bytes += acked_bytes;
        if (tx->partial_bytes >= tx->cwnd_bytes) {
            tx->partial_bytes -= tx->cwnd_bytes;
            tx->cwnd_bytes += tx->mtu_bytes;
        }
    }
    tx->cwnd_bytes = MIN(tx->cwnd_bytes, (size_t)SCTP_SEND_MAX_BYTES);
}

bool sctp_tx_sack(struct sctp_tx *tx, const uint8_t *value, size_t len, int64_t now_us)
{
    if (len < 12)
        return true;
    uint32_t cum_tsn = sctp_get32(value);
    unsigned gap_count = sctp_get16(value + 8);
    if (sctp_tsn_after(cum_tsn, tx->next_tsn - 1))
        return false;
    if (sctp_tsn_after(tx->acked_tsn, cum_tsn))
        return true; /* an old one */
    gap_count = (unsigned)MIN((size_t)gap_count, (len - 12) / 4);
    bool has_advanced = cum_tsn != tx->acked_tsn;
    size_t bytes = ack_to(tx, cum_tsn, now_us);
    uint32_t top_tsn = cum_tsn;
    bytes += ack_gaps(tx, cum_tsn, value + 12, gap_count, &top_tsn, now_us);
    tx->acked_tsn = cum_tsn;
    if (tx->is_recovering && !sctp_tsn_after(tx->recovery_tsn, cum_tsn))
        tx->is_recovering = false;
    tx->timeouts = 0; /* the peer lives, be its window closed or not (RFC 9260 section 6.1 A) */
    if (has_advanced)
        grow_window(tx, bytes);
    report_missing(tx, top_tsn);
    size_t window = sctp_get32(value + 4);
    tx->peer_window_bytes = window;
    find_forward(tx);
    if (list_is_empty(&tx->flight))
        tx->timer_us = INT64_MAX;
    else if (has_advanced)
        tx->timer_us = now_us + tx->rto_us;
    return true;
}

void sctp_tx_timeout(struct sctp_tx *tx, int64_t now_us)
{
    struct outgoing *chunk;
    LIST_EACH (chunk, &tx->flight, struct outgoing, node)
        lose(tx, chunk);
    find_forward(tx);
    tx->timeouts++;
    tx->is_recovering = false;
    tx->ssthresh_bytes = MAX(tx->cwnd_bytes / 2, 4 * tx->mtu_bytes);
    tx->cwnd_bytes = tx->mtu_bytes;
    tx->partial_bytes = 0;
    tx->rto_us = MIN(tx->rto_us * 2, RTO_MAX_US);
    tx->timer_us = list_is_empty(&tx->flight) ? INT64_MAX : now_us + tx->rto_us;
}

bool sctp_tx_is_idle(const struct sctp_tx *tx)
{
    return list_is_empty(&tx->waiting) && list_is_empty(&tx->flight);
}

static bool has_stream(const struct list_node *list, uint16_t stream)
{
    const struct outgoing *chunk;
    LIST_EACH (chunk, list, const struct outgoing, node) {
        if (chunk->stream == stream)
            return true;
    }
    return false;
}

bool sctp_tx_has_stream(const struct sctp_tx *tx, uint16_t stream)
{
    return has_stream(&tx->waiting, stream) || has_stream(&tx->flight, stream);
}
