/* What time and money allow a call: nobody comes, the longest it may last, a caller who stays lost,
 * money that is out. Decides only; call.c carries out. Times are the loop's. Thread: the call's
 * loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct presence;

enum {
    LIMITS_LOST_US = 20 * 1000 * 1000,      /* contract, Caller leaves */
    LIMITS_JOIN_GRACE_US = 3 * 1000 * 1000, /* a join that begins as the token ends is let in */
    LIMITS_CONFIRM_US = 10 * 1000 * 1000,   /* for the database to say that the money is out */
};
#define LIMITS_MAX_US (INT64_C(24) * 3600 * 1000 * 1000) /* from its creation, whatever is set */

struct limits {
    int64_t begun_us;
    int64_t join_until_us; /* the end of the caller's token */
    int64_t most_us;       /* of a caller's stay, as the call has it; 0: its own limit is none */
    int64_t exhausted_us;  /* when its money is out; MONEY_NEVER_US */
    int64_t confirming_us; /* since when a checkpoint is to tell that it is; 0: not */
    bool is_journal_full;  /* more waits to be written than may: it ends */
};

enum limit {
    LIMIT_NONE,
    LIMIT_JOURNAL,   /* too much waits to be written */
    LIMIT_NO_CALLER, /* nobody came while the token was good */
    LIMIT_DURATION,  /* it has lasted as long as it may */
    LIMIT_LOST,      /* the caller was lost and has not come back */
    LIMIT_CONFIRM, /* its money seems to be out: a checkpoint tells, since a credit may have come */
    LIMIT_MONEY,   /* its money is out */
};

/* What is over now, the first of the above; out_at_us: since when, for LIMIT_DURATION and
 * LIMIT_MONEY. After LIMIT_CONFIRM the question is noted as asked. */
enum limit limits_look(struct limits *limits, const struct presence *presence, int64_t now_us,
                       int64_t *out_at_us);
int64_t limits_due_us(const struct limits *limits, const struct presence *presence);
/* A checkpoint has told. */
void limits_told(struct limits *limits, int64_t exhausted_us);
/* Up to when the caller is to be billed as things stand. */
int64_t limits_billed_to_us(const struct limits *limits, const struct presence *presence,
                            int64_t now_us);
