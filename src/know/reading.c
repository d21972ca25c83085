/* See reading.h. One `struct task` is one document on its way; `step` is what happens to it.
 * Thread: the loop's, except for the jobs. */
#include "know/reading.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/pool.h"
#include "extract/process.h"
#include "know/cards.h"
#include "know/lanes.h"
#include "know/passages.h"
#include "know/source.h"
#include "model/document.h"
#include "store/document.h"
#include "store/store.h"
#include "text/words.h"

enum {
    LOOK_AGAIN_US = 5000000, /* for documents that another node left */
    CUTTERS = 2,
    CUTTER_NICE = 10,
    TURN_LOOK_US = 500000, /* does anybody wait for the place of one whose turn is over? */
    PAUSE_US = 1000000,    /* after a fault of the store or of a process */
    TELL_US = 1000000,     /* how often progress is stored */
    RENEW_US = 20000000,   /* the lease, without progress */
    BLOCKS_ARENA_BYTES = 128 * 1024 * 1024,
};
_Static_assert((int)EXTRACT_CHARS_MAX == (int)DOCUMENT_EXTRACTED_MAX, "one contract");

struct reading {
    struct store *store;
    struct loop *loop;
    char *program;                  /* NULL: files cannot be read */
    const struct engine *engine;    /* that writes cards; NULL: none */
    struct pool *pool, *short_pool; /* that cut; a short text waits for no long one */
    struct lanes *lanes;
    struct map *tasks; /* by id: those that wait or are read */
    struct list_node under_way;
    struct store_watch *watch;
    struct timer look;
    bool is_listing, must_list;
    _Atomic bool is_closing; /* looked at by what is being cut as well */
    unsigned users;          /* reading_open(), each task, each listing */
};

struct task {
    struct reading *reading;
    struct lane_item item;
    struct list_node node; /* of those that are read */
    char id[ID_SIZE], workspace_id[ID_SIZE];
    int64_t began_us;
    struct arena *arena;
    enum document_kind kind;
    struct source source;
    struct extraction *extraction;
    struct card_writer *writer;
    struct block_list blocks;
    int64_t chars;
    struct passages passages;
    size_t put;          /* of them, in slices */
    const char *failure; /* a sentence for the user, or NULL */
    struct timer tell, turn;
    bool is_taken; /* it has had a turn, and waits for another: the lease is ours */
    struct document_progress progress, told;
    int64_t told_us;
    bool is_telling, is_over;
    bool is_settled; /* nothing is left to be done for it */
};

static void next(struct reading *reading);

static void release(struct reading *reading)
{
    if (--reading->users)
        return;
    lanes_free(reading->lanes);
    map_free(reading->tasks);
    mem_free(reading->program);
    mem_free(reading);
}

/* A task's life. */

static void add_task(struct reading *reading, const struct document *document)
{
    if (map_get_str(reading->tasks, document->id))
        return;
    struct task *task = mem_new(struct task);
    task->reading = reading;
    task->kind = document->kind;
    task->item.lane = lane_of(document->kind, document->bytes);
    snprintf(task->id, sizeof(task->id), "%s", document->id);
    snprintf(task->workspace_id, sizeof(task->workspace_id), "%s", document->user_id);
    if (lanes_push(reading->lanes, task->workspace_id, &task->item)) {
        mem_free(task);
        return;
    }
    map_set_str(reading->tasks, task->id, task);
    reading->users++;
}

static void let_go(struct task *task)
{
    extraction_close(TAKE(task->extraction));
    card_writer_close(TAKE(task->writer));
    timer_stop(&task->tell);
    timer_stop(&task->turn);
    list_remove(&task->node);
    source_clear(&task->source);
    arena_free(TAKE(task->arena));
}

static void leave_lane(struct task *task)
{
    lanes_done(task->reading->lanes, &task->item, MAX(clock_now_us() - task->began_us, (int64_t)1));
}

static void free_task(struct task *task)
{
    struct reading *reading = task->reading;
    let_go(task);
    mem_free(task);
    release(reading);
}

/* Its reader is free for the next one. Its memory goes when its last job has come back. */
static void end_task(struct task *task)
{
    struct reading *reading = task->reading;
    if (!task->is_over) {
        map_remove_str(reading->tasks, task->id);
        leave_lane(task);
    }
    task->is_over = true;
    if (task->is_telling) {
        timer_stop(&task->tell);
        return;
    }
    if (!reading->is_closing)
        timer_set_after(&reading->look, task->is_settled ? 0 : PAUSE_US);
    free_task(task);
}

static void give_job(struct task *task, enum store_mode mode, store_fn *fn, store_done_fn *done)
{
    struct store_line line = {.key = task->workspace_id, .mode = mode};
    if (task->reading->is_closing || /* the store may be gone; its lease runs out */
        store_job_for(task->reading->store, line, fn, task, task->reading->loop, done))
        end_task(task);
}

/* Storing. */

static enum err store_outcome(struct tx *tx, void *arg)
{
    struct task *task = arg;
    if (task->failure)
        return store_document_failed(tx, task->id, task->failure);
    return store_document_ready(tx, task->id, task->chars, task->passages.items,
                                task->passages.count, &task->passages.topics);
}

static void on_stored(void *arg, enum err err)
{
    struct task *task = arg;
    task->is_settled = !err || err == ERR_NOT_FOUND;
    if (!task->is_settled) /* its lease runs out, and it is read again */
        log_warn("know.not_stored", LOG_S("document", task->id), LOG_S("error", err_name(err)));
    else
        log_info("know.read", LOG_S("document", task->id),
                 LOG_I("passages", (int64_t)task->passages.count), LOG_I("chars", task->chars),
                 LOG_I("ms", (clock_now_us() - task->began_us) / 1000),
                 LOG_S("failure", task->failure));
    end_task(task);
}

static enum err put_slice(struct tx *tx, void *arg)
{
    struct task *task = arg;
    return store_document_put(tx, task->id, task->passages.items, task->passages.count, task->put);
}

static void on_put(void *arg, enum err err);

/* All but the last slice are put one by one: other writers have their turns between them. */
static void store_all(struct task *task)
{
    bool is_last = task->failure || task->passages.count <= task->put + PASSAGES_SLICE;
    if (is_last)
        give_job(task, STORE_WRITE, store_outcome, on_stored);
    else
        give_job(task, STORE_WRITE, put_slice, on_put);
}

static void on_put(void *arg, enum err err)
{
    struct task *task = arg;
    if (err) {
        on_stored(task, err);
        return;
    }
    task->put += PASSAGES_SLICE;
    store_all(task);
}

static void fail(struct task *task, const char *sentence)
{
    task->failure = sentence;
    give_job(task, STORE_WRITE, store_outcome, on_stored);
}

/* Cutting, on the pool. */

static void cut(void *arg)
{
    struct task *task = arg;
    const _Atomic bool *is_closing = &task->reading->is_closing;
    enum err err =
        task->kind == DOCUMENT_TEXT
            ? passages_cut(source_text(&task->source), is_closing, task->arena, &task->passages)
            : passages_of(&task->blocks, is_closing, task->arena, &task->passages);
    if (err && err != ERR_CLOSED)
        task->failure = extract_sentence(err == ERR_LIMIT ? EXTRACT_TOO_LONG : EXTRACT_EMPTY);
}

static void on_cards_done(void *arg)
{
    struct task *task = arg;
    card_writer_close(TAKE(task->writer));
    store_all(task);
}

static void on_section_done(void *arg, size_t done, size_t sections)
{
    struct task *task = arg;
    task->progress.sections_done = (int64_t)done;
    task->progress.sections = (int64_t)sections;
}

static void on_cut(void *arg)
{
    struct task *task = arg;
    struct reading *reading = task->reading;
    if (task->failure || !reading->engine || reading->is_closing) {
        store_all(task);
        return;
    }
    const struct card_writer_spec spec = {.engine = reading->engine,
                                          .loop = reading->loop,
                                          .workspace_id = task->workspace_id,
                                          .arena = task->arena,
                                          .passages = &task->passages,
                                          .on_progress = on_section_done,
                                          .on_done = on_cards_done,
                                          .arg = task};
    task->writer = card_writer_open(&spec);
    lanes_set_aside(reading->lanes, &task->item); /* it waits for others now */
    next(reading);
    if (!task->is_telling)
        timer_set_after(&task->tell, TELL_US / 10);
}

static void start_cutting(struct task *task)
{
    struct reading *reading = task->reading;
    struct pool *pool = task->item.lane == LANE_SHORT ? reading->short_pool : reading->pool;
    if (reading->is_closing ||
        pool_run_fair(pool, task->workspace_id, cut, reading->loop, on_cut, task))
        end_task(task);
}

/* Progress. */

/* Is there something that takes long, and can be left? */
static bool is_under_way(const struct task *task)
{
    return task->extraction || task->writer;
}

static void tell(void *arg);

static enum err store_progress(struct tx *tx, void *arg)
{
    struct task *task = arg;
    return store_document_progress(tx, task->id, &task->told);
}

static void on_progress_stored(void *arg, enum err err)
{
    struct task *task = arg;
    task->is_telling = false;
    if (task->is_over) {
        end_task(task);
        return;
    }
    if (err == ERR_NOT_FOUND && is_under_way(task)) { /* removed: nobody waits for it */
        task->is_settled = true;
        end_task(task);
        return;
    }
    timer_set_after(&task->tell, TELL_US);
}

static void tell(void *arg)
{
    struct task *task = arg;
    int64_t now_us = loop_now_us(task->reading->loop);
    timer_set_after(&task->tell, TELL_US);
    bool is_same = memcmp(&task->progress, &task->told, sizeof(task->told)) == 0;
    if (!is_under_way(task) || task->reading->is_closing ||
        (is_same && now_us < task->told_us + RENEW_US))
        return;
    task->told = task->progress;
    task->told_us = now_us;
    struct store_line line = {.key = task->workspace_id, .mode = STORE_WRITE};
    task->is_telling = store_job_for(task->reading->store, line, store_progress, task,
                                     task->reading->loop, on_progress_stored) == OK;
    if (task->is_telling)
        timer_stop(&task->tell);
}

static void on_progress(void *arg, unsigned done, unsigned pages)
{
    struct task *task = arg;
    task->progress.pages_done = done;
    task->progress.pages = pages;
}

/* Turns. */

/* Its reader goes to who waits; it is read from its beginning among those that take long. */
static void make_way(struct task *task)
{
    struct reading *reading = task->reading;
    leave_lane(task);
    let_go(task);
    task->is_taken = true;
    task->item.lane = LANE_LONG;
    if (lanes_push(reading->lanes, task->workspace_id, &task->item)) {
        map_remove_str(reading->tasks, task->id); /* listed again when its lease is over */
        free_task(task);
    }
    next(reading);
}

static void on_turn_over(void *arg)
{
    struct task *task = arg;
    bool must = task->extraction && lanes_are_awaited(task->reading->lanes, &task->item);
    if (must && !task->is_telling && !task->reading->is_closing)
        make_way(task);
    else
        timer_set_after(&task->turn, TURN_LOOK_US);
}

/* Extracting. */

static void on_extracted(void *arg, enum extract_outcome outcome, const struct block_list *blocks,
                         size_t chars)
{
    struct task *task = arg;
    extraction_close(TAKE(task->extraction));
    timer_stop(&task->turn);
    task->blocks = *blocks;
    task->chars = (int64_t)chars;
    if (outcome == EXTRACT_DONE)
        start_cutting(task);
    else
        fail(task, extract_sentence(outcome));
}

static void start_extracting(struct task *task)
{
    static const enum extract_kind kinds[DOCUMENT_KIND_COUNT] = {
        [DOCUMENT_TXT] = EXTRACT_TEXT,
        [DOCUMENT_PDF] = EXTRACT_PDF,
        [DOCUMENT_DOCX] = EXTRACT_DOCX,
    };
    struct reading *reading = task->reading;
    const struct extraction_spec spec = {
        .program = reading->program,
        .kind = kinds[task->kind],
        .fd = task->source.fd,
        .arena = task->arena,
        .on_progress = on_progress,
        .on_done = on_extracted,
        .arg = task,
    };
    struct fault fault = {0};
    if (reading->is_closing) {
        end_task(task);
    } else if (!reading->program) {
        fail(task, "Files cannot be read here.");
    } else if (extraction_open(reading->loop, &spec, &task->extraction, &fault)) {
        log_error("know.extractor", LOG_S("error", fault.text));
        end_task(task); /* read again when its lease is over */
    } else {
        timer_set_after(&task->tell, TELL_US / 10);
        timer_set_after(&task->turn, LANE_TURN_US);
    }
}

/* The source, piece by piece. */

static enum err copy_pieces(struct tx *tx, void *arg)
{
    struct task *task = arg;
    return source_copy(&task->source, tx, task->id);
}

static void on_copied(void *arg, enum err err)
{
    struct task *task = arg;
    if (err) {
        log_warn("know.not_copied", LOG_S("document", task->id), LOG_S("error", err_name(err)));
        end_task(task);
    } else if (!source_has_all(&task->source)) {
        give_job(task, STORE_READ, copy_pieces, on_copied);
    } else if (task->kind == DOCUMENT_TEXT) {
        task->chars = (int64_t)text_length(source_text(&task->source));
        start_cutting(task);
    } else {
        start_extracting(task);
    }
}

/* Taking. */

static enum err take(struct tx *tx, void *arg)
{
    struct task *task = arg;
    struct document document;
    if (task->is_taken)
        return store_document_progress(tx, task->id, &task->progress);
    enum err err = store_document_take(tx, task->id, &document);
    if (!err)
        task->kind = document.kind;
    return err;
}

static void on_taken(void *arg, enum err err)
{
    struct task *task = arg;
    task->is_settled = err == ERR_NOT_FOUND; /* removed, or another node has it */
    if (!err)
        err = source_open(&task->source, task->kind, store_data_dir(task->reading->store));
    if (err)
        end_task(task);
    else
        give_job(task, STORE_READ, copy_pieces, on_copied);
}

static void begin(struct task *task)
{
    struct reading *reading = task->reading;
    task->began_us = clock_now_us();
    task->arena = arena_new(BLOCKS_ARENA_BYTES);
    source_init(&task->source);
    task->progress = task->told = (struct document_progress){0};
    timer_init(&task->tell, reading->loop, tell, task);
    timer_init(&task->turn, reading->loop, on_turn_over, task);
    list_push_back(&reading->under_way, &task->node);
    give_job(task, STORE_WRITE, take, on_taken);
}

static void next(struct reading *reading)
{
    struct lane_item *item;
    while (!reading->is_closing && (item = lanes_next(reading->lanes)))
        begin(CONTAINER_OF(item, struct task, item));
}

/* Listing. */

static void look(void *arg);

struct listing {
    struct reading *reading;
    struct document_list waiting;
};

static enum err list_waiting(struct tx *tx, void *arg)
{
    struct listing *listing = arg;
    return store_document_waiting(tx, &listing->waiting);
}

static void on_listed(void *arg, enum err err)
{
    struct listing *listing = arg;
    struct reading *reading = listing->reading;
    reading->is_listing = false;
    for (size_t i = 0; !err && i < listing->waiting.count && !reading->is_closing; i++)
        add_task(reading, &listing->waiting.items[i]);
    mem_free(listing);
    next(reading);
    if (reading->must_list && !reading->is_closing)
        look(reading);
    release(reading);
}

static void look(void *arg)
{
    struct reading *reading = arg;
    if (reading->is_closing)
        return;
    timer_set_after(&reading->look, LOOK_AGAIN_US);
    reading->must_list = reading->is_listing;
    next(reading);
    if (reading->is_listing)
        return;
    struct listing *listing = mem_new(struct listing);
    listing->reading = reading;
    reading->users++;
    reading->is_listing = true;
    if (store_job(reading->store, STORE_READ, list_waiting, listing, reading->loop, on_listed)) {
        reading->is_listing = false;
        mem_free(listing);
        release(reading);
    }
}

static void on_documents_changed(void *arg, unsigned topics)
{
    (void)topics;
    look(arg);
}

struct reading *reading_open(const struct know_config *config)
{
    struct reading *reading = mem_new(struct reading);
    reading->store = config->store;
    reading->loop = config->loop;
    reading->program = mem_strdup(config->program);
    reading->engine = config->writer;
    reading->pool = pool_new("documents", CUTTERS, CUTTER_NICE);
    reading->short_pool = pool_new("short texts", 1, CUTTER_NICE);
    reading->lanes = lanes_new();
    reading->tasks = map_new();
    reading->users = 1;
    list_init(&reading->under_way);
    timer_init(&reading->look, reading->loop, look, reading);
    timer_set_after(&reading->look, 0);
    reading->watch =
        store_watch(reading->store, STORE_DOCUMENTS, reading->loop, on_documents_changed, reading);
    return reading;
}

static int drop_waiting(void *arg, const void *key, size_t key_len, void *value)
{
    struct task *task = value;
    (void)key, (void)key_len;
    if (task->item.item.is_running)
        return 0;
    lanes_remove(task->reading->lanes, &task->item);
    ++*(unsigned *)arg;
    map_remove_str(task->reading->tasks, task->id);
    mem_free(task);
    return 0;
}

void reading_close(struct reading *reading)
{
    reading->is_closing = true;
    timer_stop(&reading->look);
    store_unwatch(reading->watch);
    unsigned dropped = 0;
    map_each(reading->tasks, drop_waiting, &dropped);
    reading->users -= dropped;
    struct task *task;
    LIST_EACH (task, &reading->under_way, struct task, node)
        if (is_under_way(task))
            end_task(task); /* its lease runs out, and it is read again */
    pool_free(reading->pool);
    pool_free(reading->short_pool);
    release(reading);
}
