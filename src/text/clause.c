#include "text/clause.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "text/words.h"

enum { WORD_SIZE = 48, TAIL_BYTES = 160 /* of the text: more says nothing of its end */ };

static const struct row {
    const char *iso, *never_last, *seldom_last, *digits, *spells;
} rows[] = {
#define CLAUSE(iso, never_last, seldom_last, digits, spells)                                       \
    {iso, never_last, seldom_last, digits, spells},
#include "text/clauses.def"
#undef CLAUSE
};

/* What was read so far, as seen from its end. */
struct reading {
    const struct row *row;
    char last[4][WORD_SIZE];     /* words from the end, folded: [0] is the last one */
    const char *end;             /* of the last word, in the text */
    size_t digit_groups, digits; /* of the run of digits at the end */
    size_t letters;              /* of the run of single letters at the end */
    bool is_figure;              /* the digits are one number that is written out: 12.50, 10:30 */
};

struct search {
    const char *word;
    bool is_found;
};

static int compare(void *arg, const struct word *word)
{
    struct search *search = arg;
    search->is_found = strcmp(word->folded, search->word) == 0;
    return search->is_found;
}

/* The lists are folded as the text is. */
static bool has_word(const char *list, const char *folded)
{
    struct search search = {.word = folded};
    words_each(list, NULL, compare, &search);
    return search.is_found;
}

static bool is_letter(const char *folded)
{
    return text_length(folded) == 1 && !(*folded >= '0' && *folded <= '9');
}

/* "12.50", "10:30", "24/12": a mark between two groups of digits, and nothing else. */
static bool joins(const struct reading *reading, const struct word *word)
{
    return reading->end && word->text == reading->end + 1 && strchr(".,:/", *reading->end);
}

static void count_digits(struct reading *reading, const struct word *word)
{
    bool is_number = word->is_number;
    if (!is_number && !has_word(reading->row->digits, word->folded)) {
        reading->digit_groups = reading->digits = 0;
        reading->is_figure = false;
        return;
    }
    reading->is_figure = is_number && reading->digits > 0 && joins(reading, word);
    reading->digit_groups++;
    reading->digits += is_number ? strlen(word->folded) : 1;
}

static int read_word(void *arg, const struct word *word)
{
    struct reading *reading = arg;
    memmove(reading->last[1], reading->last[0], sizeof(reading->last) - WORD_SIZE);
    snprintf(reading->last[0], WORD_SIZE, "%s", word->folded);
    count_digits(reading, word);
    reading->letters = is_letter(word->folded) ? reading->letters + 1 : 0;
    reading->end = word->text + word->len;
    return 0;
}

static bool is_number_dictated(const struct reading *reading)
{
    bool is_run = reading->digit_groups >= 2 || reading->digits >= CLAUSE_DIGITS_LONG;
    return is_run && !reading->is_figure && reading->digits < CLAUSE_DIGITS_WHOLE;
}

static bool has_phrase(const char *list, const char *phrase)
{
    size_t phrase_len = strlen(phrase);
    while (*list) {
        size_t len = strcspn(list, ",");
        if (len == phrase_len && memcmp(list, phrase, len) == 0)
            return true;
        list += len + (list[len] == ',');
    }
    return false;
}

/* "s m i", and "b as in boy": a letter, what the table has between, a word. */
static bool is_spelled(const struct reading *reading)
{
    char between[2 * WORD_SIZE + 1];
    snprintf(between, sizeof(between), "%s %s", reading->last[2], reading->last[1]);
    const char *spells = reading->row->spells;
    return reading->letters >= 2 ||
           (is_letter(reading->last[2]) && has_phrase(spells, reading->last[1])) ||
           (is_letter(reading->last[3]) && has_phrase(spells, between));
}

static const char *tail_of(const char *text)
{
    size_t len = strlen(text);
    if (len <= TAIL_BYTES)
        return text;
    const char *space = strchr(text + len - TAIL_BYTES, ' ');
    return space ? space : text;
}

enum clause clause_end(const char *text, const char *iso, bool is_stopped)
{
    struct reading reading = {0};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].iso, iso) == 0)
            reading.row = &rows[i];
    if (!reading.row)
        return CLAUSE_WHOLE;
    words_each(tail_of(text), NULL, read_word, &reading);
    if (!reading.end)
        return CLAUSE_WHOLE;
    if (is_number_dictated(&reading) || is_spelled(&reading))
        return CLAUSE_DICTATED;
    bool is_open = has_word(reading.row->never_last, reading.last[0]) ||
                   (!is_stopped && has_word(reading.row->seldom_last, reading.last[0]));
    return is_open ? CLAUSE_OPEN : CLAUSE_WHOLE;
}
