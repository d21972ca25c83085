/* See follow.h. Thread: any. */
#include "know/follow.h"

#include <stdbool.h>
#include <string.h>

#include "base/attr.h"
#include "base/mem.h"
#include "text/words.h"

enum { SHORT_WORDS = 8, BEFORE_CHARS = 200 /* of a question that is searched with another */ };

static const char joining[] = " and also or then plus और या तो फिर aur ya phir मग आणि மற்றும் அப்போ "
                              "அப்புறம் ও আর এবং তাহলে ar tahole మరియు ಮತ್ತು പിന്നെ અને ਅਤੇ ";
static const char standing_for[] = " it its that those these them they one ones there इसका इसकी "
                                   "उसका उसकी उसके इसके वो यह वहाँ iska iski uska "
                                   "uski woh wahan அது அதற்கு அதன் அங்கே ওটা ওটার সেটা সেখানে ";
static const char *const openings[] = {"what about ", "how about ", "what if "};

static bool is_among(const char *words, const char *folded)
{
    size_t len = strlen(folded);
    for (const char *at = words; len && (at = strstr(at, folded)); at += len)
        if (at > words && at[-1] == ' ' && at[len] == ' ')
            return true;
    return false;
}

struct look {
    size_t words;
    bool joins, stands_for;
};

static int look_at(void *arg, const struct word *word)
{
    struct look *look = arg;
    if (look->words++ == 0)
        look->joins = is_among(joining, word->folded);
    look->stands_for = look->stands_for || is_among(standing_for, word->folded);
    return 0;
}

static bool goes_on(const char *question)
{
    struct look look = {0};
    words_each(question, "", look_at, &look);
    for (size_t i = 0; i < ARRAY_LEN(openings); i++)
        look.joins = look.joins || strncasecmp(question, openings[i], strlen(openings[i])) == 0;
    return look.words && look.words <= SHORT_WORDS && (look.joins || look.stands_for);
}

static void keep(char **place, char *text)
{
    mem_free(*place);
    *place = text;
}

const char *follow_up(struct follow *follow, const char *question)
{
    size_t len = follow->asked ? strlen(follow->asked) : 0;
    bool is_further = len && strncmp(follow->asked, question, len) == 0;
    if (!is_further) {
        keep(&follow->before, follow->searched);
        follow->searched = NULL;
    }
    keep(&follow->asked, mem_strdup(question));
    const char *before = follow->before;
    if (before && goes_on(question))
        keep(&follow->searched,
             mem_printf("%.*s %s", (int)text_bytes(before, BEFORE_CHARS), before, question));
    else
        keep(&follow->searched, mem_strdup(question));
    return follow->searched;
}

void follow_clear(struct follow *follow)
{
    keep(&follow->asked, NULL);
    keep(&follow->searched, NULL);
    keep(&follow->before, NULL);
}
