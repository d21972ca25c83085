/* The file of the word index: its connections, its writer's turns. For store/word_*.c only.
 *
 * A row's number is its document's number and its position, so that the rows of a document are a
 * range. A document is written under a new number, slice by slice, and takes the place of the old
 * one in one transaction; what is left of the old one is removed afterwards. Thread: any. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/internal.h"
#include "store/word_index.h"

enum {
    WORD_READERS_MAX = 16,
    POSITION_BITS = 20, /* more passages than 2,000,000 characters can give */
    WORD_MARK_BYTES = 160,
};

enum word_state { WORD_MAKING, WORD_WHOLE, WORD_DYING }; /* of a document in the file */

struct word_reader {
    struct db *db;
    unsigned generation; /* of the file that it has open */
};

struct word_index {
    struct store *store;
    struct word_index_terms terms;
    char *path;
    _Atomic unsigned generation; /* counts how often the file was made anew */
    _Atomic int64_t revision;    /* all changes up to it are in the file; -1: not known yet */
    char mark[WORD_MARK_BYTES];  /* what the file must have been made from; set once, by mutex */
    pthread_mutex_t claims[64];  /* who makes a document: by its id */

    pthread_mutex_t readers_mutex;
    struct word_reader readers[WORD_READERS_MAX]; /* idle ones */

    /* The writer's turns, first come, first served. */
    pthread_mutex_t mutex;
    pthread_cond_t turn;
    uint64_t tickets, serving;
    /* whose turn it is */
    struct db *writer; /* NULL: to be opened */
    unsigned making;   /* documents that are being made: no word is removed meanwhile */
};

/* A turn of the writer: a transaction that makes way for others every 10 ms. */
struct word_turn {
    struct word_index *index;
    struct tx file;
    int64_t until_us;
    unsigned generation;
};
/* ERR_IO: the file could not be opened; then there is no turn to end. */
enum err word_turn_begin(struct word_index *index, struct tx *tx, struct word_turn *out) MUST_USE;
/* Lets others in when its time is over. False: it has failed, or the file was made anew meanwhile.
 */
bool word_turn_goes_on(struct word_turn *turn);
/* Commits. ERR_IO: nothing since the last slice was kept; a damaged file is made anew. */
enum err word_turn_end(struct word_turn *turn) MUST_USE;

struct word_reader word_reader_take(struct word_index *index);
void word_reader_give(struct word_index *index, struct word_reader reader);

/* word_file_draft.c */

/* Makes a document's passages anew in the file. */
enum err word_draft_write(struct word_index *index, struct tx *tx, const char *document_id,
                          const char *workspace_id, int64_t revision) MUST_USE;
/* Takes it out. */
enum err word_draft_forget(struct word_index *index, struct tx *tx,
                           const char *document_id) MUST_USE;
/* Removes what is left of documents that were replaced, a slice. *out_is_done: there is none. */
enum err word_draft_sweep(struct word_index *index, struct tx *tx, bool *out_is_done) MUST_USE;

/* Numbers as bytes: seven bits each, the lowest first. */
void word_bytes_add(struct buf *out, uint64_t number);
bool word_bytes_next(const unsigned char **at, const unsigned char *end, uint64_t *out);
