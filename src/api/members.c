/* /v1/members: the people of a workspace, invited by links; /v1/keys: its API keys. Both are for
 * sessions alone: a key cannot make others, so that revoking it is the end of it. */
#include "model/member.h"

#include <string.h>

#include "api/page.h"
#include "api/request.h"
#include "api/resources.h"
#include "model/workspace.h"
#include "store/api_key.h"
#include "store/ceiling.h"
#include "store/member.h"
#include "store/session.h"
#include "store/tx.h"
#include "store/workspace.h"

struct members_query {
    struct page_query page;
};
static const struct field members_query_rows[] = {
    PAGE_QUERY_ROWS(struct members_query, page, "mem_"),
};
FIELD_TABLE(members_query_table, struct members_query, "MembersQuery", members_query_rows);

struct members_answer {
    struct member_list members;
    struct page_answer page;
};
static const struct field members_rows[] = {
    ROW_OBJECTS(struct members_answer, members, "members", struct member_list, &member_table),
    PAGE_ANSWER_ROWS(struct members_answer, page),
};
FIELD_TABLE(members_answer_table, struct members_answer, "MembersAnswer", members_rows);

struct member_answer {
    struct member member;
    const char *link;
};
static const struct field member_rows[] = {
    ROW_OBJECT(struct member_answer, member, "member", struct member, &member_table),
    ROW_TEXT(struct member_answer, link, "link", .flags = FIELD_OMIT_EMPTY,
             .about = "Signs the member in: once, within 15 minutes. Shown this once."),
};
FIELD_TABLE(member_answer_table, struct member_answer, "MemberAnswer", member_rows);

static enum err read_members(struct request *request, const struct page *page,
                             struct members_answer *out)
{
    struct tx *tx = request->job.tx;
    const char *workspace_id = request_workspace(request);
    enum err err = OK;
    for (size_t i = 0; i < page->ids.count && !err; i++)
        err =
            store_member_get(tx, workspace_id, page->ids.items[i], GROW(&out->members, tx->arena));
    out->page = page_answer(page);
    return err;
}

void members_list(struct request *request)
{
    struct members_query query;
    struct members_answer answer = {.page.next = ""};
    struct page_filter filter = {0};
    struct page page = {0};
    if (!request_query(request, &query))
        return;
    enum err err = OK;
    if (!page_is_asked(&query.page))
        err = store_member_list(request->job.tx, request_workspace(request), &answer.members);
    else if (page_find(request, LISTED_MEMBERS, &query.page, &filter, &page))
        err = read_members(request, &page, &answer);
    else
        return;
    if (request_found(request, err))
        request_answer(request, &answer, page.is_part ? FIELD_VIEW_PAGE : 0);
}

/* Adds a fresh link; false: answered. */
static bool add_link(struct request *request, struct member_answer *answer)
{
    char link[KEY_SIZE];
    if (!request_found(request, store_link_create(request->job.tx, answer->member.id, link)))
        return false;
    answer->link =
        arena_printf(request->job.tx->arena, "%s/studio#link=%s", request->deps->public_url, link);
    return true;
}

/* Is it stored? false: answered. */
static bool is_stored(struct request *request, enum err err)
{
    if (err == ERR_CONFLICT)
        request_fault(request, "email", "is that of another member");
    else if (err == ERR_LIMIT)
        request_error(request, API_CONFLICT);
    else
        return request_found(request, err);
    return false;
}

void members_create(struct request *request)
{
    struct member_answer answer = {.link = ""};
    struct field_context context;
    request_context(request, &context);
    field_create(&member_table, &answer.member, request_json(request), &context, "");
    answer.member.user_id = request_workspace(request);
    if (request_is_valid(request, &context) &&
        request_found(request, store_workspace_lock(request->job.tx, answer.member.user_id)) &&
        is_stored(request, store_member_insert(request->job.tx, &answer.member)) &&
        add_link(request, &answer))
        request_answer(request, &answer, 0);
}

void members_update(struct request *request)
{
    struct member_answer answer = {.link = ""};
    struct member *member = &answer.member;
    struct field_context context;
    const char *workspace_id = request_workspace(request);
    request_context(request, &context);
    if (!request_found(request, store_workspace_lock(request->job.tx, workspace_id)) ||
        !request_found(request, store_member_get(request->job.tx, workspace_id,
                                                 request->head.params[0], member)))
        return;
    bool is_moved = false, is_last = store_member_is_last_owner(request->job.tx, member);
    field_merge(&member_table, member, request_json(request), &context, "");
    if (!request_is_valid(request, &context))
        return;
    if (is_last && member->role != ROLE_OWNER)
        request_fault(request, "role", "the workspace needs an owner");
    else if (is_stored(request, store_member_update(request->job.tx, member, &is_moved)) &&
             (!is_moved || add_link(request, &answer)))
        request_answer(request, &answer, 0);
}

void members_remove(struct request *request)
{
    struct member member;
    struct tx *tx = request->job.tx;
    const char *workspace_id = request_workspace(request);
    struct removed answer = {.is_ok = true, .id = request->head.params[0]};
    if (!request_found(request, store_workspace_lock(tx, workspace_id)) ||
        !request_found(request, store_member_get(tx, workspace_id, answer.id, &member)))
        return;
    if (store_member_is_last_owner(tx, &member))
        request_error(request, API_CONFLICT);
    else if (request_found(request, store_member_remove(tx, workspace_id, answer.id)))
        request_answer(request, &answer, 0);
}

void members_link(struct request *request)
{
    struct member_answer answer = {.link = ""};
    if (request_found(request, store_member_get(request->job.tx, request_workspace(request),
                                                request->head.params[0], &answer.member)) &&
        add_link(request, &answer))
        request_answer(request, &answer, 0);
}

/* Keys. */

static const struct field listed_key_rows[] = {
    ROW_TEXT(struct api_key, id, "id", .flags = FIELD_READ_ONLY),
    ROW_TEXT(struct api_key, name, "name", .flags = FIELD_REQUIRED, .min = 1, .max = 100),
    ROW_TEXT(struct api_key, key, "key", .flags = FIELD_READ_ONLY | FIELD_OMIT_EMPTY,
             .about = "In full, the one time that it is made."),
    ROW_BOOL(struct api_key, is_revoked, "revoked", .flags = FIELD_READ_ONLY),
    ROW_TIME(struct api_key, created_wall_ms, "createdAt", .flags = FIELD_READ_ONLY),
    ROW_TIME(struct api_key, last_used_wall_ms, "lastUsedAt",
             .flags = FIELD_READ_ONLY | FIELD_NULL_EMPTY),
};
FIELD_TABLE(listed_key_table, struct api_key, "WorkspaceKey", listed_key_rows);

struct keys_query {
    struct page_query page;
};
static const struct field keys_query_rows[] = {
    PAGE_QUERY_ROWS(struct keys_query, page, "key_"),
};
FIELD_TABLE(keys_query_table, struct keys_query, "KeysQuery", keys_query_rows);

struct keys_answer {
    struct api_key_list keys;
    struct page_answer page;
};
static const struct field keys_rows[] = {
    ROW_OBJECTS(struct keys_answer, keys, "keys", struct api_key_list, &listed_key_table),
    PAGE_ANSWER_ROWS(struct keys_answer, page),
};
FIELD_TABLE(keys_answer_table, struct keys_answer, "KeysAnswer", keys_rows);

struct key_answer {
    struct api_key key;
};
static const struct field key_rows[] = {
    ROW_OBJECT(struct key_answer, key, "apiKey", struct api_key, &listed_key_table),
};
FIELD_TABLE(key_answer_table, struct key_answer, "KeyAnswer", key_rows);

static enum err read_keys(struct request *request, const struct page *page, struct keys_answer *out)
{
    struct tx *tx = request->job.tx;
    const char *workspace_id = request_workspace(request);
    enum err err = OK;
    for (size_t i = 0; i < page->ids.count && !err; i++)
        err = store_key_get(tx, workspace_id, page->ids.items[i], GROW(&out->keys, tx->arena));
    out->page = page_answer(page);
    return err;
}

void keys_list(struct request *request)
{
    struct keys_query query;
    struct keys_answer answer = {.page.next = ""};
    struct page_filter filter = {0};
    struct page page = {0};
    if (!request_query(request, &query))
        return;
    enum err err = OK;
    if (!page_is_asked(&query.page))
        err = store_key_list(request->job.tx, request_workspace(request), &answer.keys);
    else if (page_find(request, LISTED_KEYS, &query.page, &filter, &page))
        err = read_keys(request, &page, &answer);
    else
        return;
    if (request_found(request, err))
        request_answer(request, &answer, page.is_part ? FIELD_VIEW_PAGE : 0);
}

void keys_create(struct request *request)
{
    struct key_answer answer;
    struct field_context context;
    const char *workspace_id = request_workspace(request);
    request_context(request, &context);
    field_create(&listed_key_table, &answer.key, request_json(request), &context, "");
    if (context.faults.count == 0 && !workspace_name_is_good(answer.key.name))
        faults_add(&context.faults, "name", "must be 1 to 100 printable characters");
    if (request_is_valid(request, &context) &&
        request_found(request, store_key_create(request->job.tx, workspace_id, answer.key.name,
                                                &answer.key)) &&
        request_fits(request, 1 << CEILING_KEYS))
        request_answer(request, &answer, 0);
}

void keys_revoke(struct request *request)
{
    const char *id = request->head.params[0];
    if (request_found(request, store_key_revoke(request->job.tx, request_workspace(request), id)))
        request_answer(request, &(struct removed){true, id}, 0);
}
