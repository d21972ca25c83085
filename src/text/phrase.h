/* The few lines that the service says in its own words, by language, and the words of a caller that
 * mean only 'go on'. One table (phrases.def). Thread: any. */
#pragma once

#include <stdbool.h>

enum phrase {
    PHRASE_GREETING,    /* "Hello! How can I help you?" */
    PHRASE_HOLD,        /* while a tool works */
    PHRASE_UNKNOWN,     /* not in the documents */
    PHRASE_FAILED,      /* a tool or an engine failed */
    PHRASE_NOT_HEARD,   /* "Sorry, I did not catch that." */
    PHRASE_WELCOME,     /* answer to thanks */
    PHRASE_GOODBYE,     /* answer to a goodbye */
    PHRASE_STILL_THERE, /* to a caller who stays silent */
    PHRASE_MORE,        /* "Is there anything else?" */
    PHRASE_COUNT
};

/* In the call's language where the table has it, else in English. Never NULL. */
const char *phrase_line(enum phrase phrase, const char *iso);

enum caller_intent {
    INTENT_NONE,
    INTENT_ACKNOWLEDGE, /* "okay", "uh-huh", "haan": does not interrupt */
    INTENT_GREETING,    /* "hello", "namaste" */
    INTENT_THANKS,
    INTENT_GOODBYE,
};
/* The intent of a whole utterance, when it consists of nothing but such words. English, Hindi (in
 * both scripts), and the common ones of the other languages. */
enum caller_intent phrase_intent(const char *text);
