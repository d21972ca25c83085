/* What a client is told by its signalling connection: each function fills one SignalResponse and
 * sends it (LiveKit, Messages). Nothing is sent when the connection is gone. Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "room/caller.h"
#include "room/member.h"
#include "room/meter.h"

struct token_signer;
struct track;
struct tracks;
struct ws;

enum { PING_INTERVAL_S = 5, PING_TIMEOUT_S = 15 };

struct signal {
    struct ws *ws;   /* NULL: it is gone */
    const char *sid; /* of the participant, for logs; borrowed */
};

/* The caller as others see it; telling it counts member->version up. */
struct signal_self {
    struct member *member;
    const struct tracks *tracks;
};

void signal_send_join(struct signal *signal, const struct signal_self *self,
                      const struct room_view *room, bool is_single_pc);
/* The client sends again what it numbered above last_sequence. */
void signal_send_reconnect(struct signal *signal, uint32_t last_sequence);
void signal_send_room(struct signal *signal, const struct room_view *room);
void signal_send_self(struct signal *signal, const struct signal_self *self);
void signal_send_agent(struct signal *signal, const struct room_view *room);
/* Both in one message: rust clients count those who are missing in it as gone. */
void signal_send_everyone(struct signal *signal, const struct signal_self *self,
                          const struct room_view *room);

struct signal_description {
    bool is_offer;
    const char *sdp;
    uint32_t id;
    const char *track_mid; /* the section of the agent's track; "": none */
};
void signal_send_description(struct signal *signal, const struct signal_description *description,
                             const struct room_view *room);
/* Asks a single-PC client for a new offer; its spare sections do (LiveKit, Agent appears after
 * the caller). */
void signal_send_sections_requirement(struct signal *signal);
void signal_send_published(struct signal *signal, const struct track *track);
void signal_send_subscribed(struct signal *signal, const struct track *track);
void signal_send_leave(struct signal *signal, enum caller_leave_reason reason,
                       enum caller_leave_action action);
/* The token that the caller came with, good for ten more minutes. */
void signal_send_refresh_token(struct signal *signal, const struct member *member,
                               const struct token_signer *signer);
void signal_send_pong(struct signal *signal, int64_t timestamp, bool is_old_form);
void signal_send_metadata_result(struct signal *signal, uint32_t request_id,
                                 enum request_reason reason);
void signal_send_data_track_refusal(struct signal *signal, uint32_t handle);
/* Of those that `found` names (METER_CALLER, METER_AGENT). */
void signal_send_speakers(struct signal *signal, unsigned found, const struct meter *meter,
                          const struct room_view *room);
void signal_send_quality(struct signal *signal, enum connection_quality quality);
