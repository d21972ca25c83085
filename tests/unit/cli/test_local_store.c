#include "cli/local_store.h"

#include "test.h"

TEST(parse_usd4_is_exact)
{
    static const struct {
        const char *text;
        int64_t usd4;
    } good[] = {
        {"25", 250000}, {"0.5", 5000},   {"0.0001", 1},     {"-3.25", -32500},
        {"0", 0},       {"12.", 120000}, {"1.1000", 11000}, {"999999999999", 9999999999990000}};
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        int64_t usd4 = -1;
        CHECK_INT(parse_usd4(good[i].text, &usd4, NULL), OK);
        CHECK_INT(usd4, good[i].usd4);
    }
    static const char *const bad[] = {"",    "-",  ".5",  "1.00001",      "1e3",
                                      "25 ", "$5", "1,5", "1234567890123"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        int64_t usd4 = -1;
        struct fault fault = {0};
        CHECK_INT(parse_usd4(bad[i], &usd4, &fault), ERR_INVALID);
        CHECK(usd4 == -1 && fault.text[0]);
    }
}
