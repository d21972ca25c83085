/* Of the model's 72,500 words the 20,000 that are not rare are listened for: a decoder costs memory
 * and time by the word, and the rare ones are taken for frequent ones more often than they are
 * said. */
#include "general.h"

#include <pocketsphinx.h>
#include <sphinxbase/ngram_model.h>

#include "dictionary.h"

enum { DICTIONARY_MAX_BYTES = 4 * 1024 * 1024 };

static const char *const path = "/usr/share/pocketsphinx/model/en-us/en-us.lm.bin";
static const double LOG_BASE = 1.0001;      /* the decoder's */
static const double PROBABILITY_MIN = 1e-6; /* of a word by itself, not to be rare */

static struct {
    cmd_ln_t *settings;
    logmath_t *logarithms;
    ngram_model_t *model;
    struct buf dictionary;
    bool is_tried;
} general;

static bool is_frequent(int32 word)
{
    int32 used;
    int32 score = ngram_ng_prob(general.model, word, NULL, 0, &used);
    return score >= logmath_log(general.logarithms, PROBABILITY_MIN);
}

static void collect_words(void)
{
    buf_init(&general.dictionary, DICTIONARY_MAX_BYTES);
    int32 count = (int32)ngram_model_get_counts(general.model)[0];
    for (int32 i = 0; i < count; i++) {
        const char *word = ngram_word(general.model, i);
        if (is_frequent(i) && dictionary_has(word))
            (void)dictionary_lines(word, &general.dictionary);
    }
}

static void load(void)
{
    if (general.is_tried)
        return;
    general.is_tried = true;
    general.logarithms = logmath_init(LOG_BASE, 0, TRUE);
    general.settings = cmd_ln_init(NULL, ps_args(), TRUE, "-lw", GENERAL_WEIGHT, NULL);
    general.model = ngram_model_read(general.settings, path, NGRAM_BIN, general.logarithms);
    if (general.model)
        collect_words();
}

cmd_ln_t *general_settings(void)
{
    load();
    return general.settings;
}

logmath_t *general_logarithms(void)
{
    load();
    return general.logarithms;
}

ngram_model_t *general_model(void)
{
    load();
    return general.model;
}

bool general_has(const char *word)
{
    load();
    int32 number = ngram_wid(general.model, word);
    return number != ngram_unknown_wid(general.model) && is_frequent(number) &&
           dictionary_has(word);
}

const struct buf *general_dictionary(void)
{
    load();
    return &general.dictionary;
}
