/* Answers of a chat server, whole and cut as the first byte says: both must read alike. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "base/attr.h"
#include "vendor/chat.h"

static void on_text(void *arg, const char *text)
{
    assert(*text);
    (void)buf_append_str(arg, text);
}

static void read_all(const struct chat_dialect *dialect, const char *data, size_t len, size_t step,
                     struct buf *out)
{
    struct chat_stream stream;
    chat_stream_init(&stream, dialect->read, on_text, out);
    for (size_t at = 0; at < len; at += step)
        if (!chat_stream_input(&stream, data + at, MIN(step, len - at)))
            break;
    chat_stream_finish(&stream);
    assert(stream.is_done == (stream.error == ENGINE_OK));
    assert(stream.is_done || stream.message[0]);
    for (size_t i = 0; i < stream.call_count; i++)
        (void)buf_printf(out, "{%s %s}", stream.calls[i].name ? stream.calls[i].name : "",
                         stream.calls[i].arguments.len ? stream.calls[i].arguments.data : "");
    (void)buf_printf(out, "|%d", stream.error);
    chat_stream_clear(&stream);
}

static void check(const struct chat_dialect *dialect, const uint8_t *bytes, size_t size)
{
    const char *data = (const char *)bytes + 1;
    AUTO_BUF whole = BUF_INIT(1 << 20);
    AUTO_BUF cut = BUF_INIT(1 << 20);
    read_all(dialect, data, size - 1, size, &whole);
    read_all(dialect, data, size - 1, 1 + bytes[0] % 16u, &cut);
    assert(whole.len == cut.len && memcmp(whole.data, cut.data, cut.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return 0;
    check(&openai_dialect, bytes, size);
    check(&anthropic_dialect, bytes, size);
    return 0;
}
