/* Commands between nodes: asked by any, taken and answered by the call's owner.
 *
 *   asked --take--> taken --answer--> answered --20 s after it was asked--> (gone)
 *
 * Thread: inside a job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/columns.h"
#include "store/internal.h"
#include "store/node.h"

enum { COMMAND_KEPT_MS = 20000 /* twice as long as anybody waits for the answer (call/node.c) */ };

static const char *const kind_names[] = {[COMMAND_END] = "end", [COMMAND_SAY] = "say"};

static enum err check_room(struct tx *tx, const char *call_id, const char *workspace_id)
{
    int64_t of_call =
        QUERY_NUMBER(tx, 0,
                     "SELECT COUNT(*) FROM commands WHERE call_id = ? AND kind = 'say' AND"
                     " state <> 'answered'",
                     TEXT(call_id));
    int64_t of_workspace =
        QUERY_NUMBER(tx, 0,
                     "SELECT COUNT(*) FROM commands WHERE workspace_id = ? AND kind = 'say' AND"
                     " state <> 'answered'",
                     TEXT(workspace_id));
    bool is_full = of_call >= COMMANDS_OF_CALL || of_workspace >= COMMANDS_OF_WORKSPACE;
    return is_full ? ERR_LIMIT : OK;
}

/* The call's row is held: who asks at the same time counts what this one has added. */
static const char *workspace_of(struct tx *tx, const char *call_id)
{
    static const char sql[] = "SELECT workspace_id FROM calls WHERE id = ? FOR UPDATE";
    AUTO(cursor) row = QUERY(tx, sql, TEXT(call_id));
    return cursor_next(row) ? cursor_text(row, 0) : "";
}

/* The question to end this call that waits already; 0: none does. */
static int64_t find_end(struct tx *tx, const char *call_id)
{
    return QUERY_NUMBER(tx, 0,
                        "SELECT id FROM commands WHERE call_id = ? AND kind = ? AND"
                        " state <> 'answered'",
                        TEXT(call_id), TEXT(kind_names[COMMAND_END]));
}

enum err store_command_ask(struct tx *tx, enum command_kind kind, const char *call_id,
                           const char *text, int64_t *out_id)
{
    char node[ID_SIZE * 2];
    bool is_here, is_alive;
    enum err err = store_node_owner(tx, call_id, node, &is_here, &is_alive);
    if (err || !*node)
        return err ? err : ERR_NOT_FOUND;
    if (!is_alive)
        return ERR_CLOSED;
    EXEC(tx, "DELETE FROM commands WHERE created_ms < ? OR created_ms > ?",
         NUMBER(tx->now_ms - COMMAND_KEPT_MS), NUMBER(tx->now_ms + COMMAND_KEPT_MS));
    const char *workspace_id = workspace_of(tx, call_id);
    int64_t id = kind == COMMAND_END ? find_end(tx, call_id) : 0;
    if (id) {
        *out_id = id;
        return OK;
    }
    err = kind == COMMAND_SAY ? check_room(tx, call_id, workspace_id) : OK;
    if (err)
        return err;
    const struct row_insert insert = {
        .into = "commands",
        .also = COLUMNS({"node", TEXT(node)}, {"kind", TEXT(kind_names[kind])},
                        {"call_id", TEXT(call_id)}, {"text", TEXT(text ? text : "")},
                        {"state", TEXT("asked")}, {"result", NUMBER(0)},
                        {"created_ms", NUMBER(tx->now_ms)}, {"workspace_id", TEXT(workspace_id)}),
    };
    id = columns_insert_returning(tx, &insert, "id");
    if (!id)
        return tx_missing(tx);
    tx_touch(tx, STORE_COMMANDS);
    *out_id = id;
    return OK;
}

struct command_list LIST_OF(struct command);

static int by_id(const void *a, const void *b)
{
    const struct command *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

struct command_row {
    int64_t id;
    enum command_kind kind;
    const char *call_id, *text;
};
struct command_row_list LIST_OF(struct command_row);

static const struct field command_rows[] = {
    COLUMN_NUMBER(struct command_row, id, "id"),
    COLUMN_WORD(struct command_row, kind, "kind", enum command_kind, kind_names),
    COLUMN_TEXT(struct command_row, call_id, "call_id"),
    COLUMN_TEXT(struct command_row, text, "text"),
};
static FIELD_TABLE(command_table, struct command_row, "commands", command_rows);

/* Only this process takes them, one job after the other: no lock is needed. */
static const char take_sql[] =
    "UPDATE commands SET state = 'taken' WHERE id IN (SELECT id FROM (SELECT id, ROW_NUMBER() OVER"
    " (PARTITION BY workspace_id ORDER BY id) AS place FROM commands WHERE node = ? AND"
    " state = 'asked') AS ranked ORDER BY place, id LIMIT ?)";

enum err store_command_take(struct tx *tx, unsigned limit, struct command **out, size_t *out_n)
{
    struct command_list list = {0};
    struct command_row_list rows = {0};
    enum err err = columns_list(tx, &command_table, columns_returning(tx, take_sql, &command_table),
                                VALUES(TEXT(tx->store->node), NUMBER(limit)), &rows);
    for (size_t i = 0; i < rows.count; i++) {
        const struct command_row *row = &rows.items[i];
        struct command *command = GROW(&list, tx->arena);
        *command = (struct command){.id = row->id, .kind = row->kind, .text = row->text};
        snprintf(command->call_id, sizeof(command->call_id), "%s", row->call_id);
    }
    if (list.count)
        qsort(list.items, list.count, sizeof(*list.items), by_id);
    *out = list.items;
    *out_n = list.count;
    return err;
}

enum err store_command_answer(struct tx *tx, int64_t id, enum err result)
{
    EXEC(tx, "UPDATE commands SET state = 'answered', result = ? WHERE id = ?", NUMBER(result),
         NUMBER(id));
    tx_touch(tx, STORE_COMMANDS);
    return tx_result(tx);
}

enum err store_command_answers(struct tx *tx, int64_t from_id, struct command_answer_list *out)
{
    *out = (struct command_answer_list){0};
    static const char sql[] =
        "SELECT id, result FROM commands WHERE id >= ? AND state = 'answered'";
    AUTO(cursor) row = QUERY(tx, sql, NUMBER(from_id));
    while (cursor_next(row))
        *GROW(out, tx->arena) =
            (struct command_answer){cursor_number(row, 0), (enum err)cursor_number(row, 1)};
    return tx_result(tx);
}
