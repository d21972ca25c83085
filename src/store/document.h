/* Knowledge documents, their source, and the passages taken from them. Thread: inside a job. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct document;
struct document_list;
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

/* Fills id, status processing, created_wall_ms, updated_wall_ms. source: the text, or the file's
 * bytes. Counts one addition against the hourly allowance, unless the limit is 0. ERR_CONFLICT: the
 * workspace holds DOCUMENTS_MAX; ERR_LIMIT: hourly allowance; ERR_BUSY: 200 wait. Call
 * store_workspace_lock() before. */
enum err store_document_insert(struct tx *tx, struct document *document, const void *source,
                               size_t source_len, int64_t hourly_limit) MUST_USE;
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
/* Reads it again: processing. ERR_CONFLICT: it is processing. */
enum err store_document_retry(struct tx *tx, const char *workspace_id, const char *id,
                              struct document *out) MUST_USE;
/* Its name, in the job's arena; *out is left as it is when there is none. */
enum err store_document_name(struct tx *tx, const char *id, const char **out) MUST_USE;
/* The file or text as it was added, in the job's arena. */
enum err store_document_source(struct tx *tx, const char *id, const void **out,
                               size_t *out_len) MUST_USE;
enum err store_document_passages(struct tx *tx, const char *id, struct passage **out,
                                 size_t *out_n) MUST_USE;

/* Reading, in the background: takes one document that waits (leased to this node for two minutes,
 * so that another takes it over when this one dies). Workspaces take turns: the next is the one
 * after `last`, whose document was taken last ("": none). ERR_NOT_FOUND: none waits. */
enum err store_document_take(struct tx *tx, const char *last, struct document *out) MUST_USE;
/* Ready: passages replace the old ones, counts follow from them. ERR_NOT_FOUND: removed or taken
 * over meanwhile. */
enum err store_document_ready(struct tx *tx, const char *id, int64_t chars,
                              const struct passage *passages, size_t n,
                              const struct text_list *topics) MUST_USE;
enum err store_document_failed(struct tx *tx, const char *id, const char *reason) MUST_USE;
