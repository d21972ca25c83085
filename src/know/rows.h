/* Rows of a table as sentences that stand alone: each cell with its column's header.
 *
 *   Room    | Price | Beds          Room: Deluxe; Price: 4,500; Beds: 2
 *   Deluxe  | 4,500 | 2        -->
 *
 * Thread: any. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "extract/block.h"

enum { ROW_CELLS_MAX = 64 };

struct row_reader {
    const char *headers[ROW_CELLS_MAX];
    size_t count; /* 0: no header */
};

/* blocks->items[at] is a table's first row: is it a header? Texts in the arena. */
void row_begin(struct row_reader *reader, const struct block_list *blocks, size_t at,
               struct arena *arena);
void row_end(struct row_reader *reader);
/* Appends the row's line; nothing for the header itself. */
void row_line(const struct row_reader *reader, const struct block *row, struct buf *out);
/* A row of two cells of which the first asks; else both stay as they are. */
void row_question(const struct block *row, struct arena *arena, const char **out_question,
                  const char **out_answer);
