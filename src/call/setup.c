#include "call/setup.h"

#include <string.h>

#include "base/arena.h"
#include "base/config.h"
#include "base/enum.h"
#include "base/log.h"
#include "base/mem.h"
#include "call/plan.h"
#include "call/snapshot.h"
#include "call/tools.h"
#include "model/agent.h"
#include "model/call.h"
#include "model/language.h"
#include "store/document.h"
#include "store/store.h"
#include "talk/speech.h"

enum { LEFT_OUT_NAMES = 5, LEFT_OUT_MAX_BYTES = 4096 /* those that are named */ };

struct vocabulary_job {   /* owned by the store while it runs */
    struct setup *setup;  /* NULL: nobody waits any more */
    struct text_list ids; /* copies */
    struct buf text;
};

struct before { /* one before_call tool */
    const struct tool *tool;
    char *answer; /* NULL: failed, or not yet */
};

struct setup {
    struct setup_config config;
    struct arena *arena;
    struct before before[SETUP_TOOLS_MAX];
    size_t before_count;
    struct vocabulary_job *vocabulary_job;
    char *vocabulary;
    struct timer deadline;
    struct tool_name_value *variables;
    size_t variable_count;
    struct buf system;
    struct buf left_out; /* names of tools */
    size_t left_out_count;
    bool is_ready, is_greeting_long;
};

/* Words of the documents. */

static void job_free(struct vocabulary_job *job)
{
    for (size_t i = 0; i < job->ids.count; i++)
        mem_free((char *)job->ids.items[i]);
    mem_free(job->ids.items);
    buf_clear(&job->text);
    mem_free(job);
}

/* Store thread. */
static enum err read_passages(struct tx *tx, void *arg)
{
    struct vocabulary_job *job = arg;
    buf_reset(&job->text);
    for (size_t i = 0; i < job->ids.count && !job->text.is_full; i++) {
        struct passage *passages = NULL;
        size_t count = 0;
        if (store_document_passages(tx, job->ids.items[i], &passages, &count) != OK)
            continue;
        for (size_t k = 0; k < count && !job->text.is_full; k++) {
            if (passages[k].question)
                buf_printf(&job->text, "%s\n", passages[k].question);
            buf_printf(&job->text, "%s\n", passages[k].text);
        }
    }
    return OK;
}

static void become_ready(struct setup *setup)
{
    if (setup->is_ready || call_tools_is_running(setup->config.tools) || setup->vocabulary_job)
        return;
    setup->is_ready = true;
    timer_stop(&setup->deadline);
    setup->config.on_ready(setup->config.arg);
}

static void on_passages_read(void *arg, enum err err)
{
    (void)err;
    struct vocabulary_job *job = arg;
    struct setup *setup = job->setup;
    if (setup) {
        setup->vocabulary_job = NULL;
        setup->vocabulary = buf_take(&job->text, NULL);
    }
    job_free(job);
    if (setup)
        become_ready(setup);
}

static void gather_vocabulary(struct setup *setup)
{
    const struct text_list *ids = &setup->config.plan->agent->document_ids;
    if (ids->count == 0)
        return;
    struct vocabulary_job *job = mem_new(struct vocabulary_job);
    job->setup = setup;
    job->ids.items = mem_new_n(const char *, ids->count);
    job->ids.count = ids->count;
    for (size_t i = 0; i < ids->count; i++)
        job->ids.items[i] = mem_strdup(ids->items[i]);
    buf_init(&job->text, SETUP_VOCABULARY_MAX_BYTES);
    setup->vocabulary_job = job;
    struct store_line line = {.key = setup->config.plan->row->user_id, .mode = STORE_READ};
    if (store_job_for(setup->config.store, line, read_passages, job, setup->config.loop,
                      on_passages_read) != OK) {
        setup->vocabulary_job = NULL;
        job_free(job);
    }
}

/* before_call tools. */

static void on_tool_done(void *arg, uint32_t id, const struct tool_result *result)
{
    struct setup *setup = arg;
    struct before *before = &setup->before[id];
    if (result->is_success)
        before->answer = mem_strdup(result->model_text ? result->model_text : "");
    else
        log_warn("call.before_tool_failed", LOG_S("call", setup->config.plan->row->id),
                 LOG_S("tool", before->tool->name), LOG_I("status", result->status));
    become_ready(setup);
}

static struct js *arguments_of(const struct setup *setup, const struct tool *tool)
{
    struct js *arguments = js_object();
    for (size_t i = 0; i < tool->params.count; i++)
        for (size_t k = 0; k < setup->variable_count; k++)
            if (strcmp(tool->params.items[i].key, setup->variables[k].name) == 0)
                js_set(arguments, tool->params.items[i].key, js_string(setup->variables[k].value));
    return arguments;
}

static void run_before(struct setup *setup, const struct tool *tool)
{
    uint32_t id = (uint32_t)setup->before_count++;
    setup->before[id].tool = tool;
    AUTO(js) arguments = arguments_of(setup, tool);
    call_tools_run(setup->config.tools, tool, arguments, id, on_tool_done, setup);
}

static void on_deadline(void *arg)
{
    struct setup *setup = arg;
    call_tools_stop(setup->config.tools);
    if (setup->vocabulary_job)
        setup->vocabulary_job->setup = NULL;
    setup->vocabulary_job = NULL;
    become_ready(setup);
}

/* Variables. */

static void set_variables(struct setup *setup)
{
    const struct call_plan *plan = setup->config.plan;
    const struct text_pair_list *sent = &plan->start->variables;
    const struct agent_variable_list *own = &plan->agent->variables;
    setup->variables =
        arena_new_n(setup->arena, struct tool_name_value, sent->count + own->count + 1);
    for (size_t i = 0; i < sent->count; i++)
        setup->variables[setup->variable_count++] =
            (struct tool_name_value){sent->items[i].name, sent->items[i].text};
    for (size_t i = 0; i < own->count; i++)
        if (!text_pairs_get(sent, own->items[i].name))
            setup->variables[setup->variable_count++] =
                (struct tool_name_value){own->items[i].name, own->items[i].default_value};
    setup->config.tools->variables = setup->variables;
    setup->config.tools->variable_count = setup->variable_count;
}

static const char *value_of(void *arg, const char *name, size_t name_len)
{
    const struct setup *setup = arg;
    for (size_t i = 0; i < setup->variable_count; i++)
        if (strlen(setup->variables[i].name) == name_len &&
            memcmp(setup->variables[i].name, name, name_len) == 0)
            return setup->variables[i].value;
    return NULL;
}

static const char *default_of(void *arg, const char *name, size_t name_len)
{
    const struct setup *setup = arg;
    const struct agent_variable_list *own = &setup->config.plan->agent->variables;
    for (size_t i = 0; i < own->count; i++)
        if (strlen(own->items[i].name) == name_len &&
            memcmp(own->items[i].name, name, name_len) == 0)
            return own->items[i].default_value;
    return NULL;
}

static const char *filled_with(struct setup *setup, template_fn *value, const char *text,
                               size_t max_bytes)
{
    AUTO_BUF out = BUF_INIT(max_bytes);
    if (template_fill(text, value, setup, &out) != OK)
        return NULL;
    return arena_strdup(setup->arena, out.data ? out.data : "");
}

/* NULL: it is longer than that when it is filled in. */
static const char *filled(struct setup *setup, const char *text, size_t max_bytes)
{
    return filled_with(setup, value_of, text, max_bytes);
}

/* What the conversation needs. */

/* A tool for which the model's request has no room is left out; the call says so. */
static void leave_out(struct setup *setup, const char *name)
{
    if (++setup->left_out_count <= LEFT_OUT_NAMES)
        buf_printf(&setup->left_out, "%s%s", setup->left_out.len ? ", " : "", name);
}

static void write_tools(struct setup *setup, struct talk_config *out)
{
    const struct call_plan *plan = setup->config.plan;
    const struct tool_list *tools = &plan->agent->tools;
    struct llm_tool *list = arena_new_n(setup->arena, struct llm_tool, tools->count + 1);
    size_t room = TOOLS_MAX_BYTES;
    for (size_t i = 0; i < tools->count; i++) {
        const struct tool *tool = &tools->items[i];
        if (tool->kind != TOOL_DURING_CALL)
            continue;
        struct tool_definition definition =
            plan->definitions ? plan->definitions[i] : tool_define(tool, setup->arena);
        if (definition.bytes > room) {
            leave_out(setup, tool->name);
            continue;
        }
        room -= definition.bytes;
        list[out->tool_count++] = definition.tool;
    }
    for (size_t i = 0; i < plan->left_out.count; i++)
        leave_out(setup, plan->left_out.items[i]);
    out->tools = list;
}

const char *setup_left_out(const struct setup *setup)
{
    size_t count = setup->left_out_count;
    if (!count)
        return NULL;
    return arena_printf(setup->arena,
                        "%zu of the agent's tools are too large together and are left out: %s%s",
                        count, setup->left_out.data, count > LEFT_OUT_NAMES ? ", ..." : "");
}

bool setup_left_out_greeting(const struct setup *setup)
{
    return setup->is_greeting_long;
}

static const char *fill_greeting(struct setup *setup, bool is_used, const char *sent,
                                 const char *own)
{
    const char *text = filled(setup, sent ? sent : own, SPEECH_LINE_MAX_BYTES);
    setup->is_greeting_long |= is_used && !text;
    return text ? text : "";
}

static void write_greeting(struct setup *setup, struct talk_config *out)
{
    static const enum talk_greeting modes[] = {
        [GREETING_GENERATE] = TALK_GREETING_GENERATE,
        [GREETING_STATIC] = TALK_GREETING_STATIC,
        [GREETING_NONE] = TALK_GREETING_NONE,
    };
    const struct agent *agent = setup->config.plan->agent;
    const struct call_greeting *sent = &setup->config.plan->start->config.prompt.greeting;
    enum greeting_mode mode = agent->greeting_mode;
    int sent_mode = enum_find(greeting_mode_names, GREETING_MODE_COUNT, sent->mode);
    if (sent_mode >= 0)
        mode = (enum greeting_mode)sent_mode;
    out->greeting = modes[mode];
    out->greeting_text =
        fill_greeting(setup, mode == GREETING_STATIC, sent->text, agent->greeting_text);
    out->greeting_instruction = fill_greeting(setup, mode == GREETING_GENERATE, sent->instruction,
                                              agent->greeting_instruction);
}

static enum err write_system(struct setup *setup, const char *iso)
{
    const struct call_plan *plan = setup->config.plan;
    const struct call_prompt *sent = &plan->start->config.prompt;
    const struct language *language = language_by_id(plan->language);
    struct prompt_fact facts[SETUP_TOOLS_MAX];
    for (size_t i = 0; i < setup->before_count; i++)
        facts[i] = (struct prompt_fact){setup->before[i].tool->name, setup->before[i].answer};
    struct prompt_config config = {
        .instructions = sent->system ? sent->system : plan->agent->system_instruction,
        .is_verbatim = sent->system != NULL,
        .value_of = value_of,
        .value_arg = setup,
        .facts = facts,
        .fact_count = setup->before_count,
        .language_label = language ? language->label : iso,
        .iso = iso,
        .is_language_sent = plan->is_language_sent,
        .has_documents = plan->agent->document_ids.count > 0,
    };
    return prompt_system(&config, &setup->system);
}

/* Who sends other pauses is given those, whatever the words. */
static bool has_usual_pauses(const struct call_config *sent)
{
    return sent->turn.min_endpointing_delay_ms == CALL_ENDPOINTING_MS &&
           sent->vad.min_silence_ms == CALL_SILENCE_MS;
}

enum err setup_talk(struct setup *setup, const char *iso, struct talk_config *out)
{
    const struct call_plan *plan = setup->config.plan;
    const struct call_config *sent = &plan->start->config;
    enum err err = write_system(setup, iso);
    if (err)
        return err;
    *out = (struct talk_config){
        .iso = iso,
        .system = setup->system.data ? setup->system.data : "",
        .has_end_call = plan->agent->system_tools.end_call,
        .has_change_language = plan->agent->system_tools.change_language,
        .has_documents = plan->agent->document_ids.count > 0,
        .is_interruptible = sent->turn.interruption.is_enabled,
        .temperature = plan->agent->llm.temperature,
        .max_tokens = (int)plan->agent->llm.max_tokens,
        .endpoint_min_us = sent->turn.min_endpointing_delay_ms * 1000,
        .silence_us = sent->vad.min_silence_ms * 1000,
        .is_quick = has_usual_pauses(sent),
        .caller_silence_us =
            config_int(setup->config.config, SET_CALLER_SILENCE) * INT64_C(1000000),
        .caller_silence_count = config_int(setup->config.config, SET_CALLER_SILENCE_COUNT),
    };
    write_greeting(setup, out);
    if (!sent->prompt.system)
        write_tools(setup, out);
    return OK;
}

/* Documents first: what is too long is cut at its end. */
const char *setup_vocabulary(struct setup *setup)
{
    const struct agent *agent = setup->config.plan->agent;
    const char *said =
        filled_with(setup, default_of, agent->greeting_text, PROMPT_SYSTEM_MAX_BYTES);
    const char *system =
        filled_with(setup, default_of, agent->system_instruction, PROMPT_SYSTEM_MAX_BYTES);
    return arena_printf(setup->arena, "%s\n%s\n%s", setup->vocabulary ? setup->vocabulary : "",
                        said ? said : "", system ? system : "");
}

const char *setup_words(struct setup *setup)
{
    const struct agent *agent = setup->config.plan->agent;
    const struct call_prompt *sent = &setup->config.plan->start->config.prompt;
    const char *greeting = sent->greeting.text ? sent->greeting.text : agent->greeting_text;
    const char *documents = setup->vocabulary;
    const char *said = filled(setup, greeting, PROMPT_SYSTEM_MAX_BYTES);
    const char *system = sent->system
                             ? sent->system
                             : filled(setup, agent->system_instruction, PROMPT_SYSTEM_MAX_BYTES);
    return arena_printf(setup->arena, "%s\n%s\n%s", system ? system : "", said ? said : "",
                        documents ? documents : "");
}

struct setup *setup_start(const struct setup_config *config)
{
    struct setup *setup = mem_new(struct setup);
    setup->config = *config;
    setup->arena = arena_new(0);
    buf_init(&setup->system, PROMPT_SYSTEM_MAX_BYTES);
    buf_init(&setup->left_out, LEFT_OUT_MAX_BYTES);
    timer_init(&setup->deadline, config->loop, on_deadline, setup);
    timer_set_after(&setup->deadline, SETUP_MAX_US);
    set_variables(setup);
    gather_vocabulary(setup);
    const struct tool_list *tools = &config->plan->agent->tools;
    bool runs_tools = !config->plan->start->config.prompt.system && config->tools->http;
    for (size_t i = 0; runs_tools && i < tools->count && i < SETUP_TOOLS_MAX; i++)
        if (tools->items[i].kind == TOOL_BEFORE_CALL)
            run_before(setup, &tools->items[i]);
    if (!call_tools_is_running(config->tools) && !setup->vocabulary_job)
        timer_set(&setup->deadline, 0); /* nothing to wait for: ready in the next turn */
    return setup;
}

void setup_free(struct setup *setup)
{
    if (!setup)
        return;
    timer_stop(&setup->deadline);
    if (setup->vocabulary_job)
        setup->vocabulary_job->setup = NULL;
    for (size_t i = 0; i < setup->before_count; i++)
        mem_free(setup->before[i].answer);
    mem_free(setup->vocabulary);
    buf_clear(&setup->system);
    buf_clear(&setup->left_out);
    arena_free(setup->arena);
    mem_free(setup);
}
