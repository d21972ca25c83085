/* People of a workspace. Thread: inside a job. */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "model/member.h"

struct tx;

/* Sets id and times. Lock the workspace first. ERR_CONFLICT: one of the workspace has the address.
 * ERR_LIMIT: MEMBERS_MAX are there. */
enum err store_member_insert(struct tx *tx, struct member *member) MUST_USE;
/* ERR_NOT_FOUND: none of that id in the workspace. */
enum err store_member_get(struct tx *tx, const char *workspace_id, const char *id,
                          struct member *out) MUST_USE;
/* Name, address, role; they count at once. Another address is another person until they have come:
 * sessions, links and password end, and *out_is_moved is set. ERR_CONFLICT: as above. */
enum err store_member_update(struct tx *tx, struct member *member, bool *out_is_moved) MUST_USE;
/* With sessions and links. */
enum err store_member_remove(struct tx *tx, const char *workspace_id, const char *id) MUST_USE;
/* Oldest first. */
enum err store_member_list(struct tx *tx, const char *workspace_id,
                           struct member_list *out) MUST_USE;
/* May the workspace do without this owner? */
bool store_member_is_last_owner(struct tx *tx, const struct member *member);

/* All of that address, of one workspace or (workspace_id "") of every one, with their passwords'
 * hashes ("": none); at most 20, those first whom somebody has taken up, by a password or as the
 * one who was vouched for. */
struct member_hash {
    struct member member;
    const char *hash;
    bool is_vouched;
};
struct member_hash_list LIST_OF(struct member_hash);
enum err store_member_find(struct tx *tx, const char *email, const char *workspace_id,
                           struct member_hash_list *out) MUST_USE;
/* A proxy vouches that the one who comes has the address. */
enum err store_member_vouch(struct tx *tx, const char *id) MUST_USE;
enum err store_member_hash(struct tx *tx, const char *id, const char **out) MUST_USE;
enum err store_member_set_hash(struct tx *tx, const char *id, const char *hash) MUST_USE;
