/* Join tokens: as they come, and the input as claims under a right signature. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "base/crypto.h"
#include "room/token.h"

static const struct token_signer signer = {"earshot", "0123456789abcdef"};

static void verify(const char *text, size_t len)
{
    struct token token = {0};
    struct fault fault = {0};
    enum err err = token_verify(&signer, text, len, 1800000000, &token, &fault);
    assert(err == OK ? token.claims.identity[0] && token.claims.room[0] : fault.text[0]);
    token_clear(&token);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_BUF text = BUF_INIT(2 * TOKEN_MAX_BYTES);
    uint8_t mac[SHA256_BYTES];
    verify((const char *)data, size);
    if (size > TOKEN_MAX_BYTES)
        return 0;
    base64url_encode("{\"alg\":\"HS256\"}", 15, &text);
    buf_append_char(&text, '.');
    base64url_encode(data, size, &text);
    crypto_hmac_sha256(signer.secret, strlen(signer.secret), text.data, text.len, mac);
    buf_append_char(&text, '.');
    base64url_encode(mac, sizeof(mac), &text);
    verify(text.data, text.len);
    return 0;
}
