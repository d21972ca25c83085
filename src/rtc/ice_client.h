/* The full, controlling side of ICE against host candidates (RFC 8445), with consent (RFC 7675).
 * Pairs differ in the remote address only: the system chooses the source. One pair after the other
 * is checked, best first; incoming checks trigger one back and may add a peer-reflexive candidate.
 * Regular nomination: the best pair that works is nominated as soon as nothing better is being
 * tried, at the latest a moment after the first success.
 *
 *     WAITING --pace--> CHECKING --success--> VALID --nominate--> (selected)
 *                          '--no answer, error--> FAILED --all have--> WAITING
 *
 * Thread: its owner's. */
#pragma once

#include "rtc/ice.h"

enum { ICE_CANDIDATES = 16 };

enum ice_pair_state { ICE_PAIR_WAITING, ICE_PAIR_CHECKING, ICE_PAIR_VALID, ICE_PAIR_FAILED };

struct ice_pair {
    struct net_addr remote;
    uint32_t priority; /* of the remote candidate; ours is the same for all */
    enum ice_pair_state state;
    bool is_nominating; /* the check under way carries USE-CANDIDATE */
    bool is_in_flight;
    uint8_t transaction[STUN_TRANSACTION_BYTES];
    int64_t sent_us, due_us; /* due: the next (re)transmission */
    int64_t rto_us;
    unsigned sends, sends_max;
};

struct ice_client {
    struct ice_credentials *credentials; /* borrowed */
    bool is_controlling;
    uint64_t tie_breaker;
    struct ice_pair pairs[ICE_CANDIDATES];
    unsigned pair_count;
    int selected;           /* index of the nominated pair; -1: none */
    int64_t pace_us;        /* no new check before */
    int64_t first_valid_us; /* 0: none yet */
    int64_t consent_us;     /* the next consent check; 0: nothing selected */
    int64_t rtt_us;         /* of the last answered check; 0: not measured */
    struct ice_queue queue;
    struct ice_datagram check;
};

void ice_client_init(struct ice_client *client, struct ice_credentials *credentials);
/* ERR_LIMIT: ICE_CANDIDATES are known. A known address is OK and changes nothing. */
enum err ice_client_add(struct ice_client *client, const struct net_addr *remote,
                        uint32_t priority) MUST_USE;
void ice_client_restart(struct ice_client *client); /* new remote credentials: checks all again */

/* One STUN message. true: it was authentic (check or answer). */
bool ice_client_input(struct ice_client *client, const struct net_addr *from,
                      const struct stun_message *message, int64_t now_us);
/* The next answer or check that is due; borrowed until the next call. NULL: none. */
const struct ice_datagram *ice_client_output(struct ice_client *client, int64_t now_us);
int64_t ice_client_deadline_us(const struct ice_client *client);
bool ice_client_has_path(const struct ice_client *client, const struct net_addr *remote);
const struct net_addr *ice_client_selected(const struct ice_client *client); /* NULL: none */
/* Where to send: the nominated pair, before that the best valid one. NULL: none. */
const struct net_addr *ice_client_path(const struct ice_client *client);
