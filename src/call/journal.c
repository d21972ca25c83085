#include "call/journal.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/call.h"
#include "store/store.h"

enum { RETRY_US = 250 * 1000 }; /* when the database is away */

struct journal {
    struct store *store;
    struct loop *loop;
    char call_id[ID_SIZE], workspace_id[ID_SIZE];
    journal_fn *on_written;
    void *arg;
    struct list_node waiting, writing;
    size_t count;
    bool is_busy, is_fenced;
    struct timer retry;
};

static void write_all(void *arg);

struct journal *journal_new(struct store *store, struct loop *loop, const struct call *row,
                            journal_fn *on_written, void *arg)
{
    struct journal *journal = mem_new(struct journal);
    journal->store = store;
    journal->loop = loop;
    memcpy(journal->call_id, row->id, strnlen(row->id, ID_SIZE - 1));
    memcpy(journal->workspace_id, row->user_id, strnlen(row->user_id, ID_SIZE - 1));
    journal->on_written = on_written;
    journal->arg = arg;
    list_init(&journal->waiting);
    list_init(&journal->writing);
    timer_init(&journal->retry, loop, write_all, journal);
    return journal;
}

static void record_free(struct journal_record *record)
{
    list_remove(&record->node);
    mem_free(record->a);
    mem_free(record->b);
    mem_free(record->c);
    if (record->quality)
        mem_free(record->quality->slowest_turns.items);
    mem_free(record->quality);
    mem_free(record);
}

void journal_free(struct journal *journal)
{
    if (!journal)
        return;
    timer_stop(&journal->retry);
    struct journal_record *record;
    LIST_EACH(record, &journal->waiting, struct journal_record, node)
    record_free(record);
    LIST_EACH(record, &journal->writing, struct journal_record, node)
    record_free(record);
    mem_free(journal);
}

static enum err write_end(struct tx *tx, const char *call_id, struct journal_record *record)
{
    struct call_end end = {
        .reason = record->reason,
        .ended_wall_ms = record->at_wall_ms,
        .billed_to_wall_ms = record->billed_to_wall_ms,
        .is_limit = record->is_limit,
        .left_identity = record->a,
        .quality = record->quality,
    };
    struct call call = {0};
    enum err err = store_call_end(tx, call_id, &end, &call);
    record->duration_s = call.duration_s;
    record->cost_usd4 = call.cost_usd4;
    return err;
}

static enum err write_record(struct tx *tx, const char *call_id, struct journal_record *record)
{
    switch (record->kind) {
    case JOURNAL_STARTED:
        return store_call_started(tx, call_id);
    case JOURNAL_AGENT_JOINED: {
        struct event_agent_joined engines = {.stt = record->a, .llm = record->b, .tts = record->c};
        return store_call_agent_joined(tx, call_id, record->at_wall_ms, &engines);
    }
    case JOURNAL_USER_JOINED: {
        struct call_funds funds = {0};
        enum err err = store_call_user_joined(tx, call_id, record->a, record->at_wall_ms, &funds);
        record->exhausted_wall_ms = funds.exhausted_wall_ms;
        return err;
    }
    case JOURNAL_TURN: {
        struct call_turn turn = {
            .role = record->role, .text = record->a, .at_wall_ms = record->at_wall_ms};
        return store_call_turn(tx, call_id, &turn);
    }
    case JOURNAL_ERROR: {
        struct event_error error = {.stage = record->stage, .message = record->a};
        return store_call_error(tx, call_id, &error);
    }
    case JOURNAL_END:
        return write_end(tx, call_id, record);
    }
    return ERR_INTERNAL;
}

/* Store thread. */
static enum err job(struct tx *tx, void *arg)
{
    struct journal *journal = arg;
    struct journal_record *record;
    LIST_EACH(record, &journal->writing, struct journal_record, node)
    {
        enum err err = write_record(tx, journal->call_id, record);
        if (err)
            return err;
    }
    return OK;
}

static void tell(struct journal *journal)
{
    struct list_node done;
    list_init(&done);
    struct journal_record *record;
    while ((record = LIST_FIRST(&journal->writing, struct journal_record, node))) {
        list_remove(&record->node);
        list_push_back(&done, &record->node);
    }
    journal->is_busy = false;
    if (journal->is_fenced)
        journal->count = 0;
    while ((record = LIST_FIRST(&done, struct journal_record, node))) {
        if (journal->count > 0)
            journal->count--;
        journal->on_written(journal->arg, record, journal->is_fenced);
        record_free(record);
    }
}

static void written(void *arg, enum err err)
{
    struct journal *journal = arg;
    if (err == ERR_IO || err == ERR_BUSY) { /* nothing was written: again, in the same order */
        journal->is_busy = false;
        timer_set_after(&journal->retry, RETRY_US);
        return;
    }
    if (err == ERR_DENIED)
        journal->is_fenced = true;
    else if (err)
        log_error("call.record_lost", LOG_S("call", journal->call_id),
                  LOG_S("error", err_name(err)), LOG_I("records", (int64_t)journal->count));
    tell(journal);
    write_all(journal);
}

static void write_all(void *arg)
{
    struct journal *journal = arg;
    if (journal->is_busy || journal->is_fenced)
        return;
    struct journal_record *record;
    while ((record = LIST_FIRST(&journal->waiting, struct journal_record, node))) {
        list_remove(&record->node);
        list_push_back(&journal->writing, &record->node);
    }
    if (list_is_empty(&journal->writing))
        return;
    journal->is_busy = true;
    struct store_line line = {.key = journal->workspace_id, .mode = STORE_WRITE, .lane = STORE_OWN};
    if (store_job_for(journal->store, line, job, journal, journal->loop, written) != OK) {
        journal->is_busy = false;
        timer_set_after(&journal->retry, RETRY_US);
    }
}

void journal_add(struct journal *journal, const struct journal_record *values)
{
    struct journal_record *record = mem_new(struct journal_record);
    *record = *values;
    record->a = mem_strdup(values->a);
    record->b = mem_strdup(values->b);
    record->c = mem_strdup(values->c);
    if (journal->is_fenced) {
        record_free(record);
        return;
    }
    list_push_back(&journal->waiting, &record->node);
    journal->count++;
    if (!timer_is_set(&journal->retry))
        write_all(journal);
}

bool journal_is_idle(const struct journal *journal)
{
    return !journal->is_busy && (journal->is_fenced || journal->count == 0);
}

size_t journal_waiting(const struct journal *journal)
{
    return journal->count;
}
