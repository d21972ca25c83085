/* GET /v1/me: whose key this is. */
#include "api/request.h"
#include "api/resources.h"
#include "store/workspace.h"

struct me_answer {
    const char *account; /* null for a workspace key */
    struct api_key key;
    bool is_admin;
    struct workspace_list workspaces;
};
static const struct field me_rows[] = {
    ROW_JSON(struct me_answer, account, "account", .flags = FIELD_NULL_EMPTY,
             .about = "Null for a workspace key."),
    ROW_OBJECT(struct me_answer, key, "apiKey", struct api_key, &api_key_table),
    ROW_BOOL(struct me_answer, is_admin, "isAdmin"),
    ROW_OBJECTS(struct me_answer, workspaces, "workspaces", struct workspace_list, &workspace_table,
                .about = "Exactly one: the key's."),
};
FIELD_TABLE(me_answer_table, struct me_answer, "Me", me_rows);

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
    request_answer(request, &answer, 0);
}
