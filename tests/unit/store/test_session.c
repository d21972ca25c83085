/* Signing in: a link once and for a quarter of an hour, a session 12 h after its last request and
 * 30 days at most, few of each, and no secret of either in any row. Time is the transaction's. */
#include "store/session.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "model/workspace.h"
#include "store/api_key.h"
#include "store/member.h"
#include "store/tx.h"
#include "unit/store/fixture.h"

enum { MINUTE_MS = 60 * 1000, HOUR_MS = 60 * MINUTE_MS };

static struct member add_member(struct fix *fix, struct tx *tx, const char *email)
{
    struct member member = {
        .user_id = fix->workspace_id, .name = "Ann", .email = email, .role = ROLE_EDITOR};
    CHECK_INT(store_member_insert(tx, &member), OK);
    return member;
}

/* The usual beginning: people, a transaction, a member. */
static struct tx *begin_with(struct fix *fix, struct member *out)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    *out = add_member(fix, tx, "ann@example.com");
    return tx;
}

struct secret {
    char text[KEY_SIZE];
};

static struct secret make_link(struct tx *tx, const struct member *member)
{
    struct secret link = {{0}};
    CHECK_INT(store_link_create(tx, member->id, link.text), OK);
    return link;
}

static struct secret sign_in(struct tx *tx, const struct member *member)
{
    struct secret key = {{0}};
    CHECK_INT(store_session_create(tx, member, "Firefox", "203.0.113.7", key.text), OK);
    return key;
}

static enum err use(struct tx *tx, const struct secret *link)
{
    struct member ignored;
    return store_link_use(tx, link->text, &ignored);
}

static enum err find(struct tx *tx, const struct secret *key)
{
    struct principal ignored;
    return store_key_find(tx, key->text, &ignored);
}

/* A request with the session, which must be good. */
static void ask(struct tx *tx, const struct secret *key)
{
    struct principal who = {0};
    CHECK_INT(store_key_find(tx, key->text, &who), OK);
    CHECK_INT(store_session_touch(tx, who.session_id), OK);
}

static size_t sessions_of(struct tx *tx, const struct member *member)
{
    struct session_list list = {0};
    CHECK_INT(store_session_list(tx, member->id, &list), OK);
    return list.count;
}

STORE_TEST(a_link_signs_in_once)
{
    struct member ann, found;
    struct tx *tx = begin_with(fix, &ann);
    struct secret link = make_link(tx, &ann);
    CHECK_INT(store_link_look(tx, link.text), OK);
    REQUIRE(store_link_use(tx, link.text, &found) == OK);
    CHECK_TEXT(found.id, ann.id);
    CHECK_TEXT(found.user_id, fix->workspace_id);
    CHECK_INT(found.role, ROLE_EDITOR);
    CHECK_INT(store_link_look(tx, link.text), ERR_NOT_FOUND);
    CHECK_INT(use(tx, &link), ERR_NOT_FOUND);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(a_link_is_good_for_a_quarter_of_an_hour)
{
    struct member ann;
    struct tx *tx = begin_with(fix, &ann);
    int64_t t0 = tx->now_ms;
    struct secret link = make_link(tx, &ann);
    tx->now_ms = t0 + 15 * MINUTE_MS;
    CHECK_INT(store_link_look(tx, link.text), ERR_NOT_FOUND);
    CHECK_INT(use(tx, &link), ERR_NOT_FOUND);
    tx->now_ms = t0 + 15 * MINUTE_MS - 1;
    CHECK_INT(store_link_look(tx, link.text), OK);
    CHECK_INT(use(tx, &link), OK);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(a_member_has_one_link_the_newest)
{
    struct member ann;
    struct tx *tx = begin_with(fix, &ann), *later;
    struct member bo = add_member(fix, tx, "bo@example.com");
    struct secret first = make_link(tx, &ann), other = make_link(tx, &bo);
    struct secret second = make_link(tx, &ann);
    CHECK_INT(fix_commit(tx), OK);
    later = fix_write(fix);
    CHECK_INT(use(later, &first), ERR_NOT_FOUND);
    CHECK_INT(use(later, &second), OK);
    CHECK_INT(use(later, &other), OK);
    CHECK_INT(fix_commit(later), OK);
}

STORE_TEST(a_session_ends_12_hours_after_its_last_request)
{
    struct member ann;
    struct tx *tx = begin_with(fix, &ann);
    int64_t t0 = tx->now_ms;
    struct secret key = sign_in(tx, &ann);
    tx->now_ms = t0 + 12 * HOUR_MS - 1;
    ask(tx, &key);
    CHECK_INT(sessions_of(tx, &ann), 1);
    tx->now_ms = t0 + 24 * HOUR_MS - 2;
    CHECK_INT(find(tx, &key), OK);
    tx->now_ms = t0 + 24 * HOUR_MS - 1;
    CHECK_INT(find(tx, &key), ERR_NOT_FOUND);
    CHECK_INT(sessions_of(tx, &ann), 0);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(a_session_that_is_used_ends_after_30_days)
{
    struct member ann;
    struct tx *tx = begin_with(fix, &ann);
    int64_t t0 = tx->now_ms, end_ms = t0 + INT64_C(30) * 24 * HOUR_MS;
    struct secret key = sign_in(tx, &ann);
    for (tx->now_ms = t0 + 11 * HOUR_MS; tx->now_ms < end_ms - 1; tx->now_ms += 11 * HOUR_MS)
        ask(tx, &key);
    tx->now_ms = end_ms - 1;
    ask(tx, &key);
    tx->now_ms = end_ms;
    CHECK_INT(find(tx, &key), ERR_NOT_FOUND);
    CHECK_INT(sessions_of(tx, &ann), 0);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(a_member_has_20_sessions_and_the_one_used_least_lately_goes)
{
    struct member ann;
    struct tx *tx = begin_with(fix, &ann);
    struct member bo = add_member(fix, tx, "bo@example.com");
    struct secret other = sign_in(tx, &bo), keys[SESSIONS_MAX + 1];
    for (size_t i = 0; i < SESSIONS_MAX; i++) {
        keys[i] = sign_in(tx, &ann);
        tx->now_ms += MINUTE_MS;
    }
    ask(tx, &keys[0]);
    tx->now_ms += MINUTE_MS;
    keys[SESSIONS_MAX] = sign_in(tx, &ann);
    for (size_t i = 0; i <= SESSIONS_MAX; i++)
        CHECK_INT(find(tx, &keys[i]), i == 1 ? ERR_NOT_FOUND : OK);
    CHECK_INT(sessions_of(tx, &ann), 20);
    CHECK_INT(find(tx, &other), OK);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(what_is_over_is_swept_and_nothing_else)
{
    struct member ann;
    struct tx *tx = begin_with(fix, &ann);
    struct member bo = add_member(fix, tx, "bo@example.com");
    int64_t t0 = tx->now_ms;
    sign_in(tx, &ann);
    tx->now_ms = t0 + 12 * HOUR_MS - 15 * MINUTE_MS;
    struct secret key = sign_in(tx, &bo);
    make_link(tx, &ann);
    tx->now_ms = t0 + 12 * HOUR_MS - 1;
    CHECK(!store_session_is_due(tx));
    CHECK_INT(store_session_sweep(tx), OK);
    CHECK_INT(QUERY_NUMBER(tx, 0, "SELECT COUNT(*) FROM sessions"), 2);
    CHECK_INT(QUERY_NUMBER(tx, 0, "SELECT COUNT(*) FROM links"), 1);
    struct secret link = make_link(tx, &bo);
    tx->now_ms++;
    CHECK(store_session_is_due(tx));
    CHECK_INT(store_session_sweep(tx), OK);
    CHECK(!store_session_is_due(tx));
    CHECK_INT(QUERY_NUMBER(tx, 0, "SELECT COUNT(*) FROM sessions"), 1);
    CHECK_INT(QUERY_NUMBER(tx, 0, "SELECT COUNT(*) FROM links"), 1);
    CHECK_INT(find(tx, &key), OK);
    CHECK_INT(use(tx, &link), OK);
    CHECK_INT(fix_commit(tx), OK);
}

/* In how many columns of all tables a text is found. */
static int64_t places_of(struct fix *fix, struct tx *tx, const char *text)
{
    int64_t places = 0, columns = 0;
    AUTO_MEM char *like = mem_printf("%%%s%%", text);
    AUTO(cursor) row = QUERY(
        tx, fix->is_pg ? "SELECT table_name, column_name FROM information_schema.columns"
                         " WHERE table_schema = 'public'"
                       : "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name)"
                         " c WHERE m.type = 'table'");
    for (; cursor_next(row); columns++) {
        AUTO_MEM char *sql = mem_printf("SELECT COUNT(*) FROM \"%s\" WHERE CAST(\"%s\" AS TEXT)"
                                        " LIKE ?",
                                        cursor_text(row, 0), cursor_text(row, 1));
        places += QUERY_NUMBER(tx, 0, arena_strdup(tx->arena, sql), TEXT(like)) > 0;
    }
    CHECK(columns > 100);
    return places;
}

STORE_TEST(no_row_holds_the_secret_of_a_link_or_a_session)
{
    struct member ann;
    struct tx *tx = begin_with(fix, &ann);
    struct secret link = make_link(tx, &ann), key = sign_in(tx, &ann);
    const char *const secrets[] = {link.text, key.text};
    for (size_t i = 0; i < ARRAY_LEN(secrets); i++) {
        char sha[SHA256_HEX];
        crypto_sha256_hex(secrets[i], strlen(secrets[i]), sha);
        CHECK_INT(places_of(fix, tx, sha), 1);
        CHECK_INT(places_of(fix, tx, secrets[i] + strlen(LINK_PREFIX)), 0);
    }
    CHECK_INT(fix_commit(tx), OK);
}
