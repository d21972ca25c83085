/* The vectors of passages (engine/embed.h), stored beside them: a row for each slice of a document,
 * a byte for each number. A document has those of one model; when another one is asked for, they
 * are made anew. Thread: inside a job. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct tx;

enum {
    VECTOR_SLICE = 32, /* passages of a row */
    VECTOR_TURN = 256, /* of a document at a time: then another workspace has its turn */
};

/* Passages whose vectors are wanted, in the job's arena. */
struct vector_turn {
    const char *document_id, *workspace_id;
    int64_t done;     /* passages of the document that have theirs */
    int64_t end;      /* the same, when all of these have theirs: the lease ends */
    int64_t until_ms; /* it is leased until then */
    const char **texts;
    size_t count;
};

/* A ready document without vectors of this model, of the workspace after the named one ("": any),
 * so that workspaces take turns: document_id, workspace_id, done. ERR_NOT_FOUND: none waits. Reads
 * those that wait alone, in their order; after a change of the model these are all: not for the one
 * writer. */
enum err store_vector_find(struct tx *tx, const char *model, const char *after_workspace,
                           struct vector_turn *out) MUST_USE;
/* Its next passages, leased for a minute. ERR_NOT_FOUND: it waits no more. */
enum err store_vector_take(struct tx *tx, const char *model, const char *document_id,
                           struct vector_turn *out) MUST_USE;
/* Stores those of the next VECTOR_SLICE passages of a turn, or of its last ones: count * size
 * numbers, of unit length. Renews the lease, and moves the turn on. ERR_NOT_FOUND: the document was
 * removed, read again or taken over meanwhile. */
enum err store_vector_put(struct tx *tx, const char *model, struct vector_turn *turn,
                          const float *vectors, size_t count, size_t size) MUST_USE;
/* Not again before so long. */
void store_vector_put_off(struct tx *tx, const struct vector_turn *turn, int64_t ms);
struct vector_asked {
    const char *model;
    const float *numbers; /* of unit length */
    size_t size;
};
/* The cosines of a document's passages from `first` (a multiple of VECTOR_SLICE) on, at most so
 * many, with a vector of this model; what is not there stays as it is. */
void store_vector_compare(struct tx *tx, const char *document_id, const struct vector_asked *asked,
                          size_t first, size_t count, float *out_cosines);
/* Of a document whose passages go. */
void store_vector_drop(struct tx *tx, const char *document_id);
