/* Scripts by ICU's character properties; the table says which language is written in which. */
#include "text/script.h"

#include <stddef.h>
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include "base/attr.h"
#include "text/internal.h"

static const struct {
    enum script script;
    UScriptCode code;
} scripts[] = {
    {SCRIPT_LATIN, USCRIPT_LATIN},       {SCRIPT_DEVANAGARI, USCRIPT_DEVANAGARI},
    {SCRIPT_BENGALI, USCRIPT_BENGALI},   {SCRIPT_GURMUKHI, USCRIPT_GURMUKHI},
    {SCRIPT_GUJARATI, USCRIPT_GUJARATI}, {SCRIPT_ODIA, USCRIPT_ORIYA},
    {SCRIPT_TAMIL, USCRIPT_TAMIL},       {SCRIPT_TELUGU, USCRIPT_TELUGU},
    {SCRIPT_KANNADA, USCRIPT_KANNADA},   {SCRIPT_MALAYALAM, USCRIPT_MALAYALAM},
    {SCRIPT_ARABIC, USCRIPT_ARABIC},     {SCRIPT_CYRILLIC, USCRIPT_CYRILLIC},
    {SCRIPT_JAPANESE, USCRIPT_HIRAGANA}, {SCRIPT_JAPANESE, USCRIPT_KATAKANA},
    {SCRIPT_HANGUL, USCRIPT_HANGUL},     {SCRIPT_HAN, USCRIPT_HAN},
};

static const struct {
    const char *iso;
    enum script script;
} languages[] = {
    {"hi", SCRIPT_DEVANAGARI}, {"mr", SCRIPT_DEVANAGARI}, {"ne", SCRIPT_DEVANAGARI},
    {"bn", SCRIPT_BENGALI},    {"as", SCRIPT_BENGALI},    {"pa", SCRIPT_GURMUKHI},
    {"gu", SCRIPT_GUJARATI},   {"or", SCRIPT_ODIA},       {"ta", SCRIPT_TAMIL},
    {"te", SCRIPT_TELUGU},     {"kn", SCRIPT_KANNADA},    {"ml", SCRIPT_MALAYALAM},
    {"ar", SCRIPT_ARABIC},     {"ur", SCRIPT_ARABIC},     {"fa", SCRIPT_ARABIC},
    {"ru", SCRIPT_CYRILLIC},   {"uk", SCRIPT_CYRILLIC},   {"ja", SCRIPT_JAPANESE},
    {"ko", SCRIPT_HANGUL},     {"zh", SCRIPT_HAN},
};

static enum script script_of_char(UChar32 c)
{
    UErrorCode status = U_ZERO_ERROR;
    UScriptCode code = uscript_getScript(c, &status);
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
        if (scripts[i].code == code)
            return scripts[i].script;
    return SCRIPT_OTHER;
}

static size_t count_letters(const char *text, size_t counts[SCRIPT_COUNT])
{
    int32_t at = 0, len = (int32_t)strlen(text);
    size_t letters = 0;
    while (at < len) {
        UChar32 c = text_next(text, len, &at);
        if (c < 0 || !u_isalpha(c))
            continue;
        letters++;
        counts[script_of_char(c)]++;
    }
    if (counts[SCRIPT_JAPANESE]) {
        counts[SCRIPT_JAPANESE] += counts[SCRIPT_HAN];
        counts[SCRIPT_HAN] = 0;
    }
    return letters;
}

enum script script_of(const char *text)
{
    size_t counts[SCRIPT_COUNT] = {0};
    count_letters(text, counts);
    enum script best = SCRIPT_NONE;
    for (enum script s = SCRIPT_LATIN; s < SCRIPT_COUNT; s++)
        if (counts[s] > counts[best])
            best = s;
    return best;
}

enum script script_of_language(const char *iso)
{
    for (size_t i = 0; iso && i < ARRAY_LEN(languages); i++)
        if (strcmp(languages[i].iso, iso) == 0)
            return languages[i].script;
    return SCRIPT_LATIN;
}

bool script_is_speakable(const char *text, const char *iso)
{
    size_t counts[SCRIPT_COUNT] = {0};
    size_t letters = count_letters(text, counts);
    enum script own = script_of_language(iso);
    size_t good = counts[SCRIPT_LATIN] + (own == SCRIPT_LATIN ? 0 : counts[own]);
    if (own == SCRIPT_JAPANESE)
        good += counts[SCRIPT_HAN];
    return 2 * (letters - good) <= letters;
}
