/* Keys that are remembered: whoever uses one is in use, however many were used before. */
#include "api/keys.h"

#include "await.h"
#include "base/loop.h"
#include "store/member.h"
#include "store/session.h"
#include "store/tx.h"
#include "unit/store/fixture.h"

enum { MOST = 2, SESSIONS = 5, AGO_MS = 10 * 60 * 1000 };

struct asking {
    struct keys *keys;
    struct loop *loop;
    char sessions[SESSIONS][KEY_SIZE];
    size_t asked, found;
};

static void ask(void *arg);

static void on_found(void *arg, enum err err, const struct principal *principal)
{
    struct asking *asking = arg;
    CHECK_INT(err, OK);
    asking->found += principal != NULL;
    loop_post(asking->loop, ask, asking);
}

static void ask(void *arg)
{
    struct asking *asking = arg;
    if (asking->asked == SESSIONS)
        loop_stop(asking->loop);
    else
        keys_find(asking->keys, asking->sessions[asking->asked++], "203.0.113.7", on_found, asking);
}

/* Ten minutes ago, each in a browser of its own. */
static void sign_in(struct fix *fix, struct asking *asking)
{
    struct member member = {
        .user_id = fix->workspace_id, .name = "Ann", .email = "", .role = ROLE_EDITOR};
    fix->ahead_ms = -AGO_MS;
    struct tx *tx = fix_write(fix);
    CHECK_INT(store_member_insert(tx, &member), OK);
    for (size_t i = 0; i < SESSIONS; i++)
        CHECK_INT(store_session_create(tx, &member, "Firefox", "203.0.113.7", asking->sessions[i]),
                  OK);
    CHECK_INT(fix_commit(tx), OK);
}

static int64_t sessions_used(struct fix *fix)
{
    struct tx *tx = fix_read(fix);
    int64_t count = QUERY_NUMBER(tx, 0, "SELECT COUNT(*) FROM sessions WHERE used_ms > created_ms");
    fix_rollback(tx);
    return count;
}

STORE_TEST(a_session_is_in_use_however_many_were_before_it)
{
    AUTO(loop) loop = loop_new("keys");
    struct asking asking = {.loop = loop, .keys = keys_new(loop, fix->store, MOST)};
    fix_people(fix);
    sign_in(fix, &asking);
    loop_post(loop, ask, &asking);
    loop_run(loop);
    CHECK_INT(asking.found, SESSIONS);
    AWAIT(sessions_used(fix) == SESSIONS, 60);
    keys_free(asking.keys);
}
