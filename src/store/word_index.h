/* The word index of a node: a derived SQLite file, filled from the passages in the database, made
 * anew when it is missing, damaged or of another database. SQLite and PostgreSQL deployments search
 * alike. It knows no language: know/ says what words a passage has and by what keys a word is
 * found.
 *
 *   words   of a workspace: no workspace's vocabulary is looked through for another's question
 *   keys    key -> words: other forms of a word (stems, sounds, groups)
 *   posts   word, document -> its passages
 *   texts   passage -> text, and the words in their order
 *
 * Writing goes in slices of some 10 ms in turns, so that nobody's document, however large, holds up
 * another's search. Ranking is the caller's, by what stands in the documents that are asked.
 * Thread: any; each search takes a connection of its own. */
#pragma once

#include <stdbool.h>
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

/* The words of a passage in their order, in the arena; the first `lead` are its heading. */
struct word_list {
    const char **items;
    size_t count, lead;
};

struct word_index_terms {
    void (*words)(const struct passage *passage, struct arena *arena, struct word_list *out);
    /* The keys of a word, spaces between, appended. iso: of the passage where it came first. */
    void (*keys)(const char *word, const char *iso, struct buf *out);
    int version; /* of what they do; another one makes the index anew */
};

/* ERR_IO. */
enum err word_index_open(struct store *store, const struct word_index_terms *terms,
                         struct word_index **out, struct fault *fault) MUST_USE;
void word_index_close(struct word_index *index);
/* The service ends: what is being made is left to the next start, nobody waits for it. Searches
 * find what is there. */
void word_index_stop(struct word_index *index);

/* Brings the index up to what the database of this job has of these documents; cheap when they have
 * not changed: whoever searches waits for no other's documents, nor past until_us (monotonic). What
 * is left, or what another one is making still, is word_index_step()'s: later searches do not try
 * it again. Inside a job. */
enum err word_index_catch_up(struct word_index *index, struct tx *tx,
                             const struct text_list *document_ids, int64_t until_us) MUST_USE;
/* In the background, one at a time: takes in what has changed until until_us, by turns of
 * workspaces. *out_is_done: nothing is left. ERR_BUSY: word_index_stop(). */
enum err word_index_step(struct word_index *index, struct tx *tx, int64_t until_us,
                         bool *out_is_done) MUST_USE;
/* What a reader found in the file cannot be: it is made anew. */
void word_index_drop(struct word_index *index, const char *why);

/* Searching. */

/* In some documents of one workspace; those that are not in the index are left out. NULL: the index
 * could not be read. Results live in the arena. */
struct word_scope *word_scope_open(struct word_index *index, const struct text_list *document_ids,
                                   struct arena *arena);
void word_scope_free(struct word_scope *scope);
DEFINE_AUTO(word_scope)
bool word_scope_has_failed(const struct word_scope *scope); /* the file is damaged */

size_t word_scope_passages(const struct word_scope *scope); /* how many there are */
/* ISO codes of the documents' passages, each once, at most 4. */
const struct text_list *word_scope_languages(const struct word_scope *scope);

struct indexed_word {
    int64_t number;
    const char *text;
};
struct word_matches {
    struct indexed_word *items;
    size_t count;
};
int64_t word_scope_word(struct word_scope *scope, const char *text); /* 0: there is none */
/* Words of the vocabulary with a key, at most so many. */
struct word_matches word_scope_key(struct word_scope *scope, const char *key, size_t most);

/* Passages as numbers from 0, ascending: documents one after another. */
struct word_rows {
    uint32_t *items;
    size_t count;
};
struct word_rows word_scope_find(struct word_scope *scope, int64_t word);

struct word_passage {
    const char *document_id;
    const char *text, *question; /* question "": a section */
    const int64_t *words;        /* in their order; the first `lead` are the heading */
    size_t word_count, lead;
    size_t document; /* number of its document in the scope */
};
enum err word_scope_load(struct word_scope *scope, uint32_t row, struct word_passage *out) MUST_USE;
/* The documents of the scope by number: how many, which one a passage is in, and the first passage
 * after it. */
size_t word_scope_documents(const struct word_scope *scope);
const char *word_scope_document_id(const struct word_scope *scope, size_t document);
size_t word_scope_document(const struct word_scope *scope, uint32_t row);
/* The words of what a document says it is. */
const int64_t *word_scope_title(const struct word_scope *scope, size_t document, size_t *out_count);
size_t word_scope_document_end(const struct word_scope *scope, size_t document);
