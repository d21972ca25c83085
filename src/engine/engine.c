/* The words of call.error for each class of failure. */
#include "engine/engine.h"

#include "base/attr.h"

static const char *const names[] = {
    [ENGINE_OK] = "ok",
    [ENGINE_AUTH] = "the engine refused the key",
    [ENGINE_BAD_REQUEST] = "the engine refused the request",
    [ENGINE_QUOTA] = "the engine's quota is used up",
    [ENGINE_TRANSIENT] = "the engine could not be reached",
    [ENGINE_PROTOCOL] = "the engine's answer could not be understood",
    [ENGINE_TIMEOUT] = "the engine did not answer in time",
    [ENGINE_CROWDED] = "too many requests of this workspace wait for the engine",
    [ENGINE_INTERRUPTED] = "the engine was interrupted",
};
_Static_assert(ARRAY_LEN(names) == ENGINE_ERROR_COUNT, "a name for each error");

const char *engine_error_name(enum engine_error error)
{
    return names[error];
}
