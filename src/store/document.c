/* Knowledge documents: rows, sources, passages, and the queue of those that wait to be read.
 *
 *   insert, retry --> processing --take (leased)--> ready | failed
 *
 * What changes for a search counts `counters.revision` up; its row is locked until the commit, so
 * revisions become visible in their order and an index that has seen n has seen all before n.
 * Thread: inside a job. */
#include "store/document.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/enum.h"
#include "base/ids.h"
#include "base/js.h"
#include "base/mem.h"
#include "model/document.h"
#include "store/columns.h"
#include "store/internal.h"
#include "store/vector.h"

enum {
    HOUR_MS = 3600000,
    READING_LEASE_MS = 120000, /* renewed as long as it is read */
};

static struct cursor *query(struct tx *tx, const char *rest, const struct db_value *values)
{
    const char *progress = columns_names(tx, &document_progress_table);
    return tx_query(tx, columns_select(tx, &document_table, progress, rest), values);
}

static const char *topics_text(struct tx *tx, const struct text_list *topics)
{
    AUTO(js) list = js_array();
    for (size_t i = 0; topics && i < topics->count; i++)
        js_push(list, js_string(topics->items[i]));
    AUTO_MEM char *text = js_print(list);
    return arena_strdup(tx->arena, text);
}

static enum err read_row(struct tx *tx, struct cursor *row, struct document *out)
{
    struct document_progress progress;
    *out = (struct document){0};
    enum err err = columns_read(tx, row, &document_table, out);
    if (!err)
        err = columns_read_from(tx, row, columns_count(&document_table), &document_progress_table,
                                &progress);
    if (!err && out->status == DOCUMENT_PROCESSING && (progress.pages || progress.sections)) {
        struct document_progress *shown = arena_new_of(tx->arena, struct document_progress);
        *shown = progress;
        out->progress = shown;
    }
    return err;
}

/* Adding. */

/* Do as many wait as may? A workspace's first ones are let in all the same. */
static bool is_busy(struct tx *tx, const char *workspace_id)
{
    return QUERY_NUMBER(tx, 0, "SELECT COUNT(*) FROM documents WHERE status = 'processing'") >=
               DOCUMENTS_WAITING_MAX &&
           QUERY_NUMBER(tx, 0,
                        "SELECT COUNT(*) FROM documents WHERE status = 'processing'"
                        " AND workspace_id = ?",
                        TEXT(workspace_id)) >= DOCUMENTS_WAITING_FREE;
}

static enum err check_limits(struct tx *tx, const char *workspace_id, int64_t hourly_limit)
{
    if (QUERY_NUMBER(tx, 0, "SELECT COUNT(*) FROM documents WHERE workspace_id = ?",
                     TEXT(workspace_id)) >= DOCUMENTS_MAX)
        return ERR_CONFLICT;
    int64_t hour_ago_ms = tx->now_ms - HOUR_MS;
    EXEC(tx, "DELETE FROM document_additions WHERE workspace_id = ? AND at_ms <= ?",
         TEXT(workspace_id), NUMBER(hour_ago_ms));
    if (hourly_limit > 0 &&
        QUERY_NUMBER(tx, 0, "SELECT COUNT(*) FROM document_additions WHERE workspace_id = ?",
                     TEXT(workspace_id)) >= hourly_limit)
        return ERR_LIMIT;
    if (is_busy(tx, workspace_id))
        return ERR_BUSY;
    return tx_result(tx);
}

static enum err insert_piece(struct tx *tx, const char *id, size_t at, const void *data, size_t len)
{
    EXEC(tx, "INSERT INTO document_pieces (document_id, position, content) VALUES (?, ?, ?)",
         TEXT(id), NUMBER((int64_t)(at / DOCUMENT_PIECE_BYTES)), BLOB(data, len));
    return tx_result(tx);
}

/* As many bytes as asked, or a fault: the file is ours, and whole. */
static enum err read_piece(int fd, char *out, size_t len, size_t from)
{
    for (size_t got = 0; got < len;) {
        ssize_t n = pread(fd, out + got, len - got, (off_t)(from + got));
        if (n > 0)
            got += (size_t)n;
        else if (n == 0 || errno != EINTR)
            return ERR_IO;
    }
    return OK;
}

static enum err insert_source(struct tx *tx, const char *id, const struct document_source *source)
{
    AUTO_MEM char *piece = source->data ? NULL : mem_new_n(char, DOCUMENT_PIECE_BYTES);
    enum err err = OK;
    for (size_t at = 0; at < source->len && !err; at += DOCUMENT_PIECE_BYTES) {
        size_t n = MIN(source->len - at, (size_t)DOCUMENT_PIECE_BYTES);
        const char *data = source->data ? (const char *)source->data + at : piece;
        if (!source->data)
            err = read_piece(source->fd, piece, n, at);
        if (!err)
            err = insert_piece(tx, id, at, data, n);
    }
    return err;
}

enum err store_document_insert(struct tx *tx, struct document *document,
                               const struct document_source *source, int64_t hourly_limit)
{
    enum err err = check_limits(tx, document->user_id, hourly_limit);
    if (err)
        return err;
    char id[ID_SIZE];
    id_new("kd_", id);
    document->id = arena_strdup(tx->arena, id);
    document->status = DOCUMENT_PROCESSING;
    document->error = "";
    document->created_wall_ms = document->updated_wall_ms = tx->now_ms;
    const struct column *also = COLUMNS({"leased_until_ms", NUMBER(0)}, {"leased_by", TEXT("")});
    columns_insert(
        tx, &(struct row_insert){
                .into = "documents", .table = &document_table, .object = document, .also = also});
    err = insert_source(tx, id, source);
    if (err)
        return err;
    EXEC(tx, "INSERT INTO document_additions (workspace_id, at_ms) VALUES (?, ?)",
         TEXT(document->user_id), NUMBER(tx->now_ms));
    tx_touch(tx, STORE_DOCUMENTS);
    return tx_result(tx);
}

/* Reading back. */

enum err store_document_get(struct tx *tx, const char *workspace_id, const char *id,
                            struct document *out)
{
    AUTO(cursor) row = query(tx, "FROM documents WHERE id = ? AND workspace_id = ?",
                             VALUES(TEXT(id), TEXT(workspace_id)));
    return cursor_next(row) ? read_row(tx, row, out) : tx_missing(tx);
}

enum err store_document_list(struct tx *tx, const char *workspace_id, struct document_list *out)
{
    *out = (struct document_list){0};
    AUTO(cursor) row =
        query(tx, "FROM documents WHERE workspace_id = ? ORDER BY created_ms DESC, id DESC",
              VALUES(TEXT(workspace_id)));
    while (cursor_next(row)) {
        enum err err = read_row(tx, row, GROW(out, tx->arena));
        if (err)
            return err;
    }
    return tx_result(tx);
}

enum err store_document_ids(struct tx *tx, const char *workspace_id, bool only_ready,
                            struct text_list *out)
{
    *out = (struct text_list){0};
    AUTO(cursor) row =
        QUERY(tx, "SELECT id FROM documents WHERE workspace_id = ? AND (? = 0 OR status = 'ready')",
              TEXT(workspace_id), NUMBER(only_ready));
    while (cursor_next(row))
        *GROW(out, tx->arena) = cursor_text(row, 0);
    return tx_result(tx);
}

static bool has_id(const struct text_list *ids, const char *id)
{
    for (size_t i = 0; i < ids->count; i++)
        if (strcmp(ids->items[i], id) == 0)
            return true;
    return false;
}

enum err store_document_keep_known(struct tx *tx, const char *workspace_id, struct text_list *ids,
                                   bool only_ready)
{
    struct text_list known;
    enum err err = ids->count ? store_document_ids(tx, workspace_id, only_ready, &known) : OK;
    size_t kept = 0;
    for (size_t i = 0; i < ids->count && !err; i++)
        if (has_id(&known, ids->items[i]))
            ids->items[kept++] = ids->items[i];
    ids->count = kept;
    return err;
}

enum err store_document_name(struct tx *tx, const char *id, const char **out)
{
    static const char sql[] = "SELECT name FROM documents WHERE id = ? AND status = 'ready'";
    AUTO(cursor) row = QUERY(tx, sql, TEXT(id));
    if (!cursor_next(row))
        return tx_missing(tx);
    *out = cursor_text(row, 0);
    return OK;
}

enum err store_document_title(struct tx *tx, const char *id, const char **out)
{
    *out = "";
    AUTO(cursor) row = QUERY(tx, "SELECT name, topics FROM documents WHERE id = ?", TEXT(id));
    if (!cursor_next(row))
        return tx_result(tx);
    const char *text = cursor_text(row, 1);
    struct js *topics = NULL;
    if (js_parse(text, strlen(text), 2, &topics, NULL))
        topics = NULL;
    *out = arena_printf(tx->arena, "%s %s", cursor_text(row, 0),
                        js_count(topics) ? js_text_or(js_at(topics, 0), "") : "");
    js_free(topics);
    return OK;
}

enum err store_document_piece(struct tx *tx, const char *id, int64_t position, const void **out,
                              size_t *out_len)
{
    AUTO(cursor) row = QUERY(tx,
                             "SELECT content FROM document_pieces"
                             " WHERE document_id = ? AND position = ?",
                             TEXT(id), NUMBER(position));
    if (!cursor_next(row))
        return tx_missing(tx);
    *out = cursor_blob(row, 0, out_len);
    return OK;
}

struct passage_list LIST_OF(struct passage);

static const struct field passage_rows[] = {
    COLUMN_TEXT(struct passage, text, "text"),
    COLUMN_TEXT(struct passage, question, "question", .flags = FIELD_OPTIONAL),
    COLUMN_TEXT(struct passage, language, "language"),
};
static FIELD_TABLE(passage_table, struct passage, "passages", passage_rows);

enum err store_document_passages(struct tx *tx, const char *id, struct passage **out, size_t *out_n)
{
    struct passage_list list = {0};
    const char *sql = columns_select(tx, &passage_table, NULL,
                                     "FROM passages WHERE document_id = ? ORDER BY position");
    enum err err = columns_list(tx, &passage_table, sql, VALUES(TEXT(id)), &list);
    *out = list.items;
    *out_n = list.count;
    return err;
}

const char store_document_sections_look[] =
    "FROM passages WHERE document_id = ? AND position > ? AND question IS NULL"
    " ORDER BY position LIMIT ?";

enum err store_document_sections(struct tx *tx, const char *id, int64_t after, unsigned limit,
                                 struct section_list *out, int64_t *out_next)
{
    struct section_list list = {0};
    const char *sql = columns_select(tx, &section_table, NULL, store_document_sections_look);
    enum err err = columns_list(tx, &section_table, sql,
                                VALUES(TEXT(id), NUMBER(after), NUMBER((int64_t)limit + 1)), &list);
    if (err)
        return err;
    size_t kept = 0; /* one more than the page holds was read, to know whether there are more */
    for (size_t bytes = 0; kept < list.count && kept < limit && bytes < SECTIONS_BYTES; kept++)
        bytes += strlen(list.items[kept].text);
    *out_next = kept < list.count ? list.items[kept - 1].position : -1;
    list.count = kept;
    *out = list;
    return OK;
}

/* Removing, reading again. */

/* In the transaction that changes passages: each node's file of words asks for the documents whose
 * revision it has not seen (word_index.c), and never finds a change that was not noted here.
 * A counter that is missing (a database restored in part) goes on after what was counted. */
static void note_change(struct tx *tx, const char *id)
{
    int64_t revision = QUERY_NUMBER(
        tx, 0,
        "INSERT INTO counters (name, value) VALUES ('revision',"
        " (SELECT COALESCE(MAX(revision), 0) + 1 FROM document_changes))"
        " ON CONFLICT (name) DO UPDATE SET value = counters.value + 1 RETURNING value");
    EXEC(tx,
         "INSERT INTO document_changes (document_id, revision) VALUES (?, ?)"
         " ON CONFLICT (document_id) DO UPDATE SET revision = excluded.revision",
         TEXT(id), NUMBER(revision));
}

static void drop_passages(struct tx *tx, const char *id)
{
    EXEC(tx, "DELETE FROM passages WHERE document_id = ?", TEXT(id));
    store_vector_drop(tx, id);
}

enum err store_document_remove(struct tx *tx, const char *workspace_id, const char *id)
{
    if (!EXEC(tx, "DELETE FROM documents WHERE id = ? AND workspace_id = ?", TEXT(id),
              TEXT(workspace_id)))
        return tx_missing(tx);
    EXEC(tx, "DELETE FROM document_pieces WHERE document_id = ?", TEXT(id));
    drop_passages(tx, id);
    note_change(tx, id);
    return tx_result(tx);
}

enum err store_document_retry(struct tx *tx, const char *workspace_id, const char *id,
                              struct document *out)
{
    if (is_busy(tx, workspace_id)) {
        enum err err = store_document_get(tx, workspace_id, id, out);
        return err ? err : out->status == DOCUMENT_PROCESSING ? ERR_CONFLICT : ERR_BUSY;
    }
    int64_t changed = EXEC(tx,
                           "UPDATE documents SET status = 'processing', error = '', chars = 0,"
                           " card_count = 0, section_count = 0, topics = '[]', leased_until_ms = 0,"
                           " leased_by = '', pages_done = 0, pages = 0, sections_done = 0,"
                           " sections = 0, updated_ms = ?"
                           " WHERE id = ? AND workspace_id = ? AND status <> 'processing'",
                           NUMBER(tx->now_ms), TEXT(id), TEXT(workspace_id));
    enum err err = store_document_get(tx, workspace_id, id, out);
    if (err || !changed)
        return err ? err : ERR_CONFLICT;
    drop_passages(tx, id);
    note_change(tx, id);
    tx_touch(tx, STORE_DOCUMENTS);
    return tx_result(tx);
}

/* The reader. */

/* Not leased, or by a former process of this node. */
#define IS_FREE                                                                                    \
    "status = 'processing' AND (leased_until_ms <= ?"                                              \
    " OR (substr(leased_by, 1, length(?)) = ? AND leased_by <> ?))"

enum err store_document_waiting(struct tx *tx, struct document_list *out)
{
    *out = (struct document_list){0};
    if (!node_may_lease(tx))
        return OK;
    AUTO(cursor) row =
        QUERY(tx,
              "SELECT id, workspace_id, kind, bytes FROM documents WHERE " IS_FREE
              " ORDER BY updated_ms LIMIT ?",
              NUMBER(tx->now_ms), TEXT(node_lease_prefix(tx)), TEXT(node_lease_prefix(tx)),
              TEXT(node_lease(tx)), NUMBER(DOCUMENTS_LISTED));
    while (cursor_next(row)) {
        struct document *document = GROW(out, tx->arena);
        document->id = cursor_text(row, 0);
        document->user_id = cursor_text(row, 1);
        /* A word that is none holds up no other document: whoever takes this one is told. */
        int kind = enum_find(document_kind_names, DOCUMENT_KIND_COUNT, cursor_text(row, 2));
        document->kind = kind < 0 ? DOCUMENT_PDF : (enum document_kind)kind;
        document->bytes = cursor_number(row, 3);
    }
    return tx_result(tx);
}

enum err store_document_take(struct tx *tx, const char *id, struct document *out)
{
    AUTO(cursor) row =
        query(tx, "FROM documents WHERE id = ? AND " IS_FREE " FOR UPDATE SKIP LOCKED",
              VALUES(TEXT(id), NUMBER(tx->now_ms), TEXT(node_lease_prefix(tx)),
                     TEXT(node_lease_prefix(tx)), TEXT(node_lease(tx))));
    enum err err = cursor_next(row) ? read_row(tx, row, out) : tx_missing(tx);
    if (err)
        return err;
    EXEC(tx,
         "UPDATE documents SET leased_until_ms = ?, leased_by = ?, pages_done = 0, pages = 0,"
         " sections_done = 0, sections = 0"
         " WHERE id = ?",
         NUMBER(tx->now_ms + READING_LEASE_MS), TEXT(node_lease(tx)), TEXT(id));
    drop_passages(tx, id); /* of one who died */
    return tx_result(tx);
}

/* Of the document that this process is reading. */
static enum err update_read(struct tx *tx, const char *id, const struct column *set)
{
    const struct row_update update = {
        .of = "documents",
        .set = set,
        .where = "id = ? AND status = 'processing' AND leased_by = ?",
        .values = VALUES(TEXT(id), TEXT(node_lease(tx))),
    };
    return columns_update(tx, &update) ? OK : tx_missing(tx);
}

enum err store_document_progress(struct tx *tx, const char *id,
                                 const struct document_progress *progress)
{
    const struct column *set =
        COLUMNS({"leased_until_ms", NUMBER(tx->now_ms + READING_LEASE_MS)},
                {"pages_done", NUMBER(progress->pages_done)}, {"pages", NUMBER(progress->pages)},
                {"sections_done", NUMBER(progress->sections_done)},
                {"sections", NUMBER(progress->sections)});
    return update_read(tx, id, set);
}

static void insert_passages(struct tx *tx, const char *id, const struct passage *passages,
                            size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        struct passage row = passages[i];
        row.language = row.language ? row.language : "";
        columns_insert(tx, &(struct row_insert){.into = "passages",
                                                .table = &passage_table,
                                                .object = &row,
                                                .also = COLUMNS({"document_id", TEXT(id)},
                                                                {"position", NUMBER((int64_t)i)})});
    }
}

enum err store_document_put(struct tx *tx, const char *id, const struct passage *passages, size_t n,
                            size_t first)
{
    enum err err =
        update_read(tx, id, COLUMNS({"leased_until_ms", NUMBER(tx->now_ms + READING_LEASE_MS)}));
    if (err)
        return err;
    insert_passages(tx, id, passages, first, MIN(n, first + PASSAGES_SLICE));
    return tx_result(tx);
}

enum err store_document_ready(struct tx *tx, const char *id, int64_t chars,
                              const struct passage *passages, size_t n,
                              const struct text_list *topics)
{
    int64_t cards = 0;
    for (size_t i = 0; i < n; i++)
        cards += passages[i].question != NULL;
    const struct column *set =
        COLUMNS({"status", TEXT("ready")}, {"error", TEXT("")}, {"chars", NUMBER(chars)},
                {"card_count", NUMBER(cards)}, {"section_count", NUMBER((int64_t)n - cards)},
                {"topics", TEXT(topics_text(tx, topics))}, {"leased_until_ms", NUMBER(0)},
                {"leased_by", TEXT("")}, {"updated_ms", NUMBER(tx->now_ms)});
    enum err err = update_read(tx, id, set);
    if (err)
        return err;
    int64_t put =
        QUERY_NUMBER(tx, 0, "SELECT COUNT(*) FROM passages WHERE document_id = ?", TEXT(id));
    insert_passages(tx, id, passages, (size_t)put, n);
    note_change(tx, id);
    return tx_result(tx);
}

enum err store_document_failed(struct tx *tx, const char *id, const char *reason)
{
    return update_read(tx, id,
                       COLUMNS({"status", TEXT("failed")}, {"error", TEXT(reason)},
                               {"leased_until_ms", NUMBER(0)}, {"leased_by", TEXT("")},
                               {"updated_ms", NUMBER(tx->now_ms)}));
}
