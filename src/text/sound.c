/* See sound.h. Thread: any. */
#include "text/sound.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"
#include "base/utf8.h"

enum {
    INDIC_FIRST = 0x0900, /* Devanagari; the ten blocks follow each other up to Malayalam */
    INDIC_LAST = 0x0D7F,
    BENGALI_FIRST = 0x0980,
    TAMIL_FIRST = 0x0B80,
    BLOCK = 0x80,
    SIGNS_FIRST = 0x3E, /* vowel signs within a block */
    SIGNS_LAST = 0x4C,
    VIRAMA = 0x4D,
    NUKTA = 0x3C,
    LETTERS_MAX = 32,
    KEY_CLASSES = 9,
    PREFIX = 4, /* classes by which a word finds what continues it */
};

struct writer {
    char *out;
    size_t len;
};

static void put(struct writer *writer, const char *letters)
{
    for (; *letters && writer->len < SOUND_BYTES - 1; letters++)
        if (!writer->len || writer->out[writer->len - 1] != *letters) /* doubled ones once */
            writer->out[writer->len++] = *letters;
}

/* The scripts of India. */

/* By place in the block (Unicode standard, chapter 12); NULL: not heard. */
static const char *const indic[BLOCK] = {
    [0x01] = "n",  [0x02] = "n", [0x03] = "h", [0x05] = "a",  [0x06] = "a", [0x07] = "i",
    [0x08] = "i",  [0x09] = "u", [0x0A] = "u", [0x0B] = "ri", [0x0D] = "e", [0x0E] = "e",
    [0x0F] = "e",  [0x10] = "e", [0x11] = "o", [0x12] = "o",  [0x13] = "o", [0x14] = "o",
    [0x15] = "k",  [0x16] = "k", [0x17] = "g", [0x18] = "g",  [0x19] = "n", [0x1A] = "c",
    [0x1B] = "c",  [0x1C] = "j", [0x1D] = "j", [0x1E] = "n",  [0x1F] = "t", [0x20] = "t",
    [0x21] = "d",  [0x22] = "d", [0x23] = "n", [0x24] = "t",  [0x25] = "t", [0x26] = "d",
    [0x27] = "d",  [0x28] = "n", [0x29] = "n", [0x2A] = "p",  [0x2B] = "f", [0x2C] = "b",
    [0x2D] = "b",  [0x2E] = "m", [0x2F] = "y", [0x30] = "r",  [0x31] = "r", [0x32] = "l",
    [0x33] = "l",  [0x34] = "l", [0x35] = "v", [0x36] = "s",  [0x37] = "s", [0x38] = "s",
    [0x39] = "h",  [0x3E] = "a", [0x3F] = "i", [0x40] = "i",  [0x41] = "u", [0x42] = "u",
    [0x43] = "ri", [0x45] = "e", [0x46] = "e", [0x47] = "e",  [0x48] = "e", [0x49] = "o",
    [0x4A] = "o",  [0x4B] = "o", [0x4C] = "o", [0x57] = "o",  [0x58] = "k", [0x59] = "k",
    [0x5A] = "g",  [0x5B] = "z", [0x5C] = "d", [0x5D] = "d",  [0x5E] = "f", [0x5F] = "y",
};

static bool is_indic_consonant(uint32_t place)
{
    return (place >= 0x15 && place <= 0x39) || (place >= 0x58 && place <= 0x5F);
}

/* A consonant that a dot below changes: ज़ z, फ़ f, ড় r, য় y. */
static const char *with_nukta(uint32_t place, bool is_bengali)
{
    switch (place) {
    case 0x1C:
        return "z";
    case 0x21:
    case 0x22:
        return is_bengali ? "r" : "d";
    case 0x2F:
        return "y";
    default:
        return indic[place];
    }
}

static const char *letter_of(uint32_t place, uint32_t block, bool has_nukta)
{
    if (has_nukta || (block == BENGALI_FIRST && place >= 0x5C && place <= 0x5D))
        return with_nukta(place >= 0x58 ? 0x21 : place, block == BENGALI_FIRST);
    if (block == BENGALI_FIRST && place == 0x2F)
        return "j";
    if (block == TAMIL_FIRST && place == 0x1A)
        return "s";
    return indic[place];
}

static void write_indic(const uint32_t *chars, size_t n, struct writer *writer)
{
    bool is_open = false; /* a consonant whose vowel is not written yet */
    for (size_t i = 0; i < n; i++) {
        if (chars[i] < INDIC_FIRST || chars[i] > INDIC_LAST)
            continue;
        uint32_t place = chars[i] % BLOCK, block = chars[i] - place;
        bool has_nukta = i + 1 < n && chars[i + 1] % BLOCK == NUKTA;
        const char *letter = letter_of(place, block, has_nukta);
        bool is_consonant = is_indic_consonant(place);
        if (is_open && (is_consonant || place <= 0x03))
            put(writer, "A");
        if (place == NUKTA)
            continue;
        if (is_consonant)
            is_open = true;
        else if (place == VIRAMA || (place >= SIGNS_FIRST && place <= SIGNS_LAST) || letter)
            is_open = false;
        if (letter)
            put(writer, letter);
    }
}

/* Latin. */

/* What stands for what, the longest first; `at_end`: only there. */
static const struct {
    const char *from, *to;
    bool at_end;
} latin[] = {
    {"tion", "sAn", false}, {"sion", "sAn", false}, {"ough", "o", true}, {"igh", "i", false},
    {"sch", "sk", false},   {"tch", "c", false},    {"aa", "a", false},  {"ee", "i", false},
    {"ea", "i", false},     {"oo", "u", false},     {"ou", "u", false},  {"ai", "e", false},
    {"ay", "e", false},     {"au", "o", false},     {"aw", "o", false},  {"ei", "e", false},
    {"ie", "i", false},     {"ch", "c", false},     {"sh", "s", false},  {"th", "t", false},
    {"dh", "d", false},     {"ph", "f", false},     {"bh", "b", false},  {"gh", "g", false},
    {"kh", "k", false},     {"jh", "j", false},     {"zh", "l", false},  {"wh", "v", false},
    {"ck", "k", false},     {"qu", "kv", false},    {"x", "ks", false},  {"q", "k", false},
    {"c", "k", false},      {"w", "v", false},      {"y", "i", true},
};

static size_t put_latin(const char *at, struct writer *writer)
{
    if (*at == 'c' && at[1] && strchr("eiy", at[1])) {
        put(writer, "s");
        return 1;
    }
    for (size_t i = 0; i < ARRAY_LEN(latin); i++) {
        size_t len = strlen(latin[i].from);
        if (latin[i].from[0] != *at || strncmp(at, latin[i].from, len) != 0 ||
            (latin[i].at_end && at[len]))
            continue;
        put(writer, latin[i].to);
        return len;
    }
    put(writer, (const char[]){*at, '\0'});
    return 1;
}

static void write_latin(const char *folded, struct writer *writer)
{
    size_t len = strlen(folded);
    bool is_silent = len > 3 && folded[len - 1] == 'e' && !strchr("aeiou", folded[len - 2]);
    for (const char *at = folded; *at && !(is_silent && !at[1]);)
        if (*at >= 'a' && *at <= 'z')
            at += put_latin(at, writer);
        else
            at++;
}

/* A word. */

void sound_of(const char *folded, char out[SOUND_BYTES])
{
    struct writer writer = {.out = out};
    uint32_t chars[SOUND_BYTES];
    size_t n = 0, latin_count = 0, indic_count = 0, len = strlen(folded);
    for (size_t at = 0; at < len && n < ARRAY_LEN(chars); n++) {
        size_t step = utf8_decode(folded + at, len - at, &chars[n]);
        if (!step)
            break;
        at += step;
        latin_count += chars[n] >= 'a' && chars[n] <= 'z';
        indic_count += chars[n] >= INDIC_FIRST && chars[n] <= INDIC_LAST;
    }
    if (indic_count)
        write_indic(chars, n, &writer);
    else if (latin_count)
        write_latin(folded, &writer);
    out[writer.len] = '\0';
}

/* Keys. */

/* Consonants that are taken for each other are of one class; vowels, h and y of none. */
static char class_of(char letter)
{
    static const char classes[26] = {
        ['b' - 'a'] = 'P', ['c' - 'a'] = 'S', ['d' - 'a'] = 'T', ['f' - 'a'] = 'P',
        ['g' - 'a'] = 'K', ['j' - 'a'] = 'S', ['k' - 'a'] = 'K', ['l' - 'a'] = 'L',
        ['m' - 'a'] = 'N', ['n' - 'a'] = 'N', ['p' - 'a'] = 'P', ['r' - 'a'] = 'R',
        ['s' - 'a'] = 'S', ['t' - 'a'] = 'T', ['v' - 'a'] = 'P', ['z' - 'a'] = 'S',
    };
    return letter >= 'a' && letter <= 'z' ? classes[letter - 'a'] : '\0';
}

static size_t skeleton(const char *sound, char out[KEY_CLASSES + 2])
{
    size_t n = 0;
    if (*sound && strchr("aeiou", *sound))
        out[n++] = 'A';
    for (const char *at = sound; *at && n < KEY_CLASSES; at++) {
        char letter = class_of(*at);
        if (letter && (at == sound || letter != class_of(at[-1])))
            out[n++] = letter;
    }
    out[n] = '\0';
    return n;
}

size_t sound_keys(const char *sound, char out[SOUND_KEYS_MAX][SOUND_KEY_BYTES])
{
    char classes[KEY_CLASSES + 2];
    size_t n = skeleton(sound, classes), count = 0;
    if (n < 2)
        return 0;
    memcpy(out[count++], classes, n + 1);
    for (size_t left_out = 0; n > 2 && left_out < n; left_out++) {
        char *key = out[count];
        memcpy(key, classes, left_out);
        memcpy(key + left_out, classes + left_out + 1, n - left_out);
        count += strcmp(key, out[count - 1]) != 0;
    }
    if (n == 2 && classes[0] != classes[1]) { /* two that changed places */
        out[count][0] = '*';
        out[count][1] = MIN(classes[0], classes[1]);
        out[count][2] = MAX(classes[0], classes[1]);
        out[count++][3] = '\0';
    }
    if (n >= PREFIX) {
        out[count][0] = '^';
        memcpy(out[count] + 1, classes, PREFIX);
        out[count++][1 + PREFIX] = '\0';
    }
    return count;
}

/* Likeness. */

/* A letter as the distance needs it: looked up once, not for each pair. */
struct letter {
    char letter, class; /* class '\0': of none */
    signed char vowel;  /* place in "Aaeiou"; -1: no vowel */
    float loss;         /* what it costs to leave it out */
};

static struct letter letter_as(char letter)
{
    static const char vowels[] = "Aaeiou";
    const char *vowel = strchr(vowels, letter);
    struct letter out = {.letter = letter, .class = class_of(letter)};
    out.vowel = (signed char)(vowel ? vowel - vowels : -1);
    if (letter == 'A')
        out.loss = 0.15F;
    else if (letter == 'h' || letter == 'y')
        out.loss = 0.3F;
    else
        out.loss = vowel ? 0.5F : 1;
    return out;
}

/* Of vowels: neighbours are heard for each other ("e" and "i"), far ones make another word. */
static const float vowel_exchange[6][6] = {
    /* A      a      e      i      o      u */
    {0.00F, 0.15F, 0.15F, 0.15F, 0.15F, 0.15F}, /* A */
    {0.15F, 0.00F, 0.30F, 0.70F, 0.30F, 0.70F}, /* a */
    {0.15F, 0.30F, 0.00F, 0.30F, 0.70F, 0.70F}, /* e */
    {0.15F, 0.70F, 0.30F, 0.00F, 0.70F, 0.70F}, /* i */
    {0.15F, 0.30F, 0.70F, 0.70F, 0.00F, 0.30F}, /* o */
    {0.15F, 0.70F, 0.70F, 0.70F, 0.30F, 0.00F}, /* u */
};

static inline float exchange(struct letter a, struct letter b)
{
    if (a.letter == b.letter)
        return 0;
    if (a.vowel >= 0 && b.vowel >= 0)
        return vowel_exchange[a.vowel][b.vowel];
    if (a.vowel >= 0 || b.vowel >= 0)
        return a.loss + b.loss;
    return a.class && a.class == b.class ? 0.35F : 1;
}

/* Returns how many; *out_weight: of all. */
static size_t letters_of(const char *sound, struct letter out[SOUND_BYTES], float *out_weight)
{
    size_t n = 0;
    *out_weight = 0;
    for (; sound[n] && n < SOUND_BYTES - 1; n++) {
        out[n] = letter_as(sound[n]);
        *out_weight += out[n].loss;
    }
    return n;
}

double sound_likeness(const char *sound_a, const char *sound_b)
{
    struct letter a[SOUND_BYTES], b[SOUND_BYTES];
    float rows[3][SOUND_BYTES], weight_a, weight_b;
    float *before = rows[0], *last = rows[1], *now = rows[2];
    size_t n = letters_of(sound_a, a, &weight_a), m = letters_of(sound_b, b, &weight_b);
    float most = MAX(weight_a, weight_b);
    if (most <= 0)
        return 0;
    last[0] = 0;
    for (size_t j = 0; j < m; j++)
        last[j + 1] = last[j] + b[j].loss;
    for (size_t i = 0; i < n; i++) {
        now[0] = last[0] + a[i].loss;
        for (size_t j = 0; j < m; j++) {
            float least = last[j] + exchange(a[i], b[j]);
            least = MIN(least, last[j + 1] + a[i].loss);
            least = MIN(least, now[j] + b[j].loss);
            if (i && j && a[i].letter == b[j - 1].letter && a[i - 1].letter == b[j].letter)
                least = MIN(least, before[j - 1] + 0.5F); /* exchanged in typing */
            now[j + 1] = least;
        }
        float *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return (double)MAX(0.0F, 1 - last[m] / most);
}

double letters_likeness(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n >= LETTERS_MAX || m >= LETTERS_MAX || !n || !m)
        return 0;
    int rows[LETTERS_MAX + 1][LETTERS_MAX + 1];
    for (size_t i = 0; i <= n; i++)
        rows[i][0] = (int)i;
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = (int)j;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            int least = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            least = MIN(least, MIN(rows[i - 1][j], rows[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                least = MIN(least, rows[i - 2][j - 2] + 1);
            rows[i][j] = least;
        }
    return 1 - (double)rows[n][m] / (double)MAX(n, m);
}
