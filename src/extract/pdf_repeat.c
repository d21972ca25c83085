/* See pdf.h. Headers and footers: the first and last lines of pages, where the same stands at the
 * same place of several; numbers count as the same. Thread: the main thread of the extractor. */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "extract/pdf.h"

enum {
    EDGE_LINES = 3, /* at the top and at the bottom of a page */
    SIGN_BYTES = 200,
    LEAST_PAGES = 2,
    LEAST_PERCENT = 25, /* of the pages: left and right pages differ, and so may chapters */
};
static const float EDGE = 0.08F; /* of the page's height: where a number alone is the page's */

struct edges {
    struct pdf_line *lines[2 * EDGE_LINES];
    size_t count, tops;
};

static void insert(struct pdf_line **lines, size_t *count, struct pdf_line *line, bool is_top)
{
    size_t at = *count;
    while (at > 0 &&
           (is_top ? line->box.y0 < lines[at - 1]->box.y0 : line->box.y1 > lines[at - 1]->box.y1))
        at--;
    if (at == EDGE_LINES)
        return;
    *count = MIN(*count + 1, (size_t)EDGE_LINES);
    memmove(lines + at + 1, lines + at, (*count - at - 1) * sizeof(*lines));
    lines[at] = line;
}

static struct edges find_edges(struct pdf_document *document, size_t from, size_t to)
{
    struct pdf_line *top[EDGE_LINES], *bottom[EDGE_LINES];
    size_t tops = 0, bottoms = 0;
    struct edges edges = {0};
    for (size_t i = from; i < to; i++) {
        insert(top, &tops, &document->lines[i], true);
        insert(bottom, &bottoms, &document->lines[i], false);
    }
    for (size_t i = 0; i < tops; i++)
        edges.lines[edges.count++] = top[i];
    edges.tops = tops;
    for (size_t i = 0; i < bottoms; i++)
        edges.lines[edges.count++] = bottom[i];
    return edges;
}

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

/* One '#' for each number, small letters. */
static size_t simplify(const char *text, char *out, size_t most)
{
    size_t len = 0;
    for (const char *at = text; *at && len < most; at++) {
        char c = *at >= '0' && *at <= '9' ? '#' : small(*at);
        if (c != '#' || !len || out[len - 1] != '#')
            out[len++] = c;
    }
    return len;
}

/* Its text, and its place in steps of 8 points. */
static void sign(const struct pdf_line *line, char out[SIGN_BYTES])
{
    AUTO_BUF text = BUF_INIT(1 << 20);
    pdf_line_text(line, &text);
    size_t len = simplify(text.len ? text.data : "", out, SIGN_BYTES - 8);
    unsigned place = (unsigned)(MAX(line->box.y0, 0.0F) / 8);
    out[len++] = (char)('A' + place % 64);
    out[len++] = (char)('A' + place / 64 % 64);
    out[len] = '\0';
}

/* "7", "- 7 -", "3/12": digits and signs, alone at the edge of the page. */
static bool is_page_number(const struct pdf_line *line, float page_height)
{
    bool is_at_edge = line->box.y1 < EDGE * page_height || line->box.y0 > (1 - EDGE) * page_height;
    const char *text = line->count == 1 ? line->cells[0].text : "";
    size_t digits = 0, others = 0;
    for (const char *at = text; *at; at++) {
        digits += isdigit((unsigned char)*at) != 0;
        others += !isdigit((unsigned char)*at) && !strchr(" -–/.|", *at);
    }
    bool is_own = digits && !others && strtoul(text, NULL, 10) == line->page;
    return digits > 0 && digits <= 5 && others == 0 && (is_at_edge || is_own);
}

static void count_edges(struct map *counts, const struct edges *edges)
{
    for (size_t i = 0; i < edges->count; i++) {
        char text[SIGN_BYTES];
        bool is_twice = false;
        for (size_t k = 0; k < i; k++)
            is_twice |= edges->lines[k] == edges->lines[i];
        if (is_twice)
            continue;
        sign(edges->lines[i], text);
        uintptr_t n = (uintptr_t)map_get_str(counts, text) + 1;
        map_set_str(counts, text, (void *)n); /* NOLINT: the map's value is a count */
    }
}

/* The first line or the last one of its page. */
static bool is_outermost(const struct edges *edges, size_t i)
{
    return i == 0 || i == edges->tops;
}

static void drop_edges(const struct pdf_document *document, const struct map *counts,
                       const struct edges *edges)
{
    for (size_t i = 0; i < edges->count; i++) {
        char text[SIGN_BYTES];
        sign(edges->lines[i], text);
        uintptr_t n = (uintptr_t)map_get_str(counts, text);
        if ((n >= LEAST_PAGES && n * 100 >= (uintptr_t)document->pages * LEAST_PERCENT) ||
            (is_outermost(edges, i) && is_page_number(edges->lines[i], document->page_height)))
            edges->lines[i]->count = 0;
    }
}

typedef void edges_fn(const struct pdf_document *document, struct map *counts,
                      const struct edges *edges);

static void count_page(const struct pdf_document *document, struct map *counts,
                       const struct edges *edges)
{
    (void)document;
    count_edges(counts, edges);
}

static void drop_from_page(const struct pdf_document *document, struct map *counts,
                           const struct edges *edges)
{
    drop_edges(document, counts, edges);
}

static void each_page(struct pdf_document *document, struct map *counts, edges_fn *fn)
{
    for (size_t from = 0, to; from < document->count; from = to) {
        for (to = from;
             to < document->count && document->lines[to].page == document->lines[from].page;)
            to++;
        const struct edges edges = find_edges(document, from, to);
        fn(document, counts, &edges);
    }
}

void pdf_drop_repeated(struct pdf_document *document)
{
    AUTO(map) counts = map_new();
    each_page(document, counts, count_page);
    each_page(document, counts, drop_from_page);
}
