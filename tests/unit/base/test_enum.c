#include "base/enum.h"

#include "base/attr.h"
#include "test.h"

TEST(enum_find_tells_the_value_of_a_word)
{
    static const char *const names[] = {"", "red", NULL, "blue"};
    CHECK_INT(enum_find(names, ARRAY_LEN(names), ""), 0);
    CHECK_INT(enum_find(names, ARRAY_LEN(names), "red"), 1);
    CHECK_INT(enum_find(names, ARRAY_LEN(names), "blue"), 3);
}

TEST(enum_find_refuses_what_is_no_word)
{
    static const char *const names[] = {"red", NULL, "blue"};
    CHECK_INT(enum_find(names, ARRAY_LEN(names), "Red"), -1);
    CHECK_INT(enum_find(names, ARRAY_LEN(names), ""), -1);
    CHECK_INT(enum_find(names, ARRAY_LEN(names), NULL), -1);
    CHECK_INT(enum_find(names, 0, "red"), -1);
}
