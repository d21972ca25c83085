/* The signs by which a passage is taken for an answer, and their weights. Thread: a store thread.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "know/internal.h"
#include "know/weights.def"

enum { TABLE_SIZE = 16384, NEAR_WORDS = 8, MISSING_MAX = 3 };
_Static_assert(ARRAY_LEN(weights) == SIGNS, "a weight for each sign");
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

/* What a passage has of each asked word. */
struct has {
    double worth[ASKED_MAX], lead[ASKED_MAX];
    enum match_kind kind[ASKED_MAX];
    long place[ASKED_MAX];   /* of its last occurrence; -1: none */
    bool is_near[ASKED_MAX]; /* beside another asked word */
    size_t lead_found;       /* words of the heading that are asked */
};

static void note_near(const struct search *search, struct has *has, unsigned asked, long place)
{
    for (unsigned i = 0; i < search->count; i++)
        if (i != asked && has->place[i] >= 0 && place - has->place[i] <= NEAR_WORDS)
            has->is_near[i] = has->is_near[asked] = true;
    has->place[asked] = place;
}

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
    note_near(noting->search, has, asked, noting->place);
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

/* The share of the kinds asked for that the passage holds; -1: none is asked for. */
static double kinds_held(const struct search *search, const struct word_passage *passage)
{
    unsigned wanted = 0, held = 0;
    for (unsigned type = ANSWER_NONE + 1; type < ANSWER_TYPES; type++) {
        if (!search->wants[type])
            continue;
        wanted++;
        bool holds = false;
        for (size_t i = 0; i < passage->word_count && !holds; i++)
            holds = is_answer_word(search, type, passage->words[i]);
        held += holds;
    }
    return wanted ? (double)held / wanted : -1;
}

static void sum_up(const struct search *search, const struct has *has, size_t document,
                   double *signs)
{
    double title = 0, all = 0, found = 0, same = 0, unknown = 0, lead = 0, in_document = 0,
           misses = 0;
    double groups = 0, sounds = 0, near = 0, missing = 0;
    unsigned counted = 0;
    bool lead_missing = false;
    for (unsigned i = 0; i < search->count; i++) {
        const struct asked *asked = &search->asked[i];
        double in_title = search->titles[i * search->document_count + document];
        double weight = asked->weight, worth = MAX(has->worth[i], TITLE_WORTH * in_title);
        title += weight * in_title;
        all += weight;
        found += weight * worth;
        same += has->kind[i] == MATCH_SAME ? weight * worth : 0;
        groups += has->kind[i] == MATCH_GROUP ? weight * worth : 0;
        sounds += has->kind[i] == MATCH_SOUND ? weight * worth : 0;
        unknown += asked->is_known ? 0 : weight;
        lead += weight * has->lead[i];
        near += has->is_near[i] ? weight * worth : 0;
        in_document += search->documents_have[i * search->document_count + document] ? weight : 0;
        misses = MAX(misses, weight * (1 - worth));
        bool counts = weight >= COUNTS_MIN;
        missing += counts && worth < HAS_MIN ? weight : 0;
        lead_missing = lead_missing || (counts && has->lead[i] < HAS_MIN);
        counted += counts;
        if (asked->is_number && !asked->is_weak)
            signs[worth > 0 ? SIGN_NUMBER : SIGN_NO_NUMBER] = 1;
    }
    all = MAX(all, 0.01);
    signs[SIGN_TITLE] = title / all;
    signs[SIGN_SHARE] = found / all;
    signs[SIGN_SHARE_SAME] = same / all;
    signs[SIGN_MISSES] = misses;
    signs[SIGN_UNKNOWN] = unknown / all;
    signs[SIGN_LEAD] = lead / all;
    signs[SIGN_DOCUMENT] = in_document / all;
    signs[SIGN_NEAR] = near / all;
    signs[SIGN_GROUPS] = groups / MAX(found, 0.01);
    signs[SIGN_SOUNDS] = sounds / MAX(found, 0.01);
    signs[SIGN_COMPLETE] = counted && missing <= 0;
    signs[SIGN_LEAD_COMPLETE] = counted && !lead_missing;
    signs[SIGN_MISSING] = MIN(missing, MISSING_MAX) / MISSING_MAX;
}

static void read_signs(const struct search *search, struct weighed *item)
{
    const struct word_passage *passage = &item->passage;
    struct has has = {0};
    double *signs = item->signs;
    for (unsigned i = 0; i < search->count; i++)
        has.place[i] = -1;
    for (size_t i = 0; i < passage->word_count; i++) {
        struct noting noting = {search, &has, (long)i, i < passage->lead, false};
        weigh_matches(search, passage->words[i], note_match, &noting);
        has.lead_found += noting.is_lead && noting.is_found;
    }
    sum_up(search, &has, passage->document, signs);
    double kinds = kinds_held(search, passage);
    signs[SIGN_ONE] = 1;
    signs[SIGN_LEAD_FILLED] = passage->lead ? (double)has.lead_found / (double)passage->lead : 0;
    signs[SIGN_KIND] = MAX(kinds, 0.0);
    signs[SIGN_NO_KIND] = kinds < 0 ? 0 : 1 - kinds;
    signs[SIGN_ONLY_KIND] = search->is_only_kind;
    signs[SIGN_SHARE_KIND] = signs[SIGN_SHARE] * signs[SIGN_KIND];
    signs[SIGN_SHARE_SQUARED] = signs[SIGN_SHARE] * signs[SIGN_SHARE];
}

void weigh_all(const struct search *search, struct weighed *items, size_t count)
{
    double best = 0;
    for (size_t i = 0; i < count; i++) {
        read_signs(search, &items[i]);
        best = MAX(best, items[i].signs[SIGN_SHARE]);
    }
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        items[i].signs[SIGN_BEHIND] = best - items[i].signs[SIGN_SHARE];
        for (unsigned sign = 0; sign < SIGNS; sign++)
            sum += weights[sign] * items[i].signs[sign];
        items[i].similarity = 1 / (1 + exp(-sum));
    }
}
