/* The numbers and words of the contract, written out once more: docs/contract.md names these tests.
 * A bound, a default or a word that changes in a table changes here as well, on purpose. */
#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/mem.h"
#include "model/agent.h"
#include "model/call.h"
#include "model/document.h"
#include "model/event.h"
#include "model/tool.h"
#include "model/webhook.h"
#include "test.h"

/* Bounds of what is sent. */

enum unit {
    LETTERS, /* a text of so many letters of two bytes */
    ADDRESS, /* a URL of so many characters */
    ENTRIES, /* a list of so many times `entry` */
    NAMES,   /* an object with so many names, each with `entry` */
    NUMBER,
};

/* around: a body in which %s is the value. */
struct bound {
    const struct field_table *table;
    const char *field, *around;
    enum unit unit;
    const char *entry;
    double min, max, step;
};

#define TEXT_(around_)         around_, LETTERS, NULL
#define NUMBER_(around_)       around_, NUMBER, NULL
#define LIST_(around_, entry_) around_, ENTRIES, entry_
#define GREETING(inner)        "{\"config\":{\"prompt\":{\"greeting\":{" inner "}}}}"

static const struct bound bounds[] = {
    {&agent_table, "name", TEXT_("{\"name\":%s}"), 1, 100, 1},
    {&agent_table, "systemInstruction", TEXT_("{\"systemInstruction\":%s}"), 0, 25000, 1},
    {&agent_table, "greetingText", TEXT_("{\"greetingText\":%s}"), 0, 2000, 1},
    {&agent_table, "greetingInstruction", TEXT_("{\"greetingInstruction\":%s}"), 0, 5000, 1},
    {&agent_table, "webhookUrl", "{\"webhookUrl\":%s}", ADDRESS, NULL, 17, 2048, 1},
    {&agent_table, "voice.speaker", TEXT_("{\"voice\":{\"speaker\":%s}}"), 0, 128, 1},
    {&agent_table, "voice.emotion", TEXT_("{\"voice\":{\"emotion\":%s}}"), 0, 64, 1},
    {&agent_table, "voice.speed", NUMBER_("{\"voice\":{\"speed\":%s}}"), 0.2, 2, 0.01},
    {&agent_table, "voice.volume", NUMBER_("{\"voice\":{\"volume\":%s}}"), 0.5, 2, 0.01},
    {&agent_table, "llm.temperature", NUMBER_("{\"llm\":{\"temperature\":%s}}"), 0, 2, 0.01},
    {&agent_table, "llm.maxTokens", NUMBER_("{\"llm\":{\"maxTokens\":%s}}"), 1, INFINITY, 1},
    {&agent_table, "variables", "{\"variables\":%s}", NAMES, "{}", 0, 100, 1},
    {&agent_table, "variables.v.defaultValue",
     TEXT_("{\"variables\":{\"v\":{\"defaultValue\":%s}}}"), 0, 5000, 1},
    {&agent_table, "variables.v.description", TEXT_("{\"variables\":{\"v\":{\"description\":%s}}}"),
     0, 5000, 1},
    {&agent_table, "toolIds", LIST_("{\"toolIds\":%s}", "\"tool_1\""), 0, 100, 1},
    {&agent_table, "documentIds", LIST_("{\"documentIds\":%s}", "\"kd_1\""), 0, 500, 1},
    {&agent_table, "embed.allowedOrigins",
     LIST_("{\"embed\":{\"allowedOrigins\":%s}}", "\"a.example\""), 0, 20, 1},
    {&agent_table, "embed.maxCallSeconds", NUMBER_("{\"embed\":{\"maxCallSeconds\":%s}}"), 30, 3600,
     1},
    {&agent_table, "embed.dailySpendLimit", NUMBER_("{\"embed\":{\"dailySpendLimit\":%s}}"), 0,
     10000, 0.01},
    {&tool_table, "name", TEXT_("{\"name\":%s}"), 1, 128, 1},
    {&tool_table, "description", TEXT_("{\"description\":%s}"), 0, 5000, 1},
    {&tool_table, "url", "{\"url\":%s}", ADDRESS, NULL, 17, 2048, 1},
    {&tool_table, "params", LIST_("{\"params\":%s}", "{\"key\":\"k\"}"), 0, 50, 1},
    {&tool_table, "params[0].key", TEXT_("{\"params\":[{\"key\":%s}]}"), 1, 128, 1},
    {&tool_table, "params[0].value", TEXT_("{\"params\":[{\"key\":\"k\",\"value\":%s}]}"), 0, 4000,
     1},
    {&tool_table, "headers", LIST_("{\"headers\":%s}", "{\"key\":\"k\"}"), 0, 50, 1},
    {&tool_table, "headers[0].value", TEXT_("{\"headers\":[{\"key\":\"k\",\"value\":%s}]}"), 0,
     4000, 1},
    {&tool_table, "outputs", LIST_("{\"outputs\":%s}", "{\"name\":\"n\"}"), 0, 50, 1},
    {&tool_table, "outputs[0].name", TEXT_("{\"outputs\":[{\"name\":%s}]}"), 1, 128, 1},
    {&tool_table, "outputs[0].description",
     TEXT_("{\"outputs\":[{\"name\":\"n\",\"description\":%s}]}"), 0, 4000, 1},
    {&tool_table, "body", TEXT_("{\"body\":%s}"), 0, 20000, 1},
    {&tool_table, "sampleOutput", TEXT_("{\"sampleOutput\":%s}"), 0, 20000, 1},
    {&tool_table, "timeoutMs", NUMBER_("{\"timeoutMs\":%s}"), 500, 60000, 1},
    {&webhook_table, "url", "{\"url\":%s}", ADDRESS, NULL, 17, 2048, 1},
    {&webhook_table, "secret", TEXT_("{\"secret\":%s}"), 16, 255, 1},
    {&call_start_table, "participant.identity", TEXT_("{\"participant\":{\"identity\":%s}}"), 1,
     256, 1},
    {&call_start_table, "participant.name", TEXT_("{\"participant\":{\"name\":%s}}"), 1, 256, 1},
    {&call_start_table, "participant.ttlSeconds", NUMBER_("{\"participant\":{\"ttlSeconds\":%s}}"),
     30, 86400, 1},
    {&call_start_table, "variables", "{\"variables\":%s}", NAMES, "\"\"", 0, 100, 1},
    {&call_start_table, "variables.v", TEXT_("{\"variables\":{\"v\":%s}}"), 0, 5000, 1},
    {&call_start_table, "webhooks", LIST_("{\"webhooks\":%s}", "{\"url\":\"http://a.example/\"}"),
     0, 10, 1},
    {&call_start_table, "webhooks[0].url", "{\"webhooks\":[{\"url\":%s}]}", ADDRESS, NULL, 17, 2048,
     1},
    {&call_start_table, "webhooks[0].secret",
     TEXT_("{\"webhooks\":[{\"url\":\"http://a.example/\",\"secret\":%s}]}"), 1, 255, 1},
    {&call_start_table, "config.call.maxDurationSeconds",
     NUMBER_("{\"config\":{\"call\":{\"maxDurationSeconds\":%s}}}"), 0, 86400, 1},
    {&call_start_table, "config.turn.minEndpointingDelayMs",
     NUMBER_("{\"config\":{\"turn\":{\"minEndpointingDelayMs\":%s}}}"), 0, 10000, 1},
    {&call_start_table, "config.vad.threshold",
     NUMBER_("{\"config\":{\"vad\":{\"threshold\":%s}}}"), 0, 1, 0.01},
    {&call_start_table, "config.vad.minSpeechMs",
     NUMBER_("{\"config\":{\"vad\":{\"minSpeechMs\":%s}}}"), 20, 2000, 1},
    {&call_start_table, "config.vad.minSilenceMs",
     NUMBER_("{\"config\":{\"vad\":{\"minSilenceMs\":%s}}}"), 100, 5000, 1},
    {&call_start_table, "config.vad.prefixPaddingMs",
     NUMBER_("{\"config\":{\"vad\":{\"prefixPaddingMs\":%s}}}"), 0, 1000, 1},
    {&call_start_table, "config.prompt.system", TEXT_("{\"config\":{\"prompt\":{\"system\":%s}}}"),
     0, 25000, 1},
    {&call_start_table, "config.prompt.greeting.text", TEXT_(GREETING("\"text\":%s")), 0, 2000, 1},
    {&call_start_table, "config.prompt.greeting.instruction", TEXT_(GREETING("\"instruction\":%s")),
     0, 5000, 1},
};

static void write_value(const struct bound *bound, double size, struct buf *out)
{
    static const char scheme[] = "http://a.example/";
    if (bound->unit == NUMBER) {
        (void)buf_printf(out, "%.10g", size);
        return;
    }
    size_t count = (size_t)size;
    bool is_list = bound->unit == ENTRIES || bound->unit == NAMES;
    (void)buf_append_str(out, bound->unit == ENTRIES ? "[" : bound->unit == NAMES ? "{" : "\"");
    if (bound->unit == ADDRESS)
        (void)buf_append(out, scheme, MIN(count, sizeof(scheme) - 1));
    for (size_t i = bound->unit == ADDRESS ? sizeof(scheme) - 1 : 0; i < count; i++) {
        if (is_list && i > 0)
            (void)buf_append_char(out, ',');
        if (bound->unit == NAMES)
            (void)buf_printf(out, "\"v%zu\":", i);
        (void)buf_append_str(out, is_list                  ? bound->entry
                                  : bound->unit == ADDRESS ? "x"
                                                           : "\xc3\xa9");
    }
    (void)buf_append_str(out, bound->unit == ENTRIES ? "]" : bound->unit == NAMES ? "}" : "\"");
}

/* Is the field at fault with a value of this size? */
static bool is_refused(const struct bound *bound, double size)
{
    AUTO(arena) arena = arena_new(0);
    struct field_context context;
    union {
        struct agent agent;
        struct tool tool;
        struct webhook webhook;
        struct call_start start;
    } object;
    AUTO(js) js = NULL;
    AUTO_BUF value = BUF_INIT(1 << 20);
    AUTO_BUF body = BUF_INIT(1 << 20);
    field_context_init(&context, arena, NULL);
    write_value(bound, size, &value);
    const char *at = strstr(bound->around, "%s");
    (void)buf_append(&body, bound->around, (size_t)(at - bound->around));
    (void)buf_append_str(&body, value.data);
    (void)buf_append_str(&body, at + 2);
    if (!CHECK_INT(js_parse(body.data, body.len, 64, &js, NULL), OK))
        return false;
    field_create(bound->table, &object, js, &context, "");
    for (size_t i = 0; i < context.faults.count; i++)
        if (strcmp(context.faults.items[i].field, bound->field) == 0)
            return true;
    return false;
}

static void check_size(const struct bound *bound, double size, bool is_good)
{
    if (is_refused(bound, size) == is_good)
        test_fail(__FILE__, __LINE__, "%s of %g is %s", bound->field, size,
                  is_good ? "refused" : "taken");
}

TEST(bounds_of_what_is_sent)
{
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
        const struct bound *bound = &bounds[i];
        check_size(bound, bound->min, true);
        if (bound->unit != ADDRESS && (bound->min > 0 || bound->unit == NUMBER))
            check_size(bound, bound->min - bound->step, false);
        if (isinf(bound->max))
            continue;
        check_size(bound, bound->max, true);
        check_size(bound, bound->max + bound->step, false);
    }
}

TEST(metadata_has_sixteen_kib)
{
    static const struct bound metadata = {
        &call_start_table, "metadata", TEXT_("{\"metadata\":{\"m\":%s}}"), 0, 0, 0};
    check_size(&metadata, (16384 - 8) / 2, true); /* {"m":""} has eight */
    check_size(&metadata, (16384 - 8) / 2 + 1, false);
}

TEST(names_of_variables_are_those_of_a_program)
{
    static const struct {
        const char *name;
        bool is_good;
    } rows[] = {
        {"a", true},
        {"_A9", true},
        {"", false},
        {"1a", false},
        {"a-b", false},
        {"\xc3\xa9", false},
        {"a234567890123456789012345678901234567890123456789012345678901234", true},
        {"a2345678901234567890123456789012345678901234567890123456789012345", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_MEM char *around = mem_printf("{\"variables\":{\"%s\":%%s}}", rows[i].name);
        AUTO_MEM char *field = mem_printf("variables.%s", rows[i].name);
        const struct bound bound = {&call_start_table, field, around, LETTERS, NULL, 0, 0, 0};
        check_size(&bound, 1, rows[i].is_good);
    }
}

/* What is left out. */

TEST(defaults_of_what_is_left_out)
{
    struct agent agent;
    struct tool tool;
    struct call_start start;
    struct webhook webhook;
    field_defaults(&agent_table, &agent);
    field_defaults(&tool_table, &tool);
    field_defaults(&call_start_table, &start);
    field_defaults(&webhook_table, &webhook);
    CHECK_INT(agent.greeting_mode, GREETING_GENERATE);
    CHECK(agent.voice.speed == 1 && agent.voice.volume == 1);
    CHECK(!agent.embed.is_enabled && !agent.system_tools.end_call);
    CHECK(!agent.system_tools.change_language);
    CHECK_INT(agent.embed.allowed_origins.count, 0);
    CHECK_INT(agent.embed.max_call_seconds, 300);
    CHECK_INT(agent.embed.daily_spend_limit_usd4, 50000);
    CHECK_INT(tool.kind, TOOL_DURING_CALL);
    CHECK_INT(tool.method, TOOL_GET);
    CHECK_INT(tool.auth, TOOL_AUTH_NONE);
    CHECK_INT(tool.timeout_ms, 10000);
    CHECK_TEXT(tool.auth_key_header, "X-API-Key");
    CHECK_INT(start.participant.ttl_s, 3600);
    CHECK_INT(start.config.call.max_duration_s, 0);
    CHECK_INT(start.config.turn.min_endpointing_delay_ms, 500);
    CHECK(start.config.turn.interruption.is_enabled);
    CHECK(start.config.vad.threshold == 0.5);
    CHECK_INT(start.config.vad.min_speech_ms, 60);
    CHECK_INT(start.config.vad.min_silence_ms, 550);
    CHECK_INT(start.config.vad.prefix_padding_ms, 300);
    CHECK(webhook.is_enabled);
}

/* The words of enumerations. */

static void check_words(const char *const *names, size_t count, const char *want)
{
    AUTO_BUF got = BUF_INIT(1000);
    for (size_t i = 0; i < count; i++)
        (void)buf_printf(&got, "%s%s", i ? " " : "", names[i]);
    CHECK_TEXT(got.data, want);
}

/* The words of a table's field. */
static void check_field(const struct field_table *table, const char *field, const char *want)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].name, field) == 0) {
            check_words(table->rows[i].names, table->rows[i].name_count, want);
            return;
        }
    test_fail(__FILE__, __LINE__, "there is no %s", field);
}

TEST(words_of_the_contract)
{
    check_words(greeting_mode_names, GREETING_MODE_COUNT, "generate static none");
    check_field(&tool_table, "kind", "during_call before_call");
    check_field(&tool_table, "method", "GET POST");
    check_field(&tool_table, "auth", "none bearer api_key basic");
    check_words(call_status_names, CALL_STATUS_COUNT, "created active ended");
    check_field(&call_turn_table, "role", "user assistant");
    check_field(&document_table, "kind", "text txt pdf docx");
    check_field(&document_table, "status", "processing ready failed");
    check_field(&hit_table, "kind", "card section");
    check_words(error_stage_names, ERROR_STAGE_COUNT, "stt llm tts greeting speech");
    check_words(end_reason_names + 1, END_REASON_COUNT - 1,
                "user-left api max-duration socket-lost agent-shutdown room-finished no-user "
                "dispatch-failed");
    check_words(event_type_names, EVENT_TYPE_COUNT,
                "call.started call.agent_joined call.user_joined call.user_left transcript.user "
                "transcript.assistant call.error call.ended webhook.test");
}

TEST(every_end_but_two_is_billed)
{
    for (int reason = END_USER_LEFT; reason < END_REASON_COUNT; reason++)
        CHECK_INT(end_reasons[reason].is_billed,
                  reason != END_NO_USER && reason != END_DISPATCH_FAILED);
}

/* Ceilings that are no field's. */

TEST(ceilings_of_documents_and_calls)
{
    CHECK_INT(DOCUMENT_TEXT_MIN, 20);
    CHECK_INT(DOCUMENT_TEXT_MAX, 200000);
    CHECK_INT(DOCUMENTS_MAX, 500);
    CHECK_INT(DOCUMENT_FILE_BYTES, 25 * 1024 * 1024);
    CHECK_INT(DOCUMENT_EXTRACTED_MAX, 2000000);
    CHECK_INT(EVENT_TRANSCRIPT_MAX_BYTES, 4 * 1024 * 1024);
}
