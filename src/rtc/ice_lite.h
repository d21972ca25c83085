/* The lite side of ICE (RFC 8445 sections 2.5, 7.3, 8.2): answers checks, sends none. Each
 * authentic check validates its path; the last one with USE-CANDIDATE selects. It cannot ask, so it
 * learns of a lost peer by silence (its owner watches that). The last nomination wins: a
 * controlling browser repeats USE-CANDIDATE on the pair that it uses, so whatever it tried on the
 * way, and wherever it moves, the selection follows within one of its consent checks. Thread: its
 * owner's. */
#pragma once

#include "rtc/ice.h"

struct ice_lite {
    struct ice_credentials *credentials; /* borrowed */
    struct ice_path paths[ICE_PATHS];
    unsigned path_count, oldest;
    struct ice_path selected;
    bool is_selected;
    struct ice_queue queue;
};

void ice_lite_init(struct ice_lite *lite, struct ice_credentials *credentials);
/* One STUN message. true: it was an authentic check. */
bool ice_lite_input(struct ice_lite *lite, const struct ice_path *path,
                    const struct stun_message *message);
/* The next answer; borrowed until the next input. NULL: none. */
const struct ice_datagram *ice_lite_output(struct ice_lite *lite);
bool ice_lite_has_path(const struct ice_lite *lite, const struct ice_path *path);
/* Where to send: the nominated path, before any nomination the first that was valid. NULL: none. */
const struct ice_path *ice_lite_selected(const struct ice_lite *lite);
