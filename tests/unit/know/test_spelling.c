/* Everyday words that were typed wrong. */
#include "know/spelling.h"

#include <string.h>

#include "test.h"

static bool knows_no_word(void *arg, const char *folded, const char *right, double likeness)
{
    (void)arg, (void)folded, (void)right, (void)likeness;
    return false;
}

static bool knows_pice(void *arg, const char *folded, const char *right, double likeness)
{
    (void)arg;
    return strcmp(folded, "pice") == 0 && strcmp(right, "price") == 0 && likeness > 0.7;
}

TEST(everyday_words_are_mended)
{
    static const struct {
        const char *iso, *typed, *mended;
    } rows[] = {
        {"en", "Whta is yuor prcie, please?", "what is your price, please?"},
        {"en", "two hunddred, fiftey", "two hundred, fifty"},
        {"en", "hav time", "have time"},
        {"en", "charger bokking", "charger booking"}, /* no charge */
        {"en", "a gym on Mondays", "a gym on Mondays"},
        {"en", "thre", "thre"}, /* there or three */
        {"en", "कितन ठीक 250 x1y", "कितन ठीक 250 x1y"},
        {"en", "kitn", "kitn"},
        {"hi-latn", "kitn lagta, hajar", "kitna lagta, hajar"},
        {"en", "", ""},
    };
    AUTO(arena) arena = arena_new(0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        CHECK_TEXT(spelling_mend(rows[i].typed, rows[i].iso, knows_no_word, NULL, arena),
                   rows[i].mended);
}

TEST(words_of_the_documents_stay)
{
    AUTO(arena) arena = arena_new(0);
    CHECK_TEXT(spelling_mend("a pice whta", "en", knows_pice, NULL, arena), "a pice what");
}
