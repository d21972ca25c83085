/* Keys. Looked up by SHA-256; a workspace key is never stored in a form that can be read back.
 * Thread: inside a job. */
#pragma once

#include "base/attr.h"
#include "base/err.h"

struct api_key;
struct api_key_list;
struct principal;
struct tx;

/* ERR_NOT_FOUND: unknown, revoked or rotated. Any of the three kinds. */
enum err store_key_find(struct tx *tx, const char *key, struct principal *out) MUST_USE;
/* Notes the use of a workspace key: writes at most once a minute for each key. */
enum err store_key_touch(struct tx *tx, const char *key_id) MUST_USE;

/* Makes a workspace key: out->key holds it in full, the only time it is seen.
 * ERR_NOT_FOUND: no such workspace. */
enum err store_key_create(struct tx *tx, const char *workspace_id, const char *name,
                          struct api_key *out) MUST_USE;
/* workspace_id NULL: of all. Newest first, revoked ones included. */
enum err store_key_list(struct tx *tx, const char *workspace_id, struct api_key_list *out) MUST_USE;
/* ERR_NOT_FOUND: none of that id in the workspace. */
enum err store_key_get(struct tx *tx, const char *workspace_id, const char *key_id,
                       struct api_key *out) MUST_USE;
/* workspace_id NULL: of any. ERR_NOT_FOUND: none of that id, or revoked already. Of a workspace's
 * revoked keys the rows of the last 100 are kept. */
enum err store_key_revoke(struct tx *tx, const char *workspace_id, const char *key_id) MUST_USE;
