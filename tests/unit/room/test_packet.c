#include "room/packet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "room/livekit.pb-c.h"
#include "test.h"

enum { PACKETS = 64 };

/* What one side sent, and what the other made of it. */
struct wire {
    struct packet_reader reader;
    struct packet_sender sender;
    uint8_t *packets[PACKETS];
    size_t lens[PACKETS];
    unsigned count;
    unsigned ends, parts, chats;
    char topic[PACKET_NAME_SIZE], segment[PACKET_NAME_SIZE], sender_identity[PACKET_NAME_SIZE];
    bool is_final;
    char *text;
    char chat[64];
};

static void keep(void *arg, const uint8_t *packet, size_t len)
{
    struct wire *wire = arg;
    if (wire->count == PACKETS)
        return;
    wire->packets[wire->count] = malloc(len ? len : 1);
    memcpy(wire->packets[wire->count], packet, len);
    wire->lens[wire->count++] = len;
}

static void on_text(void *arg, const struct text_in *stream, const char *added, size_t len,
                    bool is_end)
{
    struct wire *wire = arg;
    (void)added;
    wire->parts += len > 0;
    if (!is_end)
        return;
    wire->ends++;
    wire->is_final = stream->is_final;
    snprintf(wire->topic, sizeof(wire->topic), "%s", stream->topic);
    snprintf(wire->segment, sizeof(wire->segment), "%s", stream->segment_id);
    snprintf(wire->sender_identity, sizeof(wire->sender_identity), "%s", stream->sender);
    free(wire->text);
    wire->text = strdup(stream->text.data ? stream->text.data : "");
}

static void on_chat(void *arg, const char *text)
{
    struct wire *wire = arg;
    wire->chats++;
    snprintf(wire->chat, sizeof(wire->chat), "%s", text);
}

static const struct packet_events events = {.on_text = on_text, .on_chat = on_chat};

static void wire_init(struct wire *wire)
{
    memset(wire, 0, sizeof(*wire));
    packet_reader_init(&wire->reader, &events, wire);
    wire->sender = (struct packet_sender){"agent-1", "PA_agent", keep, wire};
}

static void forget(struct wire *wire)
{
    while (wire->count > 0)
        free(wire->packets[--wire->count]);
}

static void wire_clear(struct wire *wire)
{
    forget(wire);
    packet_reader_clear(&wire->reader);
    free(wire->text);
}

static void deliver(struct wire *wire, unsigned index)
{
    CHECK_INT(packet_read(&wire->reader, wire->packets[index], wire->lens[index], &wire->sender),
              OK);
}

static void deliver_all(struct wire *wire)
{
    for (unsigned i = 0; i < wire->count; i++)
        deliver(wire, i);
    forget(wire);
}

static void send_text(struct wire *wire, struct text_out *stream, const char *text)
{
    static const struct packet_attribute attributes[] = {{"lk.segment_id", "SG_1"},
                                                         {"lk.transcription_final", "false"}};
    static const struct packet_attribute final = {"lk.transcription_final", "true"};
    text_out_open(stream, &wire->sender, TOPIC_TRANSCRIPTION, attributes, 2);
    text_out_write(stream, &wire->sender, text, strlen(text));
    text_out_close(stream, &wire->sender, &final, 1);
}

TEST(packet_text_stream_arrives_with_its_attributes)
{
    struct wire wire;
    struct text_out stream;
    wire_init(&wire);
    send_text(&wire, &stream, "Good day. ₹");
    CHECK_INT(wire.count, 3);
    deliver_all(&wire);
    CHECK_INT(wire.ends, 1);
    CHECK_TEXT(wire.text, "Good day. ₹");
    CHECK_TEXT(wire.topic, TOPIC_TRANSCRIPTION);
    CHECK_TEXT(wire.segment, "SG_1");
    CHECK_TEXT(wire.sender_identity, "agent-1");
    CHECK(wire.is_final); /* the trailer's */
    wire_clear(&wire);
}

TEST(packet_long_text_is_cut_between_characters)
{
    struct wire wire;
    struct text_out stream;
    char text[40001];
    wire_init(&wire);
    for (size_t i = 0; i + 3 <= 40000; i += 3)
        memcpy(text + i, "न", 3);
    text[39999] = 0;
    send_text(&wire, &stream, text);
    CHECK_INT(wire.count, 2 + 3);
    for (unsigned i = 1; i + 1 < wire.count; i++) {
        Lk__DataPacket *packet = lk__data_packet__unpack(NULL, wire.lens[i], wire.packets[i]);
        CHECK(packet && packet->stream_chunk->content.len % 3 == 0);
        CHECK(packet && packet->stream_chunk->content.len <= PACKET_CHUNK_BYTES);
        lk__data_packet__free_unpacked(packet, NULL);
    }
    deliver_all(&wire);
    CHECK_TEXT(wire.text, text);
    wire_clear(&wire);
}

TEST(packet_stream_with_a_hole_or_too_much_text_is_dropped)
{
    static char big[PACKET_TEXT_MAX_BYTES + 2];
    struct wire wire;
    struct text_out stream;
    wire_init(&wire);
    memset(big, 'x', sizeof(big) - 1);
    send_text(&wire, &stream, big);
    deliver_all(&wire);
    CHECK_INT(wire.ends, 0);
    big[40000] = 0;
    send_text(&wire, &stream, big);
    for (unsigned i = 0; i < wire.count; i++) {
        if (i != 2)
            deliver(&wire, i);
    }
    CHECK_INT(wire.ends, 0);
    forget(&wire);
    send_text(&wire, &stream, "after");
    deliver_all(&wire);
    CHECK_INT(wire.ends, 1);
    wire_clear(&wire);
}

TEST(packet_oldest_stream_gives_way)
{
    struct wire wire;
    struct text_out streams[PACKET_STREAMS + 1];
    wire_init(&wire);
    for (unsigned i = 0; i <= PACKET_STREAMS; i++)
        text_out_open(&streams[i], &wire.sender, TOPIC_CHAT, NULL, 0);
    deliver_all(&wire);
    for (unsigned i = 0; i <= PACKET_STREAMS; i++) {
        text_out_write(&streams[i], &wire.sender, "x", 1);
        text_out_close(&streams[i], &wire.sender, NULL, 0);
    }
    deliver_all(&wire);
    CHECK_INT(wire.ends, PACKET_STREAMS);
    wire_clear(&wire);
}

static void pack_and_deliver(struct wire *wire, Lk__DataPacket *packet)
{
    uint8_t bytes[1024];
    size_t len = lk__data_packet__pack(packet, bytes);
    CHECK_INT(packet_read(&wire->reader, bytes, len, &wire->sender), OK);
}

TEST(packet_older_chats_are_understood)
{
    static const struct {
        const char *json;
        unsigned chats;
    } rows[] = {
        {"{\"id\":\"1\",\"message\":\"hi\"}", 1},
        {"{\"message\":\"hi\",\"ignoreLegacy\":true}", 0},
        {"{\"message\":5}", 0},
        {"broken", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct wire wire;
        char topic[] = "lk-chat-topic";
        Lk__UserPacket user = LK__USER_PACKET__INIT;
        Lk__DataPacket packet = LK__DATA_PACKET__INIT;
        wire_init(&wire);
        user.topic = topic;
        user.payload.data = (uint8_t *)(uintptr_t)rows[i].json;
        user.payload.len = strlen(rows[i].json);
        packet.value_case = LK__DATA_PACKET__VALUE_USER;
        packet.user = &user;
        pack_and_deliver(&wire, &packet);
        CHECK_INT(wire.chats, rows[i].chats);
        wire_clear(&wire);
    }
}

TEST(packet_that_comes_again_is_dropped)
{
    for (int is_one_sender = 0; is_one_sender <= 1; is_one_sender++) {
        struct wire wire;
        char message[] = "hi";
        Lk__ChatMessage chat = LK__CHAT_MESSAGE__INIT;
        Lk__DataPacket packet = LK__DATA_PACKET__INIT;
        wire_init(&wire);
        wire.reader.is_one_sender = is_one_sender;
        chat.message = message;
        packet.value_case = LK__DATA_PACKET__VALUE_CHAT_MESSAGE;
        packet.chat_message = &chat;
        static const uint32_t sequences[] = {1, 2, 2, 1, 3, 0, 0};
        for (size_t i = 0; i < ARRAY_LEN(sequences); i++) {
            packet.sequence = sequences[i];
            pack_and_deliver(&wire, &packet);
        }
        CHECK_INT(wire.chats, is_one_sender ? 5 : 7);
        wire_clear(&wire);
    }
}

TEST(packet_rpc_is_answered_with_unsupported_method)
{
    struct wire wire;
    char id[] = "req-1", method[] = "dance";
    Lk__RpcRequest request = LK__RPC_REQUEST__INIT;
    Lk__DataPacket packet = LK__DATA_PACKET__INIT;
    wire_init(&wire);
    request.id = id;
    request.method = method;
    packet.value_case = LK__DATA_PACKET__VALUE_RPC_REQUEST;
    packet.rpc_request = &request;
    pack_and_deliver(&wire, &packet);
    REQUIRE(wire.count == 2);
    Lk__DataPacket *ack = lk__data_packet__unpack(NULL, wire.lens[0], wire.packets[0]);
    Lk__DataPacket *answer = lk__data_packet__unpack(NULL, wire.lens[1], wire.packets[1]);
    CHECK_TEXT(ack->rpc_ack->request_id, "req-1");
    CHECK_INT(answer->rpc_response->error->code, 1400);
    CHECK_TEXT(answer->participant_identity, "agent-1");
    lk__data_packet__free_unpacked(ack, NULL);
    lk__data_packet__free_unpacked(answer, NULL);
    wire_clear(&wire);
}

TEST(packet_transcription_has_its_segment)
{
    struct wire wire;
    struct packet_segment segment = {"caller-1", "TR_1", "SG_1", "text", NULL, true};
    wire_init(&wire);
    packet_send_transcription(&wire.sender, &segment);
    REQUIRE(wire.count == 1);
    Lk__DataPacket *packet = lk__data_packet__unpack(NULL, wire.lens[0], wire.packets[0]);
    CHECK_TEXT(packet->transcription->transcribed_participant_identity, "caller-1");
    CHECK_TEXT(packet->transcription->track_id, "TR_1");
    CHECK_TEXT(packet->transcription->segments[0]->text, "text");
    CHECK(packet->transcription->segments[0]->final);
    lk__data_packet__free_unpacked(packet, NULL);
    wire_clear(&wire);
}

TEST(packet_garbage_is_refused)
{
    struct wire wire;
    wire_init(&wire);
    CHECK_INT(packet_read(&wire.reader, (const uint8_t *)"\xff\xff\xff", 3, &wire.sender),
              ERR_INVALID);
    CHECK_INT(packet_read(&wire.reader, (const uint8_t *)"", 0, &wire.sender), OK);
    wire_clear(&wire);
}
