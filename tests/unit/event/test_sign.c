#include "event/sign.h"

#include "test.h"

static const char body[] = "{\"id\":\"evt_1\"}";
/* printf '1700000000.{"id":"evt_1"}' | openssl dgst -sha256 -hmac whsec_test */
static const char signature[] =
    "sha256=c89214b5b5da833daed6f0b8c5bb6bd58cea9022bd80ccc78230f3942d632925";

TEST(the_signature_is_hmac_of_timestamp_and_body)
{
    char out[SIGN_HEADER_SIZE];
    sign_delivery("whsec_test", 1700000000, body, strlen(body), out);
    CHECK_TEXT(out, signature);
}

TEST(what_is_not_signed_so_is_refused)
{
    static const struct {
        const char *secret, *timestamp, *signature, *body;
        int64_t now_s;
        enum err err;
    } rows[] = {
        {"whsec_test", "1700000000", signature, body, 1700000000, OK},
        {"whsec_test", "1700000000", signature, body, 1700000300, OK},
        {"whsec_test", "1700000000", signature, body, 1699999700, OK},
        {"whsec_test", "1700000000", signature, body, 1700000301, ERR_TIMEOUT},
        {"whsec_test", "1700000000", signature, body, 1699999699, ERR_TIMEOUT},
        {"whsec_other", "1700000000", signature, body, 1700000000, ERR_DENIED},
        {"whsec_test", "1700000001", signature, body, 1700000000, ERR_DENIED},
        {"whsec_test", "1700000000", signature, "{\"id\": \"evt_1\"}", 1700000000, ERR_DENIED},
        {"whsec_test", "1700000000", "sha256=00", body, 1700000000, ERR_DENIED},
        {"whsec_test", "1700000000", "", body, 1700000000, ERR_DENIED},
        {"whsec_test", "1700000000", NULL, body, 1700000000, ERR_INVALID},
        {"whsec_test", NULL, signature, body, 1700000000, ERR_INVALID},
        {"whsec_test", "17e8", signature, body, 1700000000, ERR_INVALID},
        {"whsec_test", "-1", signature, body, 1700000000, ERR_INVALID},
        {"whsec_test", "99999999999999999999", signature, body, 1700000000, ERR_INVALID},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_INT(sign_verify(rows[i].secret, rows[i].timestamp, rows[i].signature, rows[i].body,
                              strlen(rows[i].body), rows[i].now_s),
                  rows[i].err);
}
