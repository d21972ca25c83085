/* See reading.h. One `struct task` is one document on its way; `step` is what happens to it.
 * Thread: the loop's, except for the jobs. */
#include "know/reading.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fair.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/pool.h"
#include "extract/process.h"
#include "know/cards.h"
#include "know/passages.h"
#include "model/document.h"
#include "store/document.h"
#include "store/store.h"
#include "text/words.h"

enum {
    LOOK_AGAIN_US = 5000000, /* for documents that another node left */
    READERS = 3,
    READERS_OF_WORKSPACE = 2,
    CUTTERS = 2,
    CUTTER_NICE = 10,
    PAUSE_US = 1000000,  /* after a fault of the store or of a process */
    TELL_US = 1000000,   /* how often progress is stored */
    RENEW_US = 20000000, /* the lease, without progress */
    PIECES_PER_JOB = 16, /* 4 MB: then another job has its turn */
    BLOCKS_ARENA_BYTES = 128 * 1024 * 1024,
    WAITING = 100000,
};
_Static_assert((int)EXTRACT_CHARS_MAX == (int)DOCUMENT_EXTRACTED_MAX, "one contract");

struct reading {
    struct store *store;
    struct loop *loop;
    char *program;               /* NULL: files cannot be read */
    const struct engine *engine; /* that writes cards; NULL: none */
    struct pool *pool;
    struct fair *fair;
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
    struct fair_item item;
    struct list_node node; /* of those that are read */
    char id[ID_SIZE], workspace_id[ID_SIZE];
    int64_t began_us;
    struct arena *arena;
    enum document_kind kind;
    int fd; /* the file; -1: none */
    struct buf text;
    struct place {
        int64_t position; /* the next piece */
        size_t bytes;     /* of those before it */
        bool has_all;
    } place, place_after; /* of the job under way, which may run twice */
    struct extraction *extraction;
    struct card_writer *writer;
    struct block_list blocks;
    int64_t chars;
    struct passages passages;
    size_t put;          /* of them, in slices */
    const char *failure; /* a sentence for the user, or NULL */
    struct timer tell;
    struct document_progress progress, told;
    int64_t told_us;
    bool is_telling, is_over;
    bool is_settled; /* nothing is left to be done for it */
};

static void release(struct reading *reading)
{
    if (--reading->users)
        return;
    fair_free(reading->fair);
    map_free(reading->tasks);
    mem_free(reading->program);
    mem_free(reading);
}

/* A task's life. */

static void add_task(struct reading *reading, const char *id, const char *workspace_id)
{
    if (map_get_str(reading->tasks, id))
        return;
    struct task *task = mem_new(struct task);
    task->reading = reading;
    task->fd = -1;
    snprintf(task->id, sizeof(task->id), "%s", id);
    snprintf(task->workspace_id, sizeof(task->workspace_id), "%s", workspace_id);
    if (fair_push(reading->fair, workspace_id, &task->item)) {
        mem_free(task);
        return;
    }
    map_set_str(reading->tasks, id, task);
    reading->users++;
}

static void free_task(struct task *task)
{
    struct reading *reading = task->reading;
    extraction_close(task->extraction);
    card_writer_close(task->writer);
    timer_stop(&task->tell);
    list_remove(&task->node);
    if (task->fd >= 0)
        close(task->fd);
    buf_clear(&task->text);
    arena_free(task->arena);
    mem_free(task);
    release(reading);
}

/* Its reader is free for the next one. Its memory goes when its last job has come back. */
static void end_task(struct task *task)
{
    struct reading *reading = task->reading;
    if (!task->is_over) {
        map_remove_str(reading->tasks, task->id);
        fair_done(reading->fair, &task->item, MAX(clock_now_us() - task->began_us, (int64_t)1));
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

static void was_put(void *arg, enum err err);

/* All but the last slice are put one by one: other writers have their turns between them. */
static void store_all(struct task *task)
{
    bool is_last = task->failure || task->passages.count <= task->put + PASSAGES_SLICE;
    if (is_last)
        give_job(task, STORE_WRITE, store_outcome, on_stored);
    else
        give_job(task, STORE_WRITE, put_slice, was_put);
}

static void was_put(void *arg, enum err err)
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
    enum err err = task->kind == DOCUMENT_TEXT
                       ? passages_cut(task->text.len ? task->text.data : "", is_closing,
                                      task->arena, &task->passages)
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
    if (!task->is_telling)
        timer_set_after(&task->tell, TELL_US / 10);
}

static void start_cutting(struct task *task)
{
    struct reading *reading = task->reading;
    if (reading->is_closing ||
        pool_run_fair(reading->pool, task->workspace_id, cut, reading->loop, on_cut, task))
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

/* Extracting. */

static void on_extracted(void *arg, enum extract_outcome outcome, const struct block_list *blocks,
                         size_t chars)
{
    struct task *task = arg;
    extraction_close(TAKE(task->extraction));
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
        .fd = task->fd,
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
    }
}

/* The source, piece by piece. */

static enum err keep_piece(struct task *task, const char *piece, size_t len, size_t at)
{
    if (task->kind == DOCUMENT_TEXT)
        return buf_append(&task->text, piece, len);
    for (size_t done = 0; done < len;) {
        ssize_t n = pwrite(task->fd, piece + done, len - done, (off_t)(at + done));
        if (n <= 0)
            return ERR_IO;
        done += (size_t)n;
    }
    return OK;
}

static enum err copy_pieces(struct tx *tx, void *arg)
{
    struct task *task = arg;
    struct place place = task->place;
    enum err err = OK;
    task->text.len = task->kind == DOCUMENT_TEXT ? place.bytes : 0;
    for (unsigned i = 0; i < PIECES_PER_JOB && !err; i++) {
        const void *piece;
        size_t len;
        err = store_document_piece(tx, task->id, place.position, &piece, &len);
        if (!err)
            err = keep_piece(task, piece, len, place.bytes);
        place.position += !err;
        place.bytes += err ? 0 : len;
    }
    place.has_all = err == ERR_NOT_FOUND;
    task->place_after = place;
    return place.has_all ? OK : err;
}

static void copied(void *arg, enum err err)
{
    struct task *task = arg;
    task->place = task->place_after;
    if (err) {
        log_warn("know.not_copied", LOG_S("document", task->id), LOG_S("error", err_name(err)));
        end_task(task);
    } else if (!task->place.has_all) {
        give_job(task, STORE_READ, copy_pieces, copied);
    } else if (task->kind == DOCUMENT_TEXT) {
        task->chars = (int64_t)text_length(task->text.len ? task->text.data : "");
        start_cutting(task);
    } else {
        start_extracting(task);
    }
}

/* A file without a name, in the data directory or in memory: nobody else finds it. */
static int open_unnamed(const char *dir)
{
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return fd >= 0 ? fd : memfd_create("document", MFD_CLOEXEC);
}

/* Taking. */

static enum err take(struct tx *tx, void *arg)
{
    struct task *task = arg;
    struct document document;
    enum err err = store_document_take(tx, task->id, &document);
    if (!err)
        task->kind = document.kind;
    return err;
}

static void taken(void *arg, enum err err)
{
    struct task *task = arg;
    if (!err && task->kind != DOCUMENT_TEXT)
        task->fd = open_unnamed(store_data_dir(task->reading->store));
    task->is_settled = err == ERR_NOT_FOUND; /* removed, or another node has it */
    if (err || (task->kind != DOCUMENT_TEXT && task->fd < 0))
        end_task(task);
    else
        give_job(task, STORE_READ, copy_pieces, copied);
}

static void next(struct reading *reading)
{
    struct fair_item *item;
    while (!reading->is_closing && (item = fair_next(reading->fair))) {
        struct task *task = CONTAINER_OF(item, struct task, item);
        task->began_us = clock_now_us();
        task->arena = arena_new(BLOCKS_ARENA_BYTES);
        task->text = (struct buf)BUF_INIT(DOCUMENT_FILE_BYTES);
        timer_init(&task->tell, reading->loop, tell, task);
        list_push_back(&reading->under_way, &task->node);
        give_job(task, STORE_WRITE, take, taken);
    }
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
        add_task(reading, listing->waiting.items[i].id, listing->waiting.items[i].user_id);
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
    static const struct fair_limits limits = {
        .waiting = WAITING, .running = READERS, .running_per_key = READERS_OF_WORKSPACE};
    struct reading *reading = mem_new(struct reading);
    reading->store = config->store;
    reading->loop = config->loop;
    reading->program = mem_strdup(config->program);
    reading->engine = config->writer;
    reading->pool = pool_new("documents", CUTTERS, CUTTER_NICE);
    reading->fair = fair_new(&limits);
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
    if (task->item.is_running)
        return 0;
    fair_remove(task->reading->fair, &task->item);
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
    release(reading);
}
