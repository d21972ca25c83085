/* See vector.h. A vector is a float, what a byte is worth, and a signed byte for each number: a
 * quarter of the space, and cosines that differ by less than a hundredth. Thread: inside a job. */
#include "store/vector.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "store/columns.h"
#include "store/internal.h"

enum { LEASE_MS = 60000, BYTE_MAX = 127 };

/* Who is next. */

struct waiting {
    const char *document_id, *workspace_id;
    const char *model; /* whose vectors it has; "": none */
    int64_t done;      /* passages that have them */
};

static const struct field waiting_rows[] = {
    COLUMN_TEXT(struct waiting, document_id, "d.id"),
    COLUMN_TEXT(struct waiting, workspace_id, "d.workspace_id"),
    COLUMN_TEXT(struct waiting, model, "v.model"),
    COLUMN_NUMBER(struct waiting, done, "v.done"),
};
static FIELD_TABLE(waiting_table, struct waiting, "vector_states", waiting_rows);

/* documents.vector_model is the model of which all passages have their vectors; '' is none. Its
 * index has those of one model together, so that a look reads what waits and nothing else. */
#define FROM_WAITING                                                                               \
    "FROM documents d"                                                                             \
    " LEFT JOIN vector_states v ON v.document_id = d.id"                                           \
    " WHERE d.status = 'ready' AND d.card_count + d.section_count > 0"                             \
    " AND (v.document_id IS NULL OR v.until_ms <= ?)"
#define IN_TURN " AND d.workspace_id > ? ORDER BY d.workspace_id, d.created_ms LIMIT 1"

/* Of several models: by no index of workspaces, which has all the others as well. */
#define SORTED " AND d.workspace_id || '' > ? ORDER BY d.workspace_id || '', d.created_ms LIMIT 1"

/* The lease, the model, the workspace. Without vectors; of a model before and after this one. */
const char *const store_vector_looks[] = {
    FROM_WAITING " AND d.vector_model = '' AND ? <> ''" IN_TURN,
    FROM_WAITING " AND d.vector_model > '' AND d.vector_model < ?" SORTED,
    FROM_WAITING " AND d.vector_model > ?" SORTED,
    NULL,
};

static enum err find(struct tx *tx, const char *rest, const char *model, const char *subject,
                     struct vector_turn *out)
{
    struct waiting found;
    const char *sql = columns_select(tx, &waiting_table, NULL, rest);
    AUTO(cursor) row = QUERY(tx, sql, NUMBER(tx->now_ms), TEXT(model), TEXT(subject));
    if (!cursor_next(row))
        return tx_missing(tx);
    enum err err = columns_read(tx, row, &waiting_table, &found);
    if (err)
        return err;
    out->document_id = found.document_id;
    out->workspace_id = found.workspace_id;
    out->done = strcmp(found.model, model) == 0 ? found.done : 0;
    return tx_result(tx);
}

enum err store_vector_find(struct tx *tx, const char *model, const char *after_workspace,
                           struct vector_turn *out)
{
    enum err err = ERR_NOT_FOUND;
    *out = (struct vector_turn){0};
    for (size_t i = 0; err == ERR_NOT_FOUND && store_vector_looks[i]; i++)
        err = find(tx, store_vector_looks[i], model, after_workspace, out);
    return err;
}

static void read_texts(struct tx *tx, struct vector_turn *turn)
{
    static const char sql[] =
        "SELECT text, question FROM passages WHERE document_id = ? AND position >= ?"
        " ORDER BY position LIMIT ?";
    AUTO(cursor) row =
        QUERY(tx, sql, TEXT(turn->document_id), NUMBER(turn->done), NUMBER(VECTOR_TURN));
    turn->texts = arena_new_n(tx->arena, const char *, VECTOR_TURN);
    turn->count = 0;
    while (cursor_next(row) && turn->count < VECTOR_TURN) {
        const char *text = cursor_text(row, 0), *question = cursor_text(row, 1);
        turn->texts[turn->count++] =
            *question ? arena_printf(tx->arena, "%s\n%s", question, text) : text;
    }
    turn->end = turn->done + (int64_t)turn->count;
}

enum err store_vector_take(struct tx *tx, const char *model, const char *document_id,
                           struct vector_turn *out)
{
    struct vector_turn turn = {.until_ms = tx->now_ms + LEASE_MS};
    enum err err =
        find(tx, FROM_WAITING " AND d.vector_model <> ? AND d.id = ?", model, document_id, &turn);
    if (err)
        return err;
    int64_t taken = EXEC(
        tx,
        "INSERT INTO vector_states (document_id, model, done, until_ms) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (document_id) DO UPDATE SET model = excluded.model, done = excluded.done,"
        " until_ms = excluded.until_ms WHERE vector_states.until_ms <= ?",
        TEXT(turn.document_id), TEXT(model), NUMBER(turn.done), NUMBER(turn.until_ms),
        NUMBER(tx->now_ms));
    if (!taken) /* by another node meanwhile */
        return tx_missing(tx);
    if (!turn.done) /* only now that it is ours: another's are its own */
        EXEC(tx, "DELETE FROM vectors WHERE document_id = ?", TEXT(turn.document_id));
    read_texts(tx, &turn);
    *out = turn;
    return tx_result(tx);
}

/* Writing. */

static unsigned char *write_vector(const float *vector, size_t size, unsigned char *out)
{
    float most = 0;
    for (size_t i = 0; i < size; i++)
        most = MAX(most, fabsf(vector[i]));
    float step = most > 0 ? most / BYTE_MAX : 1;
    memcpy(out, &step, sizeof(step));
    out += sizeof(step);
    for (size_t i = 0; i < size; i++)
        *out++ = (unsigned char)(signed char)lrintf(vector[i] / step);
    return out;
}

enum err store_vector_put(struct tx *tx, const char *model, struct vector_turn *turn,
                          const float *vectors, size_t count, size_t size)
{
    bool is_last = turn->done + (int64_t)count >= turn->end;
    int64_t until_ms = is_last ? tx->now_ms : MAX(tx->now_ms + LEASE_MS, turn->until_ms + 1);
    int64_t changed = EXEC(tx,
                           "UPDATE vector_states SET done = ?, until_ms = ? WHERE document_id = ?"
                           " AND model = ? AND until_ms = ?",
                           NUMBER(turn->done + (int64_t)count), NUMBER(until_ms),
                           TEXT(turn->document_id), TEXT(model), NUMBER(turn->until_ms));
    if (!changed)
        return tx_missing(tx);
    size_t len = count * (sizeof(float) + size);
    unsigned char *numbers = arena_alloc(tx->arena, len), *at = numbers;
    for (size_t i = 0; i < count; i++)
        at = write_vector(vectors + i * size, size, at);
    EXEC(tx, "INSERT INTO vectors (document_id, first, size, numbers) VALUES (?, ?, ?, ?)",
         TEXT(turn->document_id), NUMBER(turn->done), NUMBER((int64_t)size), BLOB(numbers, len));
    turn->done += (int64_t)count;
    turn->until_ms = until_ms;
    if (is_last)
        EXEC(tx,
             "UPDATE documents SET vector_model = ? WHERE id = ?"
             " AND card_count + section_count <= ?",
             TEXT(model), TEXT(turn->document_id), NUMBER(turn->done));
    return tx_result(tx);
}

void store_vector_put_off(struct tx *tx, const struct vector_turn *turn, int64_t ms)
{
    EXEC(tx, "UPDATE vector_states SET until_ms = ? WHERE document_id = ? AND until_ms = ?",
         NUMBER(tx->now_ms + ms), TEXT(turn->document_id), NUMBER(turn->until_ms));
}

void store_vector_drop(struct tx *tx, const char *document_id)
{
    EXEC(tx, "DELETE FROM vector_states WHERE document_id = ?", TEXT(document_id));
    EXEC(tx, "DELETE FROM vectors WHERE document_id = ?", TEXT(document_id));
    EXEC(tx, "UPDATE documents SET vector_model = '' WHERE id = ?", TEXT(document_id));
}

/* Reading. */

static float cosine(const unsigned char *at, const float *vector, size_t size)
{
    float step, sum = 0;
    memcpy(&step, at, sizeof(step));
    const signed char *numbers = (const signed char *)at + sizeof(step);
    for (size_t i = 0; i < size; i++)
        sum += (float)numbers[i] * vector[i];
    return sum * step;
}

void store_vector_compare(struct tx *tx, const char *document_id, const struct vector_asked *asked,
                          size_t first, size_t count, float *out_cosines)
{
    size_t size = asked->size;
    size_t each = sizeof(float) + size;
    static const char sql[] =
        "SELECT v.first, v.numbers FROM vectors v JOIN vector_states s ON s.document_id ="
        " v.document_id WHERE v.document_id = ? AND s.model = ? AND v.size = ?"
        " AND v.first >= ? AND v.first < ?";
    AUTO(cursor) row = QUERY(tx, sql, TEXT(document_id), TEXT(asked->model), NUMBER((int64_t)size),
                             NUMBER((int64_t)first), NUMBER((int64_t)(first + count)));
    while (cursor_next(row)) {
        size_t len, place = (size_t)MAX(cursor_number(row, 0), (int64_t)0) - first;
        const unsigned char *numbers = cursor_peek_blob(row, 1, &len);
        for (size_t i = 0; (i + 1) * each <= len && place + i < count; i++)
            out_cosines[place + i] = cosine(numbers + i * each, asked->numbers, size);
    }
}
