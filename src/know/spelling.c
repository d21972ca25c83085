/* See spelling.h. Thread: any. */
#include "know/spelling.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/buf.h"
#include "know/language.h"
#include "text/sound.h"
#include "text/words.h"

enum { QUESTION_MAX_BYTES = 16 * 1024, LEAST_LETTERS = 3, LEAST_RIGHT_LETTERS = 4 };

/* Words of four letters and more that hardly ever are what is asked about, in spaces. */
static const char english[] =
    " about after again also another anything available because been before being between both "
    "come could does doing done down during each either else even every everything find from "
    "give going have having hello here however into just know like long make many maybe mine more "
    "most much must near need never next once only other over people please possible really right "
    "same shall should since some somebody someone something sometimes somewhere soon still such "
    "take tell than thank thanks that their them then there these they thing think this those "
    "through today together tomorrow under until upon using very want wants what when where "
    "whether which while whose will with within without would your yours yesterday ";
static const char english_asked[] =
    " address appointment book booking cancel cancellation charge charges close closed closing "
    "contact cost costs deliver delivery discount email fees hours location much number open "
    "opening order parking payment phone price prices rate refund timing timings ";
static const char english_numbers[] =
    " four five seven eight nine eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand "
    "three lakh million ";
static const char hinglish[] =
    " aapka aapke aapki aata aati aate baare chahie chahiye hain hota hoti hote jaata jaati jaate "
    "jata jati jate kahan kaise karein karna karni karne karta karti karte kaun kaunsa kitna kitne "
    "kitni konsa kyun lagega lagenge lagta lagte lekin liye mein mera mere meri mila milega "
    "milegi milenge milta milti milte mujhe nahi nahin padega padegi padta phir rahe rahi raha "
    "sakta sakte sakti tarah wala wale wali yahan ";
static const char hinglish_numbers[] =
    " paanch chhah saat aath gyarah barah terah chaudah pandrah solah satrah atharah unnis bees "
    "pachees tees chalis pachas saath sattar assi nabbe hazaar lakh dedh dhai sadhe ";

struct guess {
    char word[WORD_MAX_BYTES]; /* "": none */
    double likeness;
    bool is_number, is_one_of_two; /* that are as like */
};

static bool begins_alike(const char *typed, const char *word)
{
    return typed[0] == word[0] || (typed[0] == word[1] && typed[1] == word[0]);
}

static void take(struct guess *guess, const char *word, double likeness, bool is_number)
{
    *guess = (struct guess){.likeness = likeness, .is_number = is_number};
    snprintf(guess->word, sizeof(guess->word), "%s", word);
}

static void look_in(const char *words, bool is_number, const char *typed, struct guess *guess)
{
    size_t len = strlen(typed);
    char word[WORD_MAX_BYTES];
    for (const char *at = words + 1, *end; (end = strchr(at, ' ')); at = end + 1) {
        size_t n = (size_t)(end - at);
        if (n + 1 < len || n > len + 1 || n < LEAST_RIGHT_LETTERS || !begins_alike(typed, at))
            continue;
        memcpy(word, at, n);
        word[n] = '\0';
        if (word_is_doer(typed, word)) /* "charger" is no "charge" */
            continue;
        double likeness = letters_likeness(typed, word);
        double one_letter = 1 - 1.0 / (double)MAX(n, len);
        if (likeness + 0.001 < MAX(one_letter, guess->likeness))
            continue;
        bool is_as_like = *guess->word && likeness < guess->likeness + 0.001;
        if (is_as_like)
            guess->is_one_of_two = guess->is_one_of_two || is_number != guess->is_number;
        else
            take(guess, word, likeness, is_number);
    }
}

static bool is_in(const char *words, const char *typed)
{
    size_t len = strlen(typed);
    for (const char *at = words; (at = strstr(at, typed)); at += len)
        if (at[-1] == ' ' && at[len] == ' ')
            return true;
    return false;
}

static bool is_plain(const char *typed)
{
    size_t letters = strspn(typed, "abcdefghijklmnopqrstuvwxyz");
    return letters >= LEAST_LETTERS && !typed[letters];
}

struct mending {
    const char *next; /* of the question: not copied yet */
    struct buf *out;
    bool is_indian;
    spelling_known_fn *is_known;
    void *arg;
};

static bool is_right(const struct mending *mending, const char *typed)
{
    return is_in(english, typed) || is_in(english_asked, typed) || is_in(english_numbers, typed) ||
           (mending->is_indian && (is_in(hinglish, typed) || is_in(hinglish_numbers, typed)));
}

static int mend_word(void *arg, const struct word *word)
{
    struct mending *mending = arg;
    struct guess guess = {0};
    if (!is_plain(word->folded) || is_right(mending, word->folded))
        return 0;
    look_in(english, false, word->folded, &guess);
    look_in(english_asked, false, word->folded, &guess);
    look_in(english_numbers, true, word->folded, &guess);
    if (mending->is_indian) {
        look_in(hinglish, false, word->folded, &guess);
        look_in(hinglish_numbers, true, word->folded, &guess);
    }
    if (!*guess.word || guess.is_one_of_two ||
        mending->is_known(mending->arg, word->folded, guess.word, guess.likeness))
        return 0;
    (void)buf_append(mending->out, mending->next, (size_t)(word->text - mending->next));
    (void)buf_append_str(mending->out, guess.word);
    mending->next = word->text + word->len;
    return 0;
}

const char *spelling_mend(const char *question, const char *iso, spelling_known_fn *is_known,
                          void *arg, struct arena *arena)
{
    AUTO_BUF mended = BUF_INIT(QUESTION_MAX_BYTES);
    struct mending mending = {.next = question,
                              .out = &mended,
                              .is_indian = strcmp(iso, LANGUAGE_LATIN_OF_INDIA) == 0,
                              .is_known = is_known,
                              .arg = arg};
    words_each(question, iso, mend_word, &mending);
    if (mending.next == question)
        return question;
    (void)buf_append_str(&mended, mending.next);
    return buf_append_char(&mended, '\0') ? question : arena_strdup(arena, mended.data);
}
