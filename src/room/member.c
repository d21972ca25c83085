#include "room/member.h"

#include <string.h>

#include "base/clock.h"
#include "base/js.h"
#include "base/mem.h"
#include "room/livekit.pb-c.h"

static size_t attributes_bytes(const struct js *attributes)
{
    size_t bytes = 0;
    for (void *it = js_first(attributes); it; it = js_next(attributes, it))
        bytes += strlen(js_key(it)) + js_text_len(js_value(it));
    return bytes;
}

/* False: there would be too many, or too much of them; those before it are set. */
static bool set_attributes(struct member *member, Lk__Pair *const *pairs, size_t count)
{
    size_t bytes = attributes_bytes(member->attributes);
    for (size_t i = 0; i < count; i++) {
        const struct js *old = js_get(member->attributes, pairs[i]->key);
        size_t key = strlen(pairs[i]->key);
        bytes -= old ? key + js_text_len(old) : 0;
        js_remove(member->attributes, pairs[i]->key);
        if (pairs[i]->value[0] == 0)
            continue;
        bytes += key + strlen(pairs[i]->value);
        if (js_count(member->attributes) >= MEMBER_ATTRIBUTES ||
            bytes > MEMBER_ATTRIBUTES_MAX_BYTES)
            return false;
        js_set(member->attributes, pairs[i]->key, js_string(pairs[i]->value));
    }
    return true;
}

void member_init(struct member *member, struct token *take_token, const Lk__JoinRequest *request)
{
    const struct token_claims *claims = &take_token->claims;
    *member = (struct member){.token = *take_token, .joined_wall_ms = clock_wall_ms()};
    id_new("PA_", member->sid);
    member->name = mem_strdup(claims->name);
    member->metadata = mem_strdup(claims->metadata);
    member->attributes = claims->attributes ? js_copy(claims->attributes) : js_object();
    *take_token = (struct token){0};
    if (!request || !member->token.claims.can_update_own_metadata)
        return;
    if (request->metadata[0] && strlen(request->metadata) <= MEMBER_METADATA_MAX_BYTES) {
        mem_free(member->metadata);
        member->metadata = mem_strdup(request->metadata);
    }
    set_attributes(member, request->participant_attributes, request->n_participant_attributes);
}

void member_clear(struct member *member)
{
    token_clear(&member->token);
    js_free(member->attributes);
    mem_free(member->name);
    mem_free(member->metadata);
    *member = (struct member){0};
}

/* Clients always send metadata and name along (LiveKit, Keep-alive). */
enum request_reason member_update(struct member *member,
                                  const Lk__UpdateParticipantMetadata *update)
{
    if (!member->token.claims.can_update_own_metadata)
        return REQUEST_NOT_ALLOWED;
    if (strlen(update->metadata) + strlen(update->name) > MEMBER_METADATA_MAX_BYTES ||
        !set_attributes(member, update->attributes, update->n_attributes))
        return REQUEST_LIMIT_EXCEEDED;
    mem_free(member->name);
    mem_free(member->metadata);
    member->name = mem_strdup(update->name);
    member->metadata = mem_strdup(update->metadata);
    return REQUEST_OK;
}
