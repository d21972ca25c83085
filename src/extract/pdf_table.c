/* See pdf.h. A table is a run of lines whose cells stand in the same columns. A cell may go on in
 * the next line: one that has nothing in the first column belongs to the row above it.
 * Thread: the main thread of the extractor. */
#include <string.h>

#include "extract/pdf.h"

enum {
    COLUMNS_MAX = 40,
    LEAST_ROWS = 3, /* two, where the gaps are wide: a space in justified text may be as wide */
    LINES_MAX = 4000,
};
static const float LINE_GAP = 2.5F; /* of the height: further down it is another matter */
static const float CONTINUES = 1.6F;
static const float WIDE = 0.85F; /* of the height: no space between two words */

struct columns {
    struct {
        float x0, x1;
    } at[COLUMNS_MAX];
    size_t count;
};

/* The columns with this line's cells in them; a cell that lies over several joins them. */
static bool add_cells(struct columns *columns, const struct pdf_line *line)
{
    for (size_t i = 0; i < line->count; i++) {
        float x0 = line->cells[i].x0, x1 = line->cells[i].x1;
        size_t kept = 0;
        for (size_t c = 0; c < columns->count; c++) {
            if (columns->at[c].x0 < x1 && x0 < columns->at[c].x1) {
                x0 = MIN(x0, columns->at[c].x0);
                x1 = MAX(x1, columns->at[c].x1);
            } else {
                columns->at[kept++] = columns->at[c];
            }
        }
        if (kept == COLUMNS_MAX)
            return false;
        size_t at = kept;
        for (; at > 0 && columns->at[at - 1].x0 > x0; at--)
            columns->at[at] = columns->at[at - 1];
        columns->at[at].x0 = x0;
        columns->at[at].x1 = x1;
        columns->count = kept + 1;
    }
    return true;
}

static float height(const struct pdf_line *line)
{
    return line->box.y1 - line->box.y0;
}

static bool is_below(const struct pdf_line *line, const struct pdf_line *above, float gaps)
{
    float step = line->box.y1 - above->box.y1;
    return line->page == above->page && line->region == above->region && step > 0 &&
           step < gaps * MAX(height(line), height(above));
}

static bool is_list_entry(const struct pdf_line *line)
{
    return (line->count > 1 && pdf_is_bullet(line->cells[0].text)) ||
           (line->count == 2 && pdf_is_number(line->cells[0].text));
}

static bool has_wide_gap(const struct columns *columns, const struct pdf_line *line)
{
    for (size_t c = 1; c < columns->count; c++)
        if (columns->at[c].x0 - columns->at[c - 1].x1 >= WIDE * height(line))
            return true;
    return false;
}

/* As many lines as stand in the same columns, two at least. */
static size_t find_end(const struct pdf_document *document, size_t at, struct columns *columns)
{
    const struct pdf_line *lines = document->lines;
    size_t end = at, rows = 0;
    columns->count = 0;
    for (; end < document->count && end - at < LINES_MAX; end++) {
        struct columns wider = *columns;
        const struct pdf_line *line = &lines[end];
        size_t least = MAX(columns->count, (size_t)2);
        bool is_alone = line->count == 1;
        if (!line->count || (end > at && !is_below(line, &lines[end - 1], LINE_GAP)) ||
            is_list_entry(line) || !add_cells(&wider, line))
            break;
        if (wider.count < least ||
            (is_alone && (end == at || wider.count != columns->count || line->indent < 1)))
            break;
        *columns = wider;
        rows += !is_alone;
    }
    while (end > at && lines[end - 1].count == 1)
        end--;
    return rows >= (size_t)LEAST_ROWS - has_wide_gap(columns, &lines[at]) ? end : at;
}

struct row {
    struct buf cells[COLUMNS_MAX];
};

static size_t column_of(const struct columns *columns, const struct pdf_cell *cell)
{
    size_t c = 0;
    while (c + 1 < columns->count && columns->at[c].x1 <= cell->x0)
        c++;
    return c;
}

static void add_line(struct row *row, const struct columns *columns, const struct pdf_line *line)
{
    for (size_t i = 0; i < line->count; i++) {
        struct buf *cell = &row->cells[column_of(columns, &line->cells[i])];
        if (cell->len)
            (void)buf_append_char(cell, ' ');
        (void)buf_append_str(cell, line->cells[i].text);
    }
}

static enum err write_row(struct row *row, size_t columns, unsigned page, enum row_level level,
                          struct block_writer *out)
{
    AUTO_BUF text = BUF_INIT(1 << 24);
    for (size_t c = 0; c < columns; c++) {
        if (c)
            (void)buf_append_char(&text, '\t');
        if (row->cells[c].len)
            (void)buf_append(&text, row->cells[c].data, row->cells[c].len);
        buf_reset(&row->cells[c]);
    }
    return block_write(out, BLOCK_ROW, level, page, text.len ? text.data : "");
}

/* Nothing in the first column, and close to the line above. */
static bool goes_on(const struct pdf_document *document, size_t at, const struct columns *columns)
{
    const struct pdf_line *line = &document->lines[at];
    return column_of(columns, &line->cells[0]) > 0 &&
           is_below(line, &document->lines[at - 1], CONTINUES) && line->count < columns->count;
}

size_t pdf_table_lines(const struct pdf_document *document, size_t at)
{
    struct columns columns;
    return document->lines[at].count > 1 ? find_end(document, at, &columns) - at : 0;
}

enum err pdf_table_write(const struct pdf_document *document, size_t at, struct block_writer *out)
{
    struct columns columns;
    struct row row;
    enum err err = OK;
    size_t end = find_end(document, at, &columns);
    for (size_t c = 0; c < COLUMNS_MAX; c++)
        row.cells[c] = (struct buf)BUF_INIT(1 << 24);
    enum row_level level = ROW_FIRST;
    for (size_t i = at; i < end && !err; i++) {
        if (i > at && !goes_on(document, i, &columns)) {
            err = write_row(&row, columns.count, document->lines[at].page, level, out);
            level = ROW_DATA;
        }
        add_line(&row, &columns, &document->lines[i]);
    }
    if (end > at && !err)
        err = write_row(&row, columns.count, document->lines[at].page, level, out);
    for (size_t c = 0; c < COLUMNS_MAX; c++)
        buf_clear(&row.cells[c]);
    return err;
}
