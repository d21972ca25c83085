/* What members may do by their session: one table, operation -> least role. What it does not name
 * no session may do. Thread: any; constant. */
#pragma once

#include <stdbool.h>

#include "model/member.h"

bool role_may(enum member_role role, const char *operation);
/* Does the table name the operation? */
bool role_knows(const char *operation);
