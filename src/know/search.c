/* See search.h. Thread: a store thread. */
#include "know/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "know/internal.h"
#include "model/document.h"

/* Half: as likely an answer as not; the weights are fitted so that few questions without an answer
 * get there (tests/knowledge). */
static const double FLOOR = 0.5;

static const double TITLE_PART = 0.8;
static const float KIND_PART = 0.02F; /* less than any word of the question */

enum {
    FEW_PASSAGES = 5000,
    CANDIDATES_MAX = 48, /* passages that are weighed */
    MEANT_MAX = 8,       /* of them, beside those that the words have found */
    COMPARED_MAX = 3000, /* passages whose vectors are read for one question: some 5 MB */
};

/* Found on the tuning half of tests/knowledge with all-MiniLM-L6-v2 (docs/performance.md). Of a
 * passage that stands out by so many standard deviations: */
static const double OUT_WORTH = 0.9, SURE_WORTH = 1.5, MEANING_COST = 3.5; /* each adds; all cost */
static const double SURE_MIN = 5, SURE_MAX = 9;        /* hardly a near miss stands out so far */
static const double POINTS_MIN = 2.5, POINTS_AT = 3.5; /* of the best: the model has one in mind */
/* Where few others are there to tell how much cosines differ. */
static const double USUAL_DEVIATION = 0.09, USUAL_OTHERS = 20;

/* Candidates. */

struct candidate {
    double score;
    uint32_t row;
};

/* What each passage has of the weights: for each asked word the worthiest that stands there. */
static float *score_passages(struct search *search)
{
    size_t passages = word_scope_passages(search->scope);
    float *scores = arena_new_n(search->arena, float, passages + 1);
    unsigned char *marks = arena_new_n(search->arena, unsigned char, passages + 1);
    memset(scores, 0, passages * sizeof(*scores));
    memset(marks, 0, passages);
    for (size_t i = 0; i < search->match_count; i++) {
        const struct match *match = &search->matches[i];
        unsigned char mark = (unsigned char)(match->asked + 1);
        float part = (float)(search->asked[match->asked].weight * match->worth);
        for (size_t j = 0; j < match->rows.count; j++) {
            uint32_t row = match->rows.items[j];
            scores[row] += marks[row] == mark ? 0 : part;
            marks[row] = mark;
        }
    }
    return scores;
}

struct titling {
    struct search *search;
    size_t document;
};

static void note_title_match(void *arg, const struct match *match)
{
    const struct titling *titling = arg;
    struct search *search = titling->search;
    double *title = &search->titles[match->asked * search->document_count + titling->document];
    *title = MAX(*title, match->worth);
    search->asked[match->asked].is_known = true;
}

static void note_titles(struct search *search)
{
    size_t cells = search->count * search->document_count, count;
    search->titles = arena_new_n(search->arena, double, cells + 1);
    for (size_t i = 0; i < cells; i++)
        search->titles[i] = 0;
    for (size_t i = 0; i < search->document_count; i++) {
        struct titling titling = {search, i};
        const int64_t *words = word_scope_title(search->scope, i, &count);
        for (size_t j = 0; j < count; j++)
            weigh_matches(search, words[j], note_title_match, &titling);
    }
}

/* A passage that has anything of what is asked has its document's title, too. */
static void score_titles(const struct search *search, float *scores)
{
    for (size_t i = 0; i < search->document_count; i++) {
        double title = 0;
        for (size_t j = 0; j < search->count; j++)
            title += search->asked[j].weight * search->titles[j * search->document_count + i];
        size_t end = word_scope_document_end(search->scope, i);
        size_t first = i ? word_scope_document_end(search->scope, i - 1) : 0;
        for (size_t row = first; title > 0 && row < end; row++)
            scores[row] += scores[row] > 0 ? (float)(TITLE_PART * title) : 0;
    }
}

/* In few passages, those that hold the kind of answer that is asked for come in as well. */
static void score_kinds(struct search *search, float *scores)
{
    for (unsigned type = ANSWER_NONE + 1; type < ANSWER_TYPES; type++)
        for (size_t i = 0; i < search->answer_counts[type]; i++) {
            struct word_rows rows = word_scope_find(search->scope, search->answer_words[type][i]);
            for (size_t j = 0; j < rows.count; j++)
                scores[rows.items[j]] = MAX(scores[rows.items[j]], KIND_PART);
        }
}

static void note_documents(struct search *search)
{
    search->document_count = word_scope_documents(search->scope);
    search->documents_have =
        arena_new_n(search->arena, bool, search->count * search->document_count + 1);
    memset(search->documents_have, 0, search->count * search->document_count);
    for (size_t i = 0; i < search->match_count; i++) {
        const struct match *match = &search->matches[i];
        bool *have = &search->documents_have[match->asked * search->document_count];
        size_t document = 0;
        for (size_t j = 0; j < match->rows.count; j++) {
            uint32_t row = match->rows.items[j];
            if (!j || row >= word_scope_document_end(search->scope, document))
                document = word_scope_document(search->scope, row);
            have[document] = true;
        }
    }
}

/* The best passages, best first; returns how many. */
static size_t choose(const float *scores, size_t passages, struct candidate out[CANDIDATES_MAX])
{
    size_t count = 0;
    for (size_t row = 0; row < passages; row++) {
        double score = (double)scores[row];
        if (score <= 0 || (count == CANDIDATES_MAX && score <= out[count - 1].score))
            continue;
        size_t at = count < CANDIDATES_MAX ? count++ : count - 1;
        for (; at > 0 && out[at - 1].score < score; at--)
            out[at] = out[at - 1];
        out[at] = (struct candidate){score, (uint32_t)row};
    }
    return count;
}

/* By meaning. */

/* Cosines of the scope's passages with the question. What of them means much differs from model to
 * model, so that a passage is told by how far it stands out among the others of the scope. */
struct meant {
    float *cosines; /* NAN: not known */
    double sum, squares;
    size_t known;
    double points; /* 0: the model sees no difference (a language it cannot read), 1: it does */
};

static void compare(const struct search_meaning *meaning, struct word_scope *scope,
                    struct meant *meant)
{
    for (size_t document = 0; document < word_scope_documents(scope); document++) {
        size_t end = word_scope_document_end(scope, document);
        size_t first = document ? word_scope_document_end(scope, document - 1) : 0;
        store_vector_compare(meaning->tx, word_scope_document_id(scope, document), &meaning->asked,
                             0, end - first, meant->cosines + first);
    }
}

/* In many passages, only those that the words have found. */
static void compare_chosen(const struct search_meaning *meaning, struct word_scope *scope,
                           const struct candidate *candidates, size_t count, struct meant *meant)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t row = candidates[i].row;
        size_t document = word_scope_document(scope, row);
        size_t end = word_scope_document_end(scope, document);
        size_t begin = document ? word_scope_document_end(scope, document - 1) : 0;
        size_t first = begin + (row - begin) / VECTOR_SLICE * VECTOR_SLICE;
        if (isnan(meant->cosines[row]))
            store_vector_compare(meaning->tx, word_scope_document_id(scope, document),
                                 &meaning->asked, first - begin,
                                 MIN((size_t)VECTOR_SLICE, end - first), meant->cosines + first);
    }
}

/* By how many standard deviations of the others. */
static double stands_out(const struct meant *meant, uint32_t row)
{
    double cosine = (double)meant->cosines[row], others = (double)meant->known - 1;
    if (isnan(cosine) || others < 1)
        return 0;
    double mean = (meant->sum - cosine) / others;
    double variance = MAX((meant->squares - cosine * cosine) / others - mean * mean, 0.0);
    double usual = USUAL_OTHERS * USUAL_DEVIATION * USUAL_DEVIATION;
    return (cosine - mean) / sqrt((others * variance + usual) / (others + USUAL_OTHERS));
}

static double clamp(double number, double least, double most)
{
    return MIN(MAX(number, least), most);
}

static void spread(struct meant *meant, size_t passages)
{
    double most = 0;
    for (size_t i = 0; i < passages; i++) {
        double cosine = (double)meant->cosines[i];
        if (isnan(cosine))
            continue;
        meant->known++;
        meant->sum += cosine;
        meant->squares += cosine * cosine;
    }
    for (uint32_t row = 0; row < passages; row++)
        most = MAX(most, stands_out(meant, row));
    meant->points = clamp((most - POINTS_MIN) / (POINTS_AT - POINTS_MIN), 0, 1);
}

/* What meaning adds to the sum of a passage's signs: a share that near misses have as well, which
 * ranks, and past SURE_MIN so much that no word need be there. Words that the model thinks little
 * of lose. */
static double worth_of_meaning(const struct meant *meant, uint32_t row)
{
    double out = stands_out(meant, row);
    if (isnan(meant->cosines[row]))
        return 0;
    return meant->points *
           (OUT_WORTH * clamp(out, 0, SURE_MIN) +
            SURE_WORTH * clamp(out - SURE_MIN, 0, SURE_MAX - SURE_MIN) - MEANING_COST);
}

static bool is_chosen(const struct candidate *candidates, size_t count, uint32_t row)
{
    for (size_t i = 0; i < count; i++)
        if (candidates[i].row == row)
            return true;
    return false;
}

/* In few passages, those that mean most come in beside those that the words have found. */
static size_t add_meant(const struct search_meaning *meaning, struct word_scope *scope,
                        struct arena *arena, struct candidate *candidates, size_t count,
                        struct meant *meant)
{
    size_t passages = word_scope_passages(scope), added = 0;
    meant->cosines = arena_new_n(arena, float, passages + 1);
    for (size_t i = 0; i < passages; i++)
        meant->cosines[i] = NAN;
    if (passages > COMPARED_MAX) {
        compare_chosen(meaning, scope, candidates, count, meant);
        spread(meant, passages);
        return count;
    }
    compare(meaning, scope, meant);
    spread(meant, passages);
    struct candidate best[MEANT_MAX];
    for (uint32_t row = 0; row < passages; row++) {
        double out = stands_out(meant, row);
        if (out < POINTS_MIN || (added == MEANT_MAX && out <= best[added - 1].score))
            continue;
        size_t at = added < MEANT_MAX ? added++ : added - 1;
        for (; at > 0 && best[at - 1].score < out; at--)
            best[at] = best[at - 1];
        best[at] = (struct candidate){out, row};
    }
    for (size_t i = 0; i < added; i++)
        if (!is_chosen(candidates, count, best[i].row))
            candidates[count++] = best[i];
    return count;
}

static double with_meaning(const struct meant *meant, const struct weighed *item)
{
    double words = log(item->similarity / (1 - item->similarity));
    return 1 / (1 + exp(-(words + worth_of_meaning(meant, item->row))));
}

static int by_similarity(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    if (x->similarity != y->similarity)
        return x->similarity < y->similarity ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Reads those passages that are still there. */
static enum err load(struct word_scope *scope, const struct candidate *candidates, size_t count,
                     struct weighed *items, size_t *out_count)
{
    *out_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct weighed *item = &items[*out_count];
        *item = (struct weighed){.row = candidates[i].row};
        enum err err = word_scope_load(scope, item->row, &item->passage);
        if (err && err != ERR_NOT_FOUND)
            return err;
        *out_count += !err;
    }
    return OK;
}

enum err search_weigh(struct word_scope *scope, const char *question,
                      const struct search_meaning *meaning, struct arena *arena,
                      struct weighed **out, size_t *out_count)
{
    struct search *search = arena_new_of(arena, struct search);
    *search = (struct search){.arena = arena, .scope = scope};
    question_read(search, question);
    weigh_begin(search);
    note_documents(search);
    note_titles(search);
    float *scores = score_passages(search);
    if (word_scope_passages(scope) <= FEW_PASSAGES)
        score_kinds(search, scores);
    score_titles(search, scores);
    struct candidate candidates[CANDIDATES_MAX + MEANT_MAX];
    struct meant meant = {0};
    size_t n = choose(scores, word_scope_passages(scope), candidates), kept;
    if (meaning)
        n = add_meant(meaning, scope, arena, candidates, n, &meant);
    struct weighed *items = arena_new_n(arena, struct weighed, n + 1);
    enum err err = load(scope, candidates, n, items, &kept);
    if (err)
        return err;
    weigh_all(search, items, kept);
    for (size_t i = 0; meaning && i < kept; i++)
        items[i].similarity = with_meaning(&meant, &items[i]);
    qsort(items, kept, sizeof(*items), by_similarity);
    *out = items;
    *out_count = kept;
    return word_scope_has_failed(scope) ? ERR_IO : OK;
}

enum err search_scope(struct word_scope *scope, const char *question,
                      const struct search_meaning *meaning, unsigned limit, struct arena *arena,
                      struct hit_list *out)
{
    struct weighed *items;
    size_t count, kept = 0;
    enum err err = search_weigh(scope, question, meaning, arena, &items, &count);
    if (err)
        return err;
    while (kept < count && kept < limit && items[kept].similarity >= FLOOR)
        kept++;
    *out = (struct hit_list){.items = arena_new_n(arena, struct hit, kept + 1), .count = kept};
    for (size_t i = 0; i < kept; i++) {
        const struct word_passage *passage = &items[i].passage;
        out->items[i] = (struct hit){.kind = *passage->question ? HIT_CARD : HIT_SECTION,
                                     .text = passage->text,
                                     .document_id = passage->document_id,
                                     .document = "",
                                     .similarity = items[i].similarity,
                                     .question = passage->question};
    }
    return OK;
}
