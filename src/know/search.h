/* Ranking: which passages answer a question, and how surely.
 *
 *   words asked about --find--> words of the vocabulary: the same, alike in sound, of one group
 *                     --> passages that have most of them --weigh--> signs --> similarity
 *
 * similarity is how likely a passage answers, reckoned from signs such as the share of the asked
 * words (by how rare they are in the documents) that it has, whether the decisive one is among
 * them, how near they stand, and whether it holds the kind of answer that is asked for (a price, a
 * time). The weights of the signs are learned (tests/knowledge), so it compares between questions.
 * Thread: a store thread. */
#pragma once

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"
#include "store/vector.h"

struct hit_list;
struct tx;
struct word_scope;

/* What a question means, beside its words. */
struct search_meaning {
    struct tx *tx; /* the job's: where the passages' vectors are */
    struct vector_asked asked;
};

/* Fills hits (document names left "") best first; texts in the arena. meaning: NULL: by its words
 * alone. */
enum err search_scope(struct word_scope *scope, const char *question,
                      const struct search_meaning *meaning, unsigned limit, struct arena *arena,
                      struct hit_list *out) MUST_USE;
