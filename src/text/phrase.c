/* Two tables: the lines by language (phrases.def), and the words of callers that mean no question.
 */
#include "text/phrase.h"

#include <string.h>

#include "base/attr.h"
#include "base/buf.h"
#include "text/words.h"

static const struct {
    const char *iso;
    const char *lines[PHRASE_COUNT];
} languages[] = {
#define PHRASES(iso, ...) {iso, {__VA_ARGS__}},
#include "text/phrases.def"
#undef PHRASES
};

/* What callers say in one or a few words, folded (words.h). A row of INTENT_NONE is what may stand
 * beside the others and means nothing. Where two intents are in one utterance, the later of the
 * enum holds: "thanks, bye" is a goodbye. */
static const struct {
    enum caller_intent intent;
    const char *words;
} intents[] = {
    {INTENT_ACKNOWLEDGE,
     "ok okay yes yeah yep yup right sure great good fine cool alright hmm hm mm "
     "mhm mmhmm aha ah oh uh huh um well perfect exactly understood"},
    {INTENT_ACKNOWLEDGE,
     "हाँ हां जी ठीक अच्छा हम्म बिल्कुल सही haan haanji han ji accha acha achha theek thik "
     "bilkul sahi"},
    {INTENT_ACKNOWLEDGE, "sí si vale claro bien oui d'accord bien ja gut genau va bene sim certo"},
    {INTENT_GREETING,
     "hello hi hey hiya howdy greetings namaste namaskar नमस्ते नमस्कार hola bonjour salut "
     "hallo ciao buongiorno ola halo merhaba வணக்கம் నమస్కారం নমস্কার નમસ્તે"},
    {INTENT_THANKS,
     "thanks thank धन्यवाद शुक्रिया dhanyavaad dhanyavad shukriya gracias merci danke grazie "
     "obrigado obrigada நன்றி ధన్యవాదాలు ধন্যবাদ આભાર"},
    {INTENT_GOODBYE, "bye goodbye byebye अलविदा alvida adios tschuss arrivederci"},
    {INTENT_NONE,
     "no nope you so very much a lot for your the help that's that is it all there my and see have "
     "nice day evening to good morning afternoon है बहुत बहुत हे hai bahut muchas"},
};

/* Phrases whose words mean something else alone. */
static const struct {
    enum caller_intent intent;
    const char *phrase;
} phrases[] = {
    {INTENT_ACKNOWLEDGE, "i see"},        {INTENT_ACKNOWLEDGE, "got it"},
    {INTENT_ACKNOWLEDGE, "go on"},        {INTENT_ACKNOWLEDGE, "of course"},
    {INTENT_ACKNOWLEDGE, "makes sense"},  {INTENT_GREETING, "good morning"},
    {INTENT_GREETING, "good afternoon"},  {INTENT_GREETING, "good evening"},
    {INTENT_GOODBYE, "see you"},          {INTENT_GOODBYE, "see you later"},
    {INTENT_GOODBYE, "have a nice day"},  {INTENT_GOODBYE, "have a good day"},
    {INTENT_GOODBYE, "that is all"},      {INTENT_GOODBYE, "that's all"},
    {INTENT_GOODBYE, "that will be all"}, {INTENT_GOODBYE, "no thanks"},
    {INTENT_GOODBYE, "no thank you"},     {INTENT_GOODBYE, "good bye"},
    {INTENT_GOODBYE, "bye bye"},          {INTENT_GOODBYE, "au revoir"},
    {INTENT_GOODBYE, "auf wiedersehen"},  {INTENT_GOODBYE, "auf wiederhoren"},
    {INTENT_GOODBYE, "hasta luego"},      {INTENT_GOODBYE, "nothing else"},
    {INTENT_GOODBYE, "फिर मिलेंगे"},         {INTENT_GOODBYE, "बस इतना ही"},
};

const char *phrase_line(enum phrase phrase, const char *iso)
{
    for (size_t i = 0; iso && i < ARRAY_LEN(languages); i++)
        if (strcmp(languages[i].iso, iso) == 0)
            return languages[i].lines[phrase];
    return languages[0].lines[phrase];
}

static bool list_has(const char *list, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = list; len && (at = strstr(at, word)); at++)
        if ((at == list || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
            return true;
    return false;
}

/* -1: a word that means something. */
static int intent_of_word(const char *folded)
{
    for (size_t i = 0; i < ARRAY_LEN(intents); i++)
        if (list_has(intents[i].words, folded))
            return (int)intents[i].intent;
    return -1;
}

enum { UTTERANCE_MAX_BYTES = 200 }; /* a longer one means more than these */

struct reading {
    int intent; /* -1: there was a word that means something */
    struct buf text;
};

static int read_word(void *arg, const struct word *word)
{
    struct reading *reading = arg;
    int intent = intent_of_word(word->folded);
    reading->intent = intent < 0 || reading->intent < 0 ? -1 : MAX(reading->intent, intent);
    (void)buf_append_str(&reading->text, reading->text.len ? " " : "");
    (void)buf_append_str(&reading->text, word->folded);
    return reading->text.is_full;
}

/* Cuts a phrase out of the text where it stands as whole words. */
static bool cut_phrase(struct buf *text, const char *phrase)
{
    size_t len = strlen(phrase);
    for (char *at = text->data; (at = strstr(at, phrase)); at++) {
        if ((at != text->data && at[-1] != ' ') || (at[len] != ' ' && at[len] != '\0'))
            continue;
        memset(at, ' ', len);
        return true;
    }
    return false;
}

enum caller_intent phrase_intent(const char *text)
{
    struct reading reading = {.text = BUF_INIT(UTTERANCE_MAX_BYTES)};
    words_each(text, NULL, read_word, &reading);
    if (reading.text.is_full || reading.text.len == 0) {
        buf_clear(&reading.text);
        return INTENT_NONE;
    }
    int best = INTENT_NONE;
    for (size_t i = 0; i < ARRAY_LEN(phrases); i++)
        if (cut_phrase(&reading.text, phrases[i].phrase))
            best = MAX(best, (int)phrases[i].intent);
    struct reading rest = {.text = BUF_INIT(UTTERANCE_MAX_BYTES)};
    words_each(reading.text.data, NULL, read_word, &rest);
    buf_clear(&reading.text);
    buf_clear(&rest.text);
    return rest.intent < 0 ? INTENT_NONE : (enum caller_intent)MAX(best, rest.intent);
}
