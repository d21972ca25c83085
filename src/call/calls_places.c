/* Whether this node takes one call more, and where: room on the media loops, what one workspace
 * leaves to others, ears for those who are heard by embedded recognition. Thread: control loop. */
#include <string.h>

#include "base/config.h"
#include "base/metrics.h"
#include "call/calls_internal.h"
#include "call/internal.h"
#include "engine/registry.h"
#include "model/agent.h"

enum {
    LAST_PLACES_PART = 32, /* of what the node holds: one workspace leaves them to others */
    HEARD_PER_CORE = 12,   /* calls of embedded recognition: all may speak at once */
};

static size_t emptiest(const struct calls *calls)
{
    size_t best = 0;
    for (size_t i = 1; i < calls->config.media_count; i++)
        if (calls->loads[i] < calls->loads[best])
            best = i;
    return best;
}

bool calls_is_full(const struct calls *calls)
{
    for (size_t i = 0; i < calls->config.media_count; i++)
        if (!call_loop_is_full(calls->homes[i]))
            return false;
    return true;
}

/* The last places are for those who have few: a workspace that has more than half of all leaves
 * them. */
static bool may_have_one_more(const struct calls *calls, const char *workspace_id)
{
    int64_t room = 0, held = 0, own = 0;
    for (size_t i = 0; i < calls->config.media_count; i++)
        room += call_loop_room(calls->homes[i]);
    struct entry *entry;
    LIST_EACH (entry, &calls->all, struct entry, node) {
        held++;
        own += strcmp(entry->workspace_id, workspace_id) == 0;
    }
    return room > (held + room) / LAST_PLACES_PART || own <= (held + room) / 2;
}

bool calls_take_place(struct calls *calls, const char *workspace_id, size_t *out_index)
{
    *out_index = emptiest(calls);
    bool may = may_have_one_more(calls, workspace_id);
    if (may && call_loop_take(calls->homes[*out_index]))
        return true;
    for (size_t i = 0; may && i < calls->config.media_count; i++)
        if (call_loop_take(calls->homes[i])) {
            *out_index = i;
            return true;
        }
    metric_add(METRIC_CALLS_REFUSED, 1);
    return false;
}

bool calls_is_heard_here(const struct calls *calls, const struct call_plan *plan)
{
    const struct registry *registry = calls->config.registry;
    const struct engine *named = registry_find(registry, ENGINE_STT, plan->agent->stt.provider);
    const struct engine_info *info =
        named && named->info.is_enabled ? &named->info : registry_default(registry, ENGINE_STT);
    return info && info->is_embedded;
}

bool calls_has_ears(const struct calls *calls)
{
    const struct calls_machine *machine = calls->config.machine;
    int64_t most = config_int(calls->config.config, SET_VOICE_SESSIONS), heard = 0;
    struct entry *entry;
    if (most == 0 && !machine)
        return true;
    if (most == 0)
        most = MAX(machine->cores_milli * HEARD_PER_CORE / 1000, HEARD_PER_CORE);
    LIST_EACH (entry, &calls->all, struct entry, node)
        heard += entry->is_heard_here;
    if (heard >= most)
        metric_add(METRIC_CALLS_REFUSED, 1);
    return heard < most;
}
