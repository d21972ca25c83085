/* Which origins an agent's list allows. */
#include "api/cors.h"

#include "model/field.h"
#include "test.h"

struct origin_case {
    const char *entry, *origin;
    bool want;
};

TEST(cors_allows_what_the_list_names)
{
    static const struct origin_case cases[] = {
        {"a.example", "https://a.example", true},
        {"a.example", "http://a.example:8080", true},
        {"a.example", "https://A.Example", true},
        {"a.example", "https://b.a.example", false},
        {"a.example", "https://xa.example", false},
        {"a.example:8443", "https://a.example:8443", true},
        {"a.example:8443", "https://a.example", false},
        {"a.example:8443", "https://a.example:843", false},
        {"*.a.example", "https://b.a.example", true},
        {"*.a.example", "https://c.b.a.example:1", true},
        {"*.a.example", "https://a.example", false},
        {"[::1]", "http://[::1]:3000", true},
        {"[::1]:3000", "http://[::1]:3001", false},
        {"a.example", "null", false},
        {"a.example", "https://", false},
        {"a.example", "", false},
        {"a.example", NULL, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *entry = cases[i].entry;
        const struct text_list list = {&entry, 1};
        if (!CHECK_INT(cors_allows(&list, cases[i].origin), cases[i].want))
            CHECK_TEXT(cases[i].origin, cases[i].entry);
    }
}

TEST(cors_allows_any_origin_of_an_empty_list)
{
    const struct text_list none = {0};
    CHECK(cors_allows(&none, "https://a.example"));
    CHECK(cors_allows(&none, NULL));
}
