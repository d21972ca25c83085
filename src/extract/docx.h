/* The state of reading a Word document: which paragraph, table, row and cell stand open, and where
 * their text goes. docx.c knows the elements, docx_text.c what becomes of them.
 * Thread: the main thread of the extractor. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/list.h"
#include "extract/block.h"

struct docx_styles;
struct map;
struct xml;

enum { DOCX_NAME_BYTES = 256, DOCX_CELLS_MAX = 64, DOCX_OPEN_MAX = 64 };

struct docx_paragraph {
    struct buf text;
    struct buf notes; /* ids, each after its kind and before a space */
    unsigned heading; /* 0: none */
    unsigned depth;   /* in lists, from 1 */
    bool is_item;
    bool is_left_out;
    bool goes_on;   /* its end was deleted */
    bool has_plain; /* text that is not bold */
};

struct docx_table {
    struct buf cells[DOCX_CELLS_MAX]; /* of the row that stands open, or of the one before it */
    struct buf above;                 /* what the cell above this one holds */
    bool goes_on;                     /* it reaches down into this one */
    unsigned column, span, count;
    unsigned rows;
    bool is_header, is_deleted;
};

struct docx {
    struct block_writer *out;
    struct docx_styles *styles;
    struct xml *xml;
    enum err err;
    struct docx_paragraph *paragraphs[DOCX_OPEN_MAX]; /* a text box stands in a paragraph */
    unsigned paragraph_count, paragraphs_too_many;
    struct docx_table *tables[DOCX_OPEN_MAX]; /* a table in a cell */
    unsigned table_count, tables_too_many;
    unsigned properties, in_text;
    bool in_row_properties, is_hidden, is_bold;
    struct buf carried;    /* of a paragraph that goes on in the next */
    struct list_node held; /* blocks that come after the one that is open */
    struct map *notes;     /* by kind and id: text */
    char notes_of;         /* 'f' or 'e' while notes are read; 0: the text */
    char note_id[64];
    struct buf note;
};

struct docx *docx_new(struct block_writer *out);
void docx_free(struct docx *docx);

struct docx_paragraph *docx_paragraph(struct docx *docx); /* the innermost, or NULL */
void docx_begin_paragraph(struct docx *docx);
void docx_end_paragraph(struct docx *docx);
void docx_add_text(struct docx *docx, const char *text);
void docx_refer(struct docx *docx, bool is_endnote, const char *id);

void docx_begin_table(struct docx *docx);
void docx_end_table(struct docx *docx);
void docx_begin_row(struct docx *docx);
void docx_end_row(struct docx *docx);
void docx_row_is_header(struct docx *docx);
void docx_row_is_deleted(struct docx *docx);
void docx_begin_cell(struct docx *docx);
void docx_end_cell(struct docx *docx);
void docx_cell_spans(struct docx *docx, unsigned columns);
void docx_cell_goes_on(struct docx *docx);

void docx_begin_note(struct docx *docx, const char *id);
void docx_end_notes(struct docx *docx);
