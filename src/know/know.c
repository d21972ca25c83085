/* The knowledge of a node: its index, its reading of documents, its searches (see know.h).
 * Thread: the loop's, except for the jobs. */
#include "know/know.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/loop.h"
#include "base/mem.h"
#include "know/indexing.h"
#include "know/internal.h"
#include "know/meaning.h"
#include "know/reading.h"
#include "know/search.h"
#include "know/terms.h"
#include "know/vectors.h"
#include "store/document.h"
#include "store/store.h"
#include "store/word_index.h"

enum {
    CATCH_UP_US = 1000000 /* that a search waits for its own documents; the background goes on */
};

struct know {
    struct store *store;
    struct loop *loop;
    char *model; /* of vectors; NULL: none */
    struct meaning *meaning;
    struct vectors *vectors;
    bool is_closed;
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
    mem_free(know->model);
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
    const struct search_meaning meaning = {
        tx, {know->model, asked->vector.numbers, asked->vector.size}};
    bool has_meaning = know->model && asked->vector.numbers;
    return scope ? search_scope(scope, asked->query, has_meaning ? &meaning : NULL, limit,
                                tx->arena, out)
                 : ERR_IO;
}

enum err know_search(struct know *know, struct tx *tx, const struct know_question *asked,
                     unsigned limit, struct hit_list *out)
{
    limit = MIN(limit, (unsigned)KNOW_HITS_MAX);
    enum err err = search_once(know, tx, asked, limit, out);
    if (err && !tx->fault.err) { /* the index's fault: it is made anew, as far as is asked */
        word_index_drop(know->index, "it could not be read");
        err = search_once(know, tx, asked, limit, out);
        if (err && !tx->fault.err)
            return fault_set(&tx->fault, ERR_IO, "the search index cannot be made");
    }
    return err ? err : name_documents(tx, out);
}

struct question {
    struct know *know;
    struct text_list ids;
    char *workspace_id, *query;
    struct know_vector vector;
    struct loop *loop; /* who is told */
    know_found_fn *fn;
    void *arg;
    enum err err; /* of what was not even begun */
    struct hit_list hits;
};

static enum err ask_job(struct tx *tx, void *arg)
{
    struct question *question = arg;
    const struct know_question asked = {
        .document_ids = &question->ids, .query = question->query, .vector = question->vector};
    return know_search(question->know, tx, &asked, KNOW_HITS_STANDARD, &question->hits);
}

static void question_free(struct question *question)
{
    for (size_t i = 0; i < question->ids.count; i++)
        mem_free((void *)question->ids.items[i]);
    mem_free(question->ids.items);
    mem_free(question->workspace_id);
    mem_free(question->query);
    mem_free((void *)question->vector.numbers);
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

static enum err begin(struct question *question)
{
    struct store_line line = {.key = question->workspace_id, .mode = STORE_READ};
    return store_job_for(question->know->store, line, ask_job, question, question->loop, on_asked);
}

static void refuse(void *arg)
{
    struct question *question = arg;
    on_asked(question, question->err);
}

/* On the loop of the knowledge; the asker's is another one. */
static void on_meant(void *arg, const struct know_vector *vector)
{
    struct question *question = arg;
    if (vector->numbers) {
        float *numbers = mem_new_n(float, vector->size);
        memcpy(numbers, vector->numbers, vector->size * sizeof(float));
        question->vector = (struct know_vector){numbers, vector->size};
    }
    question->err = question->know->is_closed ? ERR_BUSY : begin(question);
    if (question->err)
        loop_post(question->loop, refuse, question);
}

static void mean(void *arg)
{
    struct question *question = arg;
    meaning_ask(question->know->meaning, question->workspace_id, question->query, on_meant,
                question);
}

enum err know_ask(struct know *know, const struct know_question *asked, struct loop *loop,
                  know_found_fn *fn, void *arg)
{
    const struct text_list *document_ids = asked->document_ids;
    struct question *question = mem_new(struct question);
    *question = (struct question){.know = know,
                                  .workspace_id = mem_strdup(asked->workspace_id),
                                  .query = mem_strdup(asked->query),
                                  .loop = loop,
                                  .fn = fn,
                                  .arg = arg};
    question->ids.items = mem_new_n(const char *, document_ids->count + 1);
    for (size_t i = 0; i < document_ids->count; i++)
        question->ids.items[question->ids.count++] = mem_strdup(document_ids->items[i]);
    know_hold(know);
    if (know->model && document_ids->count) {
        loop_post(know->loop, mean, question);
        return OK;
    }
    enum err err = begin(question);
    if (err) {
        question_free(question);
        know_release(know);
    }
    return err;
}

void know_mean(struct know *know, const char *workspace_id, const char *query, know_meant_fn *fn,
               void *arg)
{
    meaning_ask(know->meaning, workspace_id, query, fn, arg);
}

bool know_has_meaning(const struct know *know)
{
    return know->model != NULL;
}

enum err know_open(const struct know_config *config, struct know **out, struct fault *fault)
{
    struct know *know = mem_new(struct know);
    know->store = config->store;
    know->loop = config->loop;
    atomic_store(&know->users, 1);
    static const struct word_index_terms terms = {know_words, know_keys, TERMS_VERSION};
    enum err err = word_index_open(config->store, &terms, &know->index, fault);
    if (err) {
        mem_free(know);
        return err;
    }
    know->reading = reading_open(config);
    know->indexing = indexing_open(know, config);
    know->model = config->embedder ? meaning_model(config->embedder) : NULL;
    know->meaning = meaning_open(config);
    know->vectors = vectors_open(config);
    *out = know;
    return OK;
}

struct word_index *know_index(struct know *know)
{
    return know->index;
}

void know_stop(struct know *know)
{
    word_index_stop(know->index);
}

void know_close(struct know *know)
{
    if (!know)
        return;
    know_stop(know);
    reading_close(know->reading);
    indexing_close(know->indexing);
    vectors_close(know->vectors);
    know->is_closed = true;
    meaning_close(know->meaning);
    know->meaning = NULL;
    know_release(know);
}
