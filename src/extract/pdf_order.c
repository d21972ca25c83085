/* See pdf.h. Words are gathered in rows and, where a wide gap parts them, in segments. Columns are
 * runs of rows in which no segment crosses a line from top to bottom, with lines of text on both
 * sides: what stands above is read first, then the left column, the right one, and what is below.
 * The same is done with each of the four. Rows whose cells are short are no columns but a table,
 * which is read row by row.
 *
 *      -----------------------      above
 *      --------- | -----------
 *      --------- | -----------      left, right
 *      --------- | ------
 *      -----------------------      below
 *
 * Thread: the main thread of the extractor. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "extract/pdf.h"

enum {
    COLUMN_ROWS = 4,  /* fewer beside each other are no column */
    COLUMN_WORDS = 3, /* a line of text has so many, on average */
    CANDIDATES = 64,
    DEPTH_MAX = 8,
    SPACES = 100,
};
static const float WIDE_SPACE = 1.6F, /* of the page's usual space between two words */
    LEAST_GAP = 0.25F,                /* of the height */
    GUTTER = 0.45F,                   /* of the height: no less lies between two columns */
    STRETCHED = 1.2F,                 /* of the height: wider is no space in a stretched line */
    ALIKE = 1.7F, SAME = 1.05F,
                   COLUMN_FILL =
                       0.55F, /* how much of its width a line of a column has, on average */
    ROW_DRIFT = 0.35F;        /* of the height: a row's words stand no further apart */

struct segment {
    struct pdf_box box;
    size_t first, count; /* of the page's words */
    unsigned row;
};
struct sheet {
    struct pdf_document *document;
    const struct pdf_page *page;
    struct segment *segments; /* by row, then from left to right */
    size_t count;
    float space; /* the usual one between two words */
};
/* Some of a sheet's segments, in its order. */
struct region {
    struct segment **items;
    size_t count;
};

static float middle(const struct pdf_box *box)
{
    return (box->y0 + box->y1) / 2;
}

static float height(const struct pdf_box *box)
{
    return box->y1 - box->y0;
}

static void widen(struct pdf_box *box, const struct pdf_box *by)
{
    box->x0 = MIN(box->x0, by->x0);
    box->y0 = MIN(box->y0, by->y0);
    box->x1 = MAX(box->x1, by->x1);
    box->y1 = MAX(box->y1, by->y1);
}

/* Rows and segments. */

static int by_middle(const void *a, const void *b)
{
    float left = middle(&((const struct pdf_word *)a)->box);
    float right = middle(&((const struct pdf_word *)b)->box);
    return (left > right) - (left < right);
}

static int by_left(const void *a, const void *b)
{
    const struct pdf_word *left = a, *right = b;
    return (left->box.x0 > right->box.x0) - (left->box.x0 < right->box.x0);
}

static size_t row_end(const struct pdf_page *page, size_t from)
{
    const struct pdf_box *first = &page->words[from].box;
    size_t at = from + 1;
    while (at < page->count && middle(&page->words[at].box) - middle(first) <
                                   ROW_DRIFT * MAX(height(first), height(&page->words[at].box)))
        at++;
    return at;
}

static void cut_row(struct sheet *sheet, size_t from, size_t to, unsigned row)
{
    struct pdf_word *words = sheet->page->words;
    qsort(words + from, to - from, sizeof(*words), by_left);
    for (size_t i = from; i < to; i++) {
        struct segment *last = sheet->count ? &sheet->segments[sheet->count - 1] : NULL;
        const struct pdf_box *box = &words[i].box;
        float least = MAX(WIDE_SPACE * sheet->space, LEAST_GAP * height(box));
        if (last && last->row == row && box->x0 - last->box.x1 < least) {
            widen(&last->box, box);
            last->count++;
        } else {
            sheet->segments[sheet->count++] = (struct segment){*box, i, 1, row};
        }
    }
}

/* By quarters of a point; what is wider than a letter is high is none. */
static void count_spaces(const struct pdf_page *page, size_t from, size_t to, size_t counts[SPACES])
{
    for (size_t i = from + 1; i < to; i++) {
        float gap = page->words[i].box.x0 - page->words[i - 1].box.x1;
        if (gap > 0 && gap < height(&page->words[i].box))
            counts[(size_t)MIN(gap * 4, (float)SPACES - 1)]++;
    }
}

static float median(const size_t counts[SPACES])
{
    size_t all = 0, seen = 0;
    for (size_t i = 0; i < SPACES; i++)
        all += counts[i];
    for (size_t i = 0; i < SPACES; i++)
        if ((seen += counts[i]) * 2 > all)
            return ((float)i + 1) / 4;
    return 0;
}

static void measure_space(struct sheet *sheet)
{
    const struct pdf_page *page = sheet->page;
    size_t counts[SPACES] = {0};
    for (size_t from = 0, to; from < page->count; from = to) {
        to = row_end(page, from);
        qsort(page->words + from, to - from, sizeof(*page->words), by_left);
        count_spaces(page, from, to, counts);
    }
    sheet->space = median(counts);
    qsort(page->words, page->count, sizeof(*page->words), by_middle);
}

static void cut_rows(struct sheet *sheet)
{
    const struct pdf_page *page = sheet->page;
    unsigned row = 0;
    qsort(page->words, page->count, sizeof(*page->words), by_middle);
    measure_space(sheet);
    for (size_t from = 0, to; from < page->count; from = to) {
        to = row_end(page, from);
        cut_row(sheet, from, to, row++);
    }
}

/* Lines. */

static struct pdf_line *new_line(struct pdf_document *document)
{
    if (document->count == PDF_LINES_MAX || arena_is_full(document->arena)) {
        document->is_full = true;
        return NULL;
    }
    if (document->count == document->cap) {
        document->cap = MAX(document->cap * 2, (size_t)1024);
        struct pdf_line *wider = arena_new_n(document->arena, struct pdf_line, document->cap);
        if (document->count)
            memcpy(wider, document->lines, document->count * sizeof(*wider));
        document->lines = wider;
    }
    return &document->lines[document->count++];
}

static void append_words(const struct sheet *sheet, const struct segment *segment, struct buf *out)
{
    for (size_t i = 0; i < segment->count; i++) {
        if (out->len)
            (void)buf_append_char(out, ' ');
        (void)buf_append_str(out, sheet->page->words[segment->first + i].text);
    }
}

struct gaps {
    float narrowest, widest; /* between the segments of a line */
    float inner;             /* the widest space within them; 0: each is one word */
};

static struct gaps measure_gaps(const struct sheet *sheet, const struct region *region, size_t from,
                                size_t to)
{
    struct gaps gaps = {.narrowest = 10000};
    for (size_t i = from; i < to; i++) {
        const struct segment *segment = region->items[i];
        const struct pdf_word *words = sheet->page->words + segment->first;
        for (size_t w = 1; w < segment->count; w++)
            gaps.inner = MAX(gaps.inner, words[w].box.x0 - words[w - 1].box.x1);
        float gap = i > from ? segment->box.x0 - region->items[i - 1]->box.x1 : 0;
        gaps.narrowest = i > from ? MIN(gaps.narrowest, gap) : gaps.narrowest;
        gaps.widest = MAX(gaps.widest, gap);
    }
    return gaps;
}

/* A line whose spaces are all alike was stretched to its column's width: those are no cells. */
static bool is_stretched(const struct sheet *sheet, const struct region *region, size_t from,
                         size_t to)
{
    struct gaps gaps = measure_gaps(sheet, region, from, to);
    if (to - from > 2 && !(gaps.inner > 0) && gaps.widest < SAME * gaps.narrowest)
        return true;
    if (to - from < 2 || gaps.widest > STRETCHED * height(&region->items[from]->box))
        return false;
    return gaps.inner > 0 ? gaps.widest < ALIKE * gaps.inner
                          : to - from > 2 && gaps.widest < ALIKE * gaps.narrowest;
}

/* The segments of one row as a line: a cell each, or one in all. */
static void add_line(struct sheet *sheet, const struct region *region, size_t from, size_t to)
{
    struct pdf_document *document = sheet->document;
    struct pdf_line *line = new_line(document);
    if (!line)
        return;
    *line = (struct pdf_line){
        .box = region->items[from]->box, .page = sheet->page->number, .region = document->regions};
    line->cells = arena_new_n(document->arena, struct pdf_cell, to - from);
    bool is_one = is_stretched(sheet, region, from, to);
    AUTO_BUF text = BUF_INIT(1 << 24);
    for (size_t i = from; i < to; i++) {
        const struct segment *segment = region->items[i];
        struct pdf_cell *cell = &line->cells[line->count];
        append_words(sheet, segment, &text);
        widen(&line->box, &segment->box);
        cell->x0 = is_one ? line->box.x0 : segment->box.x0;
        cell->x1 = segment->box.x1;
        if (is_one && i + 1 < to)
            continue;
        cell->text = arena_strndup(document->arena, text.data, text.len);
        line->count++;
        buf_reset(&text);
    }
}

/* A region without columns: its rows, top down. */
static void add_lines(struct sheet *sheet, const struct region *region)
{
    struct pdf_document *document = sheet->document;
    size_t before = document->count;
    struct pdf_box all = region->items[0]->box;
    for (size_t from = 0, to; from < region->count; from = to) {
        for (to = from; to < region->count && region->items[to]->row == region->items[from]->row;)
            widen(&all, &region->items[to++]->box);
        add_line(sheet, region, from, to);
    }
    for (size_t i = before; i < document->count; i++) {
        struct pdf_line *line = &document->lines[i];
        line->indent = line->box.x0 - all.x0;
        line->rest = all.x1 - line->box.x1;
        line->width = all.x1 - all.x0;
    }
    document->regions++;
}

/* Columns. */

struct cut {
    float x;
    size_t from, to; /* of the region's segments: whole rows */
    float score;
};

struct side {
    size_t rows, words, segments;
    float width, x0, x1;
    unsigned last_row;
};

static void count_segment(struct side *side, const struct segment *segment)
{
    if (!side->segments || side->last_row != segment->row)
        side->rows++;
    side->last_row = segment->row;
    side->x0 = side->segments ? MIN(side->x0, segment->box.x0) : segment->box.x0;
    side->x1 = side->segments ? MAX(side->x1, segment->box.x1) : segment->box.x1;
    side->width += segment->box.x1 - segment->box.x0;
    side->words += segment->count;
    side->segments++;
}

static bool is_column(const struct side *side)
{
    float extent = side->x1 - side->x0;
    return side->rows >= COLUMN_ROWS && side->words >= COLUMN_WORDS * side->rows &&
           side->width >= COLUMN_FILL * extent * (float)side->rows;
}

static bool crosses(const struct segment *segment, float x)
{
    return segment->box.x0 < x - 1 && segment->box.x1 > x;
}

/* Is the run [from, to) two columns at x? What lies between them is seen where both have a line. */
static void try_run(const struct region *region, float x, size_t from, size_t to, struct cut *best)
{
    struct side left = {0}, right = {0};
    float gutter = 1000;
    for (size_t i = from; i < to; i++) {
        const struct segment *segment = region->items[i];
        bool is_right = segment->box.x0 >= x - 1;
        const struct segment *before = i > from ? region->items[i - 1] : NULL;
        if (is_right && before && before->row == segment->row && before->box.x0 < x - 1)
            gutter = MIN(gutter, (segment->box.x0 - before->box.x1) / height(&segment->box));
        count_segment(is_right ? &right : &left, segment);
    }
    float score = (float)(left.words + right.words) + gutter / 1000;
    if (gutter >= GUTTER && is_column(&left) && is_column(&right) && score > best->score)
        *best = (struct cut){x, from, to, score};
}

static void try_cut(const struct region *region, float x, struct cut *best)
{
    size_t from = 0;
    for (size_t at = 0, end; at < region->count; at = end) {
        bool is_crossed = false;
        for (end = at; end < region->count && region->items[end]->row == region->items[at]->row;
             end++)
            is_crossed |= crosses(region->items[end], x);
        if (!is_crossed)
            continue;
        try_run(region, x, from, at, best);
        from = end;
    }
    try_run(region, x, from, region->count, best);
}

/* Where segments begin, each place once. */
static size_t find_candidates(const struct region *region, float out[CANDIDATES])
{
    struct place {
        int x;
        unsigned count;
    } places[512] = {0};
    size_t found = 0, kept = 0;
    for (size_t i = 0; i < region->count; i++) {
        int x = (int)(region->items[i]->box.x0 / 2);
        size_t p = 0;
        while (p < found && places[p].x != x)
            p++;
        if (p == found && found < ARRAY_LEN(places))
            places[found++].x = x;
        if (p < ARRAY_LEN(places))
            places[p].count++;
    }
    for (unsigned least = 3; least > 0 && kept < CANDIDATES; least--)
        for (size_t p = 0; p < found && kept < CANDIDATES; p++)
            if (least == 3 ? places[p].count >= 3 : places[p].count == least)
                out[kept++] = (float)places[p].x * 2;
    return kept;
}

static bool find_cut(const struct region *region, struct cut *out)
{
    float places[CANDIDATES];
    size_t count = find_candidates(region, places);
    *out = (struct cut){0};
    for (size_t i = 0; i < count; i++)
        try_cut(region, places[i], out);

    return out->score > 0;
}

static void read_region(struct sheet *sheet, const struct region *region, unsigned depth);

static void read_part(struct sheet *sheet, const struct region *region, size_t from, size_t to,
                      unsigned depth)
{
    if (from < to)
        read_region(sheet, &(struct region){region->items + from, to - from}, depth);
}

static void read_side(struct sheet *sheet, const struct region *region, const struct cut *cut,
                      bool is_right, unsigned depth)
{
    struct region side = {arena_new_n(sheet->page->arena, struct segment *, cut->to - cut->from),
                          0};
    for (size_t i = cut->from; i < cut->to; i++)
        if ((region->items[i]->box.x0 >= cut->x - 1) == is_right)
            side.items[side.count++] = region->items[i];
    if (side.count)
        read_region(sheet, &side, depth);
}

static void read_region(struct sheet *sheet, const struct region *region, unsigned depth)
{
    struct cut cut;
    if (depth == DEPTH_MAX || region->count < (size_t)2 * COLUMN_ROWS || !find_cut(region, &cut)) {
        add_lines(sheet, region);
        return;
    }
    read_part(sheet, region, 0, cut.from, depth + 1);
    read_side(sheet, region, &cut, false, depth + 1);
    read_side(sheet, region, &cut, true, depth + 1);
    read_part(sheet, region, cut.to, region->count, depth + 1);
}

void pdf_order_page(struct pdf_document *document, struct pdf_page *page)
{
    document->pages++;
    document->page_height = MAX(document->page_height, page->height);
    document->is_full |= page->count == PDF_WORDS_OF_PAGE;
    if (!page->count)
        return;
    struct sheet sheet = {.document = document, .page = page};
    sheet.segments = arena_new_n(page->arena, struct segment, page->count);
    cut_rows(&sheet);
    struct region all = {arena_new_n(page->arena, struct segment *, sheet.count), sheet.count};
    for (size_t i = 0; i < sheet.count; i++)
        all.items[i] = &sheet.segments[i];
    read_region(&sheet, &all, 0);
}

void pdf_document_init(struct pdf_document *document)
{
    *document = (struct pdf_document){.arena = arena_new((size_t)256 << 20)};
}

void pdf_document_clear(struct pdf_document *document)
{
    arena_free(document->arena);
}
