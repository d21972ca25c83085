/* The call's fields, the body of Start a call, and the end reasons (contract, Call, Start a
 * call, End reasons). */
#include "model/call.h"

#include <math.h>
#include <string.h>

#include "model/event.h"
#include "model/internal.h"
#include "model/url.h"
#include "model/webhook.h"

const char *const call_status_names[CALL_STATUS_COUNT] = {"created", "active", "ended"};
const char *const call_source_names[CALL_SOURCE_COUNT] = {"api", "embed", "studio"};
static const char *const turn_role_names[TURN_ROLE_COUNT] = {"user", "assistant"};
const char *const end_reason_names[END_REASON_COUNT] = {
    [END_NONE] = "",
    [END_USER_LEFT] = "user-left",
    [END_API] = "api",
    [END_MAX_DURATION] = "max-duration",
    [END_SOCKET_LOST] = "socket-lost",
    [END_AGENT_SHUTDOWN] = "agent-shutdown",
    [END_ROOM_FINISHED] = "room-finished",
    [END_NO_USER] = "no-user",
    [END_DISPATCH_FAILED] = "dispatch-failed",
};
const struct end_reason_row end_reasons[END_REASON_COUNT] = {
    [END_NONE] = {"The call is not over.", false},
    [END_USER_LEFT] = {"Caller hung up or closed the page.", true},
    [END_API] = {"Ended with End a call.", true},
    [END_MAX_DURATION] = {"Time limit reached, or the balance ran out.", true},
    [END_SOCKET_LOST] = {"Caller's connection dropped and did not return.", true},
    [END_AGENT_SHUTDOWN] = {"Agent process stopped.", true},
    [END_ROOM_FINISHED] = {"Room closed from outside the call.", true},
    [END_NO_USER] = {"Nobody ever joined.", false},
    [END_DISPATCH_FAILED] = {"The agent could not be sent to the room.", false},
};

static const struct field turn_rows[] = {
    ROW_ENUM(struct call_turn, role, "role", enum turn_role, turn_role_names, .column = "role"),
    ROW_TEXT(struct call_turn, text, "text", .column = "text"),
    ROW_TIME(struct call_turn, at_wall_ms, "at", .column = "at_ms"),
    ROW_OBJECT_PTR(struct call_turn, timing, "timing", const struct turn_timing, &turn_timing_table,
                   .flags = FIELD_OMIT_EMPTY | FIELD_NO_STORE,
                   .about = "Of a turn of the agent that answers the caller."),
};
FIELD_TABLE(call_turn_table, struct call_turn, "CallTurn", turn_rows);
const struct field_table call_turn_event_table = {.name = "CallTurnData",
                                                  .size = sizeof(struct call_turn),
                                                  .rows = turn_rows,
                                                  .count = ARRAY_LEN(turn_rows) - 1};

const char *const call_run_status_names[CALL_RUN_STATUS_COUNT] = {
    [CALL_RUN_RUNNING] = "running",
    [CALL_RUN_SUCCEEDED] = "succeeded",
    [CALL_RUN_FAILED] = "failed",
    [CALL_RUN_CANCELLED] = "cancelled",
};

static const struct field run_rows[] = {
    ROW_INT(struct call_run, number, "number", .column = "number",
            .about = "Of the call's runs, from 1."),
    ROW_TEXT(struct call_run, name, "name", .column = "name"),
    ROW_ENUM(struct call_run, kind, "kind", enum tool_kind, tool_kind_names, .column = "kind"),
    ROW_ENUM(struct call_run, status, "status", enum call_run_status, call_run_status_names,
             .column = "status", .about = "cancelled: the call ended, or did not wait for it."),
    ROW_INT(struct call_run, http_status, "httpStatus", .column = "http_status",
            .flags = FIELD_NULL_EMPTY,
            .about = "The endpoint's; 504 when it timed out, 502 when it could not be reached."),
    ROW_TIME(struct call_run, at_wall_ms, "at", .column = "at_ms"),
    ROW_INT(struct call_run, ms, "ms", .column = "ms", .about = "So far while it is running."),
    ROW_JSON(struct call_run, arguments, "arguments", .column = "arguments",
             .flags = FIELD_OBJECT_ONLY, .standard_text = "{}",
             .about = "What was sent for each param; the tool's credentials are never in it."),
    ROW_TEXT(struct call_run, result, "result", .column = "result", .flags = FIELD_NULL_EMPTY,
             .about = "What the model was shown of the answer."),
    ROW_TEXT(struct call_run, error, "error", .column = "error", .flags = FIELD_NULL_EMPTY),
};
FIELD_TABLE(call_run_table, struct call_run, "ToolRun", run_rows,
            .about = "One run of a tool for a call; kept as long as its transcript.");

static const struct field call_webhook_rows[] = {
    ROW_TEXT(struct call_webhook, url, "url", .flags = FIELD_REQUIRED, .min = 1, .max = 2048,
             .check = check_url, .pattern = "^https?://", .about = "A public http(s) address.",
             .example = "\"https://example.com/hooks/call\""),
    ROW_TEXTS(struct call_webhook, events, "events", .min = 1, .max = 100, SUBSCRIBABLE,
              .check = check_event_list, .about = "Event types; [\"*\"], the default, means all.",
              .example = "[\"call.ended\"]"),
    ROW_TEXT(struct call_webhook, secret, "secret", .flags = FIELD_SECRET | FIELD_NULL_EMPTY,
             .min = 1, .max = 255,
             .about = "Signs the deliveries; without one they are not signed."),
    ROW_INT(struct call_webhook, delivered, "delivered", .flags = FIELD_READ_ONLY,
            .about = "Deliveries that were answered 2xx."),
    ROW_INT(struct call_webhook, failed, "failed", .flags = FIELD_READ_ONLY,
            .about = "Deliveries that were given up."),
};
FIELD_TABLE(call_webhook_table, struct call_webhook, "CallWebhook", call_webhook_rows);

static const struct field slow_turn_rows[] = {
    ROW_TIME(struct quality_turn, at_wall_ms, "at"),
    ROW_REAL(struct quality_turn, voice_to_voice_ms, "voiceToVoiceMs", .flags = FIELD_NULL_EMPTY,
             .standard_real = NAN),
};
static FIELD_TABLE(slow_turn_table, struct quality_turn, "QualityTurn", slow_turn_rows);

#define MEASURED .flags = FIELD_NULL_EMPTY, .standard_real = NAN
static const struct field range_rows[] = {
    ROW_REAL(struct quality_range, p50, "p50", MEASURED),
    ROW_REAL(struct quality_range, p95, "p95", MEASURED),
};
static FIELD_TABLE(range_table, struct quality_range, "QualityRange", range_rows);

static const struct field quality_rows[] = {
    ROW_INT(struct call_quality, turns, "turns"),
    ROW_INT(struct call_quality, interruptions, "interruptions"),
    ROW_INT(struct call_quality, false_interruptions, "falseInterruptions"),
    ROW_OBJECT(struct call_quality, voice_to_voice_ms, "voiceToVoiceMs", struct quality_range,
               &range_table,
               .about = "From the end of the caller's words to the first of the reply."),
    ROW_REAL(struct call_quality, endpointing_ms, "endpointingMs", MEASURED),
    ROW_REAL(struct call_quality, llm_first_token_ms, "llmFirstTokenMs", MEASURED),
    ROW_REAL(struct call_quality, tts_first_byte_ms, "ttsFirstByteMs", MEASURED),
    ROW_REAL(struct call_quality, packets_lost, "packetsLost", MEASURED),
    ROW_REAL(struct call_quality, jitter_ms, "jitterMs", MEASURED),
    ROW_REAL(struct call_quality, mos, "mos", MEASURED),
    ROW_OBJECTS(struct call_quality, slowest_turns, "slowestTurns", struct quality_turn_list,
                &slow_turn_table, .max = 5),
};
FIELD_TABLE(call_quality_table, struct call_quality, "CallQuality", quality_rows,
            .about = "Turn-taking and latency; a figure that was not measured is null.");

static const struct field call_rows[] = {
    ROW_TEXT(struct call, id, "id", .column = "id", .format = "uuid"),
    ROW_TEXT(struct call, user_id, "userId", .column = "workspace_id", .about = "Workspace."),
    ROW_TEXT(struct call, agent_id, "agentId", .column = "agent_id"),
    ROW_TEXT(struct call, room_name, "roomName", .column = "room_name"),
    ROW_ENUM(struct call, source, "source", enum call_source, call_source_names,
             .column = "source"),
    ROW_ENUM(struct call, status, "status", enum call_status, call_status_names,
             .column = "status"),
    ROW_TIME(struct call, created_wall_ms, "createdAt", .column = "created_ms"),
    ROW_TIME(struct call, agent_joined_wall_ms, "agentJoinedAt", .column = "agent_joined_ms",
             .flags = FIELD_NULL_EMPTY),
    ROW_TIME(struct call, user_joined_wall_ms, "userJoinedAt", .column = "user_joined_ms",
             .flags = FIELD_NULL_EMPTY),
    ROW_TIME(struct call, ended_wall_ms, "endedAt", .column = "ended_ms",
             .flags = FIELD_NULL_EMPTY),
    ROW_ENUM(struct call, end_reason, "endReason", enum end_reason, end_reason_names,
             .column = "end_reason", .flags = FIELD_NULL_EMPTY),
    ROW_INT(struct call, duration_s, "durationSeconds", .column = "duration_s",
            .about =
                "Counted from the moment the caller joined; so far while the call is running."),
    ROW_MONEY(struct call, cost_per_minute_usd4, "costPerMinute", .column = "rate_usd4"),
    ROW_MONEY(struct call, cost_usd4, "callCost", .column = "cost_usd4",
              .about = "USD taken from the balance; 0 for a call nobody joined."),
    ROW_TEXT(struct call, participant_identity, "participantIdentity", .column = "identity"),
    ROW_JSON(struct call, metadata, "metadata", .column = "metadata", .flags = FIELD_OBJECT_ONLY,
             .standard_text = "{}",
             .about = "As sent, plus variables, agentId, agentName, userId and, when one was sent, "
                      "language (ISO code)."),
    ROW_JSON(struct call, metadata_sent, "metadataSent", .column = "metadata_sent",
             .flags = FIELD_OBJECT_ONLY, .standard_text = "{}", .only = FIELD_VIEW_STORE),
    ROW_OBJECTS(struct call, webhooks, "webhooks", struct call_webhook_list, &call_webhook_table),
    ROW_OBJECTS(struct call, transcript, "transcript", struct call_turn_list, &call_turn_table,
                .flags = FIELD_NO_STORE),
    ROW_OBJECT_PTR(struct call, quality, "quality", const struct call_quality, &call_quality_table,
                   .flags = FIELD_NO_STORE | FIELD_NULL_EMPTY),
};
FIELD_TABLE(call_table, struct call, "Call", call_rows,
            .about = "One conversation between an agent and a person.");

/* The body of Start a call. */

static const struct field vad_rows[] = {
    ROW_REAL(struct call_vad, threshold, "threshold", .real_max = 1, .standard_real = 0.5),
    ROW_INT(struct call_vad, min_speech_ms, "minSpeechMs", .min = 20, .max = 2000, .standard = 60),
    ROW_INT(struct call_vad, min_silence_ms, "minSilenceMs", .min = 100, .max = 5000,
            .standard = CALL_SILENCE_MS),
    ROW_INT(struct call_vad, prefix_padding_ms, "prefixPaddingMs", .max = 1000, .standard = 300),
};
static FIELD_TABLE(vad_table, struct call_vad, "CallVad", vad_rows, .is_closed = true);

static const struct field greeting_rows[] = {
    ROW_TEXT(struct call_greeting, mode, "mode", .flags = FIELD_OPTIONAL,
             .names = greeting_mode_names, .name_count = GREETING_MODE_COUNT),
    ROW_TEXT(struct call_greeting, text, "text", .flags = FIELD_OPTIONAL, .max = 2000),
    ROW_TEXT(struct call_greeting, instruction, "instruction", .flags = FIELD_OPTIONAL,
             .max = 5000),
};
static FIELD_TABLE(greeting_table, struct call_greeting, "CallGreeting", greeting_rows,
                   .is_closed = true, .about = "What is left out comes from the agent.");

static const struct field prompt_rows[] = {
    ROW_OBJECT(struct call_prompt, greeting, "greeting", struct call_greeting, &greeting_table),
    ROW_TEXT(struct call_prompt, system, "system", .flags = FIELD_OPTIONAL, .max = 25000,
             .about = "Used in place of the agent's instructions, as written, without its tools."),
};
static FIELD_TABLE(prompt_table, struct call_prompt, "CallPrompt", prompt_rows, .is_closed = true);

static const struct field interruption_rows[] = {
    ROW_BOOL(struct call_interruption, is_enabled, "enabled", .standard = 1),
};
static FIELD_TABLE(interruption_table, struct call_interruption, "CallInterruption",
                   interruption_rows, .is_closed = true);

static const struct field turn_config_rows[] = {
    ROW_INT(struct call_turn_config, min_endpointing_delay_ms, "minEndpointingDelayMs",
            .max = 10000, .standard = CALL_ENDPOINTING_MS,
            .about =
                "Pause length after which the caller is taken to have finished; while this and "
                "vad.minSilenceMs are the default ones, a question or a whole sentence needs "
                "less."),
    ROW_OBJECT(struct call_turn_config, interruption, "interruption", struct call_interruption,
               &interruption_table),
};
static FIELD_TABLE(turn_config_table, struct call_turn_config, "CallTurnConfig", turn_config_rows,
                   .is_closed = true);

static const struct field limits_rows[] = {
    ROW_INT(struct call_limits, max_duration_s, "maxDurationSeconds", .max = CALL_MAX_DURATION_S,
            .about = "Counted from the moment the caller joined; 0: no limit of its own."),
};
static FIELD_TABLE(limits_table, struct call_limits, "CallLimits", limits_rows, .is_closed = true);

static const struct field config_rows[] = {
    ROW_OBJECT(struct call_config, call, "call", struct call_limits, &limits_table),
    ROW_OBJECT(struct call_config, prompt, "prompt", struct call_prompt, &prompt_table),
    ROW_OBJECT(struct call_config, turn, "turn", struct call_turn_config, &turn_config_table),
    ROW_OBJECT(struct call_config, vad, "vad", struct call_vad, &vad_table),
};
static FIELD_TABLE(call_config_table, struct call_config, "CallConfig", config_rows,
                   .is_closed = true,
                   .about = "Any other field answers 403 CONFIG_FIELD_NOT_ALLOWED.");

static void check_identity(struct field_context *context, const struct field *row, void *object,
                           const char *path)
{
    static const char reserved[] = "agent-";
    if (strncmp(field_text(row, object), reserved, sizeof(reserved) - 1) == 0)
        faults_add(&context->faults, path, "may not begin with agent-");
}

static const struct field participant_rows[] = {
    ROW_TEXT(struct call_participant, identity, "identity", .min = 1, .max = 256,
             .check = check_identity, .pattern = "^(?!agent-)",
             .about = "caller- and 8 random characters when left out; may not begin with agent-."),
    ROW_TEXT(struct call_participant, name, "name", .min = 1, .max = 256),
    ROW_INT(struct call_participant, ttl_s, "ttlSeconds", .min = 30, .max = 86400, .standard = 3600,
            .about = "Seconds that the join token is usable."),
};
static FIELD_TABLE(participant_table, struct call_participant, "CallParticipant", participant_rows);

static const struct field start_rows[] = {
    ROW_TEXT(struct call_start, agent_id, "agentId", .flags = FIELD_REQUIRED, .min = 1,
             .about = "The agent that takes the call.", .example = "\"ua_01abcdefghijklmnopqr\""),
    ROW_OBJECT(struct call_start, participant, "participant", struct call_participant,
               &participant_table),
    ROW_JSON(struct call_start, metadata, "metadata", .flags = FIELD_OBJECT_ONLY,
             .standard_text = "{}", .max = CALL_METADATA_BYTES,
             .about =
                 "Any JSON object of at most 16 KiB; kept on the call and sent with its events."),
    ROW_TEXT_MAP(struct call_start, variables, "variables", .max = 100, .entry_max = 5000,
                 .is_pattern_name = true,
                 .about = "Fill {{variables}} in instructions and greeting."),
    ROW_TEXT(struct call_start, language, "language", .flags = FIELD_OPTIONAL,
             .about = "A catalog language id or its iso code.", .example = "\"en\""),
    ROW_OBJECT(struct call_start, config, "config", struct call_config, &call_config_table),
    ROW_OBJECTS(struct call_start, webhooks, "webhooks", struct call_webhook_list,
                &call_webhook_table, .max = 10, .about = "Subscriptions to this call alone."),
};
FIELD_TABLE(call_start_table, struct call_start, "CallStart", start_rows);
