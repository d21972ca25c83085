/* See rows.h. Thread: any. */
#include "know/rows.h"

#include <ctype.h>
#include <string.h>

#include "know/labels.h"
#include "text/words.h"

enum {
    HEADER_CHARS = 60, /* of one cell */
    LOOKED_AT = 8,     /* rows below, for digits where the header has none */
};

struct cells {
    const char *at[ROW_CELLS_MAX];
    size_t len[ROW_CELLS_MAX];
    size_t count;
};

static void split(const char *text, struct cells *out)
{
    out->count = 0;
    for (const char *at = text; out->count < ROW_CELLS_MAX;) {
        size_t len = strcspn(at, "\t");
        out->at[out->count] = at + strspn(at, " \n");
        size_t skipped = MIN((size_t)(out->at[out->count] - at), len);
        out->at[out->count] = at + skipped;
        out->len[out->count++] = len - skipped;
        if (!at[len])
            return;
        at += len + 1;
    }
}

static bool has_digit(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (isdigit((unsigned char)text[i]))
            return true;
    return false;
}

/* Short names without digits, above a column with digits or beside others. */
static bool looks_like_header(const struct block_list *blocks, size_t at, const struct cells *first)
{
    bool has_rows = false, has_digits_below = false;
    for (size_t i = 0; i < first->count; i++)
        if (first->len[i] == 0 || first->len[i] > HEADER_CHARS * 4 ||
            has_digit(first->at[i], first->len[i]))
            return false;
    for (size_t i = at + 1; i < blocks->count && i <= at + LOOKED_AT; i++) {
        const struct block *row = &blocks->items[i];
        if (row->kind != BLOCK_ROW || row->level != ROW_DATA)
            break;
        struct cells cells;
        split(row->text, &cells);
        has_rows = true;
        for (size_t c = 1; c < cells.count; c++)
            has_digits_below |= has_digit(cells.at[c], cells.len[c]);
    }
    return has_rows && first->count >= 2 && (has_digits_below || first->count >= 3);
}

void row_begin(struct row_reader *reader, const struct block_list *blocks, size_t at,
               struct arena *arena)
{
    struct cells cells;
    const struct block *row = &blocks->items[at];
    split(row->text, &cells);
    reader->count = 0;
    if (row->level != ROW_HEADER && !looks_like_header(blocks, at, &cells))
        return;
    for (size_t i = 0; i < cells.count; i++)
        reader->headers[reader->count++] = arena_strndup(arena, cells.at[i], cells.len[i]);
    if (reader->count)
        reader->count = cells.count;
}

void row_end(struct row_reader *reader)
{
    reader->count = 0;
}

static bool is_the_header(const struct row_reader *reader, const struct cells *cells)
{
    if (!reader->count || cells->count != reader->count)
        return false;
    for (size_t i = 0; i < cells->count; i++)
        if (strlen(reader->headers[i]) != cells->len[i] ||
            memcmp(reader->headers[i], cells->at[i], cells->len[i]) != 0)
            return false;
    return true;
}

static void append_cell(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        (void)buf_append_char(out, text[i] == '\n' ? ' ' : text[i]);
}

void row_line(const struct row_reader *reader, const struct block *row, struct buf *out)
{
    struct cells cells;
    split(row->text, &cells);
    if (is_the_header(reader, &cells))
        return;
    bool is_pair = !reader->count && cells.count == 2 && cells.len[0] && cells.len[1];
    size_t start = out->len;
    for (size_t i = 0; i < cells.count; i++) {
        if (!cells.len[i])
            continue;
        const char *header = i < reader->count ? reader->headers[i] : "";
        if (out->len > start)
            (void)buf_append_str(out, is_pair ? ": " : "; ");
        if (*header)
            (void)buf_printf(out, "%s: ", header);
        append_cell(out, cells.at[i], cells.len[i]);
    }
}

void row_question(const struct block *row, struct arena *arena, const char **out_question,
                  const char **out_answer)
{
    struct cells cells;
    split(row->text, &cells);
    if (cells.count != 2 || !cells.len[0] || !cells.len[1])
        return;
    const char *question = arena_strndup(arena, cells.at[0], cells.len[0]);
    if (!label_is_question(question))
        return;
    *out_question = question;
    *out_answer = arena_strndup(arena, cells.at[1], cells.len[1]);
}
