#include "room/token.h"

#include <string.h>

#include "base/crypto.h"
#include "base/js.h"

enum { JSON_DEPTH = 8 };

static const char *const kind_names[] = {[TOKEN_STANDARD] = "standard", [TOKEN_AGENT] = "agent"};

struct token_claims token_claims_for_caller(const char *room, const char *identity,
                                            const char *name, int64_t expires_s)
{
    return (struct token_claims){
        .identity = identity,
        .name = name,
        .room = room,
        .expires_s = expires_s,
        .can_join = true,
        .can_publish = true,
        .can_subscribe = true,
        .can_publish_data = true,
    };
}

/* Claims and grants that are texts or booleans; tables, so that mint and verify cannot differ. */
static const struct {
    const char *key;
    size_t offset;
} text_claims[] = {
    {"sub", offsetof(struct token_claims, identity)},
    {"name", offsetof(struct token_claims, name)},
    {"metadata", offsetof(struct token_claims, metadata)},
};

/* Rights that are granted when the claim is absent (LiveKit, JWT). */
static const struct {
    const char *key;
    size_t offset;
    bool standard;
} grants[] = {
    {"roomJoin", offsetof(struct token_claims, can_join), false},
    {"roomCreate", offsetof(struct token_claims, can_create_room), false},
    {"canPublish", offsetof(struct token_claims, can_publish), true},
    {"canSubscribe", offsetof(struct token_claims, can_subscribe), true},
    {"canPublishData", offsetof(struct token_claims, can_publish_data), true},
    {"canUpdateOwnMetadata", offsetof(struct token_claims, can_update_own_metadata), false},
    {"hidden", offsetof(struct token_claims, is_hidden), false},
};

static const char **text_at(struct token_claims *claims, size_t offset)
{
    return (const char **)(void *)((char *)claims + offset);
}

static bool *grant_at(struct token_claims *claims, size_t offset)
{
    return (bool *)((char *)claims + offset);
}

static struct js *claims_to_js(const struct token_signer *signer, struct token_claims *claims)
{
    struct js *body = js_object(), *video = js_object();
    js_set(body, "iss", js_string(signer->key_id));
    for (size_t i = 0; i < ARRAY_LEN(text_claims); i++) {
        const char *text = *text_at(claims, text_claims[i].offset);
        if (text && *text)
            js_set(body, text_claims[i].key, js_string(text));
    }
    if (claims->not_before_s)
        js_set(body, "nbf", js_integer(claims->not_before_s));
    js_set(body, "exp", js_integer(claims->expires_s));
    if (claims->attributes)
        js_set(body, "attributes", js_ref(claims->attributes));
    if (claims->kind == TOKEN_AGENT)
        js_set(body, "kind", js_string(kind_names[TOKEN_AGENT]));
    if (claims->room && *claims->room)
        js_set(video, "room", js_string(claims->room));
    for (size_t i = 0; i < ARRAY_LEN(grants); i++) {
        bool value = *grant_at(claims, grants[i].offset);
        if (value != grants[i].standard)
            js_set(video, grants[i].key, js_boolean(value));
    }
    if (claims->kind == TOKEN_AGENT)
        js_set(video, "agent", js_boolean(true));
    js_set(body, "video", video);
    return body;
}

static void sign(const struct token_signer *signer, const char *text, size_t len,
                 uint8_t out[SHA256_BYTES])
{
    crypto_hmac_sha256(signer->secret, strlen(signer->secret), text, len, out);
}

enum err token_mint(const struct token_signer *signer, const struct token_claims *claims,
                    struct buf *out)
{
    static const char header[] = "{\"alg\":\"HS256\",\"typ\":\"JWT\"}";
    struct token_claims copy = *claims;
    AUTO(js) body = claims_to_js(signer, &copy);
    AUTO_BUF text = BUF_INIT(TOKEN_MAX_BYTES);
    AUTO_BUF token = BUF_INIT(TOKEN_MAX_BYTES);
    uint8_t mac[SHA256_BYTES];
    js_write(body, &text);
    if (text.is_full)
        return ERR_LIMIT;
    base64url_encode(header, sizeof(header) - 1, &token);
    buf_append_char(&token, '.');
    base64url_encode(text.data, text.len, &token);
    if (token.is_full)
        return ERR_LIMIT;
    sign(signer, token.data, token.len, mac);
    buf_append_char(&token, '.');
    base64url_encode(mac, sizeof(mac), &token);
    return token.is_full ? ERR_LIMIT : buf_append(out, token.data, token.len);
}

void token_clear(struct token *token)
{
    js_free(token->body);
    token->body = NULL;
}

static enum err parse_part(const char *text, size_t len, struct js **out)
{
    AUTO_BUF json = BUF_INIT(TOKEN_MAX_BYTES);
    enum err err = base64_decode(text, len, &json);
    if (err || json.len == 0)
        return ERR_INVALID;
    return js_parse(json.data, json.len, JSON_DEPTH, out, NULL);
}

static enum err check_signature(const struct token_signer *signer, const char *text,
                                size_t signed_len, const char *mac_text, size_t mac_len)
{
    AUTO_BUF mac = BUF_INIT(SHA256_BYTES);
    uint8_t want[SHA256_BYTES];
    if (base64_decode(mac_text, mac_len, &mac) != OK || mac.len != SHA256_BYTES)
        return ERR_INVALID;
    sign(signer, text, signed_len, want);
    return crypto_equal(mac.data, want, sizeof(want)) ? OK : ERR_INVALID;
}

static enum token_kind kind_of(const struct js *body)
{
    const char *name = js_text(js_get(body, "kind"));
    if (!name || strcmp(name, kind_names[TOKEN_STANDARD]) == 0)
        return TOKEN_STANDARD;
    return strcmp(name, kind_names[TOKEN_AGENT]) == 0 ? TOKEN_AGENT : TOKEN_OTHER;
}

static void read_claims(const struct js *body, struct token_claims *out)
{
    const struct js *video = js_get(body, "video");
    *out = (struct token_claims){0};
    for (size_t i = 0; i < ARRAY_LEN(text_claims); i++)
        *text_at(out, text_claims[i].offset) = js_text_or(js_get(body, text_claims[i].key), "");
    for (size_t i = 0; i < ARRAY_LEN(grants); i++)
        *grant_at(out, grants[i].offset) =
            js_bool(js_get(video, grants[i].key), grants[i].standard);
    if (js_type(js_get(video, "canPublishData")) != JS_BOOL)
        out->can_publish_data = out->can_publish;
    out->room = js_text_or(js_get(video, "room"), "");
    out->kind = kind_of(body);
    out->not_before_s = js_int(js_get(body, "nbf"), 0);
    out->expires_s = js_int(js_get(body, "exp"), 0);
    if (js_type(js_get(body, "attributes")) == JS_OBJECT)
        out->attributes = js_get(body, "attributes");
}

static enum err check_claims(const struct token_claims *claims, int64_t now_s, struct fault *fault)
{
    if (claims->expires_s <= now_s - TOKEN_LEEWAY_S)
        return fault_set(fault, ERR_TIMEOUT, "token has expired");
    if (claims->not_before_s > now_s + TOKEN_LEEWAY_S)
        return fault_set(fault, ERR_TIMEOUT, "token is not valid yet");
    if (!claims->can_join || !claims->room[0])
        return fault_set(fault, ERR_DENIED, "permissions denied: token does not allow to join");
    size_t len = strlen(claims->identity);
    if (len == 0 || len > TOKEN_NAME_MAX_BYTES || strlen(claims->name) > TOKEN_NAME_MAX_BYTES)
        return fault_set(fault, ERR_INVALID, "invalid token: bad identity or name");
    return OK;
}

static enum err read_signed(const struct token_signer *signer, const char *text, size_t len,
                            struct js **out_body)
{
    const char *first = memchr(text, '.', len);
    if (!first)
        return ERR_INVALID;
    const char *payload = first + 1;
    const char *second = memchr(payload, '.', (size_t)(text + len - payload));
    if (!second)
        return ERR_INVALID;
    struct js *header = NULL;
    enum err err = parse_part(text, (size_t)(first - text), &header);
    AUTO(js) owned = header;
    if (err || strcmp(js_text_or(js_get(owned, "alg"), ""), "HS256") != 0)
        return ERR_INVALID;
    err = check_signature(signer, text, (size_t)(second - text), second + 1,
                          (size_t)(text + len - second - 1));
    return err ? err : parse_part(payload, (size_t)(second - payload), out_body);
}

enum err token_verify(const struct token_signer *signer, const char *text, size_t len,
                      int64_t now_s, struct token *out, struct fault *fault)
{
    struct js *parsed = NULL;
    if (len > TOKEN_MAX_BYTES)
        return fault_set(fault, ERR_INVALID, "invalid token: too long");
    if (read_signed(signer, text, len, &parsed) != OK)
        return fault_set(fault, ERR_INVALID, "invalid token");
    AUTO(js) body = parsed;
    if (strcmp(js_text_or(js_get(body, "iss"), ""), signer->key_id) != 0)
        return fault_set(fault, ERR_INVALID, "invalid API key");
    struct token_claims claims;
    read_claims(body, &claims);
    enum err err = check_claims(&claims, now_s, fault);
    if (err)
        return err;
    out->claims = claims;
    out->body = TAKE(body);
    return OK;
}
