/* A text cut into what is searched and spoken: sections of a few sentences under their headings,
 * and cards where the text itself asks and answers.
 *
 *   Parking                      heading: a topic, first line of the sections below it
 *   Guests park free. ...        section, some 400 characters, cut between sentences
 *   Q: May I bring a dog?        card: question
 *   A: Yes, on the terrace.            and answer
 *
 * Thread: any. */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"
#include "model/field.h"
#include "store/document.h"

struct passages {
    struct passage *items;
    size_t count;
    struct text_list topics; /* headings, at most 30 */
};

/* Texts in the arena. ERR_INVALID: there is nothing in it to read. */
enum err passages_cut(const char *text, struct arena *arena, struct passages *out) MUST_USE;
