/* See pdf.h. pdftotext prints each word on a line of its own:
 *
 *   <page width="595.0" height="842.0">
 *   <word xMin="72.0" yMin="114.8" xMax="108.6" yMax="125.6">Hotel</word>
 *
 * Thread: the main thread of the extractor. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "extract/pdf.h"

enum {
    LINE_MAX_BYTES = 64 * 1024,
    WORDS_MAX = 2000000,
    PAGE_ARENA_BYTES = 32 * 1024 * 1024,
};

void pdf_words_init(struct pdf_words *words, pdf_page_fn *on_page, void *arg)
{
    *words = (struct pdf_words){.on_page = on_page, .arg = arg, .line = BUF_INIT(LINE_MAX_BYTES)};
}

void pdf_words_clear(struct pdf_words *words)
{
    arena_free(words->page.arena);
    buf_clear(&words->line);
}

/* Texts. */

/* Ligatures, as Unicode has them and as fonts without a mapping leave them: the places that TeX's
 * two encodings give to ff, fi, fl, ffi and ffl. */
static const char *ligature(uint32_t code)
{
    static const char *const forms[] = {"ff", "fi", "fl", "ffi", "ffl", "st", "st"};
    if (code >= 0xFB00 && code <= 0xFB06)
        return forms[code - 0xFB00];
    if (code >= 0x1B && code <= 0x1F)
        return forms[code - 0x1B];
    if (code >= 0x0B && code <= 0x0F && code != 0x0D)
        return forms[code - 0x0B];
    return NULL;
}

static const struct {
    const char *name;
    char c;
} entities[] = {{"&amp;", '&'},  {"&lt;", '<'},    {"&gt;", '>'},
                {"&quot;", '"'}, {"&apos;", '\''}, {"&#39;", '\''}};

static size_t entity_at(const char *text, char *out)
{
    for (size_t i = 0; i < ARRAY_LEN(entities); i++) {
        size_t n = strlen(entities[i].name);
        if (strncmp(text, entities[i].name, n) == 0) {
            *out = entities[i].c;
            return n;
        }
    }
    return 0;
}

/* A word of one character that has no mapping: the bullet of TeX's text encoding, or one of a
 * symbol font, which are in Unicode's private area. */
static bool is_unmapped_bullet(const char *text, size_t len)
{
    uint32_t code = 0;
    return len && utf8_decode(text, len, &code) == len &&
           (code == 0x88 || (code >= 0xE000 && code <= 0xF8FF));
}

static const char *word_text(struct arena *arena, const char *text, size_t len)
{
    AUTO_BUF out = BUF_INIT(LINE_MAX_BYTES * 4);
    if (is_unmapped_bullet(text, len))
        return "•";
    for (size_t at = 0; at < len;) {
        char c;
        uint32_t code = 0;
        size_t n = entity_at(text + at, &c);
        if (n) {
            (void)buf_append_char(&out, c);
            at += n;
            continue;
        }
        n = utf8_decode(text + at, len - at, &code);
        const char *letters = n ? ligature(code) : NULL;
        if (letters)
            (void)buf_append_str(&out, letters);
        else if (n && code >= ' ' && (code < 0x7F || code >= 0xA0) && code != 0xFFFD)
            (void)buf_append(&out, text + at, n);
        at += n ? n : 1;
    }
    return out.len ? arena_strndup(arena, out.data, out.len) : "";
}

/* Lines. */

/* false: it has no such number, or one that is no place on a page. */
static bool number(const char *line, const char *name, float *out)
{
    const char *at = strstr(line, name);
    if (!at)
        return false;
    *out = strtof(at + strlen(name), NULL);
    return isfinite(*out) && *out > -100000 && *out < 100000;
}

static bool box_of(const char *line, struct pdf_box *out)
{
    return number(line, "xMin=\"", &out->x0) && number(line, "yMin=\"", &out->y0) &&
           number(line, "xMax=\"", &out->x1) && number(line, "yMax=\"", &out->y1) &&
           out->x1 >= out->x0 && out->y1 > out->y0;
}

static void add_word(struct pdf_words *words, const char *line)
{
    struct pdf_page *page = &words->page;
    struct pdf_box box;
    const char *end = strstr(line, "</word>"), *begin = strchr(line, '>');
    if (!page->arena || !end || !begin || begin > end || page->count == PDF_WORDS_OF_PAGE ||
        words->words == WORDS_MAX)
        return;
    if (!box_of(line, &box)) {
        words->lost++;
        return;
    }
    const char *text = word_text(page->arena, begin + 1, (size_t)(end - begin - 1));
    if (!*text)
        return;
    if (page->count == page->cap) {
        page->cap = MAX(page->cap * 2, (size_t)256);
        struct pdf_word *wider = arena_new_n(page->arena, struct pdf_word, page->cap);
        if (page->count)
            memcpy(wider, page->words, page->count * sizeof(*wider));
        page->words = wider;
    }
    page->words[page->count++] = (struct pdf_word){box, text};
    words->words++;
}

static void begin_page(struct pdf_words *words, const char *line)
{
    struct pdf_page *page = &words->page;
    arena_free(page->arena);
    unsigned before = page->number;
    *page = (struct pdf_page){.number = before + 1, .arena = arena_new(PAGE_ARENA_BYTES)};
    if (!number(line, "width=\"", &page->width) || !number(line, "height=\"", &page->height))
        page->width = page->height = 0;
}

static void end_page(struct pdf_words *words)
{
    if (!words->page.arena)
        return;
    words->on_page(words->arg, &words->page);
    arena_free(words->page.arena);
    words->page.arena = NULL;
}

static void take_line(struct pdf_words *words)
{
    const char *line = words->line.data;
    line += strspn(line, " ");
    if (strncmp(line, "<word ", 6) == 0)
        add_word(words, line);
    else if (strncmp(line, "<page ", 6) == 0)
        begin_page(words, line);
    else if (strncmp(line, "</page>", 7) == 0)
        end_page(words);
}

/* A line is NUL-free: a NUL in a word ends it there. One that is longer than any is passed over. */
void pdf_words_push(struct pdf_words *words, const char *data, size_t len)
{
    for (size_t at = 0; at < len;) {
        const char *end = memchr(data + at, '\n', len - at);
        size_t n = end ? (size_t)(end - data) - at : len - at;
        (void)buf_append(&words->line, data + at, n);
        at += n + (end != NULL);
        if (!end)
            return;
        if (words->line.len && !words->line.is_full)
            take_line(words);
        buf_reset(&words->line);
    }
}
