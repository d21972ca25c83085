/* Workspace and API key as the API shows them. */
#include "model/workspace.h"

#include <string.h>

#include "base/utf8.h"
#include "model/internal.h"

enum { NAME_MAX_CHARACTERS = 100 };

bool workspace_name_is_good(const char *name)
{
    size_t len = strlen(name), count = utf8_count(name);
    if (!utf8_is_valid(name, len) || count > NAME_MAX_CHARACTERS || strspn(name, " ") == len)
        return false;
    for (size_t at = 0; at < len;) {
        uint32_t code;
        at += utf8_decode(name + at, len - at, &code);
        if (code < ' ' || (code >= 0x7f && code < 0xa0))
            return false;
    }
    return true;
}

static const struct field workspace_rows[] = {
    ROW_TEXT(struct workspace, id, "id", .column = "id", .flags = FIELD_READ_ONLY,
             .example = "\"usr_01abcdefghijklmnopqr\""),
    ROW_TEXT(struct workspace, name, "name", .column = "name"),
    ROW_MONEY(struct workspace, balance_usd4, "balance", .column = "balance_usd4",
              .about = "Balance, up to four decimals."),
    ROW_TEXT(struct workspace, currency, "currency", .about = "Currency code of the balance."),
    ROW_TEXT(struct workspace, plan, "plan", .column = "plan",
             .about = "An id of the catalog's plans."),
    ROW_INT(struct workspace, max_concurrent_calls, "maxConcurrentCalls",
            .column = "max_concurrent_calls",
            .about = "Calls that may be in created or active at the same time."),
    ROW_TIME(struct workspace, created_wall_ms, "createdAt", STORED_ONLY("created_ms")),
};
FIELD_TABLE(workspace_table, struct workspace, "Workspace", workspace_rows);

static const struct field api_key_rows[] = {
    ROW_TEXT(struct api_key, id, "id", .column = "id", .flags = FIELD_READ_ONLY),
    ROW_TEXT(struct api_key, name, "name", .column = "name"),
    ROW_TEXT(struct api_key, key, "key", .flags = FIELD_OMIT_EMPTY, .only = FIELD_VIEW_REVEAL,
             .about = "The key in full, shown once."),
    ROW_TEXT(struct api_key, workspace_id, "workspaceId", STORED_ONLY("workspace_id")),
    ROW_TIME(struct api_key, created_wall_ms, "createdAt", STORED_ONLY("created_ms")),
    ROW_TIME(struct api_key, last_used_wall_ms, "lastUsedAt", STORED_ONLY("last_used_ms")),
};
FIELD_TABLE(api_key_table, struct api_key, "ApiKey", api_key_rows);
