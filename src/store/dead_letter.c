/* See dead_letter.h. Thread: inside a job. */
#include "store/dead_letter.h"

#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/utf8.h"
#include "store/call_row.h"
#include "store/tx.h"

const char *const dead_letter_kind_names[DEAD_LETTER_KIND_COUNT] = {
    [DEAD_CALL_RECORD] = "call-record", [DEAD_CALL_MONEY] = "call-money",
    [DEAD_CALL_END] = "call-end",       [DEAD_EVENT] = "event",
    [DEAD_WEBHOOK] = "webhook",
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
         TEXT(workspace_id), TEXT(workspace_id), NUMBER(DEAD_LETTERS_MOST));
}

/* Logged when it is new: the same again would fill the log as it comes with each event. */
void store_dead_letter_add(struct tx *tx, const struct dead_letter *letter)
{
    const char *kind = dead_letter_kind_names[letter->kind];
    int64_t count = QUERY_NUMBER(
        tx, 0,
        "INSERT INTO dead_letters (kind, workspace_id, subject_id, reason, excerpt, count,"
        " first_ms, last_ms) VALUES (?, ?, ?, ?, ?, 1, ?, ?)"
        " ON CONFLICT (workspace_id, kind, subject_id) DO UPDATE SET"
        " count = dead_letters.count + 1, last_ms = excluded.last_ms, reason = excluded.reason,"
        " excerpt = excluded.excerpt RETURNING count",
        TEXT(kind), TEXT(letter->workspace_id), TEXT(letter->subject_id),
        TEXT(cleaned(tx, letter->reason)), TEXT(cleaned(tx, letter->excerpt)), NUMBER(tx->now_ms),
        NUMBER(tx->now_ms));
    metric_add_label(METRIC_DEAD_LETTERS, kind, 1);
    if (count != 1)
        return;
    log_error("store.set_aside", LOG_S("kind", kind), LOG_S("workspace", letter->workspace_id),
              LOG_S("subject", letter->subject_id), LOG_S("reason", letter->reason));
    drop_oldest(tx, letter->workspace_id);
}

static void read_row(struct cursor *row, struct dead_letter *out)
{
    *out = (struct dead_letter){
        .kind = (enum dead_letter_kind)name_place(dead_letter_kind_names, DEAD_LETTER_KIND_COUNT,
                                                  cursor_text(row, 0)),
        .workspace_id = cursor_text(row, 1),
        .subject_id = cursor_text(row, 2),
        .reason = cursor_text(row, 3),
        .excerpt = cursor_text(row, 4),
        .count = cursor_number(row, 5),
        .first_wall_ms = cursor_number(row, 6),
        .last_wall_ms = cursor_number(row, 7),
    };
}

enum err store_dead_letters(struct tx *tx, unsigned limit, struct dead_letter_counts *out_counts,
                            struct dead_letter_list *out_newest)
{
    *out_counts = (struct dead_letter_counts){0};
    *out_newest = (struct dead_letter_list){0};
    AUTO(cursor) sums =
        QUERY(tx, "SELECT kind, CAST(SUM(count) AS BIGINT) FROM dead_letters GROUP BY kind");
    while (cursor_next(sums)) {
        int kind = name_place(dead_letter_kind_names, DEAD_LETTER_KIND_COUNT, cursor_text(sums, 0));
        out_counts->of_kind[kind] += cursor_number(sums, 1);
        out_counts->all += cursor_number(sums, 1);
    }
    AUTO(cursor) row =
        QUERY(tx,
              "SELECT kind, workspace_id, subject_id, reason, excerpt, count, first_ms, last_ms"
              " FROM dead_letters ORDER BY last_ms DESC, id DESC LIMIT ?",
              NUMBER(limit));
    while (cursor_next(row))
        read_row(row, GROW(out_newest, tx->arena));
    return tx_result(tx);
}

enum err store_dead_letters_expire(struct tx *tx, int64_t before_wall_ms, unsigned limit)
{
    EXEC(tx,
         "DELETE FROM dead_letters WHERE id IN (SELECT id FROM dead_letters WHERE last_ms < ?"
         " ORDER BY last_ms LIMIT ?)",
         NUMBER(before_wall_ms), NUMBER(limit));
    return tx_result(tx);
}
