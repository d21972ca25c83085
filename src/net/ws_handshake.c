#include "net/ws_handshake.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/crypto.h"
#include "net/http_head.h"
#include "net/http_server.h"
#include "net/url.h"

enum {
    ANSWER_MAX_BYTES = 16 * 1024,
    ANSWER_MAX_HEADERS = 64,
    KEY_BYTES = 16, /* RFC 6455 section 4.1: the nonce */
};

void ws_accept_value(const char *key, char out[WS_ACCEPT_SIZE])
{
    uint8_t digest[SHA1_BYTES];
    AUTO_BUF text = BUF_INIT(256);
    AUTO_BUF encoded = BUF_INIT(WS_ACCEPT_SIZE);
    buf_printf(&text, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
    crypto_sha1(text.data, text.len, digest);
    base64_encode(digest, sizeof(digest), &encoded);
    memcpy(out, encoded.data, WS_ACCEPT_SIZE);
}

static bool is_key(const char *key)
{
    AUTO_BUF decoded = BUF_INIT(64);
    return key && strlen(key) < WS_KEY_SIZE && base64_decode(key, strlen(key), &decoded) == OK &&
           decoded.len == KEY_BYTES;
}

static void copy_first_item(const char *list, char *out, size_t cap)
{
    size_t len = list ? strcspn(list, ", \t") : 0;
    len = len < cap ? len : 0;
    memcpy(out, list ? list : "", len);
    out[len] = '\0';
}

enum err ws_read_offer(const struct http_exchange *exchange, struct ws_offer *out,
                       struct fault *fault)
{
    const struct http_request *request = http_exchange_request(exchange);
    const char *upgrade = http_exchange_header(exchange, "Upgrade");
    const char *version = http_exchange_header(exchange, "Sec-WebSocket-Version");
    const char *key = http_exchange_header(exchange, "Sec-WebSocket-Key");
    if (strcmp(request->method, "GET") != 0 || !request->wants_upgrade ||
        !http_list_has(upgrade, "websocket"))
        return fault_set(fault, ERR_INVALID, "this is no WebSocket handshake");
    if (!version || strcmp(version, "13") != 0)
        return fault_set(fault, ERR_UNSUPPORTED, "only WebSocket version 13 is served");
    if (!is_key(key))
        return fault_set(fault, ERR_INVALID, "Sec-WebSocket-Key is malformed");
    struct ws_offer offer = {0};
    snprintf(offer.key, sizeof(offer.key), "%s", key);
    copy_first_item(http_exchange_header(exchange, "Sec-WebSocket-Protocol"), offer.protocol,
                    sizeof(offer.protocol));
    *out = offer;
    return OK;
}

void ws_write_accept(const struct ws_offer *offer, struct buf *out)
{
    char accept[WS_ACCEPT_SIZE];
    ws_accept_value(offer->key, accept);
    buf_printf(out,
               "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Accept: %s\r\n",
               accept);
    if (offer->protocol[0])
        buf_printf(out, "Sec-WebSocket-Protocol: %s\r\n", offer->protocol);
    buf_append_str(out, "\r\n");
}

static bool is_ours(const char *name)
{
    static const char *const ours[] = {"Host", "Upgrade", "Connection", "Content-Length"};
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        if (strcasecmp(name, ours[i]) == 0)
            return true;
    return strncasecmp(name, "Sec-WebSocket-", 14) == 0;
}

enum err ws_write_request(const struct url *url, const struct ws_request *request,
                          const char key[WS_CLIENT_KEY_SIZE], struct buf *out)
{
    buf_append_str(out, "GET ");
    url_write_target(url, out);
    buf_append_str(out, " HTTP/1.1\r\nHost: ");
    url_write_host(url, out);
    buf_printf(out,
               "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
               "Sec-WebSocket-Key: %s\r\n",
               key);
    if (request->protocol)
        buf_printf(out, "Sec-WebSocket-Protocol: %s\r\n", request->protocol);
    for (size_t i = 0; i < request->header_count; i++) {
        const struct http_header *header = &request->headers[i];
        if (strpbrk(header->name, "\r\n: ") || strpbrk(header->value, "\r\n"))
            return ERR_INVALID;
        if (!is_ours(header->name))
            buf_printf(out, "%s: %s\r\n", header->name, header->value);
    }
    buf_append_str(out, "\r\n");
    return out->is_full ? ERR_LIMIT : OK;
}

/* "Name: value" lines of an answer into headers that live in the arena. */
static size_t split_headers(struct arena *arena, char *text, struct http_header *out)
{
    size_t count = 0;
    char *line = strstr(text, "\r\n") + 2;
    while (count < ANSWER_MAX_HEADERS && strncmp(line, "\r\n", 2) != 0) {
        char *end = strstr(line, "\r\n"), *colon = memchr(line, ':', (size_t)(end - line));
        if (colon) {
            const char *value = colon + 1 + strspn(colon + 1, " \t");
            size_t len = value < end ? (size_t)(end - value) : 0;
            while (len > 0 && (value[len - 1] == ' ' || value[len - 1] == '\t'))
                len--;
            out[count].name = arena_strndup(arena, line, (size_t)(colon - line));
            out[count++].value = arena_strndup(arena, value, len);
        }
        line = end + 2;
    }
    return count;
}

static enum err check_answer(const struct http_header *headers, size_t count, const char *key,
                             const char *protocol, struct fault *fault)
{
    char accept[WS_ACCEPT_SIZE];
    ws_accept_value(key, accept);
    const char *given = http_header_find(headers, count, "Sec-WebSocket-Accept");
    const char *chosen = http_header_find(headers, count, "Sec-WebSocket-Protocol");
    if (!given || strcmp(given, accept) != 0 ||
        !http_list_has(http_header_find(headers, count, "Upgrade"), "websocket") ||
        !http_list_has(http_header_find(headers, count, "Connection"), "upgrade"))
        return fault_set(fault, ERR_INVALID, "the server's WebSocket handshake is wrong");
    if (http_header_find(headers, count, "Sec-WebSocket-Extensions"))
        return fault_set(fault, ERR_INVALID, "the server uses an extension nobody asked for");
    if (chosen && (!protocol || !http_list_has(protocol, chosen)))
        return fault_set(fault, ERR_INVALID, "the server chose a protocol nobody offered");
    return OK;
}

/* Three digits and a space or the line's end; -1 for all else. */
static int read_status(const char *text, size_t len)
{
    int code = 0;
    for (size_t i = 0; i < 3; i++) {
        if (i >= len || text[i] < '0' || text[i] > '9')
            return -1;
        code = code * 10 + (text[i] - '0');
    }
    return len > 3 && (text[3] == ' ' || text[3] == '\r') ? code : -1;
}

enum err ws_read_answer(const char *data, size_t len, const char key[WS_CLIENT_KEY_SIZE],
                        const char *protocol, size_t *out_len, struct fault *fault)
{
    static const struct http_limits limits = {ANSWER_MAX_BYTES, ANSWER_MAX_BYTES, 0};
    size_t scanned = 0, head_len;
    int status;
    enum err err = http_head_find(data, len, &limits, &scanned, &head_len, &status);
    if (err)
        return err;
    if (status || strncmp(data, "HTTP/1.1 ", 9) != 0)
        return fault_set(fault, ERR_INVALID, "the server's answer is no HTTP");
    int code = read_status(data + 9, head_len - 9);
    if (code < 0)
        return fault_set(fault, ERR_INVALID, "the server's answer is no HTTP");
    if (code != 101)
        return fault_set(fault, ERR_CONFLICT, "the server answered %d instead of 101", code);
    AUTO(arena) arena = arena_new(0);
    struct http_header *headers = arena_new_n(arena, struct http_header, ANSWER_MAX_HEADERS);
    size_t count = split_headers(arena, arena_strndup(arena, data, head_len), headers);
    err = check_answer(headers, count, key, protocol, fault);
    if (!err)
        *out_len = head_len;
    return err;
}
