/* See concepts.h. Thread: any. */
#include "know/concepts.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/map.h"
#include "base/mem.h"
#include "know/concepts.def"
#include "text/sound.h"
#include "text/words.h"

static const double ALIKE_MIN = 0.75, OTHER_SCRIPT_DOUBT = 0.08;

enum {
    WORD_BYTES = 64,
    ALIKE_MIN_BYTES = 4,
    ENDING_MIN_BYTES = 9,  /* three letters of an Indian script: what ends may follow */
    ENDING_MAX_BYTES = 21, /* of Tamil and Bengali words, which carry their cases and more */
    TAMIL_LEAD = 0xAE,     /* second byte of their letters in UTF-8 */
    TAMIL_LEAD_LAST = 0xAF,
    BENGALI_LEAD = 0xA6,
    BENGALI_LEAD_LAST = 0xA7,
};
_Static_assert(ARRAY_LEN(groups) < CONCEPTS_MAX, "a group is a byte");

struct set {
    size_t count;
    unsigned char items[CONCEPTS_OF_WORD];
    char word[WORD_BYTES];
};

struct sounding { /* words under one key of their sounds */
    const struct set *set;
    struct sounding *next;
};

struct words {
    struct map *by_word, *by_sound; /* by_sound: the first of a list */
};

/* The words by what they say, made once. */

static void add_sound(struct words *words, const struct set *set)
{
    char sound[SOUND_BYTES], keys[SOUND_KEYS_MAX][SOUND_KEY_BYTES];
    sound_of(set->word, sound);
    size_t n = strlen(set->word) >= ALIKE_MIN_BYTES ? sound_keys(sound, keys) : 0;
    for (size_t i = 0; i < n; i++) {
        struct sounding *sounding = mem_new(struct sounding);
        *sounding = (struct sounding){set, map_get_str(words->by_sound, keys[i])};
        map_set_str(words->by_sound, keys[i], sounding);
    }
}

static struct set *add_word(struct words *words, const char *word)
{
    struct set *set = mem_new(struct set);
    snprintf(set->word, sizeof(set->word), "%s", word);
    map_set_str(words->by_word, word, set);
    add_sound(words, set);
    return set;
}

static void add_words(struct words *words, const char *list, unsigned char concept)
{
    AUTO_MEM char *copy = mem_strdup(list);
    char *rest = copy;
    for (char *word; (word = strsep(&rest, " "));) {
        if (!*word)
            continue;
        struct set *set = map_get_str(words->by_word, word);
        if (!set)
            set = add_word(words, word);
        if (concept < CONCEPTS_MAX && set->count < CONCEPTS_OF_WORD)
        set->items[set->count++] = concept;
    }
}

static int free_value(void *arg, const void *key, size_t key_len, void *value)
{
    (void)arg, (void)key, (void)key_len;
    mem_free(value);
    return 0;
}

static int free_soundings(void *arg, const void *key, size_t key_len, void *value)
{
    (void)arg, (void)key, (void)key_len;
    for (struct sounding *at = value, *next; at; at = next) {
        next = at->next;
        mem_free(at);
    }
    return 0;
}

/* Threads that come at once each make one, and the first stays, for the life of the process. */
static const struct words *words_of_groups(void)
{
    static struct words *_Atomic made;
    struct words *words = atomic_load(&made), *none = NULL;
    if (words)
        return words;
    words = mem_new(struct words);
    *words = (struct words){map_new(), map_new()};
    for (size_t i = 0; i < ARRAY_LEN(groups); i++)
        add_words(words, groups[i].words, (unsigned char)i);
    add_words(words, weak_words, CONCEPTS_MAX);
    if (atomic_compare_exchange_strong(&made, &none, words))
        return words;
    map_each(words->by_word, free_value, NULL);
    map_each(words->by_sound, free_soundings, NULL);
    map_free(words->by_word);
    map_free(words->by_sound);
    mem_free(words);
    return none;
}

/* NULL: of no group. */
static const struct set *look(const char *word, size_t len)
{
    const struct set *set = map_get(words_of_groups()->by_word, word, len);
    return set && set->count ? set : NULL;
}

/* A word. */

static const struct set *without_english_ending(const char *folded, size_t len)
{
    static const char *const endings[] = {"s", "es", "ing", "ed", "d"};
    const struct set *found = NULL;
    for (size_t i = 0; i < ARRAY_LEN(endings) && !found; i++) {
        size_t n = strlen(endings[i]);
        if (len > n + 2 && strcmp(folded + len - n, endings[i]) == 0)
            found = look(folded, len - n);
    }
    return found;
}

static bool carries_endings(const char *folded)
{
    unsigned char second = (unsigned char)folded[1];
    return (unsigned char)*folded == 0xE0 &&
           ((second >= TAMIL_LEAD && second <= TAMIL_LEAD_LAST) ||
            (second >= BENGALI_LEAD && second <= BENGALI_LEAD_LAST));
}

static const struct set *without_endings(const char *folded, size_t len)
{
    const struct set *found = NULL;
    size_t least = len > ENDING_MIN_BYTES + ENDING_MAX_BYTES ? len - ENDING_MAX_BYTES
                                                             : (size_t)ENDING_MIN_BYTES;
    for (size_t n = len; n > least && !found; n -= 3)
        found = look(folded, n - 3);
    return found;
}

size_t concepts_of(const char *folded, unsigned char out[CONCEPTS_OF_WORD])
{
    size_t len = strlen(folded);
    const struct set *set = look(folded, len);
    if (!set && (unsigned char)*folded < 0x80)
        set = without_english_ending(folded, len);
    else if (!set && carries_endings(folded))
        set = without_endings(folded, len);
    if (set)
        memcpy(out, set->items, set->count);
    return set ? set->count : 0;
}

/* A real word of Latin letters is written like what it sounds like: "tractor" is no "daktar". */
static double likeness_of(const char *a, const char *sound_a, const char *b, const char *sound_b)
{
    double sounds = sound_likeness(sound_a, sound_b);
    bool is_latin = (unsigned char)*a < 0x80, is_latin_too = (unsigned char)*b < 0x80;
    if (!is_latin || !is_latin_too)
        return is_latin == is_latin_too ? sounds : sounds - OTHER_SCRIPT_DOUBT;
    double letters = letters_likeness(a, b);
    return word_is_doer(a, b) ? 0 : MAX(letters, (letters + sounds) / 2);
}

static const struct set *most_alike(const char *folded, double least)
{
    char sound[SOUND_BYTES], other[SOUND_BYTES], keys[SOUND_KEYS_MAX][SOUND_KEY_BYTES];
    const struct set *best = NULL;
    double most = least;
    sound_of(folded, sound);
    size_t n = strlen(folded) >= ALIKE_MIN_BYTES ? sound_keys(sound, keys) : 0;
    for (size_t i = 0; i < n; i++) {
        const struct sounding *at = map_get_str(words_of_groups()->by_sound, keys[i]);
        for (; at; at = at->next) {
            sound_of(at->set->word, other);
            double likeness = likeness_of(folded, sound, at->set->word, other);
            if (likeness >= most) {
                most = likeness;
                best = at->set;
            }
        }
    }
    return best;
}

size_t concepts_alike(const char *folded, double least, unsigned char out[CONCEPTS_OF_WORD],
                      bool *out_is_weak)
{
    const struct set *best = most_alike(folded, MAX(least, ALIKE_MIN));
    *out_is_weak = best && concept_is_weak(best->word);
    if (best)
        memcpy(out, best->items, best->count);
    return best ? best->count : 0;
}

size_t concepts_count(void)
{
    return ARRAY_LEN(groups);
}

enum answer_type concept_answers(unsigned char concept)
{
    return groups[concept].answers;
}

static bool is_among(const char *words, const char *folded)
{
    size_t len = strlen(folded);
    for (const char *at = words; len && (at = strstr(at, folded)); at += len)
        if (at > words && at[-1] == ' ' && at[len] == ' ')
            return true;
    return false;
}

enum answer_type concept_asked_by(const char *folded)
{
    for (size_t i = 0; i < ARRAY_LEN(asking); i++)
        if (asking[i] && is_among(asking[i], folded))
            return (enum answer_type)i;
    return ANSWER_NONE;
}

bool concept_is_weak(const char *folded)
{
    return is_among(weak_words, folded) || is_among(light_words, folded);
}

bool concept_is_common(const char *stem)
{
    return is_among(common_words, stem);
}
