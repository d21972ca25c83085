/* rtc/stun: the vectors of RFC 5769, writing, and what must be refused. */
#include "rtc/stun.h"

#include "base/attr.h"
#include "test.h"

static const char vector_password[] = "VOkJxbRl1RmTxUk/WvJxBt";

/* RFC 5769 section 2.1 */
static const uint8_t request[] =
    "\x00\x01\x00\x58\x21\x12\xa4\x42\xb7\xe7\xa7\x01\xbc\x34\xd6\x86\xfa\x87\xdf\xae"
    "\x80\x22\x00\x10STUN test client"
    "\x00\x24\x00\x04\x6e\x00\x01\xff"
    "\x80\x29\x00\x08\x93\x2f\xf9\xb1\x51\x26\x3b\x36"
    "\x00\x06\x00\x09\x65\x76\x74\x6a\x3a\x68\x36\x76\x59\x20\x20\x20"
    "\x00\x08\x00\x14\x9a\xea\xa7\x0c\xbf\xd8\xcb\x56\x78\x1e\xf2\xb5\xb2\xd3\xf2\x49\xc1\xb5\x71"
    "\xa2"
    "\x80\x28\x00\x04\xe5\x7a\x3b\xcf";

/* Section 2.2 */
static const uint8_t response_ipv4[] =
    "\x01\x01\x00\x3c\x21\x12\xa4\x42\xb7\xe7\xa7\x01\xbc\x34\xd6\x86\xfa\x87\xdf\xae"
    "\x80\x22\x00\x0btest vector "
    "\x00\x20\x00\x08\x00\x01\xa1\x47\xe1\x12\xa6\x43"
    "\x00\x08\x00\x14\x2b\x91\xf5\x99\xfd\x9e\x90\xc3\x8c\x74\x89\xf9\x2a\xf9\xba\x53\xf0\x6b\xe7"
    "\xd7"
    "\x80\x28\x00\x04\xc0\x7d\x4c\x96";

/* Section 2.3 */
static const uint8_t response_ipv6[] =
    "\x01\x01\x00\x48\x21\x12\xa4\x42\xb7\xe7\xa7\x01\xbc\x34\xd6\x86\xfa\x87\xdf\xae"
    "\x80\x22\x00\x0btest vector "
    "\x00\x20\x00\x14\x00\x02\xa1\x47\x01\x13\xa9\xfa\xa5\xd3\xf1\x79\xbc\x25\xf4\xb5\xbe\xd2\xb9"
    "\xd9"
    "\x00\x08\x00\x14\xa3\x82\x95\x4e\x4b\xe6\x7b\xf1\x17\x84\xc9\x7c\x82\x92\xc2\x75\xbf\xe3\xed"
    "\x41"
    "\x80\x28\x00\x04\xc8\xfb\x0b\x4c";

TEST(stun_reads_the_sample_request)
{
    struct stun_message message;
    REQUIRE(stun_parse(request, sizeof(request) - 1, &message) == OK);
    CHECK_INT(message.type, STUN_BINDING_REQUEST);
    CHECK_INT(message.priority, 0x6e0001ff);
    CHECK(message.is_controlled && !message.is_controlling && message.has_fingerprint);
    CHECK(message.tie_breaker == 0x932ff9b151263b36u);
    CHECK_INT(message.username_len, 9);
    CHECK(message.username && memcmp(message.username, "evtj:h6vY", 9) == 0);
    CHECK(stun_is_authentic(&message, vector_password));
    CHECK(!stun_is_authentic(&message, "VOkJxbRl1RmTxUk/WvJxBs"));
}

TEST(stun_reads_the_sample_responses)
{
    static const struct {
        const uint8_t *data;
        size_t len;
        const char *mapped;
    } cases[] = {
        {response_ipv4, sizeof(response_ipv4) - 1, "192.0.2.1:32853"},
        {response_ipv6, sizeof(response_ipv6) - 1, "[2001:db8:1234:5678:11:2233:4455:6677]:32853"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct stun_message message;
        REQUIRE(stun_parse(cases[i].data, cases[i].len, &message) == OK);
        CHECK_INT(message.type, STUN_BINDING_SUCCESS);
        CHECK(stun_is_authentic(&message, vector_password));
        struct net_addr want;
        REQUIRE(net_addr_parse(cases[i].mapped, &want) == OK);
        CHECK(message.has_mapped && net_addr_equal(&message.mapped, &want));
    }
}

static size_t write_check(uint8_t *out, size_t cap)
{
    struct stun_writer writer;
    stun_begin(&writer, out, cap, STUN_BINDING_REQUEST, (const uint8_t *)"123456789012");
    stun_put_username(&writer, "remote", "local");
    stun_put_priority(&writer, 77);
    stun_put_role(&writer, true, 0x1122334455667788u);
    stun_put_use_candidate(&writer);
    return stun_finish(&writer, "password");
}

TEST(stun_writes_what_it_reads)
{
    uint8_t data[256];
    size_t len = write_check(data, sizeof(data));
    struct stun_message message;
    REQUIRE(stun_parse(data, len, &message) == OK);
    CHECK(message.has_use_candidate && message.is_controlling && message.has_priority);
    CHECK_INT(message.priority, 77);
    CHECK(message.tie_breaker == 0x1122334455667788u);
    CHECK(message.username_len == 12 && memcmp(message.username, "remote:local", 12) == 0);
    CHECK(stun_is_authentic(&message, "password"));

    struct stun_writer writer;
    struct net_addr ipv6;
    REQUIRE(net_addr_parse("[2001:db8::1]:9", &ipv6) == OK);
    stun_begin(&writer, data, sizeof(data), STUN_BINDING_ERROR, (const uint8_t *)"123456789012");
    stun_put_mapped(&writer, &ipv6);
    stun_put_error(&writer, STUN_ERROR_ROLE_CONFLICT);
    stun_put_unknown(&writer, (const uint16_t[]){0x7001, 0x7002, 0x7003}, 3);
    len = stun_finish(&writer, NULL);
    REQUIRE(stun_parse(data, len, &message) == OK);
    CHECK_INT(message.error_code, 487);
    CHECK(net_addr_equal(&message.mapped, &ipv6));
    CHECK(!stun_is_authentic(&message, "password"));
}

TEST(stun_writer_refuses_what_does_not_fit)
{
    uint8_t data[256];
    size_t whole = write_check(data, sizeof(data));
    for (size_t cap = 0; cap < whole; cap++)
        CHECK_INT(write_check(data, cap), 0);
}

TEST(stun_refuses_cut_and_changed_messages)
{
    uint8_t data[256];
    size_t len = write_check(data, sizeof(data));
    struct stun_message message;
    for (size_t cut = 0; cut < len; cut++)
        CHECK(stun_parse(data, cut, &message) == ERR_INVALID);
    for (size_t at = 0; at < len; at++) {
        uint8_t changed[256];
        memcpy(changed, data, len);
        changed[at] ^= 0x55;
        if (stun_parse(changed, len, &message) == OK) /* not seen as a fingerprint any more */
            CHECK(!message.has_fingerprint && at >= len - 8 && at < len - 6);
    }
}

TEST(stun_refuses_malformed_attributes)
{
    static const struct {
        const char *attribute;
        size_t len;
    } cases[] = {
        {"\x00\x24\x00\x03\x01\x02\x03\x00", 8},                  /* PRIORITY of 3 bytes */
        {"\x00\x20\x00\x08\x00\x03\x00\x01\x01\x02\x03\x04", 12}, /* family 3 */
        {"\x00\x20\x00\x08\x00\x02\x00\x01\x01\x02\x03\x04", 12}, /* IPv6 of 4 bytes */
        {"\x00\x09\x00\x04\x00\x00\x02\x00", 8},                  /* error class 2 */
        {"\x00\x09\x00\x00", 4},                                  /* error without a code */
        {"\x00\x06\x00\x08\x61\x3a\x62\x00", 8},                  /* longer than the message */
        {"\x80\x2a\x00\x04\x00\x00\x00\x01", 8},                  /* ICE-CONTROLLING of 4 bytes */
        {"\x00\x08\x00\x04\x00\x00\x00\x01", 8},                  /* MESSAGE-INTEGRITY of 4 bytes */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint8_t data[64] = "\x00\x01\x00\x00\x21\x12\xa4\x42"
                           "123456789012";
        data[3] = (uint8_t)cases[i].len;
        memcpy(data + STUN_HEADER_BYTES, cases[i].attribute, cases[i].len);
        struct stun_message message;
        CHECK_INT(stun_parse(data, STUN_HEADER_BYTES + cases[i].len, &message), ERR_INVALID);
    }
}

TEST(stun_reports_unknown_attributes)
{
    static const uint8_t data[] = "\x00\x01\x00\x0c\x21\x12\xa4\x42"
                                  "123456789012"
                                  "\x7f\x01\x00\x01\x61\x00\x00\x00" /* must be understood */
                                  "\xff\x01\x00\x00";                /* need not be */
    struct stun_message message;
    REQUIRE(stun_parse(data, sizeof(data) - 1, &message) == OK);
    CHECK_INT(message.unknown_count, 1);
    CHECK_INT(message.unknown[0], 0x7f01);
}
