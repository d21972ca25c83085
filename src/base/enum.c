#include "base/enum.h"

#include <string.h>

int enum_find(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; name && i < count; i++)
        if (names[i] && strcmp(names[i], name) == 0)
            return (int)i;
    return -1;
}
