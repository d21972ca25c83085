/* The binary's commands. */
#include <stddef.h>

#include "app.h"
#include "base/attr.h"
#include "cli/commands.h"

static int run_serve(const struct invocation *call)
{
    return app_serve(call->config);
}

static const struct command command_serve = {"serve",  "Runs the service.", NULL, 0, true,
                                             run_serve};

static const struct command *const commands[] = {
    &command_serve,          &command_workspace_create,
    &command_workspace_list, &command_workspace_credit,
    &command_key_create,     &command_key_list,
    &command_key_revoke,     &command_doctor,
    &command_show,
};

int main(int argc, char **argv, char **environment)
{
    return command_main(commands, ARRAY_LEN(commands), argc, argv, environment);
}
