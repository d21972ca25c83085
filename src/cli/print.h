/* Output of commands: JSON on one line, for programs. Thread: the main thread. */
#pragma once

#include "base/buf.h"
#include "base/js.h"

enum { PRINT_MAX_BYTES = 64 << 20 };

/* Writes the line to standard output; the exit status: 1 when it did not fit or could not be
 * written. */
int print_line(const struct buf *line);
