/* STUN messages as ICE uses them: Binding with short-term credentials (RFC 8489; ICE attributes of
 * RFC 8445 section 16.1). A bounded parser into views of the datagram, and a writer into a caller's
 * buffer. Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "net/addr.h"

enum {
    STUN_HEADER_BYTES = 20,
    STUN_TRANSACTION_BYTES = 12,
    STUN_MAX_BYTES = 1280, /* RFC 8489 section 6.1: without path MTU discovery */
    STUN_MAGIC = 0x2112A442,
    STUN_UNKNOWN_MAX = 4 /* unknown attributes that are reported back */
};

enum stun_type {
    STUN_BINDING_REQUEST = 0x0001,
    STUN_BINDING_SUCCESS = 0x0101,
    STUN_BINDING_ERROR = 0x0111
};

enum stun_error {
    STUN_ERROR_BAD_REQUEST = 400,
    STUN_ERROR_UNAUTHENTICATED = 401,
    STUN_ERROR_UNKNOWN_ATTRIBUTE = 420,
    STUN_ERROR_ROLE_CONFLICT = 487
};

struct stun_message { /* pointers are into the datagram */
    uint16_t type;
    const uint8_t *transaction;
    const char *username; /* NULL: none; not terminated */
    size_t username_len;
    const uint8_t *data;
    size_t integrity_at;  /* offset of MESSAGE-INTEGRITY; 0: none */
    bool has_fingerprint; /* present, and right */
    bool has_priority, is_controlling, is_controlled, has_use_candidate, has_mapped;
    uint32_t priority;
    uint64_t tie_breaker;
    struct net_addr mapped;
    unsigned error_code; /* 0: none */
    unsigned unknown_count;
    uint16_t unknown[STUN_UNKNOWN_MAX]; /* comprehension-required ones that we do not know */
};

/* ERR_INVALID: not STUN, a length that does not add up, a malformed attribute that we know, or a
 * wrong fingerprint. Attributes after MESSAGE-INTEGRITY are ignored, except FINGERPRINT. */
enum err stun_parse(const uint8_t *data, size_t len, struct stun_message *out) MUST_USE;
/* Was the message sealed with this password? false without MESSAGE-INTEGRITY. */
bool stun_is_authentic(const struct stun_message *message, const char *password);

/* Puts are checked when the message is finished: what does not fit makes it 0 bytes long. */
struct stun_writer {
    uint8_t *data;
    size_t len, cap;
    bool is_full;
};

void stun_begin(struct stun_writer *writer, uint8_t *data, size_t cap, enum stun_type type,
                const uint8_t transaction[STUN_TRANSACTION_BYTES]);
void stun_put_username(struct stun_writer *writer, const char *first, const char *second);
void stun_put_priority(struct stun_writer *writer, uint32_t priority);
void stun_put_role(struct stun_writer *writer, bool is_controlling, uint64_t tie_breaker);
void stun_put_use_candidate(struct stun_writer *writer);
void stun_put_mapped(struct stun_writer *writer, const struct net_addr *addr); /* XOR */
void stun_put_error(struct stun_writer *writer, enum stun_error code);
void stun_put_unknown(struct stun_writer *writer, const uint16_t *types, unsigned count);
/* Adds MESSAGE-INTEGRITY (NULL: none) and FINGERPRINT. Returns the length; 0: it did not fit. */
size_t stun_finish(struct stun_writer *writer, const char *password);
