/* The binary's commands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/config.h"
#include "cli/commands.h"
#include "extract/run.h"

static int print_settings(const char *kind)
{
    AUTO_BUF text = BUF_INIT(1 << 20);
    config_print(kind, &text);
    fputs(text.data, stdout);
    return EXIT_SUCCESS;
}

static int run_serve(const struct invocation *call)
{
    if (invocation_has(call, "help-markdown"))
        return print_settings("markdown");
    if (invocation_has(call, "help-ini"))
        return print_settings("ini");
    return app_serve(call->config, invocation_has(call, "demo"));
}

static const struct option serve_options[] = {
    {"demo", NULL, "Make an agent to talk with, once, and print the link.", false},
    {"help-markdown", NULL, "Print the settings as docs/configuration.md.", false},
    {"help-ini", NULL, "Print the settings as an example file.", false},
};
static const struct command command_serve = {
    "serve", "Runs the service.", serve_options, ARRAY_LEN(serve_options), true, run_serve};

static const struct command *const commands[] = {
    &command_serve,          &command_workspace_create,
    &command_workspace_list, &command_workspace_credit,
    &command_key_create,     &command_key_list,
    &command_key_revoke,     &command_doctor,
    &command_call,           &command_listen,
    &command_show_call,      &command_show,
    &command_studio_link,
};

int main(int argc, char **argv, char **environment)
{
    if (argc == 3 && strcmp(argv[1], "extract") == 0)
        return extract_run(argv[2]); /* for the service only: it takes no settings */
    return command_main(commands, ARRAY_LEN(commands), argc, argv, environment);
}
