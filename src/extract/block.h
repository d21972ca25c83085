/* What a document is made of once it is read, and how the process that reads it tells the service:
 * blocks in reading order, and how many pages are done.
 *
 *   extractor: reader -> block_writer --frames, through a pipe--> block_reader -> blocks: service
 *
 *    0        1        2                  4                  8                 12
 *   +--------+--------+------------------+------------------+------------------+----------
 *   | type   | level  | 0                | page             | length of text   | text ...
 *   +--------+--------+------------------+------------------+------------------+----------
 *   type: H heading, P paragraph, I item of a list, R row of a table (its cells parted by tabs),
 *         G progress (page: done, length: of all, no text), E end (level: enum extract_outcome)
 *   numbers are little-endian
 *
 * What comes in may come from code that a hostile document has taken over, so everything about it
 * is checked and bounded. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

enum block_kind { BLOCK_HEADING, BLOCK_PARAGRAPH, BLOCK_ITEM, BLOCK_ROW, BLOCK_KIND_COUNT };
enum row_level { ROW_DATA, ROW_HEADER, ROW_FIRST /* of a table without a header */ };

struct block {
    enum block_kind kind;
    unsigned level;   /* heading: 1 (the highest) to 9; item: depth from 1; row: enum row_level */
    unsigned page;    /* from 1; 0: the document has none */
    const char *text; /* valid UTF-8, not empty; of control characters only '\n', in rows '\t' */
};

struct block_list {
    struct block *items;
    size_t count;
};

/* How reading ended. */
enum extract_outcome {
    EXTRACT_DONE,
    EXTRACT_EMPTY,
    EXTRACT_SCANNED,
    EXTRACT_ENCRYPTED,
    EXTRACT_DAMAGED,
    EXTRACT_TOO_LONG,
    EXTRACT_TOO_BIG,
    EXTRACT_TOO_SLOW,
    EXTRACT_TOO_DEEP,
    EXTRACT_NO_TEXT,
    EXTRACT_NO_PROGRAM,
    EXTRACT_BROKEN,
    EXTRACT_OUTCOME_COUNT
};
/* Of a reader that a signal has ended: limits of time kill by two of them. */
enum extract_outcome extract_outcome_of_signal(int signal_number);
/* A sentence for the user. */
const char *extract_sentence(enum extract_outcome outcome);

enum {
    EXTRACT_CHARS_MAX = 2000000, /* code points of text, in all */
    EXTRACT_BLOCKS_MAX = 400000,
    EXTRACT_BLOCK_BYTES = 256 * 1024, /* a longer one is several */
    EXTRACT_PAGES_MAX = 100000,
};

/* In the extractor. */

struct block_writer {
    int fd;         /* -1: everything stays in buf */
    struct buf buf; /* not yet written */
    size_t chars, blocks;
    bool is_lost; /* nobody reads it any more */
};
void block_writer_init(struct block_writer *writer, int fd);
void block_writer_clear(struct block_writer *writer);
/* Cleans the text (controls, bytes that are no UTF-8, spaces at both ends); one that is empty then
 * is left out. ERR_LIMIT: the document is longer than it may be. ERR_CLOSED: nobody reads. */
enum err block_write(struct block_writer *writer, enum block_kind kind, unsigned level,
                     unsigned page, const char *text) MUST_USE;
/* pages 0: not known yet. */
void block_progress(struct block_writer *writer, unsigned done, unsigned pages);
void block_end(struct block_writer *writer, enum extract_outcome outcome);

/* In the service. */

struct block_reader {
    struct arena *arena; /* of the blocks; its owner's */
    struct block_list blocks;
    size_t cap, chars;
    unsigned done, pages;         /* progress */
    enum extract_outcome outcome; /* once it has ended */
    bool has_ended;
    struct buf partial; /* the beginning of a frame */
};
void block_reader_init(struct block_reader *reader, struct arena *arena);
void block_reader_clear(struct block_reader *reader);
/* ERR_INVALID: it breaks the protocol. ERR_LIMIT: it is more than a document may hold. After either
 * nothing more is to be read. */
enum err block_reader_push(struct block_reader *reader, const char *data, size_t len) MUST_USE;
