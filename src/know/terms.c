/* See terms.h. Thread: any. */
#include "know/terms.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/map.h"
#include "know/concepts.h"
#include "store/document.h"
#include "text/words.h"

#define GRAM_MARK    "\xEE\x80\x80" /* U+E000 */
#define END_MARK     "\xEE\x80\x81" /* U+E001 */
#define CONCEPT_MARK "\xEE\x80\x82" /* U+E002 */

enum { GRAM_LEAST_CHARS = 4, MARK_BYTES = 3, WORD_CHARS_MAX = GRAMS_MAX };

struct terms_writer {
    struct buf *out;
    struct map *grams; /* each once a passage */
    unsigned long concepts;
};

bool terms_is_word(const char *term)
{
    return strncmp(term, GRAM_MARK, MARK_BYTES) != 0 &&
           strncmp(term, CONCEPT_MARK, MARK_BYTES) != 0;
}

void terms_concept(unsigned concept, char out[CONCEPT_BYTES])
{
    snprintf(out, CONCEPT_BYTES, CONCEPT_MARK "%u", concept);
}

/* Where each character of the marked word begins; the last entry is its end. */
static size_t characters(const char *text, const char *starts[WORD_CHARS_MAX + 1])
{
    size_t n = 0;
    for (; *text && n < WORD_CHARS_MAX; text++)
        if (((unsigned char)*text & 0xC0) != 0x80)
            starts[n++] = text;
    while (((unsigned char)*text & 0xC0) == 0x80)
        text++;
    starts[n] = text;
    return n;
}

size_t terms_grams(const char *folded, char out[GRAMS_MAX][GRAM_BYTES])
{
    char marked[WORD_MAX_BYTES + 2 * MARK_BYTES];
    const char *starts[WORD_CHARS_MAX + 1];
    size_t len = strlen(folded), count = 0;
    memcpy(marked, END_MARK, MARK_BYTES);
    memcpy(marked + MARK_BYTES, folded, len);
    memcpy(marked + MARK_BYTES + len, END_MARK, MARK_BYTES + 1);
    size_t n = characters(marked, starts);
    if (n < GRAM_LEAST_CHARS + 2)
        return 0;
    for (size_t i = 0; i + GRAM_CHARS <= n; i++) {
        size_t bytes = (size_t)(starts[i + GRAM_CHARS] - starts[i]);
        memcpy(out[count], GRAM_MARK, MARK_BYTES);
        memcpy(out[count] + MARK_BYTES, starts[i], bytes);
        out[count++][MARK_BYTES + bytes] = '\0';
    }
    return count;
}

double terms_likeness(const char *a, const char *b)
{
    char grams_a[GRAMS_MAX][GRAM_BYTES], grams_b[GRAMS_MAX][GRAM_BYTES];
    size_t n_a = terms_grams(a, grams_a), n_b = terms_grams(b, grams_b), shared = 0;
    bool is_used[GRAMS_MAX] = {0};
    for (size_t i = 0; i < n_a; i++) {
        for (size_t j = 0; j < n_b; j++) {
            if (is_used[j] || strcmp(grams_a[i], grams_b[j]) != 0)
                continue;
            is_used[j] = true;
            shared++;
            break;
        }
    }
    return n_a && n_b ? 2.0 * (double)shared / (double)(n_a + n_b) : 0;
}

static void append(struct buf *out, const char *term)
{
    if (out->len)
        (void)buf_append_char(out, ' ');
    (void)buf_append_str(out, term);
}

static int write_word(void *arg, const struct word *word)
{
    struct terms_writer *writer = arg;
    append(writer->out, word->stem);
    if (strcmp(word->stem, word->folded) != 0)
        append(writer->out, word->folded);
    writer->concepts |= concepts_of(word->folded);
    char grams[GRAMS_MAX][GRAM_BYTES];
    size_t n = terms_grams(word->folded, grams);
    for (size_t i = 0; i < n; i++) {
        if (map_get_str(writer->grams, grams[i]))
            continue;
        map_set_str(writer->grams, grams[i], writer);
        append(writer->out, grams[i]);
    }
    return writer->out->is_full;
}

void know_terms(const struct passage *passage, struct buf *out)
{
    AUTO(map) grams = map_new();
    struct terms_writer writer = {.out = out, .grams = grams};
    if (passage->question)
        words_each(passage->question, passage->language, write_word, &writer);
    words_each(passage->text, passage->language, write_word, &writer);
    for (unsigned concept = 0; concept < 8 * sizeof(writer.concepts); concept ++) {
        char term[CONCEPT_BYTES];
        terms_concept(concept, term);
        if (writer.concepts >> concept & 1)
            append(out, term);
    }
}
