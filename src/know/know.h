/* Knowledge: reads documents into passages in the background, and finds the passages that answer a
 * question. Words, stems and character n-grams; no model needed (architecture, Search).
 *
 *   document added --watch--> reading (know/reading.h) --> ready --> index --> search
 *
 * similarity is 0-1 and comparable between queries; what is under the floor is not shown, so that
 * an empty list means 'not in the documents'. Thread: see each function. */
#pragma once

#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"
#include "model/document.h"

struct engine;
struct know;
struct loop;
struct store;
struct tx;

enum { KNOW_HITS_DEFAULT = 5, KNOW_HITS_MAX = 20 };

struct know_config {
    struct store *store;
    struct loop *loop;   /* runs its timers (the control loop); nothing slow happens there */
    const char *program; /* earshot itself, which reads files (extract/process.h); NULL: none can be
                            read, only what is added as text */
    const struct engine *writer; /* a language model, which makes cards beside those of the rules
                                    (know/cards.h); NULL: none */
};

/* Opens this node's index and begins to read what waits, now and whenever a document is added.
 * Thread: the loop's, or before it runs. */
enum err know_open(const struct know_config *config, struct know **out,
                   struct fault *fault) MUST_USE;
/* Before store_close(). What is under way is finished; know_found_fn of questions still comes. */
void know_close(struct know *know);

/* Inside a read or write job of the store, its thread. The ids are taken as they are (see
 * store_document_keep_known()). Best first; texts in the job's arena. */
enum err know_search(struct know *know, struct tx *tx, const struct text_list *document_ids,
                     const char *query, unsigned limit, struct hit_list *out) MUST_USE;

/* The same for a call, KNOW_HITS_DEFAULT at most: any thread; fn comes on `loop` with hits that are
 * borrowed until it returns (none when it failed, err says why). The question is copied.
 * ERR_BUSY: the workspace's line of the store is full, fn does not come. */
typedef void know_found_fn(void *arg, enum err err, const struct hit_list *hits);
struct know_question {
    const char *workspace_id; /* whose documents they are */
    const struct text_list *document_ids;
    const char *query;
};
enum err know_ask(struct know *know, const struct know_question *asked, struct loop *loop,
                  know_found_fn *fn, void *arg) MUST_USE;
