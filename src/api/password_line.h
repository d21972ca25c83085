/* Passwords that wait to be looked at. A look takes the pool some 30 ms of a core, whatever was
 * typed, so a bounded number waits, what a core does in a second; over it somebody gives way at
 * once, who is to come again. That is one of the widest crowd (of one network, or at one member),
 * and of it who has waited longest: so a crowd leaves a place to everybody else, and of many who
 * have nothing in common those that came last are looked at next.
 *
 * Thread: its owner's loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"

enum { PASSWORD_LOOKS_MAX = 32 };

/* A member of what waits. net, member: borrowed. */
struct password_turn {
    struct list_node node; /* linked: in the line */
    const char *net, *member;
    size_t looks; /* at least 1: that it takes */
};

struct password_line {
    struct list_node turns; /* oldest first */
    size_t looks;           /* of all of them */
};

void password_line_init(struct password_line *line);
void password_line_add(struct password_line *line, struct password_turn *turn);
/* It was looked at, or has given way; nothing if it is not in the line. */
void password_line_remove(struct password_line *line, struct password_turn *turn);
/* Takes out one that must give way; NULL: no more are in the line than may be. */
struct password_turn *password_line_yield(struct password_line *line);
