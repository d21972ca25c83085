/* How members sign in: links that are good once and for a quarter of an hour, and sessions. The
 * secret of either is kept only as its SHA-256. Thread: inside a job. */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/ids.h"
#include "model/member.h"

struct tx;

#define SESSION_PREFIX "ss_"
#define LINK_PREFIX    "sl_"
enum {
    LINK_MS = 15 * 60 * 1000,
    SESSION_IDLE_MS = 12 * 3600 * 1000, /* without a request */
    SESSIONS_MAX = 20,                  /* of a member; the one used least lately goes */
};
#define SESSION_MAX_MS (INT64_C(30) * 24 * 3600 * 1000)

/* Replaces the member's earlier links. */
enum err store_link_create(struct tx *tx, const char *member_id, char out[KEY_SIZE]) MUST_USE;
/* Would store_link_use() find it? */
enum err store_link_look(struct tx *tx, const char *link) MUST_USE;
/* Takes the link out of use. ERR_NOT_FOUND: unknown, used, or too old. */
enum err store_link_use(struct tx *tx, const char *link, struct member *out) MUST_USE;
/* The link by which a workspace is entered from the command line: email "" means its oldest owner,
 * who is made if there is none, and so is an owner of that address. ERR_NOT_FOUND: there is no such
 * workspace. */
enum err store_link_for(struct tx *tx, const char *workspace_id, const char *email,
                        char out[KEY_SIZE]) MUST_USE;

enum err store_session_create(struct tx *tx, const struct member *member, const char *browser,
                              const char *address, char out[KEY_SIZE]) MUST_USE;
/* ERR_NOT_FOUND: it was ended. */
enum err store_session_look(struct tx *tx, const char *session_id) MUST_USE;
/* Writes at most once a minute. */
enum err store_session_touch(struct tx *tx, const char *session_id) MUST_USE;
/* Used last first. */
enum err store_session_list(struct tx *tx, const char *member_id,
                            struct session_list *out) MUST_USE;
/* ERR_NOT_FOUND: the member has no such session. */
enum err store_session_end(struct tx *tx, const char *member_id, const char *session_id) MUST_USE;
enum err store_session_end_others(struct tx *tx, const char *member_id,
                                  const char *kept_id) MUST_USE;
/* Sessions and links that are over: are there any? They go. */
bool store_session_is_due(struct tx *tx);
enum err store_session_sweep(struct tx *tx) MUST_USE;
