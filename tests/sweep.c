#include "sweep.h"

#include <stdatomic.h>
#include <stdio.h>

#include "test.h"

enum { RUNS_MAX = 5000 }; /* more outside calls than any case has: it does not end by itself */

static struct {
    atomic_bool is_on, is_lasting;
    atomic_int pauses;
    atomic_uint nth;
    atomic_uint seen;
    const char *_Atomic failed;
    int failures_before;
} sweep;

static void begin_run(unsigned nth)
{
    sweep.nth = nth;
    atomic_store(&sweep.seen, 0);
    atomic_store(&sweep.failed, NULL);
    sweep.failures_before = test_failures();
}

static bool end_sweep(void)
{
    sweep.is_on = false;
    atomic_store(&sweep.pauses, 0);
    return false;
}

bool sweep_next(struct sweep_run *run, bool is_lasting)
{
    if (run->nth > 0) {
        bool has_failed_check = test_failures() > sweep.failures_before;
        if (has_failed_check || !sweep_failed())
            return end_sweep();
    }
    if (++run->nth > RUNS_MAX) {
        test_fail(__FILE__, __LINE__, "a sweep of %d runs has still something to fail", RUNS_MAX);
        return end_sweep();
    }
    sweep.is_lasting = is_lasting;
    begin_run(run->nth);
    sweep.is_on = true;
    return true;
}

bool sweep_fails(const char *what)
{
    if (!sweep.is_on || atomic_load(&sweep.pauses) > 0)
        return false;
    unsigned at = atomic_fetch_add(&sweep.seen, 1) + 1;
    bool fails = sweep.is_lasting ? at >= sweep.nth : at == sweep.nth;
    if (fails && !atomic_load(&sweep.failed))
        atomic_store(&sweep.failed, what);
    return fails;
}

const char *sweep_failed(void)
{
    return sweep.is_on ? atomic_load(&sweep.failed) : NULL;
}

void sweep_pause(void)
{
    atomic_fetch_add(&sweep.pauses, 1);
}

void sweep_resume(void)
{
    atomic_fetch_sub(&sweep.pauses, 1);
}

const char *sweep_where(void)
{
    static char where[100];
    if (!sweep.is_on)
        return "";
    snprintf(where, sizeof(where), "run %u: %s: ", sweep.nth,
             sweep_failed() ? sweep_failed() : "nothing has failed");
    return where;
}
