/* Our audio stream, see outgoing.h. */
#include "rtc/outgoing.h"

#include <string.h>

#include "base/crypto.h"
#include "rtc/seal.h"

void outgoing_init(struct outgoing *outgoing)
{
    memset(outgoing, 0, sizeof(*outgoing));
    crypto_random(&outgoing->ssrc, sizeof(outgoing->ssrc));
    crypto_random(&outgoing->timestamp_offset, sizeof(outgoing->timestamp_offset));
    /* The lower half: a loss of the first packets must not look like a wrap to the receiver's SRTP
     * index guess (RFC 3711 section 3.3.1). */
    outgoing->next_sequence = (uint16_t)(crypto_random_u64() & 0x7FFF);
}

static struct outgoing_slot *slot_of(struct outgoing *outgoing, uint16_t sequence)
{
    return &outgoing->slots[sequence % OUTGOING_SLOTS];
}

uint8_t *outgoing_build(struct outgoing *outgoing, const struct rtp_packet *packet, size_t *out_len)
{
    size_t len = RTP_HEADER_BYTES + packet->len;
    if (len + SEAL_EXTRA_BYTES > OUTGOING_LARGE_BYTES)
        return NULL;
    struct rtp_packet header = *packet;
    header.sequence = outgoing->next_sequence;
    header.ssrc = outgoing->ssrc;
    header.timestamp += outgoing->timestamp_offset;

    struct outgoing_slot *slot = slot_of(outgoing, header.sequence);
    slot->len = 0;
    slot->sequence = header.sequence;
    uint8_t *data = len + SEAL_EXTRA_BYTES <= OUTGOING_SLOT_BYTES ? slot->data : outgoing->large;
    rtp_write_header(data, &header);
    memcpy(data + RTP_HEADER_BYTES, packet->payload, packet->len);
    outgoing->last_timestamp = header.timestamp;
    *out_len = len;
    return data;
}

void outgoing_sent(struct outgoing *outgoing, size_t len, size_t payload_len, int64_t now_us)
{
    struct outgoing_slot *slot = slot_of(outgoing, outgoing->next_sequence);
    if (len <= OUTGOING_SLOT_BYTES) {
        slot->len = (uint16_t)len;
        slot->sent_us = now_us;
    }
    outgoing->next_sequence++;
    outgoing->packets++;
    outgoing->bytes += payload_len;
    outgoing->last_sent_us = now_us;
}

const struct outgoing_slot *outgoing_resend(struct outgoing *outgoing, uint16_t sequence,
                                            int64_t now_us)
{
    struct outgoing_slot *slot = slot_of(outgoing, sequence);
    if (!slot->len || slot->sequence != sequence || now_us < slot->sent_us + OUTGOING_RESEND_GAP_US)
        return NULL;
    slot->sent_us = now_us;
    outgoing->resent++;
    return slot;
}
