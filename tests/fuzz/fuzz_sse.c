/* Server-sent events: however the bytes are cut, the same events come out. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "net/sse.h"

enum { EVENT_MAX_BYTES = 500, SEEN_MAX_BYTES = 1 << 20 };

static void keep_event(void *arg, const char *type, const char *data, size_t len)
{
    assert(len <= EVENT_MAX_BYTES && data[len] == '\0' && type[0]);
    buf_printf(arg, "%zu|%s|", len, type);
    buf_append(arg, data, len);
}

static enum err read_events(const uint8_t *data, size_t size, size_t step, struct buf *seen)
{
    struct sse sse;
    enum err err = OK;
    sse_init(&sse, EVENT_MAX_BYTES);
    for (size_t at = 0; at < size && !err; at += step)
        err = sse_input(&sse, (const char *)data + at, MIN(step, size - at), keep_event, seen);
    sse_clear(&sse);
    return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_BUF whole = BUF_INIT(SEEN_MAX_BYTES);
    AUTO_BUF cut = BUF_INIT(SEEN_MAX_BYTES);
    enum err err = read_events(data, size, size + 1, &whole);
    enum err cut_err = read_events(data, size, 1 + size % 5, &cut);
    assert(err == cut_err && whole.len == cut.len);
    assert(whole.len == 0 || memcmp(whole.data, cut.data, whole.len) == 0);
    return 0;
}
