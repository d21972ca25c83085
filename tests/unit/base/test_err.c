#include "base/err.h"

#include "test.h"

TEST(err_names_are_words)
{
    for (int err = OK; err < ERR_COUNT; err++)
        CHECK(err_name(err) && err_name(err)[0]);
    CHECK_TEXT(err_name(ERR_NOT_FOUND), "not found");
    CHECK_TEXT(err_name(1000), "unknown error");
}

TEST(fault_set_fills_and_returns)
{
    struct fault fault = {0};
    CHECK_INT(fault_set(&fault, ERR_IO, "cannot open %s", "x"), ERR_IO);
    CHECK_INT(fault.err, ERR_IO);
    CHECK_TEXT(fault.text, "cannot open x");
    CHECK_INT(fault_set(NULL, ERR_BUSY, "nobody listens"), ERR_BUSY);
}
