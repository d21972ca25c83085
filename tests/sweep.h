/* The fault sweep: a case is repeated with its 1st, 2nd, 3rd ... outside call failing, until a run
 * has no call left to fail. What must hold is checked in every run; whether the case may be refused
 * depends on sweep_failed().
 *
 *     SWEEP(run)
 *     {
 *         enum err err = save(store);
 *         CHECK(!err || sweep_failed());
 *         CHECK_INT(count(store), err ? 0 : 1);
 *     }
 *
 * An outside call is what a double or a hook asks sweep_fails() about: a statement, a connection, a
 * packet, a job of a scripted store (tests/fake/outside.h does so for the libraries' own calls).
 * SWEEP_LASTING: from the nth on, all fail. A failed CHECK ends the sweep and names the run. The
 * body may `continue` and `break`, the latter ends the sweep. Thread: sweep_fails() any, the rest
 * the test's. */
#pragma once

#include <stdbool.h>

struct sweep_run {
    unsigned nth; /* this run's outside call that fails, from 1 */
};

#define SWEEP(run)         for (struct sweep_run run = {0}; sweep_next(&run, false);)
#define SWEEP_LASTING(run) for (struct sweep_run run = {0}; sweep_next(&run, true);)

/* Asked before each outside call: true when this one is to fail. what: names it, a literal. */
bool sweep_fails(const char *what);

/* What has failed in this run so far; NULL: nothing yet. */
const char *sweep_failed(void);

/* Outside calls from here on do not count and do not fail (until the matching sweep_resume()): for
 * the set-up of a run, and for looking at what it left. */
void sweep_pause(void);
void sweep_resume(void);

bool sweep_next(struct sweep_run *run, bool is_lasting);
/* "run 7: job" while one is under way; else empty. */
const char *sweep_where(void);
