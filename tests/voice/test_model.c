#include "model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/attr.h"
#include "dictionary.h"
#include "ngram.h"
#include "test.h"

TEST(dictionary_knows_words_and_rules)
{
    struct buf out = BUF_INIT(4096);
    CHECK(dictionary_has("breakfast") && dictionary_has("one's") && !dictionary_has("breakfst"));
    CHECK(!dictionary_has("") && !dictionary_has("zzzzzzzz"));
    CHECK(dictionary_lines("hello", &out));
    CHECK_TEXT(out.data, "hello HH AH L OW\nhello(2) HH EH L OW\n");
    buf_reset(&out);
    CHECK(dictionary_lines("blorptastic", &out));
    CHECK(strncmp(out.data, "blorptastic B L ", 16) == 0);
    CHECK(strcspn(out.data, "0123456789") == out.len);
    buf_clear(&out);
}

TEST(model_words_are_made_readable)
{
    static const char *const rows[][2] = {
        {"nine a m to five p m", "nine am to five pm"},
        {"<s> the(2) pool <sil> [NOISE] is ++UH++ open </s>", "the pool is open"},
        {"", ""},
        {"a man", "a man"},
    };
    struct buf out = BUF_INIT(256);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        buf_reset(&out);
        model_readable(rows[i][0], &out);
        CHECK_TEXT(out.len ? out.data : "", rows[i][1]);
    }
    buf_clear(&out);
}

/* What follows "a" adds up to one, seen or not. */
TEST(ngram_probabilities_of_a_history_add_up)
{
    struct ngram *ngram = ngram_new();
    uint32_t a = ngram_word(ngram, "a"), b = ngram_word(ngram, "b"), c = ngram_word(ngram, "c");
    ngram_add(ngram, (uint32_t[]){a, b, a, c}, 4, 1);
    ngram_add(ngram, (uint32_t[]){a, b}, 2, 3);
    struct buf out = BUF_INIT(65536);
    CHECK_INT(ngram_write(ngram, &out), OK);
    double unigram[5] = {0}, bigram_sum = 0, seen_lower = 0, backoff = 0;
    static const char *const words[] = {"<s>", "</s>", "a", "b", "c"};
    for (size_t i = 0; i < 5; i++) {
        char line[32];
        snprintf(line, sizeof line, " %s ", words[i]);
        const char *at = strstr(strstr(out.data, "\\1-grams:"), line);
        REQUIRE(at != NULL);
        while (at[-1] != '\n')
            at--;
        unigram[i] = pow(10, strtod(at, NULL));
        if (i == 2)
            backoff = pow(10, strtod(strrchr(strndup(at, strcspn(at, "\n")), ' '), NULL));
        snprintf(line, sizeof line, " a %s ", words[i]);
        const char *two = strstr(strstr(out.data, "\\2-grams:"), line);
        if (!two || two > strstr(out.data, "\\3-grams:"))
            continue;
        while (two[-1] != '\n')
            two--;
        bigram_sum += pow(10, strtod(two, NULL));
        seen_lower += unigram[i];
    }
    CHECK(fabs(unigram[1] + unigram[2] + unigram[3] + unigram[4] - 1) < 0.15);
    CHECK(fabs(bigram_sum + backoff * (1 - seen_lower) - 1) < 0.02);
    ngram_free(ngram);
    buf_clear(&out);
}

TEST(model_takes_any_text)
{
    static const char *const texts[] = {"",        "\xFF\xFE", "नमस्ते only",
                                        "x x x x", "!!!",      "''' 'a' a'"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct buf arpa = BUF_INIT(8 * 1024 * 1024), dictionary = BUF_INIT(1024 * 1024);
        CHECK_INT(model_write(texts[i], &arpa, &dictionary), OK);
        CHECK(strstr(arpa.data, "\\end\\") != NULL);
        buf_clear(&arpa);
        buf_clear(&dictionary);
    }
}
