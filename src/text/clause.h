/* Does a text look as if its speaker goes on? By its last words (clauses.def): a conjunction, an
 * article or a preposition; a number that is being dictated digit by digit; a name that is being
 * spelled. English, Hindi (also in Latin letters and mixed with English) and the large European
 * languages; of any other nothing is known. Thread: any. */
#pragma once

#include <stdbool.h>

enum {
    CLAUSE_DIGITS_WHOLE = 10, /* so many dictated digits may be a whole telephone number */
    CLAUSE_DIGITS_LONG = 5,   /* so many in one group are no price, year or time */
};

enum clause {
    CLAUSE_WHOLE,
    CLAUSE_OPEN,     /* "I want tea and" */
    CLAUSE_DICTATED, /* "nine eight seven", "s m i" */
};

/* is_stopped: a full stop or question mark follows it. Recognisers put them in where a caller
 * pauses, so few words are open before one. */
enum clause clause_end(const char *text, const char *iso, bool is_stopped);
