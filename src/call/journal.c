#include "call/journal.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/call.h"
#include "store/call_journal.h"
#include "store/store.h"

enum {
    RETRY_FIRST_US = 250 * 1000, /* when the database is away */
    RETRY_LONGEST_US = 2 * 1000 * 1000,
    FAILURES_MAX = 20, /* of one record in a row, while others were written: half a minute */
};

#define FIRST(list) LIST_FIRST(list, struct journal_record, node)

struct journal {
    struct journal_config config;
    char call_id[ID_SIZE], workspace_id[ID_SIZE];
    struct list_node waiting, writing;
    size_t count, bytes; /* of both lists */
    int64_t last_number;
    unsigned failures; /* of the first record, in a row */
    unsigned odd;      /* of them, those between which the database took other jobs */
    uint64_t commits;  /* of the store when it failed last */
    bool is_alone;     /* after a failure: records go one by one until these are written */
    bool is_busy, is_freed;
    bool is_giving_up, is_over; /* over: fenced or given up, nothing more is written */
    struct timer retry;
};

static void write_all(void *arg);

struct journal *journal_new(const struct journal_config *config)
{
    struct journal *journal = mem_new(struct journal);
    journal->config = *config;
    memcpy(journal->call_id, config->call_id, strnlen(config->call_id, ID_SIZE - 1));
    memcpy(journal->workspace_id, config->workspace_id, strnlen(config->workspace_id, ID_SIZE - 1));
    list_init(&journal->waiting);
    list_init(&journal->writing);
    timer_init(&journal->retry, config->loop, write_all, journal);
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

static void count(struct journal *journal, const struct journal_record *record, int by)
{
    journal->count += by;
    journal->bytes += by * record->bytes;
    if (journal->config.total)
        journal->config.total->bytes += by * record->bytes;
}

static void list_clear(struct journal *journal, struct list_node *list)
{
    struct journal_record *record;
    while ((record = LIST_FIRST(list, struct journal_record, node))) {
        count(journal, record, -1);
        record_free(record);
    }
}

void journal_free(struct journal *journal)
{
    if (!journal)
        return;
    timer_stop(&journal->retry);
    journal->is_freed = true;
    if (journal->config.total)
        journal->config.total->bytes -= journal->bytes;
    journal->config.total = NULL;
    if (journal->is_busy)
        return;
    list_clear(journal, &journal->waiting);
    list_clear(journal, &journal->writing);
    mem_free(journal);
}

/* Store thread. */

/* The database takes all else, but not this record. */
static bool is_desperate(const struct journal *journal)
{
    return journal->odd >= FAILURES_MAX;
}

static enum err write_end(struct tx *tx, const struct journal *journal,
                          struct journal_record *record)
{
    struct call_end end = {
        .reason = record->reason,
        .ended_wall_ms = record->at_wall_ms,
        .billed_ms = record->billed_ms,
        .is_limit = record->is_limit,
        .left_identity = record->a,
        .quality = record->quality,
        .is_bare = is_desperate(journal),
    };
    return store_call_end_cost(tx, journal->call_id, &end, &record->duration_s, &record->cost_usd4);
}

static enum err write_run(struct tx *tx, const char *call_id, const struct journal_record *record)
{
    struct call_run run = record->run;
    if (record->kind == JOURNAL_RUN_BEGAN) {
        run.name = record->a;
        run.arguments = record->b;
        run.at_wall_ms = record->at_wall_ms;
        run.result = run.error = "";
        return store_call_run_began(tx, call_id, &run);
    }
    run.result = record->a;
    run.error = record->b;
    return store_call_run_ended(tx, call_id, &run);
}

static enum err write_record(struct tx *tx, const struct journal *journal,
                             struct journal_record *record)
{
    const char *call_id = journal->call_id;
    switch (record->kind) {
    case JOURNAL_STARTED:
        return store_call_started(tx, call_id);
    case JOURNAL_AGENT_JOINED: {
        struct event_agent_joined engines = {.stt = record->a, .llm = record->b, .tts = record->c};
        return store_call_agent_joined(tx, call_id, record->at_wall_ms, &engines);
    }
    case JOURNAL_USER_JOINED: {
        struct call_funds funds = {.at_us = record->at_us,
                                   .embed_limit_usd4 = record->embed_limit_usd4};
        enum err err = store_call_user_joined(tx, call_id, record->a, record->at_wall_ms, &funds);
        if (!err)
            record->exhausted_us = funds.exhausted_us;
        return err;
    }
    case JOURNAL_TURN: {
        struct call_turn turn = {.role = record->role,
                                 .text = record->a,
                                 .at_wall_ms = record->at_wall_ms,
                                 .timing = record->timing.at_wall_ms ? &record->timing : NULL};
        return store_call_turn(tx, call_id, &turn);
    }
    case JOURNAL_ERROR: {
        struct event_error error = {.stage = record->stage, .message = record->a};
        return store_call_error(tx, call_id, &error);
    }
    case JOURNAL_RUN_BEGAN:
    case JOURNAL_RUN_ENDED:
        return write_run(tx, call_id, record);
    case JOURNAL_END:
        return write_end(tx, journal, record);
    }
    return ERR_INTERNAL;
}

/* One job. */

static enum err write_first(struct tx *tx, void *arg)
{
    struct journal *journal = arg;
    return write_record(tx, journal, FIRST(&journal->writing));
}

/* The first record in a savepoint of its own. One that has failed often, while the database took
 * other records, is skipped; an end never is, but then only its row is written. */
static enum err write_alone(struct tx *tx, struct journal *journal)
{
    struct journal_record *record = FIRST(&journal->writing);
    struct call_record call_record = {.call_id = journal->call_id,
                                      .workspace_id = journal->workspace_id,
                                      .excerpt = record->a,
                                      .fn = write_first,
                                      .arg = journal};
    bool is_skipped = is_desperate(journal) && record->kind != JOURNAL_END;
    enum err err = is_skipped ? store_call_journal_skip(tx, &call_record)
                              : store_call_journal_try(tx, &call_record);
    record->outcome = is_skipped || err == ERR_INVALID ? JOURNAL_SET_ASIDE : JOURNAL_WRITTEN;
    store_call_journal_note(tx, journal->call_id, record->number);
    return err == ERR_INVALID ? OK : err;
}

static enum err write_together(struct tx *tx, struct journal *journal)
{
    int64_t last = 0;
    struct journal_record *record;
    LIST_EACH (record, &journal->writing, struct journal_record, node) {
        enum err err = write_record(tx, journal, record);
        if (err)
            return err;
        last = record->number;
        record->outcome = JOURNAL_WRITTEN;
    }
    store_call_journal_note(tx, journal->call_id, last);
    return OK;
}

/* What an attempt before this one wrote, whose answer was lost, is not written again; an end says
 * once more what it cost. */
static enum err job(struct tx *tx, void *arg)
{
    struct journal *journal = arg;
    if (!journal->is_alone)
        return write_together(tx, journal);
    int64_t last = 0;
    struct journal_record *record = FIRST(&journal->writing);
    enum err err = store_call_journal_last(tx, journal->call_id, &last);
    if (err)
        return err == ERR_NOT_FOUND ? ERR_DENIED : err;
    if (record->number > last)
        return write_alone(tx, journal);
    record->outcome = JOURNAL_WRITTEN;
    return record->kind == JOURNAL_END ? write_end(tx, journal, record) : OK;
}

/* The loop. */

/* Moves the first `most` of the records that were being written. */
static void take_written(struct journal *journal, size_t most, struct list_node *out)
{
    list_init(out);
    struct journal_record *record;
    for (; most > 0 && (record = FIRST(&journal->writing)); most--) {
        list_remove(&record->node);
        list_push_back(out, &record->node);
        count(journal, record, -1);
    }
}

static void tell(struct journal *journal, struct list_node *done)
{
    struct journal_record *record;
    while ((record = FIRST(done))) {
        journal->config.on_written(journal->config.arg, record, record->outcome);
        record_free(record);
    }
}

/* The first one tells what became of all. */
static void end_all(struct journal *journal, enum journal_outcome outcome)
{
    struct list_node first;
    journal->is_over = true;
    timer_stop(&journal->retry);
    take_written(journal, 1, &first);
    list_clear(journal, &journal->writing);
    list_clear(journal, &journal->waiting);
    struct journal_record *record;
    LIST_EACH (record, &first, struct journal_record, node)
        record->outcome = outcome;
    tell(journal, &first);
}

static void settle(struct journal *journal)
{
    struct list_node done;
    take_written(journal, journal->is_alone ? 1 : SIZE_MAX, &done);
    journal->failures = journal->odd = 0;
    journal->is_alone &= !list_is_empty(&journal->writing);
    tell(journal, &done);
    if (journal->is_giving_up)
        end_all(journal, JOURNAL_GIVEN_UP);
    else
        write_all(journal);
}

static void try_again(struct journal *journal, enum err err)
{
    bool is_away = err == ERR_IO || err == ERR_BUSY;
    int64_t pause_us = RETRY_FIRST_US << MIN(journal->failures, 3U);
    if (journal->failures++ == 0)
        log_warn("call.record_waits", LOG_S("call", journal->call_id),
                 LOG_S("error", err_name(err)), LOG_I("records", (int64_t)journal->count));
    uint64_t commits = store_commits(journal->config.store);
    journal->odd += journal->failures > 1 && commits != journal->commits;
    journal->commits = commits;
    bool was_alone = journal->is_alone;
    journal->is_alone = true;
    timer_set_after(&journal->retry, is_away || was_alone ? pause_us : 0);
}

static void on_written(void *arg, enum err err)
{
    struct journal *journal = arg;
    journal->is_busy = false;
    if (journal->is_freed)
        journal_free(journal);
    else if (!err)
        settle(journal);
    else if (err == ERR_DENIED)
        end_all(journal, JOURNAL_FENCED);
    else if (journal->is_giving_up)
        end_all(journal, JOURNAL_GIVEN_UP);
    else
        try_again(journal, err);
}

static void on_refused(void *arg)
{
    on_written(arg, ERR_BUSY);
}

static void write_all(void *arg)
{
    struct journal *journal = arg;
    if (journal->is_busy || journal->is_over || timer_is_set(&journal->retry))
        return;
    struct journal_record *record;
    while (!journal->is_alone && (record = FIRST(&journal->waiting))) {
        list_remove(&record->node);
        list_push_back(&journal->writing, &record->node);
    }
    if (list_is_empty(&journal->writing))
        return;
    journal->is_busy = true;
    struct store_line line = {.key = journal->workspace_id, .mode = STORE_WRITE, .lane = STORE_OWN};
    if (store_job_for(journal->config.store, line, job, journal, journal->config.loop,
                      on_written) != OK)
        loop_defer(journal->config.loop, on_refused, journal);
}

static size_t text_bytes(const struct journal_record *record)
{
    const char *const texts[] = {record->a, record->b, record->c};
    size_t bytes = sizeof(*record);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        bytes += texts[i] ? strlen(texts[i]) : 0;
    return bytes;
}

/* An end is always taken: it is small, and nothing comes after it. */
static enum err room_for(const struct journal *journal, const struct journal_record *record)
{
    if (record->kind == JOURNAL_END)
        return OK;
    bool is_run = record->kind == JOURNAL_RUN_BEGAN || record->kind == JOURNAL_RUN_ENDED;
    size_t most = is_run ? JOURNAL_RUNS_MAX_BYTES : JOURNAL_MAX_BYTES;
    if (journal->bytes + record->bytes > most)
        return ERR_LIMIT;
    return journal->config.total->bytes + record->bytes > JOURNAL_ALL_BYTES ? ERR_BUSY : OK;
}

enum err journal_add(struct journal *journal, const struct journal_record *values)
{
    struct journal_record *record = mem_new(struct journal_record);
    *record = *values;
    record->a = mem_strdup(values->a);
    record->b = mem_strdup(values->b);
    record->c = mem_strdup(values->c);
    record->bytes = text_bytes(record);
    enum err err = room_for(journal, record);
    if (err || journal->is_over || journal->is_giving_up) {
        record_free(record);
        return err;
    }
    record->number = ++journal->last_number;
    list_push_back(&journal->waiting, &record->node);
    count(journal, record, 1);
    write_all(journal);
    return OK;
}

void journal_give_up(struct journal *journal)
{
    journal->is_giving_up = true;
    if (!journal->is_busy)
        end_all(journal, JOURNAL_GIVEN_UP);
}

bool journal_is_idle(const struct journal *journal)
{
    return !journal->is_busy && journal->count == 0;
}

size_t journal_waiting(const struct journal *journal)
{
    return journal->count;
}

size_t journal_waiting_bytes(const struct journal *journal)
{
    return journal->bytes;
}
