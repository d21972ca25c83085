#include "base/utf8.h"

#include "base/attr.h"
#include "test.h"

TEST(utf8_decodes_and_encodes)
{
    static const struct {
        const char *text;
        uint32_t code;
    } cases[] = {{"A", 'A'},
                 {"\xc2\xa2", 0xa2},
                 {"\xe0\xa4\x95", 0x915},
                 {"\xf0\x9f\x98\x80", 0x1f600},
                 {"\xf4\x8f\xbf\xbf", 0x10ffff}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint32_t code = 0;
        char back[5] = "";
        size_t len = strlen(cases[i].text);
        CHECK_INT(utf8_decode(cases[i].text, len, &code), len);
        CHECK_INT(code, cases[i].code);
        CHECK_INT(utf8_encode(code, back), len);
        CHECK_TEXT(back, cases[i].text);
    }
}

TEST(utf8_refuses_what_unicode_refuses)
{
    static const char *const bad[] = {"\x80",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xe0\x80\x80",
                                      "\xed\xa0\x80",
                                      "\xf0\x80\x80\x80",
                                      "\xff",
                                      "\xf4\x90\x80\x80",
                                      "\xe0\xa4",
                                      "\xc2",
                                      "\xf8\x88\x80\x80\x80"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK(!utf8_is_valid(bad[i], strlen(bad[i])));
    CHECK(utf8_is_valid("", 0));
    CHECK(utf8_is_valid("a\0b", 3));
}

TEST(utf8_counts_code_points)
{
    CHECK_INT(utf8_count(""), 0);
    CHECK_INT(utf8_count("abc"), 3);
    CHECK_INT(utf8_count("\xf0\x9f\x98\x80\xe0\xa4\x95"), 2);
    CHECK_INT(utf8_count("a\xff"
                         "b"),
              3);
}

TEST(utf8_clean_replaces_strays)
{
    AUTO_BUF out = BUF_INIT(100);
    CHECK_INT(utf8_append_clean(&out, "a\xff\0b\xe0\xa4", 6), OK);
    CHECK_TEXT(out.data, "a\xef\xbf\xbd\xef\xbf\xbd"
                         "b\xef\xbf\xbd\xef\xbf\xbd");
}
