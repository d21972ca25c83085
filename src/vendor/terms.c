#include "vendor/terms.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { READ_MAX = 64 * 1024, CANDIDATES_MAX = 1000, WORDS_OF_A_NAME = 4, LETTERS_MIN = 3 };

struct term {
    const char *text;
    size_t count, first; /* how often, where first */
};

struct terms {
    struct arena *arena;
    struct term items[CANDIDATES_MAX];
    size_t count;
};

static bool begins_word(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

static bool is_letter(char c)
{
    return begins_word(c) || c == '\'' || c == '-';
}

static void add(struct terms *terms, const char *from, size_t len, size_t at)
{
    while (len > 0 && (from[len - 1] == '\'' || from[len - 1] == '-'))
        len--;
    if (len < LETTERS_MIN || len > TERM_MAX_BYTES)
        return;
    for (size_t i = 0; i < terms->count; i++)
        if (strlen(terms->items[i].text) == len && memcmp(terms->items[i].text, from, len) == 0) {
            terms->items[i].count++;
            return;
        }
    if (terms->count < CANDIDATES_MAX)
        terms->items[terms->count++] = (struct term){arena_strndup(terms->arena, from, len), 1, at};
}

/* Instructions are shouted now and then: "NEVER", "DO NOT". */
static bool is_shouted(const char *word, size_t len)
{
    static const char *const words[] = {"ALL",  "ALWAYS", "AND",  "ANY",  "ARE",       "BE",
                                        "DO",   "DON'T",  "EVER", "IF",   "IMPORTANT", "IS",
                                        "MUST", "NEVER",  "NO",   "NOT",  "ONLY",      "OR",
                                        "THE",  "TO",     "WHEN", "WITH", "YOU",       "YOUR"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strlen(words[i]) == len && memcmp(words[i], word, len) == 0)
            return true;
    return false;
}

/* Capital first: "Maria", "PlayStation"; not "I". The first word of a sentence has its capital from
 * there, and says nothing. */
static bool is_name(const char *word, size_t len)
{
    return len > 1 && isupper((unsigned char)word[0]) && !is_shouted(word, len);
}

/* A run of names that single spaces join. Returns where it ends. */
static size_t run_of_names(const char *text, size_t len, size_t at, int *out_words)
{
    size_t end = at;
    *out_words = 0;
    while (*out_words < WORDS_OF_A_NAME) {
        size_t from = *out_words ? end + 1 : at, to = from;
        if (*out_words && (end >= len || text[end] != ' '))
            break;
        while (to < len && is_letter(text[to]))
            to++;
        if (!is_name(text + from, to - from))
            break;
        end = to;
        ++*out_words;
    }
    return end;
}

static void find(struct terms *terms, const char *text, size_t len)
{
    bool begins = true; /* a sentence */
    for (size_t at = 0; at < len;) {
        if (!begins_word(text[at])) {
            begins = begins || strchr(".!?:;\n\r-*#", text[at]);
            at++;
            continue;
        }
        int words = 0;
        size_t end = begins ? at : run_of_names(text, len, at, &words);
        if (words > 0)
            add(terms, text + at, end - at, at);
        while (words == 0 && end < len && is_letter(text[end]))
            end++;
        begins = false;
        at = end;
    }
}

static int by_count(const void *a, const void *b)
{
    const struct term *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

size_t terms_find(const char *text, struct arena *arena, const char *out[], size_t most)
{
    if (!text)
        return 0;
    struct terms *terms = arena_new_of(arena, struct terms);
    terms->arena = arena;
    find(terms, text, strnlen(text, READ_MAX));
    qsort(terms->items, terms->count, sizeof(terms->items[0]), by_count);
    size_t count = MIN(terms->count, most);
    for (size_t i = 0; i < count; i++)
        out[i] = terms->items[i].text;
    return count;
}

const char *terms_line(const char *text, struct arena *arena, size_t most)
{
    const char *items[TERMS_MAX], *line = "";
    size_t count = terms_find(text, arena, items, MIN(most, (size_t)TERMS_MAX));
    for (size_t i = 0; i < count; i++)
        line = arena_printf(arena, "%s%s%s", line, i ? ", " : "", items[i]);
    return line;
}
