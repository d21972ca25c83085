/* LiveKit's data packets as both roles need them (LiveKit, Data channels and data packets): text
 * streams going out, text streams coming in, chat, RPC answers. Sans-I/O: what goes out is handed
 * to a function, message by message, for the `_reliable` channel. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/ids.h"

enum {
    PACKET_MAX_BYTES = 64000,      /* clients cap a message at min(max-message-size, 64000) */
    PACKET_CHUNK_BYTES = 15000,    /* of a text stream, as clients cut it */
    PACKET_STREAMS = 8,            /* text streams of a peer that are open at once */
    PACKET_TEXT_MAX_BYTES = 65536, /* of one incoming text stream */
    PACKET_NAME_SIZE = 128
};

#define TOPIC_TRANSCRIPTION "lk.transcription"
#define TOPIC_CHAT          "lk.chat"

/* As whom a packet is sent, and where it goes. */
struct packet_sender {
    const char *identity;
    const char *sid; /* "" for what is said on behalf of somebody else */
    void (*send)(void *arg, const uint8_t *packet, size_t len);
    void *arg;
};

struct packet_attribute {
    const char *key, *value;
};

/* A text stream being sent: header, chunks, trailer. */
struct text_out {
    bool is_open;
    char id[ID_SIZE];
    uint64_t next_chunk;
};

void text_out_open(struct text_out *stream, const struct packet_sender *sender, const char *topic,
                   const struct packet_attribute *attributes, size_t count);
/* Any length; cut between characters. */
void text_out_write(struct text_out *stream, const struct packet_sender *sender, const char *text,
                    size_t len);
void text_out_close(struct text_out *stream, const struct packet_sender *sender,
                    const struct packet_attribute *attributes, size_t count);

/* The older form of a transcript line, whole text so far. */
struct packet_segment {
    const char *speaker_identity;
    const char *track_sid; /* "TR_..." always: an empty one ends rust clients */
    const char *segment_id, *text, *language;
    bool is_final;
};
void packet_send_transcription(const struct packet_sender *sender,
                               const struct packet_segment *segment);

/* What comes in. Texts are borrowed for the call. */
struct text_in {
    char id[PACKET_NAME_SIZE];
    char topic[PACKET_NAME_SIZE];
    char segment_id[PACKET_NAME_SIZE]; /* attribute lk.segment_id */
    char sender[PACKET_NAME_SIZE];     /* participant identity of the packet */
    bool is_final;                     /* attribute lk.transcription_final, of header or trailer */
    bool is_over_limit;
    uint64_t next_chunk;
    struct buf text; /* all so far */
};

struct packet_events {
    /* Part of a text stream that was added; len 0 with is_end: it is complete. */
    void (*on_text)(void *arg, const struct text_in *stream, const char *added, size_t len,
                    bool is_end);
    void (*on_chat)(void *arg, const char *text); /* older forms of chat */
};

struct packet_reader {
    const struct packet_events *events;
    void *arg;
    struct text_in *streams[PACKET_STREAMS];
    unsigned oldest;        /* slot given up when all are taken */
    bool is_one_sender;     /* all packets are the peer's own: what it sends again is dropped */
    uint32_t last_sequence; /* of its numbered packets */
};

void packet_reader_init(struct packet_reader *reader, const struct packet_events *events,
                        void *arg);
void packet_reader_clear(struct packet_reader *reader);
/* One message of a data channel. Requests to call a method (RPC) are answered by `answer`: nobody
 * here has methods (error 1400). ERR_INVALID: no data packet. */
enum err packet_read(struct packet_reader *reader, const uint8_t *packet, size_t len,
                     const struct packet_sender *answer);
