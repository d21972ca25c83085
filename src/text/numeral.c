/* A small reader of the rules in numeral.def: each is written from its left to its right, and asks
 * for how many there are of its power of ten and for what rests. */
#include "text/numeral.h"

#include <string.h>

#include "base/attr.h"

enum {
    TWENTY = 20,
    RULES_MAX = 48,
    YEAR_CENTURY = 100,
    YEAR_OF_HUNDREDS = 1100, /* from here on centuries are counted: "nineteen ninety-eight" */
    YEAR_OF_THOUSANDS = 2000,
    YEAR_OF_PAIRS = 2010,
    YEAR_MAX = 2100,
};

static const int64_t value_most = 999999999999999;

enum plural { PLURAL_ONE, PLURAL_ONE_AND_LESS, PLURAL_POLISH, PLURAL_RUSSIAN };

struct rule {
    enum numeral_form form;
    int64_t base;
    const char *text;
};

static const struct language {
    const char *iso;
    enum plural plural;
    const char *words;
    struct rule rules[RULES_MAX]; /* ascending; base 0: no more */
} languages[] = {
#define RULE(form_, base_, text_)                                                                  \
    {                                                                                              \
        NUMERAL_##form_, base_, text_                                                              \
    }
#define NUMERALS(iso_, plural_, words_, ...) {iso_, plural_, words_, {__VA_ARGS__}},
#include "text/numeral.def"
#undef NUMERALS
#undef RULE
};

/* A number while one rule of it is written. */
struct saying {
    const struct language *language;
    int64_t value, power;
    enum numeral_form form;
    struct buf *out;
};

static const struct language *language_of(const char *iso)
{
    for (size_t i = 0; i < ARRAY_LEN(languages); i++)
        if (strcmp(languages[i].iso, iso) == 0)
            return &languages[i];
    return NULL;
}

static bool put_word(const char *words, int64_t number, struct buf *out)
{
    for (; number > 0 && words; number--) {
        words = strchr(words, ' ');
        words += words != NULL;
    }
    if (words)
        (void)buf_append(out, words, strcspn(words, " "));
    return words != NULL;
}

static bool is_fixed(const struct rule *rule)
{
    return rule->form != NUMERAL_COUNT && !strpbrk(rule->text, "<@^*>:!%");
}

static const struct rule *rule_of(const struct language *language, int64_t value,
                                  enum numeral_form form)
{
    const struct rule *best = NULL;
    for (const struct rule *rule = language->rules; rule->base > 0 && rule->base <= value; rule++) {
        bool is_ours = rule->form == NUMERAL_COUNT || rule->form == form;
        bool is_better = !best || rule->base > best->base || best->form == NUMERAL_COUNT;
        if (is_ours && is_better && (rule->base == value || !is_fixed(rule)))
            best = rule;
    }
    return best;
}

static void put(const struct language *language, int64_t value, enum numeral_form form,
                struct buf *out);

/* The place in "one|few|many" of what is counted. */
static size_t plural_of(enum plural plural, int64_t value)
{
    int64_t tens = value % 100, ones = value % 10;
    bool is_few = ones >= 2 && ones <= 4 && (tens < 12 || tens > 14);
    switch (plural) {
    case PLURAL_ONE:
        return value != 1;
    case PLURAL_ONE_AND_LESS:
        return value > 1;
    case PLURAL_POLISH:
        return value == 1 ? 0 : is_few ? 1 : 2;
    case PLURAL_RUSSIAN:
        return ones == 1 && tens != 11 ? 0 : is_few ? 1 : 2;
    }
    return 0;
}

/* The chosen one of forms, which end at any of the ends; the last where there are fewer. */
static void put_form(const char *forms, size_t chosen, const char *ends, struct buf *out)
{
    size_t len;
    while (chosen-- > 0 && forms[len = strcspn(forms, ends)] == '|')
        forms += len + 1;
    (void)buf_append(out, forms, strcspn(forms, ends));
}

static bool ends_with(const struct buf *out, char c)
{
    return out->len > 0 && out->data[out->len - 1] == c;
}

/* "venti" and "otto" are "ventotto", "cento" and "uno" are "centouno". */
static void run_into(const struct saying *saying, int64_t rest)
{
    AUTO_BUF next = BUF_INIT(200);
    put(saying->language, rest, saying->form, &next);
    bool is_same = next.data[0] == 'o' || (next.data[0] == 'u' && ends_with(saying->out, 'i')) ||
                   (next.data[0] == 'u' && ends_with(saying->out, 'a'));
    bool is_accented = rest == 3 && saying->form != NUMERAL_MASCULINE; /* "ventitremila" */
    if (is_same)
        saying->out->len--;
    (void)buf_append_str(saying->out, is_accented ? "tré" : next.data);
}

static int64_t rest_of(const struct saying *saying, const char *text)
{
    return saying->value % (strchr(text, '!') ? TWENTY : saying->power);
}

static bool put_mark(const struct saying *saying, char mark, int64_t rest)
{
    int64_t many = saying->value / saying->power;
    enum numeral_form own = saying->form == NUMERAL_FEMININE ? NUMERAL_FEMININE : NUMERAL_MASCULINE;
    switch (mark) {
    case '<':
        put(saying->language, many, NUMERAL_COUNT, saying->out);
        return true;
    case '@':
        put(saying->language, many, NUMERAL_MASCULINE, saying->out);
        return true;
    case '^':
        put(saying->language, many, NUMERAL_FEMININE, saying->out);
        return true;
    case '*':
        put(saying->language, many, own, saying->out);
        return true;
    case '>':
    case '!':
        put(saying->language, rest, saying->form, saying->out);
        return true;
    case ':':
        put(saying->language, rest, NUMERAL_MASCULINE, saying->out);
        return true;
    case '%':
        run_into(saying, rest);
        return true;
    case '~':
        (void)buf_append_str(saying->out, rest < 100 || rest % 100 == 0 ? " e " : " ");
        return true;
    case '&':
        (void)buf_append_str(saying->out, ends_with(saying->out, 'e') ? "ën" : "en");
        return true;
    default:
        return false;
    }
}

static void put_rule(const struct saying *saying, const char *text)
{
    int64_t rest = rest_of(saying, text);
    size_t chosen = plural_of(saying->language->plural, saying->value / saying->power);
    for (; *text; text++) {
        if (*text == '{') {
            put_form(text + 1, chosen, "|}", saying->out);
            text += strcspn(text, "}");
        } else if (*text == '[' && rest == 0) {
            text += strcspn(text, "|]");
        } else if (*text == '|') {
            text += strcspn(text, "]");
        } else if (!strchr("[]", *text) && !put_mark(saying, *text, rest)) {
            (void)buf_append_char(saying->out, *text);
        }
    }
}

static void put(const struct language *language, int64_t value, enum numeral_form form,
                struct buf *out)
{
    const struct rule *rule = rule_of(language, value, form);
    bool is_word = !rule || (rule->form != NUMERAL_COUNT && rule->base != value);
    if (is_word && put_word(language->words, value, out))
        return;
    struct saying saying = {language, value, 1, form, out};
    while (rule && saying.power * 10 <= rule->base)
        saying.power *= 10;
    if (rule)
        put_rule(&saying, rule->text);
}

bool numeral_write(int64_t value, const char *iso, enum numeral_form form, struct buf *out)
{
    const struct language *language = language_of(iso);
    if (!language || value < 0 || value > value_most)
        return false;
    put(language, value, form, out);
    return true;
}

void numeral_write_counted(int64_t value, bool is_fraction, const char *iso, const char *forms,
                           struct buf *out)
{
    const struct language *language = language_of(iso);
    size_t chosen = language ? plural_of(language->plural, value) : 0;
    if (language && is_fraction) /* Russian and Polish: of the second form, as of a part */
        chosen = language->plural == PLURAL_ONE_AND_LESS ? chosen : 1;
    put_form(forms, chosen, "|", out);
}

bool numeral_write_year(int64_t value, const char *iso, struct buf *out)
{
    int64_t century = value / YEAR_CENTURY, rest = value % YEAR_CENTURY;
    bool is_english = strncmp(iso, "en", 2) == 0;
    bool is_of_hundreds = strcmp(iso, "de") == 0 || strcmp(iso, "nl") == 0 || is_english;
    bool is_pair = value >= YEAR_OF_HUNDREDS && value < YEAR_OF_THOUSANDS;
    is_pair = is_pair || (is_english && value >= YEAR_OF_PAIRS && value < YEAR_MAX);
    if (!is_of_hundreds || !is_pair)
        return numeral_write(value, iso, NUMERAL_COUNT, out);
    (void)numeral_write(century, iso, NUMERAL_COUNT, out);
    const char *hundred = strcmp(iso, "de") == 0 ? "hundert" : "honderd";
    if (is_english)
        (void)buf_append_str(out, rest == 0 ? " hundred" : rest < 10 ? " oh-" : " ");
    else
        (void)buf_append_str(out, hundred);
    if (rest > 0)
        (void)numeral_write(rest, iso, NUMERAL_COUNT, out);
    return true;
}
