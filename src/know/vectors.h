/* Makes the vectors of passages (store/vector.h), in the background and by turns of workspaces,
 * once a document is ready and anew when the model is another one. A model that is away, slow or
 * wrong costs vectors and nothing else: documents are ready and found without. Thread: its loop. */
#pragma once

#include "know/know.h"

struct vectors;

/* NULL: no engine of vectors is configured. */
struct vectors *vectors_open(const struct know_config *config);
/* What is under way in the store is finished. */
void vectors_close(struct vectors *vectors);
