#include "text/script.h"

#include "base/attr.h"
#include "test.h"

TEST(script_is_that_of_most_letters)
{
    static const struct {
        const char *text;
        enum script script;
    } rows[] = {
        {"", SCRIPT_NONE},
        {"123 ?!", SCRIPT_NONE},
        {"Hello", SCRIPT_LATIN},
        {"Größe", SCRIPT_LATIN},
        {"नमस्ते, how", SCRIPT_DEVANAGARI},
        {"வணக்கம்", SCRIPT_TAMIL},
        {"ନମସ୍କାର", SCRIPT_ODIA},
        {"ਸਤ ਸ੍ਰੀ ਅਕਾਲ", SCRIPT_GURMUKHI},
        {"日本語です", SCRIPT_JAPANESE},
        {"您好", SCRIPT_HAN},
        {"안녕", SCRIPT_HANGUL},
        {"مرحبا", SCRIPT_ARABIC},
        {"Привет", SCRIPT_CYRILLIC},
        {"ⴰⴱⴳ", SCRIPT_OTHER},
        {"\xFF\xFE", SCRIPT_NONE},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        CHECK_INT(script_of(rows[i].text), rows[i].script);
}

TEST(script_tells_what_a_call_can_speak)
{
    static const struct {
        const char *text, *iso;
        bool can;
    } rows[] = {
        {"Hello there", "hi", true},    {"नमस्ते", "hi", true},        {"नमस्ते", "en", false},
        {"नमस्ते", "ta", false},          {"வணக்கம் hello", "ta", true}, {"12:30", "en", true},
        {"OK, नमस्ते hello", "en", true}, {"日本語です", "ja", true},  {"日本", "ja", true},
        {"日本", "zh", true},           {"こんにちは", "zh", false}, {"Привет", "ru", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        CHECK_INT(script_is_speakable(rows[i].text, rows[i].iso), rows[i].can);
    CHECK_INT(script_of_language("mr"), SCRIPT_DEVANAGARI);
    CHECK_INT(script_of_language("id"), SCRIPT_LATIN);
}
