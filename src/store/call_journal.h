/* The records of a call, as its owner writes them (call/journal.h): numbered, each written once
 * whatever became of the answer of its job, and set aside where it can never be written.
 * Thread: inside a job. */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "store/store.h"

struct tx;

/* The number of the last record that was written; 0: none. ERR_NOT_FOUND: no such call. */
enum err store_call_journal_last(struct tx *tx, const char *call_id, int64_t *out_number) MUST_USE;
/* In the same job as the record itself. */
void store_call_journal_note(struct tx *tx, const char *call_id, int64_t number);

struct call_record {
    const char *call_id, *workspace_id;
    const char *excerpt; /* for a dead letter; NULL: none */
    store_fn *fn;        /* writes it */
    void *arg;
};
/* One record in a savepoint of its own. ERR_IO: a transient fault. ERR_DENIED: the call is no
 * longer this node's. ERR_INVALID: it can never be written and was set aside. */
enum err store_call_journal_try(struct tx *tx, const struct call_record *record) MUST_USE;
/* Sets it aside untried: it failed too often while others were written. */
enum err store_call_journal_skip(struct tx *tx, const struct call_record *record) MUST_USE;
