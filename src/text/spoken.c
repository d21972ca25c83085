/* See spoken.h. Thread: any. */
#include "text/spoken.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "text/words.h"

enum {
    WORDS_MAX = 16,
    ONE = 100,       /* in hundredths */
    ENDING_MORE = 6, /* bytes: a case after it ("দশটায়") */
};

#define LARGEST INT64_C(100000000000000)

/* "value:word,word;" of each language. Sums and multiples are made of them. */
static const char english[] =
    "0:zero;1:one;2:two;3:three,third;4:four,fourth;5:five,fifth;6:six,sixth;7:seven,seventh;"
    "8:eight,eighth;9:nine,ninth;10:ten,tenth;11:eleven,eleventh;12:twelve,twelfth;"
    "13:thirteen,thirteenth;14:fourteen,fourteenth;15:fifteen,fifteenth;16:sixteen,sixteenth;"
    "17:seventeen,seventeenth;18:eighteen,eighteenth;19:nineteen,nineteenth;"
    "20:twenty,twentieth;30:thirty,thirtieth;40:forty,fourty;50:fifty;60:sixty;70:seventy;80:"
    "eighty;"
    "90:ninety;100:hundred;1000:thousand;100000:lakh,lac,lakhs;1000000:million;10000000:crore;";

static const char hindi[] =
    "0:शून्य;1:एक;2:दो;3:तीन;4:चार;5:पाँच,पांच;6:छह,छः,छे,छ;7:सात;8:आठ;9:नौ;10:दस;11:ग्यारह;"
    "12:बारह;13:तेरह;14:चौदह;15:पंद्रह,पन्द्रह;16:सोलह;17:सत्रह;18:अठारह,अट्ठारह;19:उन्नीस;20:बीस;"
    "21:इक्कीस;22:बाईस,बाइस;23:तेईस,तेइस;24:चौबीस;25:पच्चीस;26:छब्बीस;27:सत्ताईस,सत्ताइस;28:अट्ठाईस,अट्ठाइस;"
    "29:उनतीस;30:तीस;31:इकतीस;32:बत्तीस;33:तैंतीस;34:चौंतीस;35:पैंतीस;36:छत्तीस;37:सैंतीस;38:अड़तीस;"
    "39:उनतालीस;40:चालीस;41:इकतालीस;42:बयालीस;43:तैंतालीस;44:चौवालीस;45:पैंतालीस;46:छियालीस;47:सैंतालीस;"
    "48:अड़तालीस;49:उनचास;50:पचास;51:इक्यावन;52:बावन;53:तिरपन;54:चौवन;55:पचपन;56:छप्पन;57:सत्तावन;"
    "58:अट्ठावन;59:उनसठ;60:साठ;61:इकसठ;62:बासठ;63:तिरसठ;64:चौंसठ;65:पैंसठ;66:छियासठ;67:सड़सठ;68:अड़सठ;"
    "69:उनहत्तर;70:सत्तर;71:इकहत्तर;72:बहत्तर;73:तिहत्तर;74:चौहत्तर;75:पचहत्तर;76:छिहत्तर;77:सतहत्तर;"
    "78:अठहत्तर;79:उनासी;80:अस्सी;81:इक्यासी;82:बयासी;83:तिरासी;84:चौरासी;85:पचासी;86:छियासी;87:"
    "सत्तासी;"
    "88:अट्ठासी;89:नवासी;90:नब्बे;91:इक्यानवे;92:बानवे;93:तिरानवे;94:चौरानवे;95:पचानवे,पंचानवे;96:छियानवे;"
    "97:सत्तानवे;98:अट्ठानवे;99:निन्यानवे,निन्यानबे;100:सौ;1000:हज़ार,हजार;100000:लाख;10000000:करोड़;";

static const char hindi_latin[] =
    "1:ek;2:do;3:teen,tin;4:char,chaar;5:paanch,panch,paach;6:chhah,chah,chhe,che,chhai;7:saat,sat;"
    "8:aath,aat;9:nau;10:das,dus;11:gyarah,gyaarah,gyara;12:barah,baarah,bara;13:terah;"
    "14:chaudah,choudah;15:pandrah,pandra,pandhra;16:solah;17:satrah,satra;18:atharah,athara;"
    "19:unnis,unnees;20:bees,bis;21:ikkis,ikkees;22:bais,baees;23:teis;24:chaubis,chaubees,choubis;"
    "25:pachees,pachis,pacchis,pachchees;26:chhabbis;27:sattais;28:atthais;29:untis;30:tees,tis;"
    "31:ikattis,iktis;32:battis,battees;33:taintis,tetis;34:chauntis,chautis;35:paintis,paintees;"
    "36:chhattis,chattis;37:saintis;38:adtis;39:untalis,unchalis;40:chalis,chaalees,chalees;41:"
    "iktalis;42:bayalis;"
    "43:taintalis,tetalis;44:chavalis;45:paintalis,paintalees,paintaalis,paintaalees;46:chhiyalis;"
    "47:saintalis;48:adtalis,adtaalis;49:unchas,unchaas;50:pachas,pachaas;51:ikyavan;52:bavan,"
    "baawan;53:tirpan;"
    "54:chauvan;55:pachpan;56:chhappan,chappan;57:sattavan;58:atthavan;59:unsath;60:saath,sath;61:"
    "iksath;"
    "62:basath;63:tirsath;64:chaunsath;65:painsath;66:chhiyasath;67:sadsath;68:adsath;70:sattar;72:"
    "bahattar;"
    "74:chauhattar;75:pachattar,pachhattar,pachhatar;76:chhihattar;78:athhattar;80:assi;"
    "85:pachasi;90:nabbe,navve;92:baanve;"
    "95:pachanve,pachanave;99:ninyanve,ninyanave;100:sau,so;"
    "1000:hazaar,hazar,hajar,hajaar;100000:lakh,laakh;10000000:crore,karod;";

static const char tamil[] =
    "1:ஒன்று;2:இரண்டு,ரெண்டு;3:மூன்று;4:நான்கு,நாலு;5:ஐந்து,அஞ்சு;6:ஆறு;7:ஏழு;8:எட்டு;9:ஒன்பது;"
    "10:பத்து;11:பதினொன்று;12:பன்னிரண்டு;13:பதின்மூன்று;14:பதினான்கு;15:பதினைந்து;16:பதினாறு;17:பதினேழு;"
    "18:பதினெட்டு;19:பத்தொன்பது;20:இருபது,இருபத்து,இருபத்தி;30:முப்பது,முப்பத்து;40:நாற்பது,நாற்பத்து;"
    "50:ஐம்பது,ஐம்பத்து;60:அறுபது,அறுபத்து;70:எழுபது,எழுபத்து;80:எண்பது,எண்பத்து;90:தொண்ணூறு,தொண்ணூற்று;"
    "100:நூறு,நூற்று;200:இருநூறு,இருநூற்று;300:முந்நூறு,முன்னூறு,முந்நூற்று,முன்னூற்று;400:நானூறு,நானூற்று;"
    "500:ஐநூறு,ஐந்நூறு,ஐநூற்று,ஐந்நூற்று;600:அறுநூறு,அறுநூற்று;700:எழுநூறு,எழுநூற்று;800:எண்ணூறு,எண்ணூற்று;"
    "900:தொள்ளாயிரம்,தொள்ளாயிரத்து;1000:ஆயிரம்,ஆயிரத்து;2000:இரண்டாயிரம்,இரண்டாயிரத்து;"
    "3000:மூவாயிரம்,மூவாயிரத்து,மூன்றாயிரம்;4000:நான்காயிரம்,நாலாயிரம்,நான்காயிரத்து;5000:ஐயாயிரம்,ஐந்தாயிரம்,"
    "ஐயாயிரத்து;"
    "6000:ஆறாயிரம்,ஆறாயிரத்து;7000:ஏழாயிரம்,ஏழாயிரத்து;8000:எட்டாயிரம்,எட்டாயிரத்து;9000:ஒன்பதாயிரம்,"
    "ஒன்பதாயிரத்து;"
    "10000:பத்தாயிரம்,பத்தாயிரத்து;15000:பதினைந்தாயிரம்;20000:இருபதாயிரம்,இருபதாயிரத்து;30000:முப்பதாயிரம்,"
    "முப்பதாயிரத்து;"
    "40000:நாற்பதாயிரம்;50000:ஐம்பதாயிரம்,ஐம்பதாயிரத்து;100000:லட்சம்,லட்சத்து;10000000:கோடி;";

static const char bengali[] =
    "1:এক;2:দুই,দু;3:তিন;4:চার;5:পাঁচ;6:ছয়,ছ;7:সাত;8:আট;9:নয়,ন;10:দশ;11:এগারো,এগার;12:বারো,বার;"
    "13:তেরো;14:চোদ্দো,চৌদ্দ,চোদ্দ;15:পনেরো;16:ষোলো,ষোল;17:সতেরো;18:আঠারো;19:উনিশ;20:কুড়ি,বিশ;21:একুশ;"
    "22:বাইশ;23:তেইশ;24:চব্বিশ;25:পঁচিশ;26:ছাব্বিশ;27:সাতাশ;28:আটাশ;29:উনত্রিশ;30:ত্রিশ,তিরিশ;"
    "32:বত্রিশ;35:পঁয়ত্রিশ;36:ছত্রিশ;40:চল্লিশ;45:পঁয়তাল্লিশ;48:আটচল্লিশ;49:ঊনপঞ্চাশ;50:পঞ্চাশ;55:পঞ্চান্ন;"
    "60:ষাট;65:পঁয়ষট্টি;70:সত্তর;75:পঁচাত্তর;80:আশি;85:পঁচাশি;90:নব্বই;95:পঁচানব্বই;99:নিরানব্বই;"
    "100:শো,শত,একশো;150:দেড়শো;250:আড়াইশো;200:দুশো;300:তিনশো;400:চারশো;500:পাঁচশো;600:ছশো,ছয়শো;700:"
    "সাতশো;800:আটশো;900:নশো,"
    "নয়শো;"
    "1200:বারোশো;1400:চোদ্দোশো;1500:পনেরোশো;1000:হাজার;100000:লাখ,লক্ষ;10000000:কোটি;";

/* Halves and quarters, in hundredths: alone ("ढाई"), or added to what follows ("साढ़े तीन"). */
static const char halves[] = "150:डेढ़,dedh,derh,দেড়;250:ढाई,dhai,dhaai,আড়াই;";
static const char additions[] =
    "50:साढ़े,sadhe,saadhe,সাড়ে;25:सवा,sava,sawa,সোয়া;-25:पौने,paune,পৌনে;";

/* The value of a word in such a list; -1: not there (no list holds it). */
static bool find(const char *list, const char *folded, int64_t *out)
{
    size_t len = strlen(folded);
    for (const char *at = list; len && (at = strstr(at, folded)); at += len) {
        bool begins = at > list && strchr(":,", at[-1]), ends = strchr(",;", at[len]);
        if (!begins || !ends)
            continue;
        while (at > list && at[-1] != ';')
            at--;
        *out = strtoll(at, NULL, 10);
        return true;
    }
    return false;
}

/* Endings that Bengali and Tamil numbers carry: "দশটা" (ten of it, ten o'clock), "பத்துக்கு". */
static const char *const number_endings[] = {"টা", "টি", "টে", "জন", "க்கு", "ல", "லேர்ந்து"};

static bool without_ending(const char *folded, int64_t *out)
{
    char bare[WORD_MAX_BYTES];
    snprintf(bare, sizeof(bare), "%s", folded);
    for (size_t i = 0; i < ARRAY_LEN(number_endings); i++) {
        char *ending = strstr(bare, number_endings[i]);
        if (!ending || ending == bare || strlen(ending) > strlen(number_endings[i]) + ENDING_MORE)
            continue;
        *ending = '\0';
        return find(bengali, bare, out) || find(tamil, bare, out);
    }
    return false;
}

static bool value_of(const char *folded, bool is_hindi, int64_t *out)
{
    bool is_ascii = (unsigned char)*folded < 0x80;
    return is_ascii ? find(english, folded, out) || (is_hindi && find(hindi_latin, folded, out))
                    : find(hindi, folded, out) || find(bengali, folded, out) ||
                          find(tamil, folded, out) || without_ending(folded, out);
}

/* "two fifty", "sixteen fifty": hundreds whose word is left out. */
static bool leaves_out_hundred(int64_t current, int64_t value)
{
    return current < 100 * ONE && value >= 10 * ONE && current % ONE == 0 &&
           !(current >= 20 * ONE && current % (10 * ONE) == 0 && value < 10 * ONE);
}

static bool add_small(struct spoken *spoken, int64_t value)
{
    int64_t current = spoken->current;
    if (!current)
        spoken->current = value + spoken->added;
    else if (current % (100 * ONE) == 0)
        spoken->current += value;
    else if (value < 10 * ONE && current % (100 * ONE) >= 20 * ONE && current % (10 * ONE) == 0)
        spoken->current += value;
    else if (leaves_out_hundred(current, value))
        spoken->current = current * 100 + value;
    else
        return false;
    spoken->added = 0;
    return true;
}

static void multiply(struct spoken *spoken, int64_t by)
{
    int64_t current = spoken->current ? spoken->current : ONE + spoken->added;
    spoken->added = 0;
    if (by == 100) {
        spoken->current = current * by;
        return;
    }
    spoken->total += current * by;
    spoken->current = 0;
}

static bool is_multiple(int64_t value)
{
    return value == 100 || value == 1000 || value == 100000 || value == 1000000 ||
           value == 10000000;
}

static bool take_value(struct spoken *spoken, int64_t value)
{
    if (is_multiple(value)) {
        if (spoken->current > LARGEST / value)
            return false;
        multiply(spoken, value);
    } else if (value >= 1000) {
        if (spoken->current)
            return false;
        spoken->total += value * ONE;
    } else if (value > 100) {
        if (spoken->current)
            return false;
        spoken->current = value * ONE;
    } else if (!add_small(spoken, value * ONE)) {
        return false;
    }
    spoken->last = value * ONE;
    return true;
}

bool spoken_take(struct spoken *spoken, const char *folded, bool is_hindi)
{
    int64_t value;
    struct spoken next = *spoken;
    if (spoken->words >= WORDS_MAX || spoken->total + spoken->current > LARGEST)
        return false;
    if (spoken->is_open && strcmp(folded, "and") == 0 && spoken->last >= 100 * ONE)
        return true;
    if (find(additions, folded, &value)) {
        if (next.current)
            return false;
        next.added = value;
    } else if (find(halves, folded, &value)) {
        if (next.current)
            return false;
        next.current = value;
        next.last = value;
    } else if (!value_of(folded, is_hindi, &value) || !take_value(&next, value)) {
        return false;
    }
    next.words++;
    next.is_open = true;
    *spoken = next;
    return true;
}

void spoken_begin(struct spoken *spoken, int64_t value)
{
    *spoken = (struct spoken){.is_open = true, .words = WORDS_MAX - 2};
    spoken->current = MIN(value, LARGEST / ONE) * ONE;
    spoken->last = 0;
}

int64_t spoken_hundredths(const struct spoken *spoken)
{
    return spoken->total + spoken->current;
}
