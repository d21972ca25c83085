#include "model/header.h"

#include <string.h>
#include <strings.h>

#include "model/internal.h"

/* A name that ends with '-' stands for all that begin so. */
static const char *const reserved[] = {
    "Host",       "Content-Length", "Transfer-Encoding",
    "Connection", "Keep-Alive",     "Upgrade",
    "TE",         "Trailer",        "Expect",
    "Proxy-",     "X-Service-",
};

bool header_name_is_token(const char *name)
{
    static const char letters[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return *name && strspn(name, letters) == strlen(name);
}

bool header_name_is_reserved(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(reserved); i++) {
        size_t len = strlen(reserved[i]);
        bool is_prefix = reserved[i][len - 1] == '-';
        if (strncasecmp(name, reserved[i], len) == 0 && (is_prefix || name[len] == '\0'))
            return true;
    }
    return false;
}

void check_header_name(struct field_context *context, const struct field *row, void *object,
                       const char *path)
{
    const char *name = field_text(row, object);
    if (*name && !header_name_is_token(name))
        faults_add(&context->faults, path, "is not the name of a header");
    else if (header_name_is_reserved(name))
        faults_add(&context->faults, path,
                   "is a header that belongs to the connection or to the service");
}
