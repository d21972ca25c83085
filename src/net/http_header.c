#include "net/http_header.h"

#include <string.h>
#include <strings.h>

const char *http_header_find(const struct http_header *headers, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(headers[i].name, name) == 0)
            return headers[i].value;
    return NULL;
}

bool http_list_has(const char *list, const char *token)
{
    size_t token_len = strlen(token);
    while (list && *list) {
        list += strspn(list, ", \t");
        size_t len = strcspn(list, ",");
        size_t trimmed = len;
        while (trimmed > 0 && (list[trimmed - 1] == ' ' || list[trimmed - 1] == '\t'))
            trimmed--;
        if (trimmed == token_len && strncasecmp(list, token, token_len) == 0)
            return true;
        list += len;
    }
    return false;
}
