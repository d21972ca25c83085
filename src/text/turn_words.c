#include "text/turn_words.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "text/words.h"

enum {
    TOKENS_MAX = 8, /* more words than these say something */
    TOKEN_SIZE = 48,
    ENTRY_BYTES = 64,
};

static const struct row {
    const char *iso, *acknowledge, *stop;
} rows[] = {
#define TURN_WORDS(iso, acknowledge, stop) {iso, acknowledge, stop},
#include "text/turn_words.def"
#undef TURN_WORDS
};

/* Whose speakers mix English in. */
static const char mixed[] = " hi ta te kn ml mr gu bn pa or ";

struct tokens {
    char words[TOKENS_MAX][TOKEN_SIZE]; /* folded */
    size_t count;                       /* TOKENS_MAX + 1: there are more */
};

static int take_word(void *arg, const struct word *word)
{
    struct tokens *tokens = arg;
    if (tokens->count == TOKENS_MAX || strlen(word->folded) >= TOKEN_SIZE) {
        tokens->count = TOKENS_MAX + 1;
        return 1;
    }
    snprintf(tokens->words[tokens->count++], TOKEN_SIZE, "%s", word->folded);
    return 0;
}

/* "hmmmm", "okaaay": a letter that is held counts once; for words that have one so. */
static void squeeze(const char *word, char out[TOKEN_SIZE])
{
    size_t len = 0;
    for (const char *at = word; *at; at++)
        if (at == word || at[0] != at[-1])
            out[len++] = *at;
    out[len] = '\0';
}

static bool is_held(const char *word)
{
    for (const char *at = word; at[0] && at[1] && at[2]; at++)
        if (at[0] == at[1] && at[1] == at[2] && (unsigned char)at[0] < 0x80)
            return true;
    return false;
}

static bool is_same(const char *said, const char *entry, bool may_grow)
{
    char a[TOKEN_SIZE], b[TOKEN_SIZE];
    if (strcmp(said, entry) == 0)
        return true;
    if (may_grow && strncmp(said, entry, strlen(said)) == 0)
        return true;
    if (!is_held(said))
        return false;
    squeeze(said, a);
    squeeze(entry, b);
    return strcmp(a, b) == 0;
}

/* How many tokens from `at` on are this entry; 0: they are another. */
static size_t match_entry(const struct tokens *said, size_t at, const struct tokens *entry,
                          bool is_growing)
{
    for (size_t i = 0; i < entry->count; i++) {
        if (at + i == said->count)
            return is_growing && i > 0 ? i : 0;
        bool may_grow = is_growing && at + i + 1 == said->count;
        if (!is_same(said->words[at + i], entry->words[i], may_grow))
            return 0;
    }
    return entry->count;
}

/* The most tokens from `at` on that are one entry of the list. */
static size_t match(const struct tokens *said, size_t at, const char *list, bool is_growing)
{
    size_t most = 0;
    while (*list) {
        char text[ENTRY_BYTES];
        size_t len = strcspn(list, ",");
        memcpy(text, list, MIN(len, sizeof(text) - 1));
        text[MIN(len, sizeof(text) - 1)] = '\0';
        struct tokens entry = {.count = 0};
        words_each(text, NULL, take_word, &entry);
        size_t count = match_entry(said, at, &entry, is_growing);
        most = MAX(most, count);
        list += len + (list[len] == ',');
    }
    return most;
}

static const struct row *row_of(const char *iso)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].iso, iso) == 0)
            return &rows[i];
    return NULL;
}

struct step {
    size_t count; /* tokens; 0: none of the words */
    bool is_stop;
};

static struct step step_in(const struct row *row, const struct tokens *said, size_t at,
                           bool is_growing)
{
    size_t go_on = match(said, at, row->acknowledge, is_growing);
    size_t stop = match(said, at, row->stop, false);
    return (struct step){MAX(go_on, stop), stop > go_on || (stop > 0 && stop == go_on)};
}

static struct step step_of(const char *iso, const struct tokens *said, size_t at, bool is_growing)
{
    const struct row *row = row_of(iso);
    struct step step = row ? step_in(row, said, at, is_growing) : (struct step){0};
    char key[8];
    snprintf(key, sizeof(key), " %.4s ", iso);
    if (step.count > 0 || (row && !strstr(mixed, key)))
        return step;
    return step_in(&rows[0], said, at, is_growing);
}

enum turn_words turn_words_of(const char *text, const char *iso, bool is_growing)
{
    struct tokens said = {.count = 0};
    words_each(text, NULL, take_word, &said);
    if (said.count == 0)
        return TURN_WORDS_OTHER;
    bool is_long = said.count > TOKENS_MAX, is_all = !is_long, ends = false;
    said.count = MIN(said.count, (size_t)TOKENS_MAX);
    for (size_t at = 0; at < said.count;) {
        struct step step = step_of(iso, &said, at, is_growing);
        if (step.is_stop && at == 0)
            return TURN_WORDS_STOP;
        ends = step.is_stop && at + step.count == said.count && !is_long;
        is_all = is_all && step.count > 0 && !step.is_stop;
        at += MAX(step.count, (size_t)1);
    }
    if (ends)
        return TURN_WORDS_STOP;
    return is_all ? TURN_WORDS_ACKNOWLEDGE : TURN_WORDS_OTHER;
}
