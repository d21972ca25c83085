/* Events of a Wyoming server: whatever is read is within the bytes, and is written as it was. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "base/js.h"
#include "vendor/wyoming.h"

static void check(const char *bytes, size_t len)
{
    struct wyoming_event event;
    size_t used;
    if (wyoming_read(bytes, len, &event, &used) != OK)
        return;
    assert(used <= len && event.payload >= bytes &&
           event.payload + event.payload_len <= bytes + len);
    assert(strlen(event.type) < sizeof(event.type));
    js_free(event.data);
    assert(wyoming_read(bytes, used - 1, &event, &used) == ERR_AGAIN);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < size && at < 64; at++)
        check((const char *)bytes + at, size - at);
    return 0;
}
