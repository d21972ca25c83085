/* The peer connections of a caller with what is negotiated for them: one that carries both ways
 * (v1), or one up, which the client offers, and one down, which the server offers (v0).
 * Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "room/leg.h"

struct peer_opus;
struct room_stats;
struct room_view;

enum { LEGS_SDP_MAX_BYTES = 65536 };

struct legs {
    struct port *port;
    bool is_single;
    bool wants_audio, is_paused; /* by subscription, by track settings */
    struct leg up;               /* single, or the client's */
    struct leg down;             /* the server's; unless single */
    uint32_t offer_id;           /* of our last downlink offer */
    bool offer_waits, offer_wanted;
};

enum err legs_open(struct legs *legs, struct port *port,
                   const struct port_peer_config *config) MUST_USE;
void legs_close(struct legs *legs);
struct leg *legs_out(struct legs *legs);      /* where audio and data leave */
bool legs_has_track(const struct legs *legs); /* the agent's has a section */

/* The answer to the client's offer; the connection goes on with what it says. ERR_INVALID,
 * ERR_CONFLICT, ERR_LIMIT: the fault's text is fit for the client, which is to be sent away. */
enum err legs_answer(struct legs *legs, const struct room_view *room, const struct sdp *offer,
                     int64_t now_us, struct buf *out, struct fault *fault) MUST_USE;
/* The server's offer (not single). ERR_CONFLICT: one waits for its answer; the wish is remembered.
 * ERR_LIMIT: it is too long. */
enum err legs_offer(struct legs *legs, const struct room_view *room, struct buf *out) MUST_USE;
bool legs_expects_answer(const struct legs *legs);
/* The client's answer to it; offer_wanted says whether to make another. Errors as above. */
enum err legs_take_answer(struct legs *legs, const char *text, int64_t now_us,
                          struct fault *fault) MUST_USE;

/* The agent's audio, if the client hears it. */
void legs_send_opus(struct legs *legs, struct peer_opus *opus, int64_t now_us);
void legs_pump(struct legs *legs, const struct leg *leg); /* what is due leaves */
int64_t legs_last_packet_us(const struct legs *legs);
void legs_stats(const struct legs *legs, struct room_stats *out);
