#include "net/sse.h"

#include "test.h"

static void keep_event(void *arg, const char *type, const char *data, size_t len)
{
    CHECK_INT(strlen(data), len);
    buf_printf(arg, "[%s|%s]", type, data);
}

/* The events of a text that comes `step` bytes at a time. */
static enum err read_events(const char *text, size_t step, struct buf *out)
{
    struct sse sse;
    enum err err = OK;
    size_t len = strlen(text);
    buf_reset(out);
    sse_init(&sse, 100);
    for (size_t at = 0; at < len && !err; at += step)
        err = sse_input(&sse, text + at, MIN(step, len - at), keep_event, out);
    sse_clear(&sse);
    return err;
}

TEST(events_are_read_however_they_are_cut)
{
    static const struct {
        const char *text, *events;
    } rows[] = {
        {"data: a\n\n", "[message|a]"},
        {"data:a\r\n\r\ndata: b\r\rdata:  c\n\n", "[message|a][message|b][message| c]"},
        {"data: a\ndata: b\ndata\n\n", "[message|a\nb\n]"},
        {"event: x\ndata: 1\n\ndata: 2\n\n", "[x|1][message|2]"},
        {": comment\n\nid: 7\nretry: 10\nother\ndata: a\n\n", "[message|a]"},
        {"event: x\n\ndata: a\n\n", "[message|a]"},
        {"\xef\xbb\xbf"
         "data: a\n\n",
         "[message|a]"},
        {"data: {\"a\":1}\n\ndata: [DONE]\n\n", "[message|{\"a\":1}][message|[DONE]]"},
        {"data:\n\n", "[message|]"},
        {"data: cut", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t step = 1; step < 12; step++) {
            AUTO_BUF out = BUF_INIT(1000);
            CHECK(read_events(rows[i].text, step, &out) == OK);
            CHECK_TEXT(out.len ? out.data : NULL, rows[i].events);
        }
}

TEST(events_over_the_ceiling_end_the_stream)
{
    AUTO_BUF out = BUF_INIT(1000);
    AUTO_BUF text = BUF_INIT(10000);
    for (int i = 0; i < 20; i++)
        buf_append_str(&text, "data: 0123456789\n");
    CHECK_INT(read_events(text.data, 7, &out), ERR_LIMIT);
    buf_reset(&text);
    for (int i = 0; i < 20; i++)
        buf_append_str(&text, "0123456789");
    CHECK_INT(read_events(text.data, 7, &out), ERR_LIMIT);
}
