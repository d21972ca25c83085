#include "text/aloud.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "text/aloud_internal.h"

enum {
    DIGITS_MIN = 7,   /* of a telephone number that is written in groups */
    DIGITS_ALONE = 9, /* of one that is not: shorter ones may be amounts */
    DIGITS_MAX = 15,  /* E.164 */
    THOUSANDS = 3,    /* digits of a group of an amount */
};

static const struct manner manners[] = {
#define ALOUD(iso_, at_, dot_, dash_, under_, slash_, plus_, date_, ...)                           \
    {iso_, at_, dot_, dash_, under_, slash_, plus_, date_, {__VA_ARGS__}},
#include "text/aloud.def"
#undef ALOUD
};

static const struct manner *manner_of(const char *iso)
{
    for (size_t i = 0; i < ARRAY_LEN(manners); i++)
        if (strcmp(manners[i].iso, iso) == 0)
            return &manners[i];
    return NULL;
}

/* Addresses. */

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("._%+-", c));
}

/* The bytes of a host at text, its last label one of letters; 0: none stands there. */
static size_t host_len(const char *text, size_t *out_last)
{
    size_t len = 0, last = 0, dots = 0;
    while (isalnum((unsigned char)text[len]) || (text[len] && strchr(".-", text[len])))
        len++;
    while (len > 0 && strchr(".-", text[len - 1]))
        len--;
    for (size_t i = 0; i < len; i++)
        if (text[i] == '.') {
            dots++;
            last = i + 1;
        }
    for (size_t i = last; i < len; i++)
        if (!isalpha((unsigned char)text[i]))
            return 0;
    *out_last = last;
    return dots > 0 && len - last >= 2 ? len : 0;
}

static size_t email_len(const char *text)
{
    size_t name = 0, last;
    while (is_name_char(text[name]))
        name++;
    size_t host = name > 0 && text[name] == '@' ? host_len(text + name + 1, &last) : 0;
    return host ? name + 1 + host : 0;
}

/* A host without www or a path is one only under a name that ends no sentence ("end.Next"). */
static size_t link_len(const char *text)
{
    static const char *const tops[] = {"com", "org", "net",  "edu",    "gov", "info", "io",
                                       "app", "dev", "shop", "eu",     "in",  "uk",   "us",
                                       "de",  "fr",  "es",   "it",     "pt",  "br",   "nl",
                                       "pl",  "ru",  "test", "example"};
    size_t last, host = host_len(text, &last), len = host;
    bool is_link = host && (strncasecmp(text, "www.", 4) == 0 || text[host] == '/');
    for (size_t i = 0; host && !is_link && i < ARRAY_LEN(tops); i++)
        is_link = host - last == strlen(tops[i]) &&
                  strncasecmp(text + last, tops[i], strlen(tops[i])) == 0;
    while (is_link && text[len] == '/') {
        size_t part = 1;
        while (isalnum((unsigned char)text[len + part]) ||
               (text[len + part] && strchr("-_.", text[len + part])))
            part++;
        while (part > 1 && text[len + part - 1] == '.')
            part--;
        if (part == 1)
            break;
        len += part;
    }
    return is_link ? len : 0;
}

/* What a link asks for, "/?q=1" or "#top": nobody notes that down by ear, and it is not said. */
static size_t query_len(const char *text)
{
    size_t slash = *text == '/', len = slash + 1;
    bool is_fragment = text[slash] == '#';
    if (slash && aloud_is_end(text + slash))
        return slash;
    if ((!is_fragment && text[slash] != '?') || !isalnum((unsigned char)text[len]))
        return 0;
    while (isalnum((unsigned char)text[len]) || (text[len] && strchr("-_.~+%=&/#:,;", text[len])))
        len++;
    while (strchr(".,:;", text[len - 1]))
        len--;
    return is_fragment || memchr(text, '=', len) ? len : 0;
}

static const char *sign_word(const struct manner *manner, char c)
{
    switch (c) {
    case '@':
        return manner->at;
    case '.':
        return manner->dot;
    case '-':
        return manner->dash;
    case '_':
        return manner->underscore;
    case '/':
        return manner->slash;
    case '+':
        return manner->plus;
    default:
        return NULL;
    }
}

static void say_address(const struct manner *manner, const char *text, size_t len, struct buf *out)
{
    for (size_t i = 0; i < len; i++) {
        const char *word = sign_word(manner, text[i]);
        if (!word)
            (void)buf_append_char(out, text[i]);
        else
            (void)buf_printf(out, "%s%s%s", i > 0 ? " " : "", word, i + 1 < len ? " " : "");
    }
}

/* Telephone numbers. */

struct groups {
    size_t len, digits, count, sizes[3];
    bool is_marked; /* by what only a telephone number begins with */
    bool is_abroad; /* by its plus */
    bool is_amount; /* groups of three, as thousands are written */
};

/* 5.3.2026, 05/03/26, 2026-3-5: not ours to read, for who knows whether the day comes first. */
static bool is_date_like(const struct groups *groups)
{
    const size_t *sizes = groups->sizes;
    if (groups->is_abroad || groups->count < 3 || sizes[1] > 2)
        return false;
    bool has_year = (sizes[0] <= 2 && sizes[2] == 4) || (sizes[0] == 4 && sizes[2] <= 2);
    return has_year || (groups->count == 3 && sizes[0] <= 2 && sizes[2] == 2);
}

static struct groups read_groups(const char *text)
{
    struct groups groups = {.is_marked = *text && strchr("+0(", *text), .is_abroad = *text == '+'};
    size_t at = *text == '+';
    groups.is_amount = !groups.is_marked;
    at += text[at] == '(';
    while (isdigit((unsigned char)text[at])) {
        size_t len = strspn(text + at, "0123456789");
        groups.is_amount = groups.is_amount && (groups.count == 0 || len == THOUSANDS);
        groups.digits += len;
        if (groups.count < ARRAY_LEN(groups.sizes))
            groups.sizes[groups.count] = len;
        groups.count++;
        at += len;
        groups.len = at;
        at += strspn(text + at, ")");
        if (text[at] && strchr(" -./", text[at]))
            at++;
        at += strspn(text + at, "(");
    }
    groups.is_amount = groups.is_amount && groups.count > 1;
    return groups;
}

/* 98765 43210, as mobile numbers of India are written; 70000-80000 is a span. */
static bool is_indian_mobile(const struct groups *groups, const char *text)
{
    bool is_shaped = groups->count == 2 && groups->sizes[0] == 5 && groups->sizes[1] == 5;
    return is_shaped && strchr("6789", *text) && strncmp(text + groups->len - 2, "00", 2) != 0;
}

/* An amount, a span of two, a date, or what goes on after it is no telephone number. */
static size_t phone_len(const char *text)
{
    struct groups groups = read_groups(text);
    char after = text[groups.len];
    size_t least = groups.is_marked || groups.count > 2 ? DIGITS_MIN : DIGITS_ALONE;
    bool is_span = groups.count == 2 && !groups.is_marked && !is_indian_mobile(&groups, text);
    bool is_money = aloud_is_currency(text + groups.len + aloud_blank_len(text + groups.len));
    bool goes_on = is_money || isalpha((unsigned char)after) ||
                   (after && strchr(",:", after) && isdigit((unsigned char)text[groups.len + 1]));
    if (groups.digits < least || groups.digits > DIGITS_MAX || groups.is_amount || is_span ||
        is_date_like(&groups) || goes_on)
        return 0;
    return groups.len;
}

static void say_phone(const struct manner *manner, const char *text, size_t len, struct buf *out)
{
    bool is_begun = false, is_new_group = false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '+')
            (void)buf_printf(out, "%s ", manner->plus);
        if (!isdigit((unsigned char)text[i])) {
            is_new_group = is_begun;
            continue;
        }
        (void)buf_append_str(out, is_new_group ? ", " : is_begun ? " " : "");
        (void)buf_append_char(out, text[i]);
        is_begun = true;
        is_new_group = false;
    }
}

/* Places in a text. */

bool aloud_is_one_of(const char *word, size_t len, const char *words)
{
    while (*words) {
        size_t run = strcspn(words, " ");
        if (run == len && strncasecmp(word, words, len) == 0)
            return true;
        words += run + strspn(words + run, " ");
    }
    return false;
}

size_t aloud_word_before(const struct aloud *aloud, const char *at, unsigned count,
                         const char **out_word)
{
    static const char signs[] = " .,:;!?()\"";
    size_t len = 0;
    for (; count > 0; count--) {
        while (at > aloud->text && strchr(signs, at[-1]))
            at--;
        const char *end = at;
        while (at > aloud->text && !strchr(signs, at[-1]))
            at--;
        len = (size_t)(end - at);
    }
    *out_word = at;
    return len;
}

size_t aloud_word_len(const char *at)
{
    static const char *const ends[] = {"।", "“", "”", "»", "’",      "…",      "–",
                                       "—", "€", "₹", "£", "\u00A0", "\u202F", "\u2009"};
    size_t len = strcspn(at, " .,;:!?()/-\t\r\n\"'");
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        const char *end = strstr(at, ends[i]);
        len = end ? MIN(len, (size_t)(end - at)) : len;
    }
    return len;
}

bool aloud_is_end(const char *at)
{
    static const char *const signs[] = {"।", "”", "’", "»", "…", "“"};
    if (strncmp(at, "’", strlen("’")) == 0 && isdigit((unsigned char)at[strlen("’")]))
        return false; /* 1’250 */
    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (strncmp(at, signs[i], strlen(signs[i])) == 0)
            return true;
    if (*at == '\0' || isspace((unsigned char)*at) || aloud_blank_len(at))
        return true;
    return strchr(".,;:!?)]\"'", *at) && !isalnum((unsigned char)at[1]);
}

static const char *const blanks[] = {" ", "\u00A0", "\u202F", "\u2009"};

size_t aloud_blank_len(const char *at)
{
    for (size_t i = 0; i < ARRAY_LEN(blanks); i++)
        if (strncmp(at, blanks[i], strlen(blanks[i])) == 0)
            return strlen(blanks[i]);
    return 0;
}

/* The bytes of the one of the signs that ends at a place; 0: none does. */
static size_t sign_before(const char *text, const char *at, const char *const *signs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(signs[i]);
        if ((size_t)(at - text) >= len && memcmp(at - len, signs[i], len) == 0)
            return len;
    }
    return 0;
}

size_t aloud_blank_before(const char *text, const char *at)
{
    return sign_before(text, at, blanks, ARRAY_LEN(blanks));
}

size_t aloud_dash_len(const char *at)
{
    return *at == '-' ? 1 : strncmp(at, "–", strlen("–")) == 0 ? strlen("–") : 0;
}

/* Digits that are not ours to read, with what joins them. */
static size_t digits_len(const char *text)
{
    size_t len = strspn(text, "0123456789");
    while (len > 0 && text[len] && strchr(".,:/-", text[len]) &&
           isdigit((unsigned char)text[len + 1]))
        len += 1 + strspn(text + len + 1, "0123456789");
    return len;
}

size_t aloud_figure_len(const char *at)
{
    size_t len = digits_len(at), blank;
    while (len > 0 && (blank = aloud_blank_len(at + len)) > 0 &&
           strspn(at + len + blank, "0123456789") == THOUSANDS)
        len += blank + digits_len(at + len + blank);
    return len;
}

/* A text. */

static size_t copy_figure(const struct aloud *aloud, const char *text)
{
    size_t len = aloud_figure_len(text);
    if (len)
        (void)buf_append(aloud->out, text, len);
    return len;
}

/* What stands at the beginning of a word; 0: nothing that is said in another way. */
static size_t say_word(const struct aloud *aloud, const char *text)
{
    size_t len = email_len(text), link = len ? 0 : link_len(text);
    if (len || link) {
        say_address(aloud->manner, text, len + link, aloud->out);
        return len + link + (link ? query_len(text + link) : 0);
    }
    len = aloud_date(aloud, text);
    if (!len)
        len = aloud_time(aloud, text);
    if (len)
        return len;
    if (*text == '+' || *text == '(' || isdigit((unsigned char)*text))
        len = phone_len(text);
    if (len)
        say_phone(aloud->manner, text, len, aloud->out);
    else
        len = aloud_amount(aloud, text);
    return len ? len : copy_figure(aloud, text);
}

static bool begins_word(const char *text, const char *at)
{
    static const char *const openings[] = {"“", "„", "«", "‘", "¿", "¡"};
    unsigned char before = at > text ? (unsigned char)at[-1] : ' ';
    if (aloud_blank_before(text, at) || sign_before(text, at, openings, ARRAY_LEN(openings)))
        return true;
    return !isalnum(before) && before < 0x80 && !strchr("@.-_/+$#'", before);
}

/* Figures of Devanagari as the others, which all of this reads. */
static void write_figures(const char *text, struct buf *out)
{
    static const char zero[] = "०";
    enum { LAST = sizeof(zero) - 2, FIGURES = 10 };
    while (*text) {
        bool is_near = strncmp(text, zero, LAST) == 0;
        int value = is_near ? (unsigned char)text[LAST] - (unsigned char)zero[LAST] : FIGURES;
        bool is_figure = value >= 0 && value < FIGURES;
        (void)buf_append_char(out, is_figure ? (char)('0' + value) : *text);
        text += is_figure ? sizeof(zero) - 1 : 1;
    }
}

/* Hindi that is written in Latin letters is said with the words of English, which voices read in
 * the same letters, counted in lakh and crore. */
static struct aloud aloud_of(const char *text, const char *iso, struct buf *out)
{
    bool is_latin = strcmp(iso, "hi") == 0;
    for (const char *at = text; is_latin && *at; at++)
        is_latin = strncmp(at, "\u0900", 1) != 0 || ((unsigned char)at[1] & 0xFC) != 0xA4;
    return (struct aloud){.text = text,
                          .iso = iso,
                          .numerals = is_latin ? "en-IN" : iso,
                          .manner = manner_of(is_latin ? "en" : iso),
                          .out = out};
}

void aloud_write(const char *text, const char *iso, struct buf *out)
{
    struct aloud aloud = aloud_of(text, iso, out);
    AUTO_BUF figures = BUF_INIT(strlen(text) + 1);
    if (strcmp(iso, "hi") == 0 && *text) {
        write_figures(text, &figures);
        aloud.text = text = figures.data;
    }
    if (!aloud.manner) {
        (void)buf_append_str(out, text);
        return;
    }
    for (const char *at = text; *at;) {
        size_t len = begins_word(text, at) ? say_word(&aloud, at) : copy_figure(&aloud, at);
        if (!len)
            (void)buf_append_char(out, *at);
        at += MAX(len, (size_t)1);
    }
}
