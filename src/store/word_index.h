/* The index of a node: a derived SQLite FTS5 file, filled from the passages in the database by
 * their change sequence, rebuilt when it is missing or damaged. SQLite and PostgreSQL deployments
 * search alike. Terms are prepared by know/ (stems, n-grams), so that this file knows no language.
 * Thread: see each function. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"

struct buf;
struct store;
struct tx;
struct word_index;

/* What is indexed of a passage: terms separated by spaces, appended to out. */
typedef void word_index_terms_fn(const char *text, const char *question, const char *language,
                                 struct buf *out);

/* Opens <data>/index.db; makes it when missing, or of another version. `threads` searches run at
 * once at most. ERR_IO. */
enum err word_index_open(struct store *store, word_index_terms_fn *terms, unsigned threads,
                         struct word_index **out, struct fault *fault) MUST_USE;
void word_index_close(struct word_index *index);

/* Brings the index up to the database of this job. Cheap when nothing has changed. Store thread. */
enum err word_index_catch_up(struct word_index *index, struct tx *tx) MUST_USE;

struct word_hit {
    const char *document_id;
    int64_t position;            /* of the passage in its document */
    const char *text, *question; /* question NULL: a section */
    const char *terms;           /* as indexed */
};
/* Candidates that hold any of the terms, best first by BM25, of these documents only. Store
 * thread or any other; at most `threads` at once. */
enum err word_index_search(struct word_index *index, const char *const *document_ids, size_t ids_n,
                           const char *const *terms, size_t terms_n, unsigned limit,
                           struct arena *arena, struct word_hit **out, size_t *out_n) MUST_USE;
/* In how many passages of these documents each term stands, and how many passages there are. */
enum err word_index_weights(struct word_index *index, const char *const *document_ids, size_t ids_n,
                            const char *const *terms, size_t terms_n, int64_t *out_with,
                            int64_t *out_passages) MUST_USE;
