/* Looks a page up by its path and answers it, with 304 when the browser has this version already.
 * A page may use only what comes from here, in files of its own. */
#include "studio/pages.h"

#include <string.h>

#include "net/http_server.h"
#include "studio/internal.h"

static const char PREFIX[] = "/studio/";

/* Paths that are not a file's name. */
static const struct {
    const char *path, *file;
} aliases[] = {
    {"/", "index.html"},
    {"/try", "try.html"},
    {"/docs", "docs.html"},
    {"/favicon.ico", "icon.svg"},
};

/* What a page may do. The call page connects anywhere, since a room can be on another host. */
#define OWN_FILES "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
#define NO_MORE   "base-uri 'none'; form-action 'none'; "
static const char any_policy[] = OWN_FILES NO_MORE "connect-src 'self'; frame-ancestors 'none'";
static const char call_policy[] =
    OWN_FILES NO_MORE "connect-src *; media-src 'self' blob: mediastream:; frame-ancestors 'self'";

static const char *policy_of(const struct page *page)
{
    return strcmp(page->file, "try.html") == 0 ? call_policy : any_policy;
}

static const char *file_of(const char *path)
{
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (strcmp(path, aliases[i].path) == 0)
            return aliases[i].file;
    return strncmp(path, PREFIX, strlen(PREFIX)) == 0 ? path + strlen(PREFIX) : NULL;
}

static const struct page *page_of(const char *path)
{
    const char *file = file_of(path);
    for (size_t i = 0; file && i < page_count; i++)
        if (strcmp(pages[i].file, file) == 0)
            return &pages[i];
    return NULL;
}

bool pages_answer(struct http_exchange *exchange)
{
    const struct http_request *request = http_exchange_request(exchange);
    if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0)
        return false;
    const struct page *page = page_of(request->path);
    if (!page)
        return false;
    const struct http_header headers[] = {
        {"Content-Type", page->type},       {"ETag", page->tag},
        {"Cache-Control", "no-cache"},      {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"}, {"Content-Security-Policy", policy_of(page)},
    };
    const char *known = http_exchange_header(exchange, "If-None-Match");
    struct http_answer answer = {.status = 200,
                                 .headers = headers,
                                 .header_count = sizeof(headers) / sizeof(headers[0]),
                                 .body = (const char *)page->data,
                                 .body_len = page->len};
    if (known && strcmp(known, page->tag) == 0) {
        answer.status = 304;
        answer.body_len = 0;
    }
    http_answer(exchange, &answer);
    return true;
}
