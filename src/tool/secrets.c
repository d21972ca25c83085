#include "tool/secrets.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/utf8.h"
#include "model/tool.h"
#include "net/http_header.h"
#include "net/url.h"
#include "tool/request.h"

enum {
    SECRET_MIN_BYTES = 4, /* stars for a shorter one would be all over the text */
    OPAQUE_MIN_BYTES = 12,
    SECRET_MAX_BYTES = 16 * 1024,
    GROW_BY = 8,
    PART_MIN_BYTES = 8, /* of a credential that has several: a cookie's values */
};

static bool has_part(const char *text, size_t len, const char *const *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0, part = strlen(parts[i]); at + part <= len; at++)
            if (strncasecmp(text + at, parts[i], part) == 0)
                return true;
    return false;
}

static bool names_a_credential(const char *name, size_t len)
{
    static const char *const parts[] = {"auth",   "key",       "token",      "secret", "password",
                                        "cookie", "signature", "credential", "session"};
    return has_part(name, len, parts, ARRAY_LEN(parts));
}

/* "sk4f09ab77c1d2": letters and figures in one, as keys are and words are not. */
static bool is_opaque(const char *value, size_t len)
{
    bool has_letter = false, has_figure = false;
    for (size_t i = 0; i < len; i++) {
        if (isspace((unsigned char)value[i]) || strchr(",;{}", value[i]))
            return false;
        has_letter = has_letter || isalpha((unsigned char)value[i]);
        has_figure = has_figure || isdigit((unsigned char)value[i]);
    }
    return len >= OPAQUE_MIN_BYTES && has_letter && has_figure;
}

static void add(struct arena *arena, const char *secret, size_t len, struct tool_secrets *out)
{
    if (len < SECRET_MIN_BYTES)
        return;
    if (out->count % GROW_BY == 0) {
        const char **items = arena_new_n(arena, const char *, out->count + GROW_BY);
        if (out->count)
            memcpy(items, out->items, out->count * sizeof(*items));
        out->items = items;
    }
    out->items[out->count++] = arena_strndup(arena, secret, len);
}

/* As it is, and as a URL has it. */
static void keep(struct arena *arena, const char *secret, size_t len, struct tool_secrets *out)
{
    AUTO_BUF encoded = BUF_INIT(3 * SECRET_MAX_BYTES);
    add(arena, secret, len, out);
    url_encode(secret, len, &encoded);
    if (encoded.len != len && !encoded.is_full)
        add(arena, encoded.data, encoded.len, out);
}

/* "Bearer abc" is said as "abc", too; "session=abc; theme=dark" has values of its own. */
static void keep_credential(struct arena *arena, const char *value, struct tool_secrets *out)
{
    const char *space = strrchr(value, ' ');
    const char *last = space ? space + 1 : value;
    keep(arena, last, strlen(last), out);
    for (const char *at = strchr(value, '='); at; at = strchr(at + 1, '=')) {
        const char *part = at + 1 + (at[1] == '"');
        size_t len = strcspn(part, " ;,\"");
        if (len >= PART_MIN_BYTES)
            keep(arena, part, len, out);
    }
}

static bool is_of_the_protocol(const char *name)
{
    return strncasecmp(name, "Accept", strlen("Accept")) == 0 ||
           strncasecmp(name, "Content-", strlen("Content-")) == 0 ||
           strcasecmp(name, "User-Agent") == 0;
}

static void gather_header(struct arena *arena, const struct tool *tool,
                          const struct http_header *header, struct tool_secrets *out)
{
    if (names_a_credential(header->name, strlen(header->name))) {
        keep_credential(arena, header->value, out);
        return;
    }
    size_t len = strlen(header->value);
    for (size_t i = 0; i < tool->headers.count && !is_of_the_protocol(header->name); i++)
        if (strcmp(tool->headers.items[i].value, header->value) == 0 &&
            is_opaque(header->value, len))
            keep(arena, header->value, len, out);
}

/* What its owner wrote into the address; what is filled in is the caller's or the model's. */
static void gather_url(struct arena *arena, const char *url, struct tool_secrets *out)
{
    const char *at = url ? strchr(url, '?') : NULL;
    while (at && *at) {
        const char *name = at + 1, *end = name + strcspn(name, "&#");
        const char *equals = memchr(name, '=', (size_t)(end - name));
        const char *value = equals ? equals + 1 : end;
        size_t len = (size_t)(end - value);
        bool is_filled = memchr(value, '{', len) != NULL;
        AUTO_BUF plain = BUF_INIT(SECRET_MAX_BYTES);
        if (!is_filled && (is_opaque(value, len) ||
                           (equals && names_a_credential(name, (size_t)(equals - name))))) {
            add(arena, value, len, out);
            if (url_decode(value, len, false, &plain) == OK && plain.len != len && plain.len > 0)
                add(arena, plain.data, plain.len, out);
        }
        at = *end == '&' ? end : NULL;
    }
}

void tool_secrets_gather(struct arena *arena, const struct tool *tool,
                         const struct tool_request *request, struct tool_secrets *out)
{
    *out = (struct tool_secrets){0};
    if (tool->auth_token)
        keep(arena, tool->auth_token, strlen(tool->auth_token), out);
    for (size_t i = 0; i < request->header_count; i++)
        gather_header(arena, tool, &request->headers[i], out);
    gather_url(arena, tool->url, out);
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

/* The longest, for one may begin as another does. */
static size_t secret_at(const struct tool_secrets *secrets, const char *text, size_t len)
{
    size_t longest = 0;
    for (size_t i = 0; i < secrets->count; i++) {
        const char *secret = secrets->items[i];
        size_t plain = strlen(secret);
        if (plain > len || memcmp(text, secret, plain) != 0)
            plain = 0;
        longest = MAX(longest, MAX(plain, escaped_at(secret, text, len)));
    }
    return longest;
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
