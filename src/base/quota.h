/* A ceiling that tenants share, such as the bytes of all bodies in memory. A key (an address, a
 * workspace) may hold up to a ceiling of its own, and never more than what is left for all others
 * after it: one greedy key gets half at most, two get a third each, and who holds nothing yet finds
 * room until the last of it.
 *
 * Where things wait in turn, use base/fair.h; this is for what cannot wait. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

struct quota;

/* per_key 0: no ceiling of its own. */
struct quota *quota_new(int64_t total, int64_t per_key);
void quota_free(struct quota *quota);
DEFINE_AUTO(quota)

/* false: nothing was taken. key: copied. */
bool quota_take(struct quota *quota, const char *key, int64_t amount) MUST_USE;
/* At most what the key holds. */
void quota_give(struct quota *quota, const char *key, int64_t amount);
int64_t quota_used(const struct quota *quota);
int64_t quota_held(const struct quota *quota, const char *key);
