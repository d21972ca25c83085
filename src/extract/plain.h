/* A plain text, as people type it, as blocks: paragraphs between empty lines, headings (marked with
 * '#', underlined, a short line alone or right above its text), lists, tables of Markdown. Thread:
 * any. */
#pragma once

#include "extract/block.h"

/* text: UTF-8. ERR_LIMIT, ERR_CLOSED: as block_write(). */
enum err plain_read(const char *text, struct block_writer *out) MUST_USE;
