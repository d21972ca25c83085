#include "rtc/sctp_init.h"

#include "base/crypto.h"
#include "rtc/sctp.h"

enum { FIELDS_BYTES = 16 };

enum sctp_param {
    PARAM_COOKIE = 7,
    PARAM_SUPPORTED_EXTENSIONS = 0x8008, /* RFC 5061 section 4.2.7 */
    PARAM_FORWARD_TSN = 0xC000           /* RFC 3758 section 3.1 */
};

static void read_extensions(const struct sctp_tlv *param, struct sctp_peer *out)
{
    for (size_t i = 0; i < param->len; i++) {
        out->can_forward |= param->value[i] == SCTP_FORWARD_TSN;
        out->can_reconfig |= param->value[i] == SCTP_RE_CONFIG;
    }
}

/*     | tag | window | streams out (16) | streams in (16) | first TSN | parameters ... */
bool sctp_read_init(const struct sctp_tlv *chunk, struct sctp_peer *out,
                    struct sctp_tlv *out_cookie)
{
    if (chunk->len < SCTP_INIT_BYTES)
        return false;
    struct sctp_peer peer = {
        .tag = sctp_get32(chunk->value),
        .window_bytes = sctp_get32(chunk->value + 4),
        .streams_out = sctp_get16(chunk->value + 8),
        .first_tsn = sctp_get32(chunk->value + 12),
    };
    if (peer.tag == 0 || peer.streams_out == 0 || sctp_get16(chunk->value + 10) == 0)
        return false;
    struct sctp_reader reader = {chunk->value + SCTP_INIT_BYTES, chunk->len - SCTP_INIT_BYTES,
                                 false};
    struct sctp_tlv param;
    *out_cookie = (struct sctp_tlv){0};
    while (sctp_read_param(&reader, &param)) {
        if (param.type == PARAM_COOKIE)
            *out_cookie = param;
        else if (param.type == PARAM_FORWARD_TSN)
            peer.can_forward = true;
        else if (param.type == PARAM_SUPPORTED_EXTENSIONS)
            read_extensions(&param, &peer);
        else if (!(param.type & 0x8000))
            break; /* RFC 9260 section 3.2.2: unknown, stop here */
    }
    *out = peer;
    return true;
}

void sctp_write_cookie(const uint8_t secret[32], const struct sctp_peer *peer,
                       uint8_t out[SCTP_COOKIE_BYTES])
{
    sctp_put32(out, peer->tag);
    sctp_put32(out + 4, peer->first_tsn);
    sctp_put32(out + 8, peer->window_bytes);
    sctp_put16(out + 12, peer->streams_out);
    out[14] = peer->can_forward;
    out[15] = peer->can_reconfig;
    crypto_hmac_sha256(secret, 32, out, FIELDS_BYTES, out + FIELDS_BYTES);
}

bool sctp_read_cookie(const uint8_t secret[32], const uint8_t *data, size_t len,
                      struct sctp_peer *out)
{
    uint8_t mac[SHA256_BYTES];
    if (len != SCTP_COOKIE_BYTES)
        return false;
    crypto_hmac_sha256(secret, 32, data, FIELDS_BYTES, mac);
    if (!crypto_equal(mac, data + FIELDS_BYTES, sizeof(mac)))
        return false;
    *out = (struct sctp_peer){
        .tag = sctp_get32(data),
        .first_tsn = sctp_get32(data + 4),
        .window_bytes = sctp_get32(data + 8),
        .streams_out = sctp_get16(data + 12),
        .can_forward = data[14],
        .can_reconfig = data[15],
    };
    return true;
}

void sctp_write_init(struct sctp_packet *packet, const struct sctp_own *own,
                     const uint8_t secret[32], const struct sctp_peer *inquirer)
{
    /* Forward-TSN-Supported (empty); Supported Extensions FORWARD-TSN and RE-CONFIG. */
    static const uint8_t params[] = {0xC0, 0x00, 0, 4, 0x80, 0x08, 0, 6, 192, 130, 0, 0};
    size_t cookie_len = inquirer ? 4 + SCTP_COOKIE_BYTES : 0;
    uint8_t *at = sctp_put_chunk(packet, inquirer ? SCTP_INIT_ACK : SCTP_INIT, 0,
                                 SCTP_INIT_BYTES + cookie_len + sizeof(params));
    if (!at)
        return;
    sctp_put32(at, own->tag);
    sctp_put32(at + 4, SCTP_RECEIVE_MAX_BYTES);
    sctp_put16(at + 8, SCTP_STREAMS);
    sctp_put16(at + 10, SCTP_STREAMS);
    sctp_put32(at + 12, own->first_tsn);
    at += SCTP_INIT_BYTES;
    if (inquirer) {
        sctp_put16(at, PARAM_COOKIE);
        sctp_put16(at + 2, (uint16_t)cookie_len);
        sctp_write_cookie(secret, inquirer, at + 4);
        at += cookie_len;
    }
    memcpy(at, params, sizeof(params));
}
