/* SCTP behind an open association: the input is a row of packets, each a length byte and its
 * chunks; port, tag and checksum are put right, so that what is wrong with them is not all that is
 * tried. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "rtc/sctp.h"
#include "rtc/sctp_wire.h"

enum { PORT = 5000, TAG = 0x11111111, MTU = 1200, ROUNDS = 64 };

static int64_t now_us;

static void carry(struct sctp *from, struct sctp *to)
{
    uint8_t packet[MTU];
    size_t len;
    for (int i = 0; i < ROUNDS && (len = sctp_output(from, packet, sizeof(packet), now_us)); i++)
        sctp_input(to, packet, len, now_us);
}

static void drain(struct sctp *sctp)
{
    struct sctp_event event;
    uint8_t packet[MTU];
    while (sctp_event(sctp, &event))
        assert(event.type != SCTP_EVENT_MESSAGE || event.len <= SCTP_MESSAGE_MAX_BYTES);
    for (int i = 0; i < ROUNDS && sctp_output(sctp, packet, sizeof(packet), now_us); i++)
        ;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sctp *peer = sctp_new(&(struct sctp_config){.port = PORT, .tag = 7, .tsn = 100});
    struct sctp *sctp = sctp_new(&(struct sctp_config){.port = PORT, .tag = TAG, .tsn = 1000});
    now_us = 1000000;
    sctp_connect(peer, now_us);
    for (int i = 0; i < 4; i++) {
        carry(peer, sctp);
        carry(sctp, peer);
    }
    assert(sctp_is_open(sctp));
    static const uint8_t text[3000];
    (void)!sctp_send(sctp, &(struct sctp_send){.stream = 1}, text, sizeof(text));
    while (size > 1) {
        uint8_t packet[SCTP_HEADER_BYTES + 255];
        size_t len = data[0] < size - 1 ? data[0] : size - 1;
        struct sctp_packet out;
        sctp_packet_begin(&out, packet, sizeof(packet), PORT, TAG);
        memcpy(packet + out.len, data + 1, len);
        out.len += len;
        sctp_packet_end(&out);
        sctp_input(sctp, packet, out.len, now_us);
        drain(sctp);
        now_us += 100000;
        data += len + 1;
        size -= len + 1;
    }
    sctp_free(peer);
    sctp_free(sctp);
    return 0;
}
