/* URLs, and what the guard makes of them: what it lets pass must, taken apart and written again, be
 * the same host and port, and that host must be public. The allow-list and addresses as well. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "net/guard.h"
#include "net/url.h"

enum { INPUT_MAX_BYTES = 4096 };

static void check_written(const struct url *url)
{
    AUTO_BUF text = BUF_INIT(8 * URL_MAX);
    struct url again;
    buf_append_str(&text, url_is_tls(url) ? "https://" : "http://");
    url_write_host(url, &text);
    url_write_target(url, &text);
    assert(url_parse(text.data, &again, NULL) == OK || text.len > URL_MAX);
    if (text.len > URL_MAX)
        return;
    assert(strcmp(again.host, url->host) == 0 && again.port == url->port);
    assert(!strpbrk(url->host, "@/\\ %?#"));
}

static void check_public(const char *text)
{
    struct url url;
    struct net_addr addr;
    if (guard_check_url(NULL, GUARD_PUBLIC, text, &url, NULL) != OK)
        return;
    assert(strcasecmp(url.host, "localhost") != 0);
    if (net_ip_parse(url.host, &addr) == OK)
        assert(!net_addr_is_loopback(&addr) && !net_addr_is_link_local(&addr) &&
               !net_addr_is_any(&addr));
}

static void check_coding(const char *text, size_t len)
{
    AUTO_BUF encoded = BUF_INIT(3 * INPUT_MAX_BYTES);
    AUTO_BUF decoded = BUF_INIT(3 * INPUT_MAX_BYTES);
    AUTO_BUF name = BUF_INIT(INPUT_MAX_BYTES);
    AUTO_BUF value = BUF_INIT(INPUT_MAX_BYTES);
    url_encode(text, len, &encoded);
    if (len > 0) {
        enum err err = url_decode(encoded.data, encoded.len, true, &decoded);
        assert(err == OK && decoded.len == len && memcmp(decoded.data, text, len) == 0);
    }
    const char *cursor = text;
    while (url_query_next(&cursor, &name, &value))
        continue;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[INPUT_MAX_BYTES + 1];
    struct url url;
    struct net_addr addr;
    AUTO(guard) guard = NULL;
    size = MIN(size, (size_t)INPUT_MAX_BYTES);
    memcpy(text, data, size);
    text[size] = '\0';
    if (url_parse(text, &url, NULL) == OK)
        check_written(&url);
    check_public(text);
    check_coding(text, strlen(text));
    if (net_addr_parse(text, &addr) == OK) {
        char printed[NET_ADDR_SIZE];
        struct net_addr again;
        net_addr_print(&addr, printed);
        assert(net_addr_parse(printed, &again) == OK && net_addr_equal(&addr, &again));
    }
    enum err err = guard_new(text, &guard, NULL);
    assert((err == OK) == (guard != NULL));
    return 0;
}
