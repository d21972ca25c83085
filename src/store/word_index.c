/* Catching up: which documents have changed since the index has seen them. A search brings its own
 * documents up to date as far as its time goes, the background the rest, by turns of workspaces.
 * Thread: any. */
#include "store/word_index.h"

#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "model/field.h"
#include "store/columns.h"
#include "store/word_file.h"

enum {
    CHANGES_AT_ONCE = 2000, /* that are put in line */
    FAULT_COST_US = 1000000 /* the background begins anew so long after a fault */
};

struct change_list LIST_OF(struct word_change);

static const struct field change_rows[] = {
    COLUMN_TEXT(struct word_change, document_id, "c.document_id"),
    COLUMN_TEXT(struct word_change, workspace_id, "COALESCE(d.workspace_id, '')"),
    COLUMN_NUMBER(struct word_change, revision, "c.revision"),
};
static FIELD_TABLE(change_table, struct word_change, "document_changes", change_rows);

/* A document's revision in the file; -1: it is not there. ERR_IO: the file cannot be read. */
static enum err revision_in_file(struct word_index *index, struct tx *tx, const char *document_id,
                                 int64_t *out)
{
    struct word_reader reader = word_reader_take(index);
    if (!reader.db)
        return ERR_IO;
    struct tx file = {.arena = tx->arena, .db = reader.db};
    *out = QUERY_NUMBER(&file, -1, "SELECT revision FROM documents WHERE id = ? AND state = ?",
                        TEXT(document_id), NUMBER(WORD_WHOLE));
    word_reader_give(index, reader);
    return file.fault.err ? ERR_IO : OK;
}

static enum err apply_claimed(struct word_index *index, struct tx *tx,
                              const struct word_change *change, int64_t until_us)
{
    int64_t seen = -1;
    enum err err = revision_in_file(index, tx, change->document_id, &seen);
    if (!err && *change->workspace_id && seen < change->revision)
        err = word_draft_write(index, tx, change, until_us);
    else if (!err && !*change->workspace_id && seen >= 0)
        err = word_draft_forget(index, tx, change->document_id);
    return err;
}

/* One at a time for each document; whoever comes second finds it done. ERR_TIMEOUT: it is not done,
 * another one still makes it, or it would take longer. */
static enum err apply(struct word_index *index, struct tx *tx, const struct word_change *change,
                      int64_t claim_until_us, int64_t until_us)
{
    struct word_claim claim;
    if (!word_claim_take(index, change->document_id, claim_until_us, &claim))
        return ERR_TIMEOUT;
    enum err err = apply_claimed(index, tx, change, until_us);
    word_claim_give(index, &claim);
    return err;
}

/* What the file has seen, when this process does not know it yet; it is made when it is missing. */
static enum err seen_revision(struct word_index *index, struct tx *tx, int64_t *out)
{
    *out = atomic_load(&index->revision);
    if (*out >= 0)
        return OK;
    struct word_turn turn;
    enum err err = word_turn_begin(index, tx, &turn);
    if (!err)
        err = word_turn_end(&turn);
    *out = atomic_load(&index->revision);
    return err;
}

static int64_t last_revision(struct tx *tx)
{
    return QUERY_NUMBER(tx, 0, "SELECT value FROM counters WHERE name = 'revision'");
}

/* A search's own documents. */

/* from: "FROM documents d, document_changes c ..." */
static enum err read_changes(struct tx *tx, const char *from, const struct db_value *values,
                             struct change_list *out)
{
    const char *sql = columns_select(tx, &change_table, NULL, from);
    return columns_list(tx, &change_table, sql, values, out);
}

/* Changes of the workspace that the file may lack. */
static enum err changes_of(struct tx *tx, const struct text_list *document_ids, int64_t seen,
                           struct change_list *out)
{
    const char *workspace_id = NULL;
    for (size_t i = 0; i < document_ids->count && !workspace_id && !tx_has_failed(tx); i++) {
        static const char sql[] = "SELECT workspace_id FROM documents WHERE id = ?";
        AUTO(cursor) row = QUERY(tx, sql, TEXT(document_ids->items[i]));
        if (cursor_next(row))
            workspace_id = cursor_text(row, 0);
    }
    if (!workspace_id)
        return tx_result(tx);
    return read_changes(tx,
                        "FROM documents d JOIN document_changes c ON c.document_id = d.id"
                        " WHERE d.workspace_id = ? AND c.revision > ? ORDER BY c.revision",
                        VALUES(TEXT(workspace_id), NUMBER(seen)), out);
}

static enum err apply_or_leave(struct word_index *index, struct tx *tx,
                               const struct word_change *change, int64_t until_us)
{
    if (word_queue_is_left(index->queue, change))
        return OK;
    enum err err = apply(index, tx, change, until_us, until_us);
    if (err != ERR_TIMEOUT && err != ERR_BUSY)
        return err;
    word_queue_leave(index->queue, change);
    return OK;
}

enum err word_index_catch_up(struct word_index *index, struct tx *tx,
                             const struct text_list *document_ids, int64_t until_us)
{
    int64_t seen = 0, wanted = last_revision(tx);
    if (tx_has_failed(tx) || seen_revision(index, tx, &seen))
        return ERR_IO;
    if (wanted <= seen)
        return OK;
    struct change_list changes = {0};
    enum err err = changes_of(tx, document_ids, seen, &changes);
    AUTO(map) asked = map_new();
    for (size_t i = 0; changes.count && i < document_ids->count; i++)
        map_set_str(asked, document_ids->items[i], asked);
    for (size_t i = 0; i < changes.count && !err && clock_now_us() < until_us; i++)
        if (map_get_str(asked, changes.items[i].document_id))
            err = apply_or_leave(index, tx, &changes.items[i], until_us);
    return err;
}

/* The rest. */

/* generation: of the file that has them; one that was made meanwhile has not. */
static enum err note_seen(struct word_index *index, struct tx *tx, unsigned generation,
                          int64_t revision)
{
    struct word_turn turn;
    enum err err = word_turn_begin(index, tx, &turn);
    if (err)
        return err;
    bool is_same = turn.generation == generation;
    if (is_same)
        EXEC(&turn.file, "UPDATE about SET revision = ? WHERE revision < ?", NUMBER(revision),
             NUMBER(revision));
    err = word_turn_end(&turn);
    if (!err && is_same && generation == atomic_load(&index->generation))
        atomic_store(&index->revision, MAX(revision, atomic_load(&index->revision)));
    return err;
}

static enum err sweep(struct word_index *index, struct tx *tx, int64_t until_us, bool *out_is_done)
{
    enum err err = OK;
    *out_is_done = false;
    while (!err && !*out_is_done && clock_now_us() < until_us)
        err = word_draft_sweep(index, tx, out_is_done);
    return err;
}

/* Puts further changes in line. */
static enum err fill(struct word_index *index, struct tx *tx, int64_t wanted)
{
    int64_t scanned = word_queue_scanned(index->queue);
    if (scanned >= wanted)
        return OK;
    struct change_list changes = {0};
    enum err err =
        read_changes(tx,
                     "FROM document_changes c LEFT JOIN documents d ON d.id = c.document_id"
                     " WHERE c.revision > ? ORDER BY c.revision LIMIT ?",
                     VALUES(NUMBER(scanned), NUMBER(CHANGES_AT_ONCE)), &changes);
    if (err)
        return err;
    for (size_t i = 0; i < changes.count; i++)
        word_queue_add(index->queue, &changes.items[i]);
    bool is_all = changes.count < CHANGES_AT_ONCE;
    word_queue_note_scanned(index->queue,
                            is_all ? wanted : changes.items[changes.count - 1].revision);
    return OK;
}

/* ERR_TIMEOUT: a search makes it still. */
static enum err take_in(struct word_index *index, struct tx *tx, const struct word_change *change,
                        int64_t until_us)
{
    int64_t begun_us = clock_now_us();
    enum err err = apply(index, tx, change, until_us, INT64_MAX);
    int64_t cost_us = clock_now_us() - begun_us;
    if (err && err != ERR_TIMEOUT) /* the step ends, and others wait for the next one */
        cost_us = MAX(cost_us, FAULT_COST_US);
    word_queue_end(index->queue, change, !err, cost_us);
    return err;
}

enum err word_index_step(struct word_index *index, struct tx *tx, int64_t until_us,
                         bool *out_is_done)
{
    int64_t seen = 0, wanted = last_revision(tx);
    *out_is_done = false;
    unsigned generation = atomic_load(&index->generation); /* before what it has seen */
    if (tx_has_failed(tx) || seen_revision(index, tx, &seen))
        return ERR_IO;
    if (wanted <= seen)
        return sweep(index, tx, until_us, out_is_done);
    word_queue_begin(index->queue, generation, seen);
    enum err err = OK;
    bool is_empty = false;
    while (!err && !is_empty && clock_now_us() < until_us) {
        struct word_change change;
        err = fill(index, tx, wanted);
        is_empty = !err && !word_queue_next(index->queue, tx->arena, &change);
        if (!err && !is_empty)
            err = take_in(index, tx, &change, until_us);
        if (err == ERR_TIMEOUT)
            err = atomic_load(&index->is_stopping) ? ERR_BUSY : OK;
    }
    if (!err && generation == atomic_load(&index->generation) &&
        word_queue_done(index->queue) > seen)
        err = note_seen(index, tx, generation, word_queue_done(index->queue));
    return err;
}
