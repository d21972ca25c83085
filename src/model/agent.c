/* The agent's fields, the catalog's say in them, and the price of a minute (contract, Agent).
 */
#include "model/agent.h"

#include <math.h>
#include <string.h>

#include "model/catalog.h"
#include "model/internal.h"
#include "model/url.h"

const char *const greeting_mode_names[GREETING_MODE_COUNT] = {"generate", "static", "none"};

/* What the catalog says about a value. */

static void check_tts(struct field_context *context, const struct field *row, void *object,
                      const char *path)
{
    if (!catalog_tts(context->catalog, field_text(row, object)))
        faults_add(&context->faults, path, "is no id of the catalog's ttsProviders");
}

static void check_stt(struct field_context *context, const struct field *row, void *object,
                      const char *path)
{
    if (!catalog_stt(context->catalog, field_text(row, object)))
        faults_add(&context->faults, path, "is no id of the catalog's sttProviders");
}

static void check_llm(struct field_context *context, const struct field *row, void *object,
                      const char *path)
{
    const struct catalog *catalog = context->catalog;
    for (size_t i = 0; i < catalog->models.count; i++)
        if (strcmp(catalog->models.items[i].provider, field_text(row, object)) == 0)
            return;
    faults_add(&context->faults, path, "is no provider of the catalog's llmModels");
}

static void check_language(struct field_context *context, const struct field *row, void *object,
                           const char *path)
{
    const struct catalog_language *language =
        catalog_language(context->catalog, field_text(row, object));
    if (!language)
        faults_add(&context->faults, path, "is no id of the catalog's languages");
    else if (!language->is_enabled)
        faults_add(&context->faults, path, "is a language that is switched off");
}

static void check_iso(struct field_context *context, const struct field *row, void *object,
                      const char *path)
{
    const struct catalog_language_list *languages = &context->catalog->languages;
    bool is_known = false;
    for (size_t i = 0; i < languages->count; i++) {
        if (strcmp(languages->items[i].iso, field_text(row, object)) != 0)
            continue;
        if (languages->items[i].is_enabled)
            return;
        is_known = true;
    }
    faults_add(&context->faults, path,
               is_known ? "is a language that is switched off"
                        : "is no iso code of the catalog's languages");
}

/* host, host:port or *.host: no scheme, no path. */
static bool is_origin(const char *text)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
    if (*text == '[') { /* an IPv6 literal */
        size_t len = 1 + strspn(text + 1, "0123456789abcdefABCDEF:.");
        if (len < 4 || text[len] != ']')
            return false;
        text += len + 1;
    } else {
        if (strncmp(text, "*.", 2) == 0)
            text += 2;
        size_t len = strspn(text, letters);
        if (len == 0 || len > 253)
            return false;
        text += len;
    }
    if (*text == '\0')
        return true;
    size_t digits = strspn(text + 1, "0123456789");
    return *text == ':' && digits >= 1 && digits <= 5 && text[1 + digits] == '\0';
}

static void check_origins(struct field_context *context, const struct field *row, void *object,
                          const char *path)
{
    struct any_list list = field_list(row, object);
    const char *const *items = list.items;
    for (size_t i = 0; i < list.count; i++)
        if (!is_origin(items[i]))
            faults_add(&context->faults, arena_printf(context->arena, "%s[%zu]", path, i),
                       "must be a host, host:port or *.host, without scheme and path");
}

/* The tables. */

static const struct field voice_rows[] = {
    ROW_TEXT(struct agent_voice, provider, "provider", .check = check_tts,
             .about = "One of the catalog's ttsProviders ids."),
    ROW_TEXT(struct agent_voice, language, "language", .check = check_language,
             .about = "A catalog language id.", .example = "\"en\""),
    ROW_TEXT(struct agent_voice, speaker, "speaker", .max = 128,
             .about = "A voice-library id or a named speaker of the engine."),
    ROW_REAL(struct agent_voice, speed, "speed", .real_min = 0.2, .real_max = 2,
             .standard_real = 1),
    ROW_REAL(struct agent_voice, volume, "volume", .real_min = 0.5, .real_max = 2,
             .standard_real = 1, .about = "1 is the voice's own level."),
    ROW_TEXT(struct agent_voice, emotion, "emotion", .max = 64,
             .about = "A delivery that the engine supports; ignored by engines without emotions."),
};
FIELD_TABLE(agent_voice_table, struct agent_voice, "AgentVoice", voice_rows);

/* NaN and 0 stand for 'the model's own' until agent_settle() has seen the model. */
static const struct field llm_rows[] = {
    ROW_TEXT(struct agent_llm, provider, "provider", .check = check_llm,
             .about = "The provider of one of the catalog's llmModels."),
    ROW_TEXT(struct agent_llm, model, "model", .max = 256,
             .about = "The id of one of that provider's llmModels."),
    ROW_REAL(struct agent_llm, temperature, "temperature", .real_max = 2, .standard_real = NAN,
             .about = "Brought into what the model allows."),
    ROW_INT(struct agent_llm, max_tokens, "maxTokens", .min = 1, .max = INT64_C(1) << 53,
            .about = "Brought into what the model allows."),
};
static FIELD_TABLE(llm_table, struct agent_llm, "AgentLlm", llm_rows);

static const struct field stt_rows[] = {
    ROW_TEXT(struct agent_stt, provider, "provider", .check = check_stt,
             .about = "One of the catalog's sttProviders ids."),
    ROW_TEXT(struct agent_stt, language, "language", .check = check_iso,
             .about = "ISO code of the language that callers speak.", .example = "\"en\""),
    ROW_BOOL(struct agent_stt, detect_language, "detectLanguage"),
};
static FIELD_TABLE(stt_table, struct agent_stt, "AgentStt", stt_rows);

static const struct field variable_rows[] = {
    ROW_TEXT(struct agent_variable, default_value, "defaultValue", .max = 5000),
    ROW_TEXT(struct agent_variable, description, "description", .max = 5000),
};
static FIELD_TABLE(variable_table, struct agent_variable, "AgentVariable", variable_rows);

static const struct field system_tool_rows[] = {
    ROW_BOOL(struct agent_system_tools, end_call, "endCall",
             .about = "The agent may hang up when the conversation is finished."),
    ROW_BOOL(struct agent_system_tools, change_language, "changeLanguage",
             .about = "The agent may switch between Hindi and English when the caller does."),
};
static FIELD_TABLE(system_tools_table, struct agent_system_tools, "AgentSystemTools",
                   system_tool_rows);

static const struct field embed_rows[] = {
    ROW_BOOL(struct agent_embed, is_enabled, "enabled"),
    ROW_TEXTS(struct agent_embed, allowed_origins, "allowedOrigins", .max = 20, .entry_min = 1,
              .entry_max = 260, .check = check_origins,
              .pattern = "^(\\*\\.)?[A-Za-z0-9]([A-Za-z0-9._-]{0,200}[A-Za-z0-9])?(:[0-9]{1,5})?$",
              .about = "host, host:port or *.host; empty allows any site.",
              .example = "[\"example.com\"]"),
    ROW_INT(struct agent_embed, max_call_seconds, "maxCallSeconds", .min = 30, .max = 3600,
            .standard = 300),
    ROW_MONEY(struct agent_embed, daily_spend_limit_usd4, "dailySpendLimit", .max = 100000000,
              .standard = 50000, .about = "USD a UTC day."),
};
static FIELD_TABLE(embed_table, struct agent_embed, "AgentEmbed", embed_rows,
                   .about = "What the publishable key may do on web pages.");

static const struct field limits_rows[] = {
    ROW_OBJECT(struct agent_limits, embed, "embed", struct agent_embed, &embed_table),
};
FIELD_TABLE(agent_limits_table, struct agent_limits, "AgentLimits", limits_rows);

static const struct field stats_rows[] = {
    ROW_INT(struct agent_stats, total_calls, "totalCalls"),
    ROW_INT(struct agent_stats, total_seconds, "totalSeconds"),
    ROW_MONEY(struct agent_stats, total_cost_usd4, "totalCost"),
};
static FIELD_TABLE(stats_table, struct agent_stats, "AgentStats", stats_rows,
                   .about = "Totals over ended calls that a caller joined.");

#define COMPUTED .flags = FIELD_READ_ONLY | FIELD_NO_STORE
static const struct field agent_rows[] = {
    ROW_TEXT(struct agent, id, "id", .column = "id", .flags = FIELD_READ_ONLY,
             .example = "\"ua_01abcdefghijklmnopqr\""),
    ROW_TEXT(struct agent, user_id, "userId", .column = "workspace_id", .flags = FIELD_READ_ONLY,
             .about = "Owning workspace."),
    ROW_TEXT(struct agent, name, "name", .flags = FIELD_REQUIRED, .min = 1, .max = 100,
             .example = "\"Front desk\""),
    ROW_MONEY(struct agent, cost_per_minute_usd4, "costPerMinute", COMPUTED,
              .about = "USD per minute of the agent's calls."),
    ROW_TEXT(struct agent, api_key, "apiKey", COMPUTED, .about = "The agent's own secret key."),
    ROW_TEXT(struct agent, public_key, "publicKey", COMPUTED,
             .about = "The publishable key of the agent's call button on web pages."),
    ROW_TEXT(struct agent, webhook_url, "webhookUrl", .max = 2048, .check = check_url,
             .pattern = "^$|^https?://",
             .about = "Receives every event of this agent's calls; empty means none.",
             .example = "\"\""),
    ROW_TEXT(struct agent, system_instruction, "systemInstruction", .flags = FIELD_OPTIONAL,
             .max = 25000, .about = "May contain {{variables}} and mention tools as @tool_name.",
             .example = "\"You answer for the front desk.\""),
    ROW_ENUM(struct agent, greeting_mode, "greetingMode", enum greeting_mode, greeting_mode_names),
    ROW_TEXT(struct agent, greeting_text, "greetingText", .max = 2000,
             .about = "Opening line when greetingMode is static."),
    ROW_TEXT(struct agent, greeting_instruction, "greetingInstruction", .flags = FIELD_OPTIONAL,
             .max = 5000,
             .about = "What the opening line should do when greetingMode is generate."),
    ROW_OBJECT(struct agent, voice, "voice", struct agent_voice, &agent_voice_table),
    ROW_OBJECT(struct agent, llm, "llm", struct agent_llm, &llm_table),
    ROW_OBJECT(struct agent, stt, "stt", struct agent_stt, &stt_table),
    ROW_MAP(struct agent, variables, "variables", struct agent_variable_list, &variable_table,
            .max = 100, .is_pattern_name = true, .about = "Replaced as a whole."),
    ROW_TEXTS(struct agent, tool_ids, "toolIds", .max = 100, .entry_min = 1, .entry_max = 64,
              .about = "Tools switched on; another agent's tool is copied."),
    ROW_OBJECTS(struct agent, tools, "tools", struct tool_list, &tool_table,
                .flags = FIELD_NO_STORE | FIELD_BY_HANDLER, .max = 100,
                .about =
                    "The tools switched on. In a body: definitions; one with the id or name of "
                    "an own tool updates it."),
    ROW_TEXTS(struct agent, document_ids, "documentIds", .max = 500, .entry_max = 64,
              .about = "Documents the agent answers from; unknown ids are dropped."),
    ROW_OBJECT(struct agent, system_tools, "systemTools", struct agent_system_tools,
               &system_tools_table),
    ROW_OBJECT(struct agent, embed, "embed", struct agent_embed, &embed_table),
    ROW_OBJECT(struct agent, stats, "stats", struct agent_stats, &stats_table, COMPUTED),
    ROW_INT(struct agent, active_calls, "activeCalls", COMPUTED, .only = FIELD_VIEW_LIST,
            .about = "Calls that the agent is on now."),
    ROW_TIME(struct agent, created_wall_ms, "createdAt", .column = "created_ms",
             .flags = FIELD_READ_ONLY),
    ROW_TIME(struct agent, updated_wall_ms, "updatedAt", .column = "updated_ms",
             .flags = FIELD_READ_ONLY),
    ROW_INT(struct agent, version, "version", STORED_ONLY("version")),
    ROW_INT(struct agent, bytes, "bytes", STORED_ONLY("bytes")),
};
FIELD_TABLE(agent_table, struct agent, "Agent", agent_rows,
            .about = "A saved configuration of voice, model, recognition, instructions and tools.");

/* Settling. */

/* Sent, and no null? */
static bool is_sent(const struct js *section, const char *name)
{
    return js_type(js_get(section, name)) != JS_NULL;
}

/* The provider was sent (or put back to its default) without `partner`. */
static bool is_alone(const struct js *section, const char *partner)
{
    return js_get(section, "provider") && !is_sent(section, partner);
}

void agent_voice_settle(struct agent_voice *voice, const struct js *sent,
                        const struct catalog *catalog)
{
    const struct catalog_tts *standard = catalog_default_tts(catalog);
    if (*voice->provider == '\0' && standard)
        voice->provider = standard->id;
    const struct catalog_tts *engine = catalog_tts(catalog, voice->provider);
    if ((*voice->speaker == '\0' || is_alone(sent, "speaker")) && engine)
        voice->speaker = engine->default_speaker ? engine->default_speaker : "";
    if (*voice->language == '\0')
        voice->language = catalog_default_language(catalog)->id;
}

static void settle_llm(struct agent_llm *llm, const struct js *sent, struct field_context *context)
{
    const struct catalog *catalog = context->catalog;
    const struct catalog_model *standard = catalog_default_model(catalog, llm->provider);
    if (*llm->provider == '\0' && standard)
        llm->provider = standard->provider;
    if ((*llm->model == '\0' || is_alone(sent, "model")) && standard)
        llm->model = standard->id;
    const struct catalog_model *model = catalog_model(catalog, llm->provider, llm->model);
    if (!model) {
        if (is_sent(sent, "model") || is_sent(sent, "provider"))
            faults_add(&context->faults, "llm.model", "is no model of the provider %s",
                       llm->provider);
        return;
    }
    if (isnan(llm->temperature))
        llm->temperature = model->standard_temperature;
    if (llm->max_tokens == 0)
        llm->max_tokens = model->standard_max_tokens;
    llm->temperature = fmin(fmax(llm->temperature, model->temperature.min), model->temperature.max);
    llm->max_tokens = MIN(MAX(llm->max_tokens, model->max_tokens.min), model->max_tokens.max);
}

static void settle_stt(struct agent_stt *stt, const struct catalog *catalog)
{
    const struct catalog_stt *standard = catalog_default_stt(catalog);
    if (*stt->provider == '\0' && standard)
        stt->provider = standard->id;
    if (*stt->language == '\0')
        stt->language = catalog_default_language(catalog)->iso;
}

void agent_settle(struct agent *agent, const struct js *body, struct field_context *context)
{
    const struct catalog *catalog = context->catalog;
    if (!agent->system_instruction)
        agent->system_instruction = catalog->defaults.agent_instruction;
    if (!agent->greeting_instruction)
        agent->greeting_instruction = catalog->defaults.greeting_instruction;
    if (context->faults.count) /* a provider that is none would only bring follow-up faults */
        return;
    agent_voice_settle(&agent->voice, js_get(body, "voice"), catalog);
    settle_llm(&agent->llm, js_get(body, "llm"), context);
    settle_stt(&agent->stt, catalog);
}

int64_t agent_price(const struct agent *agent, const struct catalog *catalog, const char *plan_id)
{
    const struct catalog_plan *plan = catalog_plan(catalog, plan_id);
    const struct catalog_tts *tts = catalog_tts(catalog, agent->voice.provider);
    const struct catalog_stt *stt = catalog_stt(catalog, agent->stt.provider);
    const struct catalog_model *model =
        catalog_model(catalog, agent->llm.provider, agent->llm.model);
    return (plan ? plan->cost_per_minute_usd4 : 0) + (tts ? tts->cost_per_minute_usd4 : 0) +
           (stt ? stt->cost_per_minute_usd4 : 0) + (model ? model->cost_per_minute_usd4 : 0);
}
