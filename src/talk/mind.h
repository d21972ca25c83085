/* What the agent knows and makes of it: the history of the call, the reply that is being made, the
 * tools that run for it. Sans-I/O. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/llm.h"
#include "talk/history.h"
#include "talk/reply.h"

struct arena;
struct talk_config;

struct late_tool { /* its reply was cut, its result is still of use */
    uint32_t id;
    char *name, *arguments;
};

struct mind {
    const struct talk_config *config; /* set by the owner, borrowed */
    struct history history;
    struct reply reply;
    struct late_tool late[REPLY_CALLS_MAX];
    uint32_t last_gen, last_tool;
    struct arena *request; /* of the last ASK */
    size_t window_tokens;  /* what the model can hold; 0: not known */
    size_t fixed_tokens;   /* of it, what every request of the call begins with; 0: not counted */
};

void mind_init(struct mind *mind, const struct talk_config *config, const char *iso);
void mind_clear(struct mind *mind);
bool mind_is_replying(const struct mind *mind); /* to a committed turn: more may be said */
/* Drops the reply that is being made; what its tools still find is kept for later. */
void mind_cancel(struct mind *mind);
/* What the model is asked now; memory of the mind until the next one. */
const struct llm_request *mind_request(struct mind *mind);

/* mind_tools.c */
void mind_start_tools(struct mind *mind, int64_t now_us);
void mind_tools_are_late(struct mind *mind, int64_t now_us); /* what has not answered has failed */
void mind_abandon_tools(struct mind *mind);                  /* of a reply that is cut */
void late_tool_clear(struct late_tool *late);
void mind_tool_done(struct mind *mind, uint32_t id, bool is_ok, const char *result, int64_t now_us);
