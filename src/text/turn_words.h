/* What a caller says while the agent speaks or thinks: words that only mean 'go on', and words that
 * mean 'let me speak'. One table for all languages (turn_words.def); where people mix English in,
 * its words count too. Thread: any. */
#pragma once

#include <stdbool.h>

enum turn_words {
    TURN_WORDS_OTHER,       /* it says something */
    TURN_WORDS_ACKNOWLEDGE, /* nothing but "haan", "hmm", "sí", "genau" */
    TURN_WORDS_STOP,        /* begins or ends with "ruko", "wait", "halt" */
};

/* is_growing: the last word may not be all there yet; what may still become an acknowledgement is
 * taken for one. */
enum turn_words turn_words_of(const char *text, const char *iso, bool is_growing);
