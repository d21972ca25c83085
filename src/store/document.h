/* Knowledge documents, their source, and the passages taken from them. Thread: inside a job. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct document;
struct document_progress;
struct document_list;
struct section_list;
struct text_list;
struct tx;

enum {
    DOCUMENTS_WAITING_MAX = 200, /* in the whole service; more: KNOWLEDGE_BUSY */
    DOCUMENTS_WAITING_FREE = 4,  /* a workspace's first ones, which others cannot keep out */
};

/* One passage or card: what is searched and spoken. */
struct passage {
    const char *text;
    const char *question; /* NULL: a section */
    const char *language; /* ISO code guessed from the text, "" unknown */
};

/* Where a document's bytes come from: memory, or else a file, which is never whole in memory. */
struct document_source {
    const void *data; /* NULL: fd */
    size_t len;
    int fd; /* read by offset */
};

/* Fills id, status processing, created_wall_ms, updated_wall_ms. Counts one addition against the
 * hourly allowance, unless the limit is 0. ERR_CONFLICT: the workspace holds DOCUMENTS_MAX;
 * ERR_LIMIT: hourly allowance; ERR_BUSY: 200 wait; ERR_IO. Call store_workspace_lock() before. */
enum err store_document_insert(struct tx *tx, struct document *document,
                               const struct document_source *source, int64_t hourly_limit) MUST_USE;
enum err store_document_get(struct tx *tx, const char *workspace_id, const char *id,
                            struct document *out) MUST_USE;
/* Newest first. */
enum err store_document_list(struct tx *tx, const char *workspace_id,
                             struct document_list *out) MUST_USE;
/* The ids of all, or of those that can be searched, in no order (at most DOCUMENTS_MAX). */
enum err store_document_ids(struct tx *tx, const char *workspace_id, bool only_ready,
                            struct text_list *out) MUST_USE;
/* Drops from ids what is no document of the workspace (only_ready: or cannot be searched yet). */
enum err store_document_keep_known(struct tx *tx, const char *workspace_id, struct text_list *ids,
                                   bool only_ready) MUST_USE;
/* Out of the index too. ERR_NOT_FOUND. */
enum err store_document_remove(struct tx *tx, const char *workspace_id, const char *id) MUST_USE;
/* Reads it again: processing. ERR_CONFLICT: it is processing. ERR_BUSY: 200 wait. */
enum err store_document_retry(struct tx *tx, const char *workspace_id, const char *id,
                              struct document *out) MUST_USE;
/* The name of one that is ready, in the job's arena. ERR_NOT_FOUND. */
enum err store_document_name(struct tx *tx, const char *id, const char **out) MUST_USE;
/* What it says it is: its name and its first heading, in the job's arena; "" when there is none. */
enum err store_document_title(struct tx *tx, const char *id, const char **out) MUST_USE;
/* The file or text as it was added, by pieces of at most DOCUMENT_PIECE_BYTES (those of earlier
 * versions are longer), from 0 on, in the job's arena. ERR_NOT_FOUND: there is none after the one
 * before. */
enum { DOCUMENT_PIECE_BYTES = 256 * 1024 };
enum err store_document_piece(struct tx *tx, const char *id, int64_t position, const void **out,
                              size_t *out_len) MUST_USE;
enum err store_document_passages(struct tx *tx, const char *id, struct passage **out,
                                 size_t *out_n) MUST_USE;
/* A page of its passages without the cards, in their order: those after the position `after` (-1:
 * the first ones), `limit` at most, and fewer where their texts are long (SECTIONS_BYTES; one at
 * least). Reads them by their index. out_next: where the next page goes on; -1: these were the
 * last. */
enum { SECTIONS_BYTES = 256 * 1024 };
enum err store_document_sections(struct tx *tx, const char *id, int64_t after, unsigned limit,
                                 struct section_list *out, int64_t *out_next) MUST_USE;
extern const char store_document_sections_look[]; /* for the test of what it reads */

/* Reading, in the background. */

/* Documents that wait and that nobody is at work with, the longest waiting first (at most
 * DOCUMENTS_LISTED): only id, user_id, kind, bytes. */
enum { DOCUMENTS_LISTED = 1000 };
enum err store_document_waiting(struct tx *tx, struct document_list *out) MUST_USE;
/* Takes one of them: leased to this node for two minutes, so that another takes it over when this
 * one dies; what a former process of this node had taken is free. ERR_NOT_FOUND: it waits no more.
 */
enum err store_document_take(struct tx *tx, const char *id, struct document *out) MUST_USE;
/* How far reading is; renews the lease. ERR_NOT_FOUND: removed or taken over meanwhile. */
enum err store_document_progress(struct tx *tx, const char *id,
                                 const struct document_progress *progress) MUST_USE;
/* The passages from `first` on, of n in all, a slice of them: PASSAGES_SLICE at most, so that no
 * write job takes long. Renews the lease. ERR_NOT_FOUND: as above. */
enum { PASSAGES_SLICE = 500 };
enum err store_document_put(struct tx *tx, const char *id, const struct passage *passages, size_t n,
                            size_t first) MUST_USE;
/* Ready: with these passages, of which those that were put already stay as they are; counts follow
 * from them. ERR_NOT_FOUND: removed or taken over meanwhile. */
enum err store_document_ready(struct tx *tx, const char *id, int64_t chars,
                              const struct passage *passages, size_t n,
                              const struct text_list *topics) MUST_USE;
enum err store_document_failed(struct tx *tx, const char *id, const char *reason) MUST_USE;
