/* What requests hold of what all of them share: places among those under way and among those that
 * go on (streams), bytes of bodies in memory and on disk. Counted for the client's address and for
 * the workspace, so that neither can take the others' part (base/quota.h). Health and other
 * requests without a key need no place: they are answered while all else waits. Thread: the control
 * loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "net/addr.h"

struct admission;
struct config;

enum admission_share { SHARE_PLACES, SHARE_MEMORY, SHARE_DISK, SHARE_STREAMS, SHARE_COUNT };

/* What one request holds. Begin with zeros and `site`. */
struct admitted {
    char site[NET_ADDR_SIZE]; /* the client's address as limits count it */
    char workspace[48];       /* whose key it is; "": not known yet */
    int64_t held[SHARE_COUNT];
};

struct admission *admission_new(const struct config *config);
void admission_free(struct admission *admission);
DEFINE_AUTO(admission)

/* false: nothing more was taken. */
bool admission_take(struct admission *admission, struct admitted *who, enum admission_share share,
                    int64_t amount) MUST_USE;
/* The key is known: what it holds counts for the workspace as well. Visitors of its pages have a
 * part of their own. false: the workspace has no room for it. */
bool admission_know(struct admission *admission, struct admitted *who, const char *workspace_id,
                    bool is_visitor) MUST_USE;
/* What it holds of one share, before its end. */
void admission_give(struct admission *admission, struct admitted *who, enum admission_share share);
void admission_leave(struct admission *admission, struct admitted *who);
/* Was there no room because of this holder's own use, rather than everybody's? */
bool admission_is_own(const struct admission *admission, const struct admitted *who,
                      enum admission_share share);
