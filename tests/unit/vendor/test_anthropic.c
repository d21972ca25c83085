/* The dialect of Anthropic's Messages against a server that plays its streams. */
#include <stdio.h>

#include "base/attr.h"
#include "base/js.h"
#include "fake/chat_server.h"
#include "rig.h"
#include "test.h"

#define EVENT(type, rest) "event: " type "\ndata: {\"type\":\"" type "\"" rest "}\n\n"
#define START             EVENT("message_start", ",\"message\":{\"id\":\"m1\",\"content\":[]}")
#define BLOCK(i, block)                                                                            \
    EVENT("content_block_start", ",\"index\":" i ",\"content_block\":{" block "}")
#define TEXT_BLOCK(i) BLOCK(i, "\"type\":\"text\",\"text\":\"\"")
#define TEXT(i, t)                                                                                 \
    EVENT("content_block_delta",                                                                   \
          ",\"index\":" i ",\"delta\":{\"type\":\"text_delta\",\"text\":\"" t "\"}")
#define INPUT(i, t)                                                                                \
    EVENT("content_block_delta",                                                                   \
          ",\"index\":" i ",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"" t "\"}")
#define BLOCK_END(i) EVENT("content_block_stop", ",\"index\":" i)
#define STOP(reason)                                                                               \
    EVENT("message_delta", ",\"delta\":{\"stop_reason\":\"" reason "\"}") EVENT("message_stop", "")

static const struct chat_script good = {.pieces = {START, TEXT_BLOCK("0"), EVENT("ping", ""),
                                                   TEXT("0", "Good "), TEXT("0", "day."),
                                                   BLOCK_END("0"), STOP("end_turn")}};

static const char *const key[] = {"engine.anthropic.key=sk-ant-secret"};

static const struct llm_message hello[] = {{.role = LLM_SYSTEM, .text = "You are kind."},
                                           {.role = LLM_USER, .text = "Hello"}};

static struct llm_request request_of(const struct llm_message *messages, size_t count)
{
    return (struct llm_request){.messages = messages,
                                .message_count = count,
                                .language = "en",
                                .temperature = 1.4,
                                .max_tokens = 300};
}

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

TEST(anthropic_streams_an_answer)
{
    struct llm_rig *rig = llm_rig_chat_of("anthropic", key, 1);
    CHECK_TEXT(ask(rig, &good, 1), "Good day.");
    CHECK(rig->is_done && rig->error == ENGINE_OK);
    const char *head = chat_server_head(rig->server);
    CHECK(strncmp(head, "POST /v1/messages HTTP/1.1", 26) == 0);
    CHECK(strcasestr(head, "x-api-key: sk-ant-secret") != NULL);
    CHECK(strcasestr(head, "anthropic-version: 2023-06-01") != NULL);
    AUTO(js) body = sent(rig);
    const struct js *system = js_at(js_get(body, "system"), 0);
    CHECK_TEXT(js_text(js_get(system, "text")), "You are kind.");
    CHECK_TEXT(js_text(js_get(js_get(system, "cache_control"), "type")), "ephemeral");
    CHECK_INT(js_int(js_get(body, "max_tokens"), 0), 300);
    CHECK(js_real(js_get(body, "temperature"), 0) == 1.0);
    const struct js *user = js_at(js_get(body, "messages"), 0);
    CHECK_TEXT(js_text(js_get(user, "role")), "user");
    CHECK_TEXT(js_text(js_get(js_at(js_get(user, "content"), 0), "text")), "Hello");
    llm_rig_free(rig);
}

TEST(anthropic_reads_cut_and_odd_streams)
{
    static const struct {
        struct chat_script script;
        const char *text;
        bool is_cut;
    } rows[] = {
        {{.pieces = {START, TEXT_BLOCK("0"), TEXT("0", "नमस्ते"), STOP("end_turn")}, .split = 1},
         "नमस्ते",
         false},
        {{.pieces = {START, TEXT("0", "Long"), STOP("max_tokens")}}, "Long", true},
        {{.pieces = {BLOCK("0", "\"type\":\"thinking\",\"thinking\":\"Hm\""),
                     EVENT(
                         "content_block_delta",
                         ",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"x\"}"),
                     TEXT_BLOCK("1"), TEXT("1", "Yes."), STOP("end_turn")}},
         "Yes.",
         false},
        {{.head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n",
          .pieces = {"{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"Whole.\"}],"
                     "\"stop_reason\":\"end_turn\"}"},
          .closes = true},
         "Whole.",
         false},
    };
    struct llm_rig *rig = llm_rig_chat_of("anthropic", key, 1);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CHECK_TEXT(ask(rig, &rows[i].script, 1), rows[i].text);
        CHECK(rig->is_done && rig->error == ENGINE_OK && rig->is_cut == rows[i].is_cut);
    }
    llm_rig_free(rig);
}

#define REFUSE(status, body)                                                                       \
    {                                                                                              \
        .head = "HTTP/1.1 " status "\r\nConnection: close\r\n\r\n", .pieces = {body},              \
        .closes = true                                                                             \
    }
#define FAULT(type, text)                                                                          \
    "{\"type\":\"error\",\"error\":{\"type\":\"" type "\",\"message\":\"" text "\"}}"

TEST(anthropic_tells_each_failure_by_its_kind)
{
    static const struct {
        struct chat_script script;
        enum engine_error error;
        const char *message;
    } rows[] = {
        {REFUSE("401 No", FAULT("authentication_error", "invalid x-api-key sk-ant-secret")),
         ENGINE_AUTH, "HTTP 401: invalid x-api-key *************"},
        {REFUSE("529 Overloaded", FAULT("overloaded_error", "Overloaded")), ENGINE_TRANSIENT,
         "HTTP 529: Overloaded"},
        {REFUSE("429 Slow", FAULT("rate_limit_error", "slow")), ENGINE_QUOTA, "HTTP 429: slow"},
        {{.pieces = {START, "event: error\ndata: " FAULT("overloaded_error", "Overloaded") "\n\n"}},
         ENGINE_TRANSIENT,
         "Overloaded"},
        {{.pieces = {START, "event: error\ndata: " FAULT("rate_limit_error", "slow") "\n\n"}},
         ENGINE_QUOTA,
         "slow"},
        {{.pieces = {START, TEXT("0", "Half")}, .closes = true}, ENGINE_TRANSIENT, NULL},
        {{.pieces = {"data: nonsense\n\n"}}, ENGINE_PROTOCOL, "the server's answer is no JSON"},
    };
    struct llm_rig *rig = llm_rig_chat_of("anthropic", key, 1);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        ask(rig, &rows[i].script, 1);
        CHECK_INT(rig->error, rows[i].error);
        if (rows[i].message)
            CHECK_TEXT(rig->message, rows[i].message);
    }
    llm_rig_free(rig);
}

TEST(anthropic_leaves_out_a_temperature_that_the_model_refuses)
{
    static const struct chat_script scripts[] = {
        REFUSE("400 Bad",
               FAULT("invalid_request_error", "`temperature` is deprecated for this model.")),
        {.pieces = {START, TEXT("0", "Ok"), STOP("end_turn")}}};
    struct llm_rig *rig = llm_rig_chat_of("anthropic", key, 1);
    CHECK_TEXT(ask(rig, scripts, 2), "Ok");
    AUTO(js) body = sent(rig);
    CHECK(js_get(body, "temperature") == NULL);
    llm_rig_next_call(rig);
    CHECK_TEXT(ask(rig, &good, 1), "Good day.");
    CHECK_INT(chat_server_requests(rig->server), 1);
    llm_rig_free(rig);
}

TEST(anthropic_calls_tools_and_is_told_all_results_at_once)
{
    static const struct chat_script calls = {
        .pieces = {START, TEXT_BLOCK("0"), TEXT("0", "One moment."), BLOCK_END("0"),
                   BLOCK("1", "\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"look\",\"input\":{}"),
                   INPUT("1", "{\\\"day\\\": \\\"Mon"), INPUT("1", "day\\\"}"), BLOCK_END("1"),
                   STOP("tool_use")}};
    struct llm_rig *rig = llm_rig_chat_of("anthropic", key, 1);
    struct llm_tool tool = {"look", "Looks it up.", "{\"type\":\"object\",\"properties\":{}}"};
    struct llm_request request = request_of(hello, 2);
    request.tools = &tool;
    request.tool_count = 1;
    chat_server_play(rig->server, &calls, 1);
    CHECK_TEXT(llm_rig_ask(rig, &request), "One moment.");
    CHECK_INT(rig->tools, 1);
    CHECK_TEXT(rig->tool, "look");
    CHECK_TEXT(rig->arguments, "{\"day\": \"Monday\"}");
    AUTO(js) first = sent(rig);
    const struct js *offered = js_at(js_get(first, "tools"), 0);
    CHECK_TEXT(js_text(js_get(js_get(offered, "input_schema"), "type")), "object");
    CHECK(js_get(offered, "cache_control") != NULL);

    struct llm_tool_call called[] = {{"t1", "look", "{\"day\": \"Monday\"}", NULL},
                                     {"functions.look:0", "look", "", NULL}};
    struct llm_message messages[] = {
        hello[0],
        hello[1],
        {.role = LLM_ASSISTANT, .text = "One moment.", .calls = called, .call_count = 2},
        {.role = LLM_TOOL, .text = "open", .tool_call_id = "t1"},
        {.role = LLM_TOOL, .text = "shut", .tool_call_id = "functions.look:0"},
        {.role = LLM_SYSTEM, .text = "Be brief."}};
    request = request_of(messages, ARRAY_LEN(messages));
    chat_server_play(rig->server, &good, 1);
    CHECK_TEXT(llm_rig_ask(rig, &request), "Good day.");
    AUTO(js) second = sent(rig);
    const struct js *list = js_get(second, "messages");
    CHECK_INT(js_count(list), 3);
    CHECK_INT(js_count(js_get(js_at(list, 1), "content")), 3);
    const struct js *results = js_get(js_at(list, 2), "content");
    CHECK_TEXT(js_text(js_get(js_at(list, 2), "role")), "user");
    CHECK_INT(js_count(results), 3);
    const char *id = js_text(js_get(js_at(results, 1), "tool_use_id"));
    CHECK_TEXT(id, "functions_look_0"); /* of another engine, whose signs this one refuses */
    CHECK_TEXT(js_text(js_get(js_at(js_get(js_at(list, 1), "content"), 2), "id")), id);
    CHECK_TEXT(js_text(js_get(js_at(results, 2), "text")),
               "<note from=\"service\">\nBe brief.\n</note>");
    CHECK_INT(js_count(js_get(second, "system")), 1);
    llm_rig_free(rig);
}

TEST(anthropic_always_hears_the_user_first_and_last)
{
    static const struct llm_message talk[] = {{.role = LLM_SYSTEM, .text = "Be kind."},
                                              {.role = LLM_ASSISTANT, .text = "Welcome!"},
                                              {.role = LLM_ASSISTANT, .text = "Hello?"}};
    struct llm_rig *rig = llm_rig_chat_of("anthropic", key, 1);
    for (size_t count = 1; count <= ARRAY_LEN(talk); count++) {
        struct llm_request request = request_of(talk, count);
        chat_server_play(rig->server, &good, 1);
        CHECK_TEXT(llm_rig_ask(rig, &request), "Good day.");
        AUTO(js) body = sent(rig);
        const struct js *list = js_get(body, "messages");
        CHECK_TEXT(js_text(js_get(js_at(list, 0), "role")), "user");
        CHECK_TEXT(js_text(js_get(js_at(list, js_count(list) - 1), "role")), "user");
        for (size_t i = 0; i < js_count(list); i++)
            CHECK(js_count(js_get(js_at(list, i), "content")) > 0);
    }
    llm_rig_free(rig);
}

/* Where the marks stand: the instructions, the tools, and the last block that further requests
 * repeat. What changes stands behind them. */
TEST(anthropic_marks_what_was_said_for_its_cache)
{
    struct llm_tool_call called = {"t1", "look", "{}", NULL};
    struct llm_message messages[] = {{.role = LLM_SYSTEM, .text = "You are kind."},
                                     {.role = LLM_USER, .text = "Is it open?"},
                                     {.role = LLM_ASSISTANT, .calls = &called, .call_count = 1},
                                     {.role = LLM_TOOL, .text = "open", .tool_call_id = "t1"},
                                     {.role = LLM_SYSTEM, .text = "Passages."}};
    static const struct {
        size_t stable, message, block; /* where the mark is; message 0 with block 9: nowhere */
    } rows[] = {{1, 0, 9}, {2, 0, 0}, {3, 1, 0}, {4, 2, 0}};
    struct llm_tool tool = {"look", "Looks it up.", "{\"type\":\"object\"}"};
    struct llm_rig *rig = llm_rig_chat_of("anthropic", key, 1);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct llm_request request = request_of(messages, ARRAY_LEN(messages));
        request.stable_count = rows[i].stable;
        request.tools = &tool;
        request.tool_count = 1;
        request.is_without_calls = i % 2;
        chat_server_play(rig->server, &good, 1);
        CHECK_TEXT(llm_rig_ask(rig, &request), "Good day.");
        AUTO(js) body = sent(rig);
        const struct js *list = js_get(body, "messages");
        for (size_t k = 0; k < js_count(list); k++)
            for (size_t b = 0; b < js_count(js_get(js_at(list, k), "content")); b++) {
                bool is_here = k == rows[i].message && b == rows[i].block;
                const struct js *block = js_at(js_get(js_at(list, k), "content"), b);
                CHECK((js_get(block, "cache_control") != NULL) == is_here);
            }
        CHECK_INT(js_count(js_get(body, "tools")), 1);
        CHECK_TEXT(js_text(js_get(js_get(body, "tool_choice"), "type")), i % 2 ? "none" : NULL);
    }
    llm_rig_free(rig);
}
