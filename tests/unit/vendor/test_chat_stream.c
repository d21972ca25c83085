#include "vendor/chat.h"
#include "vendor/vendor_error.h"

#include <stdio.h>

#include "base/attr.h"
#include "test.h"

static void on_text(void *arg, const char *text)
{
    struct buf *out = arg;
    (void)buf_append_str(out, text);
}

/* Text, then {id name arguments extra} of each call, then how it ended. */
static void read_all(const char *bytes, size_t step, struct buf *out)
{
    struct chat_stream stream;
    buf_reset(out);
    chat_stream_init(&stream, openai_dialect.read, on_text, out);
    bool wants_more = true;
    for (size_t at = 0, len = strlen(bytes); at < len && wants_more; at += step)
        wants_more = chat_stream_input(&stream, bytes + at, MIN(step, len - at));
    chat_stream_finish(&stream);
    for (size_t i = 0; i < stream.call_count; i++) {
        const struct chat_call *call = &stream.calls[i];
        (void)buf_printf(out, "{%s %s %s%s%s}", call->id ? call->id : "-",
                         call->name ? call->name : "-",
                         call->arguments.len ? call->arguments.data : "-", call->extra ? " " : "",
                         call->extra ? call->extra : "");
    }
    if (stream.is_done)
        (void)buf_printf(out, "|done%s", stream.is_cut ? " cut" : "");
    else
        (void)buf_printf(out, "|%d %s", stream.error, stream.message);
    chat_stream_clear(&stream);
}

#define TEXT(t)   "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" t "\"}}]}\n\n"
#define FINISH(r) "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"" r "\"}]}\n\n"
#define DONE      "data: [DONE]\n\n"
#define CALL(c)   "data: {\"choices\":[{\"delta\":{\"tool_calls\":[" c "]}}]}\n\n"

static const struct {
    const char *name, *bytes, *want;
} rows[] = {
    {"plain", TEXT("Hel") TEXT("lo") FINISH("stop") DONE, "Hello|done"},
    {"role only, null content",
     "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n" TEXT("A")
         DONE,
     "A|done"},
    {"null delta", "data: {\"choices\":[{\"delta\":null}]}\n\n" TEXT("A") FINISH("stop"), "A|done"},
    {"usage only chunk",
     TEXT("A") FINISH("stop") "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5}}\n\n" DONE,
     "A|done"},
    {"CRLF and pings",
     ": ping\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"A\"}}]}\r\n\r\ndata: "
     "[DONE]\r\n\r\n",
     "A|done"},
    {"characters that are none",
     TEXT("Hello\\u0000 the\\ud800re\\udc00, \\ud83d\\ude00 \\\\u0000") DONE,
     "Hello there, \xf0\x9f\x98\x80 \\u0000|done"},
    {"bytes that are no UTF-8",
     TEXT("A\xff\xe0\xa4") TEXT("B\xed\xa0\x80"
                                "C") DONE,
     "ABC|done"},
    {"a lone half at the end",
     TEXT("A\\ud83d") TEXT("\\ude00"
                           "B") DONE,
     "AB|done"},
    {"no space, empty data",
     "data:\n\ndata:{\"choices\":[{\"delta\":{\"content\":\"A\"}}]}\n\ndata:[DONE]\n\n", "A|done"},
    {"DONE without an empty line", TEXT("A") "data: [DONE]", "A|done"},
    {"no DONE", TEXT("A") FINISH("stop"), "A|done"},
    {"cut by the cap", TEXT("A") FINISH("length") DONE, "A|done cut"},
    {"Devanagari", TEXT("नम") TEXT("स्ते") DONE, "नमस्ते|done"},
    {"thoughts", TEXT("<thi") TEXT("nk>hm</think>") TEXT("A") DONE, "A|done"},
    {"call in fragments",
     CALL("{\"index\":0,\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"look\","
          "\"arguments\":\"\"}}") CALL("{\"index\":0,\"function\":{\"arguments\":\"{\\\"a\\\"\"}}")
         CALL("{\"index\":0,\"function\":{\"arguments\":\":1}\"}}") FINISH("tool_calls") DONE,
     "{c1 look {\"a\":1}}|done"},
    {"two calls, finish stop",
     CALL("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"x\",\"arguments\":\"{}\"}}")
         CALL("{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"y\",\"arguments\":\"{}\"}}")
             FINISH("stop") DONE,
     "{a x {}}{b y {}}|done"},
    {"whole calls without index",
     CALL("{\"id\":\"a\",\"function\":{\"name\":\"x\",\"arguments\":\"{}\"}},{\"id\":\"b\","
          "\"function\":{\"name\":\"y\",\"arguments\":{\"k\":2}}}") FINISH("stop") DONE,
     "{a x {}}{b y {\"k\":2}}|done"},
    {"extra content",
     CALL("{\"index\":0,\"id\":\"a\",\"extra_content\":{\"google\":{\"s\":\"t\"}},\"function\":{"
          "\"name\":\"x\"}}") DONE,
     "{a x - {\"google\":{\"s\":\"t\"}}}|done"},
    {"error in the stream",
     TEXT("A") "data: {\"error\":{\"message\":\"overloaded\",\"type\":\"server_error\"}}\n\n",
     "A|4 overloaded"},
    {"quota in the stream",
     "data: {\"error\":{\"message\":\"slow down\",\"code\":\"rate_limit_exceeded\"}}\n\n",
     "|3 slow down"},
    {"error field", "error: {\"code\":500,\"message\":\"broke\"}\n\n", "|4 broke"},
    {"error field later", TEXT("A") "error: {\"error\":{\"message\":\"broke\"}}\n\n", "A|4 broke"},
    {"error as text", "data: {\"error\":\"no such model\"}\n\n", "|4 no such model"},
    {"other fields", "event: x\nerr: y\ne\nid: 1\n" TEXT("A") DONE, "A|done"},
    {"whole JSON",
     "{\"choices\":[{\"message\":{\"content\":\"All.\"},\"finish_reason\":\"stop\"}]}",
     "All.|done"},
    {"whole error", "{\"error\":{\"message\":\"bad\"}}", "|4 bad"},
    {"array of one error", "[{\"error\":{\"message\":\"bad\",\"code\":429}}]", "|3 bad"},
    {"ends in the middle", TEXT("A") "data: {\"choices\":[{\"de",
     "A|4 the server's answer ends in "
     "the middle"},
    {"nothing", "", "|4 the server's answer ends in the middle"},
    {"no JSON at all", "data: <html>\n\n", "|5 the server's answer is no JSON"},
    {"one bad chunk among good", TEXT("A") "data: {]\n\n" TEXT("B") DONE, "AB|done"},
    {"behind DONE", TEXT("A") DONE TEXT("B"), "A|done"},
    {"too many calls",
     CALL("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}")
         CALL("{\"index\":99,\"function\":{\"name\":\"x\"}}") DONE,
     "{a f {}}|done"},
    {"negative index", CALL("{\"index\":-1,\"function\":{\"name\":\"x\"}}") DONE, "|done"},
    {"refusal", "data: {\"choices\":[{\"delta\":{\"refusal\":\"I can not.\"}}]}\n\n" DONE,
     "I can not.|done"},
};

TEST(chat_stream_reads_what_servers_send_however_it_is_cut)
{
    static const size_t steps[] = {1, 2, 3, 5, 7, 64, 100000};
    struct buf out = BUF_INIT(65536);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (size_t k = 0; k < ARRAY_LEN(steps); k++) {
            read_all(rows[i].bytes, steps[k], &out);
            if (!CHECK_TEXT(out.data, rows[i].want))
                fprintf(stderr, "      %s, by %zu bytes\n", rows[i].name, steps[k]);
        }
    buf_clear(&out);
}

TEST(chat_error_bodies_in_all_their_forms)
{
    static const struct {
        int status;
        const char *body, *message;
        enum engine_error error;
    } errors[] = {
        {401, "{\"error\":{\"message\":\"bad key\"}}", "HTTP 401: bad key", ENGINE_AUTH},
        {400, "{\"error\":\"what\"}", "HTTP 400: what", ENGINE_BAD_REQUEST},
        {422, "{\"detail\":\"no field\"}", "HTTP 422: no field", ENGINE_BAD_REQUEST},
        {429, "{\"object\":\"error\",\"message\":\"busy\"}", "HTTP 429: busy", ENGINE_QUOTA},
        {500, "[{\"error\":{\"message\":\"oops\"}}]", "HTTP 500: oops", ENGINE_TRANSIENT},
        {503, "<html>", "HTTP 503", ENGINE_TRANSIENT},
        {404, "", "HTTP 404", ENGINE_BAD_REQUEST},
        {0, "{\"message\":\"\"}", "the server reports an error", ENGINE_TRANSIENT},
        {0, "{\"message\":\"\",\"detail\":\"no\"}", "no", ENGINE_TRANSIENT},
    };
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        char message[128];
        CHECK_INT(vendor_error(errors[i].status, errors[i].body, strlen(errors[i].body), message,
                               sizeof(message)),
                  errors[i].error);
        CHECK_TEXT(message, errors[i].message);
    }
}

/* Whatever a server streams, this much of it is held, and the answer goes on. */
TEST(chat_stream_bounds_what_a_server_asks_for)
{
    struct chat_stream stream;
    AUTO_BUF text = BUF_INIT(1024), event = BUF_INIT(64 * 1024);
    chat_stream_init(&stream, openai_dialect.read, on_text, &text);
    (void)buf_append_str(&event, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[");
    for (int i = 0; i < 1000; i++)
        (void)buf_printf(&event, "%s{\"index\":%d,\"function\":{\"name\":\"f\"}}", i ? "," : "", i);
    (void)buf_append_str(&event, "]}}]}\n\n");
    CHECK(chat_stream_input(&stream, event.data, event.len));
    CHECK_INT(stream.call_count, CHAT_CALLS_MAX);
    for (int i = 0; i < 5000; i++) {
        buf_reset(&event);
        (void)buf_printf(
            &event,
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{"
            "\"arguments\":\"%0*d\"}}]}}]}\n\n",
            2000, 1);
        CHECK(chat_stream_input(&stream, event.data, event.len));
    }
    CHECK(stream.calls[0].arguments.len <= CHAT_ARGUMENTS_MAX_BYTES);
    CHECK(!chat_stream_input(&stream, DONE, strlen(DONE)));
    CHECK(stream.is_done);
    chat_stream_clear(&stream);
}

TEST(chat_stream_ends_an_event_without_end)
{
    struct chat_stream stream;
    AUTO_BUF text = BUF_INIT(1024);
    char piece[4096];
    memset(piece, 'x', sizeof(piece));
    chat_stream_init(&stream, openai_dialect.read, on_text, &text);
    size_t fed = 0;
    CHECK(chat_stream_input(&stream, "data: ", 6));
    while (chat_stream_input(&stream, piece, sizeof(piece)) && fed < (64u << 20))
        fed += sizeof(piece);
    CHECK(fed <= CHAT_EVENT_MAX_BYTES);
    CHECK_INT(stream.error, ENGINE_PROTOCOL);
    chat_stream_clear(&stream);
}
