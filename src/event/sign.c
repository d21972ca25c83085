#include "event/sign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/crypto.h"

enum {
    TIMESTAMP_DIGITS = 15, /* far beyond any date */
};

static void sign(const char *secret, const char *timestamp, const char *body, size_t body_len,
                 char out[SIGN_HEADER_SIZE])
{
    uint8_t mac[SHA256_BYTES];
    char hex[SHA256_HEX];
    AUTO_BUF signed_text = BUF_INIT(body_len + TIMESTAMP_DIGITS + 2);
    buf_append_str(&signed_text, timestamp);
    buf_append_char(&signed_text, '.');
    buf_append(&signed_text, body, body_len);
    crypto_hmac_sha256(secret, strlen(secret), signed_text.data, signed_text.len, mac);
    crypto_hex(mac, sizeof(mac), hex);
    snprintf(out, SIGN_HEADER_SIZE, "sha256=%s", hex);
}

void sign_delivery(const char *secret, int64_t timestamp_s, const char *body, size_t body_len,
                   char out[SIGN_HEADER_SIZE])
{
    char timestamp[24];
    snprintf(timestamp, sizeof(timestamp), "%lld", (long long)timestamp_s);
    sign(secret, timestamp, body, body_len, out);
}

enum err sign_verify(const char *secret, const char *timestamp, const char *signature,
                     const char *body, size_t body_len, int64_t now_s)
{
    char wanted[SIGN_HEADER_SIZE];
    if (!timestamp || !signature)
        return ERR_INVALID;
    size_t digits = strspn(timestamp, "0123456789");
    if (digits == 0 || digits > TIMESTAMP_DIGITS || timestamp[digits])
        return ERR_INVALID;
    sign(secret, timestamp, body, body_len, wanted);
    size_t len = strlen(wanted);
    if (strlen(signature) != len || !crypto_equal(signature, wanted, len))
        return ERR_DENIED;
    return llabs(now_s - strtoll(timestamp, NULL, 10)) > SIGN_TOLERANCE_S ? ERR_TIMEOUT : OK;
}
