/* The vectors of questions: asked of the engine, waited for shortly, and kept for the next time.
 * Thread: its loop. */
#pragma once

#include "know/know.h"

struct meaning;

/* NULL: no engine of vectors is configured. */
struct meaning *meaning_open(const struct know_config *config);
/* Those that still wait are told that nobody knows. */
void meaning_close(struct meaning *meaning);
/* See know_mean(). */
void meaning_ask(struct meaning *meaning, const char *workspace_id, const char *query,
                 know_meant_fn *fn, void *arg);

/* The name by which vectors are told apart, to be freed: the engine's and its model's. */
char *meaning_model(const struct engine *engine);
