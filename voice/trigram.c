/* Witten-Bell: of a history h seen c(h) times before T(h) different words, the unseen words share
 * T(h) / (c(h) + T(h)); how they share it is told by the shorter history (Katz back-off), whose
 * weight in ARPA is that share over what the seen words leave there.
 *
 * Histories are kept in one table by key; a table's entries are the n-grams, in the order they were
 * first seen. */
#include "trigram.h"

#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

enum { ORDER = 3 };

struct gram {
    uint32_t words[ORDER];
    uint32_t count;    /* of this n-gram */
    uint32_t followed; /* sum of the counts of the n-grams that begin with it */
    uint32_t kinds;    /* how many those are */
    double probability;
    double seen_lower; /* what the followers have by the shorter history */
};

struct grams {
    struct map *by_words;
    struct gram *items;
    size_t count, cap;
};

struct trigram {
    struct map *numbers; /* word -> number + 1 */
    char **texts;
    uint32_t word_count, word_cap;
    struct grams orders[ORDER];
};

struct trigram *trigram_new(void)
{
    struct trigram *trigram = mem_new(struct trigram);
    trigram->numbers = map_new();
    for (int n = 0; n < ORDER; n++)
        trigram->orders[n].by_words = map_new();
    trigram_word(trigram, "<s>");
    trigram_word(trigram, "</s>");
    return trigram;
}

void trigram_free(struct trigram *trigram)
{
    if (!trigram)
        return;
    for (uint32_t i = 0; i < trigram->word_count; i++)
        mem_free(trigram->texts[i]);
    for (int n = 0; n < ORDER; n++) {
        map_free(trigram->orders[n].by_words);
        mem_free(trigram->orders[n].items);
    }
    map_free(trigram->numbers);
    mem_free(trigram->texts);
    mem_free(trigram);
}

static struct gram *find(const struct grams *grams, const uint32_t *words, size_t n)
{
    uintptr_t place = (uintptr_t)map_get(grams->by_words, words, n * sizeof(*words));
    return place ? &grams->items[place - 1] : NULL;
}

static struct gram *find_or_make(struct grams *grams, const uint32_t *words, size_t n)
{
    struct gram *gram = find(grams, words, n);
    if (gram)
        return gram;
    if (grams->count == grams->cap) {
        grams->cap = grams->cap ? 2 * grams->cap : 256;
        grams->items = mem_realloc_n(grams->items, grams->cap, sizeof(*grams->items));
    }
    gram = &grams->items[grams->count++];
    *gram = (struct gram){0};
    memcpy(gram->words, words, n * sizeof(*words));
    map_set(grams->by_words, words, n * sizeof(*words), (void *)(uintptr_t)grams->count);
    return gram;
}

uint32_t trigram_word(struct trigram *trigram, const char *word)
{
    uintptr_t number = (uintptr_t)map_get_str(trigram->numbers, word);
    if (number)
        return (uint32_t)(number - 1);
    if (trigram->word_count == trigram->word_cap) {
        trigram->word_cap = trigram->word_cap ? 2 * trigram->word_cap : 256;
        trigram->texts = mem_realloc_n(trigram->texts, trigram->word_cap, sizeof(*trigram->texts));
    }
    uint32_t made = trigram->word_count++;
    trigram->texts[made] = mem_strdup(word);
    map_set_str(trigram->numbers, word, (void *)((uintptr_t)made + 1));
    find_or_make(&trigram->orders[0], &made, 1);
    return made;
}

uint32_t trigram_word_count(const struct trigram *trigram)
{
    return trigram->word_count;
}

const char *trigram_word_text(const struct trigram *trigram, uint32_t word)
{
    return trigram->texts[word];
}

/* One n-gram more: of itself, and of the history that it follows. */
static void count_one(struct trigram *trigram, const uint32_t *words, size_t n, uint32_t weight)
{
    struct gram *gram = find_or_make(&trigram->orders[n - 1], words, n);
    bool is_first = gram->count == 0;
    gram->count += weight;
    if (n == 1)
        return;
    struct gram *history = find_or_make(&trigram->orders[n - 2], words, n - 1);
    history->followed += weight;
    history->kinds += is_first;
}

void trigram_add(struct trigram *trigram, const uint32_t *words, size_t count, uint32_t weight)
{
    uint32_t window[ORDER] = {TRIGRAM_BEGIN, TRIGRAM_BEGIN, TRIGRAM_BEGIN};
    for (size_t i = 0; i <= count; i++) {
        memmove(window, window + 1, (ORDER - 1) * sizeof(*window));
        window[ORDER - 1] = i < count ? words[i] : TRIGRAM_END;
        count_one(trigram, window + 2, 1, weight);
        count_one(trigram, window + 1, 2, weight);
        if (i > 0)
            count_one(trigram, window, 3, weight);
    }
}

/* Of the words alone: the share of the unseen goes to all words alike, so that none is impossible.
 */
static void set_unigrams(struct trigram *trigram)
{
    struct grams *grams = &trigram->orders[0];
    double total = 0, kinds = 0;
    for (size_t i = 0; i < grams->count; i++) {
        total += grams->items[i].count;
        kinds += grams->items[i].count > 0;
    }
    double unseen = kinds / (total + kinds);
    for (size_t i = 0; i < grams->count; i++)
        grams->items[i].probability =
            grams->items[i].count / (total + kinds) + unseen / (double)trigram->word_count;
}

static void set_probabilities(struct trigram *trigram)
{
    set_unigrams(trigram);
    for (size_t n = 2; n <= ORDER; n++) {
        struct grams *grams = &trigram->orders[n - 1];
        for (size_t i = 0; i < grams->count; i++) {
            struct gram *gram = &grams->items[i];
            struct gram *history = find(&trigram->orders[n - 2], gram->words, n - 1);
            gram->probability = gram->count / (double)(history->followed + history->kinds);
            history->seen_lower +=
                find(&trigram->orders[n - 2], gram->words + 1, n - 1)->probability;
        }
    }
}

static double backoff(const struct gram *gram)
{
    if (gram->kinds == 0)
        return 1;
    double share = gram->kinds / (double)(gram->followed + gram->kinds);
    return share / fmax(1 - gram->seen_lower, 1e-4);
}

enum err trigram_write(struct trigram *trigram, struct buf *out)
{
    set_probabilities(trigram);
    (void)buf_append_str(out, "\\data\\\n");
    for (size_t n = 1; n <= ORDER; n++)
        (void)buf_printf(out, "ngram %zu=%zu\n", n, trigram->orders[n - 1].count);
    for (size_t n = 1; n <= ORDER; n++) {
        (void)buf_printf(out, "\n\\%zu-grams:\n", n);
        for (size_t i = 0; i < trigram->orders[n - 1].count; i++) {
            const struct gram *gram = &trigram->orders[n - 1].items[i];
            (void)buf_printf(out, "%.4f",
                             n == 1 && gram->words[0] == TRIGRAM_BEGIN ? -99.0
                                                                       : log10(gram->probability));
            for (size_t k = 0; k < n; k++)
                (void)buf_printf(out, " %s", trigram->texts[gram->words[k]]);
            if (n < ORDER)
                (void)buf_printf(out, " %.4f", log10(backoff(gram)));
            (void)buf_append_char(out, '\n');
        }
    }
    (void)buf_append_str(out, "\n\\end\\\n");
    return out->is_full ? ERR_LIMIT : OK;
}
