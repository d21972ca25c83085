/* Packets coming in. All of them are somebody's input: streams, their number and their text have
 * ceilings; what is not text or not in order is dropped. */
#include <string.h>

#include "base/js.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "room/livekit.pb-c.h"
#include "room/packet.h"
#include "room/unpack.h"

enum { RPC_UNSUPPORTED_METHOD = 1400, JSON_DEPTH = 8, COMPRESSION_NONE = 0, KIND_RELIABLE = 0 };

void packet_reader_init(struct packet_reader *reader, const struct packet_events *events, void *arg)
{
    *reader = (struct packet_reader){.events = events, .arg = arg};
}

static void drop(struct packet_reader *reader, unsigned slot)
{
    if (reader->streams[slot])
        buf_clear(&reader->streams[slot]->text);
    mem_free(reader->streams[slot]);
    reader->streams[slot] = NULL;
}

void packet_reader_clear(struct packet_reader *reader)
{
    for (unsigned i = 0; i < PACKET_STREAMS; i++)
        drop(reader, i);
}

/* False when it does not fit or is no UTF-8: then it is no name of ours. */
static bool copy_name(char to[PACKET_NAME_SIZE], const char *from)
{
    size_t len = strlen(from);
    if (len >= PACKET_NAME_SIZE || !utf8_is_valid(from, len))
        return false;
    memcpy(to, from, len + 1);
    return true;
}

static void read_attributes(struct text_in *stream, Lk__Pair *const *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(pairs[i]->key, "lk.segment_id") == 0)
            (void)copy_name(stream->segment_id, pairs[i]->value);
        else if (strcmp(pairs[i]->key, "lk.transcription_final") == 0)
            stream->is_final = strcmp(pairs[i]->value, "true") == 0;
    }
}

static unsigned find(const struct packet_reader *reader, const char *id)
{
    unsigned slot = 0;
    while (slot < PACKET_STREAMS &&
           (!reader->streams[slot] || strcmp(reader->streams[slot]->id, id) != 0))
        slot++;
    return slot;
}

static unsigned free_slot(struct packet_reader *reader)
{
    for (unsigned i = 0; i < PACKET_STREAMS; i++) {
        if (!reader->streams[i])
            return i;
    }
    unsigned slot = reader->oldest;
    reader->oldest = (slot + 1) % PACKET_STREAMS;
    drop(reader, slot);
    return slot;
}

static void add_text(struct packet_reader *reader, struct text_in *stream,
                     const ProtobufCBinaryData *content)
{
    if (stream->is_over_limit || buf_append(&stream->text, content->data, content->len) != OK) {
        stream->is_over_limit = true;
        return;
    }
    reader->events->on_text(reader->arg, stream, (const char *)content->data, content->len, false);
}

static void finish(struct packet_reader *reader, unsigned slot)
{
    struct text_in *stream = reader->streams[slot];
    reader->streams[slot] = NULL;
    if (!stream->is_over_limit && utf8_is_valid(stream->text.data, stream->text.len))
        reader->events->on_text(reader->arg, stream, "", 0, true);
    buf_clear(&stream->text);
    mem_free(stream);
}

static void on_header(struct packet_reader *reader, const Lk__DataPacket *packet)
{
    const Lk__StreamHeader *header = packet->stream_header;
    bool is_text = header->content_header_case == LK__STREAM_HEADER__CONTENT_HEADER_TEXT_HEADER;
    if (!is_text || header->compression != COMPRESSION_NONE)
        return;
    unsigned slot = find(reader, header->stream_id);
    if (slot == PACKET_STREAMS)
        slot = free_slot(reader);
    drop(reader, slot);
    struct text_in *stream = mem_new(struct text_in);
    buf_init(&stream->text, PACKET_TEXT_MAX_BYTES);
    reader->streams[slot] = stream;
    if (!copy_name(stream->id, header->stream_id) || !copy_name(stream->topic, header->topic) ||
        !copy_name(stream->sender, packet->participant_identity)) {
        drop(reader, slot);
        return;
    }
    read_attributes(stream, header->attributes, header->n_attributes);
    if (header->inline_content.len) {
        add_text(reader, stream, &header->inline_content);
        finish(reader, slot);
    }
}

static void on_chunk(struct packet_reader *reader, const Lk__StreamChunk *chunk)
{
    unsigned slot = find(reader, chunk->stream_id);
    if (slot == PACKET_STREAMS)
        return;
    struct text_in *stream = reader->streams[slot];
    if (chunk->chunk_index != stream->next_chunk++)
        stream->is_over_limit = true; /* a hole: the text cannot be right */
    if (chunk->content.len)
        add_text(reader, stream, &chunk->content);
}

static void on_trailer(struct packet_reader *reader, const Lk__StreamTrailer *trailer)
{
    unsigned slot = find(reader, trailer->stream_id);
    if (slot == PACKET_STREAMS)
        return;
    struct text_in *stream = reader->streams[slot];
    read_attributes(stream, trailer->attributes, trailer->n_attributes);
    if (trailer->reason[0])
        stream->is_over_limit = true; /* the sender gave it up */
    finish(reader, slot);
}

static void chat(struct packet_reader *reader, const char *text)
{
    size_t len = text ? strlen(text) : 0;
    if (len > 0 && len <= PACKET_TEXT_MAX_BYTES && utf8_is_valid(text, len))
        reader->events->on_chat(reader->arg, text);
}

/* components send it beside the text stream, marked then with ignoreLegacy. */
static void on_user(struct packet_reader *reader, const Lk__UserPacket *user)
{
    if (strcmp(user->topic, "lk-chat-topic") != 0)
        return;
    struct js *parsed = NULL;
    if (js_parse((const char *)user->payload.data, user->payload.len, JSON_DEPTH, &parsed, NULL) !=
        OK)
        return;
    AUTO(js) json = parsed;
    if (!js_bool(js_get(json, "ignoreLegacy"), false))
        chat(reader, js_text(js_get(json, "message")));
}

static void send_answer(const struct packet_sender *sender, Lk__DataPacket *packet)
{
    uint8_t bytes[1024];
    packet->participant_identity = (char *)(uintptr_t)sender->identity;
    packet->participant_sid = (char *)(uintptr_t)sender->sid;
    size_t len = lk__data_packet__get_packed_size(packet);
    if (len > sizeof(bytes))
        return;
    lk__data_packet__pack(packet, bytes);
    sender->send(sender->arg, bytes, len);
}

static void on_rpc(const struct packet_sender *sender, const Lk__RpcRequest *request)
{
    static char message[] = "Method not supported at destination";
    Lk__RpcAck ack = LK__RPC_ACK__INIT;
    Lk__DataPacket ack_packet = LK__DATA_PACKET__INIT;
    ack.request_id = request->id;
    ack_packet.value_case = LK__DATA_PACKET__VALUE_RPC_ACK;
    ack_packet.rpc_ack = &ack;
    send_answer(sender, &ack_packet);

    Lk__RpcError error = LK__RPC_ERROR__INIT;
    Lk__RpcResponse response = LK__RPC_RESPONSE__INIT;
    Lk__DataPacket packet = LK__DATA_PACKET__INIT;
    error.code = RPC_UNSUPPORTED_METHOD;
    error.message = message;
    response.request_id = request->id;
    response.value_case = LK__RPC_RESPONSE__VALUE_ERROR;
    response.error = &error;
    packet.value_case = LK__DATA_PACKET__VALUE_RPC_RESPONSE;
    packet.rpc_response = &response;
    send_answer(sender, &packet);
}

/* False: it came before (a client that resumes sends again what it does not know to have come). */
static bool is_new(struct packet_reader *reader, const Lk__DataPacket *packet)
{
    if (!reader->is_one_sender || packet->sequence == 0 || packet->kind != KIND_RELIABLE)
        return true;
    if (packet->sequence <= reader->last_sequence)
        return false;
    reader->last_sequence = packet->sequence;
    return true;
}

static void dispatch(struct packet_reader *reader, const Lk__DataPacket *data,
                     const struct packet_sender *answer)
{
    switch (data->value_case) {
    case LK__DATA_PACKET__VALUE_STREAM_HEADER:
        on_header(reader, data);
        break;
    case LK__DATA_PACKET__VALUE_STREAM_CHUNK:
        on_chunk(reader, data->stream_chunk);
        break;
    case LK__DATA_PACKET__VALUE_STREAM_TRAILER:
        on_trailer(reader, data->stream_trailer);
        break;
    case LK__DATA_PACKET__VALUE_USER:
        on_user(reader, data->user);
        break;
    case LK__DATA_PACKET__VALUE_CHAT_MESSAGE:
        chat(reader, data->chat_message->message);
        break;
    case LK__DATA_PACKET__VALUE_RPC_REQUEST:
        on_rpc(answer, data->rpc_request);
        break;
    default:
        break;
    }
}

enum err packet_read(struct packet_reader *reader, const uint8_t *packet, size_t len,
                     const struct packet_sender *answer)
{
    Lk__DataPacket *data = unpack_message(&lk__data_packet__descriptor, packet, len);
    if (!data)
        return ERR_INVALID;
    if (is_new(reader, data))
        dispatch(reader, data, answer);
    lk__data_packet__free_unpacked(data, NULL);
    return OK;
}
