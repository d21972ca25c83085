/* The states of a call (contract, Call status).
 *
 *     CREATED --agent joined--> ACTIVE --end--> ENDED
 *        '--------------end-----------------------^
 *
 * Thread: any. */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "model/call.h"

enum life_event { LIFE_AGENT_JOINED, LIFE_END, LIFE_EVENT_COUNT };

/* Moves *status; false: the table has no such move, which is counted and logged (base/states.h).
 * The call's id is for the log. */
bool life_move(enum call_status *status, enum life_event event, const char *call_id) MUST_USE;
