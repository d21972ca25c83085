/* Knowledge: reads documents into passages in the background, and finds the passages that answer a
 * question. Words, stems and sounds; no model needed, and where there is one of vectors, their
 * meaning, too (architecture, Search).
 *
 *   document added --watch--> reading (know/reading.h) --> ready --> index --> search
 *
 * similarity is 0-1 and comparable between queries; what is under the floor is not shown, so that
 * an empty list means 'not in the documents'. Thread: see each function. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"
#include "model/document.h"

struct engine;
struct know;
struct loop;
struct store;
struct tx;

enum { KNOW_HITS_STANDARD = 5, KNOW_HITS_MAX = 20 };

struct know_config {
    struct store *store;
    struct loop *loop;   /* runs its timers (the control loop); nothing slow happens there */
    const char *program; /* earshot itself, which reads files (extract/process.h); NULL: none can be
                            read, only what is added as text */
    const struct engine *writer;   /* a language model, which makes cards beside those of the rules
                                      (know/cards.h); NULL: none */
    const struct engine *embedder; /* makes vectors, for a search by meaning as well; NULL: none */
};

/* Opens this node's index and begins to read what waits, now and whenever a document is added.
 * Thread: the loop's, or before it runs. */
enum err know_open(const struct know_config *config, struct know **out,
                   struct fault *fault) MUST_USE;
/* The service ends: documents that are being indexed are left to the next start. Questions are
 * answered. */
void know_stop(struct know *know);
/* Before store_close(). What is under way is finished; know_found_fn of questions still comes. */
void know_close(struct know *know);

/* What a question means: `size` numbers, of unit length. */
struct know_vector {
    const float *numbers; /* NULL: nobody knows */
    size_t size;
};
/* Asks for it: fn comes once, on the loop of know_config, whose thread this is: at once when it is
 * known, or there is no engine; after 150 ms at the latest, then without (and with it the next
 * time). The vector is borrowed. */
bool know_has_meaning(const struct know *know); /* is there an engine? any */
typedef void know_meant_fn(void *arg, const struct know_vector *vector);
void know_mean(struct know *know, const char *workspace_id, const char *query, know_meant_fn *fn,
               void *arg);

struct know_question {
    const char *workspace_id; /* whose documents they are; know_search() needs none */
    const struct text_list *document_ids;
    const char *query;
    struct know_vector vector; /* of the query, for know_search(), from know_mean() */
};
/* Inside a read or write job of the store, its thread. The ids are taken as they are (see
 * store_document_keep_known()). Best first; texts in the job's arena. */
enum err know_search(struct know *know, struct tx *tx, const struct know_question *asked,
                     unsigned limit, struct hit_list *out) MUST_USE;

/* The same for a call, KNOW_HITS_STANDARD at most: any thread; fn comes on `loop` with hits that
 * are borrowed until it returns (none when it failed, err says why). The question is copied.
 * ERR_BUSY: the workspace's line of the store is full, fn does not come. */
typedef void know_found_fn(void *arg, enum err err, const struct hit_list *hits);
enum err know_ask(struct know *know, const struct know_question *asked, struct loop *loop,
                  know_found_fn *fn, void *arg) MUST_USE;
