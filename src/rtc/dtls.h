/* DTLS 1.2 (RFC 6347) with use_srtp (RFC 5764) over datagrams that somebody else carries. Wraps
 * OpenSSL (dtls.c). Both roles; certificates are self-signed on both sides and proven by the
 * fingerprint that signalling carried (RFC 8122), never by a chain. Sans-I/O. Fed only with what
 * came over an ICE-validated path, so no cookie exchange is needed (and none would do: browsers
 * fragment their ClientHello).
 *
 *     NEW --start, input--> HANDSHAKE --finished--> UP --close_notify--> CLOSED
 *                             any --alert, bad record, too late--> FAILED
 *
 * Thread: its owner's; an identity is read by any after dtls_identity_new(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct dtls;
struct dtls_identity;
struct states;

enum {
    DTLS_FINGERPRINT_BYTES = 32, /* SHA-256 */
    DTLS_KEYING_BYTES = 60       /* two keys and two salts of the largest profile */
};

enum dtls_state { DTLS_NEW, DTLS_HANDSHAKE, DTLS_UP, DTLS_CLOSED, DTLS_FAILED };
enum dtls_event {
    DTLS_SHAKE,    /* the handshake begins or goes on */
    DTLS_FINISHED, /* it is done */
    DTLS_PEER_CLOSED,
    DTLS_CLOSE, /* dtls_close() */
    DTLS_FAULT
};
enum { DTLS_STATES = DTLS_FAILED + 1, DTLS_EVENTS = DTLS_FAULT + 1 };
extern const struct states dtls_states;

/* RFC 5764 section 4.1.2, RFC 7714 section 14.2: numbers of the wire. */
enum dtls_srtp_profile { DTLS_AES128_CM_SHA1_80 = 0x0001, DTLS_AEAD_AES_128_GCM = 0x0007 };

struct dtls_keys {
    enum dtls_srtp_profile profile;
    uint8_t local[DTLS_KEYING_BYTES / 2]; /* master key, then salt: what this side seals with */
    uint8_t remote[DTLS_KEYING_BYTES / 2];
};

/* A P-256 key with a self-signed certificate, one a process. ERR_INTERNAL: OpenSSL refused. */
enum err dtls_identity_new(struct dtls_identity **out, struct fault *fault) MUST_USE;
void dtls_identity_free(struct dtls_identity *identity);
DEFINE_AUTO(dtls_identity)
const uint8_t *dtls_identity_fingerprint(const struct dtls_identity *identity);

struct dtls *dtls_new(struct dtls_identity *identity, bool is_client);
void dtls_free(struct dtls *dtls);
DEFINE_AUTO(dtls)

void dtls_start(struct dtls *dtls, int64_t now_us); /* client: sends the ClientHello */
/* One datagram. dtls_read() until 0 must follow: it finds application data, the end, and flights
 * that the peer repeats because our last one was lost. */
void dtls_input(struct dtls *dtls, const uint8_t *data, size_t len, int64_t now_us);
/* One record as one datagram; 0: none. Retransmits what is due. */
size_t dtls_output(struct dtls *dtls, uint8_t *out, size_t cap, int64_t now_us);
int64_t dtls_deadline_us(const struct dtls *dtls); /* INT64_MAX: none */
/* One message of application data; 0: none. cap below the message's size cuts it. */
size_t dtls_read(struct dtls *dtls, uint8_t *out, size_t cap);
/* ERR_CLOSED: not UP. ERR_LIMIT: larger than a datagram. */
enum err dtls_write(struct dtls *dtls, const uint8_t *data, size_t len) MUST_USE;
void dtls_close(struct dtls *dtls); /* queues close_notify */

enum dtls_state dtls_state(const struct dtls *dtls);
bool dtls_is_client(const struct dtls *dtls);
const char *dtls_reason(const struct dtls *dtls); /* FAILED: a sentence; else "" */
/* Once UP. ERR_UNSUPPORTED: the peer took no SRTP profile. */
enum err dtls_keys(const struct dtls *dtls, struct dtls_keys *out) MUST_USE;
/* SHA-256 of the peer's certificate. ERR_NOT_FOUND: it has not come yet. */
enum err dtls_peer_fingerprint(const struct dtls *dtls,
                               uint8_t out[DTLS_FINGERPRINT_BYTES]) MUST_USE;
