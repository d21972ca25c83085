/* Locks the calling process in, for programs that work on input of strangers with libraries that
 * were not written for it: no new privileges, no network, no other program, no file but those that
 * are named, and these to be read only; memory, time, descriptors and files that it makes are
 * bounded, and it leaves no core. Descriptors that are open stay usable: they are what it works
 * with.
 *
 *   no_new_privs -> resource limits -> Landlock (paths) -> seccomp (system calls; the rest: EPERM)
 *
 * What the kernel lacks is left out and told. Thread: before there are others. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"

struct sandbox_wish {
    const char *const *readable;   /* directories and files; NULL after the last; missing ones are
                                      left out */
    const char *const *executable; /* programs (and their loader) that may be executed once locked
                                      in: they are locked in as well; NULL: none */
    size_t memory_bytes;           /* of address space; 0: no limit */
    size_t file_bytes;             /* the longest file (in memory) that it may make */
    unsigned descriptors;
    unsigned cpu_s; /* of processor time, then it is killed; 0: no limit */
};

/* What holds. */
struct sandbox_state {
    bool has_paths;  /* Landlock */
    bool has_filter; /* seccomp */
};

/* ERR_IO: not even the limits could be set; the fault says which. */
enum err sandbox_enter(const struct sandbox_wish *wish, struct sandbox_state *out,
                       struct fault *fault) MUST_USE;
/* What this kernel could do, without doing it (`earshot doctor`). */
struct sandbox_state sandbox_support(void);
