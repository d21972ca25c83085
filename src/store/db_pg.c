/* db.h for PostgreSQL. Statements are prepared once a connection with the types of their values;
 * a result is read whole. Each commit marks the connection's row in the table `commits`, so that
 * one whose answer was lost can be looked up (transaction numbers would not do: after a crash of
 * the server they are given out again). Thread: one at a time for each connection. */
#include "store/db.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <postgresql/libpq-fe.h>

#include "base/buf.h"
#include "base/ids.h"
#include "base/map.h"
#include "base/mem.h"
#include "store/db_pg_wire.h"

/* Types of the wire (pg_type): what a placeholder holds. */
enum { OID_UNKNOWN = 0, OID_BYTEA = 17, OID_INT8 = 20, OID_TEXT = 25 };
enum {
    VALUES_MAX = 56, /* placeholders of one statement */
    NUMBER_SIZE = 24,
    SQL_MAX_BYTES = 64 * 1024,
    SETTINGS_US = 3000000,   /* of a new connection */
    GOODBYE_US = 500000,     /* of one that is closed, or of a transaction */
    COMMIT_US = 2000000,     /* so that few are in doubt because their time was over just then */
    SERVER_LEAD_US = 500000, /* how much earlier than we the server gives up */
};

struct pg_db {
    struct db db;
    PGconn *conn;
    bool is_lost;           /* a question of it was never answered */
    bool is_reading;        /* in a transaction that may not write */
    struct map *statements; /* SQL -> char *name */
    unsigned names;
    char slot[ID_SIZE]; /* "": none yet */
    uint64_t mark;
    char transaction[DB_TRANSACTION_SIZE];
};

struct pg_rows {
    struct rows rows;
    PGresult *result;
    int row;
    unsigned char *blob; /* the decoded column, until the next one */
};

static const struct db_ops pg_ops;

static struct pg_db *of(struct db *db)
{
    return (struct pg_db *)db;
}

/* SQLSTATE classes that a new attempt may pass: serialization and deadlock; locks and time; a
 * server that goes down or comes up, or only reads; and those that say that these values are
 * refused whenever they come, as what writes in a reading job of ours is. An error without one is
 * libpq's own, nothing the server said: the connection is lost, although its status is good still
 * when sending failed before the end was read. */
static enum err classify(const struct pg_db *db, const char *state)
{
    static const struct {
        const char *prefix;
        enum err err;
    } table[] = {
        {"40", ERR_AGAIN},   {"55P03", ERR_BUSY},   {"57014", ERR_BUSY},   {"08", ERR_CLOSED},
        {"57P", ERR_CLOSED}, {"25P03", ERR_CLOSED}, {"53300", ERR_CLOSED}, {"25006", ERR_CLOSED},
        {"21", ERR_INVALID}, {"22", ERR_INVALID},   {"23", ERR_INVALID},   {"42", ERR_INVALID},
        {"54", ERR_INVALID},
    };
    if (!state || db->is_lost || PQstatus(db->conn) != CONNECTION_OK)
        return ERR_CLOSED;
    if (db->is_reading && strcmp(state, "25006") == 0)
        return ERR_INVALID;
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (strncmp(state, table[i].prefix, strlen(table[i].prefix)) == 0)
            return table[i].err;
    return ERR_IO;
}

static enum err explain(const struct pg_db *db, const PGresult *result, const char *what,
                        struct fault *fault)
{
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *message = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    if (!message)
        message =
            PQstatus(db->conn) == CONNECTION_OK ? "no answer in time" : PQerrorMessage(db->conn);
    return fault_set(fault, classify(db, state), "PostgreSQL: %.*s (%.60s)",
                     (int)strcspn(message, "\n"), message, what);
}

/* is_sent: of PQsend...(). NULL, as any bad result, is for explain(). */
static PGresult *answer(struct pg_db *db, int is_sent)
{
    PGresult *result = pg_wire_answer(db->conn, is_sent, &db->db);
    db->is_lost |= !result;
    return result;
}

static PGresult *ask(struct pg_db *db, const char *sql)
{
    return db->is_lost ? NULL : answer(db, PQsendQuery(db->conn, sql));
}

/* What must not be cut short for a job that has used up its time. */
static void at_least(struct pg_db *db, int64_t time_us)
{
    if (db->db.due_us)
        db->db.due_us = MAX(db->db.due_us, clock_now_us() + time_us);
}

static bool is_good(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

static enum err pg_script(struct db *base, const char *sql, struct fault *fault)
{
    struct pg_db *db = of(base);
    PGresult *result = ask(db, sql);
    enum err err = is_good(result) ? OK : explain(db, result, sql, fault);
    PQclear(result);
    return err;
}

enum err db_pg_open(const char *url, struct db **out, struct fault *fault)
{
    PGconn *conn;
    enum err err = pg_wire_open(url, &conn, fault);
    if (err)
        return err;
    struct pg_db *db = mem_new(struct pg_db);
    db->db.ops = &pg_ops;
    db->db.due_us = clock_now_us() + SETTINGS_US;
    db->statements = map_new();
    db->conn = conn;
    err = pg_script(&db->db,
                    "SET client_encoding = 'UTF8'; SET synchronous_commit = on;"
                    "SET idle_in_transaction_session_timeout = '60s'; SET lock_timeout = '30s'",
                    fault);
    if (err) {
        db_close(&db->db);
        return err;
    }
    db->db.due_us = 0;
    *out = &db->db;
    return OK;
}

static int forget_statement(void *arg, const void *key, size_t key_len, void *value)
{
    (void)arg, (void)key, (void)key_len;
    mem_free(value);
    return 0;
}

static void pg_close(struct db *base)
{
    struct pg_db *db = of(base);
    if (db->slot[0] && !db->is_lost && PQtransactionStatus(db->conn) == PQTRANS_IDLE) {
        db->db.due_us = clock_now_us() + GOODBYE_US;
        char sql[100];
        snprintf(sql, sizeof(sql), "DELETE FROM commits WHERE slot = '%s'", db->slot);
        (void)pg_script(base, sql, NULL);
    }
    map_each(db->statements, forget_statement, NULL);
    map_free(db->statements);
    PQfinish(db->conn);
    mem_free(db);
}

/* The connection's row in `commits`, which each of its commits marks. */
static enum err slot_make(struct pg_db *db, struct fault *fault)
{
    char slot[ID_SIZE], sql[320];
    id_new("slot_", slot);
    snprintf(sql, sizeof(sql),
             "DELETE FROM commits WHERE made_ms < (extract(epoch FROM clock_timestamp()) - 604800)"
             " * 1000;" /* last used a week ago; a connection that still lives makes another */
             "INSERT INTO commits (slot, mark, made_ms) VALUES ('%s', 0,"
             " (extract(epoch FROM clock_timestamp()) * 1000)::bigint)",
             slot);
    enum err err = pg_script(&db->db, sql, fault);
    if (!err)
        memcpy(db->slot, slot, sizeof(db->slot));
    return err;
}

/* One round trip: begin; the server's clock; and its own patience, which ends before ours, so that
 * a server that lives says what it was and the connection stays good. */
static PGresult *begin(struct pg_db *db, bool is_write)
{
    char sql[320];
    int n = snprintf(sql, sizeof(sql),
                     "BEGIN%s; SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint",
                     is_write ? "" : " ISOLATION LEVEL REPEATABLE READ READ ONLY");
    if (db->db.due_us) {
        int64_t left_ms = MAX((db->db.due_us - clock_now_us() - SERVER_LEAD_US) / 1000, 1);
        snprintf(sql + n, sizeof(sql) - (size_t)n,
                 ", set_config('statement_timeout', '%" PRId64 "', true),"
                 " set_config('lock_timeout', '%" PRId64 "', true)",
                 left_ms, MIN(left_ms, (int64_t)db->db.lock_ms));
    }
    return ask(db, sql);
}

static enum err pg_begin(struct db *base, bool is_write, int64_t *out_now_ms, struct fault *fault)
{
    struct pg_db *db = of(base);
    enum err err = is_write && !db->slot[0] ? slot_make(db, fault) : OK;
    if (err)
        return err;
    PGresult *result = begin(db, is_write);
    db->is_reading = !is_write;
    if (PQresultStatus(result) == PGRES_TUPLES_OK)
        *out_now_ms = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    else
        err = explain(db, result, "BEGIN", fault);
    PQclear(result);
    if (!err && is_write)
        snprintf(db->transaction, sizeof(db->transaction), "%s %" PRIu64, db->slot, ++db->mark);
    return err;
}

/* Marks and commits in one round trip. The division fails when outcome() has closed the row: then
 * the transaction was given up for lost and must not take effect any more. */
static enum err pg_commit(struct db *base, struct fault *fault)
{
    struct pg_db *db = of(base);
    char sql[360];
    snprintf(sql, sizeof(sql),
             "WITH marked AS (UPDATE commits SET mark = %" PRIu64 ","
             " made_ms = (extract(epoch FROM clock_timestamp()) * 1000)::bigint"
             " WHERE slot = '%s' AND mark >= 0 RETURNING 1)"
             " SELECT 1 / (SELECT COUNT(*) FROM marked); COMMIT",
             db->mark, db->slot);
    at_least(db, COMMIT_US);
    PGresult *result = ask(db, sql);
    enum err err = is_good(result) ? OK : explain(db, result, "COMMIT", fault);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (state && strcmp(state, "22012") == 0) { /* division by zero: no open row */
        db->slot[0] = '\0';
        err = ERR_AGAIN;
    }
    if (err == ERR_CLOSED) /* the row is what outcome() asks: it must not go with us */
        db->slot[0] = '\0';
    PQclear(result);
    return err;
}

static void pg_rollback(struct db *base)
{
    struct pg_db *db = of(base);
    db->is_reading = false;
    if (db->is_lost || PQtransactionStatus(db->conn) == PQTRANS_IDLE)
        return;
    at_least(db, GOODBYE_US);
    PQclear(ask(db, "ROLLBACK"));
}

static const char *pg_transaction(struct db *db)
{
    return of(db)->transaction;
}

/* Closes the lost connection's row by making its mark negative, which waits for a commit that is
 * under way and forbids a later one; the mark says what had been committed last. The row stays, so
 * that one whose own answer is lost asks again and hears the same. */
static enum err pg_outcome(struct db *base, const char *transaction, struct fault *fault)
{
    struct pg_db *db = of(base);
    const char *space = strchr(transaction, ' ');
    AUTO_MEM char *slot = mem_strndup(transaction, (size_t)(space - transaction));
    const char *const values[] = {slot};
    static const char sql[] =
        "UPDATE commits SET mark = CASE WHEN mark < 0 THEN mark ELSE -1 - mark END"
        " WHERE slot = $1 RETURNING -1 - mark";
    PGresult *result = answer(db, PQsendQueryParams(db->conn, sql, 1, NULL, values, NULL, NULL, 0));
    enum err err = ERR_NOT_FOUND;
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        err = explain(db, result, "commits", fault);
    else if (PQntuples(result) == 1 && strcmp(PQgetvalue(result, 0, 0), space + 1) == 0)
        err = OK;
    PQclear(result);
    return err;
}

/* `?` outside quotes becomes $1, $2, ... */
static void number_placeholders(const char *sql, struct buf *out)
{
    unsigned n = 0;
    bool is_quoted = false;
    for (const char *c = sql; *c; c++) {
        is_quoted ^= *c == '\'';
        if (*c == '?' && !is_quoted)
            (void)buf_printf(out, "$%u", ++n);
        else
            (void)buf_append_char(out, *c);
    }
}

static enum err statement_for(struct pg_db *db, const char *sql, const Oid *types, int n,
                              const char **out_name, struct fault *fault)
{
    char *name = map_get_str(db->statements, sql);
    if (!name) {
        AUTO_BUF text = BUF_INIT(SQL_MAX_BYTES);
        number_placeholders(sql, &text);
        name = mem_printf("s%u", ++db->names);
        PGresult *result = answer(db, PQsendPrepare(db->conn, name, text.data, n, types));
        enum err err = is_good(result) ? OK : explain(db, result, sql, fault);
        PQclear(result);
        if (err) {
            mem_free(name);
            return err;
        }
        map_set_str(db->statements, sql, name);
    }
    *out_name = name;
    return OK;
}

/* The values of one statement as libpq takes them. */
struct bound {
    Oid types[VALUES_MAX];
    const char *values[VALUES_MAX];
    int lengths[VALUES_MAX], formats[VALUES_MAX];
    char numbers[VALUES_MAX][NUMBER_SIZE];
    int n;
};

static enum err bind_all(struct bound *bound, const struct db_value *values, struct fault *fault)
{
    for (bound->n = 0; values[bound->n].type != DB_END; bound->n++) {
        int i = bound->n;
        if (i == VALUES_MAX || values[i].len > INT32_MAX)
            return fault_set(fault, ERR_LIMIT, "PostgreSQL: a statement with too much in it");
        bound->lengths[i] = (int)values[i].len;
        bound->formats[i] = values[i].type == DB_BLOB;
        bound->values[i] = values[i].data;
        bound->types[i] = values[i].type == DB_INT    ? OID_INT8
                          : values[i].type == DB_BLOB ? OID_BYTEA
                          : values[i].type == DB_TEXT ? OID_TEXT
                                                      : OID_UNKNOWN;
        if (values[i].type == DB_INT) {
            snprintf(bound->numbers[i], NUMBER_SIZE, "%" PRId64, values[i].number);
            bound->values[i] = bound->numbers[i];
        }
        if (values[i].type == DB_NULL)
            bound->values[i] = NULL;
    }
    return OK;
}

static enum err pg_query(struct db *base, const char *sql, const struct db_value *values,
                         struct rows **out, struct fault *fault)
{
    struct pg_db *db = of(base);
    struct bound bound;
    const char *name;
    if (db->is_lost)
        return explain(db, NULL, sql, fault);
    enum err err = bind_all(&bound, values, fault);
    if (!err)
        err = statement_for(db, sql, bound.types, bound.n, &name, fault);
    if (err)
        return err;
    PGresult *result = answer(db, PQsendQueryPrepared(db->conn, name, bound.n, bound.values,
                                                      bound.lengths, bound.formats, 0));
    if (!is_good(result)) {
        err = explain(db, result, sql, fault);
        PQclear(result);
        return err;
    }
    struct pg_rows *rows = mem_new(struct pg_rows);
    *rows = (struct pg_rows){.rows.db = base, .result = result, .row = -1};
    *out = &rows->rows;
    return OK;
}

static bool pg_next(struct rows *base, struct fault *fault)
{
    (void)fault;
    struct pg_rows *rows = (struct pg_rows *)base;
    int total = PQntuples(rows->result);
    if (rows->row < total)
        rows->row++;
    return rows->row < total;
}

static bool pg_is_null(struct rows *base, unsigned column)
{
    struct pg_rows *rows = (struct pg_rows *)base;
    return PQgetisnull(rows->result, rows->row, (int)column);
}

static const char *pg_text(struct rows *base, unsigned column, size_t *out_len)
{
    struct pg_rows *rows = (struct pg_rows *)base;
    if (out_len)
        *out_len = (size_t)PQgetlength(rows->result, rows->row, (int)column);
    return PQgetvalue(rows->result, rows->row, (int)column);
}

static int64_t pg_number(struct rows *base, unsigned column)
{
    return strtoll(pg_text(base, column, NULL), NULL, 10);
}

static const void *pg_blob(struct rows *base, unsigned column, size_t *out_len)
{
    struct pg_rows *rows = (struct pg_rows *)base;
    if (rows->blob)
        PQfreemem(rows->blob);
    rows->blob = PQunescapeBytea((const unsigned char *)pg_text(base, column, NULL), out_len);
    return rows->blob;
}

static int64_t pg_changed(struct rows *base)
{
    return strtoll(PQcmdTuples(((struct pg_rows *)base)->result), NULL, 10);
}

static void pg_rows_close(struct rows *base)
{
    struct pg_rows *rows = (struct pg_rows *)base;
    if (rows->blob)
        PQfreemem(rows->blob);
    PQclear(rows->result);
    mem_free(rows);
}

int db_pg_socket(const struct db *db)
{
    return PQsocket(((const struct pg_db *)db)->conn);
}

enum err db_pg_notifications(struct db *base, unsigned *out_topics)
{
    struct pg_db *db = of(base);
    *out_topics = 0;
    if (!PQconsumeInput(db->conn))
        return ERR_CLOSED;
    for (PGnotify *notify; (notify = PQnotifies(db->conn)); PQfreemem(notify))
        *out_topics |= (unsigned)strtoul(notify->extra, NULL, 10);
    return PQstatus(db->conn) == CONNECTION_OK ? OK : ERR_CLOSED;
}

static const struct db_ops pg_ops = {
    .is_pg = true,
    .close = pg_close,
    .begin = pg_begin,
    .commit = pg_commit,
    .rollback = pg_rollback,
    .transaction = pg_transaction,
    .outcome = pg_outcome,
    .query = pg_query,
    .script = pg_script,
    .next = pg_next,
    .is_null = pg_is_null,
    .number = pg_number,
    .text = pg_text,
    .blob = pg_blob,
    .changed = pg_changed,
    .rows_close = pg_rows_close,
};
