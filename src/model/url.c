/* RFC 3986 section 3: scheme ":" hier-part, as far as a field table looks. */
#include "model/url.h"

#include <string.h>

#include "model/internal.h"

static bool is_url(const char *text)
{
    static const char scheme[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-.";
    size_t len = strspn(text, scheme);
    if (len == 0 || text[len] != ':' || text[len + 1] == '\0')
        return false;
    if (!((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z')))
        return false;
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p <= ' ' || *p == 0x7f)
            return false;
    return true;
}

void check_url(struct field_context *context, const struct field *row, void *object,
               const char *path)
{
    const char *text = field_text(row, object);
    if (*text && !is_url(text))
        faults_add(&context->faults, path, "is no URL");
}
