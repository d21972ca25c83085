/* The knowledge of a node: its index, its reading of documents, its searches (see know.h).
 * Thread: the loop's, except for the jobs. */
#include "know/know.h"

#include "base/mem.h"
#include "know/reading.h"
#include "know/search.h"
#include "know/terms.h"
#include "store/document.h"
#include "store/store.h"
#include "store/word_index.h"
#include <stdatomic.h>

struct know {
    struct store *store;
    struct word_index *index;
    struct reading *reading;
    _Atomic unsigned users; /* any thread: know_open(), and each job under way */
};

static void release(struct know *know)
{
    if (atomic_fetch_sub(&know->users, 1) > 1)
        return;
    word_index_close(know->index);
    mem_free(know);
}

/* --- searching --- */

static enum err name_documents(struct tx *tx, struct hit_list *hits)
{
    for (size_t i = 0; i < hits->count; i++) {
        enum err err =
            store_document_name(tx, hits->items[i].document_id, &hits->items[i].document);
        if (err && err != ERR_NOT_FOUND)
            return err;
    }
    return OK;
}

enum err know_search(struct know *know, struct tx *tx, const struct text_list *document_ids,
                     const char *query, unsigned limit, struct hit_list *out)
{
    *out = (struct hit_list){0};
    enum err err = word_index_catch_up(know->index, tx, document_ids);
    if (err)
        return err;
    AUTO(word_scope) scope = word_scope_open(know->index, document_ids, tx->arena);
    if (!scope)
        return ERR_IO;
    err = search_scope(scope, query, MIN(limit, (unsigned)KNOW_HITS_MAX), tx->arena, out);
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

static void ask_done(void *arg, enum err err)
{
    struct question *question = arg;
    static const struct hit_list none;
    question->fn(question->arg, err, err ? &none : &question->hits);
    struct know *know = question->know;
    question_free(question);
    release(know);
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
    atomic_fetch_add(&know->users, 1);
    struct store_line line = {.key = asked->workspace_id, .mode = STORE_READ};
    enum err err = store_job_for(know->store, line, ask_job, question, loop, ask_done);
    if (err) {
        question_free(question);
        release(know);
    }
    return err;
}

enum err know_open(const struct know_config *config, struct know **out, struct fault *fault)
{
    struct know *know = mem_new(struct know);
    know->store = config->store;
    atomic_store(&know->users, 1);
    enum err err = word_index_open(config->store, know_terms, TERMS_VERSION, &know->index, fault);
    if (err) {
        mem_free(know);
        return err;
    }
    know->reading = reading_open(config);
    *out = know;
    return OK;
}

void know_close(struct know *know)
{
    if (!know)
        return;
    reading_close(know->reading);
    release(know);
}
