/* Clock times and dates. A date in figures is read by the language's order; in English, where both
 * orders are in use, only where one of them can be meant. Polish and Russian days and years stay
 * figures, for their form goes with the sentence. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "text/aloud_internal.h"
#include "text/numeral.h"

enum {
    HOURS = 24,
    NOON = 12,
    MINUTES = 60,
    QUARTER = 15,
    HALF = 30,
    TEN = 10,
    DAYS = 31,
    YEAR_DIGITS = 4,
    SPOKEN_BYTES = 200,
};

static const struct clock {
    const char *iso;
    enum numeral_form form;
    const char *sign, *full, *part, *zero, *with;
} clocks[] = {
#define CLOCK(iso_, form_, sign_, full_, part_, zero_, with_)                                      \
    {iso_, NUMERAL_##form_, sign_, full_, part_, zero_, with_},
#include "text/aloud_time.def"
#undef CLOCK
};

static size_t digit_run(const char *text)
{
    return strspn(text, "0123456789");
}

static int small_number(const char *digits)
{
    return (int)strtol(digits, NULL, 10);
}

static bool is_language(const struct aloud *aloud, const char *iso)
{
    return strcmp(aloud->manner->iso, iso) == 0;
}

static void put_cardinal(const struct aloud *aloud, int value, enum numeral_form form)
{
    (void)numeral_write(value, aloud->numerals, form, aloud->out);
}

/* Times. */

struct moment {
    int hours, minutes;
    size_t len;
    char half; /* of the day: 'a', 'p'; 0: not written */
};

/* " pm", "a.m." */
static void read_half(struct moment *moment, const char *at)
{
    static const char *const halves[] = {"a.m.", "p.m.", "am", "pm"};
    size_t blank = at[moment->len] == ' ';
    const char *start = at + moment->len + blank;
    for (size_t i = 0; i < ARRAY_LEN(halves) && !moment->half; i++) {
        size_t len = strlen(halves[i]);
        if (strncasecmp(start, halves[i], len) != 0 || isalnum((unsigned char)start[len]))
            continue;
        moment->half = halves[i][0];
        moment->len += blank + len;
    }
}

/* The word after it that the language's way of saying has in it. */
static void read_with(struct moment *moment, const struct clock *clock, const char *at)
{
    const char *start = at + moment->len + (at[moment->len] == ' ');
    size_t len = aloud_word_len(start);
    if (len && aloud_is_one_of(start, len, clock->with))
        moment->len = (size_t)(start - at) + len;
}

/* "14:30"; in German "14.30" where "Uhr" follows; "14h30" where the language has it. */
static bool read_moment(const struct aloud *aloud, const struct clock *clock, const char *at,
                        struct moment *out)
{
    size_t run = digit_run(at), sign = strlen(clock->sign);
    bool is_colon = at[run] == ':' || (sign && strncmp(at + run, clock->sign, sign) == 0);
    bool is_stop = is_language(aloud, "de") && at[run] == '.' && run <= 2 &&
                   digit_run(at + run + 1) == 2 && strncmp(at + run + 3, " Uhr", 4) == 0;
    *out = (struct moment){.hours = run > 0 && run <= 2 ? small_number(at) : HOURS};
    out->len = run;
    if (is_colon || is_stop) {
        if (digit_run(at + run + 1) != 2)
            return false;
        out->minutes = small_number(at + run + 1);
        out->len += 3;
    }
    if (is_language(aloud, "en"))
        read_half(out, at);
    bool is_half_right = !out->half || (out->hours > 0 && out->hours <= NOON);
    if (is_colon || is_stop)
        read_with(out, clock, at);
    return (is_colon || is_stop || out->half) && out->hours < HOURS && out->minutes < MINUTES &&
           is_half_right;
}

/* Hours are ordinals in Polish: nominative, or "-ej" after a preposition. */
static void put_polish_hour(const struct aloud *aloud, int hours, bool is_bent)
{
    static const char *const words[] = {
        "zerowa",     "pierwsza",      "druga",      "trzecia",   "czwarta",   "piąta",
        "szósta",     "siódma",        "ósma",       "dziewiąta", "dziesiąta", "jedenasta",
        "dwunasta",   "trzynasta",     "czternasta", "piętnasta", "szesnasta", "siedemnasta",
        "osiemnasta", "dziewiętnasta", "dwudziesta"};
    int tens = hours > 20 ? 20 : hours;
    for (int part = 0; part < (hours > 20 ? 2 : 1); part++) {
        const char *word = words[part == 0 ? tens : hours - tens];
        size_t len = strlen(word);
        (void)buf_append_str(aloud->out, part ? " " : "");
        (void)buf_append(aloud->out, word, is_bent ? len - 1 : len);
        if (is_bent)
            (void)buf_append_str(aloud->out, word[len - 2] == 'g' ? "iej" : "ej");
    }
}

static void put_hour(const struct aloud *aloud, const struct clock *clock, int hours,
                     const char *at)
{
    const char *word = NULL;
    size_t len = aloud_word_before(aloud, at, 1, &word);
    if (is_language(aloud, "pl"))
        put_polish_hour(aloud, hours,
                        len && aloud_is_one_of(word, len, "o od do po około koło przy"));
    else
        put_cardinal(aloud, hours, clock->form);
}

static void put_clock(const struct aloud *aloud, const struct clock *clock,
                      const struct moment *moment, const char *at)
{
    for (const char *sign = moment->minutes ? clock->part : clock->full; *sign; sign++) {
        if (strncmp(sign, "%h", 2) == 0) {
            put_hour(aloud, clock, moment->hours, at);
            sign++;
        } else if (strncmp(sign, "%m", 2) == 0) {
            (void)buf_append_str(aloud->out, moment->minutes < TEN ? clock->zero : "");
            put_cardinal(aloud, moment->minutes, NUMERAL_COUNT);
            sign++;
        } else if (*sign == '{') {
            char forms[SPOKEN_BYTES];
            snprintf(forms, sizeof(forms), "%.*s", (int)strcspn(sign + 1, "}"), sign + 1);
            numeral_write_counted(moment->hours, false, aloud->manner->iso, forms, aloud->out);
            sign += strcspn(sign, "}");
        } else {
            (void)buf_append_char(aloud->out, *sign);
        }
    }
}

/* Half past two is "two thirty P M" whether it was written as 2:30 pm or as 14:30. */
static void put_english(const struct aloud *aloud, const struct clock *clock,
                        const struct moment *moment, const char *at)
{
    struct moment said = *moment;
    if (!said.half && (said.hours == 0 || said.hours > NOON))
        said.half = said.hours > NOON ? 'p' : 'a';
    said.hours = said.hours % NOON ? said.hours % NOON : NOON;
    if (said.half && said.minutes == 0)
        put_cardinal(aloud, said.hours, NUMERAL_COUNT);
    else
        put_clock(aloud, clock, &said, at);
    if (said.half)
        (void)buf_append_str(aloud->out, said.half == 'a' ? " A M" : " P M");
}

/* Half past two is ढाई, quarters have words of their own. False: there is none for it. */
static bool put_hindi(const struct aloud *aloud, const struct moment *moment)
{
    int hours = moment->hours, minutes = moment->minutes;
    if (hours < 1 || hours > NOON || minutes == 0 || minutes % QUARTER != 0)
        return false;
    bool is_own = minutes == HALF && hours <= 2;
    if (is_own) {
        (void)buf_append_str(aloud->out, hours == 1 ? "डेढ़" : "ढाई");
    } else {
        bool is_to = minutes > HALF;
        (void)buf_append_str(aloud->out, is_to ? "पौने " : minutes == HALF ? "साढ़े " : "सवा ");
        put_cardinal(aloud, is_to ? hours % NOON + 1 : hours, NUMERAL_COUNT);
    }
    (void)buf_append_str(aloud->out, " बजे");
    return true;
}

static void put_moment(const struct aloud *aloud, const struct clock *clock,
                       const struct moment *moment, const char *at)
{
    if (is_language(aloud, "en"))
        put_english(aloud, clock, moment, at);
    else if (!is_language(aloud, "hi") || !put_hindi(aloud, moment))
        put_clock(aloud, clock, moment, at);
}

/* NULL: the language has no row. */
static const struct clock *clock_of(const struct aloud *aloud)
{
    for (size_t i = 0; i < ARRAY_LEN(clocks); i++)
        if (is_language(aloud, clocks[i].iso))
            return &clocks[i];
    return NULL;
}

size_t aloud_time(const struct aloud *aloud, const char *at)
{
    const struct clock *clock = clock_of(aloud);
    struct moment first, last;
    if (!clock || !read_moment(aloud, clock, at, &first))
        return 0;
    size_t dash = aloud_dash_len(at + first.len);
    const char *to = aloud_to(aloud);
    if (!dash && !aloud_is_end(at + first.len))
        return 0;
    if (dash && (!to || !read_moment(aloud, clock, at + first.len + dash, &last) ||
                 !aloud_is_end(at + first.len + dash + last.len)))
        return 0;
    put_moment(aloud, clock, &first, at);
    if (!dash)
        return first.len;
    (void)buf_printf(aloud->out, " %s ", to);
    put_moment(aloud, clock, &last, at);
    return first.len + dash + last.len;
}

/* Dates. */

struct day {
    int day, month, year; /* year 0: none is said */
    bool is_month_first;
    size_t len;
};

/* A year after a date: its bytes with what parts them. */
static size_t read_year(const char *at, const char *parted, int *out_year)
{
    size_t len = strlen(parted);
    if (strncmp(at, parted, len) != 0 || digit_run(at + len) != YEAR_DIGITS ||
        strchr("03456789", at[len]) || !aloud_is_end(at + len + YEAR_DIGITS))
        return 0;
    *out_year = small_number(at + len);
    return len + YEAR_DIGITS;
}

static bool is_day(const struct day *day)
{
    return day->day >= 1 && day->day <= DAYS && day->month >= 1 && day->month <= MONTHS;
}

/* 2026-03-05 */
static bool read_iso(const char *at, struct day *out)
{
    static const char shape[] = "dddd-dd-dd";
    for (size_t i = 0; shape[i]; i++)
        if (shape[i] == 'd' ? !isdigit((unsigned char)at[i]) : at[i] != shape[i])
            return false;
    *out = (struct day){.year = small_number(at), .len = sizeof(shape) - 1};
    out->month = small_number(at + 5);
    out->day = small_number(at + 8);
    return is_day(out);
}

/* 03.03.2026, 3/3/2026, 3-3-2026 */
static bool read_figures(const struct aloud *aloud, const char *at, struct day *out)
{
    size_t first = digit_run(at), second;
    char sign = at[first];
    if (first < 1 || first > 2 || !sign || !strchr("./-", sign))
        return false;
    second = digit_run(at + first + 1);
    const char *year = at + first + 1 + second;
    char parted[] = {sign, '\0'};
    *out = (struct day){.day = small_number(at), .month = small_number(at + first + 1)};
    size_t len = second >= 1 && second <= 2 ? read_year(year, parted, &out->year) : 0;
    bool is_english = is_language(aloud, "en");
    if (is_english && out->month > MONTHS) {
        int month = out->day;
        out->day = out->month;
        out->month = month;
    } else if (is_english && out->day <= MONTHS && out->day != out->month) {
        return false;
    }
    out->len = first + 1 + second + len;
    return len > 0 && is_day(out);
}

/* The month whose name stands here, 1-12; 0: none. */
static int read_month(const struct aloud *aloud, const char *at, size_t *out_len)
{
    for (int i = 0; i < MONTHS; i++) {
        const char *name = aloud->manner->months[i];
        size_t len = strlen(name);
        bool is_short = is_language(aloud, "en") && len > 3 && strncmp(at, name, 3) == 0 &&
                        !isalpha((unsigned char)at[3]);
        if (is_short || (strncasecmp(at, name, len) == 0 && !isalpha((unsigned char)at[len]) &&
                         ((unsigned char)at[len] < 0x80 || strncmp(at + len, "।", 3) == 0))) {
            *out_len = is_short ? 3 : len;
            return i + 1;
        }
    }
    return 0;
}

static size_t skip_one(const char *at, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(at, words[i], strlen(words[i])) == 0)
            return strlen(words[i]);
    return 0;
}

/* "3 March", "3rd of March 2026", "3. März", "1er mars", "3 de marzo de 2026" */
static bool read_words(const struct aloud *aloud, const char *at, struct day *out)
{
    static const char *const ends[] = {"st", "nd", "rd", "th", "er", ".", "º"};
    static const char *const links[] = {" of ", " de ", " "};
    static const char *const years[] = {", ", " de ", " del ", " "};
    size_t run = digit_run(at), month_len = 0;
    if (run < 1 || run > 2)
        return false;
    *out = (struct day){.day = small_number(at)};
    out->len = run + skip_one(at + run, ends, ARRAY_LEN(ends));
    size_t link = skip_one(at + out->len, links, ARRAY_LEN(links));
    const char *name = at + out->len + link;
    bool is_english = is_language(aloud, "en"); /* where "3 may come" is no date */
    out->month = link && (!is_english || isupper((unsigned char)*name))
                     ? read_month(aloud, name, &month_len)
                     : 0;
    out->len += link + month_len;
    if (is_english && !aloud_is_end(at + out->len))
        return false;
    size_t len = 0;
    for (size_t i = 0; i < ARRAY_LEN(years) && !len; i++)
        len = read_year(at + out->len, years[i], &out->year);
    out->len += len;
    return is_day(out);
}

/* "March 3rd, 2026" */
static bool read_month_first(const struct aloud *aloud, const char *at, struct day *out)
{
    static const char *const ends[] = {"st", "nd", "rd", "th"};
    size_t len = 0;
    *out = (struct day){.is_month_first = true};
    if (!is_language(aloud, "en") || !isupper((unsigned char)*at))
        return false;
    out->month = read_month(aloud, at, &len);
    len += at[len] == '.' && len == 3;
    size_t run = out->month && at[len] == ' ' ? digit_run(at + len + 1) : 0;
    if (run < 1 || run > 2)
        return false;
    out->day = small_number(at + len + 1);
    out->len = len + 1 + run + skip_one(at + len + 1 + run, ends, ARRAY_LEN(ends));
    if (!aloud_is_end(at + out->len))
        return false;
    size_t year = read_year(at + out->len, ", ", &out->year);
    out->len += year ? year : read_year(at + out->len, " ", &out->year);
    return is_day(out);
}

/* German days are bent as the article before them asks. */
static void put_german_day(const struct aloud *aloud, int day, const char *at)
{
    static const char *const own[] = {[1] = "erst", [3] = "dritt", [7] = "siebt", [8] = "acht"};
    const char *word = NULL;
    size_t len = aloud_word_before(aloud, at, 1, &word);
    bool is_alone = !len || (at > aloud->text + 1 && at[-2] == ',');
    bool is_der = len && aloud_is_one_of(word, len, "der");
    if ((size_t)day < ARRAY_LEN(own) && own[day]) {
        (void)buf_append_str(aloud->out, own[day]);
    } else {
        put_cardinal(aloud, day, NUMERAL_COUNT);
        (void)buf_append_str(aloud->out, day < 20 ? "t" : "st");
    }
    (void)buf_append_str(aloud->out, is_der ? "e" : is_alone ? "er" : "en");
}

static void put_day(const struct aloud *aloud, int day, const char *at)
{
    static const struct {
        const char *iso, *first;
    } firsts[] = {{"fr", "premier"}, {"it", "primo"}, {"pt", "primeiro"}};
    if (is_language(aloud, "de")) {
        put_german_day(aloud, day, at);
        return;
    }
    for (size_t i = 0; day == 1 && i < ARRAY_LEN(firsts); i++)
        if (is_language(aloud, firsts[i].iso)) {
            (void)buf_append_str(aloud->out, firsts[i].first);
            return;
        }
    put_cardinal(aloud, day, NUMERAL_COUNT);
}

static void put_english_date(const struct aloud *aloud, const struct day *day, const char *at)
{
    const char *month = aloud->manner->months[day->month - 1], *word = NULL;
    size_t len = aloud_word_before(aloud, at, 1, &word);
    bool is_hindi = strcmp(aloud->iso, "hi") == 0; /* in Latin letters */
    bool has_the = is_hindi || day->is_month_first || (len && aloud_is_one_of(word, len, "the"));
    (void)buf_append_str(aloud->out, has_the ? "" : "the ");
    if (day->is_month_first)
        (void)buf_printf(aloud->out, "%s ", month);
    (void)numeral_write_ordinal(day->day, aloud->numerals, NUMERAL_COUNT, aloud->out);
    if (!day->is_month_first)
        (void)buf_printf(aloud->out, "%s %s", is_hindi ? "" : " of", month);
    if (day->year) {
        (void)buf_append_str(aloud->out, ", ");
        (void)numeral_write_year(day->year, "en", aloud->out);
    }
}

/* The table's own format, whose order is day, month, year in every row. */
static void put_date(const struct aloud *aloud, const struct day *day, const char *at)
{
    bool is_figures = is_language(aloud, "pl") || is_language(aloud, "ru");
    bool is_month = false;
    const char *format = aloud->manner->date;
    for (const char *sign = format; *sign && (day->year || !is_month); sign++) {
        bool is_mark = sign[0] == '%' && sign[1], is_number = is_mark && sign[1] == 'd';
        int number = sign == format ? day->day : day->year;
        if (!is_mark && !(*sign == '.' && is_language(aloud, "de")))
            (void)buf_append_char(aloud->out, *sign);
        else if (is_mark && !is_number)
            (void)buf_append_str(aloud->out, aloud->manner->months[day->month - 1]);
        else if (is_number && is_figures)
            (void)buf_printf(aloud->out, "%d", number);
        else if (is_number && sign == format)
            put_day(aloud, number, at);
        else if (is_number)
            (void)numeral_write_year(number, aloud->numerals, aloud->out);
        is_month = is_month || (is_mark && !is_number);
        sign += is_mark;
    }
}

/* The time behind an ISO date, as programs write it: T14:30:00+01:00. */

struct stamp {
    struct moment moment;
    bool is_zoned, is_west;
    int hours, minutes; /* from UTC */
    size_t len;         /* 0: none stands there */
};

/* ":00", ":00.123": nobody says them. */
static size_t seconds_len(const char *at)
{
    size_t len = *at == ':' && digit_run(at + 1) == 2 ? 3 : 0;
    return len && at[len] == '.' ? len + 1 + digit_run(at + len + 1) : len;
}

static size_t read_zone(struct stamp *stamp, const char *at)
{
    stamp->is_zoned = *at == 'Z';
    if (stamp->is_zoned)
        return 1;
    stamp->is_west = *at == '-';
    if ((*at != '+' && *at != '-') || digit_run(at + 1) != 2 || at[3] != ':' ||
        digit_run(at + 4) != 2)
        return 0;
    stamp->is_zoned = true;
    stamp->hours = small_number(at + 1);
    stamp->minutes = small_number(at + 4);
    return sizeof("+00:00") - 1;
}

/* Behind a blank and without seconds "-15:00" is the end of a span. */
static struct stamp read_stamp(const struct aloud *aloud, const char *at)
{
    const struct clock *clock = clock_of(aloud);
    struct stamp stamp = {.len = 0}, none = stamp;
    if ((*at != 'T' && *at != ' ') || !clock || !read_moment(aloud, clock, at + 1, &stamp.moment))
        return none;
    size_t len = 1 + stamp.moment.len, seconds = seconds_len(at + len);
    len += seconds;
    len += *at == 'T' || seconds ? read_zone(&stamp, at + len) : 0;
    stamp.len = len;
    return aloud_is_end(at + len) ? stamp : none;
}

static void put_stamp(const struct aloud *aloud, const struct stamp *stamp, const char *at)
{
    const struct numbers *row = aloud_numbers_of(aloud->manner->iso);
    (void)buf_append_str(aloud->out, ", ");
    put_moment(aloud, clock_of(aloud), &stamp->moment, at + 1);
    (void)buf_append_str(aloud->out, stamp->is_zoned ? " UTC" : "");
    if (stamp->hours == 0 && stamp->minutes == 0)
        return;
    (void)buf_printf(aloud->out, " %s ", stamp->is_west ? row->minus : aloud->manner->plus);
    put_cardinal(aloud, stamp->hours, NUMERAL_COUNT);
    if (stamp->minutes == 0)
        return;
    (void)buf_append_char(aloud->out, ' ');
    put_cardinal(aloud, stamp->minutes, NUMERAL_COUNT);
}

size_t aloud_date(const struct aloud *aloud, const char *at)
{
    struct day day;
    bool is_figures = is_language(aloud, "pl") || is_language(aloud, "ru");
    bool is_iso = read_iso(at, &day), is_read = is_iso || read_figures(aloud, at, &day);
    if (!is_read && !is_figures)
        is_read = read_words(aloud, at, &day) || read_month_first(aloud, at, &day);
    struct stamp stamp = {.len = 0};
    if (is_iso)
        stamp = read_stamp(aloud, at + day.len);
    if (!is_read || (is_iso && !stamp.len && isalnum((unsigned char)at[day.len])))
        return 0;
    if (is_language(aloud, "en"))
        put_english_date(aloud, &day, at);
    else
        put_date(aloud, &day, at);
    if (stamp.len)
        put_stamp(aloud, &stamp, at + day.len);
    return day.len + stamp.len;
}
