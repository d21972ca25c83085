/* Names of things: prefixed ids, call UUIDs, keys with checksums.
 * Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"

enum {
    ID_SIZE = 40,  /* any id or UUID with its NUL */
    KEY_SIZE = 48, /* "sk_" + 32 + 6 + NUL, and room */
};

/* prefix ("ua_") and 20 base62 characters that sort by time of creation, in ASCII order (8 of time,
 * 12 random): "ua_0Vk3..." */
void id_new(const char *prefix, char out[ID_SIZE]);
void uuid_new(char out[ID_SIZE]); /* version 7, lower case */
bool uuid_is_valid(const char *text);

/* n base62 characters from the system's random source, then NUL: out has n + 1 bytes. */
void random_base62(char *out, size_t n);

/* API keys (contract, Key shapes), sessions ("ss_") and links ("sl_") of the studio: prefix ("sk_",
 * "ak_", "pk_"), 32 base62, 6 base62 of CRC-32 over what precedes. */
void key_new(const char *prefix, char out[KEY_SIZE]);
bool key_is_valid(const char *key); /* a known prefix, the right length and checksum */
