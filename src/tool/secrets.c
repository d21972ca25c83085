#include "tool/secrets.h"

#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/utf8.h"
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

/* \u and four digits, as JSON writes a unit of UTF-16. */
static size_t read_unit(const char *text, size_t len, uint32_t *out_unit)
{
    enum { UNIT_BYTES = 6 };
    uint32_t unit = 0;
    if (len < UNIT_BYTES || text[0] != '\\' || text[1] != 'u')
        return 0;
    for (size_t i = 2; i < UNIT_BYTES; i++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char *digit = memchr(digits, text[i], sizeof(digits) - 1);
        if (!digit)
            return 0;
        unit = unit << 4 | (uint32_t)(digit - digits - (digit - digits < 16 ? 0 : 6));
    }
    *out_unit = unit;
    return UNIT_BYTES;
}

/* A character within a string of JSON, escaped or not: some write each '/' as "\/". */
static size_t read_escaped(const char *text, size_t len, uint32_t *out_code)
{
    uint32_t low;
    size_t n = read_unit(text, len, out_code);
    if (n && *out_code >> 10 == 0xd800 >> 10 && read_unit(text + n, len - n, &low)) {
        *out_code = 0x10000 + ((*out_code & 0x3ff) << 10) + (low & 0x3ff);
        return 2 * n;
    }
    if (n)
        return n;
    size_t mark = len > 1 && text[0] == '\\' && strchr("\"\\/", text[1]) ? 1 : 0;
    n = utf8_decode(text + mark, len - mark, out_code);
    return n ? mark + n : 0;
}

static size_t escaped_at(const char *secret, const char *text, size_t len)
{
    size_t at = 0;
    for (size_t left = strlen(secret), n; left > 0; secret += n, left -= n) {
        uint32_t wanted, code;
        n = utf8_decode(secret, left, &wanted);
        size_t read = read_escaped(text + at, len - at, &code);
        if (!n || !read || code != wanted)
            return 0;
        at += read;
    }
    return at;
}

static size_t secret_at(const struct tool_secrets *secrets, const char *text, size_t len)
{
    for (size_t i = 0; i < secrets->count; i++) {
        const char *secret = secrets->items[i];
        size_t secret_len = strlen(secret);
        if (secret_len <= len && memcmp(text, secret, secret_len) == 0)
            return secret_len;
        size_t escaped_len = escaped_at(secret, text, len);
        if (escaped_len)
            return escaped_len;
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
