#include "api/password_line.h"

#include <string.h>

void password_line_init(struct password_line *line)
{
    list_init(&line->turns);
    line->looks = 0;
}

void password_line_add(struct password_line *line, struct password_turn *turn)
{
    list_push_back(&line->turns, &turn->node);
    line->looks += turn->looks;
}

void password_line_remove(struct password_line *line, struct password_turn *turn)
{
    if (!list_is_linked(&turn->node))
        return;
    list_remove(&turn->node);
    line->looks -= turn->looks;
}

/* How many wait with it, of its network or at its member, whichever are more. */
static size_t crowd_of(const struct password_line *line, const struct password_turn *turn)
{
    size_t of_net = 0, of_member = 0;
    const struct password_turn *other;
    LIST_EACH (other, &line->turns, struct password_turn, node) {
        of_net += strcmp(other->net, turn->net) == 0;
        of_member += strcmp(other->member, turn->member) == 0;
    }
    return MAX(of_net, of_member);
}

struct password_turn *password_line_yield(struct password_line *line)
{
    struct password_turn *turn, *chosen = NULL;
    size_t widest = 0;
    if (line->looks <= PASSWORD_LOOKS_MAX)
        return NULL;
    LIST_EACH (turn, &line->turns, struct password_turn, node) {
        size_t crowd = crowd_of(line, turn);
        if (crowd <= widest)
            continue;
        widest = crowd;
        chosen = turn;
    }
    password_line_remove(line, chosen);
    return chosen;
}
