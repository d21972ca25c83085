/* What the files of a participant share: participant.c (life, the link), participant_signal.c
 * (messages), participant_media.c (peer connections). */
#pragma once

#include "base/ids.h"
#include "base/loop.h"
#include "base/states.h"
#include "room/leg.h"
#include "room/packet.h"
#include "room/participant.h"
#include "room/rooms_internal.h"
#include "room/transcript.h"

struct Lk__SignalResponse;
struct peer;
struct ws;

/*   DIALLING --JoinResponse--> JOINING --all peers connected--> UP
 *      any of them --leave, loss, failure--> ENDED (on_ended was told)
 *      any --close--> CLOSED */
enum participant_state {
    PARTICIPANT_DIALLING,
    PARTICIPANT_JOINING,
    PARTICIPANT_UP,
    PARTICIPANT_ENDED,
    PARTICIPANT_CLOSED
};
enum participant_event {
    PARTICIPANT_JOINED, /* the JoinResponse has come */
    PARTICIPANT_CONNECTED,
    PARTICIPANT_END,
    PARTICIPANT_CLOSE
};
enum { PARTICIPANT_STATES = PARTICIPANT_CLOSED + 1, PARTICIPANT_EVENTS = PARTICIPANT_CLOSE + 1 };
extern const struct states participant_states;

/* Who answers in the room, as the server tells it. */
struct participant_agent {
    char identity[PACKET_NAME_SIZE], name[PACKET_NAME_SIZE], state[32];
};

/* Is the server still there? */
struct participant_ping {
    struct timer timer;
    int64_t interval_us, timeout_us, heard_us;
};

struct participant {
    struct room_link link;
    struct rooms *rooms;
    struct room_participant_config config;
    enum participant_state state;
    struct ws *ws; /* NULL: gone */
    char sid[ID_SIZE];
    char cid[ID_SIZE], stream[ID_SIZE], track_sid[ID_SIZE];
    char identity[PACKET_NAME_SIZE];
    struct participant_agent agent;
    struct leg up;   /* single, or our publisher connection */
    struct leg down; /* the server's offers; v0 only */
    uint32_t offer_id;
    bool up_is_connected, down_is_connected;
    struct packet_reader reader;
    struct text_out chat;
    struct transcript transcript;
    struct participant_ping ping;
};

/* participant.c */
/* False: nothing has changed. */
bool participant_move(struct participant *participant, enum participant_event event);
void participant_end(struct participant *participant, enum err err, const char *reason);
void participant_up(struct participant *participant);

/* participant_signal.c */
void participant_handle(struct participant *participant, const struct Lk__SignalResponse *response);
void participant_send_description(struct participant *participant, const char *type,
                                  const char *sdp, uint32_t id);
void participant_send_add_track(struct participant *participant);
void participant_send_mute(struct participant *participant, bool is_muted);
/* One attribute of ours, which everybody in the room sees. */
void participant_send_attribute(struct participant *participant, const char *key,
                                const char *value);
void participant_send_ping(struct participant *participant);
void participant_send_leave(struct participant *participant);
/* Path and query to join by; v1 carries the first offer in it. */
enum err participant_target(struct participant *participant, struct buf *out) MUST_USE;

/* participant_media.c */
enum err participant_media_open(struct participant *participant) MUST_USE;
void participant_media_close(struct participant *participant);
struct leg *participant_in(struct participant *participant); /* where the agent is heard */
enum err participant_write_offer(struct participant *participant, struct buf *out) MUST_USE;
void participant_offer(struct participant *participant);
void participant_offered(struct participant *participant, const char *text, uint32_t id);
void participant_answered(struct participant *participant, const char *text);
void participant_candidate(struct participant *participant, const char *json, bool is_down);
