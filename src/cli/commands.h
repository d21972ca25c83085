/* The commands of this folder, one file each (or one for what belongs together). */
#pragma once

#include "cli/command.h"

extern const struct command command_workspace_create, command_workspace_list,
    command_workspace_credit;
extern const struct command command_key_create, command_key_list, command_key_revoke;
extern const struct command command_call;
extern const struct command command_doctor;
extern const struct command command_listen;
extern const struct command command_show, command_show_call;
extern const struct command command_studio_link;
