/* OpenSSL's primitives under our names. A failure of theirs with sound arguments means that the
 * library or the machine is broken, and aborts. */
#include "base/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NONCE_BYTES = 12, TAG_BYTES = 16 };

static const char SEAL_PREFIX[] = "v1:";

static void insist(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "earshot: OpenSSL failed: %s\n", what);
    abort();
}

void crypto_random(void *out, size_t len)
{
    insist(RAND_bytes(out, (int)len) == 1, "random bytes");
}

uint64_t crypto_random_u64(void)
{
    uint64_t value;
    crypto_random(&value, sizeof(value));
    return value;
}

void crypto_sha1(const void *data, size_t len, uint8_t out[SHA1_BYTES])
{
    insist(EVP_Digest(data, len, out, NULL, EVP_sha1(), NULL) == 1, "SHA-1");
}

void crypto_sha256(const void *data, size_t len, uint8_t out[SHA256_BYTES])
{
    insist(EVP_Digest(data, len, out, NULL, EVP_sha256(), NULL) == 1, "SHA-256");
}

void crypto_sha256_hex(const void *data, size_t len, char out[SHA256_HEX])
{
    uint8_t hash[SHA256_BYTES];
    crypto_sha256(data, len, hash);
    crypto_hex(hash, sizeof(hash), out);
}

static void hmac(const EVP_MD *md, const void *key, size_t key_len, const void *data, size_t len,
                 uint8_t *out)
{
    const void *bytes = key_len ? key : ""; /* a NULL key would mean "as before" */
    insist(HMAC(md, bytes, (int)key_len, data, len, out, NULL) != NULL, "HMAC");
}

void crypto_hmac_sha256(const void *key, size_t key_len, const void *data, size_t len,
                        uint8_t out[SHA256_BYTES])
{
    hmac(EVP_sha256(), key, key_len, data, len, out);
}

void crypto_hmac_sha1(const void *key, size_t key_len, const void *data, size_t len,
                      uint8_t out[SHA1_BYTES])
{
    hmac(EVP_sha1(), key, key_len, data, len, out);
}

bool crypto_equal(const void *a, const void *b, size_t len)
{
    return CRYPTO_memcmp(a, b, len) == 0;
}

uint32_t crypto_crc32(const void *data, size_t len)
{
    /* The remainders of the 16 nibbles under the reversed polynomial 0xedb88320. */
    static const uint32_t nibble[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    const uint8_t *bytes = data;
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < len; i++) {
        crc = nibble[(crc ^ bytes[i]) & 15] ^ crc >> 4;
        crc = nibble[(crc ^ bytes[i] >> 4) & 15] ^ crc >> 4;
    }
    return ~crc;
}

enum err crypto_seal(const uint8_t key[MASTER_KEY_BYTES], const char *context, const void *data,
                     size_t len, struct buf *out)
{
    if (len > INT32_MAX / 2)
        return ERR_LIMIT;
    AUTO_BUF box = BUF_INIT(NONCE_BYTES + len + TAG_BYTES);
    (void)!buf_reserve(&box, box.max_bytes);
    uint8_t *nonce = (uint8_t *)box.data, *text = nonce + NONCE_BYTES;
    crypto_random(nonce, NONCE_BYTES);

    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int n = 0;
    insist(ctx && EVP_EncryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, key, nonce) == 1, "GCM");
    insist(EVP_EncryptUpdate(ctx, NULL, &n, (const uint8_t *)context, (int)strlen(context)) == 1,
           "GCM context");
    insist(EVP_EncryptUpdate(ctx, text, &n, data, (int)len) == 1, "GCM text");
    insist(EVP_EncryptFinal_ex(ctx, text + len, &n) == 1, "GCM end");
    insist(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, TAG_BYTES, text + len) == 1, "GCM tag");
    EVP_CIPHER_CTX_free(ctx);

    buf_append_str(out, SEAL_PREFIX);
    return base64url_encode(box.data, box.max_bytes, out);
}

/* Opens box (nonce, ciphertext, tag) into text, which has room for len - NONCE - TAG bytes. */
static bool gcm_open(const uint8_t *key, const char *context, uint8_t *box, size_t len,
                     uint8_t *text)
{
    size_t text_len = len - NONCE_BYTES - TAG_BYTES;
    uint8_t *tag = box + NONCE_BYTES + text_len;
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int n = 0;
    insist(ctx && EVP_DecryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, key, box) == 1, "GCM");
    bool ok =
        EVP_DecryptUpdate(ctx, NULL, &n, (const uint8_t *)context, (int)strlen(context)) == 1 &&
        EVP_DecryptUpdate(ctx, text, &n, box + NONCE_BYTES, (int)text_len) == 1 &&
        EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG, TAG_BYTES, tag) == 1 &&
        EVP_DecryptFinal_ex(ctx, text + text_len, &n) == 1;
    EVP_CIPHER_CTX_free(ctx);
    return ok;
}

enum err crypto_open(const uint8_t key[MASTER_KEY_BYTES], const char *context, const char *sealed,
                     size_t len, struct buf *out)
{
    size_t prefix = sizeof(SEAL_PREFIX) - 1;
    if (len < prefix || memcmp(sealed, SEAL_PREFIX, prefix) != 0)
        return ERR_INVALID;
    AUTO_BUF box = BUF_INIT(len);
    enum err err = base64_decode(sealed + prefix, len - prefix, &box);
    if (err || box.len < NONCE_BYTES + TAG_BYTES)
        return ERR_INVALID;
    size_t text_len = box.len - NONCE_BYTES - TAG_BYTES;
    err = buf_reserve(out, text_len);
    if (err)
        return err;
    uint8_t *text = (uint8_t *)out->data + out->len;
    bool is_genuine = gcm_open(key, context, (uint8_t *)box.data, box.len, text);
    if (is_genuine)
        out->len += text_len;
    out->data[out->len] = '\0';
    return is_genuine ? OK : ERR_DENIED;
}

void crypto_hex(const void *data, size_t len, char *out)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *bytes = data;
    for (size_t i = 0; i < len; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = '\0';
}

static enum err encode(const void *data, size_t len, const char *last_two, bool is_padded,
                       struct buf *out)
{
    static const char common[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    const uint8_t *bytes = data;
    enum err err = buf_reserve(out, (len + 2) / 3 * 4);
    if (err)
        return err;
    for (size_t i = 0; i < len; i += 3) {
        size_t n = MIN(len - i, (size_t)3);
        uint32_t group = (uint32_t)bytes[i] << 16;
        group |= n > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
        group |= n > 2 ? bytes[i + 2] : 0;
        char text[4];
        for (int k = 3; k >= 0; k--, group >>= 6)
            text[k] = (group & 63) < 62 ? common[group & 63] : last_two[(group & 63) - 62];
        memset(text + n + 1, '=', 3 - n);
        buf_append(out, text, is_padded ? 4 : n + 1);
    }
    return OK;
}

enum err base64_encode(const void *data, size_t len, struct buf *out)
{
    return encode(data, len, "+/", true, out);
}

enum err base64url_encode(const void *data, size_t len, struct buf *out)
{
    return encode(data, len, "-_", false, out);
}

static int digit_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

enum err base64_decode(const char *text, size_t len, struct buf *out)
{
    size_t digits = len;
    while (digits > 0 && len - digits < 2 && text[digits - 1] == '=')
        digits--;
    if (digits % 4 == 1 || (digits < len && len % 4 != 0))
        return ERR_INVALID;
    size_t start = out->len;
    enum err err = buf_reserve(out, digits * 3 / 4);
    if (err)
        return err;
    uint32_t bits = 0;
    unsigned count = 0;
    for (size_t i = 0; i < digits; i++) {
        int digit = digit_of(text[i]);
        if (digit < 0) {
            out->len = start;
            return ERR_INVALID;
        }
        bits = bits << 6 | (uint32_t)digit;
        count += 6;
        if (count >= 8) {
            count -= 8;
            buf_append_char(out, (char)(bits >> count));
        }
    }
    return OK;
}
