/* One reader for each kind of file, in the extractor. Thread: the main thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "extract/block.h"

/* A program that was started before the extractor locked itself in. */
struct extract_program {
    pid_t pid;
    int fd; /* what it prints; 0: it was not started */
};

/* A file in memory. */
struct extract_file {
    const char *data;
    size_t len;
    struct extract_program text, raw, info; /* for PDF */
};

typedef enum extract_outcome extract_reader_fn(const struct extract_file *file,
                                               struct block_writer *out);
extract_reader_fn text_file_read, docx_file_read, pdf_file_read;
/* Before the extractor is locked in. false: the programs are not there, or did not start. */
bool pdf_file_start(struct extract_file *file);
/* The main part of a Word document alone, without its package. For tests. */
extract_reader_fn docx_xml_read;

/* Of what block_write() said. */
enum extract_outcome extract_outcome_of(enum err err);
