/* The scan goes over the waiting text from its start each time something was added; a piece is cut
 * before it gets long, so this stays short. What follows a full stop decides whether it ends a
 * sentence, so the cut comes one word later than the stop. */
#include "text/sentence.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <unicode/uchar.h>

#include "text/internal.h"

enum mark {
    MARK_NONE,
    MARK_DOT,    /* may be part of a word */
    MARK_END,    /* ! ? and their kin */
    MARK_FULL,   /* ends a sentence with no space after it: danda, CJK */
    MARK_CLAUSE, /* , ; : and their kin */
    MARK_LINE,
    MARK_CLOSER, /* quotes and brackets that belong to what they close */
    MARK_SPACE,
};

static const struct {
    UChar32 c;
    enum mark mark;
} marks[] = {
    {'.', MARK_DOT},       {'!', MARK_END},       {'?', MARK_END},       {',', MARK_CLAUSE},
    {';', MARK_CLAUSE},    {':', MARK_CLAUSE},    {'\n', MARK_LINE},     {'"', MARK_CLOSER},
    {'\'', MARK_CLOSER},   {')', MARK_CLOSER},    {']', MARK_CLOSER},    {'*', MARK_CLOSER},
    {0x2019, MARK_CLOSER}, {0x201D, MARK_CLOSER}, {0x00BB, MARK_CLOSER}, {0x2026, MARK_END},
    {0x0964, MARK_FULL},   {0x0965, MARK_FULL},   {0x3002, MARK_FULL},   {0xFF01, MARK_FULL},
    {0xFF1F, MARK_FULL},   {0x06D4, MARK_FULL},   {0x061F, MARK_END},    {0x060C, MARK_CLAUSE},
    {0x061B, MARK_CLAUSE}, {0x3001, MARK_CLAUSE}, {0xFF0C, MARK_CLAUSE}, {0xFF1B, MARK_CLAUSE},
    {0xFF1A, MARK_CLAUSE}, {0x2014, MARK_CLAUSE}, {0x2013, MARK_CLAUSE}, {0x300D, MARK_CLOSER},
};

/* Words whose full stop does not end a sentence; `is_soft`: it does before a capital letter. */
static const struct {
    const char *word;
    bool is_soft;
} abbreviations[] = {
    {"mr", false},   {"mrs", false},   {"ms", false},   {"dr", false},     {"prof", false},
    {"st", false},   {"sr", false},    {"jr", true},    {"vs", false},     {"e.g", false},
    {"i.e", false},  {"no", true},     {"nos", false},  {"approx", false}, {"dept", false},
    {"est", false},  {"fig", false},   {"gen", false},  {"rev", false},    {"sgt", false},
    {"capt", false}, {"col", false},   {"mt", false},   {"ave", true},     {"inc", true},
    {"ltd", true},   {"co", true},     {"corp", true},  {"etc", true},     {"a.m", true},
    {"p.m", true},   {"u.s", true},    {"u.k", true},   {"min", true},     {"max", false},
    {"tel", false},  {"ext", false},   {"rs", false},   {"smt", false},    {"jan", false},
    {"feb", false},  {"aug", false},   {"sept", false}, {"oct", false},    {"nov", false},
    {"dec", false},  {"डॉ", false},    {"श्री", false},  {"रु", false},      {"okt", false},
    {"dez", false},  {"z.b", false},   {"d.h", false},  {"bzw", false},    {"ca", false},
    {"nr", false},   {"inkl", false},  {"zzgl", false}, {"usw", true},     {"tgl", false},
    {"str", true},   {"hr", false},    {"sra", false},  {"dra", false},    {"ud", false},
    {"uds", false},  {"aprox", false}, {"núm", false},  {"pág", false},    {"env", false},
    {"sig", false},  {"dott", false},  {"circa", true}, {"bijv", false},   {"dhr", false},
    {"mevr", false}, {"ul", false},    {"godz", false}, {"al", false},     {"ул", false},
    {"г", true},     {"д", false},     {"тел", false},  {"руб", true},
};

/* What a number and a full stop count in German, where nouns have capitals: "am 22. November". */
static const char *const counted[] = {
    "Januar", "Jänner", "Februar",   "März",    "April",    "Mai",         "Juni",
    "Juli",   "August", "September", "Oktober", "November", "Dezember",    "Jan",
    "Feb",    "Apr",    "Aug",       "Sept",    "Okt",      "Nov",         "Dez",
    "Stock",  "Etage",  "Quartal",   "Klasse",  "Platz",    "Jahrhundert", "Lebensjahr",
};

static enum mark mark_of(UChar32 c)
{
    if (c == ' ')
        return MARK_SPACE;
    if (c >= 0 && c < 0x80 && isalnum(c))
        return MARK_NONE;
    if (c >= 0)
        for (size_t i = 0; i < ARRAY_LEN(marks); i++)
            if (marks[i].c == c)
                return marks[i].mark;
    return c >= 0 && u_isUWhiteSpace(c) ? MARK_SPACE : MARK_NONE;
}

void splitter_init(struct splitter *splitter, bool cuts_clauses)
{
    *splitter = (struct splitter){.cuts_clauses = cuts_clauses};
    buf_init(&splitter->text, SPLITTER_TEXT_MAX_BYTES);
    buf_init(&splitter->piece, SPLITTER_TEXT_MAX_BYTES);
}

void splitter_clear(struct splitter *splitter)
{
    buf_clear(&splitter->text);
    buf_clear(&splitter->piece);
}

void splitter_reset(struct splitter *splitter)
{
    buf_reset(&splitter->text);
    buf_reset(&splitter->piece);
    splitter->has_cut = splitter->is_finished = false;
}

enum err splitter_push(struct splitter *splitter, const char *delta, size_t len)
{
    return buf_append(&splitter->text, delta, len);
}

void splitter_finish(struct splitter *splitter)
{
    splitter->is_finished = true;
}

/* A place in the waiting text. */
struct scan {
    const char *text;
    int32_t len, at; /* at: after the character read last */
    UChar32 c;
    size_t chars; /* read so far */
};

static bool scan_next(struct scan *scan)
{
    if (scan->at >= scan->len)
        return false;
    scan->c = text_next(scan->text, scan->len, &scan->at);
    scan->chars++;
    return true;
}

static bool is_abbreviation(const struct scan *stop, bool before_capital)
{
    int32_t end = stop->at - 1, start = end;
    while (start > 0 && !isspace((unsigned char)stop->text[start - 1]) &&
           !strchr("(\"'", stop->text[start - 1]))
        start--;
    size_t len = (size_t)(end - start);
    const char *word = stop->text + start;
    if (len == 1 && isupper((unsigned char)word[0]) && word[0] != 'I')
        return true; /* an initial */
    for (size_t i = 0; i < ARRAY_LEN(abbreviations); i++)
        if (strlen(abbreviations[i].word) == len &&
            strncasecmp(abbreviations[i].word, word, len) == 0)
            return !abbreviations[i].is_soft || !before_capital;
    return false;
}

/* "1." or "12." with nothing before it counts an item. */
static bool is_item_number(const struct scan *stop)
{
    int32_t at = 0;
    while (at < stop->at - 1 && isspace((unsigned char)stop->text[at]))
        at++;
    int32_t digits = at;
    while (digits < stop->at - 1 && isdigit((unsigned char)stop->text[digits]))
        digits++;
    return digits == stop->at - 1 && digits > at;
}

enum cut { CUT_NO, CUT_HERE, CUT_LATER /* more text must come to tell */ };

/* One or two digits, a word of their own. */
static bool is_small_number(const struct scan *stop)
{
    int32_t start = stop->at - 1;
    while (start > 0 && isdigit((unsigned char)stop->text[start - 1]))
        start--;
    int32_t digits = stop->at - 1 - start;
    return digits >= 1 && digits <= 2 &&
           (start == 0 || strchr(" \n(", stop->text[start - 1]) != NULL);
}

/* After such a number and a space: does the word at `text` say what is counted? */
static enum cut judge_counted(const char *text, size_t len, bool is_finished)
{
    size_t run = 0;
    while (run < len && (isalpha((unsigned char)text[run]) || (unsigned char)text[run] >= 0x80))
        run++;
    bool is_growing = run == len && !is_finished;
    for (size_t i = 0; i < ARRAY_LEN(counted); i++) {
        size_t whole = strlen(counted[i]);
        if (is_growing && run <= whole && memcmp(counted[i], text, run) == 0)
            return CUT_LATER;
        if (run == whole && memcmp(counted[i], text, run) == 0)
            return CUT_NO;
    }
    return CUT_HERE;
}

/* After a full stop and its closers: does a sentence end? */
static enum cut judge_dot(const struct scan *stop, struct scan after, bool is_finished)
{
    bool has_space = false;
    for (int32_t at = after.at; scan_next(&after); at = after.at) {
        enum mark mark = mark_of(after.c);
        if (mark == MARK_LINE)
            return CUT_HERE;
        if (mark == MARK_SPACE) {
            has_space = true;
            continue;
        }
        if (!has_space || u_islower(after.c) || is_item_number(stop))
            return CUT_NO;
        if (is_small_number(stop))
            return judge_counted(after.text + at, (size_t)(after.len - at), is_finished);
        return is_abbreviation(stop, u_isupper(after.c)) ? CUT_NO : CUT_HERE;
    }
    return is_finished ? CUT_HERE : CUT_LATER;
}

/* Takes the closers and repeated marks that belong to the end. */
static void take_closers(struct scan *scan)
{
    struct scan next = *scan;
    while (scan_next(&next)) {
        enum mark mark = mark_of(next.c);
        if (mark != MARK_CLOSER && mark != MARK_DOT && mark != MARK_END && mark != MARK_FULL)
            return;
        *scan = next;
    }
}

static enum cut judge_end(const struct scan *scan, bool is_finished)
{
    struct scan next = *scan;
    if (!scan_next(&next))
        return is_finished ? CUT_HERE : CUT_LATER;
    enum mark mark = mark_of(next.c);
    return mark == MARK_SPACE || mark == MARK_LINE ? CUT_HERE : CUT_NO;
}

/* A comma before a number may stand within a date ("March 3rd, 2026"). */
static enum cut judge_clause(const struct scan *scan, bool is_finished)
{
    struct scan next = *scan;
    if (scan->c > 0x2E7F)
        return CUT_HERE;
    enum cut cut = judge_end(scan, is_finished);
    if (cut != CUT_HERE || scan->c != ',' || !scan_next(&next))
        return cut;
    if (!scan_next(&next))
        return is_finished ? CUT_HERE : CUT_LATER;
    return u_isdigit(next.c) ? CUT_NO : CUT_HERE;
}

static enum cut judge(const struct splitter *splitter, struct scan *scan)
{
    struct scan stop = *scan;
    switch (mark_of(scan->c)) {
    case MARK_LINE:
        return CUT_HERE;
    case MARK_DOT:
        take_closers(scan);
        return judge_dot(&stop, *scan, splitter->is_finished);
    case MARK_END:
        take_closers(scan);
        return judge_end(scan, splitter->is_finished);
    case MARK_FULL:
        take_closers(scan);
        return CUT_HERE;
    case MARK_CLAUSE:
        if (splitter->has_cut || !splitter->cuts_clauses || scan->chars < SPLITTER_CLAUSE_MIN_CHARS)
            return CUT_NO;
        return judge_clause(scan, splitter->is_finished);
    default:
        return CUT_NO;
    }
}

/* Too long without an end: the last clause, else the last space. */
static int32_t forced_cut(const struct scan *full)
{
    struct scan scan = {.text = full->text, .len = full->len};
    int32_t space = 0, clause = 0;
    while (scan.at < full->at && scan_next(&scan)) {
        enum mark mark = mark_of(scan.c);
        if (mark == MARK_SPACE)
            space = scan.at;
        if (mark == MARK_CLAUSE && scan.at > full->at / 3)
            clause = scan.at;
    }
    return clause ? clause : space ? space : full->at;
}

/* Bytes of the first piece; 0: none yet. */
static int32_t find_cut(const struct splitter *splitter)
{
    struct scan scan = {.text = splitter->text.data, .len = (int32_t)splitter->text.len};
    while (scan_next(&scan)) {
        enum cut cut = judge(splitter, &scan);
        if (cut == CUT_HERE)
            return scan.at;
        if (cut == CUT_LATER)
            return 0;
        if (scan.chars >= SPLITTER_PIECE_MAX_CHARS)
            return forced_cut(&scan);
    }
    return splitter->is_finished ? scan.len : 0;
}

/* Moves the piece over without the spaces around it; false when nothing is left of it. */
static bool move_piece(struct splitter *splitter, size_t len)
{
    const char *start = splitter->text.data, *end = start + len;
    while (start < end && isspace((unsigned char)*start))
        start++;
    while (end > start && isspace((unsigned char)end[-1]))
        end--;
    buf_reset(&splitter->piece);
    enum err err = buf_append(&splitter->piece, start, (size_t)(end - start));
    buf_consume(&splitter->text, len);
    return !err && splitter->piece.len > 0;
}

const char *splitter_next(struct splitter *splitter)
{
    int32_t len;
    while ((len = find_cut(splitter)) > 0) {
        if (!move_piece(splitter, (size_t)len))
            continue;
        splitter->has_cut = true;
        return splitter->piece.data;
    }
    return NULL;
}
