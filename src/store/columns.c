/* See columns.h. */
#include "store/columns.h"

#include <string.h>

#include "base/buf.h"

enum { SQL_MAX_BYTES = 4096, VALUES_MAX = 55 };

static void append(struct buf *out, const char *text)
{
    (void)buf_append_str(out, text);
}

static void append_columns(const struct field_table *table, struct buf *out)
{
    const char *comma = "";
    for (size_t i = 0; i < table->count; i++) {
        if (!table->rows[i].column)
            continue;
        append(out, comma);
        append(out, table->rows[i].column);
        comma = ", ";
    }
}

unsigned columns_count(const struct field_table *table)
{
    unsigned count = 0;
    for (size_t i = 0; i < table->count; i++)
        count += table->rows[i].column != NULL;
    return count;
}

const char *columns_names(struct tx *tx, const struct field_table *table)
{
    AUTO_BUF names = BUF_INIT(SQL_MAX_BYTES);
    append_columns(table, &names);
    return arena_strndup(tx->arena, names.data, names.len);
}

const char *columns_select(struct tx *tx, const struct field_table *table, const char *also,
                           const char *rest)
{
    AUTO_BUF sql = BUF_INIT(SQL_MAX_BYTES);
    append(&sql, "SELECT ");
    append_columns(table, &sql);
    if (also) {
        append(&sql, ", ");
        append(&sql, also);
    }
    append(&sql, " ");
    append(&sql, rest);
    return arena_strndup(tx->arena, sql.data, sql.len);
}

const char *columns_returning(struct tx *tx, const char *statement, const struct field_table *table)
{
    AUTO_BUF sql = BUF_INIT(SQL_MAX_BYTES);
    append(&sql, statement);
    append(&sql, " RETURNING ");
    append_columns(table, &sql);
    return arena_strndup(tx->arena, sql.data, sql.len);
}

enum err columns_read_from(struct tx *tx, struct cursor *row, unsigned first,
                           const struct field_table *table, void *out)
{
    unsigned column = first;
    for (size_t i = 0; i < table->count; i++) {
        const struct field *field = &table->rows[i];
        if (!field->column)
            continue;
        struct field_cell cell = {0};
        bool is_null = field->flags & FIELD_OPTIONAL && cursor_is_null(row, column);
        if (field_has_text_cell(field))
            cell.text = is_null ? NULL : cursor_text(row, column);
        else
            cell.number = cursor_number(row, column);
        if (!field_set_cell(field, out, &cell, tx->arena))
            return fault_set(&tx->fault, ERR_INTERNAL, "%s.%s does not read: %.40s", table->name,
                             field->column, cell.text);
        column++;
    }
    return OK;
}

enum err columns_read(struct tx *tx, struct cursor *row, const struct field_table *table, void *out)
{
    return columns_read_from(tx, row, 0, table, out);
}

enum err columns_list(struct tx *tx, const struct field_table *table, const char *sql,
                      const struct db_value *values, void *out_list)
{
    AUTO(cursor) row = tx_query(tx, sql, values);
    while (cursor_next(row)) {
        enum err err = columns_read(tx, row, table, tx_grow(out_list, table->size, tx->arena));
        if (err)
            return err;
    }
    return tx_result(tx);
}

static struct db_value value_of(struct tx *tx, const struct field *field, const void *object)
{
    struct field_cell cell = field_cell(field, object, tx->arena);
    return field_has_text_cell(field) ? TEXT(cell.text) : NUMBER(cell.number);
}

static bool has_value(const struct column *column)
{
    return !column->sql || strchr(column->sql, '?');
}

static bool is_end(const struct column *column)
{
    return !column || !column->name;
}

static void append_names(const struct row_insert *insert, struct buf *out)
{
    if (insert->table)
        append_columns(insert->table, out);
    const char *comma = insert->table ? ", " : "";
    for (const struct column *also = insert->also; !is_end(also); also++, comma = ", ") {
        append(out, comma);
        append(out, also->name);
    }
}

static void append_places(const struct row_insert *insert, struct buf *out)
{
    const char *comma = "";
    size_t count = insert->table ? columns_count(insert->table) : 0;
    for (size_t i = 0; i < count; i++, comma = ", ") {
        append(out, comma);
        append(out, "?");
    }
    for (const struct column *also = insert->also; !is_end(also); also++, comma = ", ") {
        append(out, comma);
        append(out, also->sql ? also->sql : "?");
    }
}

static const char *insert_sql(struct tx *tx, const struct row_insert *insert, const char *end)
{
    AUTO_BUF sql = BUF_INIT(SQL_MAX_BYTES);
    append(&sql, "INSERT INTO ");
    append(&sql, insert->into);
    append(&sql, " (");
    append_names(insert, &sql);
    append(&sql, insert->from ? ") SELECT " : ") VALUES (");
    append_places(insert, &sql);
    append(&sql, insert->from ? " " : ")");
    if (insert->from)
        append(&sql, insert->from);
    if (insert->conflict) {
        append(&sql, " ");
        append(&sql, insert->conflict);
    }
    append(&sql, end);
    return arena_strndup(tx->arena, sql.data, sql.len);
}

static size_t fill_named(const struct column *columns, struct db_value *out, size_t n)
{
    for (; !is_end(columns) && n < VALUES_MAX; columns++)
        if (has_value(columns))
            out[n++] = columns->value;
    return n;
}

static void fill_rest(const struct db_value *values, struct db_value *out, size_t n)
{
    for (; values && values->type != DB_END && n < VALUES_MAX; values++)
        out[n++] = *values;
    out[n].type = DB_END;
}

static void fill_values(struct tx *tx, const struct row_insert *insert, struct db_value *out)
{
    size_t n = 0;
    for (size_t i = 0; insert->table && i < insert->table->count; i++)
        if (insert->table->rows[i].column && n < VALUES_MAX)
            out[n++] = value_of(tx, &insert->table->rows[i], insert->object);
    fill_rest(insert->values, out, fill_named(insert->also, out, n));
}

int64_t columns_insert(struct tx *tx, const struct row_insert *insert)
{
    struct db_value values[VALUES_MAX + 1] = {0};
    fill_values(tx, insert, values);
    return tx_exec(tx, insert_sql(tx, insert, ""), values);
}

int64_t columns_insert_returning(struct tx *tx, const struct row_insert *insert, const char *column)
{
    struct db_value values[VALUES_MAX + 1] = {0};
    fill_values(tx, insert, values);
    const char *end = arena_printf(tx->arena, " RETURNING %s", column);
    return tx_query_number(tx, 0, insert_sql(tx, insert, end), values);
}

static const char *update_sql(struct tx *tx, const struct row_update *update, const char *returning)
{
    const char *comma = " SET ";
    AUTO_BUF sql = BUF_INIT(SQL_MAX_BYTES);
    append(&sql, "UPDATE ");
    append(&sql, update->of);
    for (const struct column *set = update->set; !is_end(set); set++, comma = ", ") {
        append(&sql, comma);
        append(&sql, set->name);
        append(&sql, " = ");
        append(&sql, set->sql ? set->sql : "?");
    }
    append(&sql, " WHERE ");
    append(&sql, update->where);
    if (returning) {
        append(&sql, " RETURNING ");
        append(&sql, returning);
    }
    return arena_strndup(tx->arena, sql.data, sql.len);
}

int64_t columns_update(struct tx *tx, const struct row_update *update)
{
    struct db_value values[VALUES_MAX + 1] = {0};
    fill_rest(update->values, values, fill_named(update->set, values, 0));
    return tx_exec(tx, update_sql(tx, update, NULL), values);
}

struct cursor *columns_update_returning(struct tx *tx, const struct row_update *update,
                                        const char *columns)
{
    struct db_value values[VALUES_MAX + 1] = {0};
    fill_rest(update->values, values, fill_named(update->set, values, 0));
    return tx_query(tx, update_sql(tx, update, columns), values);
}
