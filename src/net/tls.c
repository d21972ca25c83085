#include "net/tls.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/buf.h"
#include "base/loop.h"
#include "base/mem.h"
#include "net/addr.h"

enum {
    SELF_SIGNED_DAYS = 825, /* the most that browsers take of a certificate */
};

struct tls_context {
    SSL_CTX *ssl;
    char *cert_path, *key_path; /* server role */
};

struct tls_session {
    SSL *ssl;
    BIO_METHOD *bio; /* owned: a session may outlive its context */
};

static enum err ssl_fault(struct fault *fault, enum err err, const char *what)
{
    unsigned long code = ERR_peek_last_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;
    ERR_clear_error();
    return fault_set(fault, err, "%s: %s", what, reason ? reason : "unknown cause");
}

/* The socket below a session: OpenSSL's own raises SIGPIPE when the peer has gone. */
static int socket_write(BIO *bio, const char *data, int len)
{
    int fd = (int)(intptr_t)BIO_get_data(bio);
    ssize_t n = send(fd, data, (size_t)len, MSG_NOSIGNAL);
    BIO_clear_retry_flags(bio);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_retry_write(bio);
    return (int)n;
}

static int socket_read(BIO *bio, char *data, int len)
{
    int fd = (int)(intptr_t)BIO_get_data(bio);
    ssize_t n = recv(fd, data, (size_t)len, 0);
    BIO_clear_retry_flags(bio);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_retry_read(bio);
    return (int)n;
}

static long socket_ctrl(BIO *bio, int command, long number, void *ptr)
{
    (void)bio, (void)number, (void)ptr;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *make_bio_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "stream");
    BIO_meth_set_write(method, socket_write);
    BIO_meth_set_read(method, socket_read);
    BIO_meth_set_ctrl(method, socket_ctrl);
    return method;
}

static SSL_CTX *make_context(bool is_server)
{
    SSL_CTX *ctx = SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method());
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_cipher_list(ctx, TLS_CIPHERS);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    return ctx;
}

/* We speak HTTP/1.1 only; a client that offers nothing of ours goes on without. */
static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                           const unsigned char *offered, unsigned offered_len, void *arg)
{
    static const unsigned char ours[] = "\x08http/1.1";
    unsigned char *chosen;
    (void)ssl, (void)arg;
    if (SSL_select_next_proto(&chosen, out_len, ours, sizeof(ours) - 1, offered, offered_len) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static enum err load_server(const char *cert_path, const char *key_path, SSL_CTX **out,
                            struct fault *fault)
{
    SSL_CTX *ctx = make_context(true);
    enum err err = OK;
    SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
    if (SSL_CTX_use_certificate_chain_file(ctx, cert_path) != 1)
        err = ssl_fault(fault, ERR_INVALID, "the certificate file cannot be used");
    else if (SSL_CTX_use_PrivateKey_file(ctx, key_path, SSL_FILETYPE_PEM) != 1)
        err = ssl_fault(fault, ERR_INVALID, "the key file cannot be used");
    else if (SSL_CTX_check_private_key(ctx) != 1)
        err = ssl_fault(fault, ERR_INVALID, "the key is not the certificate's");
    if (err)
        SSL_CTX_free(ctx);
    else
        *out = ctx;
    return err;
}

enum err tls_server_new(const char *cert_path, const char *key_path, struct tls_context **out,
                        struct fault *fault)
{
    SSL_CTX *ctx;
    enum err err = load_server(cert_path, key_path, &ctx, fault);
    if (err)
        return err;
    struct tls_context *context = mem_new(struct tls_context);
    context->ssl = ctx;
    context->cert_path = mem_strdup(cert_path);
    context->key_path = mem_strdup(key_path);
    *out = context;
    return OK;
}

enum err tls_server_reload(struct tls_context *context, struct fault *fault)
{
    SSL_CTX *ctx;
    enum err err = load_server(context->cert_path, context->key_path, &ctx, fault);
    if (err)
        return err;
    SSL_CTX_free(context->ssl); /* sessions hold references of their own */
    context->ssl = ctx;
    return OK;
}

enum err tls_client_new(const char *ca_path, struct tls_context **out, struct fault *fault)
{
    static const unsigned char protocols[] = "\x08http/1.1";
    SSL_CTX *ctx = make_context(false);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_default_verify_paths(ctx);
    SSL_CTX_set_alpn_protos(ctx, protocols, sizeof(protocols) - 1);
    if (ca_path && SSL_CTX_load_verify_file(ctx, ca_path) != 1) {
        SSL_CTX_free(ctx);
        return ssl_fault(fault, ERR_INVALID, "the authorities' file cannot be used");
    }
    struct tls_context *context = mem_new(struct tls_context);
    context->ssl = ctx;
    *out = context;
    return OK;
}

void tls_client_share(const struct tls_context *context, void *ssl_ctx)
{
    SSL_CTX_set1_cert_store(ssl_ctx, SSL_CTX_get_cert_store(context->ssl));
}

void tls_context_free(struct tls_context *context)
{
    if (!context)
        return;
    SSL_CTX_free(context->ssl);
    mem_free(context->cert_path);
    mem_free(context->key_path);
    mem_free(context);
}

static void expect_host(SSL *ssl, const char *host)
{
    struct net_addr addr;
    if (net_ip_parse(host, &addr) == OK) {
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host);
        return;
    }
    SSL_set_tlsext_host_name(ssl, host);
    SSL_set1_host(ssl, host);
}

struct tls_session *tls_session_new(struct tls_context *context, int fd, const char *host)
{
    struct tls_session *session = mem_new(struct tls_session);
    session->ssl = SSL_new(context->ssl);
    session->bio = make_bio_method();
    BIO *bio = BIO_new(session->bio);
    BIO_set_data(bio, (void *)(intptr_t)fd);
    BIO_set_init(bio, 1);
    SSL_set_bio(session->ssl, bio, bio);
    if (host) {
        expect_host(session->ssl, host);
        SSL_set_connect_state(session->ssl);
    } else {
        SSL_set_accept_state(session->ssl);
    }
    return session;
}

void tls_session_free(struct tls_session *session)
{
    if (!session)
        return;
    SSL_free(session->ssl);
    BIO_meth_free(session->bio);
    mem_free(session);
}

static enum err outcome(struct tls_session *session, int result, unsigned *out_wants)
{
    switch (SSL_get_error(session->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        *out_wants = IO_READ;
        return ERR_AGAIN;
    case SSL_ERROR_WANT_WRITE:
        *out_wants = IO_WRITE;
        return ERR_AGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return ERR_CLOSED;
    default:
        return ERR_IO;
    }
}

enum err tls_handshake(struct tls_session *session, unsigned *out_wants, struct fault *fault)
{
    ERR_clear_error();
    int result = SSL_do_handshake(session->ssl);
    if (result == 1)
        return OK;
    enum err err = outcome(session, result, out_wants);
    if (err == ERR_AGAIN)
        return err;
    long verdict = SSL_get_verify_result(session->ssl);
    if (verdict != X509_V_OK) {
        ERR_clear_error();
        return fault_set(fault, ERR_IO, "the peer's certificate was refused: %s",
                         X509_verify_cert_error_string(verdict));
    }
    return ssl_fault(fault, ERR_IO, "TLS handshake failed");
}

enum err tls_read(struct tls_session *session, void *data, size_t cap, size_t *out_len,
                  unsigned *out_wants)
{
    ERR_clear_error();
    int result = SSL_read_ex(session->ssl, data, cap, out_len);
    return result == 1 ? OK : outcome(session, result, out_wants);
}

enum err tls_write(struct tls_session *session, const void *data, size_t len, size_t *out_len,
                   unsigned *out_wants)
{
    ERR_clear_error();
    int result = SSL_write_ex(session->ssl, data, len, out_len);
    return result == 1 ? OK : outcome(session, result, out_wants);
}

bool tls_has_unread(const struct tls_session *session)
{
    return SSL_has_pending(session->ssl) == 1;
}

void tls_shutdown(struct tls_session *session)
{
    ERR_clear_error();
    if (SSL_is_init_finished(session->ssl))
        SSL_shutdown(session->ssl);
    ERR_clear_error();
}

static bool add_names(X509 *cert, const char *const names[], size_t count)
{
    AUTO_BUF list = BUF_INIT(4096);
    for (size_t i = 0; i < count; i++) {
        struct net_addr addr;
        bool is_ip = net_ip_parse(names[i], &addr) == OK;
        buf_printf(&list, "%s%s:%s", i ? "," : "", is_ip ? "IP" : "DNS", names[i]);
    }
    X509V3_CTX context;
    X509V3_set_ctx(&context, cert, cert, NULL, NULL, 0);
    X509_EXTENSION *extension =
        list.is_full ? NULL : X509V3_EXT_conf_nid(NULL, &context, NID_subject_alt_name, list.data);
    bool ok = extension && X509_add_ext(cert, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return ok;
}

static bool fill_certificate(X509 *cert, EVP_PKEY *key, const char *const names[], size_t count)
{
    uint64_t serial = 0;
    X509_set_version(cert, X509_VERSION_3);
    if (count == 0 || RAND_bytes((unsigned char *)&serial, sizeof(serial)) != 1)
        return false;
    ASN1_INTEGER_set_uint64(X509_get_serialNumber(cert), serial >> 1);
    X509_gmtime_adj(X509_getm_notBefore(cert), -24L * 3600); /* clocks of clients differ */
    X509_gmtime_adj(X509_getm_notAfter(cert), SELF_SIGNED_DAYS * 24L * 3600);
    X509_set_pubkey(cert, key);
    X509_NAME *name = X509_get_subject_name(cert);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)names[0], -1, -1,
                               0);
    X509_set_issuer_name(cert, name);
    return add_names(cert, names, count) && X509_sign(cert, key, EVP_sha256()) != 0;
}

static void append_bio(BIO *bio, struct buf *out)
{
    char *data;
    long len = BIO_get_mem_data(bio, &data);
    buf_append(out, data, (size_t)len);
}

enum err tls_self_signed(const char *const names[], size_t count, struct buf *out_cert,
                         struct buf *out_key, struct fault *fault)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    BIO *cert_pem = BIO_new(BIO_s_mem()), *key_pem = BIO_new(BIO_s_mem());
    enum err err = OK;
    if (key && fill_certificate(cert, key, names, count) &&
        PEM_write_bio_X509(cert_pem, cert) == 1 &&
        PEM_write_bio_PrivateKey(key_pem, key, NULL, NULL, 0, NULL, NULL) == 1) {
        append_bio(cert_pem, out_cert);
        append_bio(key_pem, out_key);
        err = out_cert->is_full || out_key->is_full ? ERR_LIMIT : OK;
    } else {
        err = ssl_fault(fault, ERR_INTERNAL, "no self-signed certificate could be made");
    }
    BIO_free(cert_pem);
    BIO_free(key_pem);
    X509_free(cert);
    EVP_PKEY_free(key);
    return err;
}
