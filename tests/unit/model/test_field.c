/* The field engine: defaults, faults with their paths, merging, secrets, the store view. */
#include "model/field.h"

#include <math.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "model/agent.h"
#include "model/call.h"
#include "model/catalog.h"
#include "model/tool.h"
#include "model/webhook.h"
#include "test.h"

static const uint8_t master_key[MASTER_KEY_BYTES] = {1, 2, 3};

static struct js *json(const char *text)
{
    struct js *js = NULL;
    struct fault fault = {0};
    if (js_parse(text, strlen(text), 64, &js, &fault) != OK)
        test_fail(__FILE__, __LINE__, "%s: %s", text, fault.text);
    return js;
}

static struct catalog *test_catalog(struct arena *arena)
{
    static struct catalog_tts tts[] = {
        {.id = "flite",
         .label = "flite",
         .default_speaker = "slt",
         .is_default = true,
         .is_enabled = true,
         .cost_per_minute_usd4 = 10},
        {.id = "cartesia",
         .label = "Cartesia",
         .default_speaker = "katie",
         .is_multilingual = true},
    };
    static struct catalog_stt stt[] = {
        {.id = "pocketsphinx", .is_default = true, .cost_per_minute_usd4 = 1},
        {.id = "soniox", .is_multilingual = true}};
    static struct catalog_model models[] = {
        {.id = "extractive",
         .provider = "extractive",
         .temperature = {0, 0},
         .max_tokens = {1, 400},
         .standard_max_tokens = 300,
         .is_default = true,
         .is_enabled = true,
         .cost_per_minute_usd4 = 5},
        {.id = "gpt-x",
         .provider = "openai",
         .temperature = {0, 1.5},
         .max_tokens = {16, 4096},
         .standard_temperature = 0.7,
         .standard_max_tokens = 512},
    };
    struct catalog *catalog = arena_new_of(arena, struct catalog);
    catalog_init(catalog, "en", "tr,id", arena);
    catalog->tts = (struct catalog_tts_list){tts, ARRAY_LEN(tts)};
    catalog->stt = (struct catalog_stt_list){stt, ARRAY_LEN(stt)};
    catalog->models = (struct catalog_model_list){models, ARRAY_LEN(models)};
    return catalog;
}

/* "field: message" of the i-th fault, or "". */
static const char *fault_at(const struct faults *faults, size_t i, struct arena *arena)
{
    if (i >= faults->count)
        return "";
    return arena_printf(arena, "%s: %s", faults->items[i].field, faults->items[i].message);
}

static const char *view(const struct field_table *table, const void *object, unsigned views,
                        struct arena *arena)
{
    AUTO_BUF buf = BUF_INIT(1 << 20);
    struct js_out out;
    js_out_init(&out, &buf);
    field_write(table, object, views, NULL, &out);
    return arena_strndup(arena, buf.data, buf.len);
}

TEST(field_create_tells_every_fault_with_its_path)
{
    AUTO(arena) arena = arena_new(0);
    struct field_context context;
    field_context_init(&context, arena, test_catalog(arena));
    AUTO(js) body = json("{\"description\":7,\"url\":\"no url\",\"params\":[{\"key\":\"a\"},{},"
                         "{\"key\":\"\"}],\"timeoutMs\":100,\"kind\":\"x\",\"headers\":3,"
                         "\"auth\":null,\"sampleOutput\":\"é\"}");
    struct tool tool;
    field_create(&tool_table, &tool, body, &context, "");
    CHECK_TEXT(fault_at(&context.faults, 0, arena), "description: must be a string");
    CHECK_TEXT(fault_at(&context.faults, 1, arena), "url: is no URL");
    CHECK_TEXT(fault_at(&context.faults, 2, arena), "params[1].key: is required");
    CHECK_TEXT(fault_at(&context.faults, 3, arena), "params[2].key: must have 1 to 128 characters");
    CHECK_TEXT(fault_at(&context.faults, 4, arena), "timeoutMs: must be 500 to 60000");
    CHECK_TEXT(fault_at(&context.faults, 5, arena), "kind: must be during_call or before_call");
    CHECK_TEXT(fault_at(&context.faults, 6, arena), "headers: must be an array");
    CHECK_TEXT(fault_at(&context.faults, 7, arena), "name: is required");
    CHECK_INT(context.faults.count, 8);
    CHECK_TEXT(tool.sample_output, "é");
    CHECK_INT(tool.timeout_ms, 10000);
}

TEST(field_create_wants_an_object)
{
    AUTO(arena) arena = arena_new(0);
    struct field_context context;
    field_context_init(&context, arena, NULL);
    AUTO(js) body = json("[1]");
    struct tool tool;
    field_create(&tool_table, &tool, body, &context, "");
    CHECK_TEXT(fault_at(&context.faults, 0, arena), ": must be an object");
    CHECK_INT(context.faults.count, 1);
}

TEST(field_merge_changes_only_what_is_sent)
{
    AUTO(arena) arena = arena_new(0);
    struct field_context context;
    field_context_init(&context, arena, NULL);
    AUTO(js) body =
        json("{\"name\":\"Order Größe-Nr\",\"description\":\"d\",\"url\":\"http://a/b\","
             "\"timeoutMs\":700,\"body\":\"x\"}");
    struct tool tool;
    field_create(&tool_table, &tool, body, &context, "");
    CHECK_INT(context.faults.count, 0);
    CHECK_TEXT(tool.name, "order_gr__e_nr");
    AUTO(js) patch = json("{\"timeoutMs\":null,\"name\":null,\"agentId\":\"ua_1\",\"id\":\"x\","
                          "\"unknown\":1}");
    field_merge(&tool_table, &tool, patch, &context, "");
    CHECK_TEXT(fault_at(&context.faults, 0, arena), "name: must not be null");
    CHECK_TEXT(fault_at(&context.faults, 1, arena), "agentId: cannot be changed");
    CHECK_INT(context.faults.count, 2);
    CHECK_INT(tool.timeout_ms, 10000);
    CHECK_TEXT(tool.body, "x");
}

TEST(field_masks_secrets_and_keeps_them_when_the_mask_comes_back)
{
    AUTO(arena) arena = arena_new(0);
    struct field_context context;
    field_context_init(&context, arena, NULL);
    CHECK_TEXT(secret_mask("12345678", arena), "********");
    CHECK_TEXT(secret_mask("123456789", arena), "********6789");
    CHECK_TEXT(secret_mask("", arena), "");
    AUTO(js) body = json("{\"name\":\"n\",\"description\":\"d\",\"url\":\"http://a/b\","
                         "\"authToken\":\"secret-token\"}");
    struct tool tool;
    field_create(&tool_table, &tool, body, &context, "");
    const char *shown = view(&tool_table, &tool, FIELD_VIEW_API, arena);
    CHECK(strstr(shown, "\"authToken\":\"********oken\""));
    CHECK(!strstr(shown, "secret-token"));
    AUTO(js) patch = json("{\"authToken\":\"********oken\"}");
    field_merge(&tool_table, &tool, patch, &context, "");
    CHECK_TEXT(tool.auth_token, "secret-token");
    AUTO(js) other = json("{\"name\":\"n\",\"description\":\"d\",\"url\":\"http://a/b\","
                          "\"authToken\":\"********oken\"}");
    field_create(&tool_table, &tool, other, &context, "");
    CHECK_TEXT(fault_at(&context.faults, 0, arena),
               "authToken: is masked, and no secret is stored");
}

TEST(field_store_view_seals_secrets_and_reads_back)
{
    AUTO(arena) arena = arena_new(0);
    struct field_context context;
    field_context_init(&context, arena, NULL);
    AUTO(js) body =
        json("{\"name\":\"n\",\"description\":\"d ü\",\"url\":\"http://a/b\",\"method\":"
             "\"POST\",\"authToken\":\"secret-token\",\"headers\":[{\"key\":\"A\","
             "\"value\":\"1\"}]}");
    struct tool tool, back;
    field_create(&tool_table, &tool, body, &context, "");
    const char *stored = field_store_text(&tool_table, &tool, master_key, arena);
    CHECK(!strstr(stored, "secret-token"));
    REQUIRE(field_read(&tool_table, &back, stored, strlen(stored), master_key, arena) == OK);
    CHECK_TEXT(back.auth_token, "secret-token");
    CHECK_TEXT(back.description, "d ü");
    CHECK_TEXT(back.name, "");
    CHECK_INT(back.method, TOOL_POST);
    CHECK_INT(back.headers.count, 1);
    CHECK_TEXT(back.headers.items[0].key, "A");
    static const uint8_t wrong[MASTER_KEY_BYTES] = {9};
    CHECK_INT(field_read(&tool_table, &back, stored, strlen(stored), wrong, arena), ERR_INVALID);
}

TEST(field_views_cut_what_an_agent_key_may_not_see)
{
    AUTO(arena) arena = arena_new(0);
    struct tool tool;
    field_defaults(&tool_table, &tool);
    tool.id = "tool_1";
    tool.name = "n";
    CHECK_TEXT(view(&tool_table, &tool, FIELD_VIEW_API | FIELD_VIEW_AGENT, arena),
               "{\"id\":\"tool_1\",\"name\":\"n\",\"description\":\"\",\"kind\":\"during_call\"}");
}

TEST(field_closed_tables_tell_what_is_forbidden_at_any_depth)
{
    AUTO(arena) arena = arena_new(0);
    struct field_context context;
    field_context_init(&context, arena, NULL);
    AUTO(js) body = json("{\"agentId\":\"ua_1\",\"foo\":1,\"config\":{\"voice\":{},\"turn\":{"
                         "\"interruption\":{\"x\":1}},\"vad\":{\"threshold\":2}},\"variables\":{"
                         "\"ok\":\"1\",\"1x\":\"2\",\"n\":3}}");
    struct call_start start;
    field_create(&call_start_table, &start, body, &context, "");
    CHECK_TEXT(fault_at(&context.forbidden, 0, arena), "config.voice: may not be set here");
    CHECK_TEXT(fault_at(&context.forbidden, 1, arena),
               "config.turn.interruption.x: may not be set here");
    CHECK_INT(context.forbidden.count, 2);
    CHECK_TEXT(fault_at(&context.faults, 0, arena), "config.vad.threshold: must be 0 to 1");
    CHECK_TEXT(fault_at(&context.faults, 2, arena), "variables.n: must be a string");
    CHECK_INT(context.faults.count, 3);
}

TEST(field_defaults_of_a_start)
{
    AUTO(arena) arena = arena_new(0);
    struct field_context context;
    field_context_init(&context, arena, NULL);
    AUTO(js) body = json("{\"agentId\":\"ua_1\",\"metadata\":null,\"webhooks\":[{\"url\":"
                         "\"http://a/\",\"events\":[\"call.ended\",\"*\"]}]}");
    struct call_start start;
    field_create(&call_start_table, &start, body, &context, "");
    CHECK_INT(context.faults.count, 0);
    CHECK_TEXT(start.metadata, "{}");
    CHECK(!start.language);
    CHECK(!start.config.prompt.system);
    CHECK(start.config.turn.interruption.is_enabled);
    CHECK_INT(start.config.turn.min_endpointing_delay_ms, 500);
    CHECK_INT(start.config.vad.min_silence_ms, 550);
    CHECK_INT(start.participant.ttl_s, 3600);
    REQUIRE(start.webhooks.count == 1);
    CHECK_INT(start.webhooks.items[0].events.count, 1);
    CHECK_TEXT(start.webhooks.items[0].events.items[0], "*");
}

TEST(field_copy_owns_all_it_points_to)
{
    AUTO(arena) arena = arena_new(0);
    struct arena *first = arena_new(0);
    struct field_context context;
    field_context_init(&context, first, test_catalog(arena));
    AUTO(js) body = json("{\"name\":\"A\",\"variables\":{\"x\":{\"defaultValue\":\"1\"}},"
                         "\"embed\":{\"allowedOrigins\":[\"a.com\"]}}");
    struct agent agent, copy;
    field_create(&agent_table, &agent, body, &context, "");
    agent_settle(&agent, body, &context);
    field_copy(&agent_table, &agent, &copy, arena);
    arena_free(first);
    CHECK_TEXT(copy.name, "A");
    CHECK_TEXT(copy.variables.items[0].name, "x");
    CHECK_TEXT(copy.variables.items[0].default_value, "1");
    CHECK_TEXT(copy.embed.allowed_origins.items[0], "a.com");
}

TEST(agent_takes_what_is_left_out_from_the_catalog)
{
    AUTO(arena) arena = arena_new(0);
    struct field_context context;
    struct catalog *catalog = test_catalog(arena);
    field_context_init(&context, arena, catalog);
    AUTO(js) body = json("{\"name\":\"A\",\"llm\":{\"temperature\":1.2}}");
    struct agent agent;
    field_create(&agent_table, &agent, body, &context, "");
    agent_settle(&agent, body, &context);
    CHECK_INT(context.faults.count, 0);
    CHECK_TEXT(agent.voice.provider, "flite");
    CHECK_TEXT(agent.voice.speaker, "slt");
    CHECK_TEXT(agent.llm.model, "extractive");
    CHECK(agent.llm.temperature < 1e-9);
    CHECK_INT(agent.llm.max_tokens, 300);
    CHECK_TEXT(agent.stt.language, "en");
    CHECK_TEXT(agent.system_instruction, catalog->defaults.agent_instruction);
    CHECK_INT(agent_price(&agent, catalog, "standard"), 216);
    AUTO(js) patch =
        json("{\"llm\":{\"provider\":\"openai\",\"maxTokens\":99999,\"temperature\":2},"
             "\"voice\":{\"provider\":\"cartesia\"},\"systemInstruction\":\"\"}");
    field_merge(&agent_table, &agent, patch, &context, "");
    agent_settle(&agent, patch, &context);
    CHECK_TEXT(agent.llm.model, "gpt-x");
    CHECK_INT(agent.llm.max_tokens, 4096);
    CHECK(fabs(agent.llm.temperature - 1.5) < 1e-9);
    CHECK_TEXT(agent.voice.speaker, "katie");
    CHECK_TEXT(agent.system_instruction, "");
    AUTO(js) bad = json("{\"llm\":{\"model\":\"extractive\"}}");
    field_merge(&agent_table, &agent, bad, &context, "");
    agent_settle(&agent, bad, &context);
    CHECK_TEXT(fault_at(&context.faults, 0, arena),
               "llm.model: is no model of the provider openai");
}

TEST(agent_checks_origins_and_providers)
{
    AUTO(arena) arena = arena_new(0);
    struct field_context context;
    field_context_init(&context, arena, test_catalog(arena));
    AUTO(js) body =
        json("{\"name\":\"A\",\"embed\":{\"allowedOrigins\":[\"a.com:8080\",\"*.b.com\","
             "\"https://c.com\",\"d.com/x\",\"localhost\"]},\"voice\":{\"provider\":"
             "\"none\",\"language\":\"xx\",\"speed\":9},\"stt\":{\"language\":\"hi\"}}");
    struct agent agent;
    field_create(&agent_table, &agent, body, &context, "");
    agent_settle(&agent, body, &context);
    CHECK_INT(context.faults.count, 5);
    CHECK(strncmp(fault_at(&context.faults, 0, arena), "embed.allowedOrigins[2]: ", 25) == 0);
    CHECK(strncmp(fault_at(&context.faults, 1, arena), "embed.allowedOrigins[3]: ", 25) == 0);
    CHECK_TEXT(fault_at(&context.faults, 4, arena), "voice.speed: must be 0.2 to 2");
}

TEST(catalog_language_by_id_then_by_iso)
{
    AUTO(arena) arena = arena_new(0);
    struct catalog *catalog = test_catalog(arena);
    CHECK_TEXT(catalog_language_named(catalog, "hi")->id, "hi");
    CHECK_TEXT(catalog_language_named(catalog, "hinglish")->iso, "hi");
    CHECK(!catalog_language_named(catalog, "tr"));
    CHECK(!catalog_language_named(catalog, ""));
    CHECK(catalog_language(catalog, "tr"));
}

/* The catalog of these tests has Turkish and Indonesian switched off. */
TEST(a_language_that_is_switched_off_is_not_saved)
{
    AUTO(arena) arena = arena_new(0);
    struct field_context context;
    field_context_init(&context, arena, test_catalog(arena));
    AUTO(js) body = json("{\"name\":\"A\",\"voice\":{\"language\":\"tr\"},\"stt\":{\"language\":"
                         "\"id\"}}");
    struct agent agent;
    field_create(&agent_table, &agent, body, &context, "");
    CHECK_TEXT(fault_at(&context.faults, 0, arena),
               "voice.language: is a language that is switched off");
    CHECK_TEXT(fault_at(&context.faults, 1, arena),
               "stt.language: is a language that is switched off");
    CHECK_INT(context.faults.count, 2);
}
