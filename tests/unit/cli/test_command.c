#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/config.h"
#include "test.h"

static struct {
    int runs;
    char name[64], listen[64];
    char operand[64];
    bool has_json, has_model;
} seen;

static int run(const struct invocation *call)
{
    const char *name = invocation_value(call, "name");
    seen.runs++;
    snprintf(seen.name, sizeof(seen.name), "%s", name ? name : "(none)");
    snprintf(seen.listen, sizeof(seen.listen), "%s", config_text(call->config, SET_LISTEN));
    seen.has_json = invocation_has(call, "json");
    snprintf(seen.operand, sizeof(seen.operand), "%s", call->operand ? call->operand : "");
    const char *model = config_engine(call->config, "openai-stt", "model");
    seen.has_model = model && strcmp(model, "x=y") == 0;
    return 7;
}

static const struct option options[] = {{"name", "NAME", "A name.", true},
                                        {"json", NULL, "JSON.", false}};
static const struct command make = {"thing make", "Makes.", options, 2, false, run};
static const struct command list = {"thing list", "Lists.", NULL, 0, true, run};
static const struct command show = {"thing show ID", "Shows.", options + 1, 1, false, run};
static const struct command *const commands[] = {&make, &list, &show};

static int run_line(const char *const *words)
{
    static const char *environment[] = {NULL};
    int argc = 0;
    while (words[argc])
        argc++;
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
        return -1;
    return command_main(commands, 3, argc, (char **)(uintptr_t)words, (char **)environment);
}
#define LINE(...) run_line((const char *const[]){"earshot", __VA_ARGS__, NULL})

TEST(command_reads_options_and_settings)
{
    CHECK_INT(LINE("thing", "make", "--name", "A b", "--json"), 7);
    CHECK(strcmp(seen.name, "A b") == 0 && seen.has_json && !seen.has_model);
    CHECK_INT(LINE("thing", "make", "--name=x", "--set", "service.listen=:9", "--set",
                   "engine.openai-stt.model=x=y"),
              7);
    CHECK(strcmp(seen.name, "x") == 0 && !seen.has_json && seen.has_model);
    CHECK(strcmp(seen.listen, ":9") == 0);
    CHECK_INT(LINE("thing", "list"), 7);
    CHECK_INT(seen.runs, 3);
}

TEST(a_word_in_capitals_is_what_the_user_names)
{
    CHECK_INT(LINE("thing", "show", "t_1", "--json"), 7);
    CHECK(strcmp(seen.operand, "t_1") == 0 && seen.has_json);
    CHECK_INT(LINE("thing", "list"), 7);
    CHECK(seen.operand[0] == '\0');
    CHECK_INT(LINE("thing", "show"), 2);
    CHECK_INT(LINE("thing", "show", "--json"), 2);
}

TEST(command_refuses_what_it_does_not_know)
{
    CHECK_INT(LINE("thing"), 2);
    CHECK_INT(LINE("nothing"), 2);
    CHECK_INT(LINE("thing", "make"), 2);
    CHECK_INT(LINE("thing", "make", "--name"), 2);
    CHECK_INT(LINE("thing", "make", "--nam", "x"), 2);
    CHECK_INT(LINE("thing", "make", "--names", "x"), 2);
    CHECK_INT(LINE("thing", "make", "--name", "x", "more"), 2);
    CHECK_INT(LINE("thing", "make", "--name", "x", "--json=1"), 2);
    CHECK_INT(LINE("thing", "list", "--set", "listen=:9"), 1);
    CHECK_INT(LINE("thing", "list", "--set", "service.nothing=:9"), 1);
    CHECK_INT(LINE("thing", "list", "--config", "/no/such"), 1);
    CHECK_INT(seen.runs, 0);
}

TEST(command_helps)
{
    CHECK_INT(LINE("--help"), 0);
    CHECK_INT(LINE("--version"), 0);
    CHECK_INT(LINE("thing", "make", "--help"), 0);
    CHECK_INT(LINE("thing", "list", "--help"), 0);
    CHECK_INT(seen.runs, 0);
}
