/* Shared parts of ICE, see ice.h. */
#include "rtc/ice.h"

#include <string.h>

#include "base/ids.h"

enum { LOCAL_UFRAG_CHARS = 8, LOCAL_PWD_CHARS = 24 /* base62: 142 bits; 128 are asked for */ };

bool ice_path_equal(const struct ice_path *a, const struct ice_path *b)
{
    return net_addr_equal(&a->remote, &b->remote) && net_addr_equal(&a->local, &b->local);
}

void ice_credentials_init(struct ice_credentials *credentials, const char *ufrag)
{
    memset(credentials, 0, sizeof(*credentials));
    if (ufrag)
        strncpy(credentials->local_ufrag, ufrag, ICE_LOCAL_SIZE - 1);
    else
        random_base62(credentials->local_ufrag, LOCAL_UFRAG_CHARS);
    random_base62(credentials->local_pwd, LOCAL_PWD_CHARS);
}

/* ice-char: ALPHA / DIGIT / "+" / "/"; browsers have been seen with "-" and "_" as well. */
static bool is_credential(const char *text, size_t least)
{
    size_t len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_");
    return len >= least && len < ICE_CREDENTIAL_SIZE && text[len] == 0;
}

enum err ice_credentials_set_remote(struct ice_credentials *credentials, const char *ufrag,
                                    const char *pwd)
{
    if (!is_credential(ufrag, ICE_UFRAG_MIN) || !is_credential(pwd, ICE_PWD_MIN))
        return ERR_INVALID;
    memcpy(credentials->remote_ufrag, ufrag, strlen(ufrag) + 1);
    memcpy(credentials->remote_pwd, pwd, strlen(pwd) + 1);
    return OK;
}

uint32_t ice_host_priority(uint16_t local_preference)
{
    enum { TYPE_HOST = 126, COMPONENT_RTP = 1 };
    return (uint32_t)TYPE_HOST << 24 | (uint32_t)local_preference << 8 | (256 - COMPONENT_RTP);
}

/* NULL: full. The item's path and len are the caller's to fill. */
static struct ice_datagram *ice_queue_push(struct ice_queue *queue)
{
    if (queue->count == ICE_QUEUE)
        return NULL;
    return &queue->items[(queue->first + queue->count++) % ICE_QUEUE];
}

const struct ice_datagram *ice_queue_pop(struct ice_queue *queue)
{
    if (!queue->count)
        return NULL;
    const struct ice_datagram *item = &queue->items[queue->first];
    queue->first = (queue->first + 1) % ICE_QUEUE;
    queue->count--;
    return item;
}

/* USERNAME of a request is "ours:theirs" (RFC 8445 section 7.3). Theirs may not be known yet. */
static bool is_for_us(const struct ice_credentials *credentials, const struct stun_message *request)
{
    size_t len = strlen(credentials->local_ufrag);
    return request->username && request->username_len > len && request->username[len] == ':' &&
           memcmp(request->username, credentials->local_ufrag, len) == 0;
}

static unsigned fault_of(const struct ice_credentials *credentials, bool is_controlling,
                         const struct stun_message *request)
{
    if (!request->integrity_at || !request->username)
        return STUN_ERROR_BAD_REQUEST;
    if (!is_for_us(credentials, request) || !stun_is_authentic(request, credentials->local_pwd))
        return STUN_ERROR_UNAUTHENTICATED;
    if (request->unknown_count)
        return STUN_ERROR_UNKNOWN_ATTRIBUTE;
    if (is_controlling ? request->is_controlling : request->is_controlled)
        return STUN_ERROR_ROLE_CONFLICT;
    return 0;
}

enum ice_verdict ice_answer_check(const struct ice_credentials *credentials, bool is_controlling,
                                  const struct stun_message *request, const struct ice_path *path,
                                  struct ice_queue *queue)
{
    if (request->type != STUN_BINDING_REQUEST)
        return ICE_IGNORE;
    struct ice_datagram *answer = ice_queue_push(queue);
    if (!answer)
        return ICE_IGNORE;
    answer->path = *path;

    unsigned fault = fault_of(credentials, is_controlling, request);
    struct stun_writer writer;
    stun_begin(&writer, answer->data, sizeof(answer->data),
               fault ? STUN_BINDING_ERROR : STUN_BINDING_SUCCESS, request->transaction);
    if (fault)
        stun_put_error(&writer, (enum stun_error)fault);
    else
        stun_put_mapped(&writer, &path->remote);
    if (fault == STUN_ERROR_UNKNOWN_ATTRIBUTE)
        stun_put_unknown(&writer, request->unknown, request->unknown_count);
    bool is_authentic = fault != STUN_ERROR_BAD_REQUEST && fault != STUN_ERROR_UNAUTHENTICATED;
    answer->len = stun_finish(&writer, is_authentic ? credentials->local_pwd : NULL);
    return fault ? ICE_REFUSED : ICE_ACCEPTED;
}
