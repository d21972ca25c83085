#include "tool/secrets.h"

#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/attr.h"
#include "model/tool.h"
#include "tool/request.h"

enum { SECRET_MIN_BYTES = 4 /* stars for a shorter one would be all over the text */ };

static bool names_a_credential(const char *header)
{
    static const char *const parts[] = {"auth",     "key",    "token",     "secret",
                                        "password", "cookie", "signature", "credential"};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        for (const char *at = header; *at; at++)
            if (strncasecmp(at, parts[i], strlen(parts[i])) == 0)
                return true;
    return false;
}

static void keep(struct arena *arena, const char *secret, struct tool_secrets *out)
{
    if (secret && strlen(secret) >= SECRET_MIN_BYTES)
        out->items[out->count++] = arena_strdup(arena, secret);
}

/* "Bearer abc" is said as "abc", too. */
static const char *last_word(const char *value)
{
    const char *space = strrchr(value, ' ');
    return space ? space + 1 : value;
}

void tool_secrets_gather(struct arena *arena, const struct tool *tool,
                         const struct tool_request *request, struct tool_secrets *out)
{
    *out = (struct tool_secrets){
        .items = arena_alloc(arena, (request->header_count + 1) * sizeof(*out->items))};
    keep(arena, tool->auth_token, out);
    for (size_t i = 0; i < request->header_count; i++)
        if (names_a_credential(request->headers[i].name))
            keep(arena, last_word(request->headers[i].value), out);
}

static size_t secret_at(const struct tool_secrets *secrets, const char *text, size_t len)
{
    for (size_t i = 0; i < secrets->count; i++) {
        size_t secret_len = strlen(secrets->items[i]);
        if (secret_len <= len && memcmp(text, secrets->items[i], secret_len) == 0)
            return secret_len;
    }
    return 0;
}

void tool_secrets_hide(const struct tool_secrets *secrets, const char *text, size_t len,
                       struct buf *out)
{
    for (size_t at = 0; at < len;) {
        size_t hidden = secret_at(secrets, text + at, len - at);
        if (hidden)
            buf_append_str(out, "********");
        else
            buf_append_char(out, text[at]);
        at += MAX(hidden, (size_t)1);
    }
}
