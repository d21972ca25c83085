/* What a recogniser listens for, by vocabulary: the agent's own trigram (model.h) interpolated with
 * the general English one (general.h), and the dictionary of both. The last few are kept, so that
 * the calls of one agent share theirs. */
#pragma once

#include "base/err.h"

struct ngram_model_s; /* of sphinxbase: ngram_model_t */

struct language {
    struct ngram_model_s *model; /* shared: who keeps it retains it */
    int dictionary_fd;           /* a file in memory, for /proc/self/fd; belongs to the cache */
};

/* vocabulary: text in the agent's words. ERR_LIMIT: it is too large; ERR_IO, ERR_INTERNAL. */
enum err language_of(const char *vocabulary, struct language *out, struct fault *fault) MUST_USE;
