/* What of a question only says why it is asked. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "know/internal.h"
#include "know/terms.h"
#include "test.h"

/* The words that only say why, each with a space after it. */
static void read_context(const char *question, const char *iso, char *out, size_t cap)
{
    AUTO(arena) arena = arena_new(0);
    struct term_list terms = {0};
    terms_of(question, iso, arena, &terms);
    context_note(question, &terms);
    *out = '\0';
    for (size_t i = 0; i < terms.count; i++)
        if (terms.items[i].is_context)
            snprintf(out + strlen(out), cap - strlen(out), "%s ", terms.items[i].folded);
}

TEST(what_only_says_why_it_is_asked_is_told)
{
    static const struct {
        const char *iso, *question, *context;
    } rows[] = {
        {"en", "Our flight left late, do we get any money?", "our flight left late "},
        {"en", "do you have rooms, there will be four of us", ""}, /* both ask */
        {"en", "How much is it. My daughter is small", ""},
        {"en", "how much is it. My daughter studies", "my daughter studies "},
        {"en", "My phone fell down; repair?", "my phone fell down "},
        {"en", "My phone fell down", ""}, /* nothing else is asked */
        {"en", "is it 1,500 or 2.50 dollars", ""},
        {"hi", "मेरी बेटी छोटी है। फीस कितनी है", "मेरी बेटी छोटी है "},
        {"hi-latn", "main pune se hoon, kya delivery milegi", "main pune se hoon "},
        {"bn", "বইটা ভিজে গেছে, আরেকটা পাব?", "বইটা ভিজে গেছে "},
        {"en", "", ""},
        {"en", "?,?", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char context[256];
        read_context(rows[i].question, rows[i].iso, context, sizeof(context));
        CHECK_TEXT(context, rows[i].context);
    }
}

TEST(ages_are_told_from_other_numbers)
{
    static const struct {
        const char *iso, *question;
        bool is_age;
    } rows[] = {
        {"en", "she is six years old", true}, {"en", "six rooms", false},
        {"hi-latn", "8 saal ka ladka", true}, {"en", "rooms for 6", false},
        {"hi", "मेरा बेटा दस साल का है", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(arena) arena = arena_new(0);
        struct term_list terms = {0};
        terms_of(rows[i].question, rows[i].iso, arena, &terms);
        bool has_age = false;
        for (size_t at = 0; at < terms.count; at++)
            has_age = has_age || context_is_age(&terms, at);
        CHECK_INT(has_age, rows[i].is_age);
    }
}
