/* The settings: one table (settings.def) that the INI file, the environment, `serve --help` and
 * docs/configuration.md share. A new setting is one row there. Unknown names and bad values are
 * refused with the line they stand on. Thread: built once at start, read by any after. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

enum setting {
#define SETTING(id, section, name, env, type, standard, min, max, unit, sentence) SET_##id,
#include "base/settings.def"
#undef SETTING
    SETTING_COUNT
};

struct config;

/* Reads the defaults, then the INI file (NULL: none), then the environment (EARSHOT_...).
 * ERR_INVALID: the fault names file, line (or variable) and what is wrong. */
enum err config_load(const char *ini_path, char *const envp[], struct config **out,
                     struct fault *fault) MUST_USE;
/* Sets one value as the command line would; for tests too. */
enum err config_set(struct config *config, const char *section, const char *name, const char *value,
                    struct fault *fault) MUST_USE;
void config_free(struct config *config);
DEFINE_AUTO(config)

/* Readers by type of the row; a wrong type is our bug (assert). Text is never NULL ("" when unset),
 * borrowed. */
const char *config_text(const struct config *config, enum setting setting);
int64_t config_int(const struct config *config, enum setting setting);
bool config_bool(const struct config *config, enum setting setting);
bool config_is_set(const struct config *config,
                   enum setting setting); /* by file or environment, not by default */

/* [engine.<id>] sections: any engine id; names from the table engine_settings.def (url,
 * key, model, enabled, costPerMinute, ...). NULL when not set. In the environment
 * EARSHOT_ENGINE_<ID>_<NAME>, '-' and '.' as '_'. */
const char *config_engine(const struct config *config, const char *engine_id, const char *name);
/* A switch of such a section as people write it: true, yes, on or 1; anything else is off. */
bool config_is_true(const char *text);
/* Refuses a section whose id is none of `ids`: what was meant for an engine must reach one. */
enum err config_check_engines(const struct config *config, const char *const *ids, size_t count,
                              struct fault *fault) MUST_USE;

/* The table for people: kind "help" (terminal), "markdown" (docs/configuration.md), "ini" (a
 * commented example file). */
void config_print(const char *kind, struct buf *out);
