/* Opus in Ogg (RFC 3533, RFC 7845), as voices stream it: bytes cut anywhere go in, packets come
 * out. A page is held until it is whole and its checksum is right, so that nothing of a damaged one
 * is heard.
 *
 *     page  "OggS" .. table of lengths | bytes of packets, the last may go on in the next page
 *     stream: page with OpusHead -> OpusTags (skipped) -> packets of sound;  another may follow it
 *
 * One stream at a time, mono or stereo. At most 73 kB are held. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"

enum {
    OGG_PAGE_MAX_BYTES = 27 + 255 + 255 * 255,
    OGG_PACKET_MAX_BYTES = 7680, /* 120 ms of the largest frames of a stream, RFC 6716 3.2.1 */
    OGG_TAGS_MAX_BYTES = 1024 * 1024,
};

struct ogg_head {
    unsigned skip;  /* samples at 48 kHz that are not to be heard at the beginning */
    int gain_q8_db; /* to be applied to what is decoded; 0: as it is */
};

struct ogg_fns {                                             /* they do not clear the reader */
    void (*on_head)(void *arg, const struct ogg_head *head); /* a stream begins */
    bool (*on_packet)(void *arg, const uint8_t *packet, size_t bytes); /* false: unreadable */
};

enum ogg_part { OGG_NOTHING, OGG_HEAD, OGG_TAGS, OGG_SOUND };

struct ogg {
    const struct ogg_fns *fns;
    void *arg;
    struct buf page, packet; /* as far as they have come */
    enum ogg_part part;      /* what the next packet is */
    uint32_t serial, next_page;
    size_t tags_bytes;
    bool is_within_packet; /* it goes on in the next page */
    bool has_ended, is_broken;
};

void ogg_init(struct ogg *ogg, const struct ogg_fns *fns, void *arg);
void ogg_clear(struct ogg *ogg);
/* False, from then on: it is no Opus in Ogg, or not whole. */
bool ogg_push(struct ogg *ogg, const void *data, size_t len);
/* All bytes have come. False: they end too early. */
bool ogg_finish(const struct ogg *ogg) MUST_USE;
