/* A recogniser of one call: PocketSphinx with a language model and a dictionary made of the agent's
 * own words. 16 kHz samples in; partial and final words out as frames. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct hearing;
struct link;

/* vocabulary: text in the agent's words. ERR_INTERNAL: the acoustic model is not there. */
enum err hearing_new(struct link *link, uint32_t id, const char *vocabulary, struct hearing **out,
                     struct fault *fault) MUST_USE;
void hearing_free(struct hearing *hearing);
/* Samples of any alignment. An utterance begins with the first push after a flush. */
void hearing_push(struct hearing *hearing, const void *samples, size_t count);
void hearing_flush(struct hearing *hearing, uint32_t gen);
