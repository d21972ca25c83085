/* Request heads, and chunked bodies after them, cut as the second byte says. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "net/http_chunk.h"
#include "net/http_head.h"

static const struct http_limits limits = {4096, 16384, 50};

static void check_head(const struct http_head *head)
{
    assert(head->method && head->path && head->path[0]);
    assert(head->content_length < 0 || !head->is_chunked);
    for (size_t i = 0; i < head->header_count; i++) {
        assert(head->headers[i].name[0] && !strpbrk(head->headers[i].name, " \t\r\n:"));
        assert(!strpbrk(head->headers[i].value, "\r\n"));
    }
}

static void read_chunks(const char *data, size_t len, size_t step)
{
    struct http_chunk chunk = {0};
    size_t at = 0, have = MIN(step, len);
    while (chunk.state != CHUNK_DONE) {
        const char *piece;
        size_t used, piece_len;
        enum err err = http_chunk_read(&chunk, data + at, have - at, &used, &piece, &piece_len);
        if (err == ERR_INVALID)
            return;
        assert(used <= have - at);
        assert(piece_len == 0 || (piece >= data + at && piece + piece_len <= data + at + used));
        at += used;
        if (err == ERR_AGAIN && have == len)
            return;
        if (err == ERR_AGAIN)
            have = MIN(have + step, len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *data = (const char *)bytes;
    size_t scanned = 0, head_len = 0;
    int status = 0;
    size_t first = size / 2; /* the head comes in two pieces */
    enum err err = http_head_find(data, first, &limits, &scanned, &head_len, &status);
    if (err == ERR_AGAIN)
        err = http_head_find(data, size, &limits, &scanned, &head_len, &status);
    if (err || status)
        return 0;
    assert(head_len <= size);
    AUTO(arena) arena = arena_new(0);
    struct http_head head;
    const char *reason = NULL;
    status = http_head_parse(arena, data, head_len, &limits, &head, &reason);
    assert(status == 0 || reason);
    if (status)
        return 0;
    check_head(&head);
    if (head.is_chunked)
        read_chunks(data + head_len, size - head_len, 1 + size % 7);
    return 0;
}
