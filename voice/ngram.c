/* Witten-Bell: of a history h seen c(h) times before T(h) different words, the unseen words share
 * T(h) / (c(h) + T(h)); how they share it is told by the shorter history (Katz back-off), whose
 * weight in ARPA is that share over what the seen words leave there.
 *
 * Histories are kept in one table by key; a table's entries are the n-grams, in the order they were
 * first seen. */
#include "ngram.h"

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

struct ngram {
    struct map *numbers; /* word -> number + 1 */
    char **texts;
    uint32_t word_count, word_cap;
    struct grams orders[ORDER];
};

struct ngram *ngram_new(void)
{
    struct ngram *ngram = mem_new(struct ngram);
    ngram->numbers = map_new();
    for (int n = 0; n < ORDER; n++)
        ngram->orders[n].by_words = map_new();
    ngram_word(ngram, "<s>");
    ngram_word(ngram, "</s>");
    return ngram;
}

void ngram_free(struct ngram *ngram)
{
    if (!ngram)
        return;
    for (uint32_t i = 0; i < ngram->word_count; i++)
        mem_free(ngram->texts[i]);
    for (int n = 0; n < ORDER; n++) {
        map_free(ngram->orders[n].by_words);
        mem_free(ngram->orders[n].items);
    }
    map_free(ngram->numbers);
    mem_free(ngram->texts);
    mem_free(ngram);
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

uint32_t ngram_word(struct ngram *ngram, const char *word)
{
    uintptr_t number = (uintptr_t)map_get_str(ngram->numbers, word);
    if (number)
        return (uint32_t)(number - 1);
    if (ngram->word_count == ngram->word_cap) {
        ngram->word_cap = ngram->word_cap ? 2 * ngram->word_cap : 256;
        ngram->texts = mem_realloc_n(ngram->texts, ngram->word_cap, sizeof(*ngram->texts));
    }
    uint32_t made = ngram->word_count++;
    ngram->texts[made] = mem_strdup(word);
    map_set_str(ngram->numbers, word, (void *)((uintptr_t)made + 1));
    find_or_make(&ngram->orders[0], &made, 1);
    return made;
}

uint32_t ngram_word_count(const struct ngram *ngram)
{
    return ngram->word_count;
}

const char *ngram_word_text(const struct ngram *ngram, uint32_t word)
{
    return ngram->texts[word];
}

/* One n-gram more: of itself, and of the history that it follows. */
static void count_one(struct ngram *ngram, const uint32_t *words, size_t n, uint32_t weight)
{
    struct gram *gram = find_or_make(&ngram->orders[n - 1], words, n);
    bool is_first = gram->count == 0;
    gram->count += weight;
    if (n == 1)
        return;
    struct gram *history = find_or_make(&ngram->orders[n - 2], words, n - 1);
    history->followed += weight;
    history->kinds += is_first;
}

void ngram_add(struct ngram *ngram, const uint32_t *words, size_t count, uint32_t weight)
{
    uint32_t window[ORDER] = {NGRAM_BEGIN, NGRAM_BEGIN, NGRAM_BEGIN};
    for (size_t i = 0; i <= count; i++) {
        memmove(window, window + 1, (ORDER - 1) * sizeof(*window));
        window[ORDER - 1] = i < count ? words[i] : NGRAM_END;
        count_one(ngram, window + 2, 1, weight);
        count_one(ngram, window + 1, 2, weight);
        if (i > 0)
            count_one(ngram, window, 3, weight);
    }
}

/* Of the words alone: the share of the unseen goes to all words alike, so that none is impossible.
 */
static void set_unigrams(struct ngram *ngram)
{
    struct grams *grams = &ngram->orders[0];
    double total = 0, kinds = 0;
    for (size_t i = 0; i < grams->count; i++) {
        total += grams->items[i].count;
        kinds += grams->items[i].count > 0;
    }
    double unseen = kinds / (total + kinds);
    for (size_t i = 0; i < grams->count; i++)
        grams->items[i].probability =
            grams->items[i].count / (total + kinds) + unseen / (double)ngram->word_count;
}

static void set_probabilities(struct ngram *ngram)
{
    set_unigrams(ngram);
    for (size_t n = 2; n <= ORDER; n++) {
        struct grams *grams = &ngram->orders[n - 1];
        for (size_t i = 0; i < grams->count; i++) {
            struct gram *gram = &grams->items[i];
            struct gram *history = find(&ngram->orders[n - 2], gram->words, n - 1);
            gram->probability = gram->count / (double)(history->followed + history->kinds);
            history->seen_lower += find(&ngram->orders[n - 2], gram->words + 1, n - 1)->probability;
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

enum err ngram_write(struct ngram *ngram, struct buf *out)
{
    set_probabilities(ngram);
    (void)buf_append_str(out, "\\data\\\n");
    for (size_t n = 1; n <= ORDER; n++)
        (void)buf_printf(out, "ngram %zu=%zu\n", n, ngram->orders[n - 1].count);
    for (size_t n = 1; n <= ORDER; n++) {
        (void)buf_printf(out, "\n\\%zu-grams:\n", n);
        for (size_t i = 0; i < ngram->orders[n - 1].count; i++) {
            const struct gram *gram = &ngram->orders[n - 1].items[i];
            (void)buf_printf(out, "%.4f",
                             n == 1 && gram->words[0] == NGRAM_BEGIN ? -99.0
                                                                     : log10(gram->probability));
            for (size_t k = 0; k < n; k++)
                (void)buf_printf(out, " %s", ngram->texts[gram->words[k]]);
            if (n < ORDER)
                (void)buf_printf(out, " %.4f", log10(backoff(gram)));
            (void)buf_append_char(out, '\n');
        }
    }
    (void)buf_append_str(out, "\n\\end\\\n");
    return out->is_full ? ERR_LIMIT : OK;
}
