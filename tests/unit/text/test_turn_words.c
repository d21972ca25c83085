#include "text/turn_words.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "test.h"

static const struct {
    const char *iso, *acknowledge, *stop;
} rows[] = {
#define TURN_WORDS(iso, acknowledge, stop) {iso, acknowledge, stop},
#include "text/turn_words.def"
#undef TURN_WORDS
};

static const char *const isos[] = {"en", "hi", "ta", "te", "kn", "ml", "mr", "gu", "bn",
                                   "pa", "or", "es", "fr", "de", "it", "pt", "nl", "pl",
                                   "ru", "ja", "ko", "zh", "ar", "tr", "id"};

TEST(turn_words_are_in_every_catalog_language)
{
    REQUIRE(ARRAY_LEN(rows) == ARRAY_LEN(isos));
    for (size_t i = 0; i < ARRAY_LEN(isos); i++)
        CHECK_TEXT(rows[i].iso, isos[i]);
}

static void check(const char *text, const char *iso, enum turn_words want)
{
    if (!CHECK_INT(turn_words_of(text, iso, false), want))
        fprintf(stderr, "      in %s: %s\n", iso, text);
}

static void check_list(const char *list, const char *iso, enum turn_words want)
{
    while (*list) {
        char text[128];
        size_t len = strcspn(list, ",");
        snprintf(text, sizeof(text), "%.*s.", (int)len, list);
        check(text, iso, want);
        list += len + (list[len] == ',');
    }
}

/* Each word of the table, in its own language, is what it stands for: none is in both lists. */
TEST(turn_words_mean_what_the_table_says)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        check_list(rows[i].acknowledge, rows[i].iso, TURN_WORDS_ACKNOWLEDGE);
        check_list(rows[i].stop, rows[i].iso, TURN_WORDS_STOP);
    }
}

TEST(turn_words_of_utterances)
{
    static const struct {
        const char *text, *iso;
        enum turn_words want;
    } cases[] = {
        {"Yeah, yeah, I see.", "en", TURN_WORDS_ACKNOWLEDGE},
        {"hmmmm", "en", TURN_WORDS_ACKNOWLEDGE},
        {"okaaay", "en", TURN_WORDS_ACKNOWLEDGE},
        {"Okay, wait.", "en", TURN_WORDS_STOP},
        {"Wait, what about Sunday?", "en", TURN_WORDS_STOP},
        {"yes tomorrow", "en", TURN_WORDS_OTHER},
        {"too much", "en", TURN_WORDS_OTHER},
        {"", "en", TURN_WORDS_OTHER},
        {"...", "en", TURN_WORDS_OTHER},
        {"haan theek hai", "hi", TURN_WORDS_ACKNOWLEDGE},
        {"haan okay right", "hi", TURN_WORDS_ACKNOWLEDGE}, /* English is mixed in */
        {"अच्छा, ठीक है।", "hi", TURN_WORDS_ACKNOWLEDGE},
        {"अरे रुको", "hi", TURN_WORDS_STOP},
        {"haan par kal", "hi", TURN_WORDS_OTHER},
        {"avunu sare", "te", TURN_WORDS_ACKNOWLEDGE},
        {"sí sí claro", "es", TURN_WORDS_ACKNOWLEDGE},
        {"genau, ja", "de", TURN_WORDS_ACKNOWLEDGE},
        {"wait", "de", TURN_WORDS_OTHER}, /* no German word, and says something all the same */
        {"no no tak", "pl", TURN_WORDS_ACKNOWLEDGE}, /* "no" agrees in Polish */
        {"对对对", "zh", TURN_WORDS_ACKNOWLEDGE},
        {"好的，等一下", "zh", TURN_WORDS_STOP},
        {"はい、そうですね", "ja", TURN_WORDS_ACKNOWLEDGE},
        {"one two three four five six seven eight nine stop", "en", TURN_WORDS_OTHER},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check(cases[i].text, cases[i].iso, cases[i].want);
}

TEST(turn_words_that_grow_may_still_become_an_acknowledgement)
{
    CHECK_INT(turn_words_of("ok", "hi", true), TURN_WORDS_ACKNOWLEDGE);
    CHECK_INT(turn_words_of("o", "en", true), TURN_WORDS_ACKNOWLEDGE);
    CHECK_INT(turn_words_of("o", "en", false), TURN_WORDS_OTHER);
    CHECK_INT(turn_words_of("yes of", "en", true), TURN_WORDS_ACKNOWLEDGE);
    CHECK_INT(turn_words_of("yes off", "en", true), TURN_WORDS_OTHER);
    CHECK_INT(turn_words_of("the", "hi", true), TURN_WORDS_ACKNOWLEDGE); /* theek */
    CHECK_INT(turn_words_of("wait", "en", true), TURN_WORDS_STOP);
}
