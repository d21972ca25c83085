/* Looks a page up by its path and answers it, with 304 when the browser has this version already.
 * A page may use only what comes from here, in files of its own. */
#include "studio/pages.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "net/http_choice.h"
#include "net/http_server.h"
#include "net/url.h"
#include "studio/internal.h"

/* Where pages are found, and what of them others' pages may load (the call button). */
static const struct {
    const char *path, *file; /* what follows the path follows the file */
    bool is_shared;
} places[] = {
    {"/studio/", "", false},
    {"/embed/", "embed/", true},
};

/* Paths that are not a file's name. */
static const struct {
    const char *path, *file;
} aliases[] = {
    {"/", "index.html"},
    {"/try", "try.html"},
    {"/docs", "docs.html"},
    {"/docs/button", "button.html"},
    {"/studio", "app.html"},
    {"/favicon.ico", "icon.svg"},
    {"/embed/livekit-client.js", "livekit-client.js"},
};

/* What a page may do. The pages that call connect to the nodes as well, of which each has rooms. */
#define OWN_FILES "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
#define NO_MORE   "base-uri 'none'; form-action 'none'; "
static const char any_policy[] = OWN_FILES NO_MORE "frame-ancestors 'none'; connect-src 'self'";
static const char call_policy[] =
    OWN_FILES NO_MORE "frame-ancestors 'self'; media-src 'self' blob: mediastream:; "
                      "connect-src 'self'"; /* the nodes follow */
static const char *const calling_pages[] = {"try.html", "button.html", "app.html"};
enum { POLICY_MAX_BYTES = 6 * 1024 }; /* what proxies take as headers: some 80 nodes */

static bool is_calling(const struct page *page)
{
    for (size_t i = 0; i < sizeof(calling_pages) / sizeof(calling_pages[0]); i++)
        if (strcmp(page->file, calling_pages[i]) == 0)
            return true;
    return false;
}

/* The origin that clients join rooms at, and the one at which they ask why they could not. A policy
 * cannot name a host in brackets: as the page's own it is 'self', and as another node's only
 * any host with its port lets browsers there. */
static void allow_node(const char *text, const char *own_host, struct buf *policy)
{
    struct url url;
    struct fault fault = {0};
    AUTO_BUF host = BUF_INIT(POLICY_MAX_BYTES);
    if (url_parse(text, &url, &fault) || url_write_host(&url, &host))
        return;
    if (url.is_ipv6 && own_host && strcasecmp(host.data, own_host) == 0)
        return;
    const char *any = url.is_ipv6 ? "*" : "";
    const char *rest = url.is_ipv6 ? strchr(host.data, ']') + 1 : host.data;
    const char *s = url_is_tls(&url) ? "s" : "";
    AUTO_BUF origins = BUF_INIT(POLICY_MAX_BYTES);
    (void)buf_printf(&origins, " ws%s://%s%s http%s://%s%s", s, any, rest, s, any, rest);
    if (!strstr(policy->data, origins.data)) /* several behind one name */
        (void)buf_append(policy, origins.data, origins.len);
}

static void write_policy(const struct page *page, const struct pages_rooms *rooms,
                         const char *own_host, struct buf *policy)
{
    const char *url;
    (void)buf_append_str(policy, is_calling(page) ? call_policy : any_policy);
    for (size_t i = 0; is_calling(page) && (url = rooms->url(rooms->arg, i)); i++)
        allow_node(url, own_host, policy);
}

enum { FILE_NAME_MAX = 100 };

/* The studio finds its own way among its paths, of which none has an ending. */
static bool is_studio_path(const char *path)
{
    return strncmp(path, "/studio/", 8) == 0 && !strchr(path, '.');
}

static bool file_of(const char *path, char out[FILE_NAME_MAX])
{
    if (is_studio_path(path))
        path = "/studio";
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (strcmp(path, aliases[i].path) == 0)
            return snprintf(out, FILE_NAME_MAX, "%s", aliases[i].file) > 0;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        size_t len = strlen(places[i].path);
        if (strncmp(path, places[i].path, len) == 0)
            return snprintf(out, FILE_NAME_MAX, "%s%s", places[i].file, path + len) < FILE_NAME_MAX;
    }
    return false;
}

static bool is_shared(const char *path)
{
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (strncmp(path, places[i].path, strlen(places[i].path)) == 0)
            return places[i].is_shared;
    return false;
}

static const struct page *page_named(const char *file)
{
    for (size_t i = 0; i < page_count; i++)
        if (strcmp(pages[i].file, file) == 0)
            return &pages[i];
    return NULL;
}

/* /studio/v/VERSION/FILE never changes, where VERSION is ours; of another one (a page that was
 * opened before an upgrade, another node) it is what is here now. */
static const char version_path[] = "/studio/v/";

static const char *after_version(const char *path)
{
    size_t len = sizeof(version_path) - 1;
    return strncmp(path, version_path, len) == 0 ? strchr(path + len, '/') : NULL;
}

static bool is_fixed(const char *path)
{
    const char *rest = after_version(path), *version = path + sizeof(version_path) - 1;
    return rest && (size_t)(rest - version) == strlen(pages_version) &&
           strncmp(version, pages_version, strlen(pages_version)) == 0;
}

static const struct page *page_of(const char *path)
{
    char file[FILE_NAME_MAX];
    const char *rest = after_version(path);
    if (rest)
        return page_named(rest + 1);
    return file_of(path, file) ? page_named(file) : NULL;
}

/* The headers of a page; answers how many. `out` holds HEADERS_MAX. A page that calls has no ETag:
 * what a browser has kept of it would have the policy of other nodes. */
enum { HEADERS_MAX = 10 };
static size_t page_headers(const struct page *page, const char *path, bool must_unpack,
                           const char *policy, struct http_header *out)
{
    const char *keep = is_fixed(path) ? "public, max-age=31536000, immutable" : "no-cache";
    const struct http_header always[] = {
        {"Content-Type", page->type},          {"Cache-Control", keep},
        {"X-Content-Type-Options", "nosniff"}, {"Referrer-Policy", "no-referrer"},
        {"Content-Security-Policy", policy},   {"Vary", "Accept-Encoding"},
    };
    size_t count = sizeof(always) / sizeof(always[0]);
    memcpy(out, always, sizeof(always));
    if (!is_calling(page))
        out[count++] = (struct http_header){"ETag", page->tag};
    if (must_unpack)
        out[count++] = (struct http_header){"Content-Encoding", "gzip"};
    if (is_shared(path)) {
        out[count++] = (struct http_header){"Access-Control-Allow-Origin", "*"};
        out[count++] = (struct http_header){"Cross-Origin-Resource-Policy", "cross-origin"};
    }
    return count;
}

bool pages_answer(struct http_exchange *exchange, const struct pages_rooms *rooms)
{
    const struct http_request *request = http_exchange_request(exchange);
    if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0)
        return false;
    const struct page *page = page_of(request->path);
    if (!page)
        return false;
    bool packed = page->packed.len < page->plain.len &&
                  http_takes_gzip(request->headers, request->header_count);
    const struct page_bytes *bytes = packed ? &page->packed : &page->plain;
    AUTO_BUF policy = BUF_INIT(POLICY_MAX_BYTES);
    struct http_header headers[HEADERS_MAX];
    write_policy(page, rooms, http_exchange_header(exchange, "Host"), &policy);
    size_t count = page_headers(page, request->path, packed, policy.data, headers);
    const char *tag = is_calling(page) ? NULL : page->tag;
    struct http_answer answer = {.status = 200,
                                 .headers = headers,
                                 .header_count = count,
                                 .body = (const char *)bytes->data,
                                 .body_len = bytes->len};
    if (http_has_already(request->headers, request->header_count, tag)) {
        answer.status = 304;
        answer.body_len = 0;
    }
    http_answer(exchange, &answer);
    return true;
}
