/* The agent: a saved configuration of voice, model, recognition, instructions and tools. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/field.h"
#include "model/tool.h"

enum greeting_mode { GREETING_GENERATE, GREETING_STATIC, GREETING_NONE, GREETING_MODE_COUNT };
extern const char *const greeting_mode_names[GREETING_MODE_COUNT];

struct agent_voice {
    const char *provider, *language, *speaker;
    double speed, volume;
    const char *emotion;
};

struct agent_llm {
    const char *provider, *model;
    double temperature;
    int64_t max_tokens;
};

struct agent_stt {
    const char *provider, *language; /* iso code */
    bool detect_language;
};

struct agent_variable {
    const char *name, *default_value, *description;
};
struct agent_variable_list LIST_OF(struct agent_variable);

struct agent_system_tools {
    bool end_call, change_language;
};

struct agent_embed {
    bool is_enabled;
    struct text_list allowed_origins;
    int64_t max_call_seconds;
    int64_t daily_spend_limit_usd4;
};

/* Of the stored settings only what bounds running calls. */
struct agent_limits {
    struct agent_embed embed;
};
extern const struct field_table agent_limits_table, agent_voice_table;

struct agent_stats {
    int64_t total_calls, total_seconds, total_cost_usd4;
};

struct agent {
    const char *id, *user_id, *name;
    int64_t cost_per_minute_usd4;     /* computed: agent_price() */
    const char *api_key, *public_key; /* in full; the store keeps hash and sealed text */
    const char *webhook_url;
    const char *system_instruction;
    enum greeting_mode greeting_mode;
    const char *greeting_text, *greeting_instruction;
    struct agent_voice voice;
    struct agent_llm llm;
    struct agent_stt stt;
    struct agent_variable_list variables;
    struct text_list tool_ids;
    struct tool_list tools; /* filled for answers and calls */
    struct text_list document_ids;
    struct agent_system_tools system_tools;
    struct agent_embed embed;
    struct agent_stats stats;
    int64_t active_calls; /* filled for lists */
    int64_t created_wall_ms, updated_wall_ms;
    int64_t bytes;   /* as stored: of what FIELD_VIEW_STORE holds */
    int64_t version; /* as stored: rises with each change of it */
};
struct agent_list LIST_OF(struct agent);

/* FIELD_VIEW_STORE holds what has no column of its own: all but id, userId, apiKey, publicKey,
 * costPerMinute, tools, stats, activeCalls, createdAt, updatedAt. */
extern const struct field_table agent_table;

struct catalog;
struct catalog_plan;
/* Fills what was not sent from the catalog's defaults, brings temperature and maxTokens into what
 * the model allows. After field_create() or field_merge(). A provider sent without model or speaker
 * (`body`) takes that provider's default. */
void agent_settle(struct agent *agent, const struct js *body, struct field_context *context);
/* That for a voice alone; sent: its own part of the body. */
void agent_voice_settle(struct agent_voice *voice, const struct js *sent,
                        const struct catalog *catalog);
/* USD of 0.0001 a minute: the plan's rate and those of the engines and the model. */
int64_t agent_price(const struct agent *agent, const struct catalog *catalog, const char *plan_id);
