/* The events: their types, the data each carries, and the body that is delivered. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/call.h"
#include "model/field.h"

enum event_type {
    EVENT_CALL_STARTED,
    EVENT_CALL_AGENT_JOINED,
    EVENT_CALL_USER_JOINED,
    EVENT_CALL_USER_LEFT,
    EVENT_TRANSCRIPT_USER,
    EVENT_TRANSCRIPT_ASSISTANT,
    EVENT_CALL_ERROR,
    EVENT_CALL_ENDED,
    EVENT_WEBHOOK_TEST,
    EVENT_TYPE_COUNT
};
extern const char *const event_type_names[EVENT_TYPE_COUNT];
extern const char *const subscribable_names[EVENT_TYPE_COUNT + 1]; /* "*" and those */

struct event_started {
    const char *participant_identity;
};
struct event_agent_joined {
    const char *stt, *llm, *tts;
};
struct event_identity {
    const char *identity;
}; /* user_joined, user_left */
struct event_text {
    const char *text;
}; /* transcript.* */
enum error_stage {
    STAGE_STT,
    STAGE_LLM,
    STAGE_TTS,
    STAGE_GREETING,
    STAGE_SPEECH,
    ERROR_STAGE_COUNT
};
extern const char *const error_stage_names[ERROR_STAGE_COUNT];
struct event_error {
    enum error_stage stage;
    const char *message;
};
enum { EVENT_TRANSCRIPT_MAX_BYTES = 4 * 1024 * 1024 }; /* contract, Long calls */
struct event_ended {
    enum end_reason reason;
    int64_t duration_s, cost_usd4, user_joined_wall_ms;
    struct call_turn_list transcript;   /* at most EVENT_TRANSCRIPT_MAX_BYTES as JSON */
    bool is_transcript_truncated;       /* its oldest turns are left out */
    const struct call_quality *quality; /* NULL: left out */
};
struct event_test {
    const char *subscription_id;
};

struct event_type_row {
    const char *about;              /* when it is sent */
    const struct field_table *data; /* of one of the structs above */
};
extern const struct event_type_row event_types[EVENT_TYPE_COUNT];

struct event {
    const char *id; /* evt_... */
    enum event_type type;
    int64_t created_wall_ms;         /* strictly rising within a call */
    const char *call_id, *room_name; /* webhook.test: "" */
    const char *metadata;            /* JSON text */
    const char *data;                /* JSON text */
    int64_t body_bytes;              /* of what event_write() makes of it, for who notes it */
};

/* `data` is the struct of the type's row. Text in the arena. */
const char *event_data_text(enum event_type type, const void *data, struct arena *arena);
/* The body that is delivered and signed, exactly these bytes. Appends. */
void event_write(const struct event *event, struct buf *out);
extern const struct field_table event_table; /* for the OpenAPI document */
