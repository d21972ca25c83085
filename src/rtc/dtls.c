/* DTLS on OpenSSL's memory BIOs, see dtls.h.
 *
 * A memory BIO keeps no datagram boundaries. Inward that does no harm, since one datagram is put in
 * and read to its end; outward the records are told apart by their headers (RFC 6347 section 4.1)
 * and each one leaves as a datagram of its own.
 *
 * OpenSSL reads the time of day itself to decide whether a flight is due again; dtls_deadline_us()
 * turns what it says remains into the caller's clock. */
#include "rtc/dtls.h"

#include <string.h>
#include <sys/time.h>

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "base/states.h"
#include "rtc/wire.h"

enum {
    RECORD_HEADER_BYTES = 13,
    RECORD_EPOCH_AT = 3,
    GCM_NONCE_BYTES = 8, /* the explicit part, in each record */
    TAG_BYTES = 16,      /* of every cipher that is offered */
    LINK_MTU_BYTES = 1200,
    RTO_FIRST_US = 100000, /* RFC 6347 asks for 1 s; ICE has shown that the path works, and a caller
                              waits */
    RTO_MAX_US = 3000000,
    CERT_LIST_MAX_BYTES = 16384,         /* a self-signed certificate has under 1 KB */
    SEND_FRAGMENT_BYTES = 2048,          /* sizes the write buffer: 16 KB less a session */
    CERT_SECONDS = 10 * 365 * 24 * 3600, /* the process may run for long */
    GCM_SALT_BYTES = 12,
    CM_SALT_BYTES = 14,
    KEY_BYTES = 16
};

struct dtls_identity {
    SSL_CTX *context;
    uint8_t fingerprint[DTLS_FINGERPRINT_BYTES];
};

struct dtls {
    SSL *ssl;
    BIO *in, *out; /* the SSL's */
    enum dtls_state state;
    bool is_client;
    int64_t due_us;
    char reason[160];
};

static const struct states_row rows[] = {
    {DTLS_NEW, DTLS_SHAKE, DTLS_HANDSHAKE},    {DTLS_NEW, DTLS_CLOSE, DTLS_CLOSED},
    {DTLS_NEW, DTLS_FAULT, DTLS_FAILED},       {DTLS_HANDSHAKE, DTLS_SHAKE, DTLS_HANDSHAKE},
    {DTLS_HANDSHAKE, DTLS_FINISHED, DTLS_UP},  {DTLS_HANDSHAKE, DTLS_CLOSE, DTLS_CLOSED},
    {DTLS_HANDSHAKE, DTLS_FAULT, DTLS_FAILED}, {DTLS_UP, DTLS_PEER_CLOSED, DTLS_CLOSED},
    {DTLS_UP, DTLS_CLOSE, DTLS_CLOSED},        {DTLS_UP, DTLS_FAULT, DTLS_FAILED},
    {DTLS_CLOSED, DTLS_CLOSE, DTLS_CLOSED}, /* the peer was first */
    {DTLS_FAILED, DTLS_CLOSE, DTLS_FAILED}, /* its reason stays readable */
};
static const char *const state_names[] = {"new", "handshake", "up", "closed", "failed"};
static const char *const event_names[] = {"shake", "finished", "peer_closed", "close", "fault"};
_Static_assert(ARRAY_LEN(state_names) == DTLS_STATES, "each state has a name");
_Static_assert(ARRAY_LEN(event_names) == DTLS_EVENTS, "each event has a name");

const struct states dtls_states = {"dtls",      state_names, event_names,    DTLS_STATES,
                                   DTLS_EVENTS, rows,        ARRAY_LEN(rows)};

static bool move(struct dtls *dtls, enum dtls_event event)
{
    int to = states_next(&dtls_states, (int)dtls->state, (int)event, NULL);
    if (to == STATES_REFUSED)
        return false;
    dtls->state = (enum dtls_state)to;
    return true;
}

static int accept_any(int preverified, X509_STORE_CTX *store)
{
    (void)preverified, (void)store;
    return 1; /* the fingerprint decides, see dtls_peer_fingerprint() */
}

static X509 *make_certificate(EVP_PKEY *key)
{
    X509 *cert = X509_new();
    X509_NAME *name = cert ? X509_get_subject_name(cert) : NULL;
    uint32_t serial = (uint32_t)crypto_random_u64() >> 1;
    if (name && X509_set_version(cert, 2) &&
        ASN1_INTEGER_set(X509_get_serialNumber(cert), (long)serial) &&
        X509_gmtime_adj(X509_getm_notBefore(cert), -24 * 3600) &&
        X509_gmtime_adj(X509_getm_notAfter(cert), CERT_SECONDS) && X509_set_pubkey(cert, key) &&
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const uint8_t *)"WebRTC", -1, -1,
                                   0) &&
        X509_set_issuer_name(cert, name) && X509_sign(cert, key, EVP_sha256()))
        return cert;
    X509_free(cert);
    return NULL;
}

static bool set_up_context(SSL_CTX *context)
{
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, accept_any);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_QUERY_MTU | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_read_ahead(context, 1); /* a datagram is read whole */
    SSL_CTX_set_max_cert_list(context, CERT_LIST_MAX_BYTES);
    SSL_CTX_set_max_send_fragment(context, SEND_FRAGMENT_BYTES);
    return SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) &&
           SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL:!PSK") &&
           SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384") &&
           SSL_CTX_set_tlsext_use_srtp(context, "SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80") ==
               0;
}

enum err dtls_identity_new(struct dtls_identity **out, struct fault *fault)
{
    AUTO(dtls_identity) identity = mem_new(struct dtls_identity);
    identity->context = SSL_CTX_new(DTLS_method());
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = key ? make_certificate(key) : NULL;
    unsigned len = DTLS_FINGERPRINT_BYTES;
    bool is_ready = identity->context && cert && set_up_context(identity->context) &&
                    SSL_CTX_use_certificate(identity->context, cert) == 1 &&
                    SSL_CTX_use_PrivateKey(identity->context, key) == 1 &&
                    X509_digest(cert, EVP_sha256(), identity->fingerprint, &len);
    X509_free(cert);
    EVP_PKEY_free(key);
    if (!is_ready)
        return fault_set(fault, ERR_INTERNAL, "DTLS certificate: %s",
                         ERR_reason_error_string(ERR_get_error()));
    *out = TAKE(identity);
    return OK;
}

void dtls_identity_free(struct dtls_identity *identity)
{
    if (!identity)
        return;
    SSL_CTX_free(identity->context);
    mem_free(identity);
}

const uint8_t *dtls_identity_fingerprint(const struct dtls_identity *identity)
{
    return identity->fingerprint;
}

static unsigned next_rto_us(SSL *ssl, unsigned last_us)
{
    (void)ssl;
    return last_us ? MIN(last_us * 2, (unsigned)RTO_MAX_US) : RTO_FIRST_US;
}

static void fail(struct dtls *dtls, const char *what)
{
    const char *why = ERR_reason_error_string(ERR_peek_last_error());
    if (!move(dtls, DTLS_FAULT))
        return;
    dtls->due_us = INT64_MAX;
    snprintf(dtls->reason, sizeof(dtls->reason), "%s: %s", what, why ? why : "closed");
}

struct dtls *dtls_new(struct dtls_identity *identity, bool is_client)
{
    struct dtls *dtls = mem_new(struct dtls);
    dtls->is_client = is_client;
    dtls->due_us = INT64_MAX;
    dtls->ssl = SSL_new(identity->context);
    dtls->in = BIO_new(BIO_s_mem());
    dtls->out = BIO_new(BIO_s_mem());
    if (!dtls->ssl || !dtls->in || !dtls->out) { /* memory alone */
        fail(dtls, "DTLS");
        return dtls;
    }
    BIO_set_mem_eof_return(dtls->in, -1); /* empty: try again, not the end */
    BIO_set_mem_eof_return(dtls->out, -1);
    SSL_set_bio(dtls->ssl, dtls->in, dtls->out);
    DTLS_set_link_mtu(dtls->ssl, LINK_MTU_BYTES);
    DTLS_set_timer_cb(dtls->ssl, next_rto_us);
    if (is_client)
        SSL_set_connect_state(dtls->ssl);
    else
        SSL_set_accept_state(dtls->ssl);
    return dtls;
}

void dtls_free(struct dtls *dtls)
{
    if (!dtls)
        return;
    SSL_free(dtls->ssl);
    mem_free(dtls);
}

static void set_deadline(struct dtls *dtls, int64_t now_us)
{
    struct timeval left;
    bool is_set = dtls->state == DTLS_HANDSHAKE && DTLSv1_get_timeout(dtls->ssl, &left) == 1;
    dtls->due_us =
        is_set ? now_us + (int64_t)left.tv_sec * 1000000 + (int64_t)left.tv_usec : INT64_MAX;
}

static void shake(struct dtls *dtls, int64_t now_us)
{
    if (!move(dtls, DTLS_SHAKE))
        return;
    ERR_clear_error();
    int result = SSL_do_handshake(dtls->ssl);
    int error = SSL_get_error(dtls->ssl, result);
    if (result == 1 && !move(dtls, DTLS_FINISHED))
        fail(dtls, "DTLS handshake");
    else if (result != 1 && error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE)
        fail(dtls, "DTLS handshake");
    set_deadline(dtls, now_us);
}

void dtls_start(struct dtls *dtls, int64_t now_us)
{
    if (dtls->is_client && dtls->state == DTLS_NEW)
        shake(dtls, now_us);
}

/* What a sealed record holds at least: the explicit nonce (AES-GCM) and the tag. */
static size_t sealed_least(const struct dtls *dtls)
{
    const SSL_CIPHER *cipher = SSL_get_current_cipher(dtls->ssl);
    bool is_chacha = cipher && SSL_CIPHER_get_cipher_nid(cipher) == NID_chacha20_poly1305;
    return is_chacha ? TAG_BYTES : GCM_NONCE_BYTES + TAG_BYTES;
}

/* Does it hold a sealed record too short to be one? OpenSSL takes that for a fault of its own and
 * ends the connection, where RFC 6347 section 4.1.2.7 has it dropped: whoever knows the caller's
 * address alone could put them out. */
static bool has_stunted_record(const struct dtls *dtls, const uint8_t *data, size_t len)
{
    size_t least = sealed_least(dtls);
    for (size_t at = 0; at + RECORD_HEADER_BYTES <= len;) {
        unsigned epoch = wire_get16(data + at + RECORD_EPOCH_AT);
        size_t body = wire_get16(data + at + RECORD_HEADER_BYTES - 2);
        if (epoch > 0 && body < least)
            return true;
        at += RECORD_HEADER_BYTES + body;
    }
    return false;
}

void dtls_input(struct dtls *dtls, const uint8_t *data, size_t len, int64_t now_us)
{
    if (dtls->state == DTLS_FAILED || dtls->state == DTLS_CLOSED || len > INT32_MAX ||
        has_stunted_record(dtls, data, len))
        return;
    (void)BIO_reset(dtls->in); /* what is left of a record that was cut short */
    BIO_write(dtls->in, data, (int)len);
    if (dtls->state != DTLS_UP)
        shake(dtls, now_us);
}

size_t dtls_read(struct dtls *dtls, uint8_t *out, size_t cap)
{
    if (dtls->state != DTLS_UP)
        return 0;
    ERR_clear_error();
    int len = SSL_read(dtls->ssl, out, (int)MIN(cap, (size_t)INT32_MAX));
    if (len > 0)
        return (size_t)len;
    switch (SSL_get_error(dtls->ssl, len)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        break;
    case SSL_ERROR_ZERO_RETURN:
        if (!move(dtls, DTLS_PEER_CLOSED))
            fail(dtls, "DTLS");
        break;
    default:
        fail(dtls, "DTLS");
    }
    return 0;
}

size_t dtls_output(struct dtls *dtls, uint8_t *out, size_t cap, int64_t now_us)
{
    if (dtls->due_us <= now_us) {
        ERR_clear_error();
        if (DTLSv1_handle_timeout(dtls->ssl) < 0)
            fail(dtls, "DTLS handshake");
        set_deadline(dtls, now_us);
    }
    if (!dtls->out || BIO_ctrl_pending(dtls->out) < RECORD_HEADER_BYTES ||
        cap < RECORD_HEADER_BYTES)
        return 0;
    BIO_read(dtls->out, out, RECORD_HEADER_BYTES);
    size_t body = wire_get16(out + RECORD_HEADER_BYTES - 2);
    if (body > cap - RECORD_HEADER_BYTES) { /* over the MTU that OpenSSL was told: our fault */
        (void)BIO_reset(dtls->out);
        return 0;
    }
    int len = BIO_read(dtls->out, out + RECORD_HEADER_BYTES, (int)body);
    return RECORD_HEADER_BYTES + (size_t)MAX(len, 0);
}

int64_t dtls_deadline_us(const struct dtls *dtls)
{
    return dtls->due_us;
}

enum err dtls_write(struct dtls *dtls, const uint8_t *data, size_t len)
{
    if (dtls->state != DTLS_UP)
        return ERR_CLOSED;
    if (len > LINK_MTU_BYTES)
        return ERR_LIMIT;
    ERR_clear_error();
    return SSL_write(dtls->ssl, data, (int)len) > 0 ? OK : ERR_LIMIT;
}

void dtls_close(struct dtls *dtls)
{
    if (dtls->state == DTLS_UP)
        SSL_shutdown(dtls->ssl);
    if (!move(dtls, DTLS_CLOSE))
        return;
    dtls->due_us = INT64_MAX;
}

enum dtls_state dtls_state(const struct dtls *dtls)
{
    return dtls->state;
}

bool dtls_is_client(const struct dtls *dtls)
{
    return dtls->is_client;
}

const char *dtls_reason(const struct dtls *dtls)
{
    return dtls->reason;
}

/* RFC 5764 section 4.2: client key, server key, client salt, server salt. */
enum err dtls_keys(const struct dtls *dtls, struct dtls_keys *out)
{
    static const char label[] = "EXTRACTOR-dtls_srtp";
    const SRTP_PROTECTION_PROFILE *profile =
        dtls->state == DTLS_UP ? SSL_get_selected_srtp_profile(dtls->ssl) : NULL;
    if (!profile)
        return ERR_UNSUPPORTED;
    bool is_gcm = profile->id == SRTP_AEAD_AES_128_GCM;
    size_t salt = is_gcm ? GCM_SALT_BYTES : CM_SALT_BYTES;
    uint8_t material[DTLS_KEYING_BYTES];
    if (SSL_export_keying_material(dtls->ssl, material, 2 * (KEY_BYTES + salt), label,
                                   sizeof(label) - 1, NULL, 0, 0) != 1)
        return ERR_UNSUPPORTED;

    struct dtls_keys keys = {.profile = is_gcm ? DTLS_AEAD_AES_128_GCM : DTLS_AES128_CM_SHA1_80};
    uint8_t *client = dtls->is_client ? keys.local : keys.remote;
    uint8_t *server = dtls->is_client ? keys.remote : keys.local;
    memcpy(client, material, KEY_BYTES);
    memcpy(server, material + KEY_BYTES, KEY_BYTES);
    memcpy(client + KEY_BYTES, material + 2 * KEY_BYTES, salt);
    memcpy(server + KEY_BYTES, material + 2 * KEY_BYTES + salt, salt);
    *out = keys;
    return OK;
}

enum err dtls_peer_fingerprint(const struct dtls *dtls, uint8_t out[DTLS_FINGERPRINT_BYTES])
{
    X509 *cert = dtls->ssl ? SSL_get0_peer_certificate(dtls->ssl) : NULL;
    unsigned len = DTLS_FINGERPRINT_BYTES;
    uint8_t digest[EVP_MAX_MD_SIZE];
    if (!cert || !X509_digest(cert, EVP_sha256(), digest, &len) || len != DTLS_FINGERPRINT_BYTES)
        return ERR_NOT_FOUND;
    memcpy(out, digest, DTLS_FINGERPRINT_BYTES);
    return OK;
}
