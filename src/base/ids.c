/* Ids and keys: base62, whose alphabet stands in ASCII order so that ids sort by their time. */
#include "base/ids.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"

enum {
    TIME_DIGITS = 8, /* 62^8 milliseconds reach the year 8,888 */
    RANDOM_DIGITS = 12,
    KEY_SECRET = 32,
    KEY_CHECK = 6, /* 62^6 > 2^32 */
};

static const char base62[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

static void write_base62(uint64_t value, char *out, size_t digits)
{
    for (size_t i = digits; i-- > 0; value /= 62)
        out[i] = base62[value % 62];
}

void random_base62(char *out, size_t n)
{
    uint8_t bytes[64];
    size_t left = 0;
    for (size_t i = 0; i < n;) {
        if (left == 0) {
            crypto_random(bytes, sizeof(bytes));
            left = sizeof(bytes);
        }
        uint8_t byte = bytes[--left];
        if (byte < 248) /* 4 * 62: each digit equally likely */
            out[i++] = base62[byte % 62];
    }
    out[n] = '\0';
}

void id_new(const char *prefix, char out[ID_SIZE])
{
    char tail[TIME_DIGITS + RANDOM_DIGITS + 1];
    write_base62((uint64_t)clock_wall_ms(), tail, TIME_DIGITS);
    random_base62(tail + TIME_DIGITS, RANDOM_DIGITS);
    snprintf(out, ID_SIZE, "%s%s", prefix, tail);
}

void uuid_new(char out[ID_SIZE])
{
    uint8_t b[16];
    uint64_t ms = (uint64_t)clock_wall_ms();
    crypto_random(b, sizeof(b));
    for (int i = 5; i >= 0; i--, ms >>= 8) /* RFC 9562 section 5.7 */
        b[i] = (uint8_t)ms;
    b[6] = (uint8_t)(0x70 | (b[6] & 0x0f));
    b[8] = (uint8_t)(0x80 | (b[8] & 0x3f));
    char hex[33];
    crypto_hex(b, sizeof(b), hex);
    snprintf(out, ID_SIZE, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
}

bool uuid_is_valid(const char *text)
{
    if (!text || strlen(text) != 36)
        return false;
    for (size_t i = 0; i < 36; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_dash ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
            return false;
    }
    return true;
}

void key_new(const char *prefix, char out[KEY_SIZE])
{
    size_t len = strlen(prefix);
    memcpy(out, prefix, len);
    random_base62(out + len, KEY_SECRET);
    len += KEY_SECRET;
    write_base62(crypto_crc32(out, len), out + len, KEY_CHECK);
    out[len + KEY_CHECK] = '\0';
}

bool key_is_valid(const char *key)
{
    static const char *const prefixes[] = {"sk_", "ak_", "pk_", "ss_", "sl_"};
    size_t body = 3 + KEY_SECRET;
    if (!key || strlen(key) != body + KEY_CHECK || strspn(key + 3, base62) != body + KEY_CHECK - 3)
        return false;
    bool is_known = false;
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        is_known = is_known || strncmp(key, prefixes[i], 3) == 0;
    char check[KEY_CHECK];
    write_base62(crypto_crc32(key, body), check, KEY_CHECK);
    return is_known && memcmp(check, key + body, KEY_CHECK) == 0;
}
