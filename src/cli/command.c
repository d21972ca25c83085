/* Finds the command, reads its options, loads the settings, runs it. */
#include "cli/command.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/print.h"

enum { HELP_MAX_BYTES = 1 << 20, EXIT_USAGE = 2, SETS_MAX = 64 };

/* What was on the command line before the settings are loaded. */
struct line {
    struct invocation call;
    const char *config_path;
    const char *sets[SETS_MAX];
    size_t set_count;
    bool wants_help;
};

static const struct option common_options[] = {
    {"config", "FILE", "Settings file (else $EARSHOT_CONFIG).", false},
    {"set", "SECTION.NAME=VALUE", "One setting; may be given again.", false},
    {"help", NULL, "This text.", false},
};

int command_fail(const struct fault *fault)
{
    AUTO_MEM char *text = print_tamed(fault->text[0] ? fault->text : err_name(fault->err));
    fprintf(stderr, "earshot: %s\n", text);
    return EXIT_FAILURE;
}

static int fail_usage(const struct fault *fault, const struct command *command)
{
    command_fail(fault);
    fprintf(stderr, "Try: earshot %s%s--help\n", command ? command->words : "", command ? " " : "");
    return EXIT_USAGE;
}

static size_t option_index(const struct command *command, const char *name, size_t len)
{
    size_t i = 0;
    while (i < command->option_count && (strncmp(command->options[i].name, name, len) != 0 ||
                                         command->options[i].name[len] != '\0'))
        i++;
    return i;
}

const char *invocation_value(const struct invocation *call, const char *name)
{
    size_t i = option_index(call->command, name, strlen(name));
    return i < call->command->option_count ? call->values[i] : NULL;
}

bool invocation_has(const struct invocation *call, const char *name)
{
    return invocation_value(call, name) != NULL;
}

static void print_options(const struct option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        AUTO_MEM char *left =
            mem_printf("--%s%s%s", options[i].name, options[i].value_name ? " " : "",
                       options[i].value_name ? options[i].value_name : "");
        printf("  %-30s %s%s\n", left, options[i].sentence,
               options[i].is_required ? " Required." : "");
    }
}

static int print_command_help(const struct command *command)
{
    printf("earshot %s: %s\n\n", command->words, command->sentence);
    print_options(command->options, command->option_count);
    print_options(common_options, ARRAY_LEN(common_options));
    if (command->prints_settings) {
        AUTO_BUF settings = BUF_INIT(HELP_MAX_BYTES);
        config_print("help", &settings);
        printf("\nSettings (file, environment, --set):\n\n%s", settings.data);
    }
    return EXIT_SUCCESS;
}

static int print_help(const struct command *const *commands, size_t count)
{
    printf("Earshot %s: voice agents on the line.\n\n", EARSHOT_VERSION);
    for (size_t i = 0; i < count; i++)
        printf("  earshot %-18s %s\n", commands[i]->words, commands[i]->sentence);
    printf("\n`earshot COMMAND --help` tells more.\n");
    return EXIT_SUCCESS;
}

static bool matches_word(const char *argument, const char *word, size_t len)
{
    if (isupper((unsigned char)*word))
        return *argument && *argument != '-';
    return strncmp(argument, word, len) == 0 && argument[len] == '\0';
}

/* How many arguments the command's words take up when they stand at the front; 0: another one. */
static int words_matched(const struct command *command, int argc, char **argv,
                         const char **out_operand)
{
    int n = 0;
    *out_operand = NULL;
    for (const char *word = command->words; *word; n++) {
        size_t len = strcspn(word, " ");
        if (n >= argc || !matches_word(argv[n], word, len))
            return 0;
        if (isupper((unsigned char)*word))
            *out_operand = argv[n];
        word += len + (word[len] == ' ');
    }
    return n;
}

static enum err take_common(struct line *line, const struct option *option, const char *value,
                            struct fault *fault)
{
    if (strcmp(option->name, "help") == 0)
        line->wants_help = true;
    else if (strcmp(option->name, "config") == 0)
        line->config_path = value;
    else if (line->set_count == SETS_MAX)
        return fault_set(fault, ERR_INVALID, "too many --set");
    else
        line->sets[line->set_count++] = value;
    return OK;
}

static const struct option *find_common(const char *name, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(common_options); i++) {
        if (strlen(common_options[i].name) == len &&
            strncmp(common_options[i].name, name, len) == 0)
            return &common_options[i];
    }
    return NULL;
}

/* Reads argv[*at] and, where it takes one, its value; moves *at past it. */
static enum err read_option(struct line *line, int argc, char **argv, int *at, struct fault *fault)
{
    const struct command *command = line->call.command;
    const char *text = argv[(*at)++];
    if (strncmp(text, "--", 2) != 0)
        return fault_set(fault, ERR_INVALID, "what is '%.60s'?", text);
    size_t len = strcspn(text += 2, "=");
    size_t index = option_index(command, text, len);
    const struct option *common = find_common(text, len);
    if (index == command->option_count && !common)
        return fault_set(fault, ERR_INVALID, "unknown option --%.60s", text);
    const struct option *option = common ? common : &command->options[index];
    const char *value = text[len] == '=' ? text + len + 1 : NULL;
    if (!option->value_name && value)
        return fault_set(fault, ERR_INVALID, "--%s takes no value", option->name);
    if (!option->value_name)
        value = "";
    else if (!value && *at == argc)
        return fault_set(fault, ERR_INVALID, "--%s needs a value", option->name);
    else if (!value)
        value = argv[(*at)++];
    if (common)
        return take_common(line, common, value, fault);
    line->call.values[index] = value;
    return OK;
}

static enum err check_required(const struct invocation *call, struct fault *fault)
{
    for (size_t i = 0; i < call->command->option_count; i++) {
        if (call->command->options[i].is_required && !call->values[i])
            return fault_set(fault, ERR_INVALID, "--%s is required",
                             call->command->options[i].name);
    }
    return OK;
}

static enum err apply_set(struct config *config, const char *text, struct fault *fault)
{
    const char *equals = strchr(text, '=');
    const char *dot = NULL; /* the last one before '=': an engine's section has one of its own */
    for (const char *c = text; equals && c < equals; c++)
        dot = *c == '.' ? c : dot;
    if (!dot)
        return fault_set(fault, ERR_INVALID, "--set wants section.name=value");
    AUTO_MEM char *section = mem_strndup(text, (size_t)(dot - text));
    AUTO_MEM char *name = mem_strndup(dot + 1, (size_t)(equals - dot - 1));
    return config_set(config, section, name, equals + 1, fault);
}

static enum err load_settings(struct line *line, struct fault *fault)
{
    const char *path = line->config_path ? line->config_path : getenv("EARSHOT_CONFIG");
    enum err err = config_load(path, line->call.environment, &line->call.config, fault);
    for (size_t i = 0; i < line->set_count && !err; i++)
        err = apply_set(line->call.config, line->sets[i], fault);
    return err;
}

static int run_command(struct line *line, int argc, char **argv)
{
    const struct command *command = line->call.command;
    struct fault fault = {0};
    enum err err = OK;
    for (int at = 0; at < argc && !err;)
        err = read_option(line, argc, argv, &at, &fault);
    if (!err && line->wants_help)
        return print_command_help(command);
    if (!err)
        err = check_required(&line->call, &fault);
    if (err)
        return fail_usage(&fault, command);
    err = load_settings(line, &fault);
    int status = err ? command_fail(&fault) : command->run(&line->call);
    config_free(line->call.config);
    return status;
}

int command_main(const struct command *const *commands, size_t count, int argc, char **argv,
                 char **environment)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)
        return print_help(commands, count);
    if (strcmp(argv[1], "--version") == 0) {
        printf("earshot %s\n", EARSHOT_VERSION);
        return EXIT_SUCCESS;
    }
    for (size_t i = 0; i < count; i++) {
        struct line line = {.call = {.command = commands[i], .environment = environment}};
        int n = words_matched(commands[i], argc - 1, argv + 1, &line.call.operand);
        if (n > 0)
            return run_command(&line, argc - 1 - n, argv + 1 + n);
    }
    struct fault fault;
    fault_set(&fault, ERR_INVALID, "unknown command '%.60s'", argv[1]);
    return fail_usage(&fault, NULL);
}
