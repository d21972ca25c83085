/* What language a text is in, as far as a search needs it: the script, and among the languages of
 * one script the one whose small words occur most. Thread: any. */
#include "know/language.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "text/script.h"
#include "text/words.h"

/* The commonest small words, folded, between spaces. English and Hindi are in text/stop_words.h. */
static const struct {
    const char *iso, *words;
} small_words[] = {
    {"es", " el la los las de del que y en un una es por con para su como cual cuanto donde "
           "cuando se al lo no son esta hay puedo quiero tiene "},
    {"fr", " le la les de des du que et en un une est pour avec sur dans comment quel quelle "
           "quand ou vous je il elle au aux ce ne pas peut avez "},
    {"de", " der die das den dem und ist in ein eine einen mit fur auf wie was wann wo ich sie "
           "es nicht zu von im haben kann gibt sind wir ihr bei "},
    {"it", " il lo la gli le di del della che e in un una per con come quale quanto dove quando "
           "non si sono avete posso vorrei ce "},
    {"pt", " o a os as de do da que e em um uma por com para como qual quanto onde quando nao "
           "se ao sao voce tem posso quero "},
    {"nl", " de het een en van in is dat op te met voor niet zijn hoe wat waar wanneer ik u jij "
           "kan heeft er bij naar hebben "},
    {"pl", " i w na z do nie jest to sie ze jak co gdzie kiedy czy ja pan pani o po za ile mam "},
    {"tr", " ve bir bu da de icin ile ne nasil nerede mi mu var yok ben siz kac olan cok "},
    {"id", " dan di yang untuk dengan ini itu ada apa bagaimana berapa dari ke saya anda tidak "
           "bisa adalah kapan "},
    {"mr", " आहे आहेत आणि हे ते ती तो या चा ची चे च्या मी तुम्ही काय कसे कुठे कधी नाही होते मला "},
    {"te", " ఎప్పుడు ఎక్కడ ఎలా ఏమి ఎంత ఎవరు ఏ మీ మీరు నేను నా ఉంది ఉన్నాయి ఉంటారు ఉంటుంది మరియు ఈ ఆ ఒక "},
    {"ta", " எப்போது எங்கே எங்கு எப்படி என்ன எவ்வளவு எவளவு எத்தனை யார் நான் என் எங்க எங்கள் நாங்கள் நாங்களே நீங்கள் "
           "நீங்களே உங்கள் உங்க "
           "இருக்கிறது உள்ளது உள்ளதா உண்டு உண்டா மற்றும் இந்த அந்த ஒரு அது இது என்று என்றால் பிறகு முன் முன்பு "
           "வரை முதல் போது ஆக அல்லது "
           "இல்லை கூட தான் மட்டும் போன்ற வேறு "},
    {"kn", " ಯಾವಾಗ ಎಲ್ಲಿ ಹೇಗೆ ಏನು ಎಷ್ಟು ಯಾರು ನಾನು ನನ್ನ ನೀವು ನಿಮ್ಮ ಇದೆ ಮತ್ತು ಈ ಆ ಒಂದು "},
    {"ml", " എപ്പോൾ എവിടെ എങ്ങനെ എന്ത് എത്ര ആരാണ് ഞാൻ എന്റെ നിങ്ങൾ നിങ്ങളുടെ ആണ് ഉണ്ട് ഉണ്ടോ ഒരു ഈ ആ "},
    {"bn", " কখন কোথায় কীভাবে কি কী কত কতো কটা কটায় কবে কে কোন আমি আমার আমরা আমাদের আপনি আপনার "
           "আপনারা আপনাদের আছে নেই নয় হয় হলে "
           "এবং আর ও এই সেই এখন একটি একটা থেকে পর্যন্ত জন্য দিয়ে না তো তার তারপর অথবা আগে পরে আজ সব "},
    {"gu", " ક્યારે ક્યાં કેવી રીતે શું કેટલું કેટલા કોણ હું મારું તમે તમારું છે અને આ તે એક "},
    {"pa", " ਕਦੋਂ ਕਿੱਥੇ ਕਿਵੇਂ ਕੀ ਕਿੰਨਾ ਕੌਣ ਮੈਂ ਮੇਰਾ ਤੁਸੀਂ ਤੁਹਾਡਾ ਹੈ ਹਨ ਅਤੇ ਇਹ ਉਹ ਇੱਕ ਦਾ ਦੀ ਦੇ "},
    {"or", " କେବେ କେଉଁଠି କିପରି କଣ କେତେ କିଏ ମୁଁ ମୋର ଆପଣ ଅଛି ଏବଂ ଏହି "},
    {"ru", " и в не на с по что как где когда сколько это я вы у есть ли мне можно из за до от "},
};
/* Hindi, Tamil and Bengali in Latin letters. */
static const char latin_of_india[] = " hai hain he ho ka ki ke ko kya kab kaise kitna kitne kitni "
                                     "kitnaa kahan kaha kaun kaunsa konsa "
                                     "mein main mai me se par pe tak aur ya to bhi nahi nahin na "
                                     "hum aap aapka aapke aapki tum mujhe "
                                     "mujhko mera meri mere apna apni apne ye yeh woh wo us is hi "
                                     "ab kal aaj jo agar lekin phir tha thi "
                                     "the hu hoon hun raha rahi rahe log kuch koi kisi sab saath "
                                     "liye bina evvalavu enna eppadi engal "
                                     "neenga naan la ethanai oru koto ki ache kemon ami apni er "
                                     "kotokkhon porjonto ekhane dije theke "
                                     "kar kijiye dijiye karein lein kahin ek unga ungal enga "
                                     "engaluku enakku ungaluku irukku amar amader "
                                     "apnar apnader tomar tomader ache achhe chilo nei ";

static const char *const latin[] = {
    "en", LANGUAGE_LATIN_OF_INDIA, "es", "fr", "de", "it", "pt", "nl", "pl", "tr", "id"};
static const char *const devanagari[] = {"hi", "mr"};

static bool is_among(const char *words, const char *folded)
{
    char spaced[WORD_MAX_BYTES + 2];
    snprintf(spaced, sizeof(spaced), " %s ", folded);
    return strstr(words, spaced) != NULL;
}

bool language_is_small_word(const char *folded, const char *iso)
{
    if (strcmp(iso, LANGUAGE_LATIN_OF_INDIA) == 0)
        return is_among(latin_of_india, folded);
    if (word_is_stop(folded, iso))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(small_words); i++)
        if (strcmp(small_words[i].iso, iso) == 0)
            return is_among(small_words[i].words, folded);
    return false;
}

static const struct {
    enum script script;
    const char *iso;
} one_language[] = {
    {SCRIPT_BENGALI, "bn"},  {SCRIPT_GURMUKHI, "pa"},  {SCRIPT_GUJARATI, "gu"},
    {SCRIPT_ODIA, "or"},     {SCRIPT_TAMIL, "ta"},     {SCRIPT_TELUGU, "te"},
    {SCRIPT_KANNADA, "kn"},  {SCRIPT_MALAYALAM, "ml"}, {SCRIPT_ARABIC, "ar"},
    {SCRIPT_CYRILLIC, "ru"}, {SCRIPT_JAPANESE, "ja"},  {SCRIPT_HANGUL, "ko"},
    {SCRIPT_HAN, "zh"},
};

enum { WORDS_LOOKED_AT = 400 };

struct tally {
    const char *const *languages;
    size_t count;
    unsigned hits[ARRAY_LEN(latin)];
    unsigned words;
};

static int count_word(void *arg, const struct word *word)
{
    struct tally *tally = arg;
    for (size_t i = 0; i < tally->count; i++)
        tally->hits[i] += language_is_small_word(word->folded, tally->languages[i]);
    return ++tally->words == WORDS_LOOKED_AT;
}

static const char *most_likely(const char *text, const char *const *languages, size_t count)
{
    struct tally tally = {.languages = languages, .count = count};
    words_each(text, "", count_word, &tally);
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (tally.hits[i] > tally.hits[best])
            best = i;
    return languages[best];
}

const char *language_guess(const char *text)
{
    enum script script = script_of(text);
    if (script == SCRIPT_LATIN)
        return most_likely(text, latin, ARRAY_LEN(latin));
    if (script == SCRIPT_DEVANAGARI)
        return most_likely(text, devanagari, ARRAY_LEN(devanagari));
    for (size_t i = 0; i < ARRAY_LEN(one_language); i++)
        if (one_language[i].script == script)
            return one_language[i].iso;
    return "";
}
