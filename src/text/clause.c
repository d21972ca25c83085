#include "text/clause.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "text/phrase.h"
#include "text/words.h"

enum { WORD_SIZE = 48, TAIL_BYTES = 160 /* of the text: more says nothing of its end */ };

static const struct row {
    const char *iso, *never_last, *seldom_last, *digits, *spells, *asks, *closes;
} rows[] = {
#define CLAUSE(iso, never_last, seldom_last, digits, spells, asks, closes)                         \
    {iso, never_last, seldom_last, digits, spells, asks, closes},
#include "text/clauses.def"
#undef CLAUSE
};
static const struct row unknown = {"", "", "", "", "", "", ""};

static const struct {
    const char *text;
    enum clause_mark mark;
} marks[] = {
    {".", CLAUSE_STOP},      {"!", CLAUSE_STOP},     {"।", CLAUSE_STOP}, {"॥", CLAUSE_STOP},
    {"。", CLAUSE_STOP},     {"！", CLAUSE_STOP},    {"۔", CLAUSE_STOP}, {"?", CLAUSE_QUESTION},
    {"？", CLAUSE_QUESTION}, {"؟", CLAUSE_QUESTION},
};

/* What was read so far, as seen from its end. */
struct reading {
    const struct row *row;
    char last[4][WORD_SIZE];     /* words from the end, folded: [0] is the last one */
    const char *end;             /* of the last word, in the text */
    size_t digit_groups, digits; /* of the run of digits at the end */
    size_t letters;              /* of the run of single letters at the end */
    size_t words;                /* of its last sentence */
    bool has_lead, asks;         /* that sentence begins with "and"; as a question does */
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

enum clause_mark clause_mark(const char *text)
{
    size_t len = strlen(text);
    while (len > 0 && strchr(" \"')", text[len - 1]))
        len--;
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        size_t mark_len = strlen(marks[i].text);
        if (len >= mark_len && memcmp(text + len - mark_len, marks[i].text, mark_len) == 0)
            return marks[i].mark;
    }
    return CLAUSE_NO_MARK;
}

/* Does a sentence begin with this word? It stands after a space, and a mark before that. */
static bool is_after_mark(const struct reading *reading, const struct word *word)
{
    char between[8];
    size_t len = reading->end ? (size_t)(word->text - reading->end) : 0;
    if (len < 2 || len >= sizeof(between))
        return false;
    memcpy(between, reading->end, len);
    between[len] = 0;
    return clause_mark(between) != CLAUSE_NO_MARK;
}

static void read_form(struct reading *reading, const struct word *word)
{
    if (is_after_mark(reading, word)) {
        reading->words = 0;
        reading->has_lead = reading->asks = false;
    }
    bool is_first = reading->words == 0 || (reading->words == 1 && reading->has_lead);
    if (is_first)
        reading->asks = has_word(reading->row->asks, word->folded);
    if (reading->words++ == 0)
        reading->has_lead = has_word(reading->row->never_last, word->folded);
}

static int read_word(void *arg, const struct word *word)
{
    struct reading *reading = arg;
    read_form(reading, word);
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

static const struct row *row_of(const char *iso)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].iso, iso) == 0)
            return &rows[i];
    return &unknown;
}

/* How whole it is, of words that are not open. */
static enum clause whole_end(const struct reading *reading, const char *text, enum clause_mark mark)
{
    enum caller_intent intent = phrase_intent(text);
    if (mark == CLAUSE_QUESTION || intent == INTENT_THANKS || intent == INTENT_GOODBYE)
        return CLAUSE_ASKED;
    bool is_formed = reading->words >= CLAUSE_FORMED_WORDS &&
                     (reading->asks || has_word(reading->row->closes, reading->last[0]));
    bool is_stopped = mark == CLAUSE_STOP && reading->words >= CLAUSE_STOPPED_WORDS;
    return is_formed || is_stopped ? CLAUSE_SAID : CLAUSE_WHOLE;
}

enum clause clause_end(const char *text, const char *iso, enum clause_mark mark)
{
    struct reading reading = {.row = row_of(iso)};
    words_each(tail_of(text), NULL, read_word, &reading);
    if (!reading.end)
        return CLAUSE_WHOLE;
    if (reading.row == &unknown)
        return whole_end(&reading, text, mark);
    if (is_number_dictated(&reading) || is_spelled(&reading))
        return CLAUSE_DICTATED;
    bool is_open = has_word(reading.row->never_last, reading.last[0]) ||
                   (mark == CLAUSE_NO_MARK && has_word(reading.row->seldom_last, reading.last[0]));
    return is_open ? CLAUSE_OPEN : whole_end(&reading, text, mark);
}
