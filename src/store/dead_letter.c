/* See dead_letter.h. Thread: inside a job. */
#include "store/dead_letter.h"

#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/utf8.h"
#include "store/columns.h"
#include "store/tx.h"

const char *const dead_letter_kind_names[DEAD_LETTER_KIND_COUNT] = {
    [DEAD_CALL_RECORD] = "call-record",
    [DEAD_CALL_MONEY] = "call-money",
    [DEAD_CALL_END] = "call-end",
    [DEAD_EVENT] = "event",
    [DEAD_WEBHOOK] = "webhook",
    [DEAD_AGENT] = "agent",
    [DEAD_TOOL] = "tool",
};

/* What is set aside may be so because of its bytes. */
static const char *cleaned(struct tx *tx, const char *text)
{
    size_t len = text ? strnlen(text, DEAD_LETTER_EXCERPT_MAX) : 0;
    AUTO_BUF clean = BUF_INIT(4 * DEAD_LETTER_EXCERPT_MAX); /* a stray byte becomes U+FFFD */
    return len && utf8_append_clean(&clean, text, len) == OK
               ? arena_strndup(tx->arena, clean.data, clean.len)
               : "";
}

static void drop_oldest(struct tx *tx, const char *workspace_id)
{
    EXEC(tx,
         "DELETE FROM dead_letters WHERE workspace_id = ? AND id NOT IN (SELECT id FROM"
         " dead_letters WHERE workspace_id = ? ORDER BY last_ms DESC, id DESC LIMIT ?)",
         TEXT(workspace_id), TEXT(workspace_id), NUMBER(DEAD_LETTERS_MAX));
}

static const struct field letter_rows[] = {
    COLUMN_WORD(struct dead_letter, kind, "kind", enum dead_letter_kind, dead_letter_kind_names),
    COLUMN_TEXT(struct dead_letter, workspace_id, "workspace_id"),
    COLUMN_TEXT(struct dead_letter, subject_id, "subject_id"),
    COLUMN_TEXT(struct dead_letter, reason, "reason"),
    COLUMN_TEXT(struct dead_letter, excerpt, "excerpt"),
    COLUMN_NUMBER(struct dead_letter, count, "count"),
    COLUMN_NUMBER(struct dead_letter, first_wall_ms, "first_ms"),
    COLUMN_NUMBER(struct dead_letter, last_wall_ms, "last_ms"),
};
static FIELD_TABLE(letter_table, struct dead_letter, "dead_letters", letter_rows);

/* Logged when it is new: the same again would fill the log as it comes with each event. */
void store_dead_letter_add(struct tx *tx, const struct dead_letter *letter)
{
    struct dead_letter row = *letter;
    row.reason = cleaned(tx, letter->reason);
    row.excerpt = cleaned(tx, letter->excerpt);
    row.count = 1;
    row.first_wall_ms = row.last_wall_ms = tx->now_ms;
    const struct row_insert insert = {
        .into = "dead_letters",
        .table = &letter_table,
        .object = &row,
        .conflict = "ON CONFLICT (workspace_id, kind, subject_id) DO UPDATE SET"
                    " count = dead_letters.count + 1, last_ms = excluded.last_ms,"
                    " reason = excluded.reason, excerpt = excluded.excerpt",
    };
    int64_t count = columns_insert_returning(tx, &insert, "count");
    const char *kind = dead_letter_kind_names[letter->kind];
    metric_add_label(METRIC_DEAD_LETTERS, kind, 1);
    if (count != 1)
        return;
    log_error("store.set_aside", LOG_S("kind", kind), LOG_S("workspace", letter->workspace_id),
              LOG_S("subject", letter->subject_id), LOG_S("reason", letter->reason));
    drop_oldest(tx, letter->workspace_id);
}

enum err store_dead_letters(struct tx *tx, unsigned limit, struct dead_letter_counts *out_counts,
                            struct dead_letter_list *out_newest)
{
    *out_counts = (struct dead_letter_counts){0};
    *out_newest = (struct dead_letter_list){0};
    AUTO(cursor) sums =
        QUERY(tx, "SELECT kind, CAST(SUM(count) AS BIGINT) FROM dead_letters GROUP BY kind");
    while (cursor_next(sums)) {
        int kind;
        enum err err = cursor_word(sums, 0, dead_letter_kind_names, DEAD_LETTER_KIND_COUNT,
                                   "dead_letters.kind", &kind);
        if (err)
            return err;
        out_counts->of_kind[kind] += cursor_number(sums, 1);
        out_counts->all += cursor_number(sums, 1);
    }
    const char *sql = columns_select(tx, &letter_table, NULL,
                                     "FROM dead_letters ORDER BY last_ms DESC, id DESC LIMIT ?");
    return columns_list(tx, &letter_table, sql, VALUES(NUMBER(limit)), out_newest);
}

enum err store_dead_letters_expire(struct tx *tx, int64_t before_wall_ms, unsigned limit)
{
    EXEC(tx,
         "DELETE FROM dead_letters WHERE id IN (SELECT id FROM dead_letters WHERE last_ms < ?"
         " ORDER BY last_ms LIMIT ?)",
         NUMBER(before_wall_ms), NUMBER(limit));
    return tx_result(tx);
}
