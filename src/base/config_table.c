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

/* One printed form: its head, what stands before and after a section's name, its rows, the engines'
 * part. */
struct form {
    const char *kind, *head, *before_name, *after_name;
    void (*print_row)(const struct setting_row *row, struct buf *out);
    const char *engine_head;
    void (*print_engine_row)(const struct engine_setting_row *row, struct buf *out);
};

static void print_help_row(const struct setting_row *row, struct buf *out)
{
    char room[NAME_MAX_BYTES];
    buf_printf(out, "  %-20s %s\n  %-20s %s%s%s; %s\n", row->name, row->sentence, "",
               *row->standard ? row->standard : "(empty)", *row->unit ? " " : "", row->unit,
               variable_of(row, room));
}

static void print_engine_help(const struct engine_setting_row *row, struct buf *out)
{
    buf_printf(out, "  %-20s %s\n", row->name, row->sentence);
}

static void print_markdown_row(const struct setting_row *row, struct buf *out)
{
    char room[NAME_MAX_BYTES];
    const char *tick = *row->standard ? "`" : "";
    buf_printf(out, "| `%s` | `%s` | %s%s%s | ", row->name, variable_of(row, room), tick,
               row->standard, tick);
    for (const char *c = row->unit; *c; c++)
        buf_append(out, *c == '|' ? ", " : c, *c == '|' ? 2 : 1);
    if (row->type == INT)
        buf_printf(out, " (%lld to %lld)", (long long)row->min, (long long)row->max);
    buf_printf(out, " | %s |\n", row->sentence);
}

static void print_engine_markdown(const struct engine_setting_row *row, struct buf *out)
{
    buf_printf(out, "| `%s` | %s |\n", row->name, row->sentence);
}

static void print_ini_row(const struct setting_row *row, struct buf *out)
{
    buf_printf(out, "# %s", row->sentence);
    if (*row->unit)
        buf_printf(out, " [%s]", row->unit);
    buf_printf(out, "\n#%s = %s\n", row->name, row->standard);
}

static void print_engine_ini(const struct engine_setting_row *row, struct buf *out)
{
    buf_printf(out, "# %s\n#%s =\n", row->sentence, row->name);
}

static const struct form forms[] = {
    {"help", "", "[", "]\n", print_help_row, "\n[engine.<id>]\n", print_engine_help},
    {"markdown",
     "# Settings\n\nPrinted from the table in `src/base/settings.def` (`earshot serve "
     "--help-markdown`). They stand in an INI file (`--config` or "
     "`EARSHOT_CONFIG`), in the environment, which wins over the file, or on the command line "
     "(`--set section.name=value`), which wins over both. "
     "Unknown names and bad values are refused at start, with the line on which they stand.\n\n",
     "## [", "]\n\n| Name | Environment | Default | Unit | Meaning |\n|---|---|---|---|---|\n",
     print_markdown_row,
     "\n## [engine.&lt;id&gt;]\n\nIn the environment `EARSHOT_ENGINE_<ID>_<NAME>`, with `_` for "
     "`-` "
     "and `.`.\n\n| Name | Meaning |\n|---|---|\n",
     print_engine_markdown},
    {"ini",
     "# Settings of Earshot: each stands with its default. EARSHOT_CONFIG or --config names this "
     "file.\n\n",
     "[", "]\n", print_ini_row, "\n#[engine.openai]\n", print_engine_ini},
};

/* Rows were appended over time: a section is printed whole where its first row stands. */
static bool is_first_of_section(size_t i)
{
    size_t first = 0;
    while (strcmp(setting_rows[first].section, setting_rows[i].section) != 0)
        first++;
    return first == i;
}

static void print_section(const struct form *form, size_t first, struct buf *out)
{
    buf_printf(out, "%s%s%s%s", first ? "\n" : "", form->before_name, setting_rows[first].section,
               form->after_name);
    for (size_t i = first; i < SETTING_COUNT; i++) {
        if (strcmp(setting_rows[i].section, setting_rows[first].section) == 0)
            form->print_row(&setting_rows[i], out);
    }
}

static void print_form(const struct form *form, struct buf *out)
{
    buf_append_str(out, form->head);
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (is_first_of_section(i))
            print_section(form, i, out);
    }
    buf_append_str(out, form->engine_head);
    for (size_t i = 0; i < engine_setting_count; i++)
        form->print_engine_row(&engine_setting_rows[i], out);
}

void config_print(const char *kind, struct buf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (strcmp(forms[i].kind, kind) == 0)
            print_form(&forms[i], out);
    }
}
