/* The body of a delivery. */
#include "model/event.h"

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
