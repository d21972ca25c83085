/* Starting a call, by the API or by the call button: the checks in their order, the row, the
 * dispatch, the token. Thread: see each function. */
#pragma once

#include <stdbool.h>

#include "model/agent.h"
#include "model/call.h"
#include "store/tool.h"

struct request;

/* What a start has found out; in the job's arena. */
struct call_start_state {
    struct call_start start;
    struct agent agent;
    struct tool_head_list tools; /* that are on */
    struct call call;
    const struct catalog_language *language; /* that the call speaks */
    bool is_language_sent;                   /* a different one than the agent's */
    int64_t join_until_wall_ms;
    const char *visitor; /* the address that a page's visitor calls from; NULL: no visitor */
};

enum { VISITOR_CALLS_MAX = 10 /* of one visitor, that nobody has joined */ };

/* Inside the job: UNSUPPORTED_LANGUAGE, 402, CONCURRENT_CALL_LIMIT, then the row is inserted and
 * the dispatch follows the commit. state->start and state->agent are filled and checked.
 * false: answered. */
bool call_start_insert(struct request *request, struct call_start_state *state,
                       enum call_source source);
