/* What the agent's side of a room writes for the other side to read: live lines, of the agent as a
 * text stream that grows, of the caller as a stream for each version, and both in the older form as
 * well (LiveKit, Agent conventions). Host and participant send the same. Sans-I/O. Thread: its
 * owner's. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "room/link.h"
#include "room/packet.h"

/* Whose lines they are and where they go; borrowed for the call. */
struct transcript_way {
    struct packet_sender agent;
    const char *agent_track_sid;
    const char *caller_identity; /* NULL: nobody reads; what the agent says is kept for who comes */
    const char *caller_track_sid; /* "TR_..." always (packet.h) */
};

struct transcript { /* the agent's line that is open */
    struct text_out stream;
    char segment_id[PACKET_NAME_SIZE];
    struct buf text; /* all of it so far, for who comes in between */
};

void transcript_init(struct transcript *transcript);
void transcript_clear(struct transcript *transcript);
/* Whoever reads from now on has seen nothing of the open line: it gets all of it. */
void transcript_restart(struct transcript *transcript);
void transcript_send(struct transcript *transcript, const struct transcript_way *way,
                     const struct room_transcript *line);
