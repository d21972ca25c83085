/* GET /v1/me: whose key this is; GET /v1/sessions: of a member, which others there are. */
#include <string.h>

#include "api/request.h"
#include "api/resources.h"
#include "base/js.h"
#include "store/member.h"
#include "store/session.h"
#include "store/workspace.h"

enum { ACCOUNT_MAX_BYTES = 16384 };

struct me_answer {
    const char *account; /* null for a workspace key */
    struct api_key key;
    bool is_admin;
    struct workspace_list workspaces;
};
static const struct field me_rows[] = {
    ROW_JSON(struct me_answer, account, "account", .flags = FIELD_NULL_EMPTY,
             .about = "The member, in a session of the studio; null for a workspace key."),
    ROW_OBJECT(struct me_answer, key, "apiKey", struct api_key, &api_key_table),
    ROW_BOOL(struct me_answer, is_admin, "isAdmin"),
    ROW_OBJECTS(struct me_answer, workspaces, "workspaces", struct workspace_list, &workspace_table,
                .about = "Exactly one: the key's."),
};
FIELD_TABLE(me_answer_table, struct me_answer, "Me", me_rows);

/* The member whose session it is, as JSON. */
static bool read_account(struct request *request, struct me_answer *answer)
{
    const struct principal *who = &request->who.principal;
    struct member member;
    AUTO_BUF text = BUF_INIT(ACCOUNT_MAX_BYTES);
    struct js_out out;
    if (!request_found(request,
                       store_member_get(request->job.tx, who->workspace_id, who->key_id, &member)))
        return false;
    js_out_init(&out, &text);
    field_write(&member_table, &member, FIELD_VIEW_API, NULL, &out);
    answer->account = arena_strdup(request->job.tx->arena, text.data);
    return true;
}

void me_get(struct request *request)
{
    const struct principal *who = &request->who.principal;
    struct workspace workspace;
    if (!request_found(request,
                       store_workspace_get(request->job.tx, who->workspace_id, &workspace)))
        return;
    struct me_answer answer = {
        .account = "null",
        .key = {.id = who->key_id, .name = who->key_name},
        .workspaces = {&workspace, 1},
    };
    if (who->kind == KEY_SESSION && !read_account(request, &answer))
        return;
    request_answer(request, &answer, 0);
}

struct sessions_answer {
    struct session_list sessions;
};
static const struct field sessions_rows[] = {
    ROW_OBJECTS(struct sessions_answer, sessions, "sessions", struct session_list, &session_table),
};
FIELD_TABLE(sessions_answer_table, struct sessions_answer, "SessionsAnswer", sessions_rows);

void sessions_list(struct request *request)
{
    struct sessions_answer answer;
    const struct principal *who = &request->who.principal;
    if (!request_found(request, store_session_list(request->job.tx, who->key_id, &answer.sessions)))
        return;
    for (size_t i = 0; i < answer.sessions.count; i++)
        answer.sessions.items[i].is_current =
            strcmp(answer.sessions.items[i].id, who->session_id) == 0;
    request_answer(request, &answer, 0);
}
