#include "net/url.h"

#include <stdio.h>
#include <string.h>

#include "net/addr.h"

static const struct scheme_row {
    const char *prefix;
    uint16_t port;
    bool is_tls;
} schemes[] = {
    [URL_HTTP] = {"http", 80, false},
    [URL_HTTPS] = {"https", 443, true},
    [URL_WS] = {"ws", 80, false},
    [URL_WSS] = {"wss", 443, true},
};

static bool is_unreserved(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static enum err parse_scheme(const char **cursor, struct url *url, struct fault *fault)
{
    const char *colon = strstr(*cursor, "://");
    if (!colon || colon == *cursor)
        return fault_set(fault, ERR_INVALID, "not a URL: it does not begin with a scheme and ://");
    size_t len = (size_t)(colon - *cursor);
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        if (strlen(schemes[i].prefix) != len || strncasecmp(*cursor, schemes[i].prefix, len) != 0)
            continue;
        url->scheme = (enum url_scheme)i;
        url->port = schemes[i].port;
        *cursor = colon + 3;
        return OK;
    }
    return fault_set(fault, ERR_UNSUPPORTED, "only http and https URLs are served");
}

static enum err parse_port(const char *text, size_t len, struct url *url, struct fault *fault)
{
    unsigned value = 0;
    if (len == 0) /* "host:" is the scheme's port, RFC 3986 section 3.2.3 */
        return OK;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || i >= 5)
            return fault_set(fault, ERR_INVALID, "the URL's port is no number from 1 to 65535");
        value = value * 10 + (unsigned)(text[i] - '0');
    }
    if (value == 0 || value > UINT16_MAX)
        return fault_set(fault, ERR_INVALID, "the URL's port is no number from 1 to 65535");
    url->has_port = value != schemes[url->scheme].port;
    url->port = (uint16_t)value;
    return OK;
}

static enum err copy_host(const char *text, size_t len, struct url *url, struct fault *fault)
{
    if (len == 0)
        return fault_set(fault, ERR_INVALID, "the URL has no host");
    if (len >= URL_HOST_SIZE)
        return fault_set(fault, ERR_INVALID, "the URL's host is too long");
    for (size_t i = 0; i < len; i++)
        url->host[i] = lower(text[i]);
    url->host[len] = '\0';
    return OK;
}

static enum err parse_ipv6_host(const char *text, size_t len, struct url *url, struct fault *fault)
{
    const char *end = memchr(text, ']', len);
    if (!end)
        return fault_set(fault, ERR_INVALID, "the URL's host has no closing bracket");
    enum err err = copy_host(text + 1, (size_t)(end - text - 1), url, fault);
    if (err)
        return err;
    struct net_addr addr;
    if (!strchr(url->host, ':') || net_ip_parse(url->host, &addr) != OK)
        return fault_set(fault, ERR_INVALID, "the URL's host is no IPv6 address");
    url->is_ipv6 = true;
    size_t rest = len - (size_t)(end + 1 - text);
    if (rest == 0)
        return OK;
    if (end[1] != ':')
        return fault_set(fault, ERR_INVALID, "the URL has text after its host");
    return parse_port(end + 2, rest - 1, url, fault);
}

/* Names: letters, digits, '-', '_', '.', and bytes over 0x7f are refused (write the xn-- form). */
static enum err parse_named_host(const char *text, size_t len, struct url *url, struct fault *fault)
{
    const char *colon = memchr(text, ':', len);
    size_t host_len = colon ? (size_t)(colon - text) : len;
    enum err err = copy_host(text, host_len, url, fault);
    if (err)
        return err;
    for (size_t i = 0; i < host_len; i++)
        if (!is_unreserved((unsigned char)text[i]) || text[i] == '~')
            return fault_set(fault, ERR_INVALID, "the URL's host has a character no host has");
    if (url->host[0] == '.' || strstr(url->host, ".."))
        return fault_set(fault, ERR_INVALID, "the URL's host has an empty label");
    return colon ? parse_port(colon + 1, len - host_len - 1, url, fault) : OK;
}

static enum err parse_authority(const char *text, size_t len, struct url *url, struct fault *fault)
{
    if (memchr(text, '@', len))
        return fault_set(fault, ERR_DENIED, "the URL carries credentials");
    if (len > 0 && text[0] == '[')
        return parse_ipv6_host(text, len, url, fault);
    return parse_named_host(text, len, url, fault);
}

static enum err check_bytes(const char *text, struct fault *fault)
{
    size_t len = 0;
    for (; text[len]; len++) {
        unsigned char c = (unsigned char)text[len];
        if (c <= ' ' || c == 0x7f || c == '\\')
            return fault_set(fault, ERR_INVALID, "the URL has a space, backslash or control byte");
    }
    if (len > URL_MAX)
        return fault_set(fault, ERR_INVALID, "the URL is longer than %d bytes", URL_MAX);
    return OK;
}

enum err url_parse(const char *text, struct url *out, struct fault *fault)
{
    struct url url = {0};
    const char *cursor = text;
    enum err err = check_bytes(text, fault);
    if (!err)
        err = parse_scheme(&cursor, &url, fault);
    if (err)
        return err;
    size_t authority_len = strcspn(cursor, "/?#");
    if ((err = parse_authority(cursor, authority_len, &url, fault)))
        return err;
    url.path = cursor + authority_len;
    url.path_len = strcspn(url.path, "?#");
    if (url.path[url.path_len] == '?') {
        url.query = url.path + url.path_len + 1;
        url.query_len = strcspn(url.query, "#");
    }
    *out = url;
    return OK;
}

bool url_is_tls(const struct url *url)
{
    return schemes[url->scheme].is_tls;
}

/* Bytes over 0x7f are percent-encoded: a request line is ASCII. */
static void append_ascii(const char *text, size_t len, struct buf *out)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x80)
            buf_append_char(out, (char)c);
        else
            buf_printf(out, "%%%02X", c);
    }
}

enum err url_write_target(const struct url *url, struct buf *out)
{
    if (url->path_len == 0)
        buf_append_char(out, '/');
    append_ascii(url->path, url->path_len, out);
    if (url->query) {
        buf_append_char(out, '?');
        append_ascii(url->query, url->query_len, out);
    }
    return out->is_full ? ERR_LIMIT : OK;
}

enum err url_write_host(const struct url *url, struct buf *out)
{
    buf_append_str(out, url->is_ipv6 ? "[" : "");
    buf_append_str(out, url->host);
    buf_append_str(out, url->is_ipv6 ? "]" : "");
    if (url->has_port)
        buf_printf(out, ":%u", (unsigned)url->port);
    return out->is_full ? ERR_LIMIT : OK;
}

enum err url_encode(const char *text, size_t len, struct buf *out)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        char escape[3] = {'%', digits[c >> 4], digits[c & 15]};
        if (is_unreserved(c))
            buf_append_char(out, (char)c);
        else
            buf_append(out, escape, sizeof(escape));
    }
    return out->is_full ? ERR_LIMIT : OK;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

enum err url_decode(const char *text, size_t len, bool is_form, struct buf *out)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '%') {
            buf_append_char(out, is_form && text[i] == '+' ? ' ' : text[i]);
            continue;
        }
        int high = len - i > 2 ? hex_value(text[i + 1]) : -1;
        int low = len - i > 2 ? hex_value(text[i + 2]) : -1;
        if (high < 0 || low < 0 || high + low == 0)
            return ERR_INVALID;
        buf_append_char(out, (char)(high * 16 + low));
        i += 2;
    }
    return out->is_full ? ERR_LIMIT : OK;
}

/* One `name=value` piece of a query; the next one begins after the '&'. */
struct piece {
    const char *name, *value;
    size_t name_len, value_len;
};

static bool next_piece(const char **cursor, struct piece *out)
{
    const char *text = *cursor;
    while (text && *text == '&')
        text++;
    if (!text || !*text)
        return false;
    size_t len = strcspn(text, "&");
    const char *equals = memchr(text, '=', len);
    out->name = text;
    out->name_len = equals ? (size_t)(equals - text) : len;
    out->value = equals ? equals + 1 : text + len;
    out->value_len = len - (size_t)(out->value - text);
    *cursor = text + len;
    return true;
}

static bool decodes_to(const struct piece *piece, const char *name)
{
    AUTO_BUF decoded = BUF_INIT(URL_MAX);
    return url_decode(piece->name, piece->name_len, true, &decoded) == OK && decoded.data &&
           strcmp(decoded.data, name) == 0;
}

enum err url_query_get(const char *query, const char *name, struct buf *out)
{
    struct piece piece;
    while (next_piece(&query, &piece))
        if (decodes_to(&piece, name))
            return url_decode(piece.value, piece.value_len, true, out);
    return ERR_NOT_FOUND;
}

static void decode_or_copy(const char *text, size_t len, struct buf *out)
{
    buf_reset(out);
    buf_reserve(out, 1);
    if (url_decode(text, len, true, out) == OK)
        return;
    buf_reset(out);
    buf_append(out, text, len);
}

bool url_query_next(const char **cursor, struct buf *name, struct buf *value)
{
    struct piece piece;
    if (!next_piece(cursor, &piece))
        return false;
    decode_or_copy(piece.name, piece.name_len, name);
    decode_or_copy(piece.value, piece.value_len, value);
    return true;
}
