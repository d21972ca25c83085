/* A wrapper of libsodium's password hashing (RFC 9106). */
#include "base/password.h"

#include <string.h>

#include <sodium.h>

enum { PASSES = 2, MEMORY_BYTES = 19 * 1024 * 1024 /* OWASP's password storage advice */ };
_Static_assert((int)PASSWORD_HASH_SIZE >= (int)crypto_pwhash_STRBYTES, "a hash fits");

enum err password_hash(const char *password, char out[PASSWORD_HASH_SIZE])
{
    if (sodium_init() < 0)
        return ERR_INTERNAL;
    int failed = crypto_pwhash_str_alg(out, password, strlen(password), PASSES, MEMORY_BYTES,
                                       crypto_pwhash_ALG_ARGON2ID13);
    return failed ? ERR_BUSY : OK;
}

bool password_fits(const char *password, const char *hash)
{
    char unused[PASSWORD_HASH_SIZE];
    if (*hash == '\0') { /* who has none cannot be told from who mistyped */
        (void)!password_hash(password, unused);
        return false;
    }
    return sodium_init() >= 0 && crypto_pwhash_str_verify(hash, password, strlen(password)) == 0;
}
