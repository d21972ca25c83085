#include "store/visitor.h"

#include <string.h>

#include "base/crypto.h"
#include "store/tx.h"

static const char *hash_of(struct tx *tx, const char *site)
{
    static const char purpose[] = "visitor:";
    const char *text = arena_printf(tx->arena, "%s%s", purpose, site);
    uint8_t mac[SHA256_BYTES];
    char *hex = arena_alloc(tx->arena, SHA256_HEX);
    crypto_hmac_sha256(tx->master_key, MASTER_KEY_BYTES, text, strlen(text), mac);
    crypto_hex(mac, sizeof(mac), hex);
    return hex;
}

enum err store_visitor_waiting(struct tx *tx, const char *agent_id, const char *site,
                               int64_t *out_count)
{
    *out_count = QUERY_NUMBER(tx, 0,
                              "SELECT COUNT(*) FROM calls WHERE agent_id = ? AND visitor = ?"
                              " AND visitor <> '' AND user_joined_ms = 0 AND status <> 'ended'",
                              TEXT(agent_id), TEXT(hash_of(tx, site)));
    return tx_result(tx);
}

enum err store_visitor_mark(struct tx *tx, const char *call_id, const char *site)
{
    EXEC(tx, "UPDATE calls SET visitor = ? WHERE id = ?", TEXT(hash_of(tx, site)), TEXT(call_id));
    return tx_result(tx);
}
