/* Records that do not read. A list of a workspace goes on without them; each becomes a dead letter
 * (store/dead_letter.h), which the operator is told of, once in the life of the process. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "store/dead_letter.h"

struct loop;
struct request;
struct spoilt;
struct store;

struct spoilt *spoilt_new(struct loop *control, struct store *store);
void spoilt_free(struct spoilt *spoilt); /* spoilt_is_idle() */
bool spoilt_is_idle(const struct spoilt *spoilt);

/* Inside a job that reads: reading record `id` has failed with err. true: the record itself is
 * spoilt; it is set aside, and the list may go on. false: another fault. */
bool spoilt_skip(struct request *request, enum err err, enum dead_letter_kind kind, const char *id);
/* The same for what the store has left out of a list itself. */
void spoilt_note(struct request *request, enum dead_letter_kind kind, const char *id);
