/* Words that callers and documents use for the same thing ("hours", "open"; "price", "cost"), in
 * English, Hindi (also in Latin letters), Tamil and Bengali, in groups; what kind of answer a
 * question asks for; and words that are hardly ever what is asked about ("bring", "get").
 * Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A group whose words are asked for rather than about: "how much is ...", "when ...". A passage
 * answers with a word of the group. */
enum answer_type {
    ANSWER_NONE,
    ANSWER_PRICE,
    ANSWER_TIME,
    ANSWER_PLACE,
    ANSWER_CONTACT,
    ANSWER_TYPES
};

enum { CONCEPTS_MAX = 255, CONCEPTS_OF_WORD = 4 };

/* The groups that a folded word belongs to; returns how many. */
size_t concepts_of(const char *folded, unsigned char out[CONCEPTS_OF_WORD]);
/* The same for a word that is written wrong: by the word of a group that is most like it, if it is
 * at least so much so (0-1); or the weak one. */
size_t concepts_alike(const char *folded, double least, unsigned char out[CONCEPTS_OF_WORD],
                      bool *out_is_weak);
size_t concepts_count(void);
enum answer_type concept_answers(unsigned char concept);
/* The kind of answer that a small word asks for ("when", "कहाँ"). */
enum answer_type concept_asked_by(const char *folded);
/* Says little about what is asked. */
bool concept_is_weak(const char *folded);
/* A word of everyday speech, which seldom decides; its stem or itself. */
bool concept_is_common(const char *stem);
