/* Data packets of a caller: streams of text, chat in its older forms, RPC. The input is a row of
 * packets, each two bytes of length and its bytes. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "base/utf8.h"
#include "room/packet.h"

static void on_text(void *arg, const struct text_in *stream, const char *added, size_t len,
                    bool is_end)
{
    (void)arg;
    (void)added;
    assert(stream->text.len <= PACKET_TEXT_MAX_BYTES && len <= stream->text.len);
    assert(!is_end || utf8_is_valid(stream->text.data, stream->text.len));
}

static void on_chat(void *arg, const char *text)
{
    (void)arg;
    assert(utf8_is_valid(text, strlen(text)));
}

static void send_packet(void *arg, const uint8_t *packet, size_t len)
{
    (void)arg;
    assert(packet && len <= PACKET_MAX_BYTES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct packet_events events = {.on_text = on_text, .on_chat = on_chat};
    struct packet_reader reader;
    struct packet_sender answer = {"agent", "PA_agent", send_packet, NULL};
    packet_reader_init(&reader, &events, NULL);
    while (size > 2) {
        size_t len = (size_t)data[0] << 8 | data[1];
        len = len < size - 2 ? len : size - 2;
        (void)!packet_read(&reader, data + 2, len, &answer);
        data += len + 2;
        size -= len + 2;
    }
    packet_reader_clear(&reader);
    return 0;
}
