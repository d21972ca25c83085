/* The knowledge of a node: its index, its reading of documents, its searches (see know.h).
 * Thread: the loop's, except for the jobs. */
#include "know/know.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/mem.h"
#include "know/indexing.h"
#include "know/internal.h"
#include "know/reading.h"
#include "know/search.h"
#include "know/terms.h"
#include "store/document.h"
#include "store/store.h"
#include "store/word_index.h"

enum {
    CATCH_UP_US = 1000000 /* that a search waits for its own documents; the background goes on */
};

struct know {
    struct store *store;
    struct word_index *index;
    struct reading *reading;
    struct indexing *indexing;
    _Atomic unsigned users; /* any thread: know_open(), and each job under way */
};

void know_hold(struct know *know)
{
    atomic_fetch_add(&know->users, 1);
}

void know_release(struct know *know)
{
    if (atomic_fetch_sub(&know->users, 1) > 1)
        return;
    word_index_close(know->index);
    mem_free(know);
}

/* Searching. */

/* Those that were removed, or are read anew, since the index has seen them drop out. */
static enum err name_documents(struct tx *tx, struct hit_list *hits)
{
    size_t kept = 0;
    for (size_t i = 0; i < hits->count; i++) {
        struct hit *hit = &hits->items[i];
        enum err err = store_document_name(tx, hit->document_id, &hit->document);
        if (err && err != ERR_NOT_FOUND)
            return err;
        if (!err)
            hits->items[kept++] = *hit;
    }
    hits->count = kept;
    return OK;
}

static enum err search_once(struct know *know, struct tx *tx, const struct know_question *asked,
                            unsigned limit, struct hit_list *out)
{
    *out = (struct hit_list){0};
    int64_t until_us = clock_now_us() + CATCH_UP_US;
    enum err err = word_index_catch_up(know->index, tx, asked->document_ids, until_us);
    if (err)
        return err;
    AUTO(word_scope) scope = word_scope_open(know->index, asked->document_ids, tx->arena);
    return scope ? search_scope(scope, asked->query, limit, tx->arena, out) : ERR_IO;
}

enum err know_search(struct know *know, struct tx *tx, const struct text_list *document_ids,
                     const char *query, unsigned limit, struct hit_list *out)
{
    const struct know_question asked = {.document_ids = document_ids, .query = query};
    limit = MIN(limit, (unsigned)KNOW_HITS_MAX);
    enum err err = search_once(know, tx, &asked, limit, out);
    if (err && !tx->fault.err) { /* the index's fault: it is made anew, as far as is asked */
        word_index_drop(know->index, "it could not be read");
        err = search_once(know, tx, &asked, limit, out);
        if (err && !tx->fault.err)
            return fault_set(&tx->fault, ERR_IO, "the search index cannot be made");
    }
    return err ? err : name_documents(tx, out);
}

struct question {
    struct know *know;
    struct text_list ids;
    char *query;
    know_found_fn *fn;
    void *arg;
    struct hit_list hits;
};

static enum err ask_job(struct tx *tx, void *arg)
{
    struct question *question = arg;
    return know_search(question->know, tx, &question->ids, question->query, KNOW_HITS_DEFAULT,
                       &question->hits);
}

static void question_free(struct question *question)
{
    for (size_t i = 0; i < question->ids.count; i++)
        mem_free((void *)question->ids.items[i]);
    mem_free(question->ids.items);
    mem_free(question->query);
    mem_free(question);
}

static void on_asked(void *arg, enum err err)
{
    struct question *question = arg;
    static const struct hit_list none;
    question->fn(question->arg, err, err ? &none : &question->hits);
    struct know *know = question->know;
    question_free(question);
    know_release(know);
}

enum err know_ask(struct know *know, const struct know_question *asked, struct loop *loop,
                  know_found_fn *fn, void *arg)
{
    const struct text_list *document_ids = asked->document_ids;
    struct question *question = mem_new(struct question);
    *question =
        (struct question){.know = know, .query = mem_strdup(asked->query), .fn = fn, .arg = arg};
    question->ids.items = mem_new_n(const char *, document_ids->count + 1);
    for (size_t i = 0; i < document_ids->count; i++)
        question->ids.items[question->ids.count++] = mem_strdup(document_ids->items[i]);
    know_hold(know);
    struct store_line line = {.key = asked->workspace_id, .mode = STORE_READ};
    enum err err = store_job_for(know->store, line, ask_job, question, loop, on_asked);
    if (err) {
        question_free(question);
        know_release(know);
    }
    return err;
}

enum err know_open(const struct know_config *config, struct know **out, struct fault *fault)
{
    struct know *know = mem_new(struct know);
    know->store = config->store;
    atomic_store(&know->users, 1);
    static const struct word_index_terms terms = {know_words, know_keys, TERMS_VERSION};
    enum err err = word_index_open(config->store, &terms, &know->index, fault);
    if (err) {
        mem_free(know);
        return err;
    }
    know->reading = reading_open(config);
    know->indexing = indexing_open(know, config);
    *out = know;
    return OK;
}

struct word_index *know_index(struct know *know)
{
    return know->index;
}

void know_close(struct know *know)
{
    if (!know)
        return;
    reading_close(know->reading);
    indexing_close(know->indexing);
    know_release(know);
}
