/* See funds.h. Thread: inside a job. */
#include "store/funds.h"

#include <string.h>

#include "model/agent.h"
#include "store/call_row.h"
#include "store/columns.h"
#include "store/internal.h"
#include "store/ledger.h"

enum { UNSEEN_MAX_MS = 10000 }; /* contract, Balance of running calls: the longest pause */

int64_t funds_used_ms(const struct tx *tx, int64_t seen_ms, int64_t seen_at_ms)
{
    int64_t since_ms = tx->now_ms - seen_at_ms;
    return seen_ms + MIN(MAX(since_ms, (int64_t)0), (int64_t)UNSEEN_MAX_MS);
}

struct running_call {
    const char *id, *agent_id, *owner;
    enum call_source source;
    int64_t rate_usd4, cost_usd4, seen_ms, seen_at_ms, owner_epoch;
};
struct running_call_list LIST_OF(struct running_call);

static const struct field running_rows[] = {
    COLUMN_TEXT(struct running_call, id, "id"),
    COLUMN_TEXT(struct running_call, agent_id, "agent_id"),
    COLUMN_TEXT(struct running_call, owner, "owner"),
    COLUMN_WORD(struct running_call, source, "source", enum call_source, call_source_names),
    COLUMN_NUMBER(struct running_call, rate_usd4, "rate_usd4"),
    COLUMN_NUMBER(struct running_call, cost_usd4, "cost_usd4"),
    COLUMN_NUMBER(struct running_call, seen_ms, "seen_ms"),
    COLUMN_NUMBER(struct running_call, seen_at_ms, "seen_at_ms"),
    COLUMN_NUMBER(struct running_call, owner_epoch, "owner_epoch"),
};
static FIELD_TABLE(running_table, struct running_call, "calls", running_rows);

static void add_use(struct tx *tx, const struct running_call *call, struct funds *out)
{
    *GROW(out, tx->arena) = (struct funds_use){
        .call_id = call->id,
        .agent_id = call->agent_id,
        .is_embed = call->source == CALL_SOURCE_EMBED,
        .use = {.rate_usd4 = call->rate_usd4,
                .used_ms = funds_used_ms(tx, call->seen_ms, call->seen_at_ms),
                .taken_usd4 = call->cost_usd4},
    };
    out->has_foreign |= strcmp(call->owner, tx->store->node) != 0 ||
                        call->owner_epoch != atomic_load(&tx->store->epoch);
}

/* whose: "workspace_id = ?" or the like, with one value. */
static enum err read_running(struct tx *tx, const char *whose, const char *value, struct funds *out)
{
    const char *rest = arena_printf(
        tx->arena, "FROM calls WHERE %s AND status <> 'ended' AND user_joined_ms > 0", whose);
    struct running_call_list calls = {0};
    enum err err = columns_list(tx, &running_table, columns_select(tx, &running_table, NULL, rest),
                                VALUES(TEXT(value)), &calls);
    for (size_t i = 0; i < calls.count; i++)
        add_use(tx, &calls.items[i], out);
    return err;
}

enum err funds_read(struct tx *tx, const char *workspace_id, int64_t balance_usd4,
                    struct funds *out)
{
    *out = (struct funds){.balance_usd4 = balance_usd4};
    return read_running(tx, "workspace_id = ?", workspace_id, out);
}

/* What was taken on the day, and what its running calls have used beyond that. */
enum err store_embed_spent(struct tx *tx, const char *agent_id, int64_t *out_usd4)
{
    struct funds funds = {0};
    int64_t spent_usd4 = ledger_embed_noted(tx, agent_id);
    enum err err = read_running(tx, "agent_id = ? AND source = 'embed'", agent_id, &funds);
    if (err)
        return err;
    for (size_t i = 0; i < funds.count; i++) {
        const struct money_use *use = &funds.items[i].use;
        int64_t cost_usd4 = money_cost_usd4(use->rate_usd4, use->used_ms / 1000);
        spent_usd4 += MAX(cost_usd4 - use->taken_usd4, 0);
    }
    *out_usd4 = spent_usd4;
    return OK;
}

/* agent_id: only its embed calls; NULL: all. */
static int64_t left_ms(struct tx *tx, const struct funds *funds, int64_t usd4, const char *agent_id)
{
    struct money_use *uses = arena_new_n(tx->arena, struct money_use, funds->count + 1);
    size_t count = 0;
    for (size_t i = 0; i < funds->count; i++) {
        const struct funds_use *item = &funds->items[i];
        if (!agent_id || (item->is_embed && strcmp(item->agent_id, agent_id) == 0))
            uses[count++] = item->use;
    }
    return money_left_ms(usd4, uses, count);
}

/* The limit as it is saved now; what the call began with when its agent has gone. */
static int64_t day_limit_usd4(struct tx *tx, const char *agent_id, int64_t fallback_usd4)
{
    AUTO(cursor) row = QUERY(tx, "SELECT settings FROM agents WHERE id = ?", TEXT(agent_id));
    if (!cursor_next(row))
        return fallback_usd4;
    size_t len;
    const char *settings = cursor_peek(row, 0, &len);
    struct agent_limits limits;
    if (field_read(&agent_limits_table, &limits, settings, len, tx->master_key, tx->arena))
        return fallback_usd4;
    return limits.embed.daily_spend_limit_usd4;
}

/* At midnight a new day's limit begins. */
static int64_t embed_left_ms(struct tx *tx, const struct funds *funds, const char *agent_id,
                             int64_t limit_usd4)
{
    int64_t today_usd4 = limit_usd4 - ledger_embed_noted(tx, agent_id);
    int64_t today_ms = MAX(left_ms(tx, funds, today_usd4, agent_id), (int64_t)0);
    int64_t midnight_ms = LEDGER_DAY_MS - tx->now_ms % LEDGER_DAY_MS;
    if (today_ms < midnight_ms || today_ms == MONEY_NEVER_MS)
        return today_ms;
    struct money_use all = {0};
    for (size_t i = 0; i < funds->count; i++)
        if (funds->items[i].is_embed && strcmp(funds->items[i].agent_id, agent_id) == 0)
            all.rate_usd4 += funds->items[i].use.rate_usd4;
    return midnight_ms + MAX(money_left_ms(limit_usd4, &all, 1), (int64_t)0);
}

/* How much of a call, up to now, it has not paid for. */
static int64_t unpaid_ms(const struct funds *funds, const char *call_id)
{
    for (size_t i = 0; i < funds->count; i++) {
        const struct money_use *use = &funds->items[i].use;
        if (strcmp(funds->items[i].call_id, call_id) == 0 && use->rate_usd4 > 0)
            return MAX(use->used_ms - use->taken_usd4 * MONEY_SCALE / use->rate_usd4, (int64_t)0);
    }
    return 0;
}

int64_t funds_exhausted_us(struct tx *tx, struct funds *funds, const struct call_row *call,
                           int64_t embed_limit_usd4)
{
    if (!funds->has_all)
        funds->all_ms = left_ms(tx, funds, funds->balance_usd4, NULL);
    funds->has_all = true;
    int64_t ms = MAX(funds->all_ms, -unpaid_ms(funds, call->id));
    if (call->source == CALL_SOURCE_EMBED) {
        if (!funds->embed_agent || strcmp(funds->embed_agent, call->agent_id) != 0) {
            funds->embed_agent = call->agent_id;
            funds->embed_ms = embed_left_ms(tx, funds, call->agent_id,
                                            day_limit_usd4(tx, call->agent_id, embed_limit_usd4));
        }
        ms = MIN(ms, funds->embed_ms);
    }
    return ms >= MONEY_NEVER_MS ? MONEY_NEVER_US : tx->begun_us + ms * 1000;
}
