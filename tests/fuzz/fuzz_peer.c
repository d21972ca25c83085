/* Datagrams on the validated path of a peer that waits for its handshake: two bytes of length
 * before each one. Reaches the demultiplexer, OpenSSL's record layer and the refusals before the
 * keys. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "base/attr.h"
#include "rtc/demux.h"
#include "rtc/ice.h"
#include "rtc/peer.h"
#include "rtc/stun.h"

enum { NOW_US = 1000000 };

static struct dtls_identity *identity;

static void feed(struct peer *peer, const struct net_addr *local, const struct net_addr *from,
                 uint8_t *data, size_t len, int64_t now_us)
{
    struct demux_packet packet;
    struct ice_path path = {*local, *from};
    demux_read(data, len, &packet);
    peer_input(peer, &path, &packet, now_us);
}

static void validate_path(struct peer *peer, const struct net_addr *local,
                          const struct net_addr *from)
{
    uint8_t check[128];
    struct stun_writer writer;
    stun_begin(&writer, check, sizeof(check), STUN_BINDING_REQUEST,
               (const uint8_t *)"123456789012");
    stun_put_username(&writer, peer_ufrag(peer), "peer");
    stun_put_role(&writer, true, 1);
    size_t len = stun_finish(&writer, peer_pwd(peer));
    feed(peer, local, from, check, len, NOW_US);
    assert(peer_has_path(peer, local, from));
}

static void turn(struct peer *peer, int64_t now_us)
{
    struct peer_datagram out;
    struct peer_event event;
    while (peer_output(peer, &out, now_us))
        assert(out.len <= PEER_MTU_BYTES + 300 && out.data);
    while (peer_event(peer, &event))
        assert(event.type != PEER_EVENT_CONNECTED && event.type != PEER_EVENT_AUDIO);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!identity && dtls_identity_new(&identity, NULL))
        return 0;
    struct peer_config config = {.role = PEER_LITE, .identity = identity, .ufrag = "00000aaaa"};
    AUTO(peer) peer = peer_new(&config, NOW_US);
    struct net_addr local = net_addr_ipv4(10, 0, 0, 1, 1), from = net_addr_ipv4(10, 0, 0, 2, 2);
    validate_path(peer, &local, &from);
    size_t at = 0;
    for (int64_t now_us = NOW_US; at + 2 <= size; now_us += 1000) {
        size_t len = MIN((size_t)(data[at] << 8 | data[at + 1]), size - at - 2);
        uint8_t datagram[1500];
        len = MIN(len, sizeof(datagram));
        memcpy(datagram, data + at + 2, len);
        at += 2 + len;
        feed(peer, &local, &from, datagram, len, now_us);
        turn(peer, now_us);
    }
    return 0;
}
