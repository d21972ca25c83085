/* See terms.h. Thread: any. */
#include "know/terms.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "know/concepts.h"
#include "know/language.h"
#include "store/document.h"
#include "store/tx.h"
#include "text/sound.h"
#include "text/spoken.h"
#include "text/words.h"

#define MONEY "\xC2\xA4" /* U+00A4, the sign of any money */

enum { DIGITS_MAX = 15, GROUP_DIGITS_MIN = 2, GROUP_DIGITS_MAX = 3, HUNDREDTHS = 100 };

struct reader {
    struct arena *arena;
    const char *text, *end; /* end: of the last word */
    struct term_list *out;
    struct spoken spoken;
    size_t first;                /* term of the number that is open */
    bool is_hindi;               /* in Latin letters */
    bool is_digits;              /* the number that is open is in digits, which */
    char digits[DIGITS_MAX + 1]; /* a comma and further digits may continue */
};

/* Numbers. */

static void add(struct reader *reader, const char *folded, const char *stem, const char *place)
{
    struct term *term = GROW(reader->out, reader->arena);
    *term = (struct term){.folded = arena_strdup(reader->arena, folded), .place = place};
    term->stem = strcmp(folded, stem) == 0 ? term->folded : arena_strdup(reader->arena, stem);
}

static void end_number(struct reader *reader)
{
    struct spoken *spoken = &reader->spoken;
    if (!spoken->is_open)
        return;
    int64_t hundredths = spoken_hundredths(spoken);
    char value[32];
    int n = snprintf(value, sizeof(value), "#%" PRId64, hundredths / HUNDREDTHS);
    if (hundredths % HUNDREDTHS)
        snprintf(value + n, sizeof(value) - (size_t)n, ".%" PRId64, hundredths % HUNDREDTHS);
    for (size_t i = reader->first; i < reader->out->count; i++)
        reader->out->items[i].is_spelled = true;
    add(reader, value, value, reader->end);
    reader->out->items[reader->out->count - 1].is_number = true;
    *spoken = (struct spoken){0};
    reader->is_digits = false;
}

/* "6,500" and "1,50,000" are two and three words. */
static bool continues_digits(const struct reader *reader, const struct word *word, size_t digits)
{
    return reader->is_digits && digits >= GROUP_DIGITS_MIN && digits <= GROUP_DIGITS_MAX &&
           word->text == reader->end + 1 && *reader->end == ',' &&
           strlen(reader->digits) + digits <= DIGITS_MAX;
}

static void take_digits(struct reader *reader, const struct word *word, const char *digits)
{
    size_t before = 0;
    if (continues_digits(reader, word, strlen(digits)))
        before = strlen(reader->digits);
    else
        end_number(reader);
    memcpy(reader->digits + before, digits, strlen(digits) + 1);
    reader->first = reader->out->count;
    reader->is_digits = true;
    spoken_begin(&reader->spoken, strtoll(reader->digits, NULL, 10));
}

static bool is_money_sign(const char *text, const char *word)
{
    static const char *const signs[] = {"$", "\xE2\x82\xB9", "\xE2\x82\xAC", "\xC2\xA3"};
    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        size_t len = strlen(signs[i]);
        if ((size_t)(word - text) >= len && memcmp(word - len, signs[i], len) == 0)
            return true;
    }
    return false;
}

/* Words. */

static int take_word(void *arg, const struct word *word)
{
    struct reader *reader = arg;
    char digits[DIGITS_MAX + 1];
    size_t len = word_digits(word->folded, digits, sizeof(digits));
    if (is_money_sign(reader->text, word->text)) {
        end_number(reader);
        add(reader, MONEY, MONEY, word->text);
    }
    if (len)
        take_digits(reader, word, digits);
    const char *rest = word->folded + len; /* "10am" is 10 and "am" */
    if (*rest) {
        size_t first = reader->out->count;
        bool was_open = reader->spoken.is_open;
        if (!spoken_take(&reader->spoken, rest, reader->is_hindi)) {
            end_number(reader);
            was_open = false;
            first = reader->out->count;
            (void)spoken_take(&reader->spoken, rest, reader->is_hindi);
        }
        if (!was_open)
            reader->first = first;
        add(reader, rest, len ? rest : word->stem, word->text);
    }
    reader->end = word->text + word->len;
    return 0;
}

void terms_of(const char *text, const char *iso, struct arena *arena, struct term_list *out)
{
    struct reader reader = {.arena = arena,
                            .text = text,
                            .end = text,
                            .out = out,
                            .is_hindi = strcmp(iso, LANGUAGE_LATIN_OF_INDIA) == 0};
    words_each(text, iso, take_word, &reader);
    end_number(&reader);
}

/* For the index. */

static void add_terms(const char *text, const char *iso, struct arena *arena, struct word_list *out)
{
    struct term_list terms = {0};
    terms_of(text, iso, arena, &terms);
    for (size_t i = 0; i < terms.count; i++)
        *GROW(out, arena) = terms.items[i].folded;
}

/* The question of a card leads, or a section's heading: its first line. */
void know_words(const struct passage *passage, struct arena *arena, struct word_list *out)
{
    const char *text = passage->text, *line = strchr(text, '\n');
    if (passage->question) {
        add_terms(passage->question, passage->language, arena, out);
    } else if (line && line[1]) {
        add_terms(arena_strndup(arena, text, (size_t)(line - text)), passage->language, arena, out);
        text = line + 1;
    }
    out->lead = out->count;
    add_terms(text, passage->language, arena, out);
}

static void add_key(struct buf *out, const char *key)
{
    if (out->len)
        (void)buf_append_char(out, ' ');
    (void)buf_append_str(out, key);
}

void terms_stem_key(const char *stem, char out[TERM_BYTES])
{
    snprintf(out, TERM_BYTES, "~%s", stem);
}

void terms_concept_key(unsigned char concept, char out[TERM_BYTES])
{
    snprintf(out, TERM_BYTES, "@%d", concept);
}

size_t terms_sound_keys(const char *sound, char (*out)[TERM_BYTES], size_t most)
{
    char keys[SOUND_KEYS_MAX][SOUND_KEY_BYTES];
    size_t n = MIN(sound_keys(sound, keys), most);
    for (size_t i = 0; i < n; i++)
        snprintf(out[i], TERM_BYTES, "=%.*s", SOUND_KEY_BYTES, keys[i]);
    return n;
}

struct stemming {
    struct buf *out;
    char stem[WORD_MAX_BYTES];
};

static int add_stem_key(void *arg, const struct word *word)
{
    struct stemming *stemming = arg;
    char key[TERM_BYTES];
    terms_stem_key(word->stem, key);
    add_key(stemming->out, key);
    snprintf(stemming->stem, sizeof(stemming->stem), "%s", word->stem);
    return 1;
}

void know_keys(const char *word, const char *iso, struct buf *out)
{
    if (*word == '#')
        return;
    struct stemming stemming = {.out = out};
    words_each(word, iso, add_stem_key, &stemming);
    char sound[SOUND_BYTES], keys[SOUND_KEYS_MAX][TERM_BYTES], key[TERM_BYTES];
    sound_of(word, sound);
    size_t n = terms_sound_keys(sound, keys, SOUND_KEYS_MAX);
    for (size_t i = 0; i < n; i++)
        add_key(out, keys[i]);
    unsigned char concepts[CONCEPTS_OF_WORD];
    size_t count = concepts_of(word, concepts);
    if (!count)
        count = concepts_of(stemming.stem, concepts);
    for (size_t i = 0; i < count; i++) {
        terms_concept_key(concepts[i], key);
        add_key(out, key);
    }
}
