/* What a question asks about. Words that say nothing are left out; numbers stand by their value;
 * pieces that a speech recogniser tore apart are tried as one word. For each, the words of the
 * documents' vocabulary that may stand for it are found. Thread: a store thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "know/internal.h"
#include "know/language.h"
#include "know/spelling.h"
#include "know/terms.h"
#include "model/field.h"
#include "store/tx.h"
#include "text/script.h"
#include "text/sound.h"
#include "text/words.h"

enum {
    ANSWER_WORDS_MAX = 400,  /* that name a kind of answer */
    PIECES_MAX = 3,          /* of a word that was torn apart */
    JOINED_MIN = 4,          /* letters */
    SOUNDS_MAX = 200,        /* words looked at for one key */
    ALIKE_MAX = 12,          /* words that sound like one */
    GROUP_MAX = 150,         /* words of one group */
    GROUP_ROWS_MAX = 300000, /* places read before no more are read for groups */
    LEAST_LETTERS = 4,       /* of a word that may be misspelled */
    FEW_SOUNDS = 3,          /* a word that has no more is another one with one other */
    PREFIX_MIN = 4,          /* letters of a sound by which one word continues another */
};

/* Found on the tuning half of tests/knowledge. */
static const double ALIKE_MIN = 0.74; /* same script */
static const double ALIKE_INDIAN_MIN = 0.7;
static const double ALIKE_SCRIPT_MIN = 0.76;   /* other script */
static const double OTHER_SCRIPT_GRACE = 0.06; /* no two scripts write the same sounds */
static const double SHORT_SCRIPT_MIN = 0.9;    /* of few sounds, without the grace */
static const double SURE_SPELLING = 0.8;       /* the word that was meant */
static const double SURE_LIKENESS = 0.93;      /* as good as the word itself */
static const double SAME_SOUND = 0.999;
static const double SURE_GROUP = 0.9;        /* likeness of a word whose groups are meant */
static const double WRITTEN_OTHERWISE = 0.9; /* worth of the word itself in another script */
static const double ENGLISH_OTHERWISE = 0.6; /* English words seldom stand in another script */
static const double SOUND_WORTH = 0.97, KNOWN_SOUND_WORTH = 0.75; /* the latter: it stands, too */
static const double CONTINUED_WORTH = 0.97; /* of likeness: "parking" for "park" */
static const double GROUP_WORTH = 0.75;
static const double ONLY_KIND_WEIGHT = 0.5; /* of a word that asks for a kind, alone */
static const double JOINED_LIKENESS = 0.82, JOINED_SMALL = 0.9; /* of torn words */
static const double COMMON_WEIGHT = 0.35; /* of a word that is in every passage */
static const double COMMON_UNKNOWN = 0.3; /* the same, when the documents do not have it */
static const double COMMON_WORD = 0.5;    /* of everyday speech */
static const double KIND_WEIGHT = 0.2; /* of a word that asks for a kind of answer, beside others */
static const double WEAK_WEIGHT = 0.05, SMALL_NUMBER_WEIGHT = 0.3;
static const double CONTEXT_WEIGHT = 0.4; /* of a word that only says why it is asked */

struct reading {
    struct search *search;
    const char *guess;
    struct term_list terms;
    double *alone; /* of each term, as alone() says; -1: not known yet */
};

/* Words of the vocabulary. */

static struct match *match_of(struct search *search, unsigned asked, int64_t word)
{
    for (size_t i = search->match_count; i-- && search->matches[i].asked == asked;)
        if (search->matches[i].word == word)
            return &search->matches[i];
    return NULL;
}

static void add_match(struct search *search, struct match match)
{
    struct match *known = match_of(search, match.asked, match.word);
    if (known && known->worth < match.worth)
        *known = match;
    else if (!known && search->match_count < FOUND_MAX)
        search->matches[search->match_count++] = match;
}

struct stem_call {
    char key[TERM_BYTES];
};

static int write_stem_key(void *arg, const struct word *word)
{
    struct stem_call *call = arg;
    terms_stem_key(word->stem, call->key);
    return 1;
}

static void match_stem(struct search *search, unsigned asked, const char *folded, const char *iso)
{
    struct stem_call call = {""};
    words_each(folded, iso, write_stem_key, &call);
    struct word_matches found = word_scope_key(search->scope, call.key, SOUNDS_MAX);
    for (size_t i = 0; i < found.count; i++)
        add_match(search, (struct match){found.items[i].number, 1, MATCH_SAME, asked});
}

static void match_same(struct search *search, unsigned asked, const char *guess)
{
    const char *folded = search->asked[asked].folded;
    const struct text_list *languages = word_scope_languages(search->scope);
    int64_t word = word_scope_word(search->scope, folded);
    if (word)
        add_match(search, (struct match){word, 1, MATCH_SAME, asked});
    if (search->asked[asked].is_number)
        return;
    match_stem(search, asked, folded, guess);
    for (size_t i = 0; i < languages->count; i++)
        if (strcmp(languages->items[i], guess) != 0)
            match_stem(search, asked, folded, languages->items[i]);
}

/* Words that sound alike. */

static size_t common_prefix(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && b[n] &&
           (a[n] == b[n] || (a[n] == 'A' && b[n] == 'a') || (a[n] == 'a' && b[n] == 'A')))
        n++;
    return n;
}

/* One word goes on where the other ends: endings of languages without a stemmer. */
static double continued(const char *a, const char *b)
{
    size_t shared = common_prefix(a, b), n = strlen(a), m = strlen(b);
    if (shared < PREFIX_MIN || shared + 2 < MIN(n, m) || 2 * shared < MAX(n, m))
        return 0;
    return CONTINUED_WORTH * (0.7 + 0.3 * (double)shared / (double)MAX(n, m));
}

static double alike(const char *a, const char *sound_a, const char *b, const char *sound_b,
                    bool is_whole)
{
    enum script script = script_of(a);
    bool is_same_script = script == script_of(b), is_latin = script == SCRIPT_LATIN;
    size_t n = strlen(sound_a), m = strlen(sound_b);
    if (MAX(n, m) > 2 * MIN(n, m))
        return 0;
    double likeness = sound_likeness(sound_a, sound_b);
    double goes_on = is_whole ? 0 : continued(sound_a, sound_b);
    if (is_same_script && is_latin) {
        double letters = letters_likeness(a, b);
        likeness = MAX(letters, (likeness + letters) / 2);
        bool may_be = strlen(a) >= LEAST_LETTERS && !word_is_doer(a, b);
        return may_be && likeness >= ALIKE_MIN ? likeness : 0;
    }
    if (is_same_script)
        return MAX(likeness >= ALIKE_INDIAN_MIN ? likeness : 0, goes_on);
    if (MIN(n, m) <= FEW_SOUNDS && likeness < SHORT_SCRIPT_MIN)
        return goes_on;
    likeness = likeness >= ALIKE_SCRIPT_MIN ? MIN(likeness + OTHER_SCRIPT_GRACE, 1.0) : 0;
    return MAX(likeness, goes_on);
}

struct like {
    int64_t word;
    double likeness;
    const char *text;
};

static int by_word(const void *a, const void *b)
{
    int64_t x = ((const struct indexed_word *)a)->number;
    int64_t y = ((const struct indexed_word *)b)->number;
    return (x > y) - (x < y);
}

/* Words that share a key of their sounds, each once. */
static struct word_matches candidates(struct search *search, const char *sound)
{
    char keys[SOUND_KEYS_MAX][TERM_BYTES];
    size_t n = terms_sound_keys(sound, keys, SOUND_KEYS_MAX), kept = 0;
    struct word_matches all = {0};
    for (size_t i = 0; i < n; i++) {
        struct word_matches found = word_scope_key(search->scope, keys[i], SOUNDS_MAX);
        for (size_t j = 0; j < found.count; j++)
            *GROW(&all, search->arena) = found.items[j];
    }
    if (all.count)
        qsort(all.items, all.count, sizeof(*all.items), by_word);
    for (size_t i = 0; i < all.count; i++)
        if (!kept || all.items[i].number != all.items[kept - 1].number)
            all.items[kept++] = all.items[i];
    all.count = kept;
    return all;
}

/* The best of them, the most alike first; returns how many. */
static size_t find_alike(struct search *search, const char *folded, bool is_whole,
                         struct like out[ALIKE_MAX])
{
    char sound[SOUND_BYTES], other[SOUND_BYTES];
    sound_of(folded, sound);
    struct word_matches found = candidates(search, sound);
    size_t count = 0;
    for (size_t i = 0; i < found.count; i++) {
        sound_of(found.items[i].text, other);
        struct like like = {found.items[i].number,
                            alike(folded, sound, found.items[i].text, other, is_whole),
                            found.items[i].text};
        if (like.likeness <= 0 || (count == ALIKE_MAX && like.likeness <= out[count - 1].likeness))
            continue;
        size_t at = count < ALIKE_MAX ? count++ : count - 1;
        for (; at > 0 && out[at - 1].likeness < like.likeness; at--)
            out[at] = out[at - 1];
        out[at] = like;
    }
    return count;
}

/* A misspelled word asks for, and says, what the right one would. */
static void take_after(struct asked *asked, const char *word)
{
    unsigned char concepts[CONCEPTS_OF_WORD];
    if (concepts_of(asked->folded, concepts))
        return;
    size_t n = concepts_of(word, concepts);
    for (size_t i = 0; i < n && !asked->answers; i++)
        asked->answers = concept_answers(concepts[i]);
    asked->is_weak = asked->is_weak || concept_is_weak(word) || language_is_small_word(word, "en");
}

/* A word that sounds like an asked one. */
static struct match match_like(const struct search *search, unsigned asked, bool is_known,
                               const struct like *like)
{
    bool is_other_script = script_of(like->text) != script_of(search->asked[asked].folded);
    double likeness = like->likeness;
    double worth = MIN(1.0, 0.55 + 0.45 * (likeness - 0.7) / (SURE_LIKENESS - 0.7));
    worth *= is_known ? KNOWN_SOUND_WORTH : SOUND_WORTH;
    if (is_other_script && search->is_english && likeness < SAME_SOUND)
        worth *= ENGLISH_OTHERWISE;
    bool is_same = is_other_script && worth > WRITTEN_OTHERWISE;
    return (struct match){like->word, worth, is_same ? MATCH_SAME : MATCH_SOUND, asked};
}

static void match_sounds(struct search *search, unsigned asked, bool is_known)
{
    struct like likes[ALIKE_MAX];
    size_t n = find_alike(search, search->asked[asked].folded, false, likes);
    double best = n ? likes[0].likeness : 0;
    search->asked[asked].alike = best;
    search->asked[asked].like = n ? likes[0].text : NULL;
    if (!is_known && best >= SURE_SPELLING)
        take_after(&search->asked[asked], likes[0].text);
    for (size_t i = 0; i < n; i++) {
        if (likes[i].likeness + 0.15 < best)
            break;
        add_match(search, match_like(search, asked, is_known, &likes[i]));
    }
}

static bool has_same(const struct search *search, unsigned asked)
{
    for (size_t i = search->match_count; i-- && search->matches[i].asked == asked;)
        if (search->matches[i].kind == MATCH_SAME)
            return true;
    return false;
}

static void match_groups(struct search *search, unsigned asked)
{
    unsigned char concepts[CONCEPTS_OF_WORD];
    const char *folded = search->asked[asked].folded;
    size_t n = concepts_of(folded, concepts);
    if (!n)
        n = concepts_of(search->asked[asked].stem, concepts);
    bool is_weak = false;
    if (!n && search->asked[asked].alike >= SURE_GROUP)
        n = concepts_of(search->asked[asked].like, concepts);
    if (!n && !has_same(search, asked))
        n = concepts_alike(folded, search->asked[asked].alike, concepts, &is_weak);
    if (is_weak && !n)
        search->asked[asked].is_weak = true;
    for (size_t i = 0; i < n; i++) {
        char key[TERM_BYTES];
        terms_concept_key(concepts[i], key);
        struct word_matches found = word_scope_key(search->scope, key, GROUP_MAX);
        for (size_t j = 0; j < found.count; j++)
            add_match(search,
                      (struct match){found.items[j].number, GROUP_WORTH, MATCH_GROUP, asked});
    }
}

/* What is asked. */

static bool is_small(const struct reading *reading, const char *folded)
{
    const struct text_list *languages = word_scope_languages(reading->search->scope);
    bool is_small = language_is_small_word(folded, reading->guess);
    for (size_t i = 0; i < languages->count && !is_small; i++)
        is_small = language_is_small_word(folded, languages->items[i]);
    return is_small;
}

/* Takes the next asked word; returns it, or NULL when there are enough. */
static struct asked *ask(struct reading *reading, const char *folded, const char *stem,
                         bool is_number)
{
    struct search *search = reading->search;
    if (search->count == ASKED_MAX)
        return NULL;
    for (size_t i = 0; i < search->count; i++)
        if (strcmp(search->asked[i].folded, folded) == 0)
            return NULL;
    struct asked *asked = &search->asked[search->count];
    *asked = (struct asked){.folded = folded, .stem = stem, .is_number = is_number};
    asked->is_weak = concept_is_weak(folded) || concept_is_weak(stem);
    unsigned char concepts[CONCEPTS_OF_WORD];
    size_t n = concepts_of(folded, concepts);
    for (size_t i = 0; i < n && !asked->answers; i++)
        asked->answers = concept_answers(concepts[i]);
    search->count++;
    return asked;
}

static void find(struct reading *reading, struct asked *asked)
{
    struct search *search = reading->search;
    unsigned place = (unsigned)(asked - search->asked);
    match_same(search, place, reading->guess);
    if (asked->is_number || (asked->is_weak && has_same(search, place)))
        return;
    match_sounds(search, place, has_same(search, place));
    if (!asked->answers)
        match_groups(search, place);
}

/* How well a piece does alone: 1 when it stands in the documents or says nothing. */
static double look_alone(struct reading *reading, const char *folded)
{
    struct like likes[ALIKE_MAX];
    if (word_scope_word(reading->search->scope, folded) || is_small(reading, folded) ||
        concept_is_weak(folded))
        return 1;
    return find_alike(reading->search, folded, false, likes) ? likes[0].likeness : 0;
}

static double alone(struct reading *reading, size_t at)
{
    if (reading->alone[at] < 0)
        reading->alone[at] = look_alone(reading, reading->terms.items[at].folded);
    return reading->alone[at];
}

/* So many pieces together; false when they are no word, or one of them is better alone. */
static bool is_torn(struct reading *reading, size_t at, size_t n, char *joined, size_t cap)
{
    struct search *search = reading->search;
    double least = 1;
    bool has_small = false, has_large = false;
    *joined = '\0';
    for (size_t i = at; i < at + n; i++) {
        const struct term *term = &reading->terms.items[i];
        size_t len = strlen(joined);
        if (term->is_number || term->is_spelled)
            return false;
        least = MIN(least, alone(reading, i));
        has_small = has_small || is_small(reading, term->folded);
        has_large = has_large || !is_small(reading, term->folded);
        snprintf(joined + len, cap - len, "%s", term->folded);
    }
    if (text_length(joined) < JOINED_MIN || !has_large)
        return false;
    if (word_scope_word(search->scope, joined))
        return true;
    struct like likes[ALIKE_MAX];
    return least < JOINED_LIKENESS && find_alike(search, joined, true, likes) &&
           likes[0].likeness >= MAX(has_small ? JOINED_SMALL : JOINED_LIKENESS, least + 0.05);
}

/* Pieces that stand in the vocabulary as one word, of which one is unknown alone. Returns how many
 * there are; 0: none. */
static size_t join(struct reading *reading, size_t at)
{
    for (size_t n = PIECES_MAX; n > 1; n--) {
        char joined[WORD_MAX_BYTES];
        if (at + n > reading->terms.count || !is_torn(reading, at, n, joined, sizeof(joined)))
            continue;
        const char *word = arena_strdup(reading->search->arena, joined);
        struct asked *asked = ask(reading, word, word, false);
        if (asked)
            find(reading, asked);
        return n;
    }
    return 0;
}

static struct asked *ask_term(struct reading *reading, size_t at)
{
    const struct term *term = &reading->terms.items[at];
    struct asked *asked = ask(reading, term->folded, term->stem, term->is_number);
    if (!asked)
        return NULL;
    asked->is_context = term->is_context;
    asked->is_weak = asked->is_weak || context_is_age(&reading->terms, at);
    return asked;
}

static void take_terms(struct reading *reading)
{
    struct search *search = reading->search;
    for (size_t i = 0; i < reading->terms.count;) {
        const struct term *term = &reading->terms.items[i];
        enum answer_type kind = concept_asked_by(term->folded);
        search->wants[kind] = true;
        size_t joined = term->is_number || term->is_spelled ? 0 : join(reading, i);
        size_t at = i;
        i += joined ? joined : 1;
        if (joined || term->is_spelled || kind ||
            (!term->is_number && is_small(reading, term->folded)))
            continue;
        struct asked *asked = ask_term(reading, at);
        if (!asked)
            continue;
        find(reading, asked);
        search->wants[asked->answers] = true;
    }
}

/* How much each word counts. */

/* Reads where the words of one kind stand; those of groups count for little, and are many. */
static size_t passages_with(struct search *search, unsigned asked, enum match_kind kind)
{
    size_t sum = 0;
    for (size_t i = 0; i < search->match_count; i++) {
        struct match *match = &search->matches[i];
        if (match->asked != asked || match->kind != kind ||
            (kind == MATCH_GROUP && search->rows_read > GROUP_ROWS_MAX))
            continue;
        match->rows = word_scope_find(search->scope, match->word);
        sum += match->rows.count;
        search->rows_read += match->rows.count;
    }
    return sum;
}

static void weigh_word(struct search *search, unsigned place)
{
    struct asked *asked = &search->asked[place];
    double passages = (double)word_scope_passages(search->scope);
    double with = (double)passages_with(search, place, MATCH_SAME);
    double alike = (double)passages_with(search, place, MATCH_SOUND);
    if (with < 1)
        with = alike;
    (void)passages_with(search, place, MATCH_GROUP);
    asked->is_known = with > 0;
    double rarity = log(1 + (passages + 0.5) / (with + 0.5)) / log(1 + (passages + 0.5) / 0.5);
    asked->weight = COMMON_WEIGHT + (1 - COMMON_WEIGHT) * MIN(MAX(rarity, 0.0), 1.0);
    if (concept_is_common(asked->folded) || concept_is_common(asked->stem))
        asked->weight *= asked->is_known ? COMMON_WORD : COMMON_UNKNOWN;
    if (asked->is_number && strlen(asked->folded) == 2 && asked->folded[1] <= '3')
        asked->weight = SMALL_NUMBER_WEIGHT;
    if (asked->is_weak)
        asked->weight = WEAK_WEIGHT;
    if (asked->is_context)
        asked->weight *= CONTEXT_WEIGHT;
}

/* "When are you open": the words that ask for a kind of answer are all that is asked. */
static void ask_alone(struct search *search, unsigned place)
{
    match_groups(search, place);
    search->asked[place].weight = MAX(search->asked[place].weight, ONLY_KIND_WEIGHT);
}

/* Words that ask for a kind of answer count as such when anything else is asked. */
static void tell_kinds(struct search *search)
{
    bool has_other = false;
    for (size_t i = 0; i < search->count; i++)
        has_other = has_other || (!search->asked[i].answers && !search->asked[i].is_weak);
    search->is_only_kind = !has_other;
    for (unsigned i = 0; i < search->count; i++) {
        if (!search->asked[i].answers)
            continue;
        if (has_other)
            search->asked[i].weight *= search->asked[i].is_known ? KIND_WEIGHT : WEAK_WEIGHT;
        else
            ask_alone(search, i);
        (void)passages_with(search, i, MATCH_GROUP);
    }
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void find_answer_words(struct search *search)
{
    for (unsigned concept = 0; concept < concepts_count(); concept ++) {
        enum answer_type type = concept_answers((unsigned char)concept);
        if (!type || !search->wants[type])
            continue;
        char key[TERM_BYTES];
        terms_concept_key((unsigned char)concept, key);
        struct word_matches found = word_scope_key(search->scope, key, ANSWER_WORDS_MAX);
        search->answer_words[type] = arena_new_n(search->arena, int64_t, found.count + 1);
        for (size_t i = 0; i < found.count; i++)
            search->answer_words[type][i] = found.items[i].number;
        search->answer_counts[type] = found.count;
        qsort(search->answer_words[type], found.count, sizeof(int64_t), by_number);
    }
}

static int by_asked(const void *a, const void *b)
{
    const struct match *x = a, *y = b;
    if (x->asked != y->asked)
        return x->asked < y->asked ? -1 : 1;
    return (x->worth < y->worth) - (x->worth > y->worth);
}

/* Stands in the documents, or says something else than the everyday word it looks like. */
static bool is_known_word(void *arg, const char *folded, const char *right, double likeness)
{
    struct reading *reading = arg;
    struct like likes[ALIKE_MAX];
    unsigned char concepts[CONCEPTS_OF_WORD];
    if (word_scope_word(reading->search->scope, folded) || is_small(reading, folded) ||
        concept_is_weak(folded) || concept_asked_by(folded) || concepts_of(folded, concepts))
        return true;
    if (!find_alike(reading->search, folded, false, likes) || strcmp(likes[0].text, right) == 0)
        return false;
    return likes[0].likeness >= SAME_SOUND || /* it may be in another script */
           letters_likeness(folded, likes[0].text) >= likeness - 0.001;
}

/* Hindi and Tamil in Latin letters without any small word are guessed to be English, too. */
static bool is_english(const struct reading *reading)
{
    bool has_small = false;
    for (size_t i = 0; i < reading->terms.count && !has_small; i++)
        has_small = language_is_small_word(reading->terms.items[i].folded, "en");
    return has_small && strcmp(reading->guess, "en") == 0;
}

void question_read(struct search *search, const char *question)
{
    struct reading reading = {.search = search, .guess = language_guess(question)};
    question = spelling_mend(question, reading.guess, is_known_word, &reading, search->arena);
    search->matches = arena_new_n(search->arena, struct match, FOUND_MAX);
    terms_of(question, reading.guess, search->arena, &reading.terms);
    reading.alone = arena_new_n(search->arena, double, reading.terms.count + 1);
    for (size_t i = 0; i < reading.terms.count; i++)
        reading.alone[i] = -1;
    context_note(question, &reading.terms);
    search->is_english = is_english(&reading);
    take_terms(&reading);
    for (unsigned i = 0; i < search->count; i++)
        weigh_word(search, i);
    tell_kinds(search);
    find_answer_words(search);
    qsort(search->matches, search->match_count, sizeof(*search->matches), by_asked);
}
