/* What the named styles of a Word document mean for its reader: which are headings, lists, entries
 * of a table of contents. Thread: the main thread of the extractor. */
#pragma once

#include <stdbool.h>

#include "extract/package.h"

struct docx_styles;

struct docx_style {
    unsigned heading; /* 1 to 9; 0: none */
    bool is_list;
    bool is_contents; /* repeats what stands elsewhere */
};

/* name: of the archive's part; a document without one has no styles. */
enum extract_outcome docx_styles_read(struct package *package, const char *name,
                                      struct docx_styles **out) MUST_USE;
void docx_styles_free(struct docx_styles *styles);
/* With what it inherits; zeros when it is not known. */
struct docx_style docx_style_of(const struct docx_styles *styles, const char *id);
