/* The words of the error codes, and the one way to fill a fault. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const names[] = {
    [OK] = "ok",
    [ERR_INVALID] = "invalid",
    [ERR_LIMIT] = "limit reached",
    [ERR_NOT_FOUND] = "not found",
    [ERR_CONFLICT] = "conflict",
    [ERR_DENIED] = "denied",
    [ERR_UNSUPPORTED] = "unsupported",
    [ERR_TIMEOUT] = "timed out",
    [ERR_CLOSED] = "closed",
    [ERR_AGAIN] = "try again",
    [ERR_IO] = "input/output error",
    [ERR_BUSY] = "busy",
    [ERR_INTERNAL] = "internal error",
};
_Static_assert(ARRAY_LEN(names) == ERR_COUNT, "every error has a name");

const char *err_name(enum err err)
{
    return (unsigned)err < ARRAY_LEN(names) ? names[err] : "unknown error";
}

enum err fault_set(struct fault *fault, enum err err, const char *format, ...)
{
    if (!fault)
        return err;
    fault->err = err;
    va_list args;
    va_start(args, format);
    vsnprintf(fault->text, sizeof(fault->text), format, args);
    va_end(args);
    return err;
}
