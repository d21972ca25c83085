/* Join tokens: compact JWS, HS256 (RFC 7515, 7519), with LiveKit's claims (LiveKit, JWT).
 * Verified by key id, signature in constant time, times with leeway, and the grant to join one
 * room. Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

struct js;

enum {
    TOKEN_MAX_BYTES = 16384,
    TOKEN_NAME_MAX_BYTES = 1024, /* identity and name: 256 code points */
    TOKEN_LEEWAY_S = 60          /* on nbf and exp */
};

/* Who signs: the service's own key, or a LiveKit server's API key and secret. Borrowed texts. */
struct token_signer {
    const char *key_id; /* iss */
    const char *secret;
};

enum token_kind { TOKEN_STANDARD, TOKEN_AGENT, TOKEN_OTHER };

/* Texts: for minting borrowed, of a verified token owned by it. Empty or NULL: left out. */
struct token_claims {
    const char *identity;
    const char *name;
    const char *room;
    const char *metadata;
    const struct js *attributes; /* object of strings or NULL */
    enum token_kind kind;
    int64_t not_before_s, expires_s; /* Unix time; not_before_s 0: left out */
    bool can_join;
    bool can_publish, can_subscribe, can_publish_data, can_update_own_metadata;
    bool can_create_room, is_hidden;
};

/* The rights of a caller: join this room, speak, hear, send data. */
struct token_claims token_claims_for_caller(const char *room, const char *identity,
                                            const char *name, int64_t expires_s);

enum err token_mint(const struct token_signer *signer, const struct token_claims *claims,
                    struct buf *out) MUST_USE;

struct token {
    struct token_claims claims;
    struct js *body; /* owns the texts */
};

void token_clear(struct token *token);

/* ERR_INVALID: no token of ours (malformed, foreign, wrong signature); ERR_TIMEOUT: expired or not
 * yet valid; ERR_DENIED: no right to join a room. The fault's text is fit for the client. */
enum err token_verify(const struct token_signer *signer, const char *text, size_t len,
                      int64_t now_s, struct token *out, struct fault *fault) MUST_USE;
