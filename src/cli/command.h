/* Commands of the binary: each is a row with its words, its options and a function; help and errors
 * are printed from the rows. Values of options stand in the order of the command's option table.
 *
 *   earshot WORDS --name value --flag     (--name=value as well)
 *
 * Thread: the main thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"

struct config;

struct option {
    const char *name;       /* without the dashes */
    const char *value_name; /* for the help; NULL: a flag, whose value is "" when it was given */
    const char *sentence;
    bool is_required;
};

enum { OPTIONS_MAX = 12 };

struct invocation {
    const struct command *command;
    struct config *config;
    const char *values[OPTIONS_MAX]; /* NULL: not given */
    const char *operand; /* what stands in place of a word in capitals; NULL: there is none */
    char *const *environment;
};

struct command {
    const char *words;    /* "workspace create"; in capitals what the user names: "show call ID" */
    const char *sentence; /* what it does */
    const struct option *options;
    size_t option_count;
    bool prints_settings;                      /* in its help */
    int (*run)(const struct invocation *call); /* the exit status */
};

/* Every command also takes --config FILE, --set section.name=value (again and again) and --help. */
int command_main(const struct command *const *commands, size_t count, int argc, char **argv,
                 char **environment);

/* NULL: not given. The name must be one of the command's. */
const char *invocation_value(const struct invocation *call, const char *name);
bool invocation_has(const struct invocation *call, const char *name);

/* "earshot: sentence" on standard error; returns 1, so that it can stand in a return statement. */
int command_fail(const struct fault *fault);
