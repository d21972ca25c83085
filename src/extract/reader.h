/* One reader for each kind of file, in the extractor. Thread: the main thread. */
#pragma once

#include <stddef.h>

#include "extract/block.h"

/* A file in memory. */
struct extract_file {
    const char *data;
    size_t len;
    int fd; /* the same, at its beginning */
};

typedef enum extract_outcome extract_reader_fn(const struct extract_file *file,
                                               struct block_writer *out);
extract_reader_fn text_file_read, docx_file_read;
/* The main part of a Word document alone, without its package. For tests. */
extract_reader_fn docx_xml_read;

/* Of what block_write() said. */
enum extract_outcome extract_outcome_of(enum err err);
