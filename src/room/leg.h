/* One peer connection of a room's side, with what its descriptions say: a caller of the host has
 * one or two, and so has a participant. Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "room/negotiate.h"
#include "rtc/port.h"

#define CHANNEL_RELIABLE "_reliable"
#define CHANNEL_LOSSY    "_lossy"

struct leg {
    struct peer *peer; /* NULL: none */
    struct negotiate_own own;
    struct negotiate_result result;
    bool has_remote;
};

enum err leg_open(struct leg *leg, struct port *port,
                  const struct port_peer_config *config) MUST_USE;
void leg_close(struct leg *leg, struct port *port);
/* The other side's description, first or anew (ICE restart); leg->result is that of its
 * negotiation. Starts data channels when they were negotiated. */
enum err leg_set_remote(struct leg *leg, const struct sdp *remote, int64_t now_us,
                        struct fault *fault) MUST_USE;
/* Controlling role: a candidate of the other side, as after "candidate:"; what is not UDP is
 * skipped. */
void leg_add_candidate(struct leg *leg, const char *line);
/* Opens `_reliable` and `_lossy`. */
void leg_open_channels(struct leg *leg);
/* Sends on `_reliable`. ERR_CONFLICT: it is not open yet. */
enum err leg_send(struct leg *leg, const uint8_t *packet, size_t len) MUST_USE;
