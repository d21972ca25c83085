/* The table of roles: a viewer looks and searches, an editor changes and calls, an owner decides
 * who else may. */
#include "api/roles.h"

#include <string.h>

#include "base/attr.h"

static const struct {
    const char *operation;
    enum member_role least;
} rows[] = {
    {"getMe", ROLE_VIEWER},           {"getCatalog", ROLE_VIEWER},
    {"listVoices", ROLE_VIEWER},      {"listAgents", ROLE_VIEWER},
    {"createAgent", ROLE_EDITOR},     {"getAgent", ROLE_VIEWER},
    {"updateAgent", ROLE_EDITOR},     {"deleteAgent", ROLE_EDITOR},
    {"rotateAgentKey", ROLE_OWNER},   {"rotateAgentPublicKey", ROLE_EDITOR},
    {"listTools", ROLE_VIEWER},       {"createTool", ROLE_EDITOR},
    {"getTool", ROLE_VIEWER},         {"updateTool", ROLE_EDITOR},
    {"deleteTool", ROLE_EDITOR},      {"testTool", ROLE_EDITOR},
    {"listDocuments", ROLE_VIEWER},   {"addDocument", ROLE_EDITOR},
    {"getDocument", ROLE_VIEWER},     {"deleteDocument", ROLE_EDITOR},
    {"getDocumentFile", ROLE_VIEWER}, {"retryDocument", ROLE_EDITOR},
    {"searchDocuments", ROLE_VIEWER}, {"listCalls", ROLE_VIEWER},
    {"startCall", ROLE_EDITOR},       {"getCall", ROLE_VIEWER},
    {"deleteCall", ROLE_EDITOR},      {"endCall", ROLE_EDITOR},
    {"listToolRuns", ROLE_VIEWER},    {"listCallEvents", ROLE_VIEWER},
    {"streamCall", ROLE_VIEWER},      {"sayInCall", ROLE_EDITOR},
    {"listWebhooks", ROLE_VIEWER},    {"createWebhook", ROLE_EDITOR},
    {"listEventTypes", ROLE_VIEWER},  {"getWebhook", ROLE_VIEWER},
    {"updateWebhook", ROLE_EDITOR},   {"deleteWebhook", ROLE_EDITOR},
    {"testWebhook", ROLE_EDITOR},     {"listDeliveries", ROLE_VIEWER},
    {"resendDelivery", ROLE_EDITOR},  {"signOut", ROLE_VIEWER},
    {"listSessions", ROLE_VIEWER},    {"endSession", ROLE_VIEWER},
    {"setPassword", ROLE_VIEWER},     {"getUsage", ROLE_VIEWER},
    {"listMembers", ROLE_VIEWER},     {"createMember", ROLE_OWNER},
    {"updateMember", ROLE_OWNER},     {"deleteMember", ROLE_OWNER},
    {"linkMember", ROLE_OWNER},       {"listKeys", ROLE_OWNER},
    {"createKey", ROLE_OWNER},        {"revokeKey", ROLE_OWNER},
    {"previewVoice", ROLE_EDITOR},    {"listPassages", ROLE_VIEWER},
};

static size_t find(const char *operation)
{
    size_t i = 0;
    while (i < ARRAY_LEN(rows) && strcmp(rows[i].operation, operation) != 0)
        i++;
    return i;
}

bool role_knows(const char *operation)
{
    return find(operation) < ARRAY_LEN(rows);
}

bool role_may(enum member_role role, const char *operation)
{
    size_t i = find(operation);
    return i < ARRAY_LEN(rows) && role >= rows[i].least;
}
