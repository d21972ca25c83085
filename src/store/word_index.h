/* The word index of a node: a derived SQLite FTS5 file, filled from the passages in the database in
 * the order of their changes, made anew when it is missing, damaged or of another database. SQLite
 * and PostgreSQL deployments search alike. It holds terms as know/ prepared them (stems, n-grams),
 * and knows no language. Ranking is the caller's, by what stands in the documents that are asked,
 * so that one workspace's words never weigh in another's answers.
 * Thread: any; each search takes a connection of its own. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"

struct buf;
struct passage;
struct store;
struct text_list;
struct tx;
struct word_index;
struct word_scope;

/* The terms of a passage, separated by spaces, appended to out. */
typedef void word_index_terms_fn(const struct passage *passage, struct buf *out);

/* version: of what terms() does; another one makes the index anew. ERR_IO. */
enum err word_index_open(struct store *store, word_index_terms_fn *terms, int version,
                         struct word_index **out, struct fault *fault) MUST_USE;
void word_index_close(struct word_index *index);

/* Brings the index up to what the database of this job has of these documents; cheap when they have
 * not changed: whoever searches waits for no other's documents. Inside a job. */
enum err word_index_catch_up(struct word_index *index, struct tx *tx,
                             const struct text_list *document_ids) MUST_USE;

/* A search in some documents; those that are not in the index are left out. NULL: the index could
 * not be opened. Results live in the arena. */
struct word_scope *word_scope_open(struct word_index *index, const struct text_list *document_ids,
                                   struct arena *arena);
void word_scope_free(struct word_scope *scope);
DEFINE_AUTO(word_scope)

size_t word_scope_passages(const struct word_scope *scope); /* how many there are */
/* ISO codes of the documents' passages, each once, at most 4. */
const struct text_list *word_scope_languages(const struct word_scope *scope);

struct word_rows { /* passages by number, ascending */
    int64_t *items;
    size_t count;
};
/* The passages in which a term stands; none after a fault. */
struct word_rows word_scope_find(struct word_scope *scope, const char *term);

struct word_passage {
    const char *document_id;
    const char *text, *question; /* question "": a section */
    const char *terms;
};
enum err word_scope_load(struct word_scope *scope, int64_t row, struct word_passage *out) MUST_USE;
