/* See search.h. Thread: a store thread. */
#include "know/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "know/concepts.h"
#include "know/language.h"
#include "know/terms.h"
#include "model/document.h"
#include "store/word_index.h"
#include "text/words.h"

enum {
    ASKED_MAX = 24,       /* words of a question that are looked up */
    ALTERNATIVES_MAX = 6, /* stems of a word in the languages of the documents */
    CANDIDATES_MAX = 200, /* passages that are weighed */
    ALIKE_MAX = 50000,
};

/* Found by trying questions with and without an answer on documents (tests/unit/know). */
static const double FLOOR = 0.36;      /* less is not an answer */
static const double WEAK_WEIGHT = 0.2; /* of 'bring', 'get' */
static const double COMMON_WEIGHT =
    0.45;                                /* of a word that is in every passage; 1: of one in none */
static const double SAME_CONCEPT = 0.75; /* 'price' for 'cost' */
static const double ALIKE_LEAST = 0.5;   /* n-grams shared by a word and its inflected form */
static const double ALIKE_WORTH = 0.9;

struct asked {
    const char *folded;
    const char *alternatives[ALTERNATIVES_MAX];
    size_t alternative_count;
    unsigned long concepts;
    bool is_weak;
    double weight;
    struct word_rows exact, same, alike;
};

struct search {
    struct arena *arena;
    struct word_scope *scope;
    struct asked asked[ASKED_MAX];
    size_t count;
    /* while the words are collected */
    size_t at;
    bool is_first_pass;
    const char *guess;
};

/* --- what is asked --- */

static void add_alternative(struct search *search, struct asked *asked, const char *term)
{
    for (size_t i = 0; i < asked->alternative_count; i++)
        if (strcmp(asked->alternatives[i], term) == 0)
            return;
    if (asked->alternative_count < ALTERNATIVES_MAX)
        asked->alternatives[asked->alternative_count++] = arena_strdup(search->arena, term);
}

static bool is_small(const struct search *search, const char *folded)
{
    const struct text_list *languages = word_scope_languages(search->scope);
    bool is_small = language_is_small_word(folded, search->guess);
    for (size_t i = 0; i < languages->count && !is_small; i++)
        is_small = language_is_small_word(folded, languages->items[i]);
    return is_small;
}

/* The passes over the question go by the same words; each adds the stems of its language. */
static int collect(void *arg, const struct word *word)
{
    struct search *search = arg;
    if (is_small(search, word->folded))
        return 0;
    if (search->at == ASKED_MAX)
        return 1;
    struct asked *asked = &search->asked[search->at++];
    if (search->is_first_pass) {
        asked->folded = arena_strdup(search->arena, word->folded);
        asked->concepts = concepts_of(word->folded);
        asked->is_weak = concept_is_weak(word->folded);
        search->count = search->at;
    }
    add_alternative(search, asked, word->folded);
    add_alternative(search, asked, word->stem);
    return 0;
}

static void collect_all(struct search *search, const char *question)
{
    const struct text_list *languages = word_scope_languages(search->scope);
    search->guess = language_guess(question);
    search->is_first_pass = true;
    words_each(question, search->guess, collect, search);
    search->is_first_pass = false;
    for (size_t i = 0; i < languages->count; i++) {
        search->at = 0;
        words_each(question, languages->items[i], collect, search);
    }
}

/* --- where it stands --- */

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool rows_have(const struct word_rows *rows, int64_t row)
{
    return rows->count && bsearch(&row, rows->items, rows->count, sizeof(row), by_number) != NULL;
}

static struct word_rows rows_join(struct search *search, struct word_rows a, struct word_rows b)
{
    if (!b.count)
        return a;
    struct word_rows joined = {arena_new_n(search->arena, int64_t, a.count + b.count), 0};
    for (size_t i = 0, j = 0; i < a.count || j < b.count;) {
        int64_t next =
            j == b.count || (i < a.count && a.items[i] < b.items[j]) ? a.items[i] : b.items[j];
        joined.items[joined.count++] = next;
        i += i < a.count && a.items[i] == next;
        j += j < b.count && b.items[j] == next;
    }
    return joined;
}

/* Passages that have enough of a word's n-grams to have a word like it. */
static struct word_rows find_alike(struct search *search, const char *folded)
{
    char grams[GRAMS_MAX][GRAM_BYTES];
    size_t n = terms_grams(folded, grams);
    struct word_rows all = {0}, alike = {0};
    for (size_t i = 0; i < n && all.count < ALIKE_MAX; i++) {
        struct word_rows found = word_scope_find(search->scope, grams[i]);
        struct word_rows more = {arena_new_n(search->arena, int64_t, all.count + found.count + 1),
                                 all.count + found.count};
        if (all.count)
            memcpy(more.items, all.items, all.count * sizeof(int64_t));
        if (found.count)
            memcpy(more.items + all.count, found.items, found.count * sizeof(int64_t));
        all = more;
    }
    if (all.count)
        qsort(all.items, all.count, sizeof(int64_t), by_number);
    alike.items = all.items;
    for (size_t first = 0, next; first < all.count; first = next) {
        for (next = first + 1; next < all.count && all.items[next] == all.items[first];)
            next++;
        if ((double)(next - first) >= ALIKE_LEAST * (double)n)
            alike.items[alike.count++] = all.items[first];
    }
    return alike;
}

static void look_up(struct search *search, struct asked *asked)
{
    for (size_t i = 0; i < asked->alternative_count; i++)
        asked->exact =
            rows_join(search, asked->exact, word_scope_find(search->scope, asked->alternatives[i]));
    for (unsigned concept = 0; asked->concepts >> concept; concept ++) {
        char term[CONCEPT_BYTES];
        terms_concept(concept, term);
        if (asked->concepts >> concept & 1)
            asked->same = rows_join(search, asked->same, word_scope_find(search->scope, term));
    }
    if (!asked->exact.count)
        asked->alike = find_alike(search, asked->folded);
    double passages = (double)word_scope_passages(search->scope);
    double with = (double)asked->exact.count;
    double rarity =
        log(1 + (passages - with + 0.5) / (with + 0.5)) / log(1 + (passages + 0.5) / 0.5);
    asked->weight =
        asked->is_weak ? WEAK_WEIGHT : COMMON_WEIGHT + (1 - COMMON_WEIGHT) * MAX(rarity, 0.0);
}

/* --- candidates --- */

static int by_count(const void *a, const void *b)
{
    const struct word_rows *x = *(const struct word_rows *const *)a;
    const struct word_rows *y = *(const struct word_rows *const *)b;
    return (x->count > y->count) - (x->count < y->count);
}

/* The rarest words choose first, until enough passages stand for the weighing. */
static struct word_rows candidates(struct search *search)
{
    const struct word_rows *sets[3 * ASKED_MAX];
    size_t n = 0;
    for (size_t i = 0; i < search->count; i++) {
        struct asked *asked = &search->asked[i];
        if (asked->is_weak)
            continue;
        sets[n++] = &asked->exact;
        sets[n++] = &asked->same;
        sets[n++] = &asked->alike;
    }
    qsort(sets, n, sizeof(sets[0]), by_count);
    struct word_rows chosen = {0};
    for (size_t i = 0; i < n && chosen.count < CANDIDATES_MAX; i++) {
        struct word_rows some = *sets[i];
        some.count = MIN(some.count, CANDIDATES_MAX - chosen.count);
        chosen = rows_join(search, chosen, some);
    }
    return chosen;
}

/* --- weighing --- */

struct scored {
    double similarity, density;
    struct word_passage passage;
};

/* The terms of a passage, and how many of them are words. */
struct term_list {
    char **items;
    size_t count, words;
};

static struct term_list split_terms(struct arena *arena, const char *terms)
{
    struct term_list list = {0};
    char *text = arena_strdup(arena, terms), *rest = text;
    list.items = arena_new_n(arena, char *, strlen(terms) / 2 + 2);
    for (char *term; (term = strsep(&rest, " "));) {
        if (!*term)
            continue;
        list.items[list.count++] = term;
        list.words += terms_is_word(term);
    }
    return list;
}

static double best_alike(const struct term_list *terms, const char *folded)
{
    double best = 0;
    for (size_t i = 0; i < terms->count; i++)
        if (terms_is_word(terms->items[i]))
            best = MAX(best, terms_likeness(folded, terms->items[i]));
    return best >= ALIKE_LEAST ? best * ALIKE_WORTH : 0;
}

static double worth(const struct asked *asked, int64_t row, const struct term_list *terms)
{
    if (rows_have(&asked->exact, row))
        return 1;
    if (rows_have(&asked->same, row))
        return SAME_CONCEPT;
    return rows_have(&asked->alike, row) ? best_alike(terms, asked->folded) : 0;
}

static void weigh(const struct search *search, int64_t row, struct scored *scored)
{
    struct term_list terms = split_terms(search->arena, scored->passage.terms);
    double asked = 0, found = 0, strong = 0;
    for (size_t i = 0; i < search->count; i++) {
        const struct asked *word = &search->asked[i];
        double part = word->weight * worth(word, row, &terms);
        asked += word->weight;
        found += part;
        strong += word->is_weak ? 0 : part;
    }
    scored->similarity = asked > 0 && strong > 0 ? MIN(found / asked, 1.0) : 0;
    scored->density = found / (double)(terms.words + 10);
}

static int by_similarity(const void *a, const void *b)
{
    const struct scored *x = a, *y = b;
    if (x->similarity != y->similarity)
        return x->similarity < y->similarity ? 1 : -1;
    return (x->density < y->density) - (x->density > y->density);
}

static void fill_hits(struct arena *arena, const struct scored *scored, size_t n,
                      struct hit_list *out)
{
    *out = (struct hit_list){.items = arena_new_n(arena, struct hit, n + 1), .count = n};
    for (size_t i = 0; i < n; i++) {
        const struct word_passage *passage = &scored[i].passage;
        out->items[i] = (struct hit){.kind = *passage->question ? HIT_CARD : HIT_SECTION,
                                     .text = passage->text,
                                     .document_id = passage->document_id,
                                     .document = "",
                                     .similarity = scored[i].similarity,
                                     .question = passage->question};
    }
}

enum err search_scope(struct word_scope *scope, const char *question, unsigned limit,
                      struct arena *arena, struct hit_list *out)
{
    struct search *search = arena_new_of(arena, struct search);
    search->arena = arena;
    search->scope = scope;
    collect_all(search, question);
    for (size_t i = 0; i < search->count; i++)
        look_up(search, &search->asked[i]);
    struct word_rows rows = candidates(search);
    struct scored *scored = arena_new_n(arena, struct scored, rows.count + 1);
    size_t kept = 0;
    for (size_t i = 0; i < rows.count; i++) {
        enum err err = word_scope_load(scope, rows.items[i], &scored[kept].passage);
        if (err == ERR_NOT_FOUND) /* removed since it was found */
            continue;
        if (err)
            return err;
        weigh(search, rows.items[i], &scored[kept]);
        kept += scored[kept].similarity >= FLOOR;
    }
    qsort(scored, kept, sizeof(*scored), by_similarity);
    fill_hits(arena, scored, MIN(kept, (size_t)limit), out);
    return OK;
}
