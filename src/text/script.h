/* Which writing system a text is in, and which one a language is written in: to notice a reply that
 * the call's voice cannot speak. Thread: any. */
#pragma once

#include <stdbool.h>

enum script {
    SCRIPT_NONE, /* no letters */
    SCRIPT_LATIN,
    SCRIPT_DEVANAGARI,
    SCRIPT_BENGALI,
    SCRIPT_GURMUKHI,
    SCRIPT_GUJARATI,
    SCRIPT_ODIA,
    SCRIPT_TAMIL,
    SCRIPT_TELUGU,
    SCRIPT_KANNADA,
    SCRIPT_MALAYALAM,
    SCRIPT_ARABIC,
    SCRIPT_CYRILLIC,
    SCRIPT_JAPANESE, /* kana; with it Han counts as Japanese */
    SCRIPT_HANGUL,
    SCRIPT_HAN,
    SCRIPT_OTHER,
    SCRIPT_COUNT
};

/* The script that most letters of a text have. */
enum script script_of(const char *text);
enum script script_of_language(const char *iso);
/* Can a call in this language speak a text? Latin always can be (names, English words); false when
 * more than half of the letters are in a script that neither the language nor English uses. */
bool script_is_speakable(const char *text, const char *iso);
