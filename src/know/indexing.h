/* Keeps the word index up with the database, in the background: what this node has read, and within
 * a second what another one has. Thread: its loop. */
#pragma once

#include "know/know.h"

struct indexing;

struct indexing *indexing_open(struct know *know, const struct know_config *config);
/* What is under way is finished. */
void indexing_close(struct indexing *indexing);
