/* The INI file, through libinih. Its reader is ours, so that a fault can name its line. */
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <string.h>

#include "base/config_table.h"

enum { LINE_MAX_BYTES = 20000 }; /* over the longest value */

struct reading {
    struct config *config;
    FILE *file;
    int line;
    struct fault fault; /* the first one */
};

static char *read_line(char *out, int size, void *arg)
{
    struct reading *reading = arg;
    char *line = fgets(out, size, reading->file);
    if (line && strchr(line, '\n'))
        reading->line++;
    return line;
}

static int on_setting(void *arg, const char *section, const char *name, const char *value)
{
    struct reading *reading = arg;
    return config_set(reading->config, section, name, value, &reading->fault) == OK;
}

enum err config_read_ini(struct config *config, const char *path, struct fault *fault)
{
    struct reading reading = {.config = config, .file = fopen(path, "re")};
    if (!reading.file)
        return fault_set(fault, ERR_INVALID, "%.100s: %s", path, strerror(errno));
    ini_use_stack = false; /* or a line of over 200 bytes would be cut in two */
    ini_allow_realloc = true;
    ini_max_line = LINE_MAX_BYTES;
    ini_allow_multiline = false;
    ini_stop_on_first_error = true;
    int bad_line = ini_parse_stream(read_line, &reading, on_setting, &reading);
    bool has_read = !ferror(reading.file);
    fclose(reading.file);
    if (!has_read)
        return fault_set(fault, ERR_INVALID, "%.100s: cannot be read", path);
    if (bad_line)
        return fault_set(fault, ERR_INVALID, "%.60s, line %d: %.110s", path, reading.line,
                         reading.fault.err ? reading.fault.text
                                           : "neither [section] nor name = value");
    return OK;
}
