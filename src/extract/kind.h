/* Which kind of document a file is, told by what is in it. Thread: any. */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"

enum extract_kind { EXTRACT_TEXT, EXTRACT_PDF, EXTRACT_DOCX, EXTRACT_KIND_COUNT };
extern const char *const extract_kind_names[EXTRACT_KIND_COUNT];

/* Reads the file's beginning, of a zip archive all of it. ERR_UNSUPPORTED: it is none of these.
 * ERR_IO. */
enum err extract_kind_of(int fd, enum extract_kind *out) MUST_USE;

/* Are the programs there that read PDF files (poppler-utils)? */
bool pdf_is_possible(void);
