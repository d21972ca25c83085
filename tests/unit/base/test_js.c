#include "base/js.h"

#include <math.h>

#include "base/mem.h"
#include "test.h"

static struct js *parsed(const char *text)
{
    struct js *js = NULL;
    struct fault fault;
    if (js_parse(text, strlen(text), 64, &js, &fault))
        test_fail(__FILE__, __LINE__, "%s: %s", text, fault.text);
    return js;
}

TEST(js_refuses_what_is_not_strict)
{
    static const struct {
        const char *text;
        size_t len;
    } bad[] = {
#define BAD(t) {t, sizeof(t) - 1}
        BAD(""),
        BAD(" "),
        BAD("{"),
        BAD("{\"a\":1,\"a\":2}"),
        BAD("{\"a\":{\"b\":1,\"b\":1}}"),
        BAD("\"\\u0000\""),
        BAD("\"a\0b\""),
        BAD("{\"\\u0000\":1}"),
        BAD("\"\\ud800\""),
        BAD("\"\\udc00\""),
        BAD("\"\\ud800\\u0041\""),
        BAD("\"\xff\""),
        BAD("\"\xed\xa0\x80\""),
        BAD("\"\xc0\x80\""),
        BAD("1 2"),
        BAD("{} x"),
        BAD("[1,]"),
        BAD("01"),
        BAD("+1"),
        BAD("'a'"),
        BAD("NaN"),
        BAD("[1]\0"),
        BAD("\xef\xbb\xbf{}"),
        BAD("1e999"),
        BAD("\"a\nb\""),
        BAD("tru"),
        BAD("]"),
        BAD("\"\\"),
#undef BAD
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct js *js = NULL;
        struct fault fault = {0};
        if (js_parse(bad[i].text, bad[i].len, 64, &js, &fault) != ERR_INVALID)
            test_fail(__FILE__, __LINE__, "accepted: %s", bad[i].text);
        CHECK(js == NULL && fault.text[0]);
    }
}

TEST(js_accepts_any_value_at_the_top)
{
    static const char *const good[] = {"1", "\"a\"", "null", "true", "[]", " {} \n", "-1.5e3"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        AUTO(js) js = parsed(good[i]);
        CHECK(js != NULL);
    }
}

TEST(js_counts_depth_from_the_outermost)
{
    struct js *js = NULL;
    CHECK_INT(js_parse("[[1]]", 5, 1, &js, NULL), ERR_INVALID);
    CHECK_INT(js_parse("[[1]]", 5, 2, &js, NULL), OK);
    js_free(js);
    const char *brackets_in_text = "[\"[[[[\\\"[[[\"]";
    CHECK_INT(js_parse(brackets_in_text, strlen(brackets_in_text), 1, &js, NULL), OK);
    js_free(js);
}

TEST(js_reads_and_chains)
{
    AUTO(js) root = parsed("{\"a\":{\"b\":\"x\"},\"n\":[1,2.5,3.0,true,null],\"t\":\"h\\u00e9\"}");
    CHECK_TEXT(js_text(js_get(js_get(root, "a"), "b")), "x");
    CHECK(js_text(js_get(js_get(root, "z"), "b")) == NULL);
    CHECK_TEXT(js_text_or(js_get(root, "z"), "else"), "else");
    const struct js *n = js_get(root, "n");
    CHECK_INT(js_count(n), 5);
    CHECK_INT(js_count(root), 3);
    CHECK_INT(js_count(NULL), 0);
    CHECK_INT(js_int(js_at(n, 0), -1), 1);
    CHECK_INT(js_int(js_at(n, 1), -1), -1);
    CHECK_INT(js_int(js_at(n, 2), -1), 3);
    CHECK(js_real(js_at(n, 1), 0) == 2.5);
    CHECK(js_bool(js_at(n, 3), false));
    CHECK(js_bool(js_at(n, 4), true));
    CHECK_INT(js_type(js_at(n, 2)), JS_REAL);
    CHECK_INT(js_type(js_at(n, 9)), JS_NULL);
    CHECK_INT(js_text_len(js_get(root, "t")), 3);
}

TEST(js_keeps_order_and_exact_integers)
{
    const char *text = "{\"z\":9007199254740993,\"a\":-9223372036854775808,\"m\":12.3456}";
    AUTO(js) root = parsed(text);
    AUTO_MEM char *back = js_print(root);
    CHECK_TEXT(back, text);
    char keys[4] = "";
    size_t n = 0;
    for (void *it = js_first(root); it; it = js_next(root, it))
        keys[n++] = js_key(it)[0];
    CHECK_TEXT(keys, "zam");
}

TEST(js_reads_integers_beyond_64_bits_as_reals)
{
    struct js *js = NULL;
    static const char text[] = "[18446744073709551617, 7]";
    REQUIRE(js_parse(text, sizeof(text) - 1, 8, &js, NULL) == OK);
    CHECK_INT(js_type(js_at(js, 0)), JS_REAL);
    CHECK_INT(js_int(js_at(js, 1), 0), 7);
    js_free(js);
}

TEST(js_builds)
{
    AUTO(js) root = js_object();
    js_set(root, "text", js_string("a\"b"));
    js_set(root, "none", NULL);
    js_set(root, "bad", js_string("a\xff"));
    js_set(root, "nul", js_string_n("a\0b", 3));
    struct js *list = js_array();
    js_push(list, js_integer(1));
    js_push(list, js_boolean(false));
    js_push(list, js_number(NAN));
    js_push(list, js_string(NULL));
    js_set(root, "list", list);
    js_set(root, "gone", js_null());
    js_remove(root, "gone");
    AUTO_MEM char *text = js_print(root);
    CHECK_TEXT(text, "{\"text\":\"a\\\"b\",\"none\":null,\"bad\":\"a\xef\xbf\xbd\",\"nul\":"
                     "\"a\xef\xbf\xbd"
                     "b\",\"list\":[1,false,null,null]}");
    AUTO(js) copy = js_copy(root);
    CHECK(js_equal(copy, root));
    js_set(copy, "text", js_string("other"));
    CHECK(!js_equal(copy, root));
    CHECK(js_equal(NULL, js_get(root, "none")));
}

TEST(js_write_meets_the_ceiling)
{
    AUTO(js) root = parsed("[\"0123456789\"]");
    AUTO_BUF small = BUF_INIT(5), fit = BUF_INIT(14);
    CHECK_INT(js_write(root, &small), ERR_LIMIT);
    CHECK(small.is_full);
    CHECK_INT(js_write(root, &fit), OK);
    CHECK_TEXT(fit.data, "[\"0123456789\"]");
}

TEST(js_out_writes)
{
    AUTO_BUF buf = BUF_INIT(1000);
    AUTO(js) tree = parsed("{\"x\":[1]}");
    struct js_out out;
    js_out_init(&out, &buf);
    js_out_object(&out);
    js_out_key(&out, "a\n");
    js_out_array(&out);
    js_out_int(&out, -5);
    js_out_object(&out);
    js_out_object_end(&out);
    js_out_text(&out, "q\"\\\x01\t\xff/");
    js_out_text(&out, NULL);
    js_out_array_end(&out);
    js_out_key(&out, "r");
    js_out_real(&out, 12.3456);
    js_out_key(&out, "i");
    js_out_real(&out, INFINITY);
    js_out_key(&out, "b");
    js_out_bool(&out, true);
    js_out_key(&out, "t");
    js_out_time(&out, 1795189527123);
    js_out_key(&out, "js");
    js_out_js(&out, tree);
    js_out_key(&out, "never");
    js_out_time(&out, 0);
    js_out_object_end(&out);
    CHECK_TEXT(
        buf.data,
        "{\"a\\n\":[-5,{},\"q\\\"\\\\\\u0001\\t\xef\xbf\xbd/\",null],\"r\":12.3456,\"i\":null,"
        "\"b\":true,\"t\":\"2026-11-20T15:45:27.123Z\",\"js\":{\"x\":[1]},\"never\":null}");
    AUTO(js) back = parsed(buf.data);
    CHECK(back != NULL);
}

TEST(js_out_writes_money)
{
    static const struct {
        int64_t usd4;
        const char *text;
    } cases[] = {{0, "0"},        {123400, "12.34"}, {1, "0.0001"},   {120000, "12"},
                 {-5000, "-0.5"}, {100500, "10.05"}, {9999, "0.9999"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF buf = BUF_INIT(100);
        struct js_out out;
        js_out_init(&out, &buf);
        js_out_usd4(&out, cases[i].usd4);
        CHECK_TEXT(buf.data, cases[i].text);
    }
}
