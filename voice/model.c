/* The text is read once into sentences of known words. Its content words (not the, is, of) alone
 * and in runs of up to three go into the frames of corpus.def, so that a question about them is
 * likely before anybody asked it. */
#include "model.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "dictionary.h"
#include "text/number.h"
#include "text/words.h"
#include "trigram.h"

enum {
    TEXT_MAX_BYTES = 128 * 1024, /* of the vocabulary that is read */
    WORDS_MAX = 6000,
    WORD_MAX_CHARS = 40,
    SENTENCE_MAX_WORDS = 60,
    RUNS_MAX = 500, /* content runs that go into frames */
    RUN_MAX_WORDS = 3,
    TEXT_WEIGHT = 2, /* the agent's own sentences */
    LINE_WEIGHT = 4, /* what all callers say */
    FRAME_WEIGHT = 1,
};

static const char *const lines[] = {
#define LINE(text) text,
#define FRAME(text)
#include "corpus.def"
#undef LINE
#undef FRAME
};

static const char *const frames[] = {
#define LINE(text)
#define FRAME(text) text,
#include "corpus.def"
#undef LINE
#undef FRAME
};

struct run {
    uint32_t words[RUN_MAX_WORDS];
    size_t count;
};

struct model {
    struct trigram *trigram;
    struct buf *dictionary;
    struct map *unknown; /* words that nobody can say */
    struct map *known_runs;
    struct run runs[RUNS_MAX];
    size_t run_count;
};

struct sentence {
    uint32_t words[SENTENCE_MAX_WORDS];
    bool is_content[SENTENCE_MAX_WORDS];
    size_t count;
};

/* The number of a word that can be said; false: it cannot, or there are too many. */
static bool take_word(struct model *model, const char *word, uint32_t *out)
{
    uint32_t before = trigram_word_count(model->trigram);
    if (map_get_str(model->unknown, word))
        return false;
    *out = trigram_word(model->trigram, word);
    return *out < before || dictionary_lines(word, model->dictionary);
}

static bool can_say(struct model *model, const char *word)
{
    static char yes;
    AUTO_BUF scratch = BUF_INIT(4096);
    if (map_get_str(model->unknown, word))
        return false;
    if (trigram_word_count(model->trigram) < WORDS_MAX && dictionary_lines(word, &scratch))
        return true;
    map_set_str(model->unknown, word, &yes);
    return false;
}

static void add_word(struct model *model, const char *word, struct sentence *sentence)
{
    uint32_t number;
    if (sentence->count == SENTENCE_MAX_WORDS || !can_say(model, word) ||
        !take_word(model, word, &number))
        return;
    sentence->is_content[sentence->count] = !word_is_stop(word, "en") && word[1];
    sentence->words[sentence->count++] = number;
}

/* Cuts text into words of a-z and '; other letters make their word unknown, so it is left out. */
static const char *read_sentence(struct model *model, const char *at, struct sentence *out)
{
    char word[WORD_MAX_CHARS + 1];
    size_t len = 0;
    bool is_foreign = false;
    out->count = 0;
    for (;; at++) {
        unsigned char c = (unsigned char)*at;
        bool is_inner = c == '\'' && len > 0 && isalpha((unsigned char)at[1]);
        if (isalpha(c) || is_inner || c >= 0x80) {
            is_foreign = is_foreign || c >= 0x80 || len == WORD_MAX_CHARS;
            if (!is_foreign)
                word[len++] = (char)tolower(c);
            continue;
        }
        word[len] = '\0';
        if (len > 0 && !is_foreign)
            add_word(model, word, out);
        len = 0;
        is_foreign = false;
        if (c == '\0')
            return at;
        bool is_stop = c == '\n' || ((c == '.' || c == '!' || c == '?' || c == ';' || c == ':') &&
                                     isspace((unsigned char)at[1]));
        if (is_stop)
            return at + 1;
    }
}

static void keep_run(struct model *model, const uint32_t *words, size_t count)
{
    static char yes;
    if (model->run_count == RUNS_MAX ||
        map_set(model->known_runs, words, count * sizeof(*words), &yes))
        return;
    struct run *run = &model->runs[model->run_count++];
    memcpy(run->words, words, count * sizeof(*words));
    run->count = count;
}

/* "towels" also as "towel", and "dog" as "dogs": callers ask in the other number. */
static void keep_other_number(struct model *model, uint32_t number)
{
    char other[WORD_MAX_CHARS + 2];
    const char *word = trigram_word_text(model->trigram, number);
    size_t len = strlen(word);
    bool is_plural = len > 3 && word[len - 1] == 's' && word[len - 2] != 's';
    uint32_t made;
    snprintf(other, sizeof(other), "%.*s%s", (int)(is_plural ? len - 1 : len), word,
             is_plural ? "" : "s");
    if (dictionary_has(other) && can_say(model, other) && take_word(model, other, &made))
        keep_run(model, &made, 1);
}

/* Each content word, and each run of two or three that stand together. */
static void collect_runs(struct model *model, const struct sentence *sentence)
{
    for (size_t i = 0; i < sentence->count; i++)
        for (size_t n = 1; n <= RUN_MAX_WORDS && i + n <= sentence->count; n++) {
            if (!sentence->is_content[i + n - 1])
                break;
            keep_run(model, sentence->words + i, n);
            if (n == 1)
                keep_other_number(model, sentence->words[i]);
        }
}

static void add_text(struct model *model, const char *text, uint32_t weight, bool has_runs)
{
    struct sentence sentence;
    while (*text) {
        text = read_sentence(model, text, &sentence);
        if (sentence.count == 0)
            continue;
        trigram_add(model->trigram, sentence.words, sentence.count, weight);
        if (has_runs)
            collect_runs(model, &sentence);
    }
}

/* "where is the %" with a run in place of each %. */
static void add_frame(struct model *model, const char *frame, const struct run *run)
{
    struct sentence whole = {.count = 0};
    AUTO_MEM char *text = mem_strdup(frame);
    char *rest = text;
    for (char *word; (word = strsep(&rest, " "));) {
        if (*word != '%')
            add_word(model, word, &whole);
        for (size_t i = 0; *word == '%' && i < run->count && whole.count < SENTENCE_MAX_WORDS; i++)
            whole.words[whole.count++] = run->words[i];
    }
    trigram_add(model->trigram, whole.words, whole.count, FRAME_WEIGHT);
}

enum err model_write(const char *vocabulary, struct buf *arpa, struct buf *dictionary)
{
    struct model *model = mem_new(struct model);
    model->trigram = trigram_new();
    model->dictionary = dictionary;
    model->unknown = map_new();
    model->known_runs = map_new();
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        add_text(model, lines[i], LINE_WEIGHT, false);
    AUTO_BUF spoken = BUF_INIT(4 * TEXT_MAX_BYTES);
    AUTO_MEM char *read = mem_strndup(vocabulary, TEXT_MAX_BYTES);
    number_expand(read, &spoken);
    add_text(model, spoken.data ? spoken.data : "", TEXT_WEIGHT, true);
    for (size_t r = 0; r < model->run_count; r++)
        for (size_t f = 0; f < ARRAY_LEN(frames); f++)
            add_frame(model, frames[f], &model->runs[r]);
    enum err err = trigram_write(model->trigram, arpa);
    trigram_free(model->trigram);
    map_free(model->unknown);
    map_free(model->known_runs);
    mem_free(model);
    return err ? err : dictionary->is_full ? ERR_LIMIT : OK;
}

void model_readable(const char *words, struct buf *out)
{
    AUTO_MEM char *text = mem_strdup(words);
    char *rest = text;
    const char *half = NULL; /* "a" or "p" that may begin "a m" */
    for (char *word; (word = strsep(&rest, " "));) {
        word[strcspn(word, "(")] = '\0';
        if (*word == '\0' || strchr("<[+", *word))
            continue;
        bool is_half_of_day = half && strcmp(word, "m") == 0;
        if (!is_half_of_day && out->len > 0)
            (void)buf_append_char(out, ' ');
        (void)buf_append_str(out, word);
        half = strcmp(word, "a") == 0 || strcmp(word, "p") == 0 ? word : NULL;
    }
}
