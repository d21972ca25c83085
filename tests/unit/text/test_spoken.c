/* Numbers in words become the numbers that they are. */
#include <string.h>

#include "test.h"
#include "text/spoken.h"
#include "text/words.h"

struct reading {
    struct spoken spoken;
    bool is_hindi, is_whole;
};

static int take(void *arg, const struct word *word)
{
    struct reading *reading = arg;
    reading->is_whole =
        reading->is_whole && spoken_take(&reading->spoken, word->folded, reading->is_hindi);
    return 0;
}

TEST(spoken_numbers_are_read)
{
    static const struct {
        const char *words;
        int64_t hundredths;
        bool is_hindi;
    } rows[] = {
        {"two fifty", 25000, false},
        {"two hundred and fifty", 25000, false},
        {"nine ninety nine", 99900, false},
        {"twenty five thousand", 2500000, false},
        {"one hundred forty", 14000, false},
        {"nineteen fifty", 195000, false},
        {"thirty", 3000, false},
        {"two lakh fifty thousand", 25000000, false},
        {"ढाई सौ", 25000, false},
        {"सोलह सौ पचास", 165000, false},
        {"साढ़े छह हज़ार", 650000, false},
        {"सवा सौ", 12500, false},
        {"साठ", 6000, false},
        {"सात", 700, false},
        {"dedh sau", 15000, true},
        {"ek sau assi", 18000, true},
        {"pachees hazaar", 2500000, true},
        {"எட்டாயிரத்து ஐந்நூறு", 850000, false},
        {"முன்னூறு", 30000, false},
        {"நூற்று எண்பது", 18000, false},
        {"তিনশো নিরানব্বই", 39900, false},
        {"চোদ্দোশো নিরানব্বই", 149900, false},
        {"আড়াই হাজার", 250000, false},
        {"fifth", 500, false},
        {"twenty third", 2300, false},
        {"paintaalis", 4500, true},
        {"দেড়শো", 15000, false},
        {"দশটা", 1000, false},
        {"আটটায়", 800, false},
        {"பத்துக்கு", 1000, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct reading reading = {.is_hindi = rows[i].is_hindi, .is_whole = true};
        words_each(rows[i].words, "", take, &reading);
        CHECK(reading.is_whole);
        CHECK_INT(spoken_hundredths(&reading.spoken), rows[i].hundredths);
    }
}

TEST(what_is_no_number_is_not_taken)
{
    struct spoken spoken = {0};
    CHECK(!spoken_take(&spoken, "parking", true));
    CHECK(!spoken_take(&spoken, "do", false));
    CHECK(!spoken_take(&spoken, "and", false));
    CHECK(!spoken_take(&spoken, "", false));
    CHECK(!spoken_take(&spoken, "টাকা", false));
    CHECK(!spoken_take(&spoken, "first", false)); /* seldom of a day or place */
    CHECK(spoken_take(&spoken, "five", false));
    CHECK(!spoken_take(&spoken, "five", false)); /* another number begins */
    spoken_begin(&spoken, 5);
    CHECK(spoken_take(&spoken, "lakh", false));
    CHECK_INT(spoken_hundredths(&spoken), 50000000);
    for (int i = 0; i < 100; i++)
        (void)spoken_take(&spoken, "crore", false);
    CHECK(spoken_hundredths(&spoken) > 0);
}
