/* Messages of others, unpacked with a ceiling: a few bytes of protobuf can ask for many small
 * pieces of memory, and for a list of where they stand. Thread: any. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ProtobufCMessageDescriptor;

enum {
    UNPACK_PIECES = 2000,           /* of memory, in one message; clients' have some 200 */
    UNPACK_MORE_BYTES = 256 * 1024, /* beyond twice the message */
};

/* NULL: malformed, or over the ceiling. Freed by the message's free_unpacked(message, NULL). */
void *unpack_message(const struct ProtobufCMessageDescriptor *descriptor, const uint8_t *data,
                     size_t len);
