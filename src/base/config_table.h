/* The tables of base/config.h, for the files of this folder that read, check and print them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/config.h"

enum setting_type { TEXT, INT, BOOL, LIST, REAL, CHOICE };

struct setting_row {
    const char *section, *name, *env;
    enum setting_type type;
    const char *standard;
    int64_t min, max; /* of an INT */
    const char *unit; /* of a CHOICE: its words with '|' between */
    const char *sentence;
};
extern const struct setting_row setting_rows[SETTING_COUNT];

struct engine_setting_row {
    const char *name;
    enum setting_type type;
    const char *sentence;
};
extern const struct engine_setting_row engine_setting_rows[];
extern const size_t engine_setting_count;

/* "EARSHOT_<SECTION>_<NAME>" */
void setting_variable(const struct setting_row *row, char *out, size_t size);

enum err config_read_ini(struct config *config, const char *path, struct fault *fault) MUST_USE;
