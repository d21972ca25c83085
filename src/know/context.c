/* What a question says beside what it asks: "My flight was cancelled, do I get my money back?", "my
 * son, he is six years old". Such words need not stand in an answer. Thread: any. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "know/internal.h"
#include "know/terms.h"
#include "text/words.h"

/* Words by which a clause asks, folded, in spaces. */
static const char asking[] =
    " what which who whom whose when where why how can could do does did is are am was were may "
    "might will would shall should must any have has "
    "kya kab kahan kaha kaise kitna kitne kitni kaun kaunsa konsa kyun kyu koto kokhon kothay kobe "
    "evvalavu enna eppo eppadi enge ethanai "
    "क्या कब कहाँ कहां कैसे कितना कितने कितनी कौन कौनसा क्यों কি কী কত কতো কখন কোথায় কীভাবে কে কবে কটা "
    "কটায় "
    "কোন কেন என்ன எப்போது எங்கே எங்கு எப்படி எவ்வளவு எத்தனை யார் ஏன் ";
/* Words that make the number before them an age, or a time of years. */
static const char years[] = " year years yr yrs saal sal baras bochor vayasu vayathu साल वर्ष बरस "
                            "வயது வயசு வருடம் বছর বছরের ";

static bool is_in(const char *words, const char *folded)
{
    char spaced[WORD_MAX_BYTES + 2];
    snprintf(spaced, sizeof(spaced), " %s ", folded);
    return strstr(words, spaced) != NULL;
}

struct between {
    bool has_end, has_question_mark;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What stands between two words; a point or comma in a number ends nothing. */
static struct between look_between(const char *from, const char *to, const char *begin)
{
    static const char danda[] = "\xE0\xA5\xA4";
    struct between between = {0};
    for (const char *at = from; at < to && *at; at++) {
        bool in_number = (*at == ',' || *at == '.') && at > begin && is_digit(at[-1]);
        bool is_end = strchr(",.!?;:", *at) || strncmp(at, danda, strlen(danda)) == 0;
        between.has_end = between.has_end || (is_end && !in_number);
        between.has_question_mark = between.has_question_mark || *at == '?';
    }
    return between;
}

void context_note(const char *question, struct term_list *terms)
{
    size_t first = 0; /* of the clause */
    const char *from = question;
    bool asks = false, any_asks = false;
    for (size_t i = 0; i <= terms->count; i++) {
        bool is_past = i == terms->count;
        const char *place = is_past ? from + strlen(from) : terms->items[i].place;
        struct between between = look_between(from, place, question);
        asks = asks || between.has_question_mark;
        from = MAX(from, place);
        if (is_past || between.has_end) {
            for (; first < i; first++)
                terms->items[first].is_context = !asks;
            any_asks = any_asks || asks;
            asks = false;
        }
        asks = asks || (!is_past && is_in(asking, terms->items[i].folded));
    }
    for (size_t i = 0; i < terms->count; i++)
        terms->items[i].is_context = terms->items[i].is_context && any_asks;
}

bool context_is_age(const struct term_list *terms, size_t at)
{
    return terms->items[at].is_number && at + 1 < terms->count &&
           is_in(years, terms->items[at + 1].folded);
}
