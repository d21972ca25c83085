#include "room/token.h"

#include <string.h>

#include "base/crypto.h"
#include "base/js.h"
#include "test.h"

enum { NOW_S = 1800000000 };

static const struct token_signer signer = {"earshot", "0123456789abcdef0123456789abcdef"};

static enum err verify(const struct buf *text, struct token *out, struct fault *fault)
{
    return token_verify(&signer, text->data, text->len, NOW_S, out, fault);
}

/* header.payload signed with the signer's secret, whatever they say. */
static void sign_raw(const char *header, const char *payload, struct buf *out)
{
    uint8_t mac[SHA256_BYTES];
    base64url_encode(header, strlen(header), out);
    buf_append_char(out, '.');
    base64url_encode(payload, strlen(payload), out);
    crypto_hmac_sha256(signer.secret, strlen(signer.secret), out->data, out->len, mac);
    buf_append_char(out, '.');
    base64url_encode(mac, sizeof(mac), out);
}

TEST(token_survives_the_round_trip)
{
    AUTO_BUF text = BUF_INIT(TOKEN_MAX_BYTES);
    struct fault fault = {0};
    struct token token = {0};
    struct token_claims claims =
        token_claims_for_caller("room_1", "caller-1", "Zo\xC3\xAB", NOW_S + 60);
    AUTO(js) attributes = js_object();
    js_set(attributes, "a", js_string("b"));
    claims.attributes = attributes;
    claims.metadata = "{}";
    CHECK_INT(token_mint(&signer, &claims, &text), OK);
    CHECK_INT(verify(&text, &token, &fault), OK);
    CHECK_TEXT(token.claims.identity, "caller-1");
    CHECK_TEXT(token.claims.name, "Zo\xC3\xAB");
    CHECK_TEXT(token.claims.room, "room_1");
    CHECK_TEXT(token.claims.metadata, "{}");
    CHECK_TEXT(js_text(js_get(token.claims.attributes, "a")), "b");
    CHECK(token.claims.can_join && token.claims.can_publish && token.claims.can_subscribe);
    CHECK(token.claims.can_publish_data && !token.claims.can_update_own_metadata);
    CHECK_INT(token.claims.kind, TOKEN_STANDARD);
    token_clear(&token);
}

TEST(token_agent_has_its_kind)
{
    AUTO_BUF text = BUF_INIT(TOKEN_MAX_BYTES);
    struct token token = {0};
    struct token_claims claims = token_claims_for_caller("r", "agent-1", NULL, NOW_S + 60);
    claims.kind = TOKEN_AGENT;
    claims.can_update_own_metadata = true;
    CHECK_INT(token_mint(&signer, &claims, &text), OK);
    CHECK_INT(verify(&text, &token, NULL), OK);
    CHECK_INT(token.claims.kind, TOKEN_AGENT);
    CHECK(token.claims.can_update_own_metadata);
    CHECK(js_bool(js_get(js_get(token.body, "video"), "agent"), false));
    token_clear(&token);
}

/* As livekit-server-sdk 2.19.2 writes them: no typ, name first, nbf 0. */
TEST(token_of_the_server_sdk_is_understood)
{
    static const struct token_signer dev = {"devkey", "secret"};
    AUTO_BUF text = BUF_INIT(TOKEN_MAX_BYTES);
    struct token token = {0};
    struct fault fault = {0};
    const char *payload = "{\"name\":\"N\",\"video\":{\"roomJoin\":true,\"room\":\"r\"},"
                          "\"iss\":\"devkey\",\"exp\":1800000600,\"nbf\":0,\"sub\":\"me\"}";
    uint8_t mac[SHA256_BYTES];
    base64url_encode("{\"alg\":\"HS256\"}", 15, &text);
    buf_append_char(&text, '.');
    base64url_encode(payload, strlen(payload), &text);
    crypto_hmac_sha256("secret", 6, text.data, text.len, mac);
    buf_append_char(&text, '.');
    base64url_encode(mac, sizeof(mac), &text);
    CHECK_INT(token_verify(&dev, text.data, text.len, NOW_S, &token, &fault), OK);
    CHECK_TEXT(token.claims.identity, "me");
    token_clear(&token);
}

TEST(token_times_have_leeway)
{
    static const struct {
        int64_t not_before_s, expires_s;
        enum err want;
    } rows[] = {
        {0, NOW_S + 1, OK},
        {0, NOW_S - TOKEN_LEEWAY_S + 1, OK},
        {0, NOW_S - TOKEN_LEEWAY_S, ERR_TIMEOUT},
        {0, 0, ERR_TIMEOUT},
        {NOW_S + TOKEN_LEEWAY_S, NOW_S + 600, OK},
        {NOW_S + TOKEN_LEEWAY_S + 1, NOW_S + 600, ERR_TIMEOUT},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF text = BUF_INIT(TOKEN_MAX_BYTES);
        struct token token = {0};
        struct token_claims claims = token_claims_for_caller("r", "me", "", rows[i].expires_s);
        claims.not_before_s = rows[i].not_before_s;
        CHECK_INT(token_mint(&signer, &claims, &text), OK);
        CHECK_INT(verify(&text, &token, NULL), rows[i].want);
        token_clear(&token);
    }
}

TEST(token_refuses_forgeries)
{
    static const char good[] = "{\"iss\":\"earshot\",\"sub\":\"me\",\"exp\":1800000600,"
                               "\"video\":{\"roomJoin\":true,\"room\":\"r\"}}";
    static const struct {
        const char *header, *payload;
        enum err want;
    } rows[] = {
        {"{\"alg\":\"HS256\"}", good, OK},
        {"{\"alg\":\"none\"}", good, ERR_INVALID},
        {"{\"alg\":\"HS512\"}", good, ERR_INVALID},
        {"{}", good, ERR_INVALID},
        {"x", good, ERR_INVALID},
        {"{\"alg\":\"HS256\"}", "", ERR_INVALID},
        {"{\"alg\":\"HS256\"}", "[]", ERR_INVALID},
        {"{\"alg\":\"HS256\"}", "{\"iss\":\"other\",\"sub\":\"me\",\"exp\":1800000600}",
         ERR_INVALID},
        {"{\"alg\":\"HS256\"}", "{\"iss\":\"earshot\",\"sub\":\"me\",\"exp\":1800000600}",
         ERR_DENIED},
        {"{\"alg\":\"HS256\"}",
         "{\"iss\":\"earshot\",\"sub\":\"me\",\"exp\":1800000600,\"video\":{\"room\":\"r\"}}",
         ERR_DENIED},
        {"{\"alg\":\"HS256\"}",
         "{\"iss\":\"earshot\",\"sub\":\"me\",\"exp\":1800000600,\"video\":{\"roomJoin\":true}}",
         ERR_DENIED},
        {"{\"alg\":\"HS256\"}",
         "{\"iss\":\"earshot\",\"exp\":1800000600,\"video\":{\"roomJoin\":true,\"room\":\"r\"}}",
         ERR_INVALID},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF text = BUF_INIT(TOKEN_MAX_BYTES);
        struct token token = {0};
        struct fault fault = {0};
        sign_raw(rows[i].header, rows[i].payload, &text);
        CHECK_INT(verify(&text, &token, &fault), rows[i].want);
        CHECK((fault.text[0] == 0) == (rows[i].want == OK));
        token_clear(&token);
    }
}

TEST(token_with_one_bit_changed_is_refused)
{
    AUTO_BUF text = BUF_INIT(TOKEN_MAX_BYTES);
    struct token_claims claims = token_claims_for_caller("r", "me", "", NOW_S + 60);
    CHECK_INT(token_mint(&signer, &claims, &text), OK);
    for (size_t i = 0; i < text.len - 1; i++) { /* the last character has unused bits */
        struct token token = {0};
        text.data[i] ^= 1;
        CHECK(verify(&text, &token, NULL) != OK);
        text.data[i] ^= 1;
        token_clear(&token);
    }
    struct token token = {0};
    CHECK_INT(token_verify(&signer, "..", 2, NOW_S, &token, NULL), ERR_INVALID);
    CHECK_INT(token_verify(&signer, "", 0, NOW_S, &token, NULL), ERR_INVALID);
    CHECK_INT(token_verify(&signer, "a.b", 3, NOW_S, &token, NULL), ERR_INVALID);
}
