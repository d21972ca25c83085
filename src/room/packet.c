/* Packets going out. Coming in: packet_read.c. */
#include "room/packet.h"

#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "room/livekit.pb-c.h"

enum { ATTRIBUTES_MAX = 8 };

static void send_packet(const struct packet_sender *sender, Lk__DataPacket *packet)
{
    uint8_t bytes[PACKET_MAX_BYTES];
    packet->participant_identity = (char *)(uintptr_t)sender->identity;
    packet->participant_sid = (char *)(uintptr_t)sender->sid;
    size_t len = lk__data_packet__get_packed_size(packet);
    if (len > sizeof(bytes))
        return;
    lk__data_packet__pack(packet, bytes);
    sender->send(sender->arg, bytes, len);
}

/* protobuf-c's strings are not const. */
static char *text_of(const char *text)
{
    return (char *)(uintptr_t)(text ? text : "");
}

static size_t fill_pairs(const struct packet_attribute *attributes, size_t count, Lk__Pair *pairs,
                         Lk__Pair **pointers)
{
    count = MIN(count, (size_t)ATTRIBUTES_MAX);
    for (size_t i = 0; i < count; i++) {
        lk__pair__init(&pairs[i]);
        pairs[i].key = text_of(attributes[i].key);
        pairs[i].value = text_of(attributes[i].value);
        pointers[i] = &pairs[i];
    }
    return count;
}

void text_out_open(struct text_out *stream, const struct packet_sender *sender, const char *topic,
                   const struct packet_attribute *attributes, size_t count)
{
    Lk__Pair pairs[ATTRIBUTES_MAX], *pointers[ATTRIBUTES_MAX];
    Lk__StreamTextHeader text = LK__STREAM_TEXT_HEADER__INIT;
    Lk__StreamHeader header = LK__STREAM_HEADER__INIT;
    Lk__DataPacket packet = LK__DATA_PACKET__INIT;
    *stream = (struct text_out){.is_open = true};
    id_new("ST_", stream->id);
    header.stream_id = stream->id;
    header.timestamp = clock_wall_ms();
    header.topic = text_of(topic);
    header.mime_type = text_of("text/plain");
    header.n_attributes = fill_pairs(attributes, count, pairs, pointers);
    header.attributes = pointers;
    header.content_header_case = LK__STREAM_HEADER__CONTENT_HEADER_TEXT_HEADER;
    header.text_header = &text;
    packet.value_case = LK__DATA_PACKET__VALUE_STREAM_HEADER;
    packet.stream_header = &header;
    send_packet(sender, &packet);
}

/* Bytes of the next chunk, not within a character. */
static size_t chunk_of(const char *text, size_t len)
{
    if (len <= PACKET_CHUNK_BYTES)
        return len;
    size_t step = PACKET_CHUNK_BYTES;
    while (step > PACKET_CHUNK_BYTES - 4 && ((unsigned char)text[step] & 0xC0) == 0x80)
        step--;
    return step;
}

void text_out_write(struct text_out *stream, const struct packet_sender *sender, const char *text,
                    size_t len)
{
    while (len > 0) {
        size_t step = chunk_of(text, len);
        Lk__StreamChunk chunk = LK__STREAM_CHUNK__INIT;
        Lk__DataPacket packet = LK__DATA_PACKET__INIT;
        chunk.stream_id = stream->id;
        chunk.chunk_index = stream->next_chunk++;
        chunk.content = (ProtobufCBinaryData){.len = step, .data = (uint8_t *)(uintptr_t)text};
        packet.value_case = LK__DATA_PACKET__VALUE_STREAM_CHUNK;
        packet.stream_chunk = &chunk;
        send_packet(sender, &packet);
        text += step;
        len -= step;
    }
}

void text_out_close(struct text_out *stream, const struct packet_sender *sender,
                    const struct packet_attribute *attributes, size_t count)
{
    Lk__Pair pairs[ATTRIBUTES_MAX], *pointers[ATTRIBUTES_MAX];
    Lk__StreamTrailer trailer = LK__STREAM_TRAILER__INIT;
    Lk__DataPacket packet = LK__DATA_PACKET__INIT;
    trailer.stream_id = stream->id;
    trailer.n_attributes = fill_pairs(attributes, count, pairs, pointers);
    trailer.attributes = pointers;
    packet.value_case = LK__DATA_PACKET__VALUE_STREAM_TRAILER;
    packet.stream_trailer = &trailer;
    send_packet(sender, &packet);
    stream->is_open = false;
}

void packet_send_transcription(const struct packet_sender *sender,
                               const struct packet_segment *segment)
{
    Lk__TranscriptionSegment line = LK__TRANSCRIPTION_SEGMENT__INIT, *lines = &line;
    Lk__Transcription transcription = LK__TRANSCRIPTION__INIT;
    Lk__DataPacket packet = LK__DATA_PACKET__INIT;
    line.id = text_of(segment->segment_id);
    line.text = text_of(segment->text);
    line.language = text_of(segment->language);
    line.final = segment->is_final;
    transcription.transcribed_participant_identity = text_of(segment->speaker_identity);
    transcription.track_id = text_of(segment->track_sid);
    transcription.n_segments = 1;
    transcription.segments = &lines;
    packet.value_case = LK__DATA_PACKET__VALUE_TRANSCRIPTION;
    packet.transcription = &transcription;
    send_packet(sender, &packet);
}
