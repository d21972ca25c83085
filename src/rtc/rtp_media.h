/* RTP and RTCP of one session, sealed with its keys: one outgoing Opus stream, a few incoming ones,
 * reports both ways, NACKs answered from the history. Sans-I/O; rtc/peer.h joins it with ICE and
 * DTLS. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "rtc/dtls.h"
#include "rtc/incoming.h"
#include "rtc/outgoing.h"
#include "rtc/peer.h"
#include "rtc/seal.h"

enum {
    MEDIA_SOURCES = 4, /* a caller who republishes has two for a moment */
    MEDIA_QUEUE = 32   /* packets between two rounds of output; a burst of NACKs is cut there */
};

struct rtp_media {
    struct seal *seal; /* NULL: not started */
    struct outgoing outgoing;
    struct incoming incoming[MEDIA_SOURCES];
    unsigned incoming_count;
    unsigned current; /* index of the source heard last */
    uint8_t level_extension;
    int64_t report_us; /* when the next report is due */
    double rtt_ms, remote_loss;
    char cname[17];
    uint8_t rtcp[RTCP_MAX_BYTES + SEAL_EXTRA_BYTES];
    struct {
        const uint8_t *data;
        size_t len;
    } queue[MEDIA_QUEUE];
    unsigned first, count;
};

void rtp_media_init(struct rtp_media *media);
void rtp_media_clear(struct rtp_media *media);
enum err rtp_media_start(struct rtp_media *media, const struct dtls_keys *keys,
                         int64_t now_us) MUST_USE;

/* Opens one RTP packet in place. false: refused. */
bool rtp_media_input_rtp(struct rtp_media *media, uint8_t *data, size_t len, int64_t now_us,
                         struct peer_audio *out);
bool rtp_media_input_rtcp(struct rtp_media *media, uint8_t *data, size_t len, int64_t now_us);
void rtp_media_send(struct rtp_media *media, const struct peer_opus *opus, int64_t now_us);
/* No reports any more; what is queued still leaves. */
void rtp_media_stop(struct rtp_media *media, bool says_bye);
/* The next packet, borrowed until the next call. Makes the reports that are due. */
bool rtp_media_output(struct rtp_media *media, const uint8_t **out, size_t *out_len,
                      int64_t now_us);
int64_t rtp_media_deadline_us(const struct rtp_media *media);
void rtp_media_stats(const struct rtp_media *media, struct peer_stats *out);
