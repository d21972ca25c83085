/* The body of a delivery. */
#include "model/event.h"

#include <math.h>

#include "base/arena.h"
#include "test.h"

TEST(event_body_has_the_shape_of_the_contract)
{
    AUTO(arena) arena = arena_new(0);
    struct event_ended ended = {.reason = END_USER_LEFT, .duration_s = 61, .cost_usd4 = 123};
    struct event event = {
        .id = "evt_1",
        .type = EVENT_CALL_ENDED,
        .created_wall_ms = 1000,
        .call_id = "c",
        .room_name = "r",
        .metadata = "{\"a\":1}",
        .data = event_data_text(EVENT_CALL_ENDED, &ended, arena),
    };
    AUTO_BUF body = BUF_INIT(4096);
    event_write(&event, &body);
    CHECK_TEXT(
        body.data,
        "{\"id\":\"evt_1\",\"type\":\"call.ended\",\"createdAt\":\"1970-01-01T00:00:01.000Z\","
        "\"call\":{\"id\":\"c\",\"roomName\":\"r\",\"metadata\":{\"a\":1}},\"data\":{"
        "\"reason\":\"user-left\",\"durationSeconds\":61,\"callCost\":0.0123,"
        "\"userJoinedAt\":null,\"transcript\":[]}}");
}

TEST(each_event_carries_its_data)
{
    AUTO(arena) arena = arena_new(0);
    struct event_started started = {"ann"};
    struct event_agent_joined joined = {"ears", "mind", "mouth"};
    struct event_identity identity = {"ann"};
    struct event_text text = {"Hello."};
    struct event_error error = {STAGE_SPEECH, "Not spoken."};
    struct call_turn turn = {TURN_USER, "Hi.", 2000};
    struct quality_turn slow = {3000, 912};
    struct call_quality quality = {.turns = 3,
                                   .interruptions = 2,
                                   .false_interruptions = 1,
                                   .voice_to_voice_ms = {800, NAN},
                                   .endpointing_ms = 550,
                                   .llm_first_token_ms = 100,
                                   .tts_first_byte_ms = 80,
                                   .packets_lost = 4,
                                   .jitter_ms = 2.5,
                                   .mos = NAN,
                                   .slowest_turns = {&slow, 1}};
    struct event_ended ended = {.reason = END_MAX_DURATION,
                                .duration_s = 60,
                                .cost_usd4 = 6000,
                                .user_joined_wall_ms = 1000,
                                .transcript = {&turn, 1},
                                .is_transcript_truncated = true,
                                .quality = &quality};
    struct event_test test = {"wh_1"};
    const struct {
        enum event_type type;
        const void *data;
        const char *want;
    } rows[] = {
        {EVENT_CALL_STARTED, &started, "{\"participantIdentity\":\"ann\"}"},
        {EVENT_CALL_AGENT_JOINED, &joined, "{\"stt\":\"ears\",\"llm\":\"mind\",\"tts\":\"mouth\"}"},
        {EVENT_CALL_USER_JOINED, &identity, "{\"identity\":\"ann\"}"},
        {EVENT_CALL_USER_LEFT, &identity, "{\"identity\":\"ann\"}"},
        {EVENT_TRANSCRIPT_USER, &text, "{\"text\":\"Hello.\"}"},
        {EVENT_TRANSCRIPT_ASSISTANT, &text, "{\"text\":\"Hello.\"}"},
        {EVENT_CALL_ERROR, &error, "{\"stage\":\"speech\",\"message\":\"Not spoken.\"}"},
        {EVENT_CALL_ENDED, &ended,
         "{\"reason\":\"max-duration\",\"durationSeconds\":60,\"callCost\":0.6,"
         "\"userJoinedAt\":\"1970-01-01T00:00:01.000Z\",\"transcript\":[{\"role\":\"user\","
         "\"text\":\"Hi.\",\"at\":\"1970-01-01T00:00:02.000Z\"}],\"transcriptTruncated\":true,"
         "\"quality\":{\"turns\":3,\"interruptions\":2,\"falseInterruptions\":1,"
         "\"voiceToVoiceMs\":{\"p50\":800,\"p95\":null},\"endpointingMs\":550,"
         "\"llmFirstTokenMs\":100,\"ttsFirstByteMs\":80,\"packetsLost\":4,\"jitterMs\":2.5,"
         "\"mos\":null,\"slowestTurns\":[{\"at\":\"1970-01-01T00:00:03.000Z\","
         "\"voiceToVoiceMs\":912}]}}"},
        {EVENT_WEBHOOK_TEST, &test, "{\"subscriptionId\":\"wh_1\"}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        CHECK_TEXT(event_data_text(rows[i].type, rows[i].data, arena), rows[i].want);
}
