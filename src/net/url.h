/* URLs of the four schemes that Earshot speaks (RFC 3986 with the host rules of RFC 9110),
 * strictly: what two parsers could read differently (backslashes, control bytes, spaces,
 * credentials, several '@', a port out of range) is refused, so that the guard and the client
 * always mean the same host. Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

enum { URL_MAX = 8192, URL_HOST_SIZE = 256 };

enum url_scheme { URL_HTTP, URL_HTTPS, URL_WS, URL_WSS };

struct url {
    enum url_scheme scheme;
    char host[URL_HOST_SIZE]; /* lower case, IPv6 without brackets; not empty */
    uint16_t port;            /* the scheme's own when none was written */
    bool has_port;            /* a port other than the scheme's own was written */
    bool is_ipv6;             /* the host stood in brackets */
    const char *path;         /* borrowed from the text: may be empty, else begins with '/' */
    size_t path_len;
    const char *query; /* borrowed, without '?'; NULL when absent */
    size_t query_len;
};

/* ERR_INVALID: no such URL, the fault says why. ERR_UNSUPPORTED: another scheme.
 * ERR_DENIED: it carries credentials. A fragment is dropped. out borrows from text. */
enum err url_parse(const char *text, struct url *out, struct fault *fault) MUST_USE;
bool url_is_tls(const struct url *url);
enum err url_write_target(const struct url *url, struct buf *out); /* "/path?query" */
enum err url_write_host(const struct url *url, struct buf *out);   /* for Host: "[::1]:8080" */

/* Percent-encoding: all but the unreserved characters of RFC 3986; so it does for a path segment, a
 * query and application/x-www-form-urlencoded alike. */
enum err url_encode(const char *text, size_t len, struct buf *out);
/* Decodes %XX, and '+' as a space when is_form. ERR_INVALID: a broken escape, or %00. */
enum err url_decode(const char *text, size_t len, bool is_form, struct buf *out) MUST_USE;

/* Finds `name` in a query string and appends its decoded value. ERR_NOT_FOUND, ERR_INVALID. The
 * first one counts. query may be NULL. */
enum err url_query_get(const char *query, const char *name, struct buf *out) MUST_USE;
/* Walks a query: *cursor begins as the query (or NULL) and is moved; name and value are decoded
 * anew. false: the end. A broken escape reads as it stands. */
bool url_query_next(const char **cursor, struct buf *name, struct buf *value);
