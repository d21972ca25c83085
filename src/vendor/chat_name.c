#include "vendor/chat_name.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "engine/llm.h"

enum { HASH_DIGITS = 8, KEPT_CHARS = CHAT_NAME_SIZE - 1 - HASH_DIGITS - 1 };

static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

const char *chat_name(const char *name, char out[CHAT_NAME_SIZE])
{
    size_t len = strlen(name);
    if (len > 0 && len < CHAT_NAME_SIZE && strspn(name, allowed) == len)
        return name;
    char hash[SHA256_HEX], kept[KEPT_CHARS + 1] = "";
    crypto_sha256_hex(name, len, hash);
    for (size_t i = 0; i < KEPT_CHARS && i < len; i++)
        kept[i] = strchr(allowed, name[i]) ? name[i] : '_';
    snprintf(out, CHAT_NAME_SIZE, "%s_%.*s", kept, HASH_DIGITS, hash);
    return out;
}

const char *chat_name_back(const char *sent, const struct llm_request *request)
{
    char alias[CHAT_NAME_SIZE];
    for (size_t i = 0; i < request->tool_count; i++)
        if (strcmp(chat_name(request->tools[i].name, alias), sent) == 0)
            return request->tools[i].name;
    return sent;
}
