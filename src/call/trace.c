#include "call/trace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "call/internal.h"
#include "call/otlp.h"

/* The call's id, which is a UUID, is its trace's; the second half of it is the root's. */
struct trace_ids {
    char trace[OTLP_TRACE_SIZE], root[OTLP_SPAN_SIZE];
};

static struct trace_ids ids_of(const struct live_call *call)
{
    struct trace_ids ids = {"00000000000000000000000000000000", ""};
    size_t len = 0;
    for (const char *c = call->id; *c && len < OTLP_TRACE_SIZE - 1; c++)
        if (*c != '-')
            ids.trace[len++] = *c;
    memcpy(ids.root, ids.trace + OTLP_TRACE_SIZE - OTLP_SPAN_SIZE, OTLP_SPAN_SIZE);
    return ids;
}

static void new_span_id(char out[OTLP_SPAN_SIZE])
{
    uint8_t bytes[(OTLP_SPAN_SIZE - 1) / 2];
    crypto_random(bytes, sizeof(bytes));
    bytes[0] |= 1; /* an id of zeros is none */
    crypto_hex(bytes, sizeof(bytes), out);
}

/* The steps of an answer. */

static const char *model_of(const struct live_call *call)
{
    const struct engine_choice *choice = &call->engines.choice[ENGINE_LLM];
    const char *model = engine_choice_is_named(choice) ? call->engines.model : "";
    return model && *model ? model : choice->info->model_count ? choice->info->models[0] : "";
}

static const struct step_row {
    const char *name;
    const char *operation; /* gen_ai.operation.name; NULL: the conventions have none */
    bool has_engine, has_model;
    enum engine_kind engine;
} steps[STEP_COUNT] = {
    [STEP_ENDPOINT] = {"endpoint", NULL, true, false, ENGINE_STT},
    [STEP_LOOK_UP] = {"retrieval", "retrieval", false, false, ENGINE_STT},
    [STEP_FIRST_TOKEN] = {"chat", "chat", true, true, ENGINE_LLM},
    [STEP_FIRST_SENTENCE] = {"first_sentence", NULL, false, false, ENGINE_LLM},
    [STEP_FIRST_BYTE] = {"speech", NULL, true, false, ENGINE_TTS},
    [STEP_FIRST_PACKET] = {"first_packet", NULL, false, false, ENGINE_TTS},
};

static int64_t wall_us(const struct turn_timing *timing, double after_ms)
{
    return timing->at_wall_ms * 1000 + (int64_t)(after_ms * 1000);
}

static void add_step(const struct live_call *call, const struct trace_ids *ids, const char *turn,
                     const struct turn_timing *timing, enum timing_step step)
{
    double from_ms, to_ms;
    if (!timing_step(timing, step, &from_ms, &to_ms))
        return;
    const struct step_row *row = &steps[step];
    const char *engine = row->has_engine ? call->engines.choice[row->engine].info->id : "";
    const char *model = row->has_model ? model_of(call) : "";
    char span_id[OTLP_SPAN_SIZE], name[128];
    new_span_id(span_id);
    snprintf(name, sizeof(name), "%s%s%s", row->name, *model ? " " : "", model);
    const struct otlp_attribute attributes[] = {
        {"gen_ai.operation.name", row->operation ? row->operation : "", 0},
        {row->operation ? "gen_ai.provider.name" : "earshot.engine", engine, 0},
        {"gen_ai.request.model", model, 0},
        {"gen_ai.conversation.id", call->id, 0},
        {"earshot.step", timing_step_names[step], 0},
    };
    const struct otlp_span span = {
        .trace_id = ids->trace,
        .span_id = span_id,
        .parent_id = turn,
        .name = name,
        .is_client = row->has_engine,
        .from_wall_us = wall_us(timing, from_ms),
        .to_wall_us = wall_us(timing, to_ms),
        .attributes = attributes,
        .attribute_count = ARRAY_LEN(attributes),
    };
    otlp_add(call->home->otlp, &span);
}

/* From the end of the caller's words to the agent's first sound. */
void trace_turn(const struct live_call *call, const struct turn_timing *timing)
{
    double last_ms = timing->after_ms[POINT_FIRST_PACKET];
    if (!call->home->otlp || !timing->at_wall_ms || isnan(last_ms))
        return;
    struct trace_ids ids = ids_of(call);
    char turn[OTLP_SPAN_SIZE];
    new_span_id(turn);
    const struct otlp_attribute attributes[] = {{"gen_ai.conversation.id", call->id, 0}};
    const struct otlp_span span = {
        .trace_id = ids.trace,
        .span_id = turn,
        .parent_id = ids.root,
        .name = "turn",
        .from_wall_us = wall_us(timing, 0),
        .to_wall_us = wall_us(timing, last_ms),
        .attributes = attributes,
        .attribute_count = ARRAY_LEN(attributes),
    };
    otlp_add(call->home->otlp, &span);
    for (int i = 0; i < STEP_COUNT; i++)
        add_step(call, &ids, turn, timing, (enum timing_step)i);
}

void trace_end(const struct live_call *call)
{
    if (!call->home->otlp)
        return;
    struct trace_ids ids = ids_of(call);
    struct talk_quality quality = {0};
    if (call->talk)
        talk_quality(call->talk, &quality);
    int64_t now_us = loop_now_us(call->home->media.loop);
    const struct otlp_attribute attributes[] = {
        {"gen_ai.operation.name", "invoke_agent", 0},
        {"gen_ai.agent.id", call->plan->row->agent_id, 0},
        {"gen_ai.conversation.id", call->id, 0},
        {"earshot.end_reason", end_reason_names[call->end_reason], 0},
        {"earshot.turns", NULL, quality.turns},
        {"earshot.interruptions", NULL, quality.interruptions},
    };
    bool has_failed = call->end_reason == END_DISPATCH_FAILED;
    const struct otlp_span span = {
        .trace_id = ids.trace,
        .span_id = ids.root,
        .name = "invoke_agent",
        .from_wall_us = live_call_wall_ms(call, call->begun_us) * 1000,
        .to_wall_us = live_call_wall_ms(call, now_us) * 1000,
        .attributes = attributes,
        .attribute_count = ARRAY_LEN(attributes),
        .error = has_failed ? end_reason_names[END_DISPATCH_FAILED] : NULL,
    };
    otlp_add(call->home->otlp, &span);
}
