/* Does a text look as if its speaker goes on, or as if that was all? By its last words
 * (clauses.def): a conjunction, an article or a preposition; a number that is being dictated digit
 * by digit; a name that is being spelled. Else by its mark, its form of a question, thanks.
 * English, Hindi (also in Latin letters and mixed with English) and the large European languages;
 * of any other only the marks and thanks are known. Thread: any. */
#pragma once

enum {
    CLAUSE_DIGITS_WHOLE = 10, /* so many dictated digits may be a whole telephone number */
    CLAUSE_DIGITS_LONG = 5,   /* so many in one group are no price, year or time */
    CLAUSE_STOPPED_WORDS = 3, /* fewer before a full stop may be its beginning: "Yes." "Well." */
    CLAUSE_FORMED_WORDS = 4,  /* fewer have no form to go by: "can you", "mera naam hai" */
};

/* What a recogniser wrote after the words. */
enum clause_mark { CLAUSE_NO_MARK, CLAUSE_STOP, CLAUSE_QUESTION };

enum clause {
    CLAUSE_WHOLE,    /* nothing speaks for more, or against it */
    CLAUSE_OPEN,     /* "I want tea and" */
    CLAUSE_DICTATED, /* "nine eight seven", "s m i" */
    CLAUSE_SAID,     /* a sentence to its end: "We will be four people." "kal shaam ko diya tha" */
    CLAUSE_ASKED,    /* it is for the other to speak: "What does it cost?" "Thank you." */
};

enum clause_mark clause_mark(const char *text);
/* mark: recognisers put full stops in where a caller pauses, so few words are open before one. */
enum clause clause_end(const char *text, const char *iso, enum clause_mark mark);
