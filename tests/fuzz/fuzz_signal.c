/* Signalling messages of both directions: what unpacks packs again. */
#include "fuzz.h"

#include <assert.h>
#include <stdlib.h>

#include "room/livekit.pb-c.h"

static void try_message(const ProtobufCMessageDescriptor *kind, const uint8_t *data, size_t size)
{
    ProtobufCMessage *message = protobuf_c_message_unpack(kind, NULL, size, data);
    if (!message)
        return;
    size_t len = protobuf_c_message_get_packed_size(message);
    uint8_t *out = malloc(len ? len : 1);
    assert(protobuf_c_message_pack(message, out) == len);
    free(out);
    protobuf_c_message_free_unpacked(message, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_message(&lk__signal_request__descriptor, data, size);
    try_message(&lk__signal_response__descriptor, data, size);
    return 0;
}
