/* PDF files, read by our own order: pdftotext (poppler-utils, executed, never linked) says where
 * each word stands, and what that means is found here.
 *
 *   pdftotext -bbox-layout --words--> pdf_words: pages of words
 *      --> pdf_order: words to rows, columns found and read one after the other: lines
 *      --> pdf_repeat: lines that stand on every page are dropped
 *      --> pdf_text: lines to headings, paragraphs, lists; pdf_table: rows of tables
 *
 * Where words have no place (fonts that say they have no height), pdftotext's own order is taken
 * instead: -raw, which tears no columns.
 *
 * Lengths are points (1/72 inch), from the top left corner of the page.
 * Thread: the main thread of the extractor. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "extract/block.h"

enum {
    PDF_WORDS_OF_PAGE = 50000, /* nobody reads such a page */
    PDF_LINES_MAX = 1000000,
    PDF_PAGES_MAX = 20000,
};

struct pdf_box {
    float x0, y0, x1, y1;
};
struct pdf_word {
    struct pdf_box box;
    const char *text; /* in the page's arena */
};
struct pdf_page {
    unsigned number; /* from 1 */
    float width, height;
    struct arena *arena;
    struct pdf_word *words;
    size_t count, cap;
};

struct pdf_cell {
    float x0, x1;
    const char *text; /* in the document's arena */
};
/* What stands beside each other in one column of text. */
struct pdf_line {
    struct pdf_box box;
    unsigned page;
    unsigned region; /* counts columns through the document */
    float indent;    /* from the region's left edge */
    float rest;      /* to its right edge */
    float width;     /* of the region */
    struct pdf_cell *cells;
    size_t count; /* of cells; 0: dropped */
};
struct pdf_document {
    struct arena *arena;
    struct pdf_line *lines; /* in reading order */
    size_t count, cap;
    unsigned regions;
    unsigned pages; /* read so far */
    float page_height;
    bool is_full;
};

/* pdf_words.c */

/* What pdftotext prints, piece by piece. on_page: a page is whole; its words are gone after it. */
typedef void pdf_page_fn(void *arg, struct pdf_page *page);
struct pdf_words {
    pdf_page_fn *on_page;
    void *arg;
    struct pdf_page page;
    struct buf line; /* not yet whole */
    size_t words;    /* of all pages */
    size_t lost;     /* that have no place */
};
void pdf_words_init(struct pdf_words *words, pdf_page_fn *on_page, void *arg);
void pdf_words_clear(struct pdf_words *words);
void pdf_words_push(struct pdf_words *words, const char *data, size_t len);

/* The steps. */

void pdf_document_init(struct pdf_document *document);
void pdf_document_clear(struct pdf_document *document);
/* Adds the page's lines in reading order. */
void pdf_order_page(struct pdf_document *document, struct pdf_page *page);
void pdf_drop_repeated(struct pdf_document *document);
enum err pdf_write(struct pdf_document *document, struct block_writer *out) MUST_USE;
/* How many lines from `at` on are a table; 0: none begins there. */
size_t pdf_table_lines(const struct pdf_document *document, size_t at);
enum err pdf_table_write(const struct pdf_document *document, size_t at,
                         struct block_writer *out) MUST_USE;
/* A sign of a list, or a number that counts: "•", "3.", "1.2". */
bool pdf_is_bullet(const char *text);
bool pdf_is_number(const char *text);
/* A line's cells, one space between. */
void pdf_line_text(const struct pdf_line *line, struct buf *out);
