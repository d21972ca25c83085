/* What is to be done, in order, until talk_action() hands it out. Each part of a conversation adds
 * to it. Thread: its owner's. */
#pragma once

#include <stdbool.h>

#include "base/list.h"
#include "talk/talk.h"

struct actions {
    struct list_node steps;
    struct talk_step *current; /* the one that was handed out last */
    bool is_over;              /* nothing is added any more */
};

void actions_init(struct actions *actions);
void actions_clear(struct actions *actions);
void actions_add(struct actions *actions, struct talk_action action); /* texts are copied */
/* Valid until the next call. */
bool actions_next(struct actions *actions, struct talk_action *out);
