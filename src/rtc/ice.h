/* What both ICE roles share (RFC 8445): credentials, paths, and the answer to a check.
 * Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "net/addr.h"
#include "rtc/stun.h"

enum {
    ICE_CREDENTIAL_SIZE = 257, /* RFC 8839 section 5.4: at most 256 characters */
    ICE_LOCAL_SIZE = 33,       /* ours are shorter */
    ICE_UFRAG_MIN = 4,
    ICE_PWD_MIN = 22,
    ICE_DATAGRAM_BYTES = 512, /* the longest check: a user name of 289 and 100 of attributes */
    ICE_PATHS = 8,            /* validated ones that are remembered; the oldest makes room */
    ICE_QUEUE = 4             /* answers waiting for output; the owner drains after each input */
};

/* A 5-tuple: local all zero when the system chooses the source. */
struct ice_path {
    struct net_addr local, remote;
};
bool ice_path_equal(const struct ice_path *a, const struct ice_path *b);

struct ice_credentials {
    char local_ufrag[ICE_LOCAL_SIZE], local_pwd[ICE_LOCAL_SIZE];
    char remote_ufrag[ICE_CREDENTIAL_SIZE], remote_pwd[ICE_CREDENTIAL_SIZE]; /* "": not known */
};

/* ufrag: copied; NULL: random. The password is random, 144 bits (RFC 8445 section 5.3). */
void ice_credentials_init(struct ice_credentials *credentials, const char *ufrag);
/* ERR_INVALID: a length or character that RFC 8839 does not allow. */
enum err ice_credentials_set_remote(struct ice_credentials *credentials, const char *ufrag,
                                    const char *pwd) MUST_USE;

/* Type preference of host candidates, one component (RFC 8445 section 5.1.2.1). */
uint32_t ice_host_priority(uint16_t local_preference);

struct ice_datagram {
    struct ice_path path;
    size_t len;
    uint8_t data[ICE_DATAGRAM_BYTES];
};

struct ice_queue {
    struct ice_datagram items[ICE_QUEUE];
    unsigned first, count;
};
/* Borrowed until the next push. NULL: empty. */
const struct ice_datagram *ice_queue_pop(struct ice_queue *queue);

enum ice_verdict {
    ICE_IGNORE,  /* not a check for us, or one that gets no answer */
    ICE_REFUSED, /* an error answer was queued */
    ICE_ACCEPTED /* authentic; the success answer was queued */
};

/* Judges a Binding request and queues its answer. is_controlling: our role; a request of the same
 * role is a conflict. */
enum ice_verdict ice_answer_check(const struct ice_credentials *credentials, bool is_controlling,
                                  const struct stun_message *request, const struct ice_path *path,
                                  struct ice_queue *queue);
