/* DCEP and messages behind an open association: the input is a row of messages, each stream, kind,
 * length and bytes, sent by a peer that knows no rules. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "rtc/data.h"
#include "rtc/sctp.h"

enum { PORT = 5000, MTU = 1200, ROUNDS = 64 };

static int64_t now_us;

static void exchange(struct sctp *peer, struct data *data)
{
    uint8_t packet[MTU];
    size_t len;
    for (int i = 0; i < ROUNDS && (len = sctp_output(peer, packet, sizeof(packet), now_us)); i++)
        data_input(data, packet, len, now_us);
    for (int i = 0; i < ROUNDS && (len = data_output(data, packet, sizeof(packet), now_us)); i++)
        sctp_input(peer, packet, len, now_us);
    struct data_event event;
    while (data_event(data, &event)) {
        assert(event.channel.id < DATA_CHANNELS);
        assert(strlen(event.channel.label) < DATA_LABEL_SIZE);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const uint32_t ppids[] = {50, 51, 53, 56, 57, 0};
    struct sctp *peer = sctp_new(&(struct sctp_config){.port = PORT});
    struct data *data = data_new(&(struct data_config){0});
    now_us = 1000000;
    sctp_connect(peer, now_us);
    for (int i = 0; i < 3; i++)
        exchange(peer, data);
    while (size > 3) {
        size_t len = bytes[2] < size - 3 ? bytes[2] : size - 3;
        struct sctp_send how = {.stream = bytes[0] % 16, .ppid = ppids[bytes[1] % 6]};
        if (bytes[1] & 0x80)
            sctp_reset_stream(peer, how.stream);
        else
            (void)!sctp_send(peer, &how, bytes + 3, len);
        exchange(peer, data);
        now_us += 50000;
        bytes += len + 3;
        size -= len + 3;
    }
    sctp_free(peer);
    data_free(data);
    return 0;
}
