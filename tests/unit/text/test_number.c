#include "text/number.h"

#include "test.h"

TEST(number_expand_reads_what_documents_write)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"no digits", "no digits"},
        {"Room 12.", "Room twelve."},
        {"open 9:30 am to 17:05", "open nine thirty a m to seventeen oh five"},
        {"from 9am to 5 p.m.", "from nine a m to five p m"},
        {"It costs $25.50 or $1", "It costs twenty five dollars fifty cents or one dollar"},
        {"₹500 and Rs. 1,250", "five hundred rupees and one thousand two hundred fifty rupees"},
        {"10% off", "ten percent off"},
        {"the 22nd and 3rd of 20th", "the twenty second and third of twentieth"},
        {"since 1998, in 2025, in 2005 and 1900",
         "since nineteen ninety eight, in twenty twenty five, in two thousand five and nineteen "
         "hundred"},
        {"3.14", "three point one four"},
        {"call 555-0199", "call five five five zero one nine nine"},
        {"code 0042", "code zero zero four two"},
        {"1234567", "one two three four five six seven"},
        {"B12 stays", "B12 stays"},
        {"9-5", "nine-five"},
        {"7 days", "seven days"},
        {"1234567890123456th", "one two three four five six seven eight nine zero one two three "
                               "four five six th"},
        {"99999999999999999999999999999999999999", "99999999999999999999999999999999999999"},
    };
    struct buf out = BUF_INIT(1024);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        buf_reset(&out);
        number_expand(rows[i].text, &out);
        CHECK_TEXT(out.data, rows[i].want);
    }
    buf_clear(&out);
}
