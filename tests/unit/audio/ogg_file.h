/* Writes Ogg files of Opus for tests, right or bent: head, tags, pages of packets. The checksum is
 * reckoned bit by bit, so that it is not the reader's own. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct ogg_file {
    struct buf *out;
    /* Before the first packet; 0 is the usual. */
    unsigned channels, skip, family, packets_a_page; /* of the last: one */
    int gain_q8_db;
    size_t tags_bytes;
    uint32_t serial;
    /* The page under way. */
    uint32_t number;
    uint64_t granule;
    unsigned packets;
    uint8_t lengths[255];
    unsigned length_count;
    struct buf body;
    bool has_begun, goes_on;
};

enum { OGG_FILE_CONTINUED = 1, OGG_FILE_FIRST = 2, OGG_FILE_LAST = 4 };

/* One page as it stands, its checksum put right. */
void ogg_file_page(struct buf *out, unsigned flags, uint32_t serial, uint32_t number,
                   const uint8_t *lengths, size_t count, const void *body, size_t len);
void ogg_file_head(struct ogg_file *file); /* both pages before the sound */
void ogg_file_packet(struct ogg_file *file, const void *packet, size_t len);
void ogg_file_end(struct ogg_file *file); /* the last page; the file is cleared but for `out` */
/* Puts the checksum of a page right that stands at data. */
void ogg_file_sum(uint8_t *page, size_t len);
