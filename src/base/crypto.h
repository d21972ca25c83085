/* Hashes, the authenticated cipher for secrets at rest, random bytes, encodings. Wraps OpenSSL
 * (crypto.c). Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

enum { SHA256_BYTES = 32, SHA256_HEX = 65, MASTER_KEY_BYTES = 32, SHA1_BYTES = 20 };

void crypto_random(void *out, size_t len); /* aborts when the system has none */
uint64_t crypto_random_u64(void);
void crypto_sha256(const void *data, size_t len, uint8_t out[SHA256_BYTES]);
void crypto_sha1(const void *data, size_t len, uint8_t out[SHA1_BYTES]); /* for WebSocket alone */
void crypto_sha256_hex(const void *data, size_t len, char out[SHA256_HEX]);
void crypto_hmac_sha256(const void *key, size_t key_len, const void *data, size_t len,
                        uint8_t out[SHA256_BYTES]);
void crypto_hmac_sha1(const void *key, size_t key_len, const void *data, size_t len,
                      uint8_t out[SHA1_BYTES]);
bool crypto_equal(const void *a, const void *b, size_t len); /* constant time */
uint32_t crypto_crc32(const void *data, size_t len);         /* ISO-HDLC, as zlib's */

/* Secrets at rest: "v1:" + base64url(nonce 12, AES-256-GCM ciphertext, tag 16). `context` (such as
 * "tool.authToken") is authenticated, so a stored secret cannot be moved to another column. Appends
 * to out. */
enum err crypto_seal(const uint8_t key[MASTER_KEY_BYTES], const char *context, const void *data,
                     size_t len, struct buf *out) MUST_USE;
enum err crypto_open(const uint8_t key[MASTER_KEY_BYTES], const char *context, const char *sealed,
                     size_t len, struct buf *out) MUST_USE;

/* Encodings append to out. Decoding: ERR_INVALID; base64 takes both alphabets, padded or not. */
void crypto_hex(const void *data, size_t len, char *out); /* 2 * len + 1 bytes */
enum err base64_encode(const void *data, size_t len, struct buf *out);
enum err base64url_encode(const void *data, size_t len, struct buf *out); /* no padding */
enum err base64_decode(const char *text, size_t len, struct buf *out) MUST_USE;
