/* What a call sees of its room: somebody joined, left, audio, data. Two implementations: host (this
 * process is the LiveKit server, room/host.h) and participant (a client of somebody else's room,
 * room/participant.h, also the role of `earshot call` and of the load generator). The other side is
 * called `caller` in both. Thread: the room's loop. Events come from the loop, never from inside a
 * function below; after close none but on_closed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct room_link;

enum room_left { ROOM_LEFT_CLEAN, ROOM_LEFT_LOST, ROOM_LEFT_REPLACED, ROOM_LEFT_REFUSED };

/* Why the room is closed; becomes LeaveRequest.reason (LiveKit, Ending). */
enum room_close_reason { ROOM_CLOSE_ENDED, ROOM_CLOSE_SHUTDOWN, ROOM_CLOSE_ERROR };

struct room_transcript {
    const char *segment_id; /* "SG_..." */
    const char *text;       /* agent: the delta to append; caller: the whole text so far */
    bool is_agent;
    bool is_final;        /* agent: closes the segment (text may be ""); caller: the last version */
    const char *language; /* ISO code, may be NULL */
};

struct room_events {
    /* The caller's media path is up (ICE and DTLS done). Again after a return within the loss
     * window. */
    void (*on_joined)(void *arg, const char *identity, const char *name);
    /* CLEAN at once; LOST when neither signalling nor packets have come for the room's silence
     * limit (10 s): the call keeps the 20 s window of the contract. */
    void (*on_left)(void *arg, const char *identity, enum room_left how, int64_t last_packet_us);
    /* One Opus payload of the caller's microphone, as it came (not reordered). */
    void (*on_opus)(void *arg, const uint8_t *payload, size_t len, uint16_t sequence,
                    uint32_t timestamp, int64_t now_us);
    void (*on_muted)(void *arg, bool is_muted);
    /* Text of the caller (lk.chat stream or legacy chat packet). */
    void (*on_chat)(void *arg, const char *text);
    void (*on_closed)(void *arg);
};

/* As the transport counts, for the load generator and tests. What a call tells of its quality is
 * reckoned from what was played (audio/jitter.h). */
struct room_stats {
    uint64_t packets_received, packets_lost, packets_sent;
    double jitter_ms, rtt_ms; /* negative: not measured */
};

struct room_link_ops {
    /* Our microphone track: one 20 ms Opus packet. `timestamp` in 48 kHz units; is_first: begins a
     * talk spurt (RTP marker). It leaves at the end of the loop's turn, with all
     * that the turn has to send. */
    void (*send_opus)(struct room_link *link, const uint8_t *payload, size_t len,
                      uint32_t timestamp, bool is_first);
    void (*send_transcript)(struct room_link *link, const struct room_transcript *transcript);
    void (*set_agent_state)(
        struct room_link *link,
        const char *state); /* initializing, idle, listening, thinking, speaking */
    void (*stats)(struct room_link *link, struct room_stats *out);
    bool (*is_joined)(const struct room_link *link); /* tests ask */
    void (*close)(struct room_link *link, enum room_close_reason reason);
};

struct room_link {
    const struct room_link_ops *ops;
};

/* A room as a call wants it; texts are copied. */
struct room_spec {
    const char *room; /* its name */
    const char *agent_identity, *agent_name;
    const struct room_events *events; /* borrowed, lives as long as the link */
    void *arg;
};

/* Where a loop's calls get their rooms: this process itself (room_host_provider()), or whatever
 * else can be the agent's side of a room. */
struct room_provider {
    /* The link lives until on_closed. ERR_CONFLICT: the name is in use. */
    enum err (*open)(void *arg, const struct room_spec *spec, struct room_link **out);
    void *arg;
};
