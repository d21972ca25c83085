/* The settings: values by row of the table, each checked against its row when it is set, whoever
 * sets it. Engines' settings stand in a map from "<ID> <NAME>", both in capitals. */
#include "base/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config_table.h"
#include "base/map.h"
#include "base/mem.h"

struct value {
    char *text;
    int64_t number; /* INT, BOOL */
    bool is_set;
};

struct config {
    struct value values[SETTING_COUNT];
    struct map *engines; /* owned text */
};

enum { TEXT_MAX_BYTES = 16384, NAME_MAX_BYTES = 128 };

/* Variables that other parts of Earshot read; a name that ends in '_' stands for all that begin so.
 */
static const char *const not_settings[] = {"EARSHOT_CONFIG", "EARSHOT_URL", "EARSHOT_KEY",
                                           "EARSHOT_BIN", "EARSHOT_TEST_"};

static bool read_bool(const char *text, int64_t *out)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"true", true},   {"yes", true}, {"on", true},   {"1", true},
                 {"false", false}, {"no", false}, {"off", false}, {"0", false}};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcasecmp(text, words[i].word) != 0)
            continue;
        *out = words[i].value;
        return true;
    }
    return false;
}

bool config_is_true(const char *text)
{
    int64_t value;
    return read_bool(text, &value) && value;
}

static bool read_int(const char *text, int64_t *out)
{
    char *end = NULL;
    errno = 0;
    int64_t number = strtoll(text, &end, 10);
    if (errno || end == text || *end)
        return false;
    *out = number;
    return true;
}

static bool is_real(const char *text)
{
    char *end = NULL;
    errno = 0;
    strtod(text, &end);
    return !errno && end != text && !*end;
}

/* Checks text against the type; the number of an INT or BOOL is left in *out. */
static const char *fault_of(enum setting_type type, const char *text, int64_t *out)
{
    if (strlen(text) > TEXT_MAX_BYTES)
        return "is too long";
    if (type == BOOL && !read_bool(text, out))
        return "must be true or false";
    if (type == INT && !read_int(text, out))
        return "must be a whole number";
    if (type == REAL && !is_real(text))
        return "must be a number";
    return NULL;
}

/* Whether text is one of the words, which have '|' between. */
static bool is_choice(const char *words, const char *text)
{
    size_t len = strlen(text);
    for (const char *word = words; word; word = strchr(word, '|')) {
        word += *word == '|';
        if (len > 0 && strcspn(word, "|") == len && strncmp(word, text, len) == 0)
            return true;
    }
    return false;
}

static enum err set_row(struct config *config, size_t row, const char *text, struct fault *fault)
{
    const struct setting_row *s = &setting_rows[row];
    int64_t number = 0;
    const char *what = fault_of(s->type, text, &number);
    if (what)
        return fault_set(fault, ERR_INVALID, "%s.%s %s", s->section, s->name, what);
    if (s->type == INT && (number < s->min || number > s->max))
        return fault_set(fault, ERR_INVALID, "%s.%s must be %lld to %lld", s->section, s->name,
                         (long long)s->min, (long long)s->max);
    if (s->type == CHOICE && !is_choice(s->unit, text))
        return fault_set(fault, ERR_INVALID, "%s.%s must be %s", s->section, s->name, s->unit);
    struct value *value = &config->values[row];
    mem_free(value->text);
    *value = (struct value){.text = mem_strdup(text), .number = number, .is_set = true};
    return OK;
}

/* Capitals, '_' for '-' and '.', none between words: "costPerMinute" and "cost_per_minute" meet. */
static void append_plain(struct buf *out, const char *name, bool is_id)
{
    for (; *name; name++) {
        bool is_gap = *name == '_' || *name == '-' || *name == '.';
        if (!is_gap)
            buf_append_char(out, (char)(toupper)((unsigned char)*name));
        else if (is_id)
            buf_append_char(out, '_');
    }
}

static const struct engine_setting_row *find_engine_setting(const char *name)
{
    struct buf wanted = BUF_INIT(NAME_MAX_BYTES), row = BUF_INIT(NAME_MAX_BYTES);
    const struct engine_setting_row *found = NULL;
    append_plain(&wanted, name, false);
    for (size_t i = 0; i < engine_setting_count && !found; i++) {
        buf_reset(&row);
        append_plain(&row, engine_setting_rows[i].name, false);
        if (wanted.data && strcmp(wanted.data, row.data) == 0)
            found = &engine_setting_rows[i];
    }
    buf_clear(&wanted);
    buf_clear(&row);
    return found;
}

static char *engine_key(const char *id, const char *name)
{
    struct buf key = BUF_INIT(NAME_MAX_BYTES);
    append_plain(&key, id, true);
    buf_append_char(&key, ' ');
    append_plain(&key, name, false);
    return buf_take(&key, NULL);
}

static enum err set_engine(struct config *config, const char *id, const char *name,
                           const char *text, struct fault *fault)
{
    const struct engine_setting_row *row = find_engine_setting(name);
    int64_t number;
    if (!row || !*id)
        return fault_set(fault, ERR_INVALID, "unknown setting engine.%.40s.%.40s", id, name);
    const char *what = fault_of(row->type, text, &number);
    if (what)
        return fault_set(fault, ERR_INVALID, "engine.%.40s.%s %s", id, row->name, what);
    AUTO_MEM char *key = engine_key(id, name);
    mem_free(map_set_str(config->engines, key, mem_strdup(text)));
    return OK;
}

enum err config_set(struct config *config, const char *section, const char *name, const char *value,
                    struct fault *fault)
{
    static const char engine[] = "engine.";
    if (strncmp(section, engine, sizeof(engine) - 1) == 0)
        return set_engine(config, section + sizeof(engine) - 1, name, value, fault);
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (strcmp(setting_rows[i].section, section) == 0 &&
            strcmp(setting_rows[i].name, name) == 0)
            return set_row(config, i, value, fault);
    }
    return fault_set(fault, ERR_INVALID, "unknown setting %.40s.%.40s", section, name);
}

/* The environment. */

/* Whether NAME is EARSHOT_<SECTION>_<NAME> of the row, or its short name. */
static bool is_variable_of(const struct setting_row *row, const char *name, size_t len)
{
    if (row->env && strlen(row->env) == len && strncmp(row->env, name, len) == 0)
        return true;
    char full[NAME_MAX_BYTES];
    setting_variable(row, full, sizeof(full));
    return strlen(full) == len && strncmp(full, name, len) == 0;
}

static enum err set_engine_variable(struct config *config, const char *tail, const char *value,
                                    struct fault *fault)
{
    size_t len = strlen(tail);
    for (size_t i = 0; i < engine_setting_count; i++) {
        const char *name = engine_setting_rows[i].name;
        size_t name_len = strlen(name);
        if (len > name_len + 1 && tail[len - name_len - 1] == '_' &&
            strcasecmp(tail + len - name_len, name) == 0) {
            AUTO_MEM char *id = mem_strndup(tail, len - name_len - 1);
            return set_engine(config, id, name, value, fault);
        }
    }
    return fault_set(fault, ERR_INVALID, "no engine has such a setting");
}

static bool is_not_setting(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(not_settings); i++) {
        size_t len = strlen(not_settings[i]);
        bool is_prefix = not_settings[i][len - 1] == '_';
        if (strncmp(name, not_settings[i], len) == 0 && (is_prefix || name[len] == '\0'))
            return true;
    }
    return false;
}

static enum err set_variable(struct config *config, const char *name, const char *value,
                             struct fault *fault)
{
    static const char engine[] = "EARSHOT_ENGINE_";
    if (is_not_setting(name))
        return OK;
    if (strncmp(name, engine, sizeof(engine) - 1) == 0)
        return set_engine_variable(config, name + sizeof(engine) - 1, value, fault);
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (is_variable_of(&setting_rows[i], name, strlen(name)))
            return set_row(config, i, value, fault);
    }
    return fault_set(fault, ERR_INVALID, "no such setting");
}

static enum err read_environment(struct config *config, char *const envp[], struct fault *fault)
{
    for (; envp && *envp; envp++) {
        const char *equals = strchr(*envp, '=');
        if (strncmp(*envp, "EARSHOT_", 8) != 0 || !equals)
            continue;
        AUTO_MEM char *name = mem_strndup(*envp, (size_t)(equals - *envp));
        struct fault inner = {0};
        enum err err = set_variable(config, name, equals + 1, &inner);
        if (err)
            return fault_set(fault, err, "environment: %.60s: %.120s", name, inner.text);
    }
    return OK;
}

/* Life and readers. */

enum err config_load(const char *ini_path, char *const envp[], struct config **out,
                     struct fault *fault)
{
    AUTO(config) config = mem_new(struct config);
    config->engines = map_new();
    enum err err = OK;
    for (size_t i = 0; i < SETTING_COUNT && !err; i++) {
        err = set_row(config, i, setting_rows[i].standard, fault);
        config->values[i].is_set = false;
    }
    if (!err && ini_path)
        err = config_read_ini(config, ini_path, fault);
    if (!err)
        err = read_environment(config, envp, fault);
    if (!err)
        *out = TAKE(config);
    return err;
}

static int free_value(void *arg, const void *key, size_t key_len, void *value)
{
    (void)arg, (void)key, (void)key_len;
    mem_free(value);
    return 0;
}

void config_free(struct config *config)
{
    if (!config)
        return;
    for (size_t i = 0; i < SETTING_COUNT; i++)
        mem_free(config->values[i].text);
    map_each(config->engines, free_value, NULL);
    map_free(config->engines);
    mem_free(config);
}

static void insist_on_type(enum setting setting, bool is_right)
{
    if (is_right)
        return;
    fprintf(stderr, "earshot: setting %s is read with another type\n", setting_rows[setting].name);
    abort();
}

const char *config_text(const struct config *config, enum setting setting)
{
    enum setting_type type = setting_rows[setting].type;
    insist_on_type(setting, type == TEXT || type == LIST || type == CHOICE);
    return config->values[setting].text;
}

int64_t config_int(const struct config *config, enum setting setting)
{
    insist_on_type(setting, setting_rows[setting].type == INT);
    return config->values[setting].number;
}

bool config_bool(const struct config *config, enum setting setting)
{
    insist_on_type(setting, setting_rows[setting].type == BOOL);
    return config->values[setting].number != 0;
}

bool config_is_set(const struct config *config, enum setting setting)
{
    return config->values[setting].is_set;
}

const char *config_engine(const struct config *config, const char *engine_id, const char *name)
{
    AUTO_MEM char *key = engine_key(engine_id, name);
    return map_get_str(config->engines, key);
}

struct engine_check {
    const char *const *ids;
    size_t count;
    struct fault *fault;
    enum err err;
};

/* key: an engine_key(). */
static int check_engine(void *arg, const void *key, size_t key_len, void *value)
{
    struct engine_check *check = arg;
    size_t id_len = (const char *)memchr(key, ' ', key_len) - (const char *)key;
    (void)value;
    for (size_t i = 0; i < check->count; i++) {
        AUTO_MEM char *known = engine_key(check->ids[i], "");
        if (strlen(known) == id_len + 1 && memcmp(known, key, id_len) == 0)
            return 0;
    }
    check->err = fault_set(check->fault, ERR_INVALID, "there is no engine '%.*s' ([engine.<id>])",
                           (int)id_len, (const char *)key);
    return 1;
}

enum err config_check_engines(const struct config *config, const char *const *ids, size_t count,
                              struct fault *fault)
{
    struct engine_check check = {.ids = ids, .count = count, .fault = fault};
    map_each(config->engines, check_engine, &check);
    return check.err;
}
