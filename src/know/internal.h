/* A search on its way: the words that are asked about, where they were found, and what is weighed.
 * For question.c, search.c and weigh.c. Thread: a store thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"
#include "know/concepts.h"
#include "store/word_index.h"

enum {
    ASKED_MAX = 20,   /* words of a question that are looked up */
    FOUND_MAX = 4096, /* words of the vocabulary that stand for the asked ones */
};

enum match_kind { MATCH_SAME, MATCH_SOUND, MATCH_GROUP };

/* A word of the vocabulary that stands for an asked one. */
struct match {
    int64_t word;
    double worth; /* 1: the word itself */
    enum match_kind kind;
    unsigned asked;
    struct word_rows rows; /* where it stands */
};

struct asked {
    const char *folded, *stem;
    bool is_number, is_weak, is_known; /* known: it stands somewhere in the documents */
    bool is_context;                   /* it only says why it is asked */
    double alike;                      /* likeness of the word that sounds most like it, */
    const char *like;                  /* which is this one; NULL: none */
    double weight;                     /* 1: in none or few passages */
    enum answer_type answers;          /* "price": asks for the kind of answer, too */
};

struct search {
    struct arena *arena;
    struct word_scope *scope;
    struct asked asked[ASKED_MAX];
    size_t count;
    struct match *matches; /* by asked word, the worthiest first */
    size_t match_count;
    bool wants[ANSWER_TYPES];            /* kinds of answer */
    bool is_english;                     /* its small words are */
    bool is_only_kind;                   /* nothing else is asked: "what are your prices" */
    int64_t *answer_words[ANSWER_TYPES]; /* words that make a passage one of that kind, ascending */
    size_t answer_counts[ANSWER_TYPES];
    size_t rows_read;
    struct match_table *table;
    bool *documents_have; /* [asked * documents + document] */
    double *titles;       /* [asked * documents + document]: worth of the match there */
    size_t document_count;
};

/* question.c */

/* What is asked about, and which words of the vocabulary stand for it. */
void question_read(struct search *search, const char *question);

/* context.c */

struct term_list;
/* Tells which words of a question only say why it is asked. */
void context_note(const char *question, struct term_list *terms);
/* The term is a number of years: "six years old". */
bool context_is_age(const struct term_list *terms, size_t at);

/* search.c, know.c: for indexing.c, and for fitting the weights (tests/knowledge) */

struct weighed;
struct know;
struct search_meaning;

/* What is weighed for a question, the likeliest first. meaning: see search.h. */
enum err search_weigh(struct word_scope *scope, const char *question,
                      const struct search_meaning *meaning, struct arena *arena,
                      struct weighed **out, size_t *out_count) MUST_USE;
struct word_index *know_index(struct know *know);
/* It lives until each hold is released. Any thread. */
void know_hold(struct know *know);
void know_release(struct know *know);

/* weigh.c */

enum sign {
    SIGN_ONE, /* always 1 */
    SIGN_SHARE,
    SIGN_SHARE_SAME,
    SIGN_MISSES,
    SIGN_UNKNOWN,
    SIGN_LEAD,
    SIGN_LEAD_FILLED,
    SIGN_DOCUMENT,
    SIGN_NEAR,
    SIGN_KIND,
    SIGN_NO_KIND,
    SIGN_NUMBER,
    SIGN_NO_NUMBER,
    SIGN_GROUPS,
    SIGN_SOUNDS,
    SIGN_COMPLETE,
    SIGN_LEAD_COMPLETE,
    SIGN_MISSING,
    SIGN_BEHIND,
    SIGN_ONLY_KIND,
    SIGN_SHARE_KIND,
    SIGN_TITLE,
    SIGN_SHARE_SQUARED,
    SIGNS
};

struct weighed {
    uint32_t row;
    double signs[SIGNS];
    double similarity;
    struct word_passage passage;
};

/* Which asked words a word of the vocabulary stands for. After question_read(). */
void weigh_begin(struct search *search);
/* fn: for each match of a word. */
typedef void match_fn(void *arg, const struct match *match);
void weigh_matches(const struct search *search, int64_t word, match_fn *fn, void *arg);
/* Fills the signs and similarities of so many passages, whose texts are loaded. */
void weigh_all(const struct search *search, struct weighed *items, size_t count);
