/* A real engine of vectors for the labelled questions: the server that KNOWLEDGE_EMBEDDINGS names
 * (README.md), asked as the service asks one. Thread: the test's, unless said otherwise. */
#pragma once

#include "know/know.h"

struct embedder;
struct engine;
struct fix;
struct loop;

/* On a loop that does not run yet. NULL: KNOWLEDGE_EMBEDDINGS is not set. */
struct embedder *embedder_open(struct loop *loop);
void embedder_close(struct embedder *embedder); /* after know_close(), before loop_free() */
const struct engine *embedder_engine(const struct embedder *embedder); /* NULL of NULL */

/* Until so many documents have their vectors. */
void embedder_await(struct fix *fix, size_t documents);
/* The vector of a question, however long it takes, in the fix's arena. */
struct know_vector embedder_mean(struct know *know, struct loop *loop, struct fix *fix,
                                 const char *query);
