/* See docx.h. Thread: the main thread of the extractor. */
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "extract/docx.h"
#include "extract/docx_styles.h"

enum {
    TEXT_MAX_BYTES = 16 * 1024 * 1024,
    NOTES_MAX_BYTES = 4096,
    BOLD_HEADING_CHARS = 80,
    BOLD_HEADING_LEVEL = 6, /* below those that are marked as headings */
};

struct docx *docx_new(struct block_writer *out)
{
    struct docx *docx = mem_new(struct docx);
    docx->out = out;
    docx->carried = docx->note = (struct buf)BUF_INIT(TEXT_MAX_BYTES);
    docx->notes = map_new();
    list_init(&docx->held);
    return docx;
}

struct held {
    struct list_node node;
    enum block_kind kind;
    unsigned level;
    char *text;
};

static void free_held(struct held *held)
{
    list_remove(&held->node);
    mem_free(held->text);
    mem_free(held);
}

static void free_paragraph(struct docx_paragraph *paragraph)
{
    buf_clear(&paragraph->text);
    buf_clear(&paragraph->notes);
    mem_free(paragraph);
}

static void free_table(struct docx_table *table)
{
    for (size_t i = 0; i < DOCX_CELLS_MAX; i++)
        buf_clear(&table->cells[i]);
    buf_clear(&table->above);
    mem_free(table);
}

static int free_note(void *arg, const void *key, size_t key_len, void *value)
{
    (void)arg, (void)key, (void)key_len;
    mem_free(value);
    return 0;
}

void docx_free(struct docx *docx)
{
    while (docx->paragraph_count)
        free_paragraph(docx->paragraphs[--docx->paragraph_count]);
    while (docx->table_count)
        free_table(docx->tables[--docx->table_count]);
    struct held *held;
    LIST_EACH (held, &docx->held, struct held, node)
        free_held(held);
    map_each(docx->notes, free_note, NULL);
    map_free(docx->notes);
    docx_styles_free(docx->styles);
    buf_clear(&docx->carried);
    buf_clear(&docx->note);
    mem_free(docx);
}

/* Where text goes. */

struct docx_paragraph *docx_paragraph(struct docx *docx)
{
    bool is_known = docx->paragraph_count && !docx->paragraphs_too_many;
    return is_known ? docx->paragraphs[docx->paragraph_count - 1] : NULL;
}

static struct docx_table *table_of(struct docx *docx)
{
    bool is_known = docx->table_count && !docx->tables_too_many;
    return is_known ? docx->tables[docx->table_count - 1] : NULL;
}

static void append_line(struct buf *to, const char *text)
{
    if (to->len)
        (void)buf_append_char(to, '\n');
    (void)buf_append_str(to, text);
}

static void note_err(struct docx *docx, enum err err)
{
    if (!docx->err)
        docx->err = err;
}

/* Into the note or the cell that is open, after the paragraph that is open, or out. */
static void put(struct docx *docx, enum block_kind kind, unsigned level, const char *text)
{
    struct docx_table *table = table_of(docx);
    if (docx->notes_of) {
        append_line(&docx->note, text);
    } else if (table && kind != BLOCK_ROW) {
        append_line(&table->cells[MIN(table->column, (unsigned)DOCX_CELLS_MAX - 1)], text);
    } else if (docx->paragraph_count || docx->table_count) {
        struct held *held = mem_new(struct held);
        *held = (struct held){.kind = kind, .level = level, .text = mem_strdup(text)};
        list_push_back(&docx->held, &held->node);
    } else {
        note_err(docx, block_write(docx->out, kind, level, 0, text));
    }
}

static void put_held(struct docx *docx)
{
    struct held *held;
    if (docx->paragraph_count || docx->table_count)
        return;
    LIST_EACH (held, &docx->held, struct held, node) {
        put(docx, held->kind, held->level, held->text);
        free_held(held);
    }
}

/* Paragraphs. */

void docx_begin_paragraph(struct docx *docx)
{
    if (docx->paragraph_count == DOCX_OPEN_MAX) {
        docx->paragraphs_too_many++;
        return;
    }
    struct docx_paragraph *paragraph = mem_new(struct docx_paragraph);
    paragraph->text = (struct buf)BUF_INIT(TEXT_MAX_BYTES);
    paragraph->notes = (struct buf)BUF_INIT(NOTES_MAX_BYTES);
    paragraph->depth = 1;
    docx->paragraphs[docx->paragraph_count++] = paragraph;
    if (docx->carried.len && docx->paragraph_count == 1) {
        (void)buf_append(&paragraph->text, docx->carried.data, docx->carried.len);
        paragraph->has_plain = true;
        buf_reset(&docx->carried);
    }
}

void docx_add_text(struct docx *docx, const char *text)
{
    struct docx_paragraph *paragraph = docx_paragraph(docx);
    if (!paragraph)
        return;
    if (!docx->is_bold && text[strspn(text, " \t\n")])
        paragraph->has_plain = true;
    if (buf_append_str(&paragraph->text, text))
        note_err(docx, ERR_LIMIT);
}

/* A short line that is bold as a whole and ends without a stop. */
static bool looks_like_heading(const struct docx_paragraph *paragraph)
{
    size_t chars = 0, len = paragraph->text.len;
    const char *text = paragraph->text.data;
    while (len && strchr(" \n", text[len - 1]))
        len--;
    for (size_t i = 0; i < len; i++)
        chars += ((unsigned char)text[i] & 0xC0) != 0x80;
    return !paragraph->has_plain && len && chars <= BOLD_HEADING_CHARS &&
           !memchr(text, '\n', len) && !strchr(".,;!", text[len - 1]);
}

static void put_paragraph(struct docx *docx, const struct docx_paragraph *paragraph)
{
    const char *text = paragraph->text.data;
    if (paragraph->heading)
        put(docx, BLOCK_HEADING, paragraph->heading, text);
    else if (paragraph->is_item)
        put(docx, BLOCK_ITEM, paragraph->depth, text);
    else if (looks_like_heading(paragraph) && !docx->table_count)
        put(docx, BLOCK_HEADING, BOLD_HEADING_LEVEL, text);
    else
        put(docx, BLOCK_PARAGRAPH, 0, text);
}

static void put_notes(struct docx *docx, struct docx_paragraph *paragraph)
{
    char *rest = NULL;
    char *ids = paragraph->notes.len ? paragraph->notes.data : NULL;
    for (char *id = ids ? strtok_r(ids, " ", &rest) : NULL; id; id = strtok_r(NULL, " ", &rest)) {
        const char *text = map_get_str(docx->notes, id);
        if (text)
            put(docx, BLOCK_PARAGRAPH, 0, text);
    }
}

void docx_end_paragraph(struct docx *docx)
{
    if (docx->paragraphs_too_many) {
        docx->paragraphs_too_many--;
        return;
    }
    if (!docx->paragraph_count)
        return;
    struct docx_paragraph *paragraph = docx->paragraphs[--docx->paragraph_count];
    bool is_empty = paragraph->text.len == 0;
    if (paragraph->goes_on && !docx->paragraph_count && !is_empty)
        (void)buf_append(&docx->carried, paragraph->text.data, paragraph->text.len);
    else if (!is_empty && !paragraph->is_left_out)
        put_paragraph(docx, paragraph);
    put_notes(docx, paragraph);
    free_paragraph(paragraph);
    put_held(docx);
}

/* Notes. */

void docx_refer(struct docx *docx, bool is_endnote, const char *id)
{
    struct docx_paragraph *paragraph = docx_paragraph(docx);
    if (paragraph && !docx->notes_of && *id && !strchr(id, ' '))
        (void)buf_printf(&paragraph->notes, "%c%s ", is_endnote ? 'e' : 'f', id);
}

void docx_end_notes(struct docx *docx)
{
    if (docx->note.len && *docx->note_id)
        mem_free(map_set_str(docx->notes, docx->note_id, mem_strdup(docx->note.data)));
    buf_reset(&docx->note);
    docx->note_id[0] = '\0';
}

void docx_begin_note(struct docx *docx, const char *id)
{
    docx_end_notes(docx);
    snprintf(docx->note_id, sizeof(docx->note_id), "%c%s", docx->notes_of, id ? id : "");
}

/* Tables. */

void docx_begin_table(struct docx *docx)
{
    if (docx->table_count == DOCX_OPEN_MAX) {
        docx->tables_too_many++;
        return;
    }
    struct docx_table *table = mem_new(struct docx_table);
    for (size_t i = 0; i < DOCX_CELLS_MAX; i++)
        table->cells[i] = (struct buf)BUF_INIT(TEXT_MAX_BYTES);
    table->above = (struct buf)BUF_INIT(TEXT_MAX_BYTES);
    docx->tables[docx->table_count++] = table;
}

void docx_end_table(struct docx *docx)
{
    if (docx->tables_too_many) {
        docx->tables_too_many--;
        return;
    }
    if (!docx->table_count)
        return;
    free_table(docx->tables[--docx->table_count]);
    put_held(docx);
}

void docx_begin_row(struct docx *docx)
{
    struct docx_table *table = table_of(docx);
    if (!table)
        return;
    table->column = table->count = 0;
    table->is_header = table->is_deleted = false;
}

/* What the cell above holds is kept for one that it reaches down into. */
void docx_begin_cell(struct docx *docx)
{
    struct docx_table *table = table_of(docx);
    if (!table || table->column >= DOCX_CELLS_MAX)
        return;
    table->span = 1;
    table->goes_on = false;
    const struct buf above = table->cells[table->column];
    table->cells[table->column] = table->above;
    table->above = above;
    buf_reset(&table->cells[table->column]);
}

void docx_cell_spans(struct docx *docx, unsigned columns)
{
    struct docx_table *table = table_of(docx);
    if (table && columns > 1)
        table->span = columns;
}

void docx_cell_goes_on(struct docx *docx)
{
    struct docx_table *table = table_of(docx);
    if (table && table->column < DOCX_CELLS_MAX)
        table->goes_on = true;
}

void docx_end_cell(struct docx *docx)
{
    struct docx_table *table = table_of(docx);
    if (!table || table->column >= DOCX_CELLS_MAX)
        return;
    struct buf *cell = &table->cells[table->column];
    if (table->goes_on && !cell->len)
        (void)buf_append(cell, table->above.data, table->above.len);
    for (unsigned i = 1; i < table->span && table->column + i < DOCX_CELLS_MAX; i++)
        buf_reset(cell + i);
    table->column = MIN(table->column + MAX(table->span, 1U), (unsigned)DOCX_CELLS_MAX);
    table->count = table->column;
}

void docx_row_is_header(struct docx *docx)
{
    struct docx_table *table = table_of(docx);
    if (table)
        table->is_header = true;
}

void docx_row_is_deleted(struct docx *docx)
{
    struct docx_table *table = table_of(docx);
    if (table)
        table->is_deleted = true;
}

static void put_cell(struct buf *line, const struct buf *cell)
{
    for (size_t i = 0; i < cell->len; i++)
        (void)buf_append_char(line, cell->data[i] == '\t' ? ' ' : cell->data[i]);
}

static void put_row(struct docx *docx, struct docx_table *table, const struct buf *line)
{
    enum row_level level = table->is_header ? ROW_HEADER : table->rows ? ROW_DATA : ROW_FIRST;
    unsigned depth = docx->table_count;
    if (depth > 1) { /* a table in a cell: its rows are lines of it */
        docx->table_count--;
        put(docx, BLOCK_PARAGRAPH, 0, line->data);
        docx->table_count = depth;
    } else if (table->count == 1) { /* a frame around text */
        docx->table_count = 0;
        put(docx, BLOCK_PARAGRAPH, 0, line->data);
        docx->table_count = depth;
    } else {
        docx->table_count = 0;
        put(docx, BLOCK_ROW, level, line->data);
        docx->table_count = depth;
    }
}

void docx_end_row(struct docx *docx)
{
    struct docx_table *table = table_of(docx);
    if (!table)
        return;
    AUTO_BUF line = BUF_INIT(TEXT_MAX_BYTES);
    for (unsigned i = 0; i < table->count; i++) {
        if (i)
            (void)buf_append_char(&line, docx->table_count > 1 ? ' ' : '\t');
        put_cell(&line, &table->cells[i]);
    }
    if (line.len && !table->is_deleted)
        put_row(docx, table, &line);
    table->rows += !table->is_deleted;
}
