/* From texts to what the index holds: a passage's words in their order, numbers among them by value
 * ("#250", whether in digits or in words) and signs of money ("\u00A4"); and for each word of the
 * vocabulary the keys by which a search finds it from another form:
 *
 *   ~stem     another inflection (Snowball where it knows the language)
 *   =sounds   another spelling or script, a typing error, a misheard word (text/sound.h)
 *   @group    another word for the same thing (know/concepts.h)
 *
 * Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "store/word_index.h"

struct passage;

enum {
    TERMS_VERSION = 3, /* of what these give: another one makes the indexes anew */
    TERM_BYTES = 160,
};

/* A word of a text. folded and stem in the arena. */
struct term {
    const char *folded, *stem;
    bool is_number;    /* folded: "#" and its value */
    bool is_spelled;   /* a word of the number that comes after it */
    bool is_context;   /* of a question: it only says why it is asked (know/context.c) */
    const char *place; /* in the text */
};

struct term_list {
    struct term *items;
    size_t count;
};

/* iso: as language_guess() says. */
void terms_of(const char *text, const char *iso, struct arena *arena, struct term_list *out);

/* For the index (store/word_index.h). */
void know_words(const struct passage *passage, struct arena *arena, struct word_list *out);
void know_keys(const char *word, const char *iso, struct buf *out);

/* Keys of a stem and of a concept. */
void terms_stem_key(const char *stem, char out[TERM_BYTES]);
void terms_concept_key(unsigned char concept, char out[TERM_BYTES]);
/* Keys of a sound; returns how many. */
size_t terms_sound_keys(const char *sound, char (*out)[TERM_BYTES], size_t most);
