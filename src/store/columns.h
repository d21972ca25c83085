/* A row of the database and a struct of the program by one description: the rows of a field table
 * that name a column (model/field.h). What a SELECT lists, an INSERT writes and a struct is filled
 * from is made from it, in the order of the table, so that a new column is one more row there. What
 * no struct holds is written with its name beside it (struct column).
 * Thread: inside a job. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "model/field.h"
#include "store/tx.h"

/* "SELECT <the table's columns>, <also> <rest>", in the job's arena. also: SQL of further columns,
 * which stand from columns_count() on; NULL: none. rest: "FROM ... WHERE ...". */
const char *columns_select(struct tx *tx, const struct field_table *table, const char *also,
                           const char *rest);
/* "<statement> RETURNING <the table's columns>", likewise. */
const char *columns_returning(struct tx *tx, const char *statement,
                              const struct field_table *table);
/* "a, b, c": the table's columns, to stand as `also` beside those of another. */
const char *columns_names(struct tx *tx, const struct field_table *table);
unsigned columns_count(const struct field_table *table);

/* Fills the members that have a column from the row's first columns; the others stay. A null text
 * is "", or NULL where FIELD_OPTIONAL says so. ERR_INTERNAL,
 * and the job's fault: a stored word is none of those that the field knows. */
enum err columns_read(struct tx *tx, struct cursor *row, const struct field_table *table,
                      void *out) MUST_USE;
/* The same from a later column on: those of a table that stood beside the first. */
enum err columns_read_from(struct tx *tx, struct cursor *row, unsigned first,
                           const struct field_table *table, void *out) MUST_USE;

/* Appends all rows to a list of the table's structs; what has no column is zero there. sql: of
 * columns_select() or columns_returning(). ERR_INTERNAL as above; ERR_IO: the job has failed. */
enum err columns_list(struct tx *tx, const struct field_table *table, const char *sql,
                      const struct db_value *values, void *out_list) MUST_USE;

/* What is written by its name: beside a table's columns, or alone. */
struct column {
    const char *name;
    struct db_value value;
    const char *sql; /* with one ?, the value's, or without a value; NULL: the value as it is */
};
#define COLUMNS(...)                                                                               \
    (const struct column[])                                                                        \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            .name = NULL                                                                           \
        }                                                                                          \
    }

struct row_insert {
    const char *into;
    const struct field_table *table; /* NULL: `also` alone */
    const void *object;
    const struct column *also;     /* COLUMNS(...); NULL: none */
    const char *from;              /* one for each row of "FROM ... WHERE ..."; NULL: one */
    const struct db_value *values; /* of `from`: VALUES(...) */
    const char *conflict;          /* "ON CONFLICT ..."; NULL: a fault */
};
/* The number of rows written; 0 after a fault. */
int64_t columns_insert(struct tx *tx, const struct row_insert *insert);
/* A number that the row has then, such as its id; 0: none was written. */
int64_t columns_insert_returning(struct tx *tx, const struct row_insert *insert,
                                 const char *column);

struct row_update {
    const char *of;
    const struct column *set;      /* COLUMNS(...) */
    const char *where;             /* without the word */
    const struct db_value *values; /* of `where`: VALUES(...) */
};
/* The number of rows changed; 0 after a fault. */
int64_t columns_update(struct tx *tx, const struct row_update *update);
/* What the rows have then in these columns, "a, b". */
struct cursor *columns_update_returning(struct tx *tx, const struct row_update *update,
                                        const char *columns);

/* Rows of a table that only the store has. What is only read may be any SQL: "d.id",
 * "COALESCE(e.type, '')". */
#define COLUMN_TEXT(T, member, column_, ...)                                                       \
    ROW_TEXT(T, member, column_, .column = (column_), __VA_ARGS__)
#define COLUMN_NUMBER(T, member, column_) ROW_INT(T, member, column_, .column = (column_))
#define COLUMN_BOOL(T, member, column_)   ROW_BOOL(T, member, column_, .column = (column_))
#define COLUMN_WORD(T, member, column_, type, names_)                                              \
    ROW_ENUM(T, member, column_, type, names_, .column = (column_))
