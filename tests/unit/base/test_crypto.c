#include "base/crypto.h"

#include "test.h"

TEST(sha256_of_abc) /* FIPS 180-4 */
{
    char hex[SHA256_HEX];
    crypto_sha256_hex("abc", 3, hex);
    CHECK_TEXT(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    crypto_sha256_hex(NULL, 0, hex);
    CHECK_TEXT(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(hmac_of_rfc_vectors) /* RFC 4231 case 2, RFC 2202 case 2 */
{
    uint8_t mac[SHA256_BYTES];
    char hex[SHA256_HEX];
    const char *data = "what do ya want for nothing?";
    crypto_hmac_sha256("Jefe", 4, data, strlen(data), mac);
    crypto_hex(mac, sizeof(mac), hex);
    CHECK_TEXT(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    crypto_sha1("abc", 3, mac); /* FIPS 180-1 */
    crypto_hex(mac, SHA1_BYTES, hex);
    CHECK_TEXT(hex, "a9993e364706816aba3e25717850c26c9cd0d89d");
    crypto_hmac_sha1("Jefe", 4, data, strlen(data), mac);
    crypto_hex(mac, SHA1_BYTES, hex);
    CHECK_TEXT(hex, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
    crypto_hmac_sha256(NULL, 0, "", 0, mac);
    crypto_hex(mac, sizeof(mac), hex);
    CHECK_TEXT(hex, "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(crc32_check_value)
{
    CHECK_INT(crypto_crc32("123456789", 9), 0xcbf43926);
    CHECK_INT(crypto_crc32("", 0), 0);
}

TEST(base64_of_rfc_4648)
{
    static const struct {
        const char *plain, *standard, *url;
    } cases[] = {{"", "", ""},
                 {"f", "Zg==", "Zg"},
                 {"fo", "Zm8=", "Zm8"},
                 {"foo", "Zm9v", "Zm9v"},
                 {"foob", "Zm9vYg==", "Zm9vYg"},
                 {"\xfb\xff\xfe", "+//+", "-__-"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF standard = BUF_INIT(100), url = BUF_INIT(100), back = BUF_INIT(100);
        size_t len = strlen(cases[i].plain);
        CHECK_INT(base64_encode(cases[i].plain, len, &standard), OK);
        CHECK_INT(base64url_encode(cases[i].plain, len, &url), OK);
        CHECK_TEXT(standard.data, cases[i].standard);
        CHECK_TEXT(url.data, cases[i].url);
        CHECK_INT(base64_decode(cases[i].standard, strlen(cases[i].standard), &back), OK);
        CHECK_TEXT(back.data, cases[i].plain);
        buf_reset(&back);
        CHECK_INT(base64_decode(cases[i].url, strlen(cases[i].url), &back), OK);
        CHECK_TEXT(back.data, cases[i].plain);
    }
    static const char *const bad[] = {
        "Z", "Zg=", "Zg===", "Z=g=", "Zm8 ", "Zm\n8", "====", "Zm9v="};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO_BUF out = BUF_INIT(100);
        if (base64_decode(bad[i], strlen(bad[i]), &out) != ERR_INVALID)
            test_fail(__FILE__, __LINE__, "accepted: %s", bad[i]);
        CHECK_INT(out.len, 0);
    }
}

TEST(seal_opens_only_with_key_and_context)
{
    uint8_t key[MASTER_KEY_BYTES], other[MASTER_KEY_BYTES];
    crypto_random(key, sizeof(key));
    crypto_random(other, sizeof(other));
    AUTO_BUF sealed = BUF_INIT(1000), open = BUF_INIT(1000);
    REQUIRE(crypto_seal(key, "tool.authToken", "secret", 6, &sealed) == OK);
    CHECK(strncmp(sealed.data, "v1:", 3) == 0);
    CHECK(strstr(sealed.data, "secret") == NULL);
    CHECK_INT(crypto_open(key, "tool.authToken", sealed.data, sealed.len, &open), OK);
    CHECK_TEXT(open.data, "secret");
    buf_reset(&open);
    CHECK_INT(crypto_open(other, "tool.authToken", sealed.data, sealed.len, &open), ERR_DENIED);
    CHECK_INT(crypto_open(key, "agent.key", sealed.data, sealed.len, &open), ERR_DENIED);
    sealed.data[10] = sealed.data[10] == 'A' ? 'B' : 'A';
    CHECK_INT(crypto_open(key, "tool.authToken", sealed.data, sealed.len, &open), ERR_DENIED);
    CHECK_INT(crypto_open(key, "tool.authToken", "v1:AAAA", 7, &open), ERR_INVALID);
    CHECK_INT(crypto_open(key, "tool.authToken", "plain", 5, &open), ERR_INVALID);
    CHECK_INT(open.len, 0);
    CHECK_TEXT(open.data, "");
}

TEST(seal_takes_empty_text)
{
    uint8_t key[MASTER_KEY_BYTES] = {1};
    AUTO_BUF sealed = BUF_INIT(1000), open = BUF_INIT(1000);
    REQUIRE(crypto_seal(key, "x", "", 0, &sealed) == OK);
    CHECK_INT(crypto_open(key, "x", sealed.data, sealed.len, &open), OK);
    CHECK_INT(open.len, 0);
}

TEST(equal_compares)
{
    CHECK(crypto_equal("abc", "abc", 3));
    CHECK(!crypto_equal("abc", "abd", 3));
}
