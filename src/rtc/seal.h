/* SRTP and SRTCP (RFC 3711, AES-GCM by RFC 7714) of one session, both ways. Wraps libsrtp2
 * (seal.c). Packets are sealed and opened in place. Thread: its owner's. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "rtc/dtls.h"

struct seal;

enum {
    SEAL_EXTRA_BYTES = 24, /* a sealed packet is longer by at most so much (tag and SRTCP index) */
    SEAL_SOURCES = 8       /* incoming SSRCs that are remembered; the oldest makes room */
};

/* ERR_INTERNAL: the library refused the keys. */
enum err seal_new(const struct dtls_keys *keys, struct seal **out) MUST_USE;
void seal_free(struct seal *seal);
DEFINE_AUTO(seal)

/* Sealing: *len grows; data has room for SEAL_EXTRA_BYTES more. A sequence number must not be
 * sealed twice. ERR_INVALID: the packet is malformed or a repetition. */
enum err seal_rtp(struct seal *seal, uint8_t *data, size_t *len) MUST_USE;
enum err seal_rtcp(struct seal *seal, uint8_t *data, size_t *len) MUST_USE;
/* Opening: *len shrinks. ERR_DENIED: a wrong tag. ERR_CONFLICT: a repetition, or too old. */
enum err seal_open_rtp(struct seal *seal, uint8_t *data, size_t *len) MUST_USE;
enum err seal_open_rtcp(struct seal *seal, uint8_t *data, size_t *len) MUST_USE;
