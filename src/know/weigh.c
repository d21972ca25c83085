/* The signs by which a passage is taken for an answer (decide.c). Thread: a store thread. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "know/internal.h"
#include "text/script.h"

enum {
    TABLE_SIZE = 16384,
    NEAR_WORDS = 8,
    WINDOW_WORDS = 12,
    PLACES_MAX = 400, /* of asked words in one passage */
    MISSING_MAX = 3,
    ALIKE_COUNTED = 8, /* at most: the same may stand in each of many documents */
};
_Static_assert(TABLE_SIZE >= 2 * FOUND_MAX && (TABLE_SIZE & (TABLE_SIZE - 1)) == 0, "half empty");

/* Which asked words a word of the vocabulary stands for: chains by word. */
struct match_table {
    int slots[TABLE_SIZE]; /* place of the match, and one; 0: free */
};

static unsigned slot_of(int64_t word)
{
    return (unsigned)(((uint64_t)word * 0x9E3779B97F4A7C15ULL) >> 40) & (TABLE_SIZE - 1);
}

void weigh_begin(struct search *search)
{
    struct match_table *table = arena_new_of(search->arena, struct match_table);
    memset(table, 0, sizeof(*table));
    search->table = table;
    for (size_t i = 0; i < search->match_count; i++) {
        unsigned slot = slot_of(search->matches[i].word);
        while (table->slots[slot])
            slot = (slot + 1) & (TABLE_SIZE - 1);
        table->slots[slot] = (int)i + 1;
    }
}

static const double COUNTS_MIN = 0.25, HAS_MIN = 0.6; /* weight, worth of a word that is had */
static const double TITLE_WORTH = 0.8; /* of a word that only the document's title has */
static const double ABOUT_AS_MUCH = 0.1, LEAST_SHARE = 0.01;

struct place {
    long at;
    unsigned asked;
    double worth;
};

/* What a passage has of each asked word. */
struct has {
    double worth[ASKED_MAX], lead[ASKED_MAX];
    enum match_kind kind[ASKED_MAX];
    long last[ASKED_MAX];    /* place of its last occurrence; -1: none */
    bool is_near[ASKED_MAX]; /* beside another asked word */
    size_t lead_found;       /* words of the heading that are asked */
    struct place places[PLACES_MAX];
    size_t place_count;
};

void weigh_matches(const struct search *search, int64_t word, match_fn *fn, void *arg)
{
    const int *slots = search->table->slots;
    for (unsigned slot = slot_of(word); slots[slot]; slot = (slot + 1) & (TABLE_SIZE - 1))
        if (search->matches[slots[slot] - 1].word == word)
            fn(arg, &search->matches[slots[slot] - 1]);
}

struct noting {
    const struct search *search;
    struct has *has;
    long place;
    bool is_lead, is_found;
};

static void note_place(const struct search *search, struct has *has, unsigned asked, long place,
                       double worth)
{
    for (unsigned i = 0; i < search->count; i++)
        if (i != asked && has->last[i] >= 0 && place - has->last[i] <= NEAR_WORDS)
            has->is_near[i] = has->is_near[asked] = true;
    has->last[asked] = place;
    if (has->place_count < PLACES_MAX)
        has->places[has->place_count++] = (struct place){place, asked, worth};
}

static void note_match(void *arg, const struct match *match)
{
    struct noting *noting = arg;
    struct has *has = noting->has;
    unsigned asked = match->asked;
    noting->is_found = true;
    if (noting->is_lead)
        has->lead[asked] = MAX(has->lead[asked], match->worth);
    if (match->worth > has->worth[asked]) {
        has->worth[asked] = match->worth;
        has->kind[asked] = match->kind;
    }
    note_place(noting->search, has, asked, noting->place, match->worth);
}

static bool is_answer_word(const struct search *search, enum answer_type type, int64_t word)
{
    size_t low = 0, high = search->answer_counts[type];
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (search->answer_words[type][middle] < word)
            low = middle + 1;
        else
            high = middle;
    }
    return low < search->answer_counts[type] && search->answer_words[type][low] == word;
}

/* The kinds asked for that the passage holds, and those it holds beside an asked word. */
static void look_for_kinds(const struct search *search, const struct word_passage *passage,
                           const struct has *has, double *signs)
{
    unsigned wanted = 0, held = 0, near = 0;
    for (unsigned type = ANSWER_NONE + 1; type < ANSWER_TYPES; type++) {
        if (!search->wants[type])
            continue;
        wanted++;
        bool holds = false, is_near = false;
        for (size_t i = 0; i < passage->word_count && !is_near; i++) {
            if (!is_answer_word(search, type, passage->words[i]))
                continue;
            holds = true;
            for (size_t j = 0; j < has->place_count && !is_near; j++)
                is_near = search->asked[has->places[j].asked].weight >= COUNTS_MIN &&
                          labs((long)i - has->places[j].at) <= NEAR_WORDS;
        }
        held += holds;
        near += is_near;
    }
    signs[SIGN_KIND] = wanted ? (double)held / wanted : 0;
    signs[SIGN_KIND_NEAR] = wanted ? (double)near / wanted : 0;
    signs[SIGN_NO_KIND] = wanted ? 1 - (double)held / wanted : 0;
}

/* The most of what is asked that stands within a few words. */
static double best_window(const struct search *search, const struct has *has)
{
    double best = 0;
    for (size_t first = 0; first < has->place_count; first++) {
        double worth[ASKED_MAX] = {0}, sum = 0;
        for (size_t i = first; i < has->place_count; i++) {
            const struct place *place = &has->places[i];
            if (place->at - has->places[first].at >= WINDOW_WORDS)
                break;
            if (place->worth > worth[place->asked]) {
                sum += search->asked[place->asked].weight * (place->worth - worth[place->asked]);
                worth[place->asked] = place->worth;
            }
        }
        best = MAX(best, sum);
    }
    return best;
}

/* Asked words that follow one another here as in the question. */
static double count_pairs(const struct search *search, const struct has *has)
{
    double sum = 0;
    for (unsigned asked = 0; asked + 1 < search->count; asked++) {
        double best = 0;
        for (size_t i = 0; i < has->place_count; i++) {
            if (has->places[i].asked != asked)
                continue;
            for (size_t j = i + 1; j < has->place_count; j++) {
                long between = has->places[j].at - has->places[i].at;
                if (between > 2)
                    break;
                if (has->places[j].asked == asked + 1 && between > 0)
                    best = MAX(best, has->places[i].worth * has->places[j].worth);
            }
        }
        sum += best * MIN(search->asked[asked].weight, search->asked[asked + 1].weight);
    }
    return sum;
}

static void sum_up(const struct search *search, const struct has *has, size_t document,
                   double *signs)
{
    static const enum sign of_kind[] = {
        [MATCH_SAME] = SIGN_SAME, [MATCH_SOUND] = SIGN_SOUND, [MATCH_GROUP] = SIGN_GROUP};
    bool lead_missing = false;
    double counted = 0;
    for (unsigned i = 0; i < search->count; i++) {
        const struct asked *asked = &search->asked[i];
        size_t cell = i * search->document_count + document;
        double in_title = search->titles[cell], weight = asked->weight;
        double worth = MAX(has->worth[i], TITLE_WORTH * in_title), miss = weight * (1 - worth);
        bool counts = weight >= COUNTS_MIN, is_missing = worth < HAS_MIN;
        bool in_document = search->documents_have[cell];
        counted += counts;
        signs[SIGN_TITLE] += weight * in_title;
        signs[SIGN_FOUND] += weight * worth;
        signs[of_kind[has->kind[i]]] += weight * has->worth[i];
        signs[SIGN_LEAD] += weight * has->lead[i];
        signs[SIGN_NEAR] += has->is_near[i] ? weight * worth : 0;
        signs[SIGN_MISSING] += counts && is_missing ? weight : 0;
        signs[SIGN_ELSEWHERE] += is_missing && in_document ? weight : 0;
        signs[SIGN_ABROAD] += is_missing && !in_document && asked->is_known ? weight : 0;
        signs[SIGN_MISS_SECOND] = MAX(signs[SIGN_MISS_SECOND], MIN(miss, signs[SIGN_MISS]));
        signs[SIGN_MISS] = MAX(signs[SIGN_MISS], miss);
        lead_missing = lead_missing || (counts && has->lead[i] < HAS_MIN);
        for (unsigned trait = 0; trait < TRAITS; trait++) {
            double is = asked->traits >> trait & 1;
            signs[SIGN_MISS_TRAIT + trait] += is * miss;
            signs[SIGN_FOUND_TRAIT + trait] += is * weight * worth;
        }
        if (asked->is_number && !asked->is_weak)
            signs[worth > 0 ? SIGN_NUMBER : SIGN_NO_NUMBER] = 1;
    }
    signs[SIGN_COMPLETE] = counted > 0 && signs[SIGN_MISSING] <= 0;
    signs[SIGN_MISSING] = MIN(signs[SIGN_MISSING], MISSING_MAX) / MISSING_MAX;
    signs[SIGN_LEAD_COMPLETE] = counted > 0 && !lead_missing;
}

static void make_shares(double all, double *signs)
{
    static const enum sign shares[] = {SIGN_SAME,   SIGN_SOUND,     SIGN_GROUP,  SIGN_LEAD,
                                       SIGN_NEAR,   SIGN_ELSEWHERE, SIGN_ABROAD, SIGN_TITLE,
                                       SIGN_WINDOW, SIGN_PAIRS};
    signs[SIGN_SHARE] = signs[SIGN_FOUND] / all;
    for (size_t i = 0; i < ARRAY_LEN(shares); i++)
        signs[shares[i]] /= all;
}

/* What all passages of one question share. */
struct asking {
    double all; /* sum of the weights */
    double of_question[SIGNS];
    double *documents; /* share of each */
    double best_document, second_document;
};

static void look_at_documents(const struct search *search, struct asking *asking)
{
    size_t count = search->document_count;
    asking->documents = arena_new_n(search->arena, double, count + 1);
    for (size_t document = 0; document < count; document++) {
        double sum = 0;
        for (unsigned i = 0; i < search->count; i++)
            sum += search->documents_have[i * count + document] ? search->asked[i].weight : 0;
        sum /= asking->all;
        asking->documents[document] = sum;
        asking->second_document = MAX(asking->second_document, MIN(sum, asking->best_document));
        asking->best_document = MAX(asking->best_document, sum);
    }
}

static void look_at_question(const struct search *search, struct asking *asking)
{
    double *signs = asking->of_question, all = 0, unknown = 0;
    for (unsigned i = 0; i < search->count; i++) {
        const struct asked *asked = &search->asked[i];
        all += asked->weight;
        signs[SIGN_ASKED] += asked->weight >= COUNTS_MIN;
        unknown += asked->is_known ? 0 : asked->weight;
        if (!asked->is_known)
            signs[SIGN_UNKNOWN_MOST] = MAX(signs[SIGN_UNKNOWN_MOST], asked->weight);
    }
    asking->all = MAX(all, 0.01);
    signs[SIGN_WEIGHT] = all;
    signs[SIGN_UNKNOWN] = unknown / asking->all;
    signs[SIGN_TERMS] = (double)search->terms;
    signs[SIGN_ONLY_KIND] = search->is_only_kind;
    signs[SIGN_ENGLISH] = search->is_english;
    signs[SIGN_LATIN] = search->is_latin;
}

static void read_signs(const struct search *search, const struct asking *asking,
                       struct weighed *item)
{
    const struct word_passage *passage = &item->passage;
    struct has has;
    memset(&has, 0, sizeof(has));
    double *signs = item->signs;
    memcpy(signs, asking->of_question, sizeof(asking->of_question));
    for (unsigned i = 0; i < search->count; i++)
        has.last[i] = -1;
    for (size_t i = 0; i < passage->word_count; i++) {
        struct noting noting = {search, &has, (long)i, i < passage->lead, false};
        weigh_matches(search, passage->words[i], note_match, &noting);
        has.lead_found += noting.is_lead && noting.is_found;
    }
    sum_up(search, &has, passage->document, signs);
    look_for_kinds(search, passage, &has, signs);
    signs[SIGN_WINDOW] = best_window(search, &has);
    signs[SIGN_PAIRS] = count_pairs(search, &has);
    make_shares(asking->all, signs);
    signs[SIGN_LEAD_FILLED] = passage->lead ? (double)has.lead_found / (double)passage->lead : 0;
    signs[SIGN_LEAD_WORDS] = (double)passage->lead;
    signs[SIGN_LENGTH] = log(1 + (double)passage->word_count);
    signs[SIGN_IS_CARD] = *passage->question != 0;
    signs[SIGN_OTHER_SCRIPT] = (script_of(passage->text) == SCRIPT_LATIN) != search->is_latin;
    double share = asking->documents[passage->document];
    bool is_best = share >= asking->best_document;
    signs[SIGN_DOCUMENT] = share;
    signs[SIGN_DOCUMENT_BEFORE] =
        share - (is_best ? asking->second_document : asking->best_document);
}

static void put_together(double *signs)
{
    double share = signs[SIGN_SHARE];
    signs[SIGN_GROUPS_PART] = signs[SIGN_GROUP] / MAX(share, LEAST_SHARE);
    signs[SIGN_SOUNDS_PART] = signs[SIGN_SOUND] / MAX(share, LEAST_SHARE);
    signs[SIGN_SHARE_KIND] = share * signs[SIGN_KIND];
    signs[SIGN_SHARE_SQUARED] = share * share;
    signs[SIGN_SHARE_ASKED] = share * signs[SIGN_ASKED];
    signs[SIGN_SHARE_ALIKE] = share * signs[SIGN_ALIKE];
}

/* What another document says in the same words is no other answer. */
static bool differ(const struct weighed *a, const struct weighed *b)
{
    return a != b && strcmp(a->passage.text, b->passage.text) != 0;
}

/* What is told by the other passages. */
static void compare(struct weighed *items, size_t count)
{
    double best = 0, second = 0; /* second: in another document than the best's */
    const struct weighed *first = NULL;
    for (size_t i = 0; i < count; i++)
        if (items[i].signs[SIGN_SHARE] > best) {
            best = items[i].signs[SIGN_SHARE];
            first = &items[i];
        }
    for (size_t i = 0; first && i < count; i++)
        if (items[i].passage.document != first->passage.document && differ(&items[i], first))
            second = MAX(second, items[i].signs[SIGN_SHARE]);
    for (size_t i = 0; i < count; i++) {
        double *signs = items[i].signs, share = signs[SIGN_SHARE];
        signs[SIGN_BEHIND] = best - share;
        signs[SIGN_BEFORE_OTHERS] =
            share - (!first || items[i].passage.document == first->passage.document ||
                             !differ(&items[i], first)
                         ? second
                         : best);
        for (size_t j = 0; j < count; j++)
            signs[SIGN_ALIKE] += differ(&items[i], &items[j]) &&
                                 fabs(items[j].signs[SIGN_SHARE] - share) < ABOUT_AS_MUCH;
        signs[SIGN_ALIKE] = MIN(signs[SIGN_ALIKE], ALIKE_COUNTED);
        put_together(signs);
    }
}

void weigh_all(const struct search *search, struct weighed *items, size_t count)
{
    struct asking asking = {0};
    look_at_question(search, &asking);
    look_at_documents(search, &asking);
    for (size_t i = 0; i < count; i++)
        read_signs(search, &asking, &items[i]);
    compare(items, count);
    for (size_t i = 0; i < count; i++)
        items[i].similarity = decide(items[i].signs);
}
