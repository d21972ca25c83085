/* The event types, what each carries, and the body of a delivery (contract, Events). */
#include "model/event.h"

#include <string.h>

#define EVENT_NAMES                                                                                \
    "call.started", "call.agent_joined", "call.user_joined", "call.user_left", "transcript.user",  \
        "transcript.assistant", "call.error", "call.ended", "webhook.test"

const char *const event_type_names[EVENT_TYPE_COUNT] = {EVENT_NAMES};
const char *const subscribable_names[EVENT_TYPE_COUNT + 1] = {"*", EVENT_NAMES};
const char *const error_stage_names[ERROR_STAGE_COUNT] = {"stt", "llm", "tts", "greeting",
                                                          "speech"};

static const struct field started_rows[] = {
    ROW_TEXT(struct event_started, participant_identity, "participantIdentity"),
};
static FIELD_TABLE(started_table, struct event_started, "CallStartedData", started_rows);

static const struct field agent_joined_rows[] = {
    ROW_TEXT(struct event_agent_joined, stt, "stt"),
    ROW_TEXT(struct event_agent_joined, llm, "llm"),
    ROW_TEXT(struct event_agent_joined, tts, "tts"),
};
static FIELD_TABLE(agent_joined_table, struct event_agent_joined, "CallAgentJoinedData",
                   agent_joined_rows, .about = "The engines in use.");

static const struct field identity_rows[] = {
    ROW_TEXT(struct event_identity, identity, "identity"),
};
static FIELD_TABLE(identity_table, struct event_identity, "CallIdentityData", identity_rows);

static const struct field text_rows[] = {ROW_TEXT(struct event_text, text, "text")};
static FIELD_TABLE(text_table, struct event_text, "TranscriptData", text_rows);

static const struct field error_rows[] = {
    ROW_ENUM(struct event_error, stage, "stage", enum error_stage, error_stage_names),
    ROW_TEXT(struct event_error, message, "message"),
};
static FIELD_TABLE(error_table, struct event_error, "CallErrorData", error_rows);

static const struct field ended_rows[] = {
    ROW_ENUM(struct event_ended, reason, "reason", enum end_reason, end_reason_names),
    ROW_INT(struct event_ended, duration_s, "durationSeconds"),
    ROW_MONEY(struct event_ended, cost_usd4, "callCost"),
    ROW_TIME(struct event_ended, user_joined_wall_ms, "userJoinedAt", .flags = FIELD_NULL_EMPTY),
    ROW_OBJECTS(struct event_ended, transcript, "transcript", struct call_turn_list,
                &call_turn_event_table,
                .about = "At most 4 MiB as JSON: of a longer call the newest turns; the call "
                         "itself has all."),
    ROW_BOOL(struct event_ended, is_transcript_truncated, "transcriptTruncated",
             .flags = FIELD_OMIT_EMPTY,
             .about = "true: the oldest turns are left out of `transcript`."),
    ROW_OBJECT_PTR(struct event_ended, quality, "quality", const struct call_quality,
                   &call_quality_table, .flags = FIELD_OMIT_EMPTY),
};
static FIELD_TABLE(ended_table, struct event_ended, "CallEndedData", ended_rows);

static const struct field test_rows[] = {
    ROW_TEXT(struct event_test, subscription_id, "subscriptionId"),
};
static FIELD_TABLE(test_table, struct event_test, "WebhookTestData", test_rows);

const struct event_type_row event_types[EVENT_TYPE_COUNT] = {
    [EVENT_CALL_STARTED] = {"A call was created and the agent sent to its room.", &started_table},
    [EVENT_CALL_AGENT_JOINED] = {"The agent is in the room and ready.", &agent_joined_table},
    [EVENT_CALL_USER_JOINED] = {"The caller joined.", &identity_table},
    [EVENT_CALL_USER_LEFT] = {"The caller left.", &identity_table},
    [EVENT_TRANSCRIPT_USER] = {"The caller finished saying something.", &text_table},
    [EVENT_TRANSCRIPT_ASSISTANT] = {"The agent finished a reply.", &text_table},
    [EVENT_CALL_ERROR] = {"A part of the call failed; the call carries on.", &error_table},
    [EVENT_CALL_ENDED] = {"The call is over.", &ended_table},
    [EVENT_WEBHOOK_TEST] = {"Sent by Send a test event.", &test_table},
};

const char *event_data_text(enum event_type type, const void *data, struct arena *arena)
{
    AUTO_BUF buf = BUF_INIT(SIZE_MAX);
    struct js_out out;
    js_out_init(&out, &buf);
    field_write(event_types[type].data, data, FIELD_VIEW_API, NULL, &out);
    return arena_strndup(arena, buf.data, buf.len);
}

/* The body of a delivery. */

struct event_call {
    const char *id, *room_name, *metadata;
};
static const struct field event_call_rows[] = {
    ROW_TEXT(struct event_call, id, "id", .flags = FIELD_NULL_EMPTY),
    ROW_TEXT(struct event_call, room_name, "roomName", .flags = FIELD_NULL_EMPTY),
    ROW_JSON(struct event_call, metadata, "metadata", .flags = FIELD_OBJECT_ONLY,
             .standard_text = "{}",
             .about = "As sent when the call was started, plus agentId and "
                      "userId."),
};
static FIELD_TABLE(event_call_table, struct event_call, "EventCall", event_call_rows);

struct event_body {
    const char *id;
    enum event_type type;
    int64_t created_wall_ms;
    struct event_call call;
    const char *data;
};
static const struct field event_rows[] = {
    ROW_TEXT(struct event_body, id, "id", .example = "\"evt_01abcdefghijklmnopqr\""),
    ROW_ENUM(struct event_body, type, "type", enum event_type, event_type_names),
    ROW_TIME(struct event_body, created_wall_ms, "createdAt",
             .about = "Strictly rising within a call."),
    ROW_OBJECT(struct event_body, call, "call", struct event_call, &event_call_table),
    ROW_JSON(struct event_body, data, "data", .flags = FIELD_OBJECT_ONLY, .standard_text = "{}"),
};
FIELD_TABLE(event_table, struct event_body, "Event", event_rows);

void event_write(const struct event *event, struct buf *out)
{
    struct event_body body = {
        .id = event->id,
        .type = event->type,
        .created_wall_ms = event->created_wall_ms,
        .call = {event->call_id, event->room_name, event->metadata},
        .data = event->data,
    };
    struct js_out json;
    js_out_init(&json, out);
    field_write(&event_table, &body, FIELD_VIEW_API, NULL, &json);
}
