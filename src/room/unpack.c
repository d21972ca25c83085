#include "room/unpack.h"

#include <protobuf-c/protobuf-c.h>

#include "base/mem.h"

struct ceiling {
    size_t pieces, bytes; /* left */
};

static void *give(void *arg, size_t len)
{
    struct ceiling *ceiling = arg;
    if (ceiling->pieces == 0 || len > ceiling->bytes)
        return NULL;
    ceiling->pieces--;
    ceiling->bytes -= len;
    return mem_zalloc(len);
}

static void take_back(void *arg, void *memory)
{
    (void)arg;
    mem_free(memory);
}

void *unpack_message(const struct ProtobufCMessageDescriptor *descriptor, const uint8_t *data,
                     size_t len)
{
    struct ceiling ceiling = {UNPACK_PIECES, 2 * len + UNPACK_MORE_BYTES};
    ProtobufCAllocator allocator = {give, take_back, &ceiling};
    return protobuf_c_message_unpack(descriptor, &allocator, len, data);
}
