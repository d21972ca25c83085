#include "ogg_file.h"

#include <string.h>

#include "audio/frame.h"
#include "base/attr.h"

enum { BODY_MAX = 255 * 255, SUM_AT = 22, FULL = 255 };

static void put(struct buf *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        (void)buf_append_char(out, (char)(value >> (8 * i)));
}

void ogg_file_sum(uint8_t *page, size_t len)
{
    uint32_t sum = 0;
    memset(page + SUM_AT, 0, 4);
    for (size_t i = 0; i < len * 8; i++) {
        uint32_t bit = (uint32_t)page[i / 8] >> (7 - i % 8) & 1;
        sum = sum << 1 ^ ((sum >> 31 ^ bit) ? 0x04c11db7 : 0);
    }
    for (size_t i = 0; i < 4; i++)
        page[SUM_AT + i] = (uint8_t)(sum >> (8 * i));
}

static void write_page(struct buf *out, unsigned flags, uint32_t serial, uint32_t number,
                       uint64_t granule, const uint8_t *lengths, size_t count, const void *body,
                       size_t len)
{
    size_t at = out->len;
    (void)buf_append(out, "OggS\0", 5);
    put(out, flags, 1);
    put(out, granule, 8);
    put(out, serial, 4);
    put(out, number, 4);
    put(out, 0, 4);
    put(out, count, 1);
    (void)buf_append(out, lengths, count);
    (void)buf_append(out, body, len);
    ogg_file_sum((uint8_t *)out->data + at, out->len - at);
}

void ogg_file_page(struct buf *out, unsigned flags, uint32_t serial, uint32_t number,
                   const uint8_t *lengths, size_t count, const void *body, size_t len)
{
    write_page(out, flags, serial, number, 0, lengths, count, body, len);
}

static void flush(struct ogg_file *file, unsigned flags)
{
    unsigned all = flags | (file->goes_on ? OGG_FILE_CONTINUED : 0);
    file->goes_on = file->length_count > 0 && file->lengths[file->length_count - 1] == FULL;
    write_page(file->out, all, file->serial, file->number++, file->granule, file->lengths,
               file->length_count, file->body.data ? file->body.data : "", file->body.len);
    buf_reset(&file->body);
    file->packets = file->length_count = 0;
}

static void add(struct ogg_file *file, const uint8_t *packet, size_t len)
{
    for (;; len -= FULL, packet += FULL) {
        if (file->length_count == FULL)
            flush(file, 0);
        size_t part = MIN(len, (size_t)FULL);
        file->lengths[file->length_count++] = (uint8_t)part;
        (void)buf_append(&file->body, packet, part);
        if (part < FULL)
            return;
    }
}

void ogg_file_head(struct ogg_file *file)
{
    AUTO_BUF head = BUF_INIT(32), tags = BUF_INIT(2 << 20);
    file->has_begun = true;
    buf_init(&file->body, BODY_MAX);
    (void)buf_append(&head, "OpusHead\1", 9);
    put(&head, file->channels ? file->channels : 1, 1);
    put(&head, file->skip, 2);
    put(&head, 24000, 4);
    put(&head, (uint64_t)(int64_t)file->gain_q8_db, 2);
    put(&head, file->family, 1);
    add(file, (const uint8_t *)head.data, head.len);
    flush(file, OGG_FILE_FIRST);
    (void)buf_append(&tags, "OpusTags\4\0\0\0test\0\0\0\0", 20);
    while (tags.len < file->tags_bytes)
        put(&tags, 0, 1);
    add(file, (const uint8_t *)tags.data, tags.len);
    flush(file, 0);
}

void ogg_file_packet(struct ogg_file *file, const void *packet, size_t len)
{
    if (!file->has_begun)
        ogg_file_head(file);
    add(file, packet, len);
    file->granule += AUDIO_OUT_SAMPLES;
    if (++file->packets >= (file->packets_a_page ? file->packets_a_page : 1))
        flush(file, 0);
}

void ogg_file_end(struct ogg_file *file)
{
    flush(file, OGG_FILE_LAST);
    buf_clear(&file->body);
}
