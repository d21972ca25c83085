/* See word_index.h. A row's number is its document's number and its position, so that the rows of
 * a document are a range, and a search in few documents touches only theirs. Catching up is one
 * thread's business at a time; readers see the file's last commit. Thread: any. */
#include "store/word_index.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "model/field.h"
#include "store/document.h"
#include "store/internal.h"

enum {
    READERS_MAX = 16,
    POSITION_BITS = 20,  /* more passages than 2,000,000 characters can give */
    RANGES_MAX = 16,     /* documents looked through one by one; more: all rows, sifted */
    SIFTED_MAX = 200000, /* rows of one term in the whole index */
    LANGUAGES_MAX = 4,
    TERMS_MAX_BYTES = 1024 * 1024,
    FORMAT = 1, /* of the tables below */
};

static const char tables[] =
    "CREATE TABLE IF NOT EXISTS about (mark TEXT NOT NULL, revision INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS documents (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    " passages INTEGER NOT NULL, languages TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS texts (row INTEGER PRIMARY KEY, text TEXT NOT NULL,"
    " question TEXT NOT NULL);"
    "CREATE VIRTUAL TABLE IF NOT EXISTS passages USING fts5(terms, tokenize ="
    " \"unicode61 remove_diacritics 0 categories 'L* N* Co Mc Mn'\")";

struct word_index {
    struct store *store;
    word_index_terms_fn *terms;
    int version;
    char *path;
    struct db *_Atomic readers[READERS_MAX];
    _Atomic int64_t revision; /* that the file has seen */

    pthread_mutex_t mutex; /* for catching up */
    struct db *writer;     /* NULL: to be opened */
};

struct word_scope {
    struct word_index *index;
    struct tx tx; /* on a reader's connection, without a transaction */
    int64_t *numbers;
    size_t numbers_count;
    size_t passages;
    struct text_list languages;
};

/* --- the file --- */

void word_index_close(struct word_index *index)
{
    if (!index)
        return;
    for (int i = 0; i < READERS_MAX; i++)
        db_close(index->readers[i]);
    db_close(index->writer);
    pthread_mutex_destroy(&index->mutex);
    mem_free(index->path);
    mem_free(index);
}

static void remove_file(struct word_index *index)
{
    db_close(index->writer);
    index->writer = NULL;
    for (int i = 0; i < READERS_MAX; i++)
        db_close(atomic_exchange(&index->readers[i], NULL));
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        AUTO_MEM char *path = mem_printf("%s%s", index->path, endings[i]);
        unlink(path);
    }
}

enum err word_index_open(struct store *store, word_index_terms_fn *terms, int version,
                         struct word_index **out, struct fault *fault)
{
    struct word_index *index = mem_new(struct word_index);
    index->store = store;
    index->terms = terms;
    index->version = version;
    index->path = mem_printf("%s/index.db", store->data_dir);
    pthread_mutex_init(&index->mutex, NULL);
    atomic_store(&index->revision, -1);
    enum err err = db_sqlite_open(index->path, DB_FAST, &index->writer, fault);
    if (err) { /* damaged: it can be made anew */
        remove_file(index);
        err = db_sqlite_open(index->path, DB_FAST, &index->writer, fault);
    }
    if (err) {
        word_index_close(index);
        return ERR_IO;
    }
    *out = index;
    return OK;
}

/* --- catching up --- */

/* What the file must have been made from: this database (its sealed mark is random), this format,
 * these terms. */
static const char *mark_of(struct word_index *index, struct tx *tx)
{
    AUTO(cursor) row = QUERY(tx, "SELECT value FROM meta WHERE name = 'master_key'");
    return arena_printf(tx->arena, "%d.%d.%s", FORMAT, index->version,
                        cursor_next(row) ? cursor_text(row, 0) : "");
}

/* The file's revision; -1: it is new, or not made from this. */
static int64_t revision_of(struct tx *file, const char *mark)
{
    return QUERY_NUMBER(file, -1, "SELECT revision FROM about WHERE mark = ?", TEXT(mark));
}

static void empty_file(struct tx *file, const char *mark)
{
    EXEC(file, "DELETE FROM documents");
    EXEC(file, "DELETE FROM texts");
    EXEC(file, "DELETE FROM passages");
    EXEC(file, "DELETE FROM about");
    EXEC(file, "INSERT INTO about (mark, revision) VALUES (?, 0)", TEXT(mark));
}

static void forget_document(struct tx *file, const char *id)
{
    int64_t number = QUERY_NUMBER(file, -1, "SELECT number FROM documents WHERE id = ?", TEXT(id));
    if (number < 0)
        return;
    int64_t first = number << POSITION_BITS, last = first | ((1 << POSITION_BITS) - 1);
    EXEC(file, "DELETE FROM passages WHERE rowid BETWEEN ? AND ?", NUMBER(first), NUMBER(last));
    EXEC(file, "DELETE FROM texts WHERE row BETWEEN ? AND ?", NUMBER(first), NUMBER(last));
    EXEC(file, "DELETE FROM documents WHERE number = ?", NUMBER(number));
}

static void add_passage(struct word_index *index, struct tx *file, int64_t row,
                        const struct passage *passage)
{
    AUTO_BUF terms = BUF_INIT(TERMS_MAX_BYTES);
    index->terms(passage, &terms);
    EXEC(file, "INSERT INTO passages (rowid, terms) VALUES (?, ?)", NUMBER(row),
         TEXT(terms.data ? terms.data : ""));
    EXEC(file, "INSERT INTO texts (row, text, question) VALUES (?, ?, ?)", NUMBER(row),
         TEXT(passage->text), TEXT(passage->question ? passage->question : ""));
}

static const char *languages_of(struct arena *arena, const struct passage *passages, size_t n)
{
    const char *list = "";
    for (size_t i = 0; i < n; i++)
        if (*passages[i].language && !strstr(list, passages[i].language))
            list = arena_printf(arena, "%s%s ", list, passages[i].language);
    return list;
}

static enum err add_document(struct word_index *index, struct tx *tx, struct tx *file,
                             const char *id)
{
    struct passage *passages;
    size_t n;
    enum err err = store_document_passages(tx, id, &passages, &n);
    if (err || n == 0)
        return err;
    int64_t number =
        QUERY_NUMBER(file, 0,
                     "INSERT INTO documents (id, passages, languages)"
                     " VALUES (?, ?, ?) RETURNING number",
                     TEXT(id), NUMBER((int64_t)n), TEXT(languages_of(tx->arena, passages, n)));
    for (size_t i = 0; i < n; i++)
        add_passage(index, file, (number << POSITION_BITS) + (int64_t)i, &passages[i]);
    return OK;
}

static enum err apply_changes(struct word_index *index, struct tx *tx, struct tx *file)
{
    const char *mark = mark_of(index, tx);
    int64_t seen = revision_of(file, mark);
    if (seen < 0) {
        empty_file(file, mark);
        seen = 0;
    }
    AUTO(cursor) change = QUERY(tx,
                                "SELECT document_id, revision FROM document_changes"
                                " WHERE revision > ? ORDER BY revision",
                                NUMBER(seen));
    while (cursor_next(change)) {
        const char *id = cursor_text(change, 0);
        seen = cursor_number(change, 1);
        forget_document(file, id);
        enum err err = add_document(index, tx, file, id);
        if (err)
            return err;
    }
    EXEC(file, "UPDATE about SET revision = ?", NUMBER(seen));
    if (!file->fault.err)
        atomic_store(&index->revision, seen);
    return tx_result(tx);
}

/* file->fault tells of the file, tx->fault of the database. */
static enum err catch_up_once(struct word_index *index, struct tx *tx, struct fault *file_fault)
{
    int64_t now_ms;
    struct tx file = {.arena = tx->arena, .db = NULL};
    enum err err = OK;
    if (!index->writer)
        err = db_sqlite_open(index->path, DB_FAST, &index->writer, file_fault);
    if (err)
        return ERR_IO;
    file.db = index->writer;
    err = file.db->ops->script(file.db, tables, file_fault);
    if (!err)
        err = file.db->ops->begin(file.db, true, &now_ms, file_fault);
    if (err)
        return ERR_IO;
    err = apply_changes(index, tx, &file);
    if (!err && !file.fault.err)
        err = file.db->ops->commit(file.db, &file.fault);
    if (err || file.fault.err) {
        atomic_store(&index->revision, -1);
        file.db->ops->rollback(file.db);
    }
    *file_fault = file.fault;
    return err ? err : file.fault.err ? ERR_IO : OK;
}

static enum err catch_up_locked(struct word_index *index, struct tx *tx)
{
    struct fault fault = {0};
    enum err err = catch_up_once(index, tx, &fault);
    if (!err || tx_has_failed(tx))
        return err;
    log_warn("index.rebuilt", LOG_S("error", fault.text));
    remove_file(index);
    err = catch_up_once(index, tx, &fault);
    if (err && fault.err)
        fault_set(&tx->fault, ERR_IO, "the search index: %s", fault.text);
    return err;
}

/* What the file has seen, when this process does not know it yet. */
static void remember_revision(struct word_index *index, struct tx *tx)
{
    struct fault fault = {0};
    if (!index->writer || index->writer->ops->script(index->writer, tables, &fault))
        return; /* catching up says what is wrong with it, and makes it anew */
    struct tx file = {.arena = tx->arena, .db = index->writer};
    int64_t seen = revision_of(&file, mark_of(index, tx));
    if (!file.fault.err)
        atomic_store(&index->revision, seen);
}

static int64_t seen_revision(struct word_index *index, struct tx *tx)
{
    if (atomic_load(&index->revision) < 0) {
        pthread_mutex_lock(&index->mutex);
        if (atomic_load(&index->revision) < 0)
            remember_revision(index, tx);
        pthread_mutex_unlock(&index->mutex);
    }
    return atomic_load(&index->revision);
}

/* The last change of any of them. */
static int64_t revision_of_documents(struct tx *tx, const struct text_list *document_ids)
{
    int64_t last = 0;
    for (size_t i = 0; i < document_ids->count; i++) {
        const char *id = document_ids->items[i];
        int64_t revision = QUERY_NUMBER(
            tx, 0, "SELECT revision FROM document_changes WHERE document_id = ?", TEXT(id));
        last = MAX(last, revision);
    }
    return last;
}

enum err word_index_catch_up(struct word_index *index, struct tx *tx,
                             const struct text_list *document_ids)
{
    int64_t wanted = QUERY_NUMBER(tx, 0, "SELECT value FROM counters WHERE name = 'revision'");
    if (!tx_has_failed(tx) && wanted > seen_revision(index, tx))
        wanted = revision_of_documents(tx, document_ids);
    if (tx_has_failed(tx))
        return ERR_IO;
    if (wanted <= atomic_load(&index->revision))
        return OK;
    pthread_mutex_lock(&index->mutex);
    enum err err = wanted <= atomic_load(&index->revision) ? OK : catch_up_locked(index, tx);
    pthread_mutex_unlock(&index->mutex);
    return err;
}

/* --- searching --- */

static struct db *reader_take(struct word_index *index)
{
    for (int i = 0; i < READERS_MAX; i++) {
        struct db *db = atomic_exchange(&index->readers[i], NULL);
        if (db)
            return db;
    }
    struct db *db = NULL;
    return db_sqlite_open(index->path, DB_FAST | DB_READ_ONLY, &db, NULL) ? NULL : db;
}

static void reader_give(struct word_index *index, struct db *db)
{
    for (int i = 0; i < READERS_MAX; i++) {
        struct db *none = NULL;
        if (atomic_compare_exchange_strong(&index->readers[i], &none, db))
            return;
    }
    db_close(db);
}

static void add_languages(struct word_scope *scope, const char *list)
{
    for (const char *at = list, *end; (end = strchr(at, ' ')); at = end + 1) {
        size_t len = (size_t)(end - at);
        bool is_known = scope->languages.count == LANGUAGES_MAX;
        for (size_t i = 0; i < scope->languages.count && !is_known; i++)
            is_known = strlen(scope->languages.items[i]) == len &&
                       strncmp(scope->languages.items[i], at, len) == 0;
        if (!is_known)
            *GROW(&scope->languages, scope->tx.arena) = arena_strndup(scope->tx.arena, at, len);
    }
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

struct word_scope *word_scope_open(struct word_index *index, const struct text_list *document_ids,
                                   struct arena *arena)
{
    struct db *db = reader_take(index);
    if (!db)
        return NULL;
    struct word_scope *scope = arena_new_of(arena, struct word_scope);
    scope->index = index;
    scope->tx = (struct tx){.arena = arena, .db = db};
    scope->numbers = arena_new_n(arena, int64_t, document_ids->count + 1);
    for (size_t i = 0; i < document_ids->count; i++) {
        AUTO(cursor) row =
            QUERY(&scope->tx, "SELECT number, passages, languages FROM documents WHERE id = ?",
                  TEXT(document_ids->items[i]));
        if (!cursor_next(row))
            continue;
        scope->numbers[scope->numbers_count++] = cursor_number(row, 0);
        scope->passages += (size_t)cursor_number(row, 1);
        add_languages(scope, cursor_peek(row, 2, NULL));
    }
    qsort(scope->numbers, scope->numbers_count, sizeof(int64_t), by_number);
    return scope;
}

void word_scope_free(struct word_scope *scope)
{
    if (!scope)
        return;
    if (scope->tx.fault.err) {
        log_warn("index.fault", LOG_S("error", scope->tx.fault.text));
        db_close(scope->tx.db);
        return;
    }
    reader_give(scope->index, scope->tx.db);
}

size_t word_scope_passages(const struct word_scope *scope)
{
    return scope->passages;
}

const struct text_list *word_scope_languages(const struct word_scope *scope)
{
    return &scope->languages;
}

/* As FTS5 takes a string: in quotes, quotes doubled. */
static const char *quoted(struct arena *arena, const char *term)
{
    char *out = arena_alloc(arena, 2 * strlen(term) + 3), *to = out;
    *to++ = '"';
    for (; *term; term++) {
        *to++ = *term;
        if (*term == '"')
            *to++ = '"';
    }
    *to = '"';
    return out;
}

static void find_range(struct word_scope *scope, const char *match, int64_t number,
                       struct word_rows *out)
{
    int64_t first = number << POSITION_BITS, last = first | ((1 << POSITION_BITS) - 1);
    AUTO(cursor) row = QUERY(
        &scope->tx, "SELECT rowid FROM passages WHERE passages MATCH ? AND rowid BETWEEN ? AND ?",
        TEXT(match), NUMBER(first), NUMBER(last));
    while (cursor_next(row))
        *GROW(out, scope->tx.arena) = cursor_number(row, 0);
}

static void find_sifted(struct word_scope *scope, const char *match, struct word_rows *out)
{
    AUTO(cursor) row =
        QUERY(&scope->tx, "SELECT rowid FROM passages WHERE passages MATCH ? LIMIT ?", TEXT(match),
              NUMBER(SIFTED_MAX));
    while (cursor_next(row)) {
        int64_t id = cursor_number(row, 0), number = id >> POSITION_BITS;
        if (bsearch(&number, scope->numbers, scope->numbers_count, sizeof(number), by_number))
            *GROW(out, scope->tx.arena) = id;
    }
}

struct word_rows word_scope_find(struct word_scope *scope, const char *term)
{
    struct word_rows rows = {0};
    const char *match = quoted(scope->tx.arena, term);
    if (scope->numbers_count > RANGES_MAX)
        find_sifted(scope, match, &rows);
    else
        for (size_t i = 0; i < scope->numbers_count; i++)
            find_range(scope, match, scope->numbers[i], &rows);
    return rows;
}

enum err word_scope_load(struct word_scope *scope, int64_t row, struct word_passage *out)
{
    AUTO(cursor) found = QUERY(&scope->tx,
                               "SELECT d.id, t.text, t.question, p.terms FROM passages p"
                               " JOIN texts t ON t.row = p.rowid"
                               " JOIN documents d ON d.number = p.rowid >> ?"
                               " WHERE p.rowid = ?",
                               NUMBER(POSITION_BITS), NUMBER(row));
    if (!cursor_next(found))
        return tx_missing(&scope->tx);
    *out = (struct word_passage){.document_id = cursor_text(found, 0),
                                 .text = cursor_text(found, 1),
                                 .question = cursor_text(found, 2),
                                 .terms = cursor_text(found, 3)};
    return OK;
}
