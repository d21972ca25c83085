/* STUN messages; what parses is judged as a check by the lite side, too. */
#include "fuzz.h"

#include <assert.h>

#include "rtc/ice_lite.h"
#include "rtc/stun.h"

static void check_views(const struct stun_message *message, const uint8_t *data, size_t size)
{
    const uint8_t *name = (const uint8_t *)message->username;
    assert(!name || (name >= data && name + message->username_len <= data + size));
    assert(message->integrity_at + 24 <= size || !message->integrity_at);
    assert(message->unknown_count <= STUN_UNKNOWN_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stun_message message;
    if (stun_parse(data, size, &message))
        return 0;
    check_views(&message, data, size);
    struct ice_credentials credentials;
    ice_credentials_init(&credentials, "evtj");
    struct ice_lite lite;
    ice_lite_init(&lite, &credentials);
    struct ice_path path = {.remote = net_addr_ipv4(10, 0, 0, 1, 1)};
    ice_lite_input(&lite, &path, &message);
    const struct ice_datagram *answer = ice_lite_output(&lite);
    if (answer)
        assert(stun_parse(answer->data, answer->len, &message) == OK);
    return 0;
}
