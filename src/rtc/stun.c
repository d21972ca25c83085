/* STUN, see stun.h.
 *
 *      0                   1                   2                   3
 *      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *     |0 0|     type (14 bits)        |   length without the header   |
 *     |                   magic cookie 0x2112A442                     |
 *     |                  transaction id (96 bits)                     |
 *     then attributes: type (16), length (16), value, padded to 4 bytes */
#include "rtc/stun.h"

#include <string.h>

#include "base/crypto.h"
#include "rtc/wire.h"

enum attribute {
    ATTR_USERNAME = 0x0006,
    ATTR_INTEGRITY = 0x0008,
    ATTR_ERROR_CODE = 0x0009,
    ATTR_UNKNOWN = 0x000A,
    ATTR_XOR_MAPPED = 0x0020,
    ATTR_PRIORITY = 0x0024,
    ATTR_USE_CANDIDATE = 0x0025,
    ATTR_FINGERPRINT = 0x8028,
    ATTR_CONTROLLED = 0x8029,
    ATTR_CONTROLLING = 0x802A
};

enum {
    ATTR_HEADER_BYTES = 4,
    COMPREHENSION_OPTIONAL = 0x8000,
    FINGERPRINT_XOR = 0x5354554E, /* RFC 8489 section 14.7 */
    USERNAME_MAX_BYTES = 513      /* RFC 8445 section 7.2.2: two of at most 256 and a colon */
};

/* Reading. */

typedef enum err attribute_fn(struct stun_message *message, const uint8_t *value, size_t len);

static enum err read_username(struct stun_message *message, const uint8_t *value, size_t len)
{
    if (len > USERNAME_MAX_BYTES)
        return ERR_INVALID;
    message->username = (const char *)value;
    message->username_len = len;
    return OK;
}

static enum err read_priority(struct stun_message *message, const uint8_t *value, size_t len)
{
    (void)len;
    message->has_priority = true;
    message->priority = wire_get32(value);
    return OK;
}

static enum err read_use_candidate(struct stun_message *message, const uint8_t *value, size_t len)
{
    (void)value, (void)len;
    message->has_use_candidate = true;
    return OK;
}

static enum err read_controlled(struct stun_message *message, const uint8_t *value, size_t len)
{
    (void)len;
    message->is_controlled = true;
    message->tie_breaker = wire_get64(value);
    return OK;
}

static enum err read_controlling(struct stun_message *message, const uint8_t *value, size_t len)
{
    (void)len;
    message->is_controlling = true;
    message->tie_breaker = wire_get64(value);
    return OK;
}

static enum err read_error(struct stun_message *message, const uint8_t *value, size_t len)
{
    if (len < 4 || (value[2] & 7) < 3 || (value[2] & 7) > 6 || value[3] > 99)
        return ERR_INVALID;
    message->error_code = (value[2] & 7u) * 100u + value[3];
    return OK;
}

/* The key of XOR-MAPPED-ADDRESS: the magic cookie, and for IPv6 the transaction id after it. */
static void xor_address(uint8_t *ip, size_t len, const uint8_t *transaction)
{
    uint8_t key[4 + STUN_TRANSACTION_BYTES];
    wire_put32(key, STUN_MAGIC);
    memcpy(key + 4, transaction, STUN_TRANSACTION_BYTES);
    for (size_t i = 0; i < len; i++)
        ip[i] ^= key[i];
}

static enum err read_mapped(struct stun_message *message, const uint8_t *value, size_t len)
{
    if (len < 8)
        return ERR_INVALID;
    uint16_t port = wire_get16(value + 2) ^ (STUN_MAGIC >> 16);
    uint8_t ip[16];
    if (value[1] == 1 && len == 8) {
        memcpy(ip, value + 4, 4);
        xor_address(ip, 4, message->transaction);
        message->mapped = net_addr_ipv4(ip[0], ip[1], ip[2], ip[3], port);
    } else if (value[1] == 2 && len == 20) {
        memcpy(ip, value + 4, 16);
        xor_address(ip, 16, message->transaction);
        memcpy(message->mapped.ip, ip, 16);
        message->mapped.port = port;
    } else {
        return ERR_INVALID;
    }
    message->has_mapped = true;
    return OK;
}

static enum err read_integrity(struct stun_message *message, const uint8_t *value, size_t len)
{
    (void)len;
    message->integrity_at = (size_t)(value - message->data) - ATTR_HEADER_BYTES;
    return OK;
}

static enum err read_fingerprint(struct stun_message *message, const uint8_t *value, size_t len)
{
    (void)len;
    size_t covered = (size_t)(value - message->data) - ATTR_HEADER_BYTES;
    if ((crypto_crc32(message->data, covered) ^ FINGERPRINT_XOR) != wire_get32(value))
        return ERR_INVALID;
    message->has_fingerprint = true;
    return OK;
}

enum { ANY_LENGTH = -1 };

static const struct {
    uint16_t type;
    int len;
    attribute_fn *read;
} attributes[] = {
    {ATTR_USERNAME, ANY_LENGTH, read_username},  {ATTR_INTEGRITY, SHA1_BYTES, read_integrity},
    {ATTR_ERROR_CODE, ANY_LENGTH, read_error},   {ATTR_UNKNOWN, ANY_LENGTH, NULL},
    {ATTR_XOR_MAPPED, ANY_LENGTH, read_mapped},  {ATTR_PRIORITY, 4, read_priority},
    {ATTR_USE_CANDIDATE, 0, read_use_candidate}, {ATTR_FINGERPRINT, 4, read_fingerprint},
    {ATTR_CONTROLLED, 8, read_controlled},       {ATTR_CONTROLLING, 8, read_controlling},
};

static enum err read_attribute(struct stun_message *message, uint16_t type, const uint8_t *value,
                               size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(attributes); i++) {
        if (attributes[i].type != type)
            continue;
        if (attributes[i].len != ANY_LENGTH && (size_t)attributes[i].len != len)
            return ERR_INVALID;
        return attributes[i].read ? attributes[i].read(message, value, len) : OK;
    }
    if (!(type & COMPREHENSION_OPTIONAL)) {
        if (message->unknown_count < STUN_UNKNOWN_MAX)
            message->unknown[message->unknown_count] = type;
        message->unknown_count = MIN(message->unknown_count + 1, STUN_UNKNOWN_MAX);
    }
    return OK;
}

enum err stun_parse(const uint8_t *data, size_t len, struct stun_message *out)
{
    if (len < STUN_HEADER_BYTES || len % 4 != 0 || (data[0] & 0xC0) != 0 ||
        wire_get32(data + 4) != STUN_MAGIC || wire_get16(data + 2) != len - STUN_HEADER_BYTES)
        return ERR_INVALID;

    struct stun_message message = {.type = wire_get16(data), .transaction = data + 8, .data = data};
    size_t at = STUN_HEADER_BYTES;
    while (at < len && !message.has_fingerprint) {
        uint16_t type = wire_get16(data + at);
        size_t value_len = wire_get16(data + at + 2);
        size_t padded = (value_len + 3) & ~(size_t)3;
        if (padded > len - at - ATTR_HEADER_BYTES)
            return ERR_INVALID;
        if (!message.integrity_at || type == ATTR_FINGERPRINT) {
            enum err err = read_attribute(&message, type, data + at + ATTR_HEADER_BYTES, value_len);
            if (err)
                return err;
        }
        at += ATTR_HEADER_BYTES + padded;
    }
    if (at != len) /* FINGERPRINT is the last one (RFC 8489 section 14.7) */
        return ERR_INVALID;
    *out = message;
    return OK;
}

/* The HMAC covers what precedes it, with a length field that reaches to its own end. */
static void integrity_of(uint8_t *data, size_t integrity_at, const char *password,
                         uint8_t out[SHA1_BYTES])
{
    size_t end = integrity_at + ATTR_HEADER_BYTES + SHA1_BYTES;
    wire_put16(data + 2, (uint16_t)(end - STUN_HEADER_BYTES));
    crypto_hmac_sha1(password, strlen(password), data, integrity_at, out);
}

bool stun_is_authentic(const struct stun_message *message, const char *password)
{
    if (!message->integrity_at || message->integrity_at > STUN_MAX_BYTES)
        return false;
    uint8_t copy[STUN_MAX_BYTES];
    memcpy(copy, message->data, message->integrity_at);
    uint8_t want[SHA1_BYTES];
    integrity_of(copy, message->integrity_at, password, want);
    return crypto_equal(want, message->data + message->integrity_at + ATTR_HEADER_BYTES,
                        SHA1_BYTES);
}

/* Writing. */

void stun_begin(struct stun_writer *writer, uint8_t *data, size_t cap, enum stun_type type,
                const uint8_t transaction[STUN_TRANSACTION_BYTES])
{
    *writer = (struct stun_writer){.data = data, .cap = cap, .is_full = cap < STUN_HEADER_BYTES};
    if (writer->is_full)
        return;
    wire_put16(data, (uint16_t)type);
    wire_put16(data + 2, 0);
    wire_put32(data + 4, STUN_MAGIC);
    memcpy(data + 8, transaction, STUN_TRANSACTION_BYTES);
    writer->len = STUN_HEADER_BYTES;
}

/* Room for an attribute's value, zeroed with its padding; NULL: full. */
static uint8_t *put(struct stun_writer *writer, enum attribute type, size_t len)
{
    size_t padded = (len + 3) & ~(size_t)3;
    if (writer->is_full || padded + ATTR_HEADER_BYTES > writer->cap - writer->len) {
        writer->is_full = true;
        return NULL;
    }
    uint8_t *at = writer->data + writer->len;
    wire_put16(at, (uint16_t)type);
    wire_put16(at + 2, (uint16_t)len);
    memset(at + ATTR_HEADER_BYTES, 0, padded);
    writer->len += ATTR_HEADER_BYTES + padded;
    wire_put16(writer->data + 2, (uint16_t)(writer->len - STUN_HEADER_BYTES));
    return at + ATTR_HEADER_BYTES;
}

void stun_put_username(struct stun_writer *writer, const char *first, const char *second)
{
    size_t first_len = strlen(first), second_len = strlen(second);
    uint8_t *value = put(writer, ATTR_USERNAME, first_len + 1 + second_len);
    if (!value)
        return;
    memcpy(value, first, first_len);
    value[first_len] = ':';
    memcpy(value + first_len + 1, second, second_len);
}

void stun_put_priority(struct stun_writer *writer, uint32_t priority)
{
    uint8_t *value = put(writer, ATTR_PRIORITY, 4);
    if (value)
        wire_put32(value, priority);
}

void stun_put_role(struct stun_writer *writer, bool is_controlling, uint64_t tie_breaker)
{
    uint8_t *value = put(writer, is_controlling ? ATTR_CONTROLLING : ATTR_CONTROLLED, 8);
    if (value)
        wire_put64(value, tie_breaker);
}

void stun_put_use_candidate(struct stun_writer *writer)
{
    put(writer, ATTR_USE_CANDIDATE, 0);
}

void stun_put_mapped(struct stun_writer *writer, const struct net_addr *addr)
{
    bool is_ipv4 = net_addr_is_ipv4(addr);
    size_t ip_len = is_ipv4 ? 4 : 16;
    uint8_t *value = put(writer, ATTR_XOR_MAPPED, 4 + ip_len);
    if (!value)
        return;
    value[1] = is_ipv4 ? 1 : 2;
    wire_put16(value + 2, addr->port ^ (STUN_MAGIC >> 16));
    memcpy(value + 4, addr->ip + 16 - ip_len, ip_len);
    xor_address(value + 4, ip_len, writer->data + 8);
}

void stun_put_error(struct stun_writer *writer, enum stun_error code)
{
    uint8_t *value = put(writer, ATTR_ERROR_CODE, 4);
    if (!value)
        return;
    value[2] = (uint8_t)(code / 100);
    value[3] = (uint8_t)(code % 100);
}

void stun_put_unknown(struct stun_writer *writer, const uint16_t *types, unsigned count)
{
    uint8_t *value = put(writer, ATTR_UNKNOWN, count * 2);
    for (unsigned i = 0; value && i < count; i++)
        wire_put16(value + i * 2, types[i]);
}

size_t stun_finish(struct stun_writer *writer, const char *password)
{
    if (password) {
        size_t at = writer->len;
        uint8_t *value = put(writer, ATTR_INTEGRITY, SHA1_BYTES);
        if (value)
            integrity_of(writer->data, at, password, value);
    }
    size_t covered = writer->len;
    uint8_t *value = put(writer, ATTR_FINGERPRINT, 4);
    if (!value)
        return 0;
    wire_put32(value, crypto_crc32(writer->data, covered) ^ FINGERPRINT_XOR);
    return writer->len;
}
