/* The extractor: what `earshot extract KIND` does in a process of its own. It reads the file that
 * is its descriptor 0, locked in (base/sandbox.h) before it looks at the first byte, and writes
 * blocks to descriptor 1. Thread: the main thread. */
#pragma once

#include <stdbool.h>

/* The exit status. */
int extract_run(const char *kind);

/* Locks the calling process in as an extractor is: no file, no network, no other process, bounded
 * memory and time. false: not even the limits could be set; it has been said on stderr. */
bool extract_lock_in(void);
