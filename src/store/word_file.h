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

/* A document that has changed; the workspace is "" when it was removed. */
struct word_change {
    const char *document_id, *workspace_id;
    int64_t revision;
};

/* Who makes a document: on the maker's stack. */
struct word_claim {
    const char *document_id;
    struct word_claim *next;
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
    _Atomic bool is_stopping;    /* the service ends: nothing more is made */
    struct word_queue *queue;

    pthread_mutex_t claims_mutex;
    pthread_cond_t claim_given; /* by the monotonic clock */
    struct word_claim *claims;

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
/* Commits. Else nothing since the last slice was kept; ERR_BUSY: the file is as it was, and may be
 * written later; ERR_IO: a damaged one is made anew. */
enum err word_turn_end(struct word_turn *turn) MUST_USE;

struct word_reader word_reader_take(struct word_index *index);
void word_reader_give(struct word_index *index, struct word_reader reader);

/* word_file_claim.c */

void word_claims_init(struct word_index *index);
void word_claims_clear(struct word_index *index);
/* One at a time for each document. False: another one makes it still at until_us, or the service
 * ends; there is nothing to give back then. */
bool word_claim_take(struct word_index *index, const char *document_id, int64_t until_us,
                     struct word_claim *out) MUST_USE;
void word_claim_give(struct word_index *index, struct word_claim *claim);

/* word_file_queue.c: the background's order, by turns of workspaces. */

struct word_queue *word_queue_new(void);
void word_queue_free(struct word_queue *queue);
/* Searches leave the document to the background until it has made it; not kept past a ceiling. */
void word_queue_leave(struct word_queue *queue, const struct word_change *change);
bool word_queue_is_left(struct word_queue *queue, const struct word_change *change);
/* For the background alone. */
/* Forgets everything when the file is another one. */
void word_queue_begin(struct word_queue *queue, unsigned generation, int64_t seen);
/* Changes up to it stand in line or are done; after a full line, from the first that found no room.
 */
int64_t word_queue_scanned(struct word_queue *queue);
void word_queue_add(struct word_queue *queue, const struct word_change *change);
void word_queue_note_scanned(struct word_queue *queue, int64_t revision);
/* The next one, in the arena; false: none waits. It ends by word_queue_end(). */
bool word_queue_next(struct word_queue *queue, struct arena *arena, struct word_change *out);
/* is_done: if not, it waits again. cost_us: what its workspace has had. */
void word_queue_end(struct word_queue *queue, const struct word_change *change, bool is_done,
                    int64_t cost_us);
/* All changes up to it are done. */
int64_t word_queue_done(struct word_queue *queue);

/* word_file_draft.c */

/* Makes a document's passages anew in the file. ERR_TIMEOUT: not by until_us, or the service ends;
 * the old ones stay. */
enum err word_draft_write(struct word_index *index, struct tx *tx, const struct word_change *change,
                          int64_t until_us) MUST_USE;
/* Takes it out. */
enum err word_draft_forget(struct word_index *index, struct tx *tx,
                           const char *document_id) MUST_USE;
/* Removes what is left of documents that were replaced, a slice. *out_is_done: there is none. */
enum err word_draft_sweep(struct word_index *index, struct tx *tx, bool *out_is_done) MUST_USE;

/* Numbers as bytes: seven bits each, the lowest first. */
void word_bytes_add(struct buf *out, uint64_t number);
bool word_bytes_next(const unsigned char **at, const unsigned char *end, uint64_t *out);
