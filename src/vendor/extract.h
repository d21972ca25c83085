/* Picks the sentences of passages that answer what was said: for a model that writes nothing of its
 * own. Sans-I/O. Thread: any. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "engine/llm.h"

enum {
    EXTRACT_MAX_BYTES = 420, /* of an answer: what one listens to without a pause */
    EXTRACT_SENTENCES_MAX = 2,
};

/* Appends one or two sentences; nothing when no passage holds an answer. false: nothing, for the
 * words that would tell were not heard for sure (request->unsure). */
bool extract_answer(const struct llm_request *request, const char *said, struct buf *out);
/* Appends the first sentences of a text. */
void extract_shorten(const char *text, struct buf *out);
