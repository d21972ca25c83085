/* A document cut into what is searched and spoken: sections of a few sentences under their
 * headings, and cards where the document itself asks and answers.
 *
 *   Parking                      heading: a topic, first line of the sections below it
 *   Guests park free. ...        section, some 400 characters, cut between sentences
 *   Room    | Price              row of a table: a line with its header in it:
 *   Deluxe  | 4,500                  "Room: Deluxe; Price: 4,500"
 *   Q: May I bring a dog?        card: question
 *   A: Yes, on the terrace.            and answer
 *   How do I cancel? (heading)   card: question, and the text below it as the answer
 *   Check-in: from 3 pm          among lines alike, a card: "Check-in", and the line as the answer
 *
 * Thread: any. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"
#include "model/field.h"
#include "store/document.h"

struct block_list;

struct passages {
    struct passage *items;
    size_t count;
    struct text_list topics; /* headings, at most 30 */
};

/* Texts in the arena. ERR_INVALID: there is nothing in it to read. is_unwanted: NULL, or what
 * another thread sets when nobody waits for the passages any more; then it ends soon, with
 * ERR_CLOSED. */
enum err passages_of(const struct block_list *blocks, const _Atomic bool *is_unwanted,
                     struct arena *arena, struct passages *out) MUST_USE;
/* Of a plain text (extract/plain.h). ERR_LIMIT: it is longer than a document may be. */
enum err passages_cut(const char *text, const _Atomic bool *is_unwanted, struct arena *arena,
                      struct passages *out) MUST_USE;
