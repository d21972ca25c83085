/* The controlling side of ICE, see ice_client.h. */
#include "rtc/ice_client.h"

#include <string.h>

#include "base/crypto.h"

enum {
    PACE_US = 20000,        /* Ta of host candidates (RFC 8445 section 14.2 asks for 5 to 50 ms) */
    RTO_FIRST_US = 500000,  /* RFC 8489 section 6.2.1 */
    SENDS_MAX = 7,          /* Rc of the same */
    LAST_WAIT_US = 2000000, /* after the last send */
    NOMINATE_WAIT_US = 200000, /* grace for better pairs after the first valid one */
    CONSENT_US = 2500000,      /* RFC 7675 asks for 5 s; the other side gives up on us after 10 s of
                                  silence, and one lost check must not come near that */
    CONSENT_SPREAD_US = 500000,
    START_OVER_US = 1000000
};

void ice_client_init(struct ice_client *client, struct ice_credentials *credentials)
{
    memset(client, 0, sizeof(*client));
    client->credentials = credentials;
    client->is_controlling = true;
    client->tie_breaker = crypto_random_u64();
    client->selected = -1;
}

static struct ice_pair *find(struct ice_client *client, const struct net_addr *remote)
{
    for (unsigned i = 0; i < client->pair_count; i++)
        if (net_addr_equal(&client->pairs[i].remote, remote))
            return &client->pairs[i];
    return NULL;
}

enum err ice_client_add(struct ice_client *client, const struct net_addr *remote, uint32_t priority)
{
    if (find(client, remote))
        return OK;
    if (client->pair_count == ICE_CANDIDATES)
        return ERR_LIMIT;
    client->pairs[client->pair_count++] =
        (struct ice_pair){.remote = *remote, .priority = priority, .due_us = INT64_MAX};
    return OK;
}

static void reset_pair(struct ice_pair *pair)
{
    pair->state = ICE_PAIR_WAITING;
    pair->is_in_flight = pair->is_nominating = false;
    pair->due_us = INT64_MAX;
    pair->sends = 0;
}

void ice_client_restart(struct ice_client *client)
{
    for (unsigned i = 0; i < client->pair_count; i++)
        reset_pair(&client->pairs[i]);
    client->selected = -1;
    client->first_valid_us = client->consent_us = 0;
}

/* Checks. */

static void begin_check(struct ice_pair *pair, bool is_nominating, int64_t now_us)
{
    crypto_random(pair->transaction, sizeof(pair->transaction));
    if (pair->state != ICE_PAIR_VALID)
        pair->state = ICE_PAIR_CHECKING;
    pair->is_nominating = is_nominating;
    pair->is_in_flight = true;
    pair->sends = 0;
    pair->sends_max = SENDS_MAX;
    pair->rto_us = RTO_FIRST_US;
    pair->due_us = now_us;
}

static const struct ice_pair *best(const struct ice_client *client, enum ice_pair_state state)
{
    const struct ice_pair *found = NULL;
    for (unsigned i = 0; i < client->pair_count; i++) {
        const struct ice_pair *pair = &client->pairs[i];
        if (pair->state == state && (!found || pair->priority > found->priority))
            found = pair;
    }
    return found;
}

static struct ice_pair *best_pair(struct ice_client *client, enum ice_pair_state state)
{
    const struct ice_pair *found = best(client, state);
    return found ? &client->pairs[found - client->pairs] : NULL;
}

/* Is there a pair over this one that may still turn out valid? */
static bool is_better_open(const struct ice_client *client, const struct ice_pair *pair)
{
    for (unsigned i = 0; i < client->pair_count; i++) {
        const struct ice_pair *other = &client->pairs[i];
        if (other->priority > pair->priority &&
            (other->state == ICE_PAIR_WAITING || other->state == ICE_PAIR_CHECKING))
            return true;
    }
    return false;
}

static void nominate(struct ice_client *client, int64_t now_us)
{
    struct ice_pair *pair = best_pair(client, ICE_PAIR_VALID);
    if (!client->is_controlling || client->selected >= 0 || !pair || pair->is_in_flight)
        return;
    if (is_better_open(client, pair) && now_us < client->first_valid_us + NOMINATE_WAIT_US)
        return;
    begin_check(pair, true, now_us);
}

static void ask_consent(struct ice_client *client, int64_t now_us)
{
    if (client->selected < 0 || now_us < client->consent_us)
        return;
    struct ice_pair *pair = &client->pairs[client->selected];
    begin_check(pair, client->is_controlling, now_us);
    pair->sends_max = 1; /* not repeated: the next one is soon (RFC 7675 section 5.1) */
    client->consent_us = now_us + CONSENT_US + (int64_t)(crypto_random_u64() % CONSENT_SPREAD_US);
}

static void pace(struct ice_client *client, int64_t now_us)
{
    if (!client->credentials->remote_pwd[0])
        return;
    nominate(client, now_us);
    ask_consent(client, now_us);
    struct ice_pair *next = best_pair(client, ICE_PAIR_WAITING);
    if (next && now_us >= client->pace_us && client->selected < 0) {
        begin_check(next, false, now_us);
        client->pace_us = now_us + PACE_US;
    }
}

/* Nothing is left to try: once more from the start, until the owner loses patience. */
static void start_over(struct ice_client *client, int64_t now_us)
{
    for (unsigned i = 0; i < client->pair_count; i++)
        if (client->pairs[i].state != ICE_PAIR_FAILED)
            return;
    for (unsigned i = 0; i < client->pair_count; i++)
        reset_pair(&client->pairs[i]);
    client->first_valid_us = 0;
    client->pace_us = now_us + START_OVER_US;
}

static void give_up(struct ice_client *client, struct ice_pair *pair, int64_t now_us)
{
    pair->is_in_flight = false;
    pair->due_us = INT64_MAX;
    if (client->selected >= 0 && pair == &client->pairs[client->selected])
        return;
    pair->state = ICE_PAIR_FAILED;
    start_over(client, now_us);
}

static const struct ice_datagram *write_check(struct ice_client *client, struct ice_pair *pair,
                                              int64_t now_us)
{
    const struct ice_credentials *credentials = client->credentials;
    struct ice_datagram *check = &client->check;
    struct stun_writer writer;
    stun_begin(&writer, check->data, sizeof(check->data), STUN_BINDING_REQUEST, pair->transaction);
    stun_put_username(&writer, credentials->remote_ufrag, credentials->local_ufrag);
    stun_put_priority(&writer, ice_host_priority(UINT16_MAX));
    stun_put_role(&writer, client->is_controlling, client->tie_breaker);
    if (pair->is_nominating)
        stun_put_use_candidate(&writer);
    check->len = stun_finish(&writer, credentials->remote_pwd);
    check->path = (struct ice_path){.remote = pair->remote};

    pair->sent_us = now_us;
    pair->sends++;
    pair->due_us = now_us + (pair->sends < pair->sends_max ? pair->rto_us : LAST_WAIT_US);
    pair->rto_us *= 2;
    return check;
}

const struct ice_datagram *ice_client_output(struct ice_client *client, int64_t now_us)
{
    const struct ice_datagram *answer = ice_queue_pop(&client->queue);
    if (answer)
        return answer;
    pace(client, now_us);
    for (unsigned i = 0; i < client->pair_count; i++) {
        struct ice_pair *pair = &client->pairs[i];
        if (!pair->is_in_flight || now_us < pair->due_us)
            continue;
        if (pair->sends < pair->sends_max)
            return write_check(client, pair, now_us);
        give_up(client, pair, now_us);
    }
    return NULL;
}

int64_t ice_client_deadline_us(const struct ice_client *client)
{
    int64_t due = INT64_MAX;
    if (!client->credentials->remote_pwd[0])
        return due;
    for (unsigned i = 0; i < client->pair_count; i++)
        due = MIN(due, client->pairs[i].due_us);
    if (client->selected >= 0)
        return MIN(due, client->consent_us);
    if (best(client, ICE_PAIR_WAITING))
        due = MIN(due, client->pace_us);
    const struct ice_pair *valid = best(client, ICE_PAIR_VALID);
    if (valid && !valid->is_in_flight && client->is_controlling)
        due = MIN(due, client->first_valid_us + NOMINATE_WAIT_US);
    return due;
}

/* What comes in. */

static void select_pair(struct ice_client *client, struct ice_pair *pair, int64_t now_us)
{
    client->selected = (int)(pair - client->pairs);
    client->consent_us = now_us + CONSENT_US;
}

static void on_success(struct ice_client *client, struct ice_pair *pair, int64_t now_us)
{
    if (pair->sends == 1)
        client->rtt_us = now_us - pair->sent_us;
    pair->is_in_flight = false;
    pair->due_us = INT64_MAX;
    pair->state = ICE_PAIR_VALID;
    if (!client->first_valid_us)
        client->first_valid_us = now_us;
    if (pair->is_nominating)
        select_pair(client, pair, now_us);
    nominate(client, now_us);
}

static bool on_answer(struct ice_client *client, const struct net_addr *from,
                      const struct stun_message *message, int64_t now_us)
{
    struct ice_pair *pair = find(client, from); /* an answer from elsewhere does not count */
    if (!pair || !pair->is_in_flight ||
        memcmp(pair->transaction, message->transaction, STUN_TRANSACTION_BYTES) != 0 ||
        !stun_is_authentic(message, client->credentials->remote_pwd))
        return false;
    if (message->type == STUN_BINDING_SUCCESS) {
        on_success(client, pair, now_us);
    } else if (message->error_code == STUN_ERROR_ROLE_CONFLICT) {
        client->is_controlling = !client->is_controlling;
        begin_check(pair, false, now_us);
    } else {
        give_up(client, pair, now_us);
    }
    return true;
}

static bool on_check(struct ice_client *client, const struct net_addr *from,
                     const struct stun_message *message, int64_t now_us)
{
    struct ice_path path = {.remote = *from};
    if (ice_answer_check(client->credentials, client->is_controlling, message, &path,
                         &client->queue) != ICE_ACCEPTED)
        return false;
    if (ice_client_add(client, from, message->priority) != OK)
        return true;
    struct ice_pair *pair = find(client, from);
    bool is_open = pair->state == ICE_PAIR_WAITING || pair->state == ICE_PAIR_FAILED;
    if (is_open && client->credentials->remote_pwd[0])
        begin_check(pair, false, now_us); /* triggered check, RFC 8445 section 7.3.1.4 */
    if (!client->is_controlling && message->has_use_candidate && pair->state == ICE_PAIR_VALID)
        select_pair(client, pair, now_us);
    return true;
}

bool ice_client_input(struct ice_client *client, const struct net_addr *from,
                      const struct stun_message *message, int64_t now_us)
{
    if (message->type == STUN_BINDING_SUCCESS || message->type == STUN_BINDING_ERROR)
        return on_answer(client, from, message, now_us);
    return on_check(client, from, message, now_us);
}

bool ice_client_has_path(const struct ice_client *client, const struct net_addr *remote)
{
    for (unsigned i = 0; i < client->pair_count; i++)
        if (client->pairs[i].state == ICE_PAIR_VALID &&
            net_addr_equal(&client->pairs[i].remote, remote))
            return true;
    return false;
}

const struct net_addr *ice_client_selected(const struct ice_client *client)
{
    return client->selected >= 0 ? &client->pairs[client->selected].remote : NULL;
}

const struct net_addr *ice_client_path(const struct ice_client *client)
{
    const struct ice_pair *valid = best(client, ICE_PAIR_VALID);
    if (client->selected >= 0)
        return &client->pairs[client->selected].remote;
    return valid ? &valid->remote : NULL;
}
