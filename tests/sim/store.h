/* The store of a simulated service: jobs run after a scripted delay on the loop that asked, the
 * tables are a few structs, and every event is a line "<ms> <type> <detail>" with the time of its
 * commit. Money is reckoned exactly, as store/ does. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/ids.h"
#include "model/call.h"

enum { SIM_CALLS = 64 };

struct sim_row {
    char id[ID_SIZE];
    enum call_status status;
    enum end_reason reason;
    int64_t rate_usd4, duration_s, cost_usd4;
    int64_t joined_us; /* 0: not yet */
    int64_t joined_wall_ms, ended_wall_ms, billed_ms;
    bool is_embed;
    int64_t checkpoint_us, longest_gap_us; /* between two durable moments of a billed call */
    int turns;
    int64_t records; /* number of the last one of its journal */
    double voice_to_voice_p50;
    struct reply_times reply_times;
    int interruptions, false_interruptions;
};

struct sim_store {
    struct sim_row rows[SIM_CALLS];
    size_t count;
    int64_t balance_usd4;   /* what no ended call has taken yet */
    int64_t day_limit_usd4; /* of all embed calls */
    int64_t delay_us;
    int failures;              /* so many jobs fail as if the database were away; -1: all */
    enum err fault;            /* with what; OK: ERR_IO */
    bool is_done_all_the_same; /* a job that fails has been done: only its answer is lost */
    bool is_frozen;            /* jobs wait until this is false again */
    int64_t away_until_us;     /* all jobs fail until then */
    bool is_refusing;          /* a job that fails is not even taken */
    int fail_at, fail_width;   /* the job that is the first to fail (0: none), and how many do */
    const char *poison;        /* a turn with this in it can never be written */
    enum err start_refusal;    /* of what tells of a call's start */
    const char *stubborn;      /* one with this fails each time as if the database were away */
    int set_aside;             /* dead letters */
    bool is_fenced;            /* another node has ended our calls */
    struct buf events;
    int jobs, commits;
};
extern struct sim_store sim_store;

void sim_store_begin(int64_t balance_usd4);
void sim_store_insert(const char *call_id, int64_t rate_usd4, bool is_embed);
void sim_store_credit(int64_t usd4);    /* from outside; the service is told */
void sim_store_set_limit(int64_t usd4); /* the day's, of embed calls; the same */
struct sim_row *sim_store_row(const char *call_id);
bool sim_told(const char *part); /* is it in the events? */
int sim_told_count(const char *part);
bool sim_told_in_order(const char *const *parts, size_t count);
int64_t sim_told_ms(const char *part); /* when first; -1: never */
