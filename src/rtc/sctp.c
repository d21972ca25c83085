/* The association: handshake, control chunks, timers and packets. Receiving is sctp_rx.c, sending
 * sctp_tx.c. An INIT is answered without new state in any state, always with our one tag and TSN,
 * so that both sides may begin at once; only the echoed cookie opens the association. */
#include "rtc/sctp.h"

#include "base/crypto.h"
#include "base/mem.h"
#include "rtc/sctp_init.h"
#include "rtc/sctp_reset.h"
#include "rtc/sctp_rx.h"
#include "rtc/sctp_state.h"
#include "rtc/sctp_tx.h"
#include "rtc/sctp_wire.h"

enum {
    MTU_BYTES = 1200, /* with DTLS, UDP and IPv6 headers still under 1,280 */
    MTU_MIN_BYTES = 256,
    CONTROL_FIRST_US = 500000, /* as the first RTO of data */
    CONTROL_MAX_US = 4000000,
    CONTROL_TRIES = 10,
    DATA_TIMEOUTS = 10,    /* Association.Max.Retrans, RFC 9260 section 16 */
    SACK_DELAY_US = 50000, /* at most 500 ms allowed; text should not wait for the window */
    SACK_EVERY_PACKETS = 2,
    HEARTBEAT_MAX_BYTES = 256
};

/* What the next packets carry beside data. */
enum want {
    WANT_INIT = 1 << 0,
    WANT_INIT_ACK = 1 << 1,
    WANT_COOKIE_ECHO = 1 << 2,
    WANT_COOKIE_ACK = 1 << 3,
    WANT_SACK = 1 << 4,
    WANT_HEARTBEAT_ACK = 1 << 5,
    WANT_SHUTDOWN = 1 << 6,
    WANT_SHUTDOWN_ACK = 1 << 7,
    WANT_SHUTDOWN_COMPLETE = 1 << 8,
    WANT_ABORT = 1 << 9
};

struct sctp {
    enum sctp_state state;
    unsigned wants;
    uint16_t port;
    size_t mtu_bytes;
    uint32_t tag, first_tsn;
    uint8_t secret[32];
    struct sctp_peer peer;     /* once the handshake is over; its tag already in COOKIE_ECHOED */
    struct sctp_peer inquirer; /* who gets the INIT ACK */
    uint8_t cookie[SCTP_PEER_COOKIE_MAX_BYTES]; /* of the peer */
    size_t cookie_len;
    uint8_t heartbeat[HEARTBEAT_MAX_BYTES];
    size_t heartbeat_len;
    struct sctp_rx rx;
    struct sctp_tx tx;
    struct sctp_reset reset;
    unsigned packets_unsacked;
    int64_t sack_due_us;
    int64_t control_due_us, control_wait_us;
    unsigned control_tries;
    bool has_opened, has_closed; /* events to tell */
    const char *reason;
    struct sctp_message *current; /* lent by the last event */
    struct sctp_stats stats;
};

static bool has_peer(const struct sctp *sctp)
{
    return sctp->state >= SCTP_OPEN && sctp->state < SCTP_ENDED;
}

static void start_control_timer(struct sctp *sctp, int64_t now_us)
{
    sctp->control_wait_us = CONTROL_FIRST_US;
    sctp->control_due_us = now_us + sctp->control_wait_us;
    sctp->control_tries = 0;
}

/* What a state asks of the peer, again and again until it is answered. */
static const unsigned asks[SCTP_STATE_COUNT] = {
    [SCTP_COOKIE_WAIT] = WANT_INIT,
    [SCTP_COOKIE_ECHOED] = WANT_COOKIE_ECHO,
    [SCTP_SHUTDOWN_SENT] = WANT_SHUTDOWN,
    [SCTP_SHUTDOWN_ACK_SENT] = WANT_SHUTDOWN_ACK,
};

/* What is answered whenever it comes. */
static const unsigned answers[SCTP_MOVE_COUNT] = {
    [SCTP_GOT_COOKIE_ECHO] = WANT_COOKIE_ACK,
    [SCTP_GOT_SHUTDOWN_ACK] = WANT_SHUTDOWN_COMPLETE,
};

/* Alone writes the state. False: refused, or nothing has changed. */
static bool move(struct sctp *sctp, enum sctp_move what, int64_t now_us)
{
    enum sctp_state from = sctp->state;
    if (!sctp_move(&sctp->state, what) || sctp->state == from)
        return false;
    sctp->wants |= asks[sctp->state] | answers[what];
    sctp->control_due_us = INT64_MAX;
    if (asks[sctp->state])
        start_control_timer(sctp, now_us);
    sctp->has_opened = sctp->has_opened || sctp->state == SCTP_OPEN;
    sctp->has_closed = sctp->has_closed || sctp->state == SCTP_ENDED;
    return true;
}

static void end(struct sctp *sctp, const char *reason, bool tells_peer)
{
    if (!move(sctp, SCTP_END, 0))
        return;
    sctp->wants = tells_peer && sctp->peer.tag ? WANT_ABORT : 0;
    sctp->reason = reason;
}

struct sctp *sctp_new(const struct sctp_config *config)
{
    static const uint8_t zero[32];
    struct sctp *sctp = mem_new(struct sctp);
    sctp->port = config->port;
    sctp->mtu_bytes = MAX(config->mtu_bytes ? config->mtu_bytes : MTU_BYTES, MTU_MIN_BYTES);
    sctp->tag = config->tag ? config->tag : (uint32_t)crypto_random_u64() | 1;
    sctp->first_tsn = config->tsn ? config->tsn : (uint32_t)crypto_random_u64();
    memcpy(sctp->secret, config->secret, sizeof(sctp->secret));
    if (memcmp(sctp->secret, zero, sizeof(zero)) == 0)
        crypto_random(sctp->secret, sizeof(sctp->secret));
    sctp->reason = "shut down";
    sctp->sack_due_us = sctp->control_due_us = INT64_MAX;
    sctp_rx_init(&sctp->rx, 0);
    sctp_tx_init(&sctp->tx, sctp->first_tsn, sctp->mtu_bytes);
    sctp_reset_init(&sctp->reset, sctp->first_tsn);
    return sctp;
}

void sctp_free(struct sctp *sctp)
{
    if (!sctp)
        return;
    sctp_rx_clear(&sctp->rx);
    sctp_tx_clear(&sctp->tx);
    mem_free(sctp->current);
    mem_free(sctp);
}

void sctp_connect(struct sctp *sctp, int64_t now_us)
{
    move(sctp, SCTP_CONNECT, now_us);
}

static void take_peer(struct sctp *sctp, const struct sctp_peer *peer)
{
    sctp->peer = *peer;
    sctp_rx_init(&sctp->rx, peer->first_tsn);
    sctp_tx_peer(&sctp->tx, peer->window_bytes, peer->can_forward);
    sctp_reset_peer(&sctp->reset, peer->first_tsn, peer->can_reconfig);
}

static void input_init(struct sctp *sctp, const struct sctp_tlv *chunk, int64_t now_us)
{
    (void)now_us;
    struct sctp_tlv cookie;
    struct sctp_peer inquirer;
    if (!sctp_read_init(chunk, &inquirer, &cookie) || sctp->state == SCTP_ENDED)
        return;
    sctp->inquirer = inquirer;
    sctp->wants |= WANT_INIT_ACK;
}

static void input_init_ack(struct sctp *sctp, const struct sctp_tlv *chunk, int64_t now_us)
{
    struct sctp_tlv cookie;
    struct sctp_peer peer;
    if (!move(sctp, SCTP_GOT_INIT_ACK, now_us))
        return;
    if (!sctp_read_init(chunk, &peer, &cookie) || cookie.len == 0 ||
        cookie.len > sizeof(sctp->cookie) ||
        cookie.len > sctp->mtu_bytes - SCTP_HEADER_BYTES - SCTP_CHUNK_HEADER_BYTES) {
        end(sctp, "bad INIT ACK", false);
        return;
    }
    memcpy(sctp->cookie, cookie.value, cookie.len);
    sctp->cookie_len = cookie.len;
    take_peer(sctp, &peer);
}

static void input_cookie_echo(struct sctp *sctp, const struct sctp_tlv *chunk, int64_t now_us)
{
    struct sctp_peer peer;
    if (!sctp_read_cookie(sctp->secret, chunk->value, chunk->len, &peer))
        return;
    if (has_peer(sctp) && peer.tag == sctp->peer.tag) /* our COOKIE ACK was lost */
        sctp->wants |= WANT_COOKIE_ACK;
    if (!move(sctp, SCTP_GOT_COOKIE_ECHO, now_us))
        return;
    take_peer(sctp, &peer);
    sctp->wants &= ~(unsigned)(WANT_INIT | WANT_COOKIE_ECHO);
}

static void input_data(struct sctp *sctp, const struct sctp_tlv *chunk, int64_t now_us)
{
    if (!has_peer(sctp))
        return;
    enum sctp_rx_result result = sctp_rx_data(&sctp->rx, chunk);
    if (result == SCTP_RX_FATAL) {
        end(sctp, "protocol violation in DATA", true);
        return;
    }
    if (result != SCTP_RX_TAKEN || chunk->flags & SCTP_FLAG_IMMEDIATE ||
        sctp_rx_has_gaps(&sctp->rx) || sctp->state != SCTP_OPEN)
        sctp->wants |= WANT_SACK;
    else if (sctp->sack_due_us == INT64_MAX)
        sctp->sack_due_us = now_us + SACK_DELAY_US;
}

static void input_sack(struct sctp *sctp, const struct sctp_tlv *chunk, int64_t now_us)
{
    if (has_peer(sctp) && !sctp_tx_sack(&sctp->tx, chunk->value, chunk->len, now_us))
        end(sctp, "SACK of what was never sent", true);
}

static void input_heartbeat(struct sctp *sctp, const struct sctp_tlv *chunk, int64_t now_us)
{
    (void)now_us;
    if (!has_peer(sctp) || chunk->len > sizeof(sctp->heartbeat))
        return;
    memcpy(sctp->heartbeat, chunk->value, chunk->len);
    sctp->heartbeat_len = chunk->len;
    sctp->wants |= WANT_HEARTBEAT_ACK;
}

static void input_forward(struct sctp *sctp, const struct sctp_tlv *chunk, int64_t now_us)
{
    (void)now_us;
    if (!has_peer(sctp))
        return;
    sctp_rx_forward(&sctp->rx, chunk->value, chunk->len);
    sctp->wants |= WANT_SACK;
}

static void input_reconfig(struct sctp *sctp, const struct sctp_tlv *chunk, int64_t now_us)
{
    (void)now_us;
    if (has_peer(sctp))
        sctp_reset_input(&sctp->reset, chunk->value, chunk->len, &sctp->rx, &sctp->tx);
}

static void input_abort(struct sctp *sctp, const struct sctp_tlv *chunk, int64_t now_us)
{
    (void)chunk;
    (void)now_us;
    end(sctp, "aborted by the peer", false);
}

static void input_shutdown(struct sctp *sctp, const struct sctp_tlv *chunk, int64_t now_us)
{
    (void)chunk;
    if (sctp->state == SCTP_SHUTDOWN_ACK_SENT)
        sctp->wants |= WANT_SHUTDOWN_ACK;
    move(sctp, SCTP_GOT_SHUTDOWN, now_us);
}

static const struct {
    uint8_t type;
    void (*input)(struct sctp *sctp, const struct sctp_tlv *chunk, int64_t now_us);
    enum sctp_move move; /* without an input function: all that the chunk does */
} handlers[] = {
    {SCTP_DATA, input_data},
    {SCTP_SACK, input_sack},
    {SCTP_INIT, input_init},
    {SCTP_INIT_ACK, input_init_ack},
    {SCTP_COOKIE_ECHO, input_cookie_echo},
    {SCTP_COOKIE_ACK, NULL, SCTP_GOT_COOKIE_ACK},
    {SCTP_HEARTBEAT, input_heartbeat},
    {SCTP_FORWARD_TSN, input_forward},
    {SCTP_RE_CONFIG, input_reconfig},
    {SCTP_ABORT, input_abort},
    {SCTP_SHUTDOWN, input_shutdown},
    {SCTP_SHUTDOWN_ACK, NULL, SCTP_GOT_SHUTDOWN_ACK},
    {SCTP_SHUTDOWN_COMPLETE, NULL, SCTP_GOT_SHUTDOWN_COMPLETE},
};

/* False: an unknown chunk that forbids reading on (RFC 9260 section 3.2). seen: the handlers whose
 * chunks were in this packet. But for DATA nobody has a use for a second one of a kind, and it is
 * passed over: a packet shall not cost more than its kinds do. */
static bool input_chunk(struct sctp *sctp, const struct sctp_tlv *chunk, unsigned *seen,
                        int64_t now_us)
{
    for (size_t i = 0; i < ARRAY_LEN(handlers); i++) {
        if (handlers[i].type != chunk->type)
            continue;
        bool is_further = *seen >> i & 1 && chunk->type != SCTP_DATA;
        *seen |= 1u << i;
        if (!is_further && handlers[i].input)
            handlers[i].input(sctp, chunk, now_us);
        else if (!is_further)
            move(sctp, handlers[i].move, now_us);
        return true;
    }
    return chunk->type & 0x80 || chunk->type == SCTP_HEARTBEAT_ACK || chunk->type == SCTP_ERROR;
}

/* RFC 9260 section 8.5: INIT carries tag 0 and stands alone; ABORT and SHUTDOWN COMPLETE may carry
 * the peer's own tag with the T bit. */
static bool is_tag_right(const struct sctp *sctp, const uint8_t *data, size_t len)
{
    uint32_t tag = sctp_get32(data + 4);
    uint8_t type = data[SCTP_HEADER_BYTES], flags = data[SCTP_HEADER_BYTES + 1];
    if (type == SCTP_INIT)
        return tag == 0 &&
               ((sctp_get16(data + SCTP_HEADER_BYTES + 2) + 3u) & ~3u) + SCTP_HEADER_BYTES >= len;
    if ((type == SCTP_ABORT || type == SCTP_SHUTDOWN_COMPLETE) && flags & 1)
        return sctp->peer.tag != 0 && tag == sctp->peer.tag;
    return tag == sctp->tag;
}

static void drain(struct sctp *sctp, int64_t now_us)
{
    bool is_draining =
        sctp->state == SCTP_SHUTDOWN_PENDING || sctp->state == SCTP_SHUTDOWN_RECEIVED;
    if (is_draining && sctp_tx_is_idle(&sctp->tx))
        move(sctp, SCTP_DRAINED, now_us);
}

void sctp_input(struct sctp *sctp, const uint8_t *data, size_t len, int64_t now_us)
{
    if (sctp->state == SCTP_ENDED || !sctp_packet_is_sound(data, len, sctp->port) ||
        !is_tag_right(sctp, data, len))
        return;
    sctp->stats.packets_in++;
    struct sctp_reader reader = {data + SCTP_HEADER_BYTES, len - SCTP_HEADER_BYTES, false};
    struct sctp_tlv chunk;
    bool has_data = false;
    unsigned seen = 0;
    while (sctp_read_chunk(&reader, &chunk) && sctp->state != SCTP_ENDED) {
        has_data |= chunk.type == SCTP_DATA;
        if (!input_chunk(sctp, &chunk, &seen, now_us))
            break;
    }
    if (has_data && ++sctp->packets_unsacked >= SACK_EVERY_PACKETS)
        sctp->wants |= WANT_SACK;
    drain(sctp, now_us);
}

static void run_timers(struct sctp *sctp, int64_t now_us)
{
    if (has_peer(sctp) && sctp->sack_due_us <= now_us)
        sctp->wants |= WANT_SACK;
    if (has_peer(sctp) && sctp->tx.timer_us <= now_us) {
        sctp_tx_timeout(&sctp->tx, now_us);
        if (sctp->tx.timeouts > DATA_TIMEOUTS)
            end(sctp, "no answer to data", true);
    }
    if (has_peer(sctp))
        sctp_reset_timeout(&sctp->reset, now_us);
    if (sctp->control_due_us > now_us || sctp->state == SCTP_ENDED)
        return;
    if (++sctp->control_tries > CONTROL_TRIES) {
        end(sctp, "no answer to the handshake", true);
        return;
    }
    sctp->wants |= asks[sctp->state];
    sctp->control_wait_us = MIN(sctp->control_wait_us * 2, CONTROL_MAX_US);
    sctp->control_due_us = asks[sctp->state] ? now_us + sctp->control_wait_us : INT64_MAX;
}

static size_t write_init(struct sctp *sctp, uint8_t *out, bool is_ack)
{
    struct sctp_packet packet;
    struct sctp_own own = {.tag = sctp->tag, .first_tsn = sctp->first_tsn};
    sctp_packet_begin(&packet, out, sctp->mtu_bytes, sctp->port, is_ack ? sctp->inquirer.tag : 0);
    sctp_write_init(&packet, &own, sctp->secret, is_ack ? &sctp->inquirer : NULL);
    return sctp_packet_end(&packet);
}

static void put(struct sctp_packet *packet, uint8_t type, const void *value, size_t len)
{
    uint8_t *at = sctp_put_chunk(packet, type, 0, len);
    if (at && len)
        memcpy(at, value, len);
}

static void write_sack(struct sctp *sctp, struct sctp_packet *packet)
{
    sctp_rx_write_sack(&sctp->rx, packet);
    sctp->sack_due_us = INT64_MAX;
    sctp->packets_unsacked = 0;
}

static void write_control(struct sctp *sctp, struct sctp_packet *packet)
{
    unsigned wants = sctp->wants;
    sctp->wants = 0;
    if (wants & WANT_ABORT)
        put(packet, SCTP_ABORT, NULL, 0);
    if (wants & WANT_SHUTDOWN_COMPLETE)
        put(packet, SCTP_SHUTDOWN_COMPLETE, NULL, 0);
    if (wants & WANT_COOKIE_ECHO)
        put(packet, SCTP_COOKIE_ECHO, sctp->cookie, sctp->cookie_len);
    if (wants & WANT_COOKIE_ACK)
        put(packet, SCTP_COOKIE_ACK, NULL, 0);
    if (wants & WANT_SACK)
        write_sack(sctp, packet);
    if (wants & WANT_HEARTBEAT_ACK)
        put(packet, SCTP_HEARTBEAT_ACK, sctp->heartbeat, sctp->heartbeat_len);
    if (wants & WANT_SHUTDOWN) {
        uint8_t cum_tsn[4];
        sctp_put32(cum_tsn, sctp->rx.cum_tsn);
        put(packet, SCTP_SHUTDOWN, cum_tsn, sizeof(cum_tsn));
    }
    if (wants & WANT_SHUTDOWN_ACK)
        put(packet, SCTP_SHUTDOWN_ACK, NULL, 0);
}

size_t sctp_output(struct sctp *sctp, uint8_t *out, size_t cap, int64_t now_us)
{
    if (cap < sctp->mtu_bytes)
        return 0;
    run_timers(sctp, now_us);
    size_t len = 0;
    if (sctp->wants & WANT_INIT_ACK) {
        sctp->wants &= ~(unsigned)WANT_INIT_ACK;
        len = write_init(sctp, out, true);
    } else if (sctp->wants & WANT_INIT) {
        sctp->wants &= ~(unsigned)WANT_INIT;
        len = write_init(sctp, out, false);
    } else {
        struct sctp_packet packet;
        sctp_packet_begin(&packet, out, sctp->mtu_bytes, sctp->port, sctp->peer.tag);
        write_control(sctp, &packet);
        if (has_peer(sctp)) {
            sctp_reset_write(&sctp->reset, &packet, &sctp->tx, now_us);
            sctp_tx_write(&sctp->tx, &packet, now_us);
        }
        len = sctp_packet_end(&packet);
    }
    sctp->stats.packets_out += len > 0;
    return len;
}

int64_t sctp_deadline_us(const struct sctp *sctp)
{
    if (sctp->state == SCTP_ENDED)
        return INT64_MAX;
    int64_t due_us = sctp->control_due_us;
    if (has_peer(sctp)) {
        due_us = MIN(due_us, sctp->sack_due_us);
        due_us = MIN(due_us, sctp->tx.timer_us);
        due_us = MIN(due_us, sctp_reset_deadline_us(&sctp->reset));
    }
    return due_us;
}

static bool message_event(struct sctp *sctp, struct sctp_event *out)
{
    sctp->current = sctp_rx_take(&sctp->rx);
    if (!sctp->current)
        return false;
    sctp->stats.messages_in++;
    *out = (struct sctp_event){
        .type = SCTP_EVENT_MESSAGE,
        .stream = sctp->current->stream,
        .ppid = sctp->current->ppid,
        .data = sctp->current->data,
        .len = sctp->current->len,
    };
    return true;
}

bool sctp_event(struct sctp *sctp, struct sctp_event *out)
{
    mem_free(sctp->current);
    sctp->current = NULL;
    if (sctp->has_opened) {
        sctp->has_opened = false;
        *out = (struct sctp_event){.type = SCTP_EVENT_OPEN};
        return true;
    }
    if (message_event(sctp, out))
        return true;
    uint16_t stream;
    if (sctp_reset_event(&sctp->reset, &stream)) {
        *out = (struct sctp_event){.type = SCTP_EVENT_RESET, .stream = stream};
        return true;
    }
    if (!sctp->has_closed)
        return false;
    sctp->has_closed = false;
    *out = (struct sctp_event){.type = SCTP_EVENT_CLOSED, .reason = sctp->reason};
    return true;
}

enum err sctp_send(struct sctp *sctp, const struct sctp_send *how, const void *data, size_t len)
{
    if (sctp->state > SCTP_OPEN)
        return ERR_CLOSED;
    enum err err = sctp_tx_queue(&sctp->tx, how, data, len);
    sctp->stats.messages_out += !err;
    return err;
}

size_t sctp_queued_bytes(const struct sctp *sctp)
{
    return sctp->tx.queued_bytes;
}

void sctp_reset_stream(struct sctp *sctp, uint16_t stream)
{
    if (stream < SCTP_STREAMS)
        sctp_reset_ask(&sctp->reset, stream);
}

void sctp_shutdown(struct sctp *sctp, int64_t now_us)
{
    if (sctp->state < SCTP_OPEN) {
        end(sctp, "shut down", false);
        return;
    }
    move(sctp, SCTP_SHUT_DOWN, now_us);
    drain(sctp, now_us);
}

void sctp_abort(struct sctp *sctp)
{
    end(sctp, "aborted", true);
}

bool sctp_is_open(const struct sctp *sctp)
{
    return sctp->state == SCTP_OPEN;
}

void sctp_stats(const struct sctp *sctp, struct sctp_stats *out)
{
    *out = sctp->stats;
    out->retransmitted_chunks = sctp->tx.retransmitted;
    out->messages_given_up = sctp->tx.given_up;
    out->rtt_us = sctp->tx.srtt_us;
}
