#include "room/member.h"

#include <stdio.h>
#include <string.h>

#include "base/js.h"
#include "base/mem.h"
#include "room/livekit.pb-c.h"
#include "test.h"

static struct member member_of(bool may_change, const Lk__JoinRequest *request)
{
    struct member member;
    struct token token = {.claims = {.identity = "ann",
                                     .name = "Ann",
                                     .metadata = "of the token",
                                     .can_update_own_metadata = may_change}};
    member_init(&member, &token, request);
    return member;
}

static enum request_reason update(struct member *member, const char *metadata, const char *key,
                                  const char *value)
{
    Lk__Pair pair = LK__PAIR__INIT, *pairs = &pair;
    Lk__UpdateParticipantMetadata message = LK__UPDATE_PARTICIPANT_METADATA__INIT;
    pair.key = (char *)(uintptr_t)key;
    pair.value = (char *)(uintptr_t)value;
    message.n_attributes = 1;
    message.attributes = &pairs;
    message.name = (char *)(uintptr_t) "Anna";
    message.metadata = (char *)(uintptr_t)metadata;
    return member_update(member, &message);
}

TEST(a_join_sets_its_own_metadata_only_with_the_grant)
{
    Lk__JoinRequest request = LK__JOIN_REQUEST__INIT;
    request.metadata = (char *)(uintptr_t) "of the request";
    struct member without = member_of(false, &request), with = member_of(true, &request);
    CHECK_TEXT(without.metadata, "of the token");
    CHECK_TEXT(with.metadata, "of the request");
    member_clear(&without);
    member_clear(&with);
}

TEST(a_change_without_the_grant_is_refused)
{
    struct member member = member_of(false, NULL);
    CHECK_INT(update(&member, "new", "k", "v"), REQUEST_NOT_ALLOWED);
    CHECK_TEXT(member.name, "Ann");
    CHECK_INT(js_count(member.attributes), 0);
    member_clear(&member);
}

TEST(a_change_sets_name_metadata_and_attributes)
{
    struct member member = member_of(true, NULL);
    CHECK_INT(update(&member, "new", "k", "v"), REQUEST_OK);
    CHECK_TEXT(member.name, "Anna");
    CHECK_TEXT(member.metadata, "new");
    CHECK_TEXT(js_text_or(js_get(member.attributes, "k"), ""), "v");
    CHECK_INT(update(&member, "new", "k", ""), REQUEST_OK);
    CHECK_INT(js_count(member.attributes), 0);
    member_clear(&member);
}

TEST(attributes_have_a_ceiling_of_number_and_bytes)
{
    char key[16];
    struct member member = member_of(true, NULL);
    AUTO_MEM char *big = mem_zalloc(MEMBER_ATTRIBUTES_MAX_BYTES + 1);
    memset(big, 'x', MEMBER_ATTRIBUTES_MAX_BYTES);
    CHECK_INT(update(&member, "", "k", big), REQUEST_LIMIT_EXCEEDED);
    for (int i = 0; i < MEMBER_ATTRIBUTES; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        CHECK_INT(update(&member, "", key, "v"), REQUEST_OK);
    }
    CHECK_INT(update(&member, "", "one more", "v"), REQUEST_LIMIT_EXCEEDED);
    CHECK_INT(update(&member, "", "k0", "other"), REQUEST_OK);
    CHECK_INT(js_count(member.attributes), MEMBER_ATTRIBUTES);
    member_clear(&member);
}
