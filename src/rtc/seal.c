/* SRTP on libsrtp2, see seal.h. */
#include "rtc/seal.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <string.h>

#include <srtp2/srtp.h>

#include "base/mem.h"
#include "rtc/wire.h"

enum {
    RTP_MIN_BYTES = 12,
    RTCP_MIN_BYTES = 8,
    RTP_SSRC_AT = 8,
    RTCP_SSRC_AT = 4,
    WINDOW_PACKETS = 256 /* replay window: 5 s of audio, for what a bad network repeats */
};

struct seal {
    srtp_t out, in;
    uint32_t sources[SEAL_SOURCES]; /* a ring */
    unsigned source_count, oldest;
};

/* libsrtp2 keeps a registry of ciphers for the process. */
static pthread_once_t library_once = PTHREAD_ONCE_INIT;
static srtp_err_status_t library_status;

static void start_library(void)
{
    library_status = srtp_init();
}

static void set_policy(srtp_policy_t *policy, enum dtls_srtp_profile profile)
{
    memset(policy, 0, sizeof(*policy));
    if (profile == DTLS_AEAD_AES_128_GCM) {
        srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy->rtp);
        srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy->rtcp);
    } else {
        srtp_crypto_policy_set_aes_cm_128_hmac_sha1_80(&policy->rtp);
        srtp_crypto_policy_set_aes_cm_128_hmac_sha1_80(&policy->rtcp);
    }
    policy->window_size = WINDOW_PACKETS;
}

enum err seal_new(const struct dtls_keys *keys, struct seal **out)
{
    pthread_once(&library_once, start_library);
    if (library_status != srtp_err_status_ok)
        return ERR_INTERNAL;

    AUTO(seal) seal = mem_new(struct seal);
    uint8_t key[sizeof(keys->local)];
    srtp_policy_t policy;
    set_policy(&policy, keys->profile);
    policy.key = key; /* the library copies it */
    memcpy(key, keys->local, sizeof(key));
    policy.ssrc.type = ssrc_any_outbound;
    if (srtp_create(&seal->out, &policy) != srtp_err_status_ok)
        return ERR_INTERNAL;
    memcpy(key, keys->remote, sizeof(key));
    policy.ssrc.type = ssrc_any_inbound;
    if (srtp_create(&seal->in, &policy) != srtp_err_status_ok)
        return ERR_INTERNAL;
    *out = TAKE(seal);
    return OK;
}

void seal_free(struct seal *seal)
{
    if (!seal)
        return;
    if (seal->out)
        srtp_dealloc(seal->out);
    if (seal->in)
        srtp_dealloc(seal->in);
    mem_free(seal);
}

/* The library makes a stream for each SSRC that proves itself; the ring bounds their number. */
static void remember(struct seal *seal, uint32_t ssrc)
{
    for (unsigned i = 0; i < seal->source_count; i++)
        if (seal->sources[i] == ssrc)
            return;
    if (seal->source_count < SEAL_SOURCES) {
        seal->sources[seal->source_count++] = ssrc;
        return;
    }
    srtp_remove_stream(seal->in, htonl(seal->sources[seal->oldest]));
    seal->sources[seal->oldest] = ssrc;
    seal->oldest = (seal->oldest + 1) % SEAL_SOURCES;
}

static enum err result_of(srtp_err_status_t status)
{
    switch (status) {
    case srtp_err_status_ok:
        return OK;
    case srtp_err_status_auth_fail:
        return ERR_DENIED;
    case srtp_err_status_replay_fail:
    case srtp_err_status_replay_old:
        return ERR_CONFLICT;
    default:
        return ERR_INVALID;
    }
}

typedef srtp_err_status_t library_fn(srtp_t session, void *packet, int *len);

static enum err apply(library_fn *fn, srtp_t session, uint8_t *data, size_t *len, size_t least)
{
    if (*len < least || *len > UINT16_MAX)
        return ERR_INVALID;
    int changed = (int)*len;
    enum err err = result_of(fn(session, data, &changed));
    if (!err)
        *len = (size_t)changed;
    return err;
}

enum err seal_rtp(struct seal *seal, uint8_t *data, size_t *len)
{
    return apply(srtp_protect, seal->out, data, len, RTP_MIN_BYTES);
}

enum err seal_rtcp(struct seal *seal, uint8_t *data, size_t *len)
{
    return apply(srtp_protect_rtcp, seal->out, data, len, RTCP_MIN_BYTES);
}

enum err seal_open_rtp(struct seal *seal, uint8_t *data, size_t *len)
{
    enum err err = apply(srtp_unprotect, seal->in, data, len, RTP_MIN_BYTES);
    if (!err)
        remember(seal, wire_get32(data + RTP_SSRC_AT));
    return err;
}

enum err seal_open_rtcp(struct seal *seal, uint8_t *data, size_t *len)
{
    enum err err = apply(srtp_unprotect_rtcp, seal->in, data, len, RTCP_MIN_BYTES);
    if (!err)
        remember(seal, wire_get32(data + RTCP_SSRC_AT));
    return err;
}
