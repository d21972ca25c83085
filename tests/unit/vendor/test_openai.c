/* The adapter against a server that speaks the real wire, with its faults. */
#include <stdio.h>

#include "base/attr.h"
#include "base/js.h"
#include "base/loop.h"
#include "fake/chat_server.h"
#include "rig.h"
#include "test.h"
#include "vendor/ask.h"
#include "vendor/chat.h"

#define EVENT(t) "data: {\"choices\":[{\"delta\":{\"content\":\"" t "\"}}]}\n\n"
#define STOP     "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

static const struct chat_script good = {.pieces = {EVENT("Good "), EVENT("day."), STOP}};

#define REFUSE(status_line, headers, text)                                                         \
    {                                                                                              \
        .head = "HTTP/1.1 " status_line                                                            \
                "\r\nContent-Type: application/json\r\nConnection: close\r\n" headers "\r\n",      \
        .pieces = {"{\"error\":{\"message\":\"" text "\"}}"}, .closes = true                       \
    }

static struct llm_request request_of(const struct llm_message *messages, size_t count)
{
    return (struct llm_request){.messages = messages,
                                .message_count = count,
                                .language = "en",
                                .temperature = 0.4,
                                .max_tokens = 300};
}

static const struct llm_message hello[] = {{.role = LLM_SYSTEM, .text = "You are kind."},
                                           {.role = LLM_USER, .text = "Hello"}};

static const char *ask(struct llm_rig *rig, const struct chat_script *scripts, size_t count)
{
    struct llm_request request = request_of(hello, ARRAY_LEN(hello));
    chat_server_play(rig->server, scripts, count);
    return llm_rig_ask(rig, &request);
}

static struct js *sent(const struct llm_rig *rig)
{
    struct js *tree = NULL;
    const char *body = chat_server_body(rig->server);
    CHECK_INT(js_parse(body, strlen(body), 64, &tree, NULL), OK);
    return tree;
}

TEST(openai_streams_over_one_kept_connection)
{
    struct llm_rig *rig = llm_rig_chat((const char *[]){"engine.openai.key=sk-test"}, 1);
    for (int i = 0; i < 5; i++) {
        CHECK_TEXT(ask(rig, &good, 1), "Good day.");
        CHECK(rig->is_done && rig->error == ENGINE_OK);
        loop_turns(rig->loop, 50); /* the end of the answer comes, and the connection is kept */
    }
    CHECK_INT(chat_server_connections(rig->server), 1);
    CHECK(strncmp(chat_server_head(rig->server), "POST /v1/chat/completions HTTP/1.1", 34) == 0);
    CHECK(strcasestr(chat_server_head(rig->server), "authorization: bearer sk-test") != NULL);
    AUTO(js) body = sent(rig);
    CHECK_TEXT(js_text(js_get(body, "model")), "gpt-4.1-mini");
    CHECK(js_bool(js_get(body, "stream"), false));
    CHECK_INT(js_int(js_get(body, "max_tokens"), 0), 300);
    CHECK_TEXT(js_text(js_get(js_at(js_get(body, "messages"), 1), "content")), "Hello");
    CHECK(js_get(body, "tools") == NULL);
    llm_rig_free(rig);
}

TEST(openai_tells_text_as_it_comes)
{
    static const struct chat_script slow = {.pieces = {EVENT("One."), EVENT(" Two."), STOP},
                                            .every_us = 700000};
    struct llm_rig *rig = llm_rig_chat(NULL, 0);
    struct llm_request request = request_of(hello, 2);
    chat_server_play(rig->server, &slow, 1);
    rig->gen = 1;
    rig->llm->ops->start(rig->llm, 1, &request);
    LOOP_AWAIT(rig->loop, rig->text.len > 0);
    CHECK_TEXT(rig->text.data, "One.");
    CHECK(!rig->is_done);
    LOOP_AWAIT(rig->loop, rig->is_done);
    CHECK_TEXT(rig->text.data, "One. Two.");
    llm_rig_free(rig);
}

TEST(openai_survives_cuts_at_every_byte)
{
    struct chat_script bytes = {.pieces = {EVENT("नमस्ते, "), EVENT("आप?"), STOP}, .split = 1};
    struct llm_rig *rig = llm_rig_chat(NULL, 0);
    CHECK_TEXT(ask(rig, &bytes, 1), "नमस्ते, आप?");
    CHECK(rig->is_done);
    llm_rig_free(rig);
}

/* It asks once: the conversation decides about another try, by what the error says of it. */
TEST(openai_says_when_another_try_may_help)
{
    static const struct {
        struct chat_script script;
        enum engine_error error;
        int64_t least_us, most_us; /* of the pause */
    } rows[] = {
        {REFUSE("503 Busy", "", "busy"), ENGINE_TRANSIENT, 250000, 300000},
        {REFUSE("429 Slow", "retry-after-ms: 300\r\n", "slow"), ENGINE_QUOTA, 300000, 300000},
        {REFUSE("429 Slow", "retry-after: 60\r\n", "slow"), ENGINE_QUOTA, 60000000, 60000000},
        {REFUSE("429 Slow", "retry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\n", "slow"), ENGINE_QUOTA,
         0, 0},
        {REFUSE("429 Slow", "retry-after: Fri, 06 Nov 2093 08:49:37 GMT\r\n", "slow"), ENGINE_QUOTA,
         3600000000, INT64_MAX},
        {REFUSE("500 No", "x-should-retry: false\r\n", "oops"), ENGINE_TRANSIENT, INT64_MAX,
         INT64_MAX},
        {REFUSE("402 Pay", "", "funds"), ENGINE_QUOTA, INT64_MAX, INT64_MAX},
        {{.head = "", .closes = true}, ENGINE_TRANSIENT, 250000, 300000},
        {{.pieces = {"data: {\"choices\":[{\"del"}, .closes = true}, ENGINE_TRANSIENT, 0, 300000},
        {{.pieces = {"data: {\"error\":{\"message\":\"overloaded\"}}\n\n"}},
         ENGINE_TRANSIENT,
         0,
         0},
    };
    struct llm_rig *rig = llm_rig_chat(NULL, 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        ask(rig, &rows[i].script, 1);
        CHECK_INT(rig->error, rows[i].error);
        if (!CHECK(rig->retry_us >= rows[i].least_us && rig->retry_us <= rows[i].most_us))
            fprintf(stderr, "      case %zu: %s, %lld\n", i, rig->message,
                    (long long)rig->retry_us);
        CHECK_INT(chat_server_requests(rig->server), 1);
    }
    llm_rig_free(rig);
}

TEST(openai_fails_with_the_reason)
{
    static const struct {
        struct chat_script script;
        enum engine_error error;
        const char *message;
    } rows[] = {
        {REFUSE("401 No", "", "bad key"), ENGINE_AUTH, "HTTP 401: bad key"},
        {REFUSE("404 No", "", "no model"), ENGINE_BAD_REQUEST, "HTTP 404: no model"},
        {REFUSE("429 No", "retry-after: 60\r\n", "slow"), ENGINE_QUOTA, "HTTP 429: slow"},
        {REFUSE("500 No", "", "oops"), ENGINE_TRANSIENT, "HTTP 500: oops"},
        {{.pieces = {EVENT("Half")}, .closes = true}, ENGINE_TRANSIENT, NULL},
    };
    struct llm_rig *rig = llm_rig_chat(NULL, 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        ask(rig, &rows[i].script, 1);
        CHECK_INT(rig->error, rows[i].error);
        if (rows[i].message)
            CHECK_TEXT(rig->message, rows[i].message);
        CHECK_INT(chat_server_requests(rig->server), 1);
    }
    CHECK_TEXT(rig->text.data, "Half");
    llm_rig_free(rig);
}

TEST(openai_masks_its_key_where_a_server_quotes_it)
{
    static const struct chat_script quoting =
        REFUSE("401 No", "", "bad key sk-very-secret for app:hunter2, sk-very-secret");
    struct llm_rig *rig = llm_rig_chat((const char *[]){"engine.openai.key=sk-very-secret"}, 1);
    ask(rig, &quoting, 1);
    CHECK_INT(rig->error, ENGINE_AUTH);
    CHECK_TEXT(rig->message, "HTTP 401: bad key ************** for app:hunter2, **************");
    llm_rig_free(rig);
}

TEST(openai_learns_what_a_server_does_not_take)
{
    static const struct {
        const char *refused, *absent, *present;
        struct chat_script scripts[2];
    } rows[] = {
        {"temperature",
         "temperature",
         NULL,
         {REFUSE("400 Bad", "", "Unsupported value: temperature"),
          {.pieces = {EVENT("Ok"), STOP}}}},
        {"cap",
         "max_tokens",
         "max_completion_tokens",
         {REFUSE("400 Bad", "", "max_tokens is not supported, use max_completion_tokens"),
          {.pieces = {EVENT("Ok"), STOP}}}},
        {"stream_options",
         "stream_options",
         NULL,
         {REFUSE("422 Bad", "", "extra fields: stream_options"), {.pieces = {EVENT("Ok"), STOP}}}},
    };
    struct llm_rig *rig = llm_rig_chat(NULL, 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CHECK_TEXT(ask(rig, rows[i].scripts, 2), "Ok");
        CHECK_INT(chat_server_requests(rig->server), 2);
        AUTO(js) body = sent(rig);
        CHECK(js_get(body, rows[i].absent) == NULL);
        CHECK(!rows[i].present || js_get(body, rows[i].present));
        llm_rig_next_call(rig);
        CHECK_TEXT(ask(rig, &good, 1), "Good day.");
        CHECK_INT(chat_server_requests(rig->server), 1); /* it was remembered */
    }
    llm_rig_free(rig);
}

TEST(openai_tools_of_others_stay_when_one_calls_are_refused)
{
    static const struct chat_script scripts[] = {
        REFUSE("400 Bad", "", "Invalid 'tools[0].function.name': string too long"),
        REFUSE("400 Bad", "", "this model does not support tools"),
        {.pieces = {EVENT("Ok"), STOP}}};
    struct llm_rig *rig = llm_rig_chat(NULL, 0);
    struct llm_tool tool = {"look", "Looks it up.", "{}"};
    struct llm_request request = request_of(hello, 2);
    request.tools = &tool;
    request.tool_count = 1;
    chat_server_play(rig->server, scripts + 1, 2);
    CHECK_TEXT(llm_rig_ask(rig, &request), "Ok");
    AUTO(js) without = sent(rig);
    CHECK(js_get(without, "tools") == NULL);
    llm_rig_next_call(rig);
    chat_server_play(rig->server, scripts, 1);
    llm_rig_ask(rig, &request);
    CHECK_INT(rig->error, ENGINE_BAD_REQUEST);
    AUTO(js) with = sent(rig);
    CHECK(js_get(with, "tools") != NULL);
    llm_rig_free(rig);
}

TEST(openai_sends_long_names_short_and_gives_them_back)
{
    static const struct chat_script scripts[] = {{.pieces = {EVENT("Ok"), STOP}}};
    char name[129], call[400];
    memset(name, 'n', 128);
    name[128] = 0;
    struct llm_rig *rig = llm_rig_chat(NULL, 0);
    struct llm_tool tool = {name, "Looks it up.", "{}"};
    struct llm_tool_call called = {"c1", name, "{}", NULL};
    struct llm_message messages[] = {hello[0],
                                     hello[1],
                                     {.role = LLM_ASSISTANT, .calls = &called, .call_count = 1},
                                     {.role = LLM_TOOL, .text = "open", .tool_call_id = "c1"}};
    struct llm_request request = request_of(messages, 4);
    request.tools = &tool;
    request.tool_count = 1;
    chat_server_play(rig->server, scripts, 1);
    llm_rig_ask(rig, &request);
    AUTO(js) body = sent(rig);
    const struct js *function = js_get(js_at(js_get(body, "tools"), 0), "function");
    const char *alias = js_text_or(js_get(function, "name"), "");
    CHECK_INT(strlen(alias), 64);
    const struct js *back = js_at(js_get(js_at(js_get(body, "messages"), 2), "tool_calls"), 0);
    CHECK_TEXT(js_text(js_get(js_get(back, "function"), "name")), alias);
    snprintf(call, sizeof(call),
             "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"c2\",\"function\":{"
             "\"name\":\"%s\",\"arguments\":\"{}\"}}]}}]}\n\n",
             alias);
    struct chat_script calls = {.pieces = {call, STOP}};
    chat_server_play(rig->server, &calls, 1);
    llm_rig_ask(rig, &request);
    CHECK_TEXT(rig->tool, name);
    llm_rig_free(rig);
}

TEST(openai_sends_tools_and_gives_back_what_was_called)
{
    static const struct chat_script calls = {
        .pieces = {"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c9\","
                   "\"extra_content\":{\"sig\":\"x\"},\"function\":{\"name\":\"look\","
                   "\"arguments\":\"{\\\"day\\\":\"}}]}}]}\n\n",
                   "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{"
                   "\"arguments\":\"\\\"Monday\\\"}\"}}]}}]}\n\n",
                   STOP}};
    struct llm_rig *rig = llm_rig_chat(NULL, 0);
    struct llm_tool tool = {"look", "Looks it up.",
                            "{\"type\":\"object\",\"properties\":{\"day\":{\"type\":\"string\"}}}"};
    struct llm_request request = request_of(hello, 2);
    request.tools = &tool;
    request.tool_count = 1;
    chat_server_play(rig->server, &calls, 1);
    llm_rig_ask(rig, &request);
    CHECK_TEXT(rig->tool, "look");
    CHECK_TEXT(rig->arguments, "{\"day\":\"Monday\"}");
    CHECK_TEXT(rig->extra, "{\"sig\":\"x\"}");
    AUTO(js) first = sent(rig);
    const struct js *function = js_get(js_at(js_get(first, "tools"), 0), "function");
    CHECK_TEXT(js_text(js_get(function, "name")), "look");
    CHECK(js_get(js_get(function, "parameters"), "properties") != NULL);

    struct llm_tool_call call = {"c9", "look", "{\"day\":\"Monday\"}", "{\"sig\":\"x\"}"};
    struct llm_message messages[] = {hello[0],
                                     hello[1],
                                     {.role = LLM_ASSISTANT, .calls = &call, .call_count = 1},
                                     {.role = LLM_TOOL, .text = "open", .tool_call_id = "c9"}};
    request = request_of(messages, 4);
    chat_server_play(rig->server, &good, 1);
    CHECK_TEXT(llm_rig_ask(rig, &request), "Good day.");
    AUTO(js) second = sent(rig);
    const struct js *back = js_at(js_get(js_at(js_get(second, "messages"), 2), "tool_calls"), 0);
    CHECK_TEXT(js_text(js_get(back, "id")), "c9");
    CHECK_TEXT(js_text(js_get(js_get(back, "extra_content"), "sig")), "x");
    CHECK_TEXT(js_text(js_get(js_at(js_get(second, "messages"), 3), "tool_call_id")), "c9");
    llm_rig_free(rig);
}

TEST(openai_cancel_closes_the_connection)
{
    static const struct chat_script endless = {.pieces = {EVENT("One")}, .hangs = true};
    struct llm_rig *rig = llm_rig_chat(NULL, 0);
    struct llm_request request = request_of(hello, 2);
    chat_server_play(rig->server, &endless, 1);
    rig->gen = 1;
    rig->llm->ops->start(rig->llm, 1, &request);
    LOOP_AWAIT(rig->loop, rig->text.len > 0);
    CHECK_TEXT(rig->text.data, "One");
    CHECK_INT(chat_server_open_connections(rig->server), 1);
    rig->llm->ops->cancel(rig->llm);
    LOOP_AWAIT(rig->loop, chat_server_open_connections(rig->server) == 0);
    CHECK_INT(rig->events, 1);
    CHECK_TEXT(ask(rig, &good, 1), "Good day.");
    llm_rig_free(rig);
}

static void nobody(void *arg, const struct ask_answer *answer)
{
    (void)arg;
    (void)answer;
}

TEST(openai_finds_a_connection_that_was_opened_before)
{
    static const struct ask_fns fns = {NULL, nobody};
    struct llm_rig *rig = llm_rig_chat(NULL, 0);
    const struct chat_engine *engine = rig->engine->state;
    struct ask warm;
    ask_init(&warm, &engine->account, rig->loop, "usr_1", &fns, NULL);
    ask_warm(&warm, (const char *const[]){"Authorization", "Bearer sk-model", NULL});
    LOOP_AWAIT(rig->loop, !warm.warming);
    CHECK_INT(chat_server_heads(rig->server), 1);
    CHECK_TEXT(ask(rig, &good, 1), "Good day.");
    CHECK_INT(chat_server_connections(rig->server), 1);
    ask_warm(&warm, (const char *const[]){NULL});
    ask_clear(&warm); /* in the middle of it */
    llm_rig_free(rig);
}

TEST(openai_opens_a_connection_ahead_and_another_for_one_that_was_cancelled)
{
    static const struct chat_script endless = {.pieces = {EVENT("One")}, .hangs = true};
    struct llm_rig *rig = llm_rig_chat(NULL, 0);
    struct llm_request request = request_of(hello, 2);
    llm_rig_next_call(rig);
    loop_turns(rig->loop, 3);
    CHECK_INT(chat_server_heads(rig->server), 0); /* nobody wished it */
    rig->is_ahead = true;
    llm_rig_next_call(rig);
    LOOP_AWAIT(rig->loop, chat_server_heads(rig->server) == 1);
    chat_server_play(rig->server, &endless, 1);
    rig->gen = 1;
    rig->llm->ops->start(rig->llm, 1, &request);
    LOOP_AWAIT(rig->loop, rig->text.len > 0);
    rig->llm->ops->cancel(rig->llm);
    LOOP_AWAIT(rig->loop, chat_server_heads(rig->server) == 2);
    rig->llm->ops->cancel(rig->llm); /* nothing is under way */
    CHECK_TEXT(ask(rig, &good, 1), "Good day.");
    CHECK_INT(chat_server_heads(rig->server), 2);
    llm_rig_free(rig);
}

TEST(openai_start_replaces_what_is_under_way)
{
    static const struct chat_script scripts[] = {{.pieces = {EVENT("Old")}, .hangs = true},
                                                 {.pieces = {EVENT("New"), STOP}}};
    struct llm_rig *rig = llm_rig_chat(NULL, 0);
    struct llm_request request = request_of(hello, 2);
    chat_server_play(rig->server, scripts, 2);
    rig->llm->ops->start(rig->llm, 77, &request);
    rig->gen = 100;
    LOOP_AWAIT(rig->loop, chat_server_requests(rig->server) == 1);
    CHECK_TEXT(llm_rig_ask(rig, &request), "New");
    rig->llm->ops->start(rig->llm, 102, &request);
    llm_rig_free(rig); /* in the middle of a request */
}

TEST(openai_joins_system_messages_where_a_server_insists)
{
    static const struct chat_script scripts[] = {
        REFUSE("400 Bad", "", "System message must be at the beginning"),
        {.pieces = {EVENT("Ok"), STOP}}};
    struct llm_rig *rig = llm_rig_chat(NULL, 0);
    struct llm_message messages[] = {hello[0], hello[1], {.role = LLM_SYSTEM, .text = "Be brief."}};
    struct llm_request request = request_of(messages, 3);
    chat_server_play(rig->server, scripts, 2);
    CHECK_TEXT(llm_rig_ask(rig, &request), "Ok");
    AUTO(js) body = sent(rig);
    CHECK_INT(js_count(js_get(body, "messages")), 2);
    CHECK_TEXT(js_text(js_get(js_at(js_get(body, "messages"), 0), "content")),
               "You are kind.\n\nBe brief.");
    llm_rig_free(rig);
}

TEST(openai_without_a_server_is_an_error)
{
    struct llm_rig *rig =
        llm_rig_chat((const char *[]){"engine.openai.url=http://127.0.0.1:9/v1"}, 1);
    struct llm_request request = request_of(hello, 2);
    llm_rig_ask(rig, &request);
    CHECK_INT(rig->error, ENGINE_TRANSIENT);
    CHECK(rig->message[0] != '\0');
    llm_rig_free(rig);
}

struct asked { /* one of many sessions */
    struct llm *llm;
    int64_t answered_us; /* 0: not yet */
    struct loop *loop;
};

static void on_asked(void *arg, const struct llm_event *event)
{
    struct asked *asked = arg;
    if (event->kind == LLM_DONE)
        asked->answered_us = loop_now_us(asked->loop);
}

TEST(openai_requests_of_one_workspace_leave_room_for_others)
{
    enum { FLOOD = 6, ALL = FLOOD + 1 };
    static const struct chat_script slow = {.pieces = {EVENT("Ok"), STOP}, .first_us = 200000};
    static const char *const settings[] = {"engine.openai.max_requests=2",
                                           "engine.openai.max_requests_per_workspace=1"};
    struct llm_rig *rig = llm_rig_chat(settings, ARRAY_LEN(settings));
    struct llm_request request = request_of(hello, 2);
    struct asked asked[ALL] = {0};
    chat_server_play(rig->server, &slow, 1);
    int64_t from_us = loop_now_us(rig->loop);
    for (int i = 0; i < ALL; i++) {
        struct llm_config config = {"m", i < FLOOD ? "usr_flood" : "usr_2"};
        asked[i].loop = rig->loop;
        asked[i].llm =
            rig->engine->ops.llm->open(rig->engine, &config, rig->loop, on_asked, &asked[i]);
        asked[i].llm->ops->start(asked[i].llm, 1, &request);
    }
    LOOP_AWAIT(rig->loop, chat_server_requests(rig->server) >= 2);
    CHECK_INT(chat_server_requests(rig->server), 2);
    asked[1].llm->ops->cancel(asked[1].llm); /* one that waits */
    LOOP_AWAIT(rig->loop, asked[5].answered_us > 0);
    CHECK_INT(chat_server_requests(rig->server), ALL - 1);
    CHECK(asked[FLOOD].answered_us > 0 && asked[FLOOD].answered_us <= asked[2].answered_us);
    CHECK(asked[FLOOD].answered_us - from_us < asked[5].answered_us - from_us);
    CHECK_INT(asked[1].answered_us, 0);
    for (int i = 0; i < ALL; i++)
        asked[i].llm->ops->close(asked[i].llm);
    llm_rig_free(rig);
}

TEST(openai_arguments_that_were_cut_are_no_json)
{
    struct llm_rig *rig = llm_rig_chat(NULL, 0);
    struct llm_request request = request_of(hello, 2);
    AUTO_BUF event = BUF_INIT(128 * 1024);
    (void)buf_printf(&event,
                     "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"c\",\"function\":{"
                     "\"name\":\"look\",\"arguments\":\"{\\\"a\\\":\\\"%0*d\\\"}\"}}]}}]}\n\n",
                     40000, 1);
    struct chat_script huge = {.pieces = {event.data, STOP}};
    chat_server_play(rig->server, &huge, 1);
    llm_rig_ask(rig, &request);
    CHECK_INT(rig->tools, 1);
    CHECK_TEXT(rig->arguments, "cut: too long");
    llm_rig_free(rig);
}
