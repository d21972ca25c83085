#include "base/buf.h"

#include "base/mem.h"
#include "test.h"

TEST(buf_appends_and_terminates)
{
    AUTO_BUF buf = BUF_INIT(1000);
    CHECK_INT(buf_append(&buf, "abc", 3), OK);
    CHECK_INT(buf_append_char(&buf, '-'), OK);
    CHECK_INT(buf_printf(&buf, "%d %s", 42, "x"), OK);
    CHECK_INT(buf_append_str(&buf, ""), OK);
    CHECK_TEXT(buf.data, "abc-42 x");
    CHECK_INT(buf.len, 8);
}

TEST(buf_stops_at_its_ceiling)
{
    AUTO_BUF buf = BUF_INIT(5);
    CHECK_INT(buf_append_str(&buf, "abc"), OK);
    CHECK_INT(buf_append_str(&buf, "def"), ERR_LIMIT);
    CHECK(buf.is_full);
    CHECK_TEXT(buf.data, "abc");
    CHECK_INT(buf_append_str(&buf, "de"), OK);
    CHECK_INT(buf_append_char(&buf, 'f'), ERR_LIMIT);
    CHECK_TEXT(buf.data, "abcde");
    CHECK_INT(buf_printf(&buf, "%d", 1), ERR_LIMIT);
    buf_reset(&buf);
    CHECK(!buf.is_full);
    CHECK_TEXT(buf.data, "");
}

TEST(buf_grows_byte_by_byte)
{
    AUTO_BUF buf = BUF_INIT(10000);
    for (int i = 0; i < 10000; i++)
        CHECK_INT(buf_append_char(&buf, (char)('a' + i % 26)), OK);
    CHECK_INT(buf.len, 10000);
    CHECK(buf.cap <= 10000);
    CHECK_INT(buf.data[9999], 'a' + 9999 % 26);
    CHECK_INT(buf_append_char(&buf, 'x'), ERR_LIMIT);
}

TEST(buf_consumes_from_the_front)
{
    AUTO_BUF buf = BUF_INIT(100);
    buf_consume(&buf, 3);
    buf_append_str(&buf, "hello world");
    buf_consume(&buf, 6);
    CHECK_TEXT(buf.data, "world");
    buf_consume(&buf, 100);
    CHECK_INT(buf.len, 0);
    CHECK_TEXT(buf.data, "");
}

TEST(buf_hands_its_memory_on)
{
    AUTO_BUF buf = BUF_INIT(100);
    size_t len = 99;
    AUTO_MEM char *nothing = buf_take(&buf, &len);
    CHECK_TEXT(nothing, "");
    CHECK_INT(len, 0);
    buf_append_str(&buf, "text");
    AUTO_MEM char *text = buf_take(&buf, NULL);
    CHECK_TEXT(text, "text");
    CHECK(buf.data == NULL && buf.len == 0);
    CHECK_INT(buf_append_str(&buf, "again"), OK);
}

TEST(buf_of_zero_bytes_takes_nothing)
{
    AUTO_BUF buf = BUF_INIT(0);
    CHECK_INT(buf_append(&buf, "", 0), OK);
    CHECK_INT(buf_append_char(&buf, 'x'), ERR_LIMIT);
}
