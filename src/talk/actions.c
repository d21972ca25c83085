#include "talk/actions.h"

#include "base/mem.h"

struct talk_step { /* an action that waits */
    struct list_node node;
    struct talk_action action;
    char *text, *name, *detail;
    struct talk_timing timing;
};

void actions_init(struct actions *actions)
{
    *actions = (struct actions){0};
    list_init(&actions->steps);
}

static void step_free(struct talk_step *step)
{
    if (!step)
        return;
    list_remove(&step->node);
    mem_free(step->text);
    mem_free(step->name);
    mem_free(step->detail);
    mem_free(step);
}

void actions_clear(struct actions *actions)
{
    struct talk_step *step;
    LIST_EACH (step, &actions->steps, struct talk_step, node)
        step_free(step);
    step_free(actions->current);
}

void actions_add(struct actions *actions, struct talk_action action)
{
    if (actions->is_over)
        return;
    struct talk_step *step = mem_new(struct talk_step);
    step->action = action;
    step->action.text = step->text = mem_strdup(action.text);
    step->action.name = step->name = mem_strdup(action.name);
    step->action.detail = step->detail = mem_strdup(action.detail);
    if (action.timing) {
        step->timing = *action.timing;
        step->action.timing = &step->timing;
    }
    list_push_back(&actions->steps, &step->node);
}

bool actions_next(struct actions *actions, struct talk_action *out)
{
    step_free(actions->current);
    actions->current = LIST_FIRST(&actions->steps, struct talk_step, node);
    if (!actions->current)
        return false;
    list_remove(&actions->current->node);
    *out = actions->current->action;
    return true;
}
