/* One WebRTC transport, see peer.h. */
#include "rtc/peer.h"

#include <string.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "rtc/budget.h"
#include "rtc/demux.h"
#include "rtc/ice_client.h"
#include "rtc/ice_lite.h"
#include "rtc/rtp_media.h"

enum {
    SILENCE_US = 10000000,   /* architecture, Network */
    HANDSHAKE_US = 30000000, /* RFC 8445 allows checks about so long */
    DTLS_OVERHEAD_BYTES = 40,
    SCRATCH_BYTES = 1500,
    EVENTS = 8 /* each kind comes at most once between two rounds */
};

struct peer {
    enum peer_role role;
    struct dtls_identity *identity;
    int64_t silence_limit_us, handshake_limit_us;

    struct ice_credentials credentials;
    union {
        struct ice_lite lite;
        struct ice_client client;
    } ice;
    bool has_remote, is_dtls_client;
    uint8_t remote_fingerprint[DTLS_FINGERPRINT_BYTES];

    struct dtls *dtls; /* NULL: not begun */
    struct data *data; /* NULL: not enabled */
    struct rtp_media media;

    bool is_connected, is_silent, is_over; /* over: CLOSED or FAILED was told */
    struct budget budget;
    bool has_heard, is_flooded;
    int64_t give_up_us; /* CONNECTED must have come by then; INT64_MAX: not begun */
    int64_t last_packet_us;
    uint64_t refused;

    enum peer_event_type events[EVENTS];
    unsigned event_first, event_count;
    bool has_audio;
    struct peer_audio audio;
    const char *reason;
    uint8_t scratch[SCRATCH_BYTES];
};

struct peer *peer_new(const struct peer_config *config, int64_t now_us)
{
    (void)now_us;
    struct peer *peer = mem_new(struct peer);
    peer->role = config->role;
    peer->identity = config->identity;
    peer->silence_limit_us = config->silence_limit_us ? config->silence_limit_us : SILENCE_US;
    peer->handshake_limit_us =
        config->handshake_limit_us ? config->handshake_limit_us : HANDSHAKE_US;
    peer->give_up_us = INT64_MAX;
    peer->reason = "";
    ice_credentials_init(&peer->credentials, config->ufrag);
    if (peer->role == PEER_LITE)
        ice_lite_init(&peer->ice.lite, &peer->credentials);
    else
        ice_client_init(&peer->ice.client, &peer->credentials);
    rtp_media_init(&peer->media);
    return peer;
}

void peer_free(struct peer *peer)
{
    if (!peer)
        return;
    rtp_media_clear(&peer->media);
    data_free(peer->data);
    dtls_free(peer->dtls);
    mem_free(peer);
}

/* What others want to know. */

const char *peer_ufrag(const struct peer *peer)
{
    return peer->credentials.local_ufrag;
}

const char *peer_pwd(const struct peer *peer)
{
    return peer->credentials.local_pwd;
}

const uint8_t *peer_fingerprint(const struct peer *peer)
{
    return dtls_identity_fingerprint(peer->identity);
}

uint32_t peer_ssrc(const struct peer *peer)
{
    return peer->media.outgoing.ssrc;
}

struct data *peer_data(struct peer *peer)
{
    return peer->data;
}

bool peer_is_connected(const struct peer *peer)
{
    return peer->is_connected && !peer->is_over;
}

bool peer_is_silent(const struct peer *peer)
{
    return peer->is_silent;
}

void peer_set_level_extension(struct peer *peer, uint8_t id)
{
    peer->media.level_extension = id;
}

void peer_stats(const struct peer *peer, struct peer_stats *out)
{
    memset(out, 0, sizeof(*out));
    rtp_media_stats(&peer->media, out);
    out->packets_refused = peer->refused;
    out->packets_dropped = peer->budget.all_dropped;
    out->last_packet_us = peer->last_packet_us;
}

/* Events. */

static void tell(struct peer *peer, enum peer_event_type type)
{
    if (peer->event_count < EVENTS)
        peer->events[(peer->event_first + peer->event_count++) % EVENTS] = type;
}

static void end(struct peer *peer, enum peer_event_type how, const char *reason)
{
    if (peer->is_over)
        return;
    peer->is_over = true;
    peer->give_up_us = INT64_MAX;
    peer->reason = reason;
    rtp_media_stop(&peer->media, false);
    tell(peer, how);
}

static void fail(struct peer *peer, const char *reason)
{
    end(peer, PEER_EVENT_FAILED, reason);
}

static void heard(struct peer *peer, int64_t now_us)
{
    peer->last_packet_us = now_us;
    peer->has_heard = true;
    if (!peer->is_silent)
        return;
    peer->is_silent = false;
    tell(peer, PEER_EVENT_BACK);
}

bool peer_event(struct peer *peer, struct peer_event *out)
{
    memset(out, 0, sizeof(*out));
    if (peer->event_count) {
        out->type = peer->events[peer->event_first];
        out->reason = peer->reason;
        peer->event_first = (peer->event_first + 1) % EVENTS;
        peer->event_count--;
        return true;
    }
    if (peer->has_audio) {
        out->type = PEER_EVENT_AUDIO;
        out->audio = peer->audio;
        peer->has_audio = false;
        return true;
    }
    out->type = PEER_EVENT_DATA;
    return peer->data && data_event(peer->data, &out->data);
}

/* Paths. */

bool peer_has_path(const struct peer *peer, const struct net_addr *local,
                   const struct net_addr *from)
{
    if (peer->role == PEER_CONTROLLING)
        return ice_client_has_path(&peer->ice.client, from);
    return ice_lite_has_path(&peer->ice.lite, &(struct ice_path){.local = *local, .remote = *from});
}

static bool selected_path(const struct peer *peer, struct ice_path *out)
{
    if (peer->role == PEER_LITE) {
        const struct ice_path *path = ice_lite_selected(&peer->ice.lite);
        if (path)
            *out = *path;
        return path != NULL;
    }
    const struct net_addr *remote = ice_client_path(&peer->ice.client);
    if (remote)
        *out = (struct ice_path){.remote = *remote};
    return remote != NULL;
}

/* From ICE to keys. */

static void start_dtls(struct peer *peer, bool is_client, int64_t now_us)
{
    peer->dtls = dtls_new(peer->identity, is_client);
    dtls_start(peer->dtls, now_us);
    if (peer->give_up_us == INT64_MAX)
        peer->give_up_us = now_us + peer->handshake_limit_us;
}

static void connect_up(struct peer *peer, int64_t now_us)
{
    uint8_t fingerprint[DTLS_FINGERPRINT_BYTES];
    struct dtls_keys keys;
    if (dtls_peer_fingerprint(peer->dtls, fingerprint) ||
        !crypto_equal(fingerprint, peer->remote_fingerprint, sizeof(fingerprint))) {
        fail(peer, "the certificate is not the one that signalling announced");
        return;
    }
    if (dtls_keys(peer->dtls, &keys) || rtp_media_start(&peer->media, &keys, now_us)) {
        fail(peer, "no SRTP profile in common");
        return;
    }
    peer->is_connected = true;
    peer->give_up_us = INT64_MAX;
    tell(peer, PEER_EVENT_CONNECTED);
    if (peer->data)
        data_start(peer->data, now_us);
}

/* Does what has become possible since the last step. */
static void advance(struct peer *peer, int64_t now_us)
{
    struct ice_path path;
    if (peer->is_over)
        return;
    if (!peer->dtls && peer->has_remote && peer->is_dtls_client && selected_path(peer, &path))
        start_dtls(peer, true, now_us);
    if (!peer->dtls)
        return;
    enum dtls_state state = dtls_state(peer->dtls);
    if (state == DTLS_UP && !peer->is_connected && peer->has_remote) {
        connect_up(peer, now_us);
    } else if (state == DTLS_FAILED) {
        fail(peer, dtls_reason(peer->dtls));
    } else if (state == DTLS_CLOSED) {
        end(peer, PEER_EVENT_CLOSED, "");
    }
}

enum err peer_set_remote(struct peer *peer, const struct peer_remote *remote, int64_t now_us)
{
    bool is_other = peer->has_remote && memcmp(peer->remote_fingerprint, remote->fingerprint,
                                               DTLS_FINGERPRINT_BYTES) != 0;
    if (is_other || (peer->dtls && dtls_is_client(peer->dtls) != remote->is_dtls_client))
        return ERR_CONFLICT;
    bool is_restart = strcmp(peer->credentials.remote_ufrag, remote->ufrag) != 0;
    enum err err = ice_credentials_set_remote(&peer->credentials, remote->ufrag, remote->pwd);
    if (err)
        return err;
    if (is_restart && peer->role == PEER_CONTROLLING)
        ice_client_restart(&peer->ice.client);
    memcpy(peer->remote_fingerprint, remote->fingerprint, DTLS_FINGERPRINT_BYTES);
    peer->is_dtls_client = remote->is_dtls_client;
    peer->has_remote = true;
    if (peer->role == PEER_CONTROLLING && !peer->is_connected)
        peer->give_up_us = now_us + peer->handshake_limit_us;
    advance(peer, now_us);
    return OK;
}

enum err peer_add_remote_candidate(struct peer *peer, const struct net_addr *addr,
                                   uint32_t priority)
{
    if (peer->role != PEER_CONTROLLING)
        return OK; /* lite answers, it does not ask */
    return ice_client_add(&peer->ice.client, addr, priority);
}

void peer_enable_data(struct peer *peer, uint16_t sctp_port, int64_t now_us)
{
    if (peer->data)
        return;
    struct data_config config = {
        .is_dtls_client = peer->is_dtls_client,
        .sctp_port = sctp_port,
        .mtu_bytes = PEER_MTU_BYTES - DTLS_OVERHEAD_BYTES,
    };
    peer->data = data_new(&config);
    if (peer->is_connected)
        data_start(peer->data, now_us);
}

/* Datagrams in. */

static void on_stun(struct peer *peer, const struct ice_path *path,
                    const struct stun_message *message, int64_t now_us)
{
    bool is_authentic = peer->role == PEER_LITE
                            ? ice_lite_input(&peer->ice.lite, path, message)
                            : ice_client_input(&peer->ice.client, &path->remote, message, now_us);
    if (is_authentic)
        heard(peer, now_us);
    else
        peer->refused++;
}

static void on_dtls(struct peer *peer, const uint8_t *data, size_t len, int64_t now_us)
{
    if (!peer->dtls)
        start_dtls(peer, peer->has_remote && peer->is_dtls_client, now_us);
    dtls_input(peer->dtls, data, len, now_us);
    size_t got;
    while ((got = dtls_read(peer->dtls, peer->scratch, sizeof(peer->scratch)))) {
        heard(peer, now_us);
        if (peer->data && peer->is_connected)
            data_input(peer->data, peer->scratch, got, now_us);
    }
}

static void on_media(struct peer *peer, enum demux_kind kind, uint8_t *data, size_t len,
                     int64_t now_us)
{
    bool is_good;
    if (kind == DEMUX_RTP) {
        is_good = rtp_media_input_rtp(&peer->media, data, len, now_us, &peer->audio);
        peer->has_audio = is_good;
    } else {
        is_good = rtp_media_input_rtcp(&peer->media, data, len, now_us);
    }
    if (is_good)
        heard(peer, now_us);
    else
        peer->refused++;
}

/* A peer of the controlling role faces a server that it has chosen. */
static bool may_send(struct peer *peer, enum demux_kind kind, size_t len, int64_t now_us)
{
    if (peer->role == PEER_CONTROLLING || budget_take(&peer->budget, kind, len, now_us))
        return true;
    if (budget_is_flooded(&peer->budget) && !peer->is_flooded) {
        peer->is_flooded = true;
        tell(peer, PEER_EVENT_FLOODED);
    }
    return false;
}

bool peer_input(struct peer *peer, const struct ice_path *path, const struct demux_packet *packet,
                int64_t now_us)
{
    enum demux_kind kind = packet->kind;
    peer->has_audio = peer->has_heard = false;
    if (!may_send(peer, kind, packet->len, now_us))
        return false;
    if (kind == DEMUX_STUN)
        on_stun(peer, path, &packet->stun, now_us);
    else if (peer->is_over || kind == DEMUX_UNKNOWN ||
             !peer_has_path(peer, &path->local, &path->remote))
        peer->refused++;
    else if (kind == DEMUX_DTLS)
        on_dtls(peer, packet->data, packet->len, now_us);
    else
        on_media(peer, kind, packet->data, packet->len, now_us);
    if (peer->has_heard)
        budget_was_good(&peer->budget);
    advance(peer, now_us);
    return true;
}

/* Datagrams out. */

static bool ice_output(struct peer *peer, struct peer_datagram *out, int64_t now_us)
{
    const struct ice_datagram *datagram = peer->role == PEER_LITE
                                              ? ice_lite_output(&peer->ice.lite)
                                              : ice_client_output(&peer->ice.client, now_us);
    if (!datagram)
        return false;
    *out = (struct peer_datagram){.local = datagram->path.local,
                                  .to = datagram->path.remote,
                                  .data = datagram->data,
                                  .len = datagram->len};
    return true;
}

/* SCTP packets become DTLS records one at a time, so that one record waits at most. */
static size_t secure_output(struct peer *peer, int64_t now_us)
{
    if (!peer->dtls)
        return 0;
    size_t len = dtls_output(peer->dtls, peer->scratch, sizeof(peer->scratch), now_us);
    if (len || !peer->data || !peer_is_connected(peer))
        return len;
    len = data_output(peer->data, peer->scratch, PEER_MTU_BYTES, now_us);
    if (!len || dtls_write(peer->dtls, peer->scratch, len) != OK)
        return 0;
    return dtls_output(peer->dtls, peer->scratch, sizeof(peer->scratch), now_us);
}

static void check_limits(struct peer *peer, int64_t now_us)
{
    if (peer->give_up_us <= now_us)
        fail(peer, peer->dtls ? "the DTLS handshake takes too long" : "no path to the peer");
    if (peer->last_packet_us && !peer->is_silent &&
        peer->last_packet_us + peer->silence_limit_us <= now_us) {
        peer->is_silent = true;
        tell(peer, PEER_EVENT_SILENT);
    }
}

bool peer_output(struct peer *peer, struct peer_datagram *out, int64_t now_us)
{
    check_limits(peer, now_us);
    if (ice_output(peer, out, now_us))
        return true;
    advance(peer, now_us);
    struct ice_path path;
    if (!selected_path(peer, &path))
        return false;
    *out = (struct peer_datagram){.local = path.local, .to = path.remote};
    out->len = secure_output(peer, now_us);
    if (out->len) {
        out->data = peer->scratch;
        return true;
    }
    return rtp_media_output(&peer->media, &out->data, &out->len, now_us);
}

int64_t peer_deadline_us(const struct peer *peer)
{
    int64_t due = peer->give_up_us;
    if (peer->role == PEER_CONTROLLING)
        due = MIN(due, ice_client_deadline_us(&peer->ice.client));
    if (peer->last_packet_us && !peer->is_silent)
        due = MIN(due, peer->last_packet_us + peer->silence_limit_us);
    struct ice_path path;
    if (!selected_path(peer, &path)) /* the rest has nowhere to go */
        return due;
    due = MIN(due, rtp_media_deadline_us(&peer->media));
    if (peer->dtls)
        due = MIN(due, dtls_deadline_us(peer->dtls));
    if (peer->data && peer_is_connected(peer))
        due = MIN(due, data_deadline_us(peer->data));
    return due;
}

void peer_send_audio(struct peer *peer, const struct peer_opus *opus, int64_t now_us)
{
    if (peer_is_connected(peer))
        rtp_media_send(&peer->media, opus, now_us);
}

void peer_close(struct peer *peer, int64_t now_us)
{
    if (peer->is_over)
        return;
    if (peer->data && peer->is_connected) {
        data_abort(peer->data);
        size_t len = data_output(peer->data, peer->scratch, PEER_MTU_BYTES, now_us);
        if (len)
            (void)!dtls_write(peer->dtls, peer->scratch, len);
    }
    rtp_media_stop(&peer->media, peer->is_connected);
    if (peer->dtls)
        dtls_close(peer->dtls);
    peer->is_over = true;
    peer->give_up_us = INT64_MAX;
}
