#include "room/leg.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "rtc/peer.h"

enum err leg_open(struct leg *leg, struct port *port, const struct port_peer_config *config)
{
    enum err err = port_peer_new(port, config, &leg->peer);
    if (err)
        return err;
    bool is_lite = config->role == PEER_LITE;
    /* Who checks needs no candidates of its own: the lite side answers to where checks come from.
     */
    leg->own = negotiate_own(leg->peer, is_lite ? port : NULL, is_lite);
    return OK;
}

void leg_close(struct leg *leg, struct port *port)
{
    if (leg->peer)
        port_peer_free(port, leg->peer);
    leg->peer = NULL;
}

enum err leg_set_remote(struct leg *leg, const struct sdp *remote, int64_t now_us,
                        struct fault *fault)
{
    const struct sdp_transport *theirs;
    enum err err = sdp_bundle_transport(remote, &theirs, fault);
    if (err)
        return err;
    struct peer_remote peer_remote = {theirs->ufrag, theirs->pwd, {0}, leg->result.is_dtls_client};
    memcpy(peer_remote.fingerprint, theirs->fingerprint, sizeof(peer_remote.fingerprint));
    err = peer_set_remote(leg->peer, &peer_remote, now_us);
    if (err)
        return fault_set(fault, err, "description does not fit the session");
    leg->has_remote = true;
    peer_set_level_extension(leg->peer, leg->result.level_extension);
    if (leg->result.has_data)
        peer_enable_data(leg->peer, leg->result.sctp_port, now_us);
    return OK;
}

/* "1 1 udp 2130706431 192.0.2.2 7882 typ host" */
void leg_add_candidate(struct leg *leg, const char *line)
{
    char protocol[8], ip[NET_IP_SIZE];
    unsigned component, priority, port;
    struct net_addr addr;
    if (sscanf(line, "%*32s %u %7s %u %45s %u", &component, protocol, &priority, ip, &port) != 5 ||
        component != 1 || strcasecmp(protocol, "udp") != 0 || port == 0 || port > UINT16_MAX ||
        net_ip_parse(ip, &addr) != OK)
        return;
    addr.port = (uint16_t)port;
    if (peer_add_remote_candidate(leg->peer, &addr, priority) != OK)
        log_debug("room.candidate_skipped", LOG_S("candidate", line));
}

void leg_open_channels(struct leg *leg)
{
    uint16_t channel;
    struct data *data = peer_data(leg->peer);
    if (data && (data_open(data, CHANNEL_RELIABLE, true, -1, &channel) != OK ||
                 data_open(data, CHANNEL_LOSSY, false, 0, &channel) != OK))
        log_debug("room.channels_not_opened", LOG_S("ufrag", peer_ufrag(leg->peer)));
}

enum err leg_send(struct leg *leg, const uint8_t *packet, size_t len)
{
    uint16_t channel;
    struct data *data = leg->peer ? peer_data(leg->peer) : NULL;
    if (!data || data_find(data, CHANNEL_RELIABLE, &channel) != OK)
        return ERR_CONFLICT;
    return data_send(data, channel, packet, len, true);
}
