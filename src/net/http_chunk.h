/* The chunked transfer coding (RFC 9112 section 7.1), decoded strictly: CRLF only, no spaces around
 * sizes, extensions and trailers read and dropped under a ceiling. Sans-I/O. Thread: its owner's.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

enum http_chunk_state {
    CHUNK_SIZE,
    CHUNK_EXTENSION,
    CHUNK_SIZE_LF,
    CHUNK_DATA,
    CHUNK_DATA_CR,
    CHUNK_DATA_LF,
    CHUNK_TRAILER, /* at the start of a trailer line */
    CHUNK_TRAILER_LINE,
    CHUNK_TRAILER_LF,
    CHUNK_END_LF,
    CHUNK_DONE
};

struct http_chunk {
    enum http_chunk_state state;
    uint64_t left;   /* of the chunk */
    unsigned digits; /* of its size */
    unsigned extra;  /* bytes of extensions and trailers so far */
};

/* Reads up to len bytes; *out_used of them are done with. At most one piece of data is found in a
 * call: *out_data of *out_len bytes (0: none) lies within `data`. ERR_AGAIN: more bytes are needed.
 * OK: call again, unless state is CHUNK_DONE. ERR_INVALID: malformed. Begin with a zeroed struct.
 */
enum err http_chunk_read(struct http_chunk *chunk, const char *data, size_t len, size_t *out_used,
                         const char **out_data, size_t *out_len) MUST_USE;
