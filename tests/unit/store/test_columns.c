/* Rows that are written and read by one description: no value depends on its place. */
#include "store/columns.h"

#include "store/internal.h"
#include "unit/store/fixture.h"

struct pair {
    const char *name;
    int64_t value;
};
struct pair_list LIST_OF(struct pair);

static const struct field pair_rows[] = {
    COLUMN_TEXT(struct pair, name, "name"),
    COLUMN_NUMBER(struct pair, value, "value"),
};
static FIELD_TABLE(pair_table, struct pair, "pairs", pair_rows);

static struct tx *begin(struct fix *fix)
{
    struct tx *tx = fix_write(fix);
    struct fault fault = {0};
    static const char sql[] = "CREATE TABLE pairs (value BIGINT, note TEXT, name TEXT UNIQUE)";
    CHECK_INT(tx->db->ops->script(tx->db, sql, &fault), OK);
    return tx;
}

static void add(struct tx *tx, const char *name, int64_t value)
{
    const struct pair pair = {name, value};
    CHECK_INT(columns_insert(tx, &(struct row_insert){.into = "pairs",
                                                      .table = &pair_table,
                                                      .object = &pair,
                                                      .also = COLUMNS({"note", TEXT("new")})}),
              1);
}

static void check_pair(struct tx *tx, const char *name, int64_t value, const char *note)
{
    struct pair_list found = {0};
    const char *sql =
        columns_select(tx, &pair_table, NULL, "FROM pairs WHERE name = ? AND note = ?");
    CHECK_INT(columns_list(tx, &pair_table, sql, VALUES(TEXT(name), TEXT(note)), &found), OK);
    REQUIRE(found.count == 1);
    CHECK_TEXT(found.items[0].name, name);
    CHECK_INT(found.items[0].value, value);
}

STORE_TEST(a_row_comes_back_as_it_was_inserted)
{
    struct tx *tx = begin(fix);
    add(tx, "a", 1);
    check_pair(tx, "a", 1, "new");
    fix_rollback(tx);
}

STORE_TEST(a_row_is_inserted_by_names_alone)
{
    struct tx *tx = begin(fix);
    const struct column *columns =
        COLUMNS({"note", TEXT("new")}, {"value", .sql = "40 + 2"}, {"name", TEXT("a")});
    const struct row_insert insert = {.into = "pairs", .also = columns};
    CHECK_INT(columns_insert_returning(tx, &insert, "value"), 42);
    check_pair(tx, "a", 42, "new");
    fix_rollback(tx);
}

STORE_TEST(rows_are_inserted_from_others)
{
    struct tx *tx = begin(fix);
    const struct column *columns =
        COLUMNS({"name", TEXT("b")}, {"value", NUMBER(5), "value + CAST(? AS BIGINT)"},
                {"note", .sql = "note"});
    const struct row_insert insert = {.into = "pairs",
                                      .also = columns,
                                      .from = "FROM pairs WHERE name = ?",
                                      .values = VALUES(TEXT("a"))};
    CHECK_INT(columns_insert(tx, &insert), 0);
    add(tx, "a", 1);
    CHECK_INT(columns_insert(tx, &insert), 1);
    check_pair(tx, "b", 6, "new");
    fix_rollback(tx);
}

STORE_TEST(an_update_sets_what_it_names_where_it_says)
{
    struct tx *tx = begin(fix);
    add(tx, "a", 1);
    add(tx, "b", 2);
    const struct row_update update = {
        .of = "pairs",
        .set = COLUMNS({"note", TEXT("old")}, {"value", .sql = "value + 1"}, {"name", TEXT("c")}),
        .where = "name = ? AND value = ?",
        .values = VALUES(TEXT("b"), NUMBER(2)),
    };
    CHECK_INT(columns_update(tx, &update), 1);
    CHECK_INT(columns_update(tx, &update), 0);
    check_pair(tx, "a", 1, "new");
    check_pair(tx, "c", 3, "old");
    fix_rollback(tx);
}

static void check_returned(struct cursor *taken, const char *name, int64_t value)
{
    AUTO(cursor) row = taken;
    REQUIRE(cursor_next(row));
    CHECK_TEXT(cursor_text(row, 0), name);
    CHECK_INT(cursor_number(row, 1), value);
    CHECK(!cursor_next(row));
}

STORE_TEST(an_update_tells_what_the_rows_have_then)
{
    struct tx *tx = begin(fix);
    add(tx, "a", 1);
    const struct row_update update = {
        .of = "pairs",
        .set = COLUMNS({"value", NUMBER(7)}),
        .where = "name = ?",
        .values = VALUES(TEXT("a")),
    };
    check_returned(columns_update_returning(tx, &update, "name, value"), "a", 7);
    fix_rollback(tx);
}
