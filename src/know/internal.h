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

/* What tells how decisive a word is: a noun that is missing costs more than a verb. */
enum trait {
    TRAIT_ANY,
    TRAIT_DETERMINED, /* after "the", "my" */
    TRAIT_ACTED,      /* after "I", "can" */
    TRAIT_PREPOSED,   /* after "of", "with" */
    TRAIT_OWNING,     /* before "of", "ka", "की" */
    TRAIT_CASED,      /* before "mein", "को" */
    TRAIT_LAST,
    TRAIT_FIRST,
    TRAIT_COMPOUND, /* after a word that is asked, too */
    TRAIT_FOCUS,    /* soon after "what", "how much" */
    TRAIT_COMMON,
    TRAIT_GROUPED,
    TRAIT_NEW,      /* stands nowhere in the documents */
    TRAIT_MISSPELT, /* stands nowhere, but a word like it does */
    TRAIT_LONG,
    TRAIT_NUMBER,
    TRAITS
};

struct asked {
    unsigned traits; /* a bit each */
    size_t term;     /* its place in the question */
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
    size_t terms; /* words of the question, all of them */
    bool is_latin;
};

/* question.c */

/* What is asked about, and which words of the vocabulary stand for it. */
void question_read(struct search *search, const char *question);

/* context.c */

struct term_list;
/* Tells which words of a question only say why it is asked. */
void context_note(const char *question, struct term_list *terms);
/* Traits that a word has by the words beside it. */
unsigned context_traits(const struct term_list *terms, size_t at);
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

/* What is known of a passage, and of the question it may answer. Shares are of the asked words by
 * their weights, unless something else is said. */
enum sign {
    /* of the passage */
    SIGN_SHARE,       /* of what is asked, that stands here */
    SIGN_SAME,        /* the word itself */
    SIGN_SOUND,       /* a word that sounds like it */
    SIGN_GROUP,       /* a word of its group */
    SIGN_FOUND,       /* the sum, not the share */
    SIGN_MISS,        /* weight of the word that is missed most, */
    SIGN_MISS_SECOND, /* and next */
    SIGN_MISSING,     /* the sum of those that count */
    SIGN_ELSEWHERE,   /* missing here, but in the document */
    SIGN_ABROAD,      /* missing in the document, but in another */
    SIGN_LEAD,        /* in the heading */
    SIGN_LEAD_FILLED, /* share of the heading that is asked */
    SIGN_LEAD_WORDS,
    SIGN_TITLE,    /* of the document's title */
    SIGN_DOCUMENT, /* in the document */
    SIGN_NEAR,     /* beside another asked word */
    SIGN_WINDOW,   /* within a few words */
    SIGN_PAIRS,    /* words that follow one another in the question, and here */
    SIGN_KIND,     /* of the kinds of answer */
    SIGN_KIND_NEAR,
    SIGN_NO_KIND,
    SIGN_NUMBER,
    SIGN_NO_NUMBER,
    SIGN_COMPLETE,
    SIGN_LEAD_COMPLETE,
    SIGN_LENGTH,
    SIGN_IS_CARD,
    SIGN_OTHER_SCRIPT,
    SIGN_MISS_TRAIT, /* of words with a trait: TRAITS of them */
    SIGN_FOUND_TRAIT = SIGN_MISS_TRAIT + TRAITS,
    /* beside the other passages */
    SIGN_BEHIND = SIGN_FOUND_TRAIT + TRAITS, /* of the largest share */
    SIGN_BEFORE_OTHERS,                      /* before the largest share in other documents */
    SIGN_DOCUMENT_BEFORE, /* this document's share before the best of the others */
    SIGN_ALIKE,           /* passages with about as large a share */
    /* of the question */
    SIGN_ASKED,  /* words that count */
    SIGN_WEIGHT, /* sum */
    SIGN_TERMS,  /* its words, all of them */
    SIGN_UNKNOWN,
    SIGN_UNKNOWN_MOST, /* weight of one */
    SIGN_ONLY_KIND,
    SIGN_ENGLISH,
    SIGN_LATIN,
    /* together */
    SIGN_GROUPS_PART, /* of what is found */
    SIGN_SOUNDS_PART,
    SIGN_SHARE_KIND,
    SIGN_SHARE_SQUARED,
    SIGN_SHARE_ASKED,
    SIGN_SHARE_ALIKE,
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

/* decide.c */

/* From the signs, 0 to 1; half: as likely the answer as not. */
double decide(const double signs[SIGNS]);
