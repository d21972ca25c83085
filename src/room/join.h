/* What a client asks for when it joins: the query of /rtc (v0) or the join_request of /rtc/v1
 * (LiveKit, Connecting), checked before anything is done for it. And the parcel that carries an
 * admitted connection from the control loop to the room's media loop. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/ids.h"
#include "net/stream.h"
#include "net/ws.h"
#include "room/token.h"

struct Lk__JoinRequest;
struct loop;

enum {
    JOIN_PARAM_MAX_BYTES = 65536,    /* the join_request parameter; clients send 2.5 KB */
    JOIN_REQUEST_MAX_BYTES = 262144, /* inflated */
};

struct join_request {
    bool is_single_pc;
    bool is_reconnect;
    bool wants_audio;                /* auto_subscribe */
    char participant_sid[ID_SIZE];   /* of the session to resume; "" if none */
    struct Lk__JoinRequest *message; /* v1; NULL for v0 */
};

/* query: raw, may be NULL. ERR_INVALID, ERR_LIMIT: the fault's text is fit for the client (400). */
enum err join_parse(const char *query, bool is_v1, struct join_request *out,
                    struct fault *fault) MUST_USE;
void join_clear(struct join_request *request);

struct room_join {
    struct stream_state connection;
    struct ws_offer offer;
    struct token token;
    struct join_request request;
};

void room_join_free(struct room_join *join);
DEFINE_AUTO(room_join)

/* Answers an upgrade that admission let through and the room did not: plain text, CORS header,
 * connection closed. */
void room_join_refuse(struct room_join *take_join, struct loop *loop, int status, const char *text);
