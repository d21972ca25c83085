/* TLS contexts and sessions. Wraps OpenSSL (tls.c); a stream drives the sessions. A server context
 * reads its certificate again on demand while connections go on with the one they began with.
 * Thread: a context belongs to the loop that makes its sessions (a client context, once made, to
 * any); a session to whoever drives it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"

struct buf;
struct tls_context;
struct tls_session;

/* Of TLS 1.2: fresh keys for each session, and ciphers that authenticate; no static RSA, no CBC.
 * TLS 1.3 has no others. */
#define TLS_CIPHERS "ECDHE+AESGCM:ECDHE+CHACHA20"

/* PEM files; the certificate file may hold the chain. */
enum err tls_server_new(const char *cert_path, const char *key_path, struct tls_context **out,
                        struct fault *fault) MUST_USE;
/* Reads the files again: on a fault the old pair stays in use. */
enum err tls_server_reload(struct tls_context *context, struct fault *fault) MUST_USE;
/* Verifies peers against the system's authorities and, when ca_path is not NULL, those of that PEM
 * file as well. */
enum err tls_client_new(const char *ca_path, struct tls_context **out,
                        struct fault *fault) MUST_USE;
/* Gives the authorities of a client context to another SSL_CTX, such as libcurl's: they are read
 * once and not for each connection. any. */
void tls_client_share(const struct tls_context *context, void *ssl_ctx);
void tls_context_free(struct tls_context *context); /* sessions keep what they need */
DEFINE_AUTO(tls_context)

/* Makes a P-256 key and a self-signed certificate of 825 days for the names and addresses (of which
 * the first is the subject), both as PEM. */
enum err tls_self_signed(const char *const names[], size_t count, struct buf *out_cert,
                         struct buf *out_key, struct fault *fault) MUST_USE;

/* A session over a connected descriptor, which stays the caller's. host (client only): the name
 * that is asked for and that the certificate must carry. */
struct tls_session *tls_session_new(struct tls_context *context, int fd, const char *host);
void tls_session_free(struct tls_session *session);

/* ERR_AGAIN: *out_wants says which IO_ event to wait for. ERR_CLOSED: the end. ERR_IO: a fault of
 * the protocol, the certificate or the connection. A handshake happens inside as needed. */
enum err tls_handshake(struct tls_session *session, unsigned *out_wants,
                       struct fault *fault) MUST_USE;
enum err tls_read(struct tls_session *session, void *data, size_t cap, size_t *out_len,
                  unsigned *out_wants) MUST_USE;
enum err tls_write(struct tls_session *session, const void *data, size_t len, size_t *out_len,
                   unsigned *out_wants) MUST_USE;
bool tls_has_unread(const struct tls_session *session); /* decrypted bytes wait inside */
void tls_shutdown(struct tls_session *session);         /* sends close_notify, waits for nothing */
