/* Ranking: which passages answer a question, and how surely. Each word that is asked about weighs
 * by how rare it is in the documents; a passage has it as it stands (1), as another word for the
 * same thing, or as a similar one. similarity is the share of the weights that a passage has, so
 * that it can be compared between questions. Thread: a store thread. */
#pragma once

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"

struct hit_list;
struct word_scope;

/* Fills hits (document names left "") best first; texts in the arena. */
enum err search_scope(struct word_scope *scope, const char *question, unsigned limit,
                      struct arena *arena, struct hit_list *out) MUST_USE;
