#include "text/phrase.h"

#include <stdio.h>

#include "base/attr.h"
#include "test.h"

TEST(phrase_lines_are_in_every_catalog_language)
{
    static const char *const isos[] = {"en", "hi", "ta", "te", "kn", "ml", "mr", "gu", "bn",
                                       "pa", "or", "es", "fr", "de", "it", "pt", "nl", "pl",
                                       "ru", "ja", "ko", "zh", "ar", "tr", "id"};
    for (size_t i = 0; i < ARRAY_LEN(isos); i++)
        for (enum phrase phrase = 0; phrase < PHRASE_COUNT; phrase++) {
            const char *line = phrase_line(phrase, isos[i]);
            REQUIRE(line && *line);
            CHECK(i == 0 || strcmp(line, phrase_line(phrase, "en")) != 0);
        }
    CHECK_TEXT(phrase_line(PHRASE_HOLD, "xx"), phrase_line(PHRASE_HOLD, "en"));
    CHECK_TEXT(phrase_line(PHRASE_HOLD, NULL), phrase_line(PHRASE_HOLD, "en"));
}

TEST(phrase_intent_of_short_utterances)
{
    static const struct {
        const char *text;
        enum caller_intent intent;
    } rows[] = {
        {"", INTENT_NONE},
        {"Okay.", INTENT_ACKNOWLEDGE},
        {"yeah, uh-huh", INTENT_ACKNOWLEDGE},
        {"I see.", INTENT_ACKNOWLEDGE},
        {"हाँ जी", INTENT_ACKNOWLEDGE},
        {"haan theek hai", INTENT_ACKNOWLEDGE},
        {"Hello?", INTENT_GREETING},
        {"hi there", INTENT_GREETING},
        {"नमस्ते", INTENT_GREETING},
        {"Good morning!", INTENT_GREETING},
        {"Thank you so much", INTENT_THANKS},
        {"okay thanks for your help", INTENT_THANKS},
        {"धन्यवाद", INTENT_THANKS},
        {"Thanks, bye!", INTENT_GOODBYE},
        {"Okay, good bye", INTENT_GOODBYE},
        {"no that's all thank you", INTENT_GOODBYE},
        {"what are your hours", INTENT_NONE},
        {"okay what about parking", INTENT_NONE},
        {"you", INTENT_NONE},
        {"hello can you tell me the price", INTENT_NONE},
        {"stop", INTENT_NONE},
        {"\u0301", INTENT_NONE}, /* an accent on nothing */
        {"ok \u0301", INTENT_ACKNOWLEDGE},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!CHECK_INT(phrase_intent(rows[i].text), rows[i].intent))
            fprintf(stderr, "      in: %s\n", rows[i].text);
}
