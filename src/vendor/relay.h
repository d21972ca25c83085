/* Opus that a voice delivers, in Ogg or a packet at a time. Packets that can be sent to a caller as
 * they are go on as they are: 20 ms each, no larger than our own, of a stream without a gain. From
 * the first one that cannot be, the rest of the stream is decoded.
 *
 *     bytes -> ogg -> packet --20 ms, no gain, wanted so--> on_packet
 *                       '-------------- else: decoded ----> on_samples, at TTS_RATE_HZ
 *
 * What a stream wants skipped at its beginning is skipped where it is decoded; relayed is only a
 * stream that wants less than a frame skipped (libopus: 6.5 ms). Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/codec.h"
#include "audio/ogg.h"
#include "base/attr.h"

struct relay_fns { /* they do not free the relay */
    void (*on_packet)(void *arg, const uint8_t *packet, size_t bytes); /* NULL: not wanted so */
    void (*on_samples)(void *arg, const int16_t *samples, size_t count);
};

struct relay {
    struct relay_fns fns;
    void *arg;
    struct ogg ogg;
    struct codec_decoder *decoder; /* NULL: packets go on as they are */
    int gain_q8_db;
    size_t skip; /* samples, of what is decoded */
    bool is_decoded;
    uint8_t last[CODEC_PACKET_MAX_BYTES]; /* that went on: a decoder begins with it */
    size_t last_bytes;
};

struct relay *relay_new(const struct relay_fns *fns, void *arg);
void relay_free(struct relay *relay);
DEFINE_AUTO(relay)
/* As ogg_push() and ogg_finish(). */
bool relay_push(struct relay *relay, const void *data, size_t len);
bool relay_finish(const struct relay *relay) MUST_USE;
/* In place of these: a packet that came in no container. False: it is no packet of Opus. */
bool relay_packet(struct relay *relay, const uint8_t *packet, size_t bytes) MUST_USE;
