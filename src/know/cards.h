/* Cards by a language model: sections go to it in batches, numbered; it answers with one card a
 * line, which names its section. A card stands only if its section holds what its answer says.
 *
 *   sections --batch of CARDS_SECTIONS--> model --{"s":2,"q":"...","a":"..."}--> supported?
 *                                                                           card <--yes--'
 *
 * What the model is given is a stranger's text, and may try to talk it into anything: all that can
 * come of it is a card whose words stand in that text. Thread: its loop; cards_*() any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/buf.h"
#include "store/document.h"

struct arena;
struct engine;
struct loop;
struct passages;

enum {
    CARDS_SECTIONS = 6, /* in one request */
    CARDS_BATCHES = 50, /* of a document: what comes after them has the cards of the rules */
    CARDS_PER_BATCH = 18,
};

/* Are the answer's content words and all its numbers in the section, and does it deny nothing that
 * the section does not? */
bool cards_is_supported(const char *answer, const struct passage *section);
/* One line of what the model says; false: it is no card, or not supported. Texts in the arena. */
bool cards_read_line(const char *line, const struct passage *const *sections, size_t count,
                     struct arena *arena, struct passage *out);
/* What it is asked. */
void cards_ask(const struct passage *const *sections, size_t count, struct buf *out);

struct card_writer;

struct card_writer_spec {
    const struct engine *engine; /* of kind LLM */
    struct loop *loop;
    const char *workspace_id;
    struct arena *arena;
    struct passages *passages; /* cards are added at the end; its owner's, until on_done */
    void (*on_progress)(void *arg, size_t done, size_t sections);
    void (*on_done)(void *arg); /* once, from the loop; then card_writer_close() */
    void *arg;
};
struct card_writer *card_writer_open(const struct card_writer_spec *spec);
void card_writer_close(struct card_writer *writer); /* on_done comes no more */
