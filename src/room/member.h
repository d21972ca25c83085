/* Who a caller is: what its token says and what it has changed of that since, as others are told of
 * it. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/ids.h"
#include "room/token.h"

struct Lk__JoinRequest;
struct Lk__Pair;
struct Lk__UpdateParticipantMetadata;
struct js;

enum {
    MEMBER_METADATA_MAX_BYTES = 65536,   /* with the name */
    MEMBER_ATTRIBUTES_MAX_BYTES = 49152, /* all of them: both fit into one response */
    MEMBER_ATTRIBUTES = 64
};

/* RequestResponse.reason of the wire. */
enum request_reason { REQUEST_OK = 0, REQUEST_NOT_ALLOWED = 2, REQUEST_LIMIT_EXCEEDED = 3 };

struct member {
    struct token token; /* its claims are what the caller may do */
    char sid[ID_SIZE];
    char *name, *metadata;
    struct js *attributes; /* an object */
    uint32_t version;      /* of what others were told last: it must rise with each telling */
    int64_t joined_wall_ms;
    bool is_active; /* its media path is up */
};

/* request: the join's, whose metadata and attributes stand over the token's when the token lets the
 * caller change them; may be NULL. */
void member_init(struct member *member, struct token *take_token,
                 const struct Lk__JoinRequest *request);
void member_clear(struct member *member);
/* The caller changes its name, metadata and attributes; all but the answer OK leaves name and
 * metadata as they were. */
enum request_reason member_update(struct member *member,
                                  const struct Lk__UpdateParticipantMetadata *update) MUST_USE;
