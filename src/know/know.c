/* The knowledge of a node: its index, its reader of documents, its searches (see know.h).
 * Thread: the loop's, except for the jobs. */
#include "know/know.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/ids.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "know/passages.h"
#include "know/search.h"
#include "know/terms.h"
#include "store/document.h"
#include "store/store.h"
#include "store/word_index.h"
#include "text/words.h"

enum { LOOK_AGAIN_US = 5000000 /* for documents that another node left */ };

struct know {
    struct store *store;
    struct loop *loop;
    struct word_index *index;
    struct store_watch *watch;
    struct timer look;
    bool is_reading, is_closing;
    char last_workspace[ID_SIZE]; /* whose document was taken last */
    _Atomic unsigned users;       /* any thread: know_open(), and each job under way */
};

/* One document on its way: taken (write job), cut (read job, for the thread), stored (write job).
 * Three jobs, so that cutting holds no writer back. */
struct reading {
    struct know *know;
    struct arena *arena;
    char id[ID_SIZE], workspace_id[ID_SIZE]; /* before it is taken: of the one before it */
    enum document_kind kind;
    const char *source;
    size_t source_len;
    struct passages passages;
    const char *failure; /* a sentence for the user, or NULL */
};

static void look(void *arg);

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

/* --- reading --- */

static void reading_free(struct reading *reading)
{
    if (!reading)
        return;
    arena_free(reading->arena);
    mem_free(reading);
}

static void reading_over(struct reading *reading)
{
    struct know *know = reading->know;
    reading_free(reading);
    know->is_reading = false;
    release(know);
}

static enum err take_job(struct tx *tx, void *arg)
{
    struct reading *reading = arg;
    struct document document;
    const void *source;
    enum err err = store_document_take(tx, reading->workspace_id, &document);
    if (!err)
        err = store_document_source(tx, document.id, &source, &reading->source_len);
    if (err)
        return err;
    snprintf(reading->id, sizeof(reading->id), "%s", document.id);
    snprintf(reading->workspace_id, sizeof(reading->workspace_id), "%s", document.user_id);
    reading->kind = document.kind;
    char *copy = arena_alloc(reading->arena, reading->source_len + 1);
    memcpy(copy, source, reading->source_len);
    reading->source = copy;
    return OK;
}

static enum err cut_job(struct tx *tx, void *arg)
{
    (void)tx;
    struct reading *reading = arg;
    if (reading->kind != DOCUMENT_TEXT && reading->kind != DOCUMENT_TXT)
        reading->failure = "Files of this kind cannot be read here.";
    else if (strlen(reading->source) != reading->source_len)
        reading->failure = "The text holds a NUL character.";
    else if (text_length(reading->source) > DOCUMENT_EXTRACTED_MAX)
        reading->failure = "The text is longer than 2,000,000 characters.";
    else if (passages_cut(reading->source, reading->arena, &reading->passages))
        reading->failure = "There is no text in it.";
    return OK;
}

static enum err store_job_fn(struct tx *tx, void *arg)
{
    struct reading *reading = arg;
    if (reading->failure)
        return store_document_failed(tx, reading->id, reading->failure);
    return store_document_ready(tx, reading->id, (int64_t)text_length(reading->source),
                                reading->passages.items, reading->passages.count,
                                &reading->passages.topics);
}

static void stored(void *arg, enum err err)
{
    struct reading *reading = arg;
    struct know *know = reading->know;
    if (err && err != ERR_NOT_FOUND) /* its lease runs out, and it is read again */
        log_warn("know.not_stored", LOG_S("document", reading->id), LOG_S("error", err_name(err)));
    else
        log_info("know.read", LOG_S("document", reading->id),
                 LOG_I("passages", (int64_t)reading->passages.count),
                 LOG_S("failure", reading->failure));
    atomic_fetch_add(&know->users, 1);
    reading_over(reading);
    look(know);
    release(know);
}

static void cut(void *arg, enum err err)
{
    struct reading *reading = arg;
    struct store_line line = {.key = reading->workspace_id, .mode = STORE_WRITE};
    if (err || reading->know->is_closing || /* the store may be gone; its lease runs out */
        store_job_for(reading->know->store, line, store_job_fn, reading, reading->know->loop,
                      stored))
        reading_over(reading);
}

static void taken(void *arg, enum err err)
{
    struct reading *reading = arg;
    struct store_line line = {.key = reading->workspace_id, .mode = STORE_READ};
    if (!err)
        memcpy(reading->know->last_workspace, reading->workspace_id, ID_SIZE);
    if (err || reading->know->is_closing ||
        store_job_for(reading->know->store, line, cut_job, reading, reading->know->loop, cut))
        reading_over(reading);
}

static void look(void *arg)
{
    struct know *know = arg;
    if (know->is_closing)
        return;
    timer_set_after(&know->look, LOOK_AGAIN_US);
    if (know->is_reading)
        return;
    struct reading *reading = mem_new(struct reading);
    reading->know = know;
    snprintf(reading->workspace_id, sizeof(reading->workspace_id), "%s", know->last_workspace);
    reading->arena = arena_new(0);
    know->is_reading = true;
    atomic_fetch_add(&know->users, 1);
    if (store_job(know->store, STORE_WRITE, take_job, reading, know->loop, taken))
        reading_over(reading);
}

static void documents_changed(void *arg, unsigned topics)
{
    (void)topics;
    look(arg);
}

enum err know_open(struct store *store, struct loop *loop, struct know **out, struct fault *fault)
{
    struct know *know = mem_new(struct know);
    know->store = store;
    know->loop = loop;
    atomic_store(&know->users, 1);
    enum err err = word_index_open(store, know_terms, TERMS_VERSION, &know->index, fault);
    if (err) {
        mem_free(know);
        return err;
    }
    timer_init(&know->look, loop, look, know);
    timer_set_after(&know->look, 0);
    know->watch = store_watch(store, STORE_DOCUMENTS, loop, documents_changed, know);
    *out = know;
    return OK;
}

void know_close(struct know *know)
{
    if (!know)
        return;
    know->is_closing = true;
    timer_stop(&know->look);
    store_unwatch(know->watch);
    release(know);
}
