/* The lite side of ICE, see ice_lite.h. */
#include "rtc/ice_lite.h"

#include <string.h>

void ice_lite_init(struct ice_lite *lite, struct ice_credentials *credentials)
{
    memset(lite, 0, sizeof(*lite));
    lite->credentials = credentials;
}

bool ice_lite_has_path(const struct ice_lite *lite, const struct ice_path *path)
{
    for (unsigned i = 0; i < lite->path_count; i++)
        if (ice_path_equal(&lite->paths[i], path))
            return true;
    return false;
}

static void remember(struct ice_lite *lite, const struct ice_path *path)
{
    if (lite->path_count < ICE_PATHS) {
        lite->paths[lite->path_count++] = *path;
        return;
    }
    if (ice_path_equal(&lite->paths[lite->oldest], &lite->selected))
        lite->oldest = (lite->oldest + 1) % ICE_PATHS;
    lite->paths[lite->oldest] = *path;
    lite->oldest = (lite->oldest + 1) % ICE_PATHS;
}

bool ice_lite_input(struct ice_lite *lite, const struct ice_path *path,
                    const struct stun_message *message)
{
    if (ice_answer_check(lite->credentials, false, message, path, &lite->queue) != ICE_ACCEPTED)
        return false;
    if (!ice_lite_has_path(lite, path))
        remember(lite, path);
    if (message->has_use_candidate || !lite->is_selected) {
        lite->selected = *path;
        lite->is_selected = true;
    }
    return true;
}

const struct ice_datagram *ice_lite_output(struct ice_lite *lite)
{
    return ice_queue_pop(&lite->queue);
}

const struct ice_path *ice_lite_selected(const struct ice_lite *lite)
{
    return lite->is_selected ? &lite->selected : NULL;
}
