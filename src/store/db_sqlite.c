/* db.h for SQLite. WAL with synchronous=FULL: a commit is on the disk before it is told. A
 * derived file (the search index) is opened DB_FAST. Statements are kept in a map by their text;
 * one that is in use already (a query inside its own loop) gets a second, short-lived one. Thread:
 * one at a time for each connection. */
#include "store/db.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"

enum {
    BUSY_WAIT_MS = 10000, /* for a command-line program's transaction beside us */
    BUSY_LOOK_MS = 100,   /* how late the end of a job's time may be noticed meanwhile */
    OPS_BETWEEN_LOOKS = 2000,
    WAL_ASKED_MAX = 20, /* each time after another's turn */
    CACHE_KB = 1024,    /* a connection; the system's page cache does the rest */
};

struct kept {
    sqlite3_stmt *stmt;
    bool is_busy;
};

struct sqlite_rows {
    struct rows rows;
    sqlite3_stmt *stmt;
    struct kept *kept; /* NULL: the statement is only for these rows */
    bool is_over;
    int64_t changed;
    struct sqlite_rows *next_free;
};

struct sqlite_db {
    struct db db;
    sqlite3 *handle;
    struct map *statements; /* SQL -> struct kept */
    struct sqlite_rows *free_rows;
};

static const struct db_ops sqlite_ops;

static struct sqlite_db *of(struct db *db)
{
    return (struct sqlite_db *)db;
}

/* What the database refuses of these values, whenever they come, is ERR_INVALID. */
static enum err classify(int code)
{
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_INTERRUPT:
    case SQLITE_FULL:
        return ERR_BUSY;
    case SQLITE_ERROR:
    case SQLITE_TOOBIG:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
        return ERR_INVALID;
    default:
        return ERR_IO;
    }
}

static enum err explain(sqlite3 *handle, int code, const char *what, struct fault *fault)
{
    return fault_set(fault, classify(code), "SQLite: %s: %s",
                     handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code), what);
}

static enum err sqlite_script(struct db *db, const char *sql, struct fault *fault)
{
    sqlite3 *handle = of(db)->handle;
    int code = sqlite3_exec(handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? OK : explain(handle, code, sql, fault);
}

/* Several processes that open a new file at once stand in each other's way: two that hold it shared
 * both want it alone, and SQLite refuses one at once, whatever the busy timeout says. That one lets
 * go, waits its turn by a transaction (for which the timeout holds), and asks again. */
static enum err use_wal(struct db *db, struct fault *fault)
{
    struct fault refused = {0};
    for (int i = 0; i < WAL_ASKED_MAX; i++) {
        if (!sqlite_script(db, "PRAGMA journal_mode = WAL", &refused))
            return OK;
        enum err err = sqlite_script(db, "BEGIN EXCLUSIVE; COMMIT", fault);
        if (err)
            return err;
    }
    return fault_set(fault, refused.err, "%s", refused.text);
}

/* Ends a statement that takes too long; of readers only, since it would undo a writer's whole
 * transaction. */
static int is_over(void *arg)
{
    return db_is_over(arg);
}

static enum err configure(struct sqlite_db *db, unsigned flags, struct fault *fault)
{
    sqlite3_busy_timeout(db->handle, BUSY_WAIT_MS);
    enum err err = use_wal(&db->db, fault);
    if (err)
        return err;
    if (flags & DB_READ_ONLY)
        sqlite3_progress_handler(db->handle, OPS_BETWEEN_LOOKS, is_over, db);
    char pragmas[200];
    snprintf(pragmas, sizeof(pragmas),
             "PRAGMA synchronous = %s; PRAGMA cache_size = -%d;"
             "PRAGMA temp_store = MEMORY; PRAGMA query_only = %s",
             flags & DB_FAST ? "NORMAL" : "FULL", CACHE_KB, flags & DB_READ_ONLY ? "ON" : "OFF");
    return sqlite_script(&db->db, pragmas, fault);
}

/* Readable by nobody else, and so are the files that SQLite puts beside it. Only where there is
 * none: closing a descriptor of a file that is in use would drop SQLite's locks on it. */
static void make_private(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

enum err db_sqlite_open(const char *path, unsigned flags, struct db **out, struct fault *fault)
{
    struct sqlite_db *db = mem_new(struct sqlite_db);
    db->db.ops = &sqlite_ops;
    db->statements = map_new();
    make_private(path);
    int code = sqlite3_open_v2(
        path, &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    enum err err =
        code == SQLITE_OK ? configure(db, flags, fault) : explain(db->handle, code, path, fault);
    if (err) {
        db_close(&db->db);
        return err;
    }
    *out = &db->db;
    return OK;
}

static int forget_statement(void *arg, const void *key, size_t key_len, void *value)
{
    (void)arg, (void)key, (void)key_len;
    struct kept *kept = value;
    sqlite3_finalize(kept->stmt);
    mem_free(kept);
    return 0;
}

static void sqlite_close(struct db *base)
{
    struct sqlite_db *db = of(base);
    map_each(db->statements, forget_statement, NULL);
    map_free(db->statements);
    sqlite3_close(db->handle);
    for (struct sqlite_rows *rows = db->free_rows, *next; rows; rows = next) {
        next = rows->next_free;
        mem_free(rows);
    }
    mem_free(db);
}

/* Another process may hold the lock for long. */
static enum err begin_write(struct db *db, struct fault *fault)
{
    int64_t until_us = clock_now_us() + BUSY_WAIT_MS * INT64_C(1000);
    enum err err;
    sqlite3_busy_timeout(of(db)->handle, BUSY_LOOK_MS);
    do
        err = sqlite_script(db, "BEGIN IMMEDIATE", fault);
    while (err == ERR_BUSY && !db_is_over(db) && (db->due_us || clock_now_us() < until_us));
    sqlite3_busy_timeout(of(db)->handle, BUSY_WAIT_MS);
    return err;
}

static enum err sqlite_begin(struct db *db, bool is_write, int64_t *out_now_ms, struct fault *fault)
{
    struct fault held = {0};
    enum err err = is_write ? begin_write(db, &held) : sqlite_script(db, "BEGIN", &held);
    if (err)
        return fault_set(fault, err, "%s", held.text);
    *out_now_ms = clock_wall_ms();
    return OK;
}

static enum err sqlite_commit(struct db *db, struct fault *fault)
{
    return sqlite_script(db, "COMMIT", fault);
}

static void sqlite_rollback(struct db *db)
{
    if (!sqlite3_get_autocommit(of(db)->handle))
        sqlite3_exec(of(db)->handle, "ROLLBACK", NULL, NULL, NULL);
}

static const char *sqlite_transaction(struct db *db)
{
    (void)db;
    return "";
}

static enum err sqlite_outcome(struct db *db, const char *transaction, struct fault *fault)
{
    (void)db, (void)transaction;
    return fault_set(fault, ERR_INTERNAL, "SQLite: a commit is never in doubt");
}

/* Row locks mean nothing where one writer runs: they are blanked out. */
static enum err prepare(struct sqlite_db *db, const char *sql, unsigned flags, sqlite3_stmt **out,
                        struct fault *fault)
{
    static const char *const locks[] = {" FOR UPDATE SKIP LOCKED", " FOR UPDATE"};
    AUTO_MEM char *text = mem_strdup(sql);
    for (size_t i = 0; i < ARRAY_LEN(locks); i++)
        for (char *lock; (lock = strstr(text, locks[i]));)
            memset(lock, ' ', strlen(locks[i]));
    int code = sqlite3_prepare_v3(db->handle, text, -1, flags, out, NULL);
    return code == SQLITE_OK ? OK : explain(db->handle, code, sql, fault);
}

static enum err statement_for(struct sqlite_db *db, const char *sql, struct sqlite_rows *rows,
                              struct fault *fault)
{
    struct kept *kept = map_get_str(db->statements, sql);
    if (kept && kept->is_busy)
        return prepare(db, sql, 0, &rows->stmt, fault);
    if (!kept) {
        sqlite3_stmt *stmt;
        enum err err = prepare(db, sql, SQLITE_PREPARE_PERSISTENT, &stmt, fault);
        if (err)
            return err;
        kept = mem_new(struct kept);
        kept->stmt = stmt;
        map_set_str(db->statements, sql, kept);
    }
    kept->is_busy = true;
    rows->kept = kept;
    rows->stmt = kept->stmt;
    return OK;
}

static int bind(sqlite3_stmt *stmt, int place, const struct db_value *value)
{
    switch (value->type) {
    case DB_INT:
        return sqlite3_bind_int64(stmt, place, value->number);
    case DB_TEXT:
        return sqlite3_bind_text64(stmt, place, value->data, value->len, SQLITE_TRANSIENT,
                                   SQLITE_UTF8);
    case DB_BLOB:
        return sqlite3_bind_blob64(stmt, place, value->len ? value->data : "", value->len,
                                   SQLITE_TRANSIENT);
    case DB_NULL:
    case DB_END:
        break;
    }
    return sqlite3_bind_null(stmt, place);
}

static struct sqlite_rows *rows_take(struct sqlite_db *db)
{
    struct sqlite_rows *rows = db->free_rows;
    if (rows)
        db->free_rows = rows->next_free;
    else
        rows = mem_new(struct sqlite_rows);
    *rows = (struct sqlite_rows){.rows.db = &db->db};
    return rows;
}

static void sqlite_rows_close(struct rows *base)
{
    struct sqlite_rows *rows = (struct sqlite_rows *)base;
    struct sqlite_db *db = of(base->db);
    if (rows->kept) {
        sqlite3_reset(rows->stmt);
        rows->kept->is_busy = false;
    } else {
        sqlite3_finalize(rows->stmt);
    }
    rows->next_free = db->free_rows;
    db->free_rows = rows;
}

static enum err sqlite_query(struct db *base, const char *sql, const struct db_value *values,
                             struct rows **out, struct fault *fault)
{
    struct sqlite_db *db = of(base);
    if (db_is_over(base))
        return fault_set(fault, ERR_BUSY, "SQLite: its time is over: %.80s", sql);
    struct sqlite_rows *rows = rows_take(db);
    enum err err = statement_for(db, sql, rows, fault);
    for (int i = 0; !err && values[i].type != DB_END; i++) {
        int code = bind(rows->stmt, i + 1, &values[i]);
        if (code != SQLITE_OK)
            err = explain(db->handle, code, sql, fault);
    }
    if (err) {
        sqlite_rows_close(&rows->rows);
        return err;
    }
    *out = &rows->rows;
    return OK;
}

static bool sqlite_next(struct rows *base, struct fault *fault)
{
    struct sqlite_rows *rows = (struct sqlite_rows *)base;
    if (rows->is_over)
        return false;
    int code = sqlite3_step(rows->stmt);
    if (code == SQLITE_ROW)
        return true;
    rows->is_over = true;
    sqlite3 *handle = of(base->db)->handle;
    if (code == SQLITE_DONE)
        rows->changed = sqlite3_stmt_readonly(rows->stmt) ? 0 : sqlite3_changes64(handle);
    else
        explain(handle, code, sqlite3_sql(rows->stmt), fault);
    return false;
}

static bool sqlite_is_null(struct rows *rows, unsigned column)
{
    return sqlite3_column_type(((struct sqlite_rows *)rows)->stmt, (int)column) == SQLITE_NULL;
}

static int64_t sqlite_number(struct rows *rows, unsigned column)
{
    return sqlite3_column_int64(((struct sqlite_rows *)rows)->stmt, (int)column);
}

static const char *sqlite_text(struct rows *rows, unsigned column, size_t *out_len)
{
    sqlite3_stmt *stmt = ((struct sqlite_rows *)rows)->stmt;
    const char *text = (const char *)sqlite3_column_text(stmt, (int)column);
    if (out_len)
        *out_len = (size_t)sqlite3_column_bytes(stmt, (int)column);
    return text ? text : "";
}

static const void *sqlite_blob(struct rows *rows, unsigned column, size_t *out_len)
{
    sqlite3_stmt *stmt = ((struct sqlite_rows *)rows)->stmt;
    const void *blob = sqlite3_column_blob(stmt, (int)column);
    *out_len = (size_t)sqlite3_column_bytes(stmt, (int)column);
    return blob ? blob : "";
}

static int64_t sqlite_changed(struct rows *rows)
{
    return ((struct sqlite_rows *)rows)->changed;
}

int64_t db_sqlite_data_version(struct db *db)
{
    struct rows *rows;
    static const struct db_value none[] = {{.type = DB_END}};
    if (sqlite_query(db, "PRAGMA data_version", none, &rows, NULL))
        return 0;
    int64_t version = sqlite_next(rows, NULL) ? sqlite_number(rows, 0) : 0;
    sqlite_rows_close(rows);
    return version;
}

bool db_sqlite_is_in_transaction(const struct db *db)
{
    return !sqlite3_get_autocommit(((const struct sqlite_db *)db)->handle);
}

static const struct db_ops sqlite_ops = {
    .close = sqlite_close,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .transaction = sqlite_transaction,
    .outcome = sqlite_outcome,
    .query = sqlite_query,
    .script = sqlite_script,
    .next = sqlite_next,
    .is_null = sqlite_is_null,
    .number = sqlite_number,
    .text = sqlite_text,
    .blob = sqlite_blob,
    .changed = sqlite_changed,
    .rows_close = sqlite_rows_close,
};
