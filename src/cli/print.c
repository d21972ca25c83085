/* One line for a program to read. */
#include "cli/print.h"

#include <stdio.h>
#include <stdlib.h>

int print_line(const struct buf *line)
{
    bool is_written = !line->is_full && line->data && puts(line->data) >= 0 && fflush(stdout) == 0;
    return is_written ? EXIT_SUCCESS : EXIT_FAILURE;
}
