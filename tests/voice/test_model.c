#include "model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/attr.h"
#include "dictionary.h"
#include "test.h"
#include "trigram.h"

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

/* The line of an n-gram in an ARPA text; NULL: it is not there. */
static const char *line_of(const char *arpa, int order, const char *words)
{
    char head[32], wanted[64];
    snprintf(head, sizeof(head), "\\%d-grams:\n", order);
    snprintf(wanted, sizeof(wanted), " %s ", words);
    const char *at = strstr(arpa, head), *end = at ? strstr(at + 1, "\\") : NULL;
    const char *found = at ? strstr(at, wanted) : NULL;
    if (!found || found > end)
        return NULL;
    while (found[-1] != '\n')
        found--;
    return found;
}

static double probability(const char *line)
{
    return pow(10, strtod(line, NULL));
}

static double backoff(const char *line)
{
    const char *last = line;
    for (const char *at = line; *at != '\n'; at++)
        last = *at == ' ' ? at : last;
    return pow(10, strtod(last, NULL));
}

/* What follows "a" adds up to one, seen or not. */
TEST(trigram_probabilities_of_a_history_add_up)
{
    static const char *const words[] = {"</s>", "a", "b", "c"};
    struct trigram *trigram = trigram_new();
    uint32_t a = trigram_word(trigram, "a"), b = trigram_word(trigram, "b"),
             c = trigram_word(trigram, "c");
    trigram_add(trigram, (uint32_t[]){a, b, a, c}, 4, 1);
    trigram_add(trigram, (uint32_t[]){a, b}, 2, 3);
    struct buf out = BUF_INIT(65536);
    CHECK_INT(trigram_write(trigram, &out), OK);
    double all = 0, seen = 0, seen_lower = 0;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        char pair[16];
        snprintf(pair, sizeof(pair), "a %s", words[i]);
        const char *one = line_of(out.data, 1, words[i]), *two = line_of(out.data, 2, pair);
        REQUIRE(one != NULL);
        all += probability(one);
        seen += two ? probability(two) : 0;
        seen_lower += two ? probability(one) : 0;
    }
    double share = backoff(line_of(out.data, 1, "a"));
    CHECK(all > 0.85 && all < 1.001);
    CHECK(fabs(seen + share * (1 - seen_lower) - 1) < 0.01);
    trigram_free(trigram);
    buf_clear(&out);
}

TEST(model_expects_what_callers_of_any_agent_say)
{
    static const char *const pairs[] = {"i lost", "not working", "would it", "somebody called"};
    struct buf arpa = BUF_INIT(8 * 1024 * 1024), dictionary = BUF_INIT(1024 * 1024);
    CHECK_INT(model_write("", &arpa, &dictionary), OK);
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        CHECK(line_of(arpa.data, 2, pairs[i]) != NULL);
    buf_clear(&arpa);
    buf_clear(&dictionary);
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
