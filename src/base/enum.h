/* Words of a table of names, `names[value]`: how enums are spelt in JSON, in the store, in
 * settings. Thread: any. */
#pragma once

#include <stddef.h>

/* The value that is spelt so. name: may be NULL; entries of the table may be NULL, too.
 * -1: there is none. */
int enum_find(const char *const *names, size_t count, const char *name);
