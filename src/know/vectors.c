/* See vectors.h.
 *
 *   look -> find a document, take a turn (store) -> embed a slice -> put it (store)
 *           -> the next slice, or look
 *
 * One request at a time, so that many documents take no calls' share of a vendor's limits.
 * Thread: its loop, except for the jobs. */
#include "know/vectors.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fair.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "engine/registry.h"
#include "know/meaning.h"
#include "store/store.h"
#include "store/vector.h"

enum {
    LOOK_AGAIN_US = 5 * 1000 * 1000, /* for what another node or a pause has left */
    PAUSE_US = 250 * 1000,           /* after a fault; doubled each time */
    PAUSE_MAX_US = 60 * 1000 * 1000,
    LATE_US = 35 * 1000 * 1000, /* an engine that answers nothing at all */
    SLICE_FAULTS_MAX = 5,       /* of one slice: then another document has its turn */
    PUT_OFF_MS = 10 * 60 * 1000,
};

struct vectors {
    struct store *store;
    struct loop *loop;
    const struct engine *engine;
    char *model;
    struct embed *embed;
    struct timer look, late;
    char last_workspace[ID_SIZE], found[ID_SIZE]; /* found: the document to be taken */
    struct arena *arena;                          /* of the turn */
    struct vector_turn turn;
    size_t at; /* texts of the turn that have their vectors */
    float *numbers;
    size_t count, size;
    uint32_t gen;
    unsigned faults;
    bool is_under_way, is_closing;
    struct vector_turn after; /* by the job under way, which may run twice */
};

static void look(void *arg);
static void embed_next(struct vectors *vectors);

static void free_vectors(struct vectors *vectors)
{
    arena_free(vectors->arena);
    mem_free(vectors->numbers);
    mem_free(vectors->model);
    mem_free(vectors);
}

static void run_as(struct vectors *vectors, enum store_mode mode, store_fn *fn, store_done_fn *done)
{
    struct store_line line = {.key = FAIR_OPERATOR, .mode = mode};
    vectors->is_under_way = !store_job_for(vectors->store, line, fn, vectors, vectors->loop, done);
    if (!vectors->is_under_way)
        timer_set_after(&vectors->look, PAUSE_US);
}

static void run(struct vectors *vectors, store_fn *fn, store_done_fn *done)
{
    run_as(vectors, STORE_WRITE, fn, done);
}

/* true: go on. */
static bool has_come_back(struct vectors *vectors)
{
    bool is_closing = vectors->is_closing;
    vectors->is_under_way = false;
    if (is_closing)
        free_vectors(vectors);
    return !is_closing;
}

static void end_turn(struct vectors *vectors, int64_t pause_us)
{
    arena_free(vectors->arena);
    vectors->arena = NULL;
    vectors->turn = (struct vector_turn){0};
    vectors->faults = 0;
    timer_set_after(&vectors->look, pause_us);
}

/* Storing. */

static enum err put(struct tx *tx, void *arg)
{
    struct vectors *vectors = arg;
    struct vector_turn turn = vectors->turn;
    enum err err = store_vector_put(tx, vectors->model, &turn, vectors->numbers, vectors->count,
                                    vectors->size);
    vectors->after = turn;
    return err;
}

static void on_put(void *arg, enum err err)
{
    struct vectors *vectors = arg;
    if (!has_come_back(vectors))
        return;
    if (err) { /* removed, read again, or the store is away: another turn sees to it */
        end_turn(vectors, err == ERR_NOT_FOUND ? 0 : PAUSE_US);
        return;
    }
    vectors->turn = vectors->after;
    vectors->at += vectors->count;
    vectors->faults = 0;
    embed_next(vectors);
}

static enum err put_off(struct tx *tx, void *arg)
{
    struct vectors *vectors = arg;
    store_vector_put_off(tx, &vectors->turn, PUT_OFF_MS);
    return OK;
}

static void on_put_off(void *arg, enum err err)
{
    struct vectors *vectors = arg;
    (void)err; /* the lease ends by itself */
    if (has_come_back(vectors))
        end_turn(vectors, PAUSE_US);
}

/* The engine. */

static void on_fault(struct vectors *vectors, const char *message, int64_t retry_us)
{
    timer_stop(&vectors->late);
    vectors->embed->ops->cancel(vectors->embed);
    vectors->gen++;
    log_warn("know.no_vectors", LOG_S("document_id", vectors->turn.document_id),
             LOG_S("error", message), LOG_I("fault", vectors->faults));
    if (++vectors->faults >= SLICE_FAULTS_MAX) {
        run(vectors, put_off, on_put_off);
        if (!vectors->is_under_way)
            end_turn(vectors, PAUSE_MAX_US);
        return;
    }
    int64_t pause_us = MIN((int64_t)PAUSE_US << vectors->faults, (int64_t)PAUSE_MAX_US);
    int64_t wanted_us = retry_us == ENGINE_NO_RETRY ? 0 : retry_us;
    timer_set_after(&vectors->look, MIN(MAX(pause_us, wanted_us), (int64_t)PAUSE_MAX_US));
}

static void on_late(void *arg)
{
    on_fault(arg, "no answer", 0);
}

static bool is_sound(const struct vectors *vectors, const struct embed_event *event)
{
    return event->count == vectors->count && event->size && event->size <= EMBED_SIZE_MAX &&
           (!vectors->at || event->size == vectors->size);
}

static void on_embedded(void *arg, const struct embed_event *event)
{
    struct vectors *vectors = arg;
    if (event->gen != vectors->gen || !vectors->turn.document_id || vectors->is_under_way)
        return;
    if (event->kind == EMBED_ERROR) {
        on_fault(vectors, event->message, event->retry_us);
        return;
    }
    if (!is_sound(vectors, event)) {
        on_fault(vectors, "vectors of another number or size", 0);
        return;
    }
    timer_stop(&vectors->late);
    size_t bytes = event->count * event->size * sizeof(float);
    mem_free(vectors->numbers);
    vectors->numbers = mem_new_n(float, event->count * event->size);
    memcpy(vectors->numbers, event->vectors, bytes);
    vectors->size = event->size;
    run(vectors, put, on_put);
}

static void embed_next(struct vectors *vectors)
{
    if (vectors->at == vectors->turn.count) {
        end_turn(vectors, 0);
        return;
    }
    vectors->count = MIN(vectors->turn.count - vectors->at, (size_t)VECTOR_SLICE);
    timer_set_after(&vectors->late, LATE_US);
    vectors->embed->ops->start(vectors->embed, ++vectors->gen, vectors->turn.texts + vectors->at,
                               vectors->count);
}

/* Taking a turn. */

static enum err take(struct tx *tx, void *arg)
{
    struct vectors *vectors = arg;
    vectors->after = (struct vector_turn){0};
    return store_vector_take(tx, vectors->model, vectors->found, &vectors->after);
}

static void keep_turn(struct vectors *vectors)
{
    const struct vector_turn *from = &vectors->after;
    vectors->arena = arena_new(0);
    vectors->turn = *from;
    vectors->turn.document_id = arena_strdup(vectors->arena, from->document_id);
    vectors->turn.workspace_id = arena_strdup(vectors->arena, from->workspace_id);
    vectors->turn.texts = arena_new_n(vectors->arena, const char *, from->count + 1);
    for (size_t i = 0; i < from->count; i++)
        vectors->turn.texts[i] = arena_strdup(vectors->arena, from->texts[i]);
    vectors->at = 0;
    snprintf(vectors->last_workspace, sizeof(vectors->last_workspace), "%s", from->workspace_id);
}

static void on_taken(void *arg, enum err err)
{
    struct vectors *vectors = arg;
    if (!has_come_back(vectors))
        return;
    if (err || !vectors->after.count) {
        timer_set_after(&vectors->look, err == ERR_NOT_FOUND ? PAUSE_US : LOOK_AGAIN_US);
    } else {
        keep_turn(vectors);
        embed_next(vectors);
    }
}

static enum err find(struct tx *tx, void *arg)
{
    struct vectors *vectors = arg;
    struct vector_turn found;
    enum err err = store_vector_find(tx, vectors->model, vectors->last_workspace, &found);
    if (err == ERR_NOT_FOUND && *vectors->last_workspace)
        err = store_vector_find(tx, vectors->model, "", &found);
    if (!err)
        snprintf(vectors->found, sizeof(vectors->found), "%s", found.document_id);
    return err;
}

static void on_found(void *arg, enum err err)
{
    struct vectors *vectors = arg;
    if (!has_come_back(vectors))
        return;
    if (err)
        timer_set_after(&vectors->look, LOOK_AGAIN_US);
    else
        run(vectors, take, on_taken);
}

static void look(void *arg)
{
    struct vectors *vectors = arg;
    if (vectors->is_under_way || timer_is_set(&vectors->late))
        return;
    if (vectors->turn.document_id)
        embed_next(vectors); /* the slice that failed */
    else
        run_as(vectors, STORE_READ, find, on_found);
}

struct vectors *vectors_open(const struct know_config *config)
{
    if (!config->embedder)
        return NULL;
    struct vectors *vectors = mem_new(struct vectors);
    vectors->store = config->store;
    vectors->loop = config->loop;
    vectors->engine = config->embedder;
    vectors->model = meaning_model(config->embedder);
    const struct embed_config embed = {.model = ""};
    vectors->embed = vectors->engine->ops.embed->open(vectors->engine, &embed, config->loop,
                                                      on_embedded, vectors);
    timer_init(&vectors->late, config->loop, on_late, vectors);
    timer_init(&vectors->look, config->loop, look, vectors);
    timer_set_after(&vectors->look, 0);
    return vectors;
}

void vectors_close(struct vectors *vectors)
{
    if (!vectors)
        return;
    timer_stop(&vectors->look);
    timer_stop(&vectors->late);
    vectors->embed->ops->close(vectors->embed);
    vectors->is_closing = true;
    if (!vectors->is_under_way)
        free_vectors(vectors);
}
