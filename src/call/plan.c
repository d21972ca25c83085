#include "call/plan.h"

#include "base/arena.h"
#include "base/mem.h"

/* Instructions, tools, variables and their defaults at their greatest are some 12 MB. */
enum { PLAN_MAX_BYTES = 32 * 1024 * 1024 };

struct call_plan *call_plan_new(void)
{
    struct call_plan *plan = mem_new(struct call_plan);
    plan->arena = arena_new(PLAN_MAX_BYTES);
    return plan;
}

void call_plan_free(struct call_plan *plan)
{
    if (!plan)
        return;
    arena_free(plan->arena);
    mem_free(plan);
}
