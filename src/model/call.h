/* The call: status, end reasons, transcript, quality, and what its body may set. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/agent.h"
#include "model/field.h"
#include "model/reply_times.h"
#include "model/timing.h"
#include "model/tool.h"

enum call_status { CALL_CREATED, CALL_ACTIVE, CALL_ENDED, CALL_STATUS_COUNT };
extern const char *const call_status_names[CALL_STATUS_COUNT];

enum end_reason {
    END_NONE, /* not ended: null */
    END_USER_LEFT,
    END_API,
    END_MAX_DURATION,
    END_SOCKET_LOST,
    END_AGENT_SHUTDOWN,
    END_ROOM_FINISHED,
    END_NO_USER,
    END_DISPATCH_FAILED,
    END_REASON_COUNT
};
extern const char *const end_reason_names[END_REASON_COUNT];
struct end_reason_row {
    const char *about;
    bool is_billed;
};
extern const struct end_reason_row end_reasons[END_REASON_COUNT];

enum call_source { CALL_SOURCE_API, CALL_SOURCE_EMBED, CALL_SOURCE_STUDIO, CALL_SOURCE_COUNT };
extern const char *const call_source_names[CALL_SOURCE_COUNT];

enum turn_role { TURN_USER, TURN_ASSISTANT, TURN_ROLE_COUNT };

struct call_turn {
    enum turn_role role;
    const char *text;
    int64_t at_wall_ms;
    const struct turn_timing *timing; /* of an answer of the agent; NULL: none */
};
struct call_turn_list LIST_OF(struct call_turn);
extern const struct field_table call_turn_table;
extern const struct field_table call_turn_event_table; /* as events tell it */

/* A tool's run for the call, as operators see it. */
enum call_run_status {
    CALL_RUN_RUNNING,
    CALL_RUN_SUCCEEDED,
    CALL_RUN_FAILED,
    CALL_RUN_CANCELLED, /* the call did not wait for it, or ended */
    CALL_RUN_STATUS_COUNT
};
extern const char *const call_run_status_names[CALL_RUN_STATUS_COUNT];

struct call_run {
    int64_t number; /* of the call, from 1 */
    const char *name;
    enum tool_kind kind;
    enum call_run_status status;
    int64_t http_status; /* 0: none yet */
    int64_t at_wall_ms, ms;
    const char *arguments; /* a JSON object: what was sent for each param */
    const char *result;    /* what the model was shown; "": nothing */
    const char *error;     /* "": none */
};
struct call_run_list LIST_OF(struct call_run);
extern const struct field_table call_run_table;

struct call_webhook {
    const char *url;
    struct text_list events;
    const char *secret; /* "": not signed */
    int64_t delivered, failed;
};
struct call_webhook_list LIST_OF(struct call_webhook);
extern const struct field_table call_webhook_table;

struct quality_turn {
    int64_t at_wall_ms;
    double voice_to_voice_ms;
};
struct quality_turn_list LIST_OF(struct quality_turn);
struct quality_range {
    double p50, p95;
};
struct call_quality { /* NaN: not measured */
    int64_t turns, interruptions, false_interruptions;
    struct quality_range voice_to_voice_ms;
    double endpointing_ms, llm_first_token_ms, tts_first_byte_ms;
    double packets_lost, jitter_ms, mos;
    struct quality_turn_list slowest_turns; /* at most 5 */
    struct reply_times reply_times;         /* for usage; not a part of what is kept or shown */
};
extern const struct field_table call_quality_table;

struct call {
    const char *id, *user_id, *agent_id;
    const char *room_name;
    enum call_source source;
    enum call_status status;
    int64_t created_wall_ms, agent_joined_wall_ms, user_joined_wall_ms, ended_wall_ms;
    enum end_reason end_reason;
    int64_t duration_s;
    int64_t cost_per_minute_usd4; /* frozen when it started */
    int64_t cost_usd4;
    const char *participant_identity;
    const char *metadata;      /* JSON text: as the call shows it, the service's keys included */
    const char *metadata_sent; /* JSON text: as sent, plus agentId and userId: what events carry */
    struct call_webhook_list webhooks;
    struct call_turn_list transcript;
    const struct call_quality *quality; /* NULL: none */
};
struct call_list LIST_OF(struct call);
/* Kept in columns of its own; webhooks, transcript and quality by tables of theirs. */
extern const struct field_table call_table;

/* Body of Start a call. */
enum { CALL_ENDPOINTING_MS = 500, CALL_SILENCE_MS = 550 /* the pauses that end a turn, unsent */ };
struct call_vad {
    double threshold;
    int64_t min_speech_ms, min_silence_ms, prefix_padding_ms;
};
struct call_greeting { /* NULL: the agent's */
    const char *mode, *text, *instruction;
};
struct call_prompt {
    const char *system; /* NULL: the agent's */
    struct call_greeting greeting;
};
struct call_interruption {
    bool is_enabled;
};
struct call_turn_config {
    int64_t min_endpointing_delay_ms;
    struct call_interruption interruption;
};
struct call_limits {
    int64_t max_duration_s; /* 0: no limit of its own */
};
struct call_config {
    struct call_limits call;
    struct call_prompt prompt;
    struct call_turn_config turn;
    struct call_vad vad;
};

struct call_participant {
    const char *identity, *name;
    int64_t ttl_s;
};

struct call_start {
    const char *agent_id;
    struct call_participant participant;
    const char *metadata; /* JSON object text */
    struct text_pair_list variables;
    const char *language; /* NULL: left out */
    struct call_config config;
    struct call_webhook_list webhooks;
};
extern const struct field_table call_start_table;

enum { CALL_MAX_DURATION_S = 86400, CALL_METADATA_BYTES = 16384 };
