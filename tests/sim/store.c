#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/loop.h"
#include "base/mem.h"
#include "fake/loop.h"
#include "model/event.h"
#include "store/call.h"
#include "store/call_journal.h"
#include "store/document.h"
#include "store/money.h"
#include "store/node.h"
#include "store/store.h"
#include "sweep.h"

enum { FROZEN_US = 10000 };

struct sim_store sim_store;
static store_watch_fn *watch_fn;
static void *watch_arg;
static struct loop *watch_loop;

struct job {
    struct timer timer;
    store_fn *fn;
    store_done_fn *done;
    void *arg;
};

void sim_store_begin(int64_t balance_usd4)
{
    sim_store = (struct sim_store){
        .balance_usd4 = balance_usd4, .day_limit_usd4 = INT64_C(100000000), .delay_us = 3000};
    buf_init(&sim_store.events, 8 * 1024 * 1024);
}

void sim_store_insert(const char *call_id, int64_t rate_usd4, bool is_embed)
{
    struct sim_row *row = &sim_store.rows[sim_store.count++];
    snprintf(row->id, sizeof(row->id), "%s", call_id);
    row->rate_usd4 = rate_usd4;
    row->is_embed = is_embed;
}

struct sim_row *sim_store_row(const char *call_id)
{
    for (size_t i = 0; i < sim_store.count; i++)
        if (strcmp(sim_store.rows[i].id, call_id) == 0)
            return &sim_store.rows[i];
    abort();
}

static void emit(const char *id, enum event_type type, const char *detail)
{
    buf_printf(&sim_store.events, "%lld %s %s [%s]\n", (long long)fake_now_us() / 1000,
               event_type_names[type], detail ? detail : "", id);
}

bool sim_told(const char *part)
{
    return sim_store.events.data && strstr(sim_store.events.data, part);
}

int sim_told_count(const char *part)
{
    int count = 0;
    for (const char *at = sim_store.events.data; at && (at = strstr(at, part)); at++)
        count++;
    return count;
}

bool sim_told_in_order(const char *const *parts, size_t count)
{
    const char *at = sim_store.events.data;
    for (size_t i = 0; i < count; i++) {
        at = at ? strstr(at, parts[i]) : NULL;
        if (!at)
            return false;
    }
    return true;
}

int64_t sim_told_ms(const char *part)
{
    const char *at = sim_store.events.data ? strstr(sim_store.events.data, part) : NULL;
    if (!at)
        return -1;
    while (at > sim_store.events.data && at[-1] != '\n')
        at--;
    return strtoll(at, NULL, 10);
}

/* Jobs. */

/* What a transaction that fails leaves behind: nothing. */
struct snapshot {
    struct sim_row rows[SIM_CALLS];
    int64_t balance_usd4;
    size_t events_len;
};

static enum err attempt(store_fn *fn, struct tx *tx, void *arg)
{
    struct snapshot before = {.balance_usd4 = sim_store.balance_usd4,
                              .events_len = sim_store.events.len};
    memcpy(before.rows, sim_store.rows, sizeof(before.rows));
    enum err err = fn(tx, arg);
    if (!err)
        return OK;
    memcpy(sim_store.rows, before.rows, sizeof(before.rows));
    sim_store.balance_usd4 = before.balance_usd4;
    sim_store.events.len = before.events_len;
    if (sim_store.events.data)
        sim_store.events.data[before.events_len] = '\0';
    return err;
}

static bool is_to_fail(void)
{
    if (sim_store.jobs + 1 == sim_store.fail_at)
        sim_store.failures = sim_store.fail_width;
    if (sim_store.failures == 0 && sweep_fails("store job"))
        sim_store.failures = 1;
    bool fails = sim_store.failures != 0 || fake_now_us() < sim_store.away_until_us;
    sim_store.failures -= sim_store.failures > 0;
    return fails;
}

static void run_job(void *arg)
{
    struct job *job = arg;
    if (sim_store.is_frozen) {
        timer_set_after(&job->timer, FROZEN_US);
        return;
    }
    struct tx tx = {.arena = arena_new(0), .now_ms = clock_wall_ms(), .begun_us = fake_now_us()};
    bool fails = !sim_store.is_refusing && is_to_fail();
    enum err err = OK;
    if (!fails || sim_store.is_done_all_the_same)
        err = attempt(job->fn, &tx, job->arg);
    sim_store.commits += !err;
    if (fails)
        err = sim_store.fault ? sim_store.fault : ERR_IO;
    sim_store.jobs++;
    store_done_fn *done = job->done;
    void *done_arg = job->arg;
    mem_free(job);
    if (done)
        done(done_arg, err);
    arena_free(tx.arena);
}

enum err store_job_for(struct store *store, struct store_line line, store_fn *fn, void *arg,
                       struct loop *done_loop, store_done_fn *done)
{
    (void)store, (void)line;
    if (sim_store.is_refusing && is_to_fail()) {
        sim_store.jobs++;
        return ERR_BUSY;
    }
    struct job *job = mem_new(struct job);
    job->fn = fn;
    job->done = done;
    job->arg = arg;
    timer_init(&job->timer, done_loop, run_job, job);
    timer_set_after(&job->timer, sim_store.delay_us);
    return OK;
}

uint64_t store_commits(const struct store *store)
{
    (void)store;
    return (uint64_t)sim_store.commits;
}

enum err store_job(struct store *store, enum store_mode mode, store_fn *fn, void *arg,
                   struct loop *done_loop, store_done_fn *done)
{
    struct store_line line = {.mode = mode, .lane = STORE_OWN};
    return store_job_for(store, line, fn, arg, done_loop, done);
}

bool store_is_transient(enum err err)
{
    return err == ERR_BUSY || err == ERR_IO;
}

struct store_watch *store_watch(struct store *store, unsigned topics, struct loop *loop,
                                store_watch_fn *fn, void *arg)
{
    (void)store;
    (void)topics;
    watch_fn = fn;
    watch_arg = arg;
    watch_loop = loop;
    return (struct store_watch *)(void *)&sim_store;
}

void store_unwatch(struct store_watch *watch)
{
    (void)watch;
    watch_fn = NULL;
}

bool store_is_postgres(const struct store *store)
{
    (void)store;
    return false;
}

static void tell_credit(void *arg)
{
    (void)arg;
    if (watch_fn)
        watch_fn(watch_arg, STORE_BALANCE);
}

void sim_store_credit(int64_t usd4)
{
    sim_store.balance_usd4 += usd4;
    loop_post(watch_loop, tell_credit, NULL);
}

void sim_store_set_limit(int64_t usd4)
{
    sim_store.day_limit_usd4 = usd4;
    loop_post(watch_loop, tell_credit, NULL);
}

/* Money. */

static bool is_running(const struct sim_row *row)
{
    return row->status != CALL_ENDED && row->joined_us > 0;
}

static int64_t left_ms(int64_t usd4, bool is_embed_only)
{
    struct money_use uses[SIM_CALLS];
    size_t count = 0;
    for (size_t i = 0; i < sim_store.count; i++) {
        const struct sim_row *row = &sim_store.rows[i];
        if (is_running(row) && (row->is_embed || !is_embed_only))
            uses[count++] = (struct money_use){.rate_usd4 = row->rate_usd4,
                                               .used_ms = (fake_now_us() - row->joined_us) / 1000};
        else if (is_embed_only && row->is_embed)
            usd4 -= row->cost_usd4;
    }
    return money_left_ms(usd4, uses, count);
}

static int64_t exhausted_us(const struct sim_row *row)
{
    int64_t ms = left_ms(sim_store.balance_usd4, false);
    if (row->is_embed)
        ms = MIN(ms, left_ms(sim_store.day_limit_usd4, true));
    return ms >= MONEY_NEVER_MS ? MONEY_NEVER_US : fake_now_us() + ms * 1000;
}

static void mark_durable(struct sim_row *row)
{
    int64_t now_us = fake_now_us();
    if (row->checkpoint_us)
        row->longest_gap_us = MAX(row->longest_gap_us, now_us - row->checkpoint_us);
    row->checkpoint_us = now_us;
}

enum err store_call_checkpoint(struct tx *tx, struct call_checkpoint *points, size_t n,
                               bool may_wait)
{
    (void)tx, (void)may_wait;
    for (size_t i = 0; i < n; i++) {
        struct sim_row *row = sim_store_row(points[i].call_id);
        points[i].is_fenced = sim_store.is_fenced;
        points[i].exhausted_us = exhausted_us(row);
        mark_durable(row);
    }
    return OK;
}

/* Calls. */

enum err store_call_started(struct tx *tx, const char *id)
{
    (void)tx;
    if (sim_store.is_fenced)
        return ERR_DENIED;
    if (sim_store.start_refusal)
        return sim_store.start_refusal;
    emit(id, EVENT_CALL_STARTED, NULL);
    return OK;
}

enum err store_call_agent_joined(struct tx *tx, const char *id, int64_t at_wall_ms,
                                 const struct event_agent_joined *engines)
{
    (void)tx;
    (void)at_wall_ms;
    char text[100];
    snprintf(text, sizeof(text), "%s %s %s", engines->stt, engines->llm, engines->tts);
    sim_store_row(id)->status = CALL_ACTIVE;
    emit(id, EVENT_CALL_AGENT_JOINED, text);
    return OK;
}

enum err store_call_user_joined(struct tx *tx, const char *id, const char *identity,
                                int64_t at_wall_ms, struct call_funds *funds)
{
    (void)tx;
    if (sim_store.is_fenced)
        return ERR_DENIED;
    struct sim_row *row = sim_store_row(id);
    row->joined_us = funds->at_us;
    row->joined_wall_ms = at_wall_ms;
    mark_durable(row);
    emit(id, EVENT_CALL_USER_JOINED, identity);
    funds->exhausted_us = exhausted_us(row);
    return OK;
}

enum err store_call_turn(struct tx *tx, const char *id, const struct call_turn *turn)
{
    (void)tx;
    if (sim_store.is_fenced)
        return ERR_DENIED;
    if (sim_store.poison && strstr(turn->text, sim_store.poison))
        return ERR_LIMIT;
    if (sim_store.stubborn && strstr(turn->text, sim_store.stubborn))
        return ERR_IO;
    sim_store_row(id)->turns++;
    emit(id, turn->role == TURN_USER ? EVENT_TRANSCRIPT_USER : EVENT_TRANSCRIPT_ASSISTANT,
         turn->text);
    return OK;
}

enum err store_call_error(struct tx *tx, const char *id, const struct event_error *error)
{
    (void)tx;
    char detail[300];
    snprintf(detail, sizeof(detail), "%s %s", error_stage_names[error->stage], error->message);
    emit(id, EVENT_CALL_ERROR, detail);
    return OK;
}

enum err store_call_run_began(struct tx *tx, const char *id, const struct call_run *run)
{
    (void)tx;
    buf_printf(&sim_store.events, "%lld tool.began %d %s %s [%s]\n",
               (long long)fake_now_us() / 1000, (int)run->number, run->name, run->arguments, id);
    return OK;
}

enum err store_call_run_ended(struct tx *tx, const char *id, const struct call_run *run)
{
    (void)tx;
    buf_printf(&sim_store.events, "%lld tool.ended %d %s %d ms %s%s [%s]\n",
               (long long)fake_now_us() / 1000, (int)run->number,
               call_run_status_names[run->status], (int)run->ms, run->result, run->error, id);
    return OK;
}

static void settle(struct sim_row *row, const struct call_end *end)
{
    row->reason = end->reason;
    row->ended_wall_ms = end->ended_wall_ms;
    row->billed_ms = end->billed_ms;
    if (row->joined_us) {
        row->duration_s = end->is_limit ? end->billed_ms / 1000 : money_seconds_up(end->billed_ms);
        row->cost_usd4 =
            MIN(money_cost_usd4(row->rate_usd4, row->duration_s), sim_store.balance_usd4);
    }
    sim_store.balance_usd4 -= row->cost_usd4;
    if (!end->quality)
        return;
    row->voice_to_voice_p50 = end->quality->voice_to_voice_ms.p50;
    row->reply_times = end->quality->reply_times;
    row->interruptions = (int)end->quality->interruptions;
    row->false_interruptions = (int)end->quality->false_interruptions;
}

enum err store_call_end_cost(struct tx *tx, const char *id, const struct call_end *end,
                             int64_t *out_duration_s, int64_t *out_cost_usd4)
{
    (void)tx;
    if (sim_store.is_fenced)
        return ERR_DENIED;
    struct sim_row *row = sim_store_row(id);
    if (row->status != CALL_ENDED) {
        if (end->left_identity)
            emit(id, EVENT_CALL_USER_LEFT, end->left_identity);
        settle(row, end);
        row->status = CALL_ENDED;
        emit(id, EVENT_CALL_ENDED, end_reason_names[end->reason]);
    }
    *out_duration_s = row->duration_s;
    *out_cost_usd4 = row->cost_usd4;
    return OK;
}

enum err store_call_journal_last(struct tx *tx, const char *call_id, int64_t *out_number)
{
    (void)tx;
    *out_number = sim_store_row(call_id)->records;
    return OK;
}

void store_call_journal_note(struct tx *tx, const char *call_id, int64_t number)
{
    (void)tx;
    sim_store_row(call_id)->records = number;
}

enum err store_call_journal_skip(struct tx *tx, const struct call_record *record)
{
    (void)tx;
    (void)record;
    sim_store.set_aside++;
    return OK;
}

enum err store_call_journal_try(struct tx *tx, const struct call_record *record)
{
    enum err err = attempt(record->fn, tx, record->arg);
    if (!err || err == ERR_IO || err == ERR_DENIED)
        return err;
    sim_store.set_aside++;
    return ERR_INVALID;
}

enum err store_call_recover(struct tx *tx, unsigned limit, bool is_bare, unsigned *out_n)
{
    (void)tx, (void)limit, (void)is_bare;
    *out_n = 0;
    return OK;
}

enum err store_document_passages(struct tx *tx, const char *id, struct passage **out, size_t *out_n)
{
    (void)tx;
    (void)id;
    (void)out;
    *out_n = 0;
    return OK;
}

/* Nodes: one process, nothing to share. */

enum err store_node_start(struct tx *tx, const char *public_url)
{
    (void)tx;
    (void)public_url;
    return OK;
}

enum err store_node_renew(struct tx *tx)
{
    (void)tx;
    return OK;
}

enum err store_node_others(struct tx *tx, struct node_sight out[NODES_SEEN_MAX], size_t *out_n)
{
    (void)tx, (void)out;
    *out_n = 0;
    return OK;
}

void store_node_fence(struct tx *tx, const struct node_sight *seen)
{
    (void)tx, (void)seen;
}

enum err store_node_stop(struct tx *tx)
{
    (void)tx;
    return OK;
}

enum err store_command_ask(struct tx *tx, enum command_kind kind, const char *call_id,
                           const char *text, int64_t *out_id)
{
    (void)tx;
    (void)kind;
    (void)call_id;
    (void)text;
    (void)out_id;
    return ERR_NOT_FOUND;
}

enum err store_command_take(struct tx *tx, unsigned limit, struct command **out, size_t *out_n)
{
    (void)tx;
    (void)limit;
    (void)out;
    *out_n = 0;
    return OK;
}

enum err store_command_answer(struct tx *tx, int64_t id, enum err result)
{
    (void)tx;
    (void)id;
    (void)result;
    return OK;
}

enum err store_command_answers(struct tx *tx, int64_t from_id, struct command_answer_list *out)
{
    (void)tx;
    (void)from_id;
    *out = (struct command_answer_list){0};
    return OK;
}
