/* See word_file.h. Thread: any. */
#include "store/word_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

enum { SLICE_US = 10000, FORMAT = 3 /* of the tables below */ };

static const char tables[] =
    "CREATE TABLE IF NOT EXISTS about (mark TEXT NOT NULL, revision INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS spaces (number INTEGER PRIMARY KEY,"
    " workspace_id TEXT NOT NULL UNIQUE);"
    "CREATE TABLE IF NOT EXISTS documents (number INTEGER PRIMARY KEY, id TEXT NOT NULL,"
    " space INTEGER NOT NULL, revision INTEGER NOT NULL, passages INTEGER NOT NULL,"
    " languages TEXT NOT NULL, title BLOB NOT NULL, state INTEGER NOT NULL);"
    "CREATE INDEX IF NOT EXISTS documents_id ON documents (id);"
    "CREATE INDEX IF NOT EXISTS documents_space ON documents (space);"
    "CREATE INDEX IF NOT EXISTS documents_state ON documents (state) WHERE state <> 1;"
    "CREATE TABLE IF NOT EXISTS words (number INTEGER PRIMARY KEY, space INTEGER NOT NULL,"
    " word TEXT NOT NULL, keys TEXT NOT NULL, UNIQUE (space, word));"
    "CREATE TABLE IF NOT EXISTS keys (space INTEGER NOT NULL, key TEXT NOT NULL,"
    " word INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (space, key, word)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS posts (word INTEGER NOT NULL, document INTEGER NOT NULL,"
    " passages BLOB NOT NULL, PRIMARY KEY (word, document)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS texts (row INTEGER PRIMARY KEY, text TEXT NOT NULL,"
    " question TEXT NOT NULL, words BLOB NOT NULL, lead INTEGER NOT NULL);";

/* Numbers as bytes. */

void word_bytes_add(struct buf *out, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        (void)buf_append_char(out, (char)(0x80 | (number & 0x7F)));
    (void)buf_append_char(out, (char)number);
}

bool word_bytes_next(const unsigned char **at, const unsigned char *end, uint64_t *out)
{
    uint64_t number = 0;
    for (unsigned shift = 0; *at < end && shift < 63; shift += 7) {
        unsigned char byte = *(*at)++;
        number |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *out = number;
            return true;
        }
    }
    return false;
}

/* Readers. */

struct word_reader word_reader_take(struct word_index *index)
{
    struct word_reader reader = {.generation = atomic_load(&index->generation)};
    pthread_mutex_lock(&index->readers_mutex);
    for (int i = 0; i < WORD_READERS_MAX && !reader.db; i++)
        if (index->readers[i].db && index->readers[i].generation == reader.generation) {
            reader = index->readers[i];
            index->readers[i].db = NULL;
        }
    pthread_mutex_unlock(&index->readers_mutex);
    if (!reader.db && db_sqlite_open(index->path, DB_FAST | DB_READ_ONLY, &reader.db, NULL))
        reader.db = NULL;
    return reader;
}

void word_reader_give(struct word_index *index, struct word_reader reader)
{
    pthread_mutex_lock(&index->readers_mutex);
    bool is_current = reader.generation == atomic_load(&index->generation);
    for (int i = 0; i < WORD_READERS_MAX && is_current && reader.db; i++)
        if (!index->readers[i].db) {
            index->readers[i] = reader;
            reader.db = NULL;
        }
    pthread_mutex_unlock(&index->readers_mutex);
    db_close(reader.db);
}

static void close_readers(struct word_index *index)
{
    pthread_mutex_lock(&index->readers_mutex);
    for (int i = 0; i < WORD_READERS_MAX; i++) {
        db_close(index->readers[i].db);
        index->readers[i].db = NULL;
    }
    pthread_mutex_unlock(&index->readers_mutex);
}

/* The file. */

/* By whose turn it is. Readers that are under way keep the old file until they give it back. */
static void remove_file(struct word_index *index)
{
    db_close(index->writer);
    index->writer = NULL;
    atomic_fetch_add(&index->generation, 1);
    atomic_store(&index->revision, -1);
    close_readers(index);
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        AUTO_MEM char *path = mem_printf("%s%s", index->path, endings[i]);
        unlink(path);
    }
}

/* What the file must have been made from: this database (its sealed mark is random), this format,
 * these terms. tx: of the database. */
static void note_mark(struct word_index *index, struct tx *tx)
{
    if (*index->mark)
        return;
    AUTO(cursor) row = QUERY(tx, "SELECT value FROM meta WHERE name = 'master_key'");
    if (cursor_next(row))
        snprintf(index->mark, sizeof(index->mark), "%d.%d.%.*s", FORMAT, index->terms.version, 120,
                 cursor_text(row, 0));
}

/* Is it of this database, and what has it seen? What a process left half made is swept. */
static bool is_ours(struct word_index *index, struct tx *tx, struct fault *fault)
{
    struct tx file = {.arena = tx->arena, .db = index->writer};
    note_mark(index, tx);
    int64_t seen =
        QUERY_NUMBER(&file, -1, "SELECT revision FROM about WHERE mark = ?", TEXT(index->mark));
    int64_t others = QUERY_NUMBER(&file, 0, "SELECT count(*) FROM about");
    if (!file.fault.err && seen < 0 && others)
        return false;
    if (seen < 0)
        EXEC(&file, "INSERT INTO about (mark, revision) VALUES (?, 0)", TEXT(index->mark));
    EXEC(&file, "UPDATE documents SET state = ? WHERE state = ?", NUMBER(WORD_DYING),
         NUMBER(WORD_MAKING));
    *fault = file.fault;
    atomic_store(&index->revision, MAX(seen, (int64_t)0));
    return !file.fault.err;
}

static enum err open_file(struct word_index *index, struct tx *tx, struct fault *fault)
{
    enum err err = db_sqlite_open(index->path, DB_FAST, &index->writer, fault);
    if (!err)
        err = index->writer->ops->script(index->writer, tables, fault);
    return err || !is_ours(index, tx, fault) ? ERR_IO : OK;
}

/* By whose turn it is. */
static enum err open_writer(struct word_index *index, struct tx *tx)
{
    if (index->writer)
        return OK;
    struct fault fault = {0};
    if (!open_file(index, tx, &fault))
        return OK;
    if (tx_has_failed(tx))
        return ERR_IO;
    log_warn("index.rebuilt", LOG_S("error", fault.text));
    remove_file(index);
    enum err err = open_file(index, tx, &fault);
    if (err)
        fault_set(&tx->fault, ERR_IO, "the search index: %s", fault.text);
    return err;
}

/* Turns. */

static void wait_for_turn(struct word_index *index)
{
    pthread_mutex_lock(&index->mutex);
    uint64_t ticket = index->tickets++;
    while (index->serving != ticket)
        pthread_cond_wait(&index->turn, &index->mutex);
    pthread_mutex_unlock(&index->mutex);
}

static void pass_turn(struct word_index *index)
{
    pthread_mutex_lock(&index->mutex);
    index->serving++;
    pthread_cond_broadcast(&index->turn);
    pthread_mutex_unlock(&index->mutex);
}

static void begin(struct word_turn *turn)
{
    int64_t now_ms;
    turn->until_us = clock_now_us() + SLICE_US;
    turn->file.db = turn->index->writer;
    (void)turn->file.db->ops->begin(turn->file.db, true, &now_ms, &turn->file.fault);
}

enum err word_turn_begin(struct word_index *index, struct tx *tx, struct word_turn *out)
{
    wait_for_turn(index);
    if (open_writer(index, tx)) {
        pass_turn(index);
        return ERR_IO;
    }
    *out = (struct word_turn){.index = index, .file = {.arena = tx->arena}};
    out->generation = atomic_load(&index->generation);
    begin(out);
    return OK;
}

static void commit(struct word_turn *turn)
{
    struct db *db = turn->file.db;
    if (!turn->file.fault.err)
        (void)db->ops->commit(db, &turn->file.fault);
    if (!turn->file.fault.err)
        return;
    db->ops->rollback(db);
    if (turn->file.fault.err == ERR_BUSY) /* no room on the disk, or another's lock: it is whole */
        return;
    log_warn("index.rebuilt", LOG_S("error", turn->file.fault.text));
    remove_file(turn->index);
}

bool word_turn_goes_on(struct word_turn *turn)
{
    if (turn->file.fault.err || clock_now_us() < turn->until_us)
        return !turn->file.fault.err;
    struct word_index *index = turn->index;
    commit(turn);
    pass_turn(index);
    wait_for_turn(index);
    if (turn->generation != atomic_load(&index->generation))
        turn->file.fault.err = ERR_IO;
    if (turn->file.fault.err)
        return false;
    begin(turn);
    return !turn->file.fault.err;
}

enum err word_turn_end(struct word_turn *turn)
{
    if (turn->generation == atomic_load(&turn->index->generation))
        commit(turn);
    pass_turn(turn->index);
    enum err err = turn->file.fault.err;
    return err && err != ERR_BUSY ? ERR_IO : err;
}

void word_index_drop(struct word_index *index, const char *why)
{
    wait_for_turn(index);
    log_warn("index.rebuilt", LOG_S("error", why));
    remove_file(index);
    pass_turn(index);
}

/* Open, close. */

enum err word_index_open(struct store *store, const struct word_index_terms *terms,
                         struct word_index **out, struct fault *fault)
{
    struct word_index *index = mem_new(struct word_index);
    index->store = store;
    index->terms = *terms;
    index->path = mem_printf("%s/index.db", store->data_dir);
    atomic_store(&index->revision, -1);
    pthread_mutex_init(&index->mutex, NULL);
    pthread_mutex_init(&index->readers_mutex, NULL);
    pthread_cond_init(&index->turn, NULL);
    word_claims_init(index);
    index->queue = word_queue_new();
    struct db *db = NULL;
    enum err err = db_sqlite_open(index->path, DB_FAST, &db, fault);
    if (err) { /* damaged: it can be made anew */
        remove_file(index);
        err = db_sqlite_open(index->path, DB_FAST, &db, fault);
    }
    db_close(db);
    if (err) {
        word_index_close(index);
        return ERR_IO;
    }
    *out = index;
    return OK;
}

void word_index_close(struct word_index *index)
{
    if (!index)
        return;
    close_readers(index);
    db_close(index->writer);
    pthread_cond_destroy(&index->turn);
    pthread_mutex_destroy(&index->mutex);
    pthread_mutex_destroy(&index->readers_mutex);
    word_claims_clear(index);
    word_queue_free(index->queue);
    mem_free(index->path);
    mem_free(index);
}
