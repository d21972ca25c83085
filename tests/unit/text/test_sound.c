/* Words of several scripts and spellings are compared by how they sound. */
#include <string.h>

#include "test.h"
#include "text/sound.h"

static double likeness(const char *a, const char *b)
{
    char x[SOUND_BYTES], y[SOUND_BYTES];
    sound_of(a, x);
    sound_of(b, y);
    return sound_likeness(x, y);
}

static bool share_a_key(const char *a, const char *b)
{
    char x[SOUND_BYTES], y[SOUND_BYTES];
    char of_a[SOUND_KEYS_MAX][SOUND_KEY_BYTES], of_b[SOUND_KEYS_MAX][SOUND_KEY_BYTES];
    sound_of(a, x);
    sound_of(b, y);
    size_t n = sound_keys(x, of_a), m = sound_keys(y, of_b);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            if (strcmp(of_a[i], of_b[j]) == 0)
                return true;
    return false;
}

TEST(same_word_in_two_scripts_sounds_alike)
{
    static const char *const rows[][2] = {
        {"parking", "पार्किंग"}, {"dukaan", "दुकान"},        {"jaanch", "जाँच"},    {"kambal", "कंबल"},
        {"mitti", "मिट्टी"},    {"thallupadi", "தள்ளுபடி"}, {"pudavai", "புடவை"}, {"batil", "বাতিল"},
        {"bhara", "ভাড়া"},     {"zyada", "ज़्यादा"},        {"udhaar", "उधार"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK(likeness(rows[i][0], rows[i][1]) >= 0.75);
        CHECK(share_a_key(rows[i][0], rows[i][1]));
    }
}

TEST(mistyped_and_misheard_words_sound_alike)
{
    static const char *const rows[][2] = {
        {"frist", "first"},
        {"enginer", "engineer"},
        {"rooter", "router"},
        {"lockhers", "lockers"},
        {"warrentea", "warranty"},
        {"bycycles", "bicycles"},
        {"extraaction", "extraction"},
        {"personal", "persnal"},
        {"instalation", "installation"},
        {"consultaton", "consultation"},
        {"parsell", "parcel"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK(likeness(rows[i][0], rows[i][1]) >= 0.7);
        CHECK(share_a_key(rows[i][0], rows[i][1]));
    }
}

TEST(other_words_do_not_sound_alike)
{
    static const char *const rows[][2] = {
        {"parking", "pricing"}, {"deposit", "dentist"}, {"cancel", "candle"},
        {"dog", "car"},         {"dim", "দাম"},         {"mitti", "mutta"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK(likeness(rows[i][0], rows[i][1]) < 0.75);
}

TEST(odd_words_have_no_sound)
{
    char out[SOUND_BYTES], keys[SOUND_KEYS_MAX][SOUND_KEY_BYTES];
    sound_of("", out);
    CHECK_TEXT(out, "");
    sound_of("123", out);
    CHECK_TEXT(out, "");
    sound_of("\xE0\xA4", out);
    CHECK_TEXT(out, "");
    CHECK_INT(sound_keys("", keys), 0);
    CHECK(sound_likeness("", "") == 0);
    char longest[129];
    memset(longest, 0, sizeof(longest));
    for (size_t i = 0; i < 128; i++)
        longest[i] = "kab"[i % 3];
    sound_of(longest, out);
    CHECK_INT(strlen(out), SOUND_BYTES - 1);
    CHECK(sound_keys(out, keys) <= SOUND_KEYS_MAX);
}
