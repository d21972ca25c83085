#include "text/words.h"

#include "test.h"

static int append(void *arg, const struct word *word)
{
    struct buf *out = arg;
    (void)buf_printf(out, "%s%.*s/%s/%s", out->len ? " " : "", (int)word->len, word->text,
                     word->folded, word->stem);
    return 0;
}

static void check_words(const char *text, const char *iso, const char *want)
{
    struct buf out = BUF_INIT(4096);
    words_each(text, iso, append, &out);
    CHECK_TEXT(out.len ? out.data : "", want);
    buf_clear(&out);
}

TEST(words_are_cut_folded_and_stemmed)
{
    check_words("Opening hours?", "en", "Opening/opening/open hours/hours/hour");
    check_words("Don\xE2\x80\x99t 'quote'", "en", "Don\xE2\x80\x99t/don't/don't quote/quote/quot");
    check_words("Café ÜBER", NULL, "Café/cafe/cafe ÜBER/uber/uber");
    check_words("ऑर्डर, किताबें", "hi", "ऑर्डर/ऑर्डर/ऑर्डर किताबें/किताबें/किताब");
    check_words("日本 25kg", NULL, "日/日/日 本/本/本 25kg/25kg/25kg");
    check_words("", "en", "");
    check_words("\xFF!! \xC3", "en", "");
}

TEST(words_have_a_bounded_length)
{
    static char longest[4000];
    memset(longest, 'a', sizeof(longest) - 1);
    struct buf out = BUF_INIT(8192);
    words_stems(longest, "en", &out);
    CHECK_INT(out.len, WORD_MAX_BYTES - 1);
    buf_reset(&out);
    for (size_t i = 0; i + 3 < sizeof(longest); i += 3)
        memcpy(longest + i, "क", 3);
    words_stems(longest, "hi", &out);
    CHECK(out.len > 0 && out.len < WORD_MAX_BYTES);
    buf_clear(&out);
}

TEST(words_stop_list_is_sorted)
{
    static const char *const english[] = {"a", "the", "what", "your", "is", "i'm", "can", "would"};
    for (size_t i = 0; i < ARRAY_LEN(english); i++)
        CHECK(word_is_stop(english[i], "en"));
    CHECK(!word_is_stop("hours", "en"));
    CHECK(word_is_stop("है", "hi") && word_is_stop("क्या", "hi") && !word_is_stop("समय", "hi"));
    CHECK(!word_is_stop("the", "xx") && !word_is_stop("the", NULL));
}

TEST(words_played_keeps_words_whole)
{
    const char *text = "The pool is open until ten.";
    static const struct {
        size_t played;
        const char *heard;
    } rows[] = {{0, ""},
                {10, "The"},
                {25, "The pool"},
                {50, "The pool is"},
                {70, "The pool is open"},
                {100, "The pool is open until ten."}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char heard[64] = "";
        memcpy(heard, text, words_played(text, rows[i].played, 100));
        CHECK_TEXT(heard, rows[i].heard);
    }
    size_t last = 0;
    for (size_t played = 0; played <= 100; played++) {
        size_t now = words_played("नमस्ते, आप कैसे हैं?", played, 100);
        CHECK(now >= last);
        last = now;
    }
    CHECK_INT(words_played(text, 0, 0), strlen(text));
}

TEST(words_equal_ignores_case_and_punctuation)
{
    CHECK(words_equal("What are your hours?", "what are  YOUR hours"));
    CHECK(!words_equal("What are your hours?", "what are your hour"));
    CHECK(words_equal("", " ?"));
    CHECK_INT(words_count("one, two three-four"), 4);
    CHECK_INT(words_count("one \u0301 two"), 2); /* an accent on nothing is no word */
}

TEST(who_does_is_another_word_than_what_is_done)
{
    static const char *const others[][2] = {
        {"charger", "charge"}, {"charges", "charger"}, {"trainer", "training"}};
    static const char *const same[][2] = {{"deliver", "delivr"},
                                          {"charge", "charges"},
                                          {"member", "members"},
                                          {"her", "h"},
                                          {"er", ""}};
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        CHECK(word_is_doer(others[i][0], others[i][1]));
    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        CHECK(!word_is_doer(same[i][0], same[i][1]));
}

TEST(text_is_folded_for_a_search)
{
    char out[64], small[8];
    text_fold("ÄRZTE Ωμέγα चिकित्सा I", out, sizeof(out));
    CHECK_TEXT(out, "ärzte ωμέγα चिकित्सा i");
    text_fold("abc\xff\xc3", out, sizeof(out));
    CHECK_TEXT(out, "abc");
    text_fold("ABÄÖÜ", small, sizeof(small)); /* never half a character */
    CHECK_TEXT(small, "abä");
    text_fold("", out, sizeof(out));
    CHECK_TEXT(out, "");
}
