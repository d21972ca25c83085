/* What others wrote moves no cursor, colours nothing and turns no line around. */
#include "cli/print.h"

#include "base/mem.h"
#include "test.h"

TEST(texts_of_others_are_tame)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"Hello, h\xc3\xa9!", "Hello, h\xc3\xa9!"},
        {"a\x1b[2J\x1b]0;title\x07z", "a\\u001b[2J\\u001b]0;title\\u0007z"},
        {"one\r\ntwo\ttabs\x7f", "one\\u000d\\u000atwo\\u0009tabs\\u007f"},
        {"\xc2\x9b"
         "31m, a C1 sequence",
         "\\u009b31m, a C1 sequence"},
        {"\xe2\x80\xae"
         "desrever\xe2\x81\xa9",
         "\\u202edesrever\\u2069"},
        {"stray \xff\x9b bytes", "stray \\ufffd\\ufffd bytes"},
        {"\xe0\xa4\x95\xe0\xa5\x8d\xe2\x80\x8d", /* Hindi needs its joiner */
         "\xe0\xa4\x95\xe0\xa5\x8d\xe2\x80\x8d"},
        {"", ""},
        {NULL, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_MEM char *tame = print_tamed(cases[i].text);
        CHECK_TEXT(tame, cases[i].want);
    }
}
