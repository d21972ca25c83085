/* The rows of settings.def and engine_settings.def, and their three printed forms. */
#include "base/config_table.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const struct setting_row setting_rows[SETTING_COUNT] = {
#define SETTING(id, section, name, env, type, standard, min, max, unit, sentence)                  \
    {section, name, env, type, standard, min, max, unit, sentence},
#include "base/settings.def"
#undef SETTING
};

const struct engine_setting_row engine_setting_rows[] = {
#define ENGINE_SETTING(name, type, sentence) {name, type, sentence},
#include "base/engine_settings.def"
#undef ENGINE_SETTING
};
const size_t engine_setting_count = ARRAY_LEN(engine_setting_rows);

enum { NAME_MAX_BYTES = 128 };

void setting_variable(const struct setting_row *row, char *out, size_t size)
{
    snprintf(out, size, "EARSHOT_%s_%s", row->section, row->name);
    for (char *c = out; *c; c++)
        *c = (char)toupper((unsigned char)*c);
}

static const char *variable_of(const struct setting_row *row, char room[NAME_MAX_BYTES])
{
    if (row->env)
        return row->env;
    setting_variable(row, room, NAME_MAX_BYTES);
    return room;
}

static bool begins_section(size_t row)
{
    return row == 0 || strcmp(setting_rows[row].section, setting_rows[row - 1].section) != 0;
}

static void print_help(struct buf *out)
{
    char room[NAME_MAX_BYTES];
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct setting_row *row = &setting_rows[i];
        if (begins_section(i))
            buf_printf(out, "%s[%s]\n", i ? "\n" : "", row->section);
        buf_printf(out, "  %-22s %s\n", row->name, row->sentence);
        buf_printf(out, "  %-22s %s%s%s; %s\n", "", *row->standard ? row->standard : "(empty)",
                   *row->unit ? " " : "", row->unit, variable_of(row, room));
    }
    buf_append_str(out, "\n[engine.<id>]\n");
    for (size_t i = 0; i < engine_setting_count; i++)
        buf_printf(out, "  %-22s %s\n", engine_setting_rows[i].name,
                   engine_setting_rows[i].sentence);
}

static void print_bounds(const struct setting_row *row, struct buf *out)
{
    if (row->type == INT)
        buf_printf(out, " (%lld to %lld)", (long long)row->min, (long long)row->max);
}

static void print_markdown(struct buf *out)
{
    char room[NAME_MAX_BYTES];
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct setting_row *row = &setting_rows[i];
        if (begins_section(i))
            buf_printf(out,
                       "%s## [%s]\n\n| Name | Environment | Default | Unit | Meaning |\n"
                       "|---|---|---|---|---|\n",
                       i ? "\n" : "", row->section);
        buf_printf(out, "| `%s` | `%s` | %s%s%s | %s", row->name, variable_of(row, room),
                   *row->standard ? "`" : "", row->standard, *row->standard ? "`" : "", row->unit);
        print_bounds(row, out);
        buf_printf(out, " | %s |\n", row->sentence);
    }
    buf_append_str(out, "\n## [engine.<id>]\n\nIn the environment `EARSHOT_ENGINE_<ID>_<NAME>`, "
                        "with `_` for `-` and `.`.\n\n| Name | Meaning |\n|---|---|\n");
    for (size_t i = 0; i < engine_setting_count; i++)
        buf_printf(out, "| `%s` | %s |\n", engine_setting_rows[i].name,
                   engine_setting_rows[i].sentence);
}

static void print_ini(struct buf *out)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct setting_row *row = &setting_rows[i];
        if (begins_section(i))
            buf_printf(out, "%s[%s]\n", i ? "\n" : "", row->section);
        buf_printf(out, "# %s", row->sentence);
        if (*row->unit)
            buf_printf(out, " [%s]", row->unit);
        buf_printf(out, "\n#%s = %s\n", row->name, row->standard);
    }
    buf_append_str(out, "\n#[engine.openai]\n");
    for (size_t i = 0; i < engine_setting_count; i++)
        buf_printf(out, "# %s\n#%s =\n", engine_setting_rows[i].sentence,
                   engine_setting_rows[i].name);
}

void config_print(const char *kind, struct buf *out)
{
    static const struct {
        const char *kind;
        void (*print)(struct buf *out);
    } forms[] = {{"help", print_help}, {"markdown", print_markdown}, {"ini", print_ini}};
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (strcmp(forms[i].kind, kind) == 0)
            forms[i].print(out);
    }
}
