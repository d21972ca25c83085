/* When the money of running calls will be out: the balance that a workspace's calls share, and what
 * an agent's embed calls may spend on a day. Read inside the transaction that changed something of
 * it, with the workspace's row locked. Thread: inside a job. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "store/money.h"

struct call_row;
struct tx;

struct funds_use {
    const char *call_id, *agent_id;
    bool is_embed;
    struct money_use use;
};
struct funds {
    struct funds_use *items; /* the running calls that somebody has joined */
    size_t count;
    int64_t balance_usd4;
    bool has_foreign; /* another process owns some of them */
    /* What was reckoned already: for all, and for the embed calls of one agent. */
    bool has_all;
    int64_t all_ms, embed_ms;
    const char *embed_agent;
};

enum err funds_read(struct tx *tx, const char *workspace_id, int64_t balance_usd4,
                    struct funds *out) MUST_USE;
/* What embed calls of an agent cost on the UTC day of now, running ones included. */
enum err store_embed_spent(struct tx *tx, const char *agent_id, int64_t *out_usd4) MUST_USE;
/* When this call's money is out, on the monotonic clock of this process; MONEY_NEVER_US. The moment
 * at which the balance was out may have passed: calls that share it are told the same, however late
 * they ask, but none is told one before what it has paid for. A day's limit is out now at the
 * earliest. embed_limit_usd4: a day's, of an embed call whose agent has gone. */
int64_t funds_exhausted_us(struct tx *tx, struct funds *funds, const struct call_row *call,
                           int64_t embed_limit_usd4);
/* How long a call has lasted by now, as its owner last said (seen_ms, at seen_at_ms of the
 * database's clock). A step of that clock counts for no more than the pause between two reports
 * may be. */
int64_t funds_used_ms(const struct tx *tx, int64_t seen_ms, int64_t seen_at_ms);
