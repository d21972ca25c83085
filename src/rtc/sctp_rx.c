#include "rtc/sctp_rx.h"

#include "base/mem.h"

struct fragment {
    struct list_node node;
    uint32_t tsn, ppid;
    uint16_t stream, ssn, len;
    uint8_t flags;
    uint8_t data[];
};

enum {
    HELD_MAX_BYTES = SCTP_RECEIVE_MAX_BYTES + SCTP_MESSAGE_MAX_BYTES /* while holes are filled */
};

void sctp_rx_init(struct sctp_rx *rx, uint32_t first_tsn)
{
    memset(rx, 0, sizeof(*rx));
    list_init(&rx->fragments);
    list_init(&rx->ready);
    rx->cum_tsn = rx->top_tsn = first_tsn - 1;
}

static void drop(struct sctp_rx *rx, struct fragment *fragment)
{
    list_remove(&fragment->node);
    rx->fragment_count--;
    rx->held_bytes -= sizeof(*fragment) + fragment->len;
    mem_free(fragment);
}

void sctp_rx_clear(struct sctp_rx *rx)
{
    if (!rx->fragments.next)
        return;
    struct fragment *fragment;
    LIST_EACH (fragment, &rx->fragments, struct fragment, node)
        drop(rx, fragment);
    struct sctp_message *message;
    while ((message = sctp_rx_take(rx)))
        mem_free(message);
}

static bool has_tsn(const struct sctp_rx *rx, uint32_t tsn)
{
    uint32_t bit = tsn % SCTP_RX_TSN_WINDOW;
    return rx->has[bit / 64] >> bit % 64 & 1;
}

static void set_tsn(struct sctp_rx *rx, uint32_t tsn, bool is_set)
{
    uint32_t bit = tsn % SCTP_RX_TSN_WINDOW;
    uint64_t mask = 1ULL << bit % 64;
    if (is_set)
        rx->has[bit / 64] |= mask;
    else
        rx->has[bit / 64] &= ~mask;
}

static void advance(struct sctp_rx *rx)
{
    while (has_tsn(rx, rx->cum_tsn + 1)) {
        rx->cum_tsn++;
        set_tsn(rx, rx->cum_tsn, false);
    }
    if (sctp_tsn_after(rx->cum_tsn, rx->top_tsn))
        rx->top_tsn = rx->cum_tsn;
}

static struct fragment *first_of(const struct sctp_rx *rx)
{
    return LIST_FIRST(&rx->fragments, struct fragment, node);
}

static struct fragment *next_of(struct sctp_rx *rx, const struct fragment *fragment)
{
    struct list_node *next = fragment->node.next;
    return next == &rx->fragments ? NULL : CONTAINER_OF(next, struct fragment, node);
}

static struct fragment *previous_of(struct sctp_rx *rx, const struct fragment *fragment)
{
    struct list_node *previous = fragment->node.prev;
    return previous == &rx->fragments ? NULL : CONTAINER_OF(previous, struct fragment, node);
}

static bool is_same_message(const struct fragment *a, const struct fragment *b)
{
    return b->tsn == a->tsn + 1 && a->stream == b->stream && a->ssn == b->ssn &&
           ((a->flags ^ b->flags) & SCTP_FLAG_UNORDERED) == 0 && !(a->flags & SCTP_FLAG_END) &&
           !(b->flags & SCTP_FLAG_BEGIN);
}

static struct fragment *first_of_message(struct sctp_rx *rx, struct fragment *fragment)
{
    while (!(fragment->flags & SCTP_FLAG_BEGIN)) {
        struct fragment *previous = previous_of(rx, fragment);
        if (!previous || !is_same_message(previous, fragment))
            return NULL;
        fragment = previous;
    }
    return fragment;
}

/* The bytes of a message whose fragments have all come; 0 when some have not. */
static size_t whole_bytes(struct sctp_rx *rx, struct fragment *first)
{
    size_t bytes = first->len;
    for (struct fragment *at = first; !(at->flags & SCTP_FLAG_END); bytes += at->len) {
        struct fragment *next = next_of(rx, at);
        if (!next || !is_same_message(at, next))
            return 0;
        at = next;
    }
    return bytes;
}

/* Moves a whole message to the ready list; returns what stands after it. Over-long ones are
 * dropped: the peer was told a=max-message-size. */
static struct fragment *make_ready(struct sctp_rx *rx, struct fragment *first, size_t bytes)
{
    struct sctp_message *message = NULL;
    if (bytes <= SCTP_MESSAGE_MAX_BYTES) {
        message = mem_zalloc(sizeof(*message) + bytes);
        message->stream = first->stream;
        message->ppid = first->ppid;
    }
    struct fragment *next = first;
    for (bool is_last = false; !is_last;) {
        struct fragment *at = next;
        is_last = at->flags & SCTP_FLAG_END;
        next = next_of(rx, at);
        if (message) {
            memcpy(message->data + message->len, at->data, at->len);
            message->len += at->len;
        }
        drop(rx, at);
    }
    if (!message)
        return next;
    rx->held_bytes += sizeof(*message) + bytes;
    list_push_back(&rx->ready, &message->node);
    return next;
}

static struct fragment *first_of_ssn(struct sctp_rx *rx, uint16_t stream, uint16_t ssn)
{
    struct fragment *fragment;
    LIST_EACH (fragment, &rx->fragments, struct fragment, node) {
        if (fragment->stream == stream && fragment->ssn == ssn &&
            (fragment->flags & (SCTP_FLAG_UNORDERED | SCTP_FLAG_BEGIN)) == SCTP_FLAG_BEGIN)
            return fragment;
    }
    return NULL;
}

static void deliver_in_order(struct sctp_rx *rx, uint16_t stream)
{
    for (;;) {
        struct fragment *first = first_of_ssn(rx, stream, rx->next_ssn[stream]);
        size_t bytes = first ? whole_bytes(rx, first) : 0;
        if (!bytes)
            return;
        make_ready(rx, first, bytes);
        rx->next_ssn[stream]++;
    }
}

static void deliver(struct sctp_rx *rx, struct fragment *fragment)
{
    if (!(fragment->flags & SCTP_FLAG_UNORDERED)) {
        if (fragment->ssn == rx->next_ssn[fragment->stream])
            deliver_in_order(rx, fragment->stream);
        return;
    }
    struct fragment *first = first_of_message(rx, fragment);
    size_t bytes = first ? whole_bytes(rx, first) : 0;
    if (bytes)
        make_ready(rx, first, bytes);
}

static struct fragment *keep(struct sctp_rx *rx, const struct sctp_tlv *chunk)
{
    size_t len = chunk->len - SCTP_DATA_HEADER_BYTES;
    struct fragment *fragment = mem_zalloc(sizeof(*fragment) + len);
    fragment->tsn = sctp_get32(chunk->value);
    fragment->stream = sctp_get16(chunk->value + 4);
    fragment->ssn = sctp_get16(chunk->value + 6);
    fragment->ppid = sctp_get32(chunk->value + 8);
    fragment->flags = chunk->flags;
    fragment->len = (uint16_t)len;
    memcpy(fragment->data, chunk->value + SCTP_DATA_HEADER_BYTES, len);
    struct list_node *before = rx->fragments.prev;
    while (before != &rx->fragments &&
           sctp_tsn_after(CONTAINER_OF(before, struct fragment, node)->tsn, fragment->tsn))
        before = before->prev;
    list_push_front(before, &fragment->node);
    rx->fragment_count++;
    rx->held_bytes += sizeof(*fragment) + len;
    return fragment;
}

static void note_duplicate(struct sctp_rx *rx, uint32_t tsn)
{
    if (rx->duplicate_count < SCTP_RX_DUPLICATES)
        rx->duplicates[rx->duplicate_count++] = tsn;
}

enum sctp_rx_result sctp_rx_data(struct sctp_rx *rx, const struct sctp_tlv *chunk)
{
    if (chunk->len <= SCTP_DATA_HEADER_BYTES)
        return SCTP_RX_FATAL; /* RFC 9260 section 6.2: no user data */
    uint32_t tsn = sctp_get32(chunk->value);
    if (!sctp_tsn_after(tsn, rx->cum_tsn) ||
        (tsn - rx->cum_tsn < SCTP_RX_TSN_WINDOW && has_tsn(rx, tsn))) {
        note_duplicate(rx, tsn);
        return SCTP_RX_DUPLICATE;
    }
    if (tsn - rx->cum_tsn >= SCTP_RX_TSN_WINDOW)
        return SCTP_RX_NO_ROOM;
    /* What fills the first hole is taken past the window, or a full one would never empty. */
    bool fills_hole = tsn == rx->cum_tsn + 1 && sctp_rx_has_gaps(rx);
    if (rx->held_bytes >= (fills_hole ? HELD_MAX_BYTES : SCTP_RECEIVE_MAX_BYTES) ||
        rx->fragment_count >= (fills_hole ? 2 : 1) * (unsigned)SCTP_RX_FRAGMENTS)
        return SCTP_RX_NO_ROOM;
    set_tsn(rx, tsn, true);
    if (sctp_tsn_after(tsn, rx->top_tsn))
        rx->top_tsn = tsn;
    advance(rx);
    if (sctp_get16(chunk->value + 4) < SCTP_STREAMS)
        deliver(rx, keep(rx, chunk));
    return SCTP_RX_TAKEN;
}

/* Where a FORWARD-TSN chunk leads to: the last SSN that is given up, for each stream it names. */
struct forward {
    uint32_t tsn;
    uint16_t streams; /* bits */
    uint16_t ssn[SCTP_STREAMS];
};

static void read_forward(const uint8_t *value, size_t len, struct forward *out)
{
    *out = (struct forward){.tsn = sctp_get32(value)};
    for (size_t at = 4; at + 4 <= len; at += 4) {
        uint16_t stream = sctp_get16(value + at), ssn = sctp_get16(value + at + 2);
        if (stream >= SCTP_STREAMS)
            continue;
        bool is_named = out->streams >> stream & 1;
        if (!is_named || sctp_ssn_after(ssn, out->ssn[stream]))
            out->ssn[stream] = ssn;
        out->streams |= (uint16_t)(1u << stream);
    }
}

static bool is_given_up(const struct forward *forward, const struct fragment *fragment)
{
    if (fragment->flags & SCTP_FLAG_UNORDERED)
        return !sctp_tsn_after(fragment->tsn, forward->tsn);
    return forward->streams >> fragment->stream & 1 &&
           !sctp_ssn_after(fragment->ssn, forward->ssn[fragment->stream]);
}

/* Of an ordered message that is given up, what is whole is delivered, in the order of the TSNs,
 * which is that of the SSNs; the rest is dropped. Returns what stands after it. */
static struct fragment *skip(struct sctp_rx *rx, struct fragment *at)
{
    struct fragment *next = next_of(rx, at);
    uint16_t *next_ssn = &rx->next_ssn[at->stream];
    bool is_wanted = !(at->flags & SCTP_FLAG_UNORDERED) && at->flags & SCTP_FLAG_BEGIN &&
                     !sctp_ssn_after(*next_ssn, at->ssn);
    size_t bytes = is_wanted ? whole_bytes(rx, at) : 0;
    if (bytes) {
        *next_ssn = (uint16_t)(at->ssn + 1);
        return make_ready(rx, at, bytes);
    }
    drop(rx, at);
    return next;
}

/* One pass over what is held, however much the chunk names. */
void sctp_rx_forward(struct sctp_rx *rx, const uint8_t *value, size_t len)
{
    struct forward forward;
    if (len < 4)
        return;
    read_forward(value, len, &forward);
    if (!sctp_tsn_after(forward.tsn, rx->cum_tsn) ||
        forward.tsn - rx->cum_tsn >= SCTP_RX_TSN_WINDOW)
        return;
    for (struct fragment *at = first_of(rx); at;)
        at = is_given_up(&forward, at) ? skip(rx, at) : next_of(rx, at);
    for (; rx->cum_tsn != forward.tsn; rx->cum_tsn++)
        set_tsn(rx, rx->cum_tsn + 1, false);
    advance(rx);
    for (uint16_t i = 0; i < SCTP_STREAMS; i++) {
        if (!(forward.streams >> i & 1))
            continue;
        if (!sctp_ssn_after(rx->next_ssn[i], forward.ssn[i]))
            rx->next_ssn[i] = (uint16_t)(forward.ssn[i] + 1);
        deliver_in_order(rx, i);
    }
}

void sctp_rx_reset_stream(struct sctp_rx *rx, uint16_t stream)
{
    rx->next_ssn[stream] = 0;
}

bool sctp_rx_has_gaps(const struct sctp_rx *rx)
{
    return rx->top_tsn != rx->cum_tsn;
}

/*     | cumulative TSN | window | gap blocks (16) | duplicates (16) | start, end ... | TSN ... | */
void sctp_rx_write_sack(struct sctp_rx *rx, struct sctp_packet *packet)
{
    uint16_t gaps[SCTP_RX_GAP_BLOCKS][2];
    uint16_t count = 0;
    uint32_t span = rx->top_tsn - rx->cum_tsn;
    for (uint32_t i = 1; i <= span && count < SCTP_RX_GAP_BLOCKS; i++) {
        if (!has_tsn(rx, rx->cum_tsn + i))
            continue;
        gaps[count][0] = (uint16_t)i;
        while (i < span && has_tsn(rx, rx->cum_tsn + i + 1))
            i++;
        gaps[count++][1] = (uint16_t)i;
    }
    size_t len = 12 + 4u * count + 4u * rx->duplicate_count;
    uint8_t *at = sctp_put_chunk(packet, SCTP_SACK, 0, len);
    if (!at)
        return;
    size_t window =
        rx->held_bytes < SCTP_RECEIVE_MAX_BYTES ? SCTP_RECEIVE_MAX_BYTES - rx->held_bytes : 0;
    sctp_put32(at, rx->cum_tsn);
    sctp_put32(at + 4, (uint32_t)window);
    sctp_put16(at + 8, count);
    sctp_put16(at + 10, (uint16_t)rx->duplicate_count);
    at += 12;
    for (uint16_t i = 0; i < count; i++, at += 4) {
        sctp_put16(at, gaps[i][0]);
        sctp_put16(at + 2, gaps[i][1]);
    }
    for (unsigned i = 0; i < rx->duplicate_count; i++, at += 4)
        sctp_put32(at, rx->duplicates[i]);
    rx->duplicate_count = 0;
}

struct sctp_message *sctp_rx_take(struct sctp_rx *rx)
{
    struct sctp_message *message = LIST_FIRST(&rx->ready, struct sctp_message, node);
    if (!message)
        return NULL;
    list_remove(&message->node);
    rx->held_bytes -= sizeof(*message) + message->len;
    return message;
}
