/* RFC 3986 section 3: scheme "://" authority, as far as a field table looks. */
#include "model/url.h"

#include <string.h>
#include <strings.h>

#include "model/internal.h"

/* [user@]host[:port]: is the host more than nothing? */
static bool has_host(const char *authority)
{
    size_t len = strcspn(authority, "/?#");
    for (size_t i = len; i > 0; i--) {
        if (authority[i - 1] != '@')
            continue;
        authority += i;
        len -= i;
        break;
    }
    return len > 0 && *authority != ':' && strncmp(authority, "[]", 2) != 0;
}

static bool is_url(const char *text)
{
    static const char scheme[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-.";
    size_t len = strspn(text, scheme);
    if (len == 0 || strncmp(text + len, "://", 3) != 0)
        return false;
    if (!((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z')))
        return false;
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p <= ' ' || *p == 0x7f)
            return false;
    return has_host(text + len + 3);
}

/* scheme "://" authority, without the port that the scheme means anyway. 0: no URL. */
static size_t origin_len(const char *text)
{
    static const struct {
        const char *scheme, *port;
    } ports[] = {{"http://", ":80"}, {"https://", ":443"}};
    if (!is_url(text))
        return 0;
    size_t start = strcspn(text, ":") + 3, len = start + strcspn(text + start, "/?#");
    for (size_t i = 0; i < ARRAY_LEN(ports); i++) {
        size_t port = strlen(ports[i].port);
        if (strncasecmp(text, ports[i].scheme, start) == 0 && len > start + port &&
            strncmp(text + len - port, ports[i].port, port) == 0)
            return len - port;
    }
    return len;
}

bool url_same_origin(const char *a, const char *b)
{
    size_t len = origin_len(a);
    return len > 0 && len == origin_len(b) && strncasecmp(a, b, len) == 0;
}

void check_url(struct field_context *context, const struct field *row, void *object,
               const char *path)
{
    const char *text = field_text(row, object);
    if (*text && !is_url(text))
        faults_add(&context->faults, path, "is no URL");
}
