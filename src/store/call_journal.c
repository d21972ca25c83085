/* See call_journal.h. Thread: inside a job. */
#include "store/call_journal.h"

#include "store/dead_letter.h"
#include "store/tx.h"

enum err store_call_journal_last(struct tx *tx, const char *call_id, int64_t *out_number)
{
    AUTO(cursor) row = QUERY(tx, "SELECT records FROM calls WHERE id = ?", TEXT(call_id));
    if (!cursor_next(row))
        return tx_missing(tx);
    *out_number = cursor_number(row, 0);
    return OK;
}

void store_call_journal_note(struct tx *tx, const char *call_id, int64_t number)
{
    EXEC(tx, "UPDATE calls SET records = ? WHERE id = ?", NUMBER(number), TEXT(call_id));
}

static void set_aside(struct tx *tx, const struct call_record *record, const char *reason)
{
    struct dead_letter letter = {.kind = DEAD_CALL_RECORD,
                                 .workspace_id = record->workspace_id,
                                 .subject_id = record->call_id,
                                 .reason = reason,
                                 .excerpt = record->excerpt};
    store_dead_letter_add(tx, &letter);
}

enum err store_call_journal_try(struct tx *tx, const struct call_record *record)
{
    struct fault why = {0};
    enum err err = tx_try(tx, record->fn, record->arg, &why);
    if (!err || err == ERR_IO || err == ERR_DENIED)
        return err;
    set_aside(tx, record, why.text);
    return tx_has_failed(tx) ? ERR_IO : ERR_INVALID;
}

enum err store_call_journal_skip(struct tx *tx, const struct call_record *record)
{
    set_aside(tx, record, "the database failed each time it was to be written");
    return tx_result(tx);
}
