/* A language model for what callers of one agent say: a trigram (ARPA, Witten-Bell) over the
 * agent's own text, common things that callers say, and questions made of the text's words; and the
 * dictionary of those words. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

/* The two texts; ERR_LIMIT: too large. */
enum err model_write(const char *vocabulary, struct buf *arpa, struct buf *dictionary) MUST_USE;
/* "nine a m" -> "nine a m": takes the recogniser's marks out of its words. */
void model_readable(const char *words, struct buf *out);
