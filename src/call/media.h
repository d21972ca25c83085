/* The audio of one call, both ways:
 *
 *     Opus in  -> inlet (order, decode to 16 kHz) -> vad -> recogniser, conversation
 *     voice    -> queue of samples -> frame of 20 ms -> Opus out, at the pace of the seat
 *              -> queue of packets ------------------->     (a fixed line, a voice that has Opus)
 *
 * The first frame of a spurt leaves at once, the others in the emptiest slot of the loop; nothing
 * is encoded in silence. Thread: the call's loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/codec.h"
#include "audio/pacer.h"
#include "audio/vad.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/loop.h"

struct encoded_line;
struct inlet;
struct jitter_stats;
struct line_cache;
struct room_link;
struct stt;
struct talk;

enum {
    MEDIA_PAUSE_MS = 200, /* of silence: the recogniser is flushed (endpoint.h decides the rest) */
    /* Packets that stop in mid-voice are late, not silence: a caller on a bad network is not cut
     * off before this. (Discontinuous transmission stops after quiet packets; a mute is signalled.)
     */
    MEDIA_STALL_US = 1200 * 1000,
    MEDIA_SAID_MAX_SAMPLES = 15 * 16000, /* of a turn: 480 kB while it lasts */
    MEDIA_TAIL_FRAMES = 3, /* of silence after speech, so that the far side conceals nothing */
};

enum media_frame { MEDIA_ENCODED, MEDIA_RELAYED, MEDIA_REPEATED, MEDIA_FRAMES };

/* The caller's side. */
struct media_heard {
    struct inlet *inlet;
    struct vad *vad;
    bool is_pushing;           /* the recogniser gets what is heard: voice, and its pauses */
    size_t unpushed_samples;   /* what it has not got since then */
    struct buf said;           /* what it got of the open turn, for another if this one breaks */
    uint32_t said_turn;        /* which one that is */
    size_t told_bytes;         /* of `said`, when the last finished words were told */
    bool is_said_cut;          /* the turn began before what is kept */
    bool is_muted, was_voiced; /* voiced: the last frame that came */
    int64_t packet_us;         /* when the last packet came */
};

/* The agent's side. */
struct media_spoken {
    struct list_node chunks;
    size_t queued_samples;
    bool is_whole;               /* no audio is owed: what is queued may be padded to a frame */
    struct encoded_line *cached; /* the fixed line that is being said; NULL: none */
    bool may_play, is_in_spurt;
    int tail;
    uint32_t timestamp;
    bool is_encoding; /* the packet that was sent last is our encoder's */
    bool is_relaying; /* the voice's last sound went on as it was (load.h) */
    struct codec_encoder *encoder;
    enum codec_profile encoding; /* profile, or a cheaper one while the machine is busy (load.h) */
    unsigned frames[MEDIA_FRAMES]; /* of speech that were sent, by how they were made */
    struct pacer_seat seat;
};

struct media {
    /* Set by the owner. */
    const char *call_id; /* for the log */
    struct loop *loop;
    struct pacer *pacer;
    struct room_link *room;
    struct talk *talk;
    struct stt *stt;            /* changes when it is opened again; NULL: none */
    void (*on_talk)(void *arg); /* the conversation has heard or played something */
    void *arg;
    enum codec_profile profile; /* as the settings have it */
    struct line_cache *lines;   /* where fixed lines go that were said to their end */

    struct media_heard heard;
    struct media_spoken spoken;
};

void media_open(struct media *media, const struct vad_config *vad);
void media_clear(struct media *media);
/* The caller is in the room: frames are paced from now on. */
void media_start(struct media *media);
void media_stop(struct media *media); /* the caller has left; what is queued stays */

void media_opus(struct media *media, const uint8_t *payload, size_t len, uint16_t sequence,
                uint32_t timestamp, int64_t now_us);
/* The recogniser has told finished words of what it got. */
void media_told(struct media *media);
/* The recogniser is another: it gets the sound of the open turn. True: all of it; false: what came
 * after the last finished words, as far as it is kept. */
bool media_say_again(struct media *media);
void media_mute(struct media *media, bool is_muted);
/* Samples of a piece. line: its packets are gathered in it as it is said, and it goes into the
 * cache when it was said to its end; NULL: it is no fixed line. */
void media_keep(struct media *media, const int16_t *samples, size_t count,
                struct encoded_line *line);
/* 20 ms of a piece as a packet, sent as it is: 1 to CODEC_PACKET_MAX_BYTES. line: as above. */
void media_relay(struct media *media, const uint8_t *packet, size_t bytes,
                 struct encoded_line *line);
void media_replay(struct media *media, struct encoded_line *line); /* a piece out of the cache */
/* The voice has given all of a piece. */
void media_whole(struct media *media);
void media_drop(struct media *media); /* forgets what is queued */
void media_play(struct media *media, bool may_play);
/* What the agent says is encoded in this profile from now on. Lines that are said in another than
 * the settings' are not kept for others. */
void media_encode_as(struct media *media, enum codec_profile profile);
void media_stats(const struct media *media, struct jitter_stats *out);
