/* The caller's side: a client of a room, ours or any LiveKit server's. Dials `url` with `token`,
 * speaks v0 (two peer connections, the server offers the downlink) or v1 (one), is the controlling
 * ICE agent, publishes a microphone track, hears the other side's audio and reads its data.
 * Implements struct room_link: on_joined tells that the media path is up with the identity of the
 * agent, on_opus is the agent's audio, send_opus our microphone. Transcripts and state are sent as
 * a host sends them (room/transcript.h): as the agent of a room that somebody else hosts. Used by
 * `earshot call` and the load generator. Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/loop.h"
#include "room/link.h"

struct rooms;

struct room_participant_events {
    struct room_events room;
    /* Lines of lk.transcription, both sides'. */
    void (*on_transcript)(void *arg, const struct room_transcript *transcript);
    void (*on_agent_state)(void *arg, const char *state);
    /* The server's leave or a failure, before on_closed. */
    void (*on_ended)(void *arg, enum err err, const char *reason);
};

struct room_participant_config {
    const char *url; /* ws, wss, http or https; a path prefix is kept */
    const char *token;
    bool is_single_pc;        /* v1 */
    int64_t silence_limit_us; /* 0: 10 s */
    const struct room_participant_events *events;
    void *arg;
};

enum err room_participant_open(struct rooms *rooms, const struct room_participant_config *config,
                               struct room_link **out, struct fault *fault) MUST_USE;
/* Says something in writing, as an lk.chat text stream. ERR_CONFLICT: not joined yet. */
enum err room_participant_chat(struct room_link *link, const char *text) MUST_USE;
void room_participant_mute(struct room_link *link, bool is_muted);
