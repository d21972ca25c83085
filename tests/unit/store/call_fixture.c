#include "unit/store/call_fixture.h"

#include "base/ids.h"
#include "store/call.h"
#include "store/store.h"
#include "unit/store/fixture.h"

static const char *make(struct fix *fix, struct tx *tx, int64_t rate_usd4, enum call_source source)
{
    static const char *all[] = {"*"};
    struct call_webhook webhook = {
        .url = "https://example.com/call", .secret = "whsec_of_the_call", .events = {all, 1}};
    char id[ID_SIZE];
    uuid_new(id);
    struct call call = {.id = id,
                        .user_id = fix->workspace_id,
                        .agent_id = fix->agent_id,
                        .room_name = "room",
                        .source = source,
                        .cost_per_minute_usd4 = rate_usd4,
                        .participant_identity = "caller-1",
                        .metadata = "{\"order\":7}",
                        .metadata_sent = "{\"order\":7,\"agentId\":\"a\"}",
                        .webhooks = {&webhook, 1}};
    CHECK_INT(store_call_insert(tx, &call, "https://example.com/agent", tx->now_ms + 3600000), OK);
    return arena_strdup(fix->arena, id);
}

const char *fix_call(struct fix *fix, struct tx *tx, int64_t rate_usd4)
{
    return make(fix, tx, rate_usd4, CALL_SOURCE_API);
}

const char *fix_embed_call(struct fix *fix, struct tx *tx, int64_t rate_usd4)
{
    return make(fix, tx, rate_usd4, CALL_SOURCE_EMBED);
}
