#include "text/plain.h"

#include "test.h"

TEST(plain_speech_leaves_what_can_be_said)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"Plain text.", "Plain text."},
        {"**Bold** and *it* and `code`", "Bold and it and code"},
        {"## Heading", "Heading"},
        {"- item one\n- item two", "item one item two"},
        {"[our page](https://example.com/x?y=1) is here", "our page is here"},
        {"See https://www.example.com/path/a?b=c for it", "See example.com for it"},
        {"Go to https://example.com/a.", "Go to example.com."},
        {"![logo](a.png)", "logo"},
        {"Great! 😀👍🏽 Thanks 🇮🇳", "Great! Thanks"},
        {"👨‍👩‍👧", ""},
        {"---", ""},
        {"***", ""},
        {"a_b and _em_", "a b and em"},
        {"| Day | Hours |", "Day , Hours"},
        {"<b>fine</b> and 3 < 4", "fine and 3 < 4"},
        {"tab\tand\x01"
         "control",
         "tab and control"},
        {"क्‍ष ठीक है।", "क्‍ष ठीक है।"},
        {"```c\nint x;\n```", "int x;"},
        {"\xFF"
         "bad",
         "bad"},
        {"[not a link] (x)", "[not a link] (x)"},
        {"See <https://www.example.com/a> or HTTPS://SHOP.TEST/b.",
         "See example.com or SHOP.TEST."},
        {"Write to <asha_k@shop.test> now", "Write to asha_k@shop.test now"},
        {"5*4 or 5 * 4 is 20, in 10~12 minutes, *not* 3 *at* 5",
         "5 × 4 or 5 × 4 is 20, in 10-12 minutes, not 3 at 5"},
        {"● Milk ▪ bread → home ✓", "Milk bread home"},
    };
    struct buf out = BUF_INIT(1024);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        buf_reset(&out);
        plain_speech(rows[i].text, &out);
        CHECK_TEXT(out.len ? out.data : "", rows[i].want);
    }
    buf_clear(&out);
}

TEST(plain_takes_thoughts_out_of_a_stream)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"<think>hm, well</think>Hello", "Hello"},
        {"A<think>x</think>B<think>y</think>C", "ABC"},
        {"a < b <thin air", "a < b <thin air"},
        {"<<think>x</think>y", "<y"},
        {"<think>never ends", ""},
        {"<think>a</thi</think>b", "b"},
        {"tail <thi", "tail <thi"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (size_t step = 1; step < 9; step += 2) {
            struct buf out = BUF_INIT(1024);
            struct think_filter filter;
            think_filter_init(&filter);
            for (size_t at = 0; at < strlen(rows[i].text); at += step) {
                char delta[16] = "";
                strncpy(delta, rows[i].text + at, step);
                think_filter_push(&filter, delta, &out);
            }
            think_filter_finish(&filter, &out);
            CHECK_TEXT(out.len ? out.data : "", rows[i].want);
            buf_clear(&out);
        }
}
