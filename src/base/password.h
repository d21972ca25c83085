/* Passwords as they are kept: Argon2id by libsodium, salted, the work as OWASP advises (19 MiB, two
 * passes; about 30 ms). Thread: any, but it blocks: a pool's. */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"

enum { PASSWORD_HASH_SIZE = 128, PASSWORD_MIN = 10, PASSWORD_MAX = 200 /* code points */ };

/* ERR_BUSY: no memory for it now. */
enum err password_hash(const char *password, char out[PASSWORD_HASH_SIZE]) MUST_USE;
/* hash "": nobody's; takes as long as any other, and does not fit. */
bool password_fits(const char *password, const char *hash);
