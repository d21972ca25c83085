/* The signature of a webhook delivery (contract, Delivery shape): `sha256=` and the hex
 * HMAC-SHA256 of `<timestamp>.<raw body>` under the signing secret. Thread: any. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

enum {
    SIGN_HEADER_SIZE = 72,     /* "sha256=" + 64 hex digits + NUL */
    SIGN_TOLERANCE_S = 5 * 60, /* the receiver's check of the timestamp */
};

void sign_delivery(const char *secret, int64_t timestamp_s, const char *body, size_t body_len,
                   char out[SIGN_HEADER_SIZE]);
/* The receiver's side. ERR_DENIED: the signature is another's. ERR_TIMEOUT: the timestamp is more
 * than five minutes from now_s. ERR_INVALID: no signature at all. */
enum err sign_verify(const char *secret, const char *timestamp, const char *signature,
                     const char *body, size_t body_len, int64_t now_s) MUST_USE;
