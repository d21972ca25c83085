/* Output of commands: JSON on one line, for programs, and texts of others for a terminal.
 * Thread: the main thread. */
#pragma once

#include "base/buf.h"
#include "base/js.h"

enum { PRINT_MAX_BYTES = 64 << 20 };

/* A text that others wrote, without what a terminal acts on: escape sequences, other control
 * characters, those that turn the direction of the line. They become \uXXXX, which is the same text
 * where it stands in JSON. The caller's. */
char *print_tamed(const char *text);
/* Writes the line, tamed, to standard output; the exit status: 1 when it did not fit or could not
 * be written. */
int print_line(const struct buf *line);
/* The same of several lines, each of which has its end; within them texts of others are tame. */
int print_lines(const struct buf *lines);

/* A member of the JSON object that is open: PRINT_MEMBER(&out, "id", text, row->id). kind: of a
 * js_out_ function. */
#define PRINT_MEMBER(out, name, kind, value)                                                       \
    (js_out_key((out), (name)), js_out_##kind((out), (value)))
