#include "vendor/wyoming.h"

#include <string.h>

#include "base/js.h"
#include "test.h"

static const char chunk[] = "{\"type\":\"audio-chunk\",\"data_length\":14,\"payload_length\":4}\n"
                            "{\"rate\":16000}abcdnext";

TEST(wyoming_reads_an_event_when_it_is_whole)
{
    size_t whole = sizeof(chunk) - 1 - strlen("next"), used;
    struct wyoming_event event;
    for (size_t len = 0; len < whole; len++)
        CHECK_INT(wyoming_read(chunk, len, &event, &used), ERR_AGAIN);
    REQUIRE(wyoming_read(chunk, sizeof(chunk) - 1, &event, &used) == OK);
    CHECK_INT(used, whole);
    CHECK_TEXT(event.type, "audio-chunk");
    CHECK_INT(js_int(js_get(event.data, "rate"), 0), 16000);
    CHECK_INT(event.payload_len, 4);
    CHECK(memcmp(event.payload, "abcd", 4) == 0);
    js_free(event.data);
}

TEST(wyoming_reads_data_inside_the_line_and_refuses_what_is_none)
{
    static const struct {
        const char *text;
        enum err err;
    } rows[] = {
        {"{\"type\":\"transcript\",\"data\":{\"text\":\"Hello\"}}\n", OK},
        {"{\"type\":\"a-type-that-is-longer-than-any-that-we-know-of\"}\n", OK},
        {"HTTP/1.1 400 Bad Request\r\n\r\n", ERR_INVALID},
        {"{\"data\":{}}\n", ERR_INVALID},
        {"{\"type\":7}\n", ERR_INVALID},
        {"{\"type\":\"x\",\"data_length\":-1}\n", ERR_INVALID},
        {"{\"type\":\"x\",\"data_length\":3}\n{x}", ERR_INVALID},
        {"{\"type\":\"x\",\"payload_length\":99999999999}\n", ERR_LIMIT},
        {"{\"type\":\"x\",\"data_length\":300000}\n", ERR_LIMIT},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct wyoming_event event = {.data = NULL};
        size_t used;
        enum err err = wyoming_read(rows[i].text, strlen(rows[i].text), &event, &used);
        CHECK_INT(err, rows[i].err);
        if (!err)
            js_free(event.data);
    }
    AUTO_BUF endless = BUF_INIT(WYOMING_LINE_MAX_BYTES + 10);
    for (size_t i = 0; i <= WYOMING_LINE_MAX_BYTES; i++)
        (void)buf_append_char(&endless, ' ');
    struct wyoming_event event;
    size_t used;
    CHECK_INT(wyoming_read(endless.data, endless.len, &event, &used), ERR_LIMIT);
}

TEST(wyoming_writes_what_it_reads)
{
    AUTO_BUF bytes = BUF_INIT(1024);
    struct wyoming_event event;
    size_t used;
    REQUIRE(wyoming_write(&bytes, "audio-chunk", "{\"rate\":8000}", "pcm", 3) == OK);
    REQUIRE(wyoming_read(bytes.data, bytes.len, &event, &used) == OK);
    CHECK_INT(used, bytes.len);
    CHECK_INT(js_int(js_get(event.data, "rate"), 0), 8000);
    CHECK(event.payload_len == 3 && memcmp(event.payload, "pcm", 3) == 0);
    js_free(event.data);
}
