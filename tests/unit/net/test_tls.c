#include "net/tls.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/ssl.h>

#include "base/attr.h"
#include "base/mem.h"
#include "pem_files.h"
#include "test.h"

/* Our session against one of OpenSSL's that offers or takes only these ciphers of TLS 1.2. */
static bool shakes_hands(struct tls_session *ours, SSL *theirs)
{
    bool is_done[2] = {0};
    for (int i = 0; i < 20 && !(is_done[0] && is_done[1]); i++) {
        unsigned wants;
        struct fault fault;
        enum err err = is_done[0] ? OK : tls_handshake(ours, &wants, &fault);
        int result = is_done[1] ? 1 : SSL_do_handshake(theirs);
        int error = result == 1 ? SSL_ERROR_NONE : SSL_get_error(theirs, result);
        if ((err && err != ERR_AGAIN) || (result != 1 && error != SSL_ERROR_WANT_READ))
            return false;
        is_done[0] = !err;
        is_done[1] = result == 1;
    }
    return is_done[0] && is_done[1];
}

static bool meets(struct tls_context *context, const struct pem_files *files, bool is_server,
                  const char *ciphers)
{
    int fds[2];
    if (!CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0))
        return false;
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());
    SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
    CHECK(SSL_CTX_set_cipher_list(ctx, ciphers) == 1);
    CHECK(SSL_CTX_use_certificate_chain_file(ctx, files->cert) == 1);
    CHECK(SSL_CTX_use_PrivateKey_file(ctx, files->key, SSL_FILETYPE_PEM) == 1);
    SSL *theirs = SSL_new(ctx);
    SSL_set_fd(theirs, fds[1]);
    is_server ? SSL_set_connect_state(theirs) : SSL_set_accept_state(theirs);
    struct tls_session *ours = tls_session_new(context, fds[0], is_server ? NULL : "a.example");
    bool has_met = shakes_hands(ours, theirs);
    tls_session_free(ours);
    SSL_free(theirs);
    SSL_CTX_free(ctx);
    close(fds[0]);
    close(fds[1]);
    return has_met;
}

TEST(tls_1_2_takes_only_ephemeral_keys_and_authenticated_ciphers)
{
    static const struct {
        const char *ciphers;
        bool is_taken;
    } rows[] = {
        {"ECDHE-ECDSA-AES128-GCM-SHA256", true}, {"ECDHE-ECDSA-CHACHA20-POLY1305", true},
        {"ECDHE-ECDSA-AES128-SHA256", false},    {"ECDHE-ECDSA-AES256-SHA", false},
        {"ECDHE-ECDSA-AES128-CCM8", false},
    };
    struct pem_files files;
    REQUIRE(pem_files_make(&files, "a.example"));
    AUTO(tls_context) server = NULL, *client = NULL;
    REQUIRE(tls_server_new(files.cert, files.key, &server, NULL) == OK);
    REQUIRE(tls_client_new(files.cert, &client, NULL) == OK);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CHECK_INT(meets(server, &files, true, rows[i].ciphers), rows[i].is_taken);
        CHECK_INT(meets(client, &files, false, rows[i].ciphers), rows[i].is_taken);
    }
    tls_context_free(TAKE(client));
    pem_files_remove(&files);
}
