/* Frames between the service and its speech programs: what is read can be written back. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "vendor/voice_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *data = (const char *)bytes;
    size_t at = 0, used = 0;
    struct voice_frame frame;
    while (voice_frame_read(data + at, size - at, &frame, &used) == OK) {
        AUTO_BUF out = BUF_INIT(VOICE_HEADER_BYTES + VOICE_BODY_MAX_BYTES);
        enum err err = voice_frame_write(&frame, &out);
        assert(err == OK && out.len == used && memcmp(out.data, data + at, used) == 0);
        at += used;
        assert(at <= size);
    }
    return 0;
}
