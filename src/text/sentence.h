/* Cuts a reply, as it streams in, into pieces that are spoken one by one: sentences, and first of
 * all a clause, so that the voice can start early. Knows abbreviations, numbers, initials, URLs,
 * the danda and the full stops of other scripts; a newline ends a piece too. Sans-I/O.
 * Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/buf.h"

struct splitter {
    struct buf text;  /* what is not yet cut */
    struct buf piece; /* what splitter_next() gave */
    bool has_cut;     /* the first piece is out */
    bool is_finished;
    bool cuts_clauses; /* the first piece may be a clause */
};

enum {
    SPLITTER_TEXT_MAX_BYTES = 64 * 1024, /* waiting text; over it ERR_LIMIT */
    SPLITTER_PIECE_MAX_CHARS = 400,      /* a longer sentence is cut at a space */
    SPLITTER_CLAUSE_MIN_CHARS = 24,      /* shorter first clauses wait for more */
};

void splitter_init(struct splitter *splitter, bool cuts_clauses);
void splitter_clear(struct splitter *splitter);
void splitter_reset(struct splitter *splitter); /* for the next reply */

/* A delta of the reply. A character may be cut between two deltas. */
enum err splitter_push(struct splitter *splitter, const char *delta, size_t len) MUST_USE;
/* No more text: what is left is a piece. */
void splitter_finish(struct splitter *splitter);
/* The next whole piece, trimmed, or NULL. Borrowed until the next call. */
const char *splitter_next(struct splitter *splitter);
