/* Session descriptions: what parses is written and parsed again, and gets an answer that parses. */
#include "fuzz.h"

#include <assert.h>

#include "room/negotiate.h"

static void check_written(const struct sdp *sdp)
{
    AUTO_BUF text = BUF_INIT(SDP_MAX_BYTES);
    AUTO(sdp) again = sdp_new();
    struct fault fault;
    if (sdp_write(sdp, &text) == OK)
        assert(sdp_parse(text.data, text.len, again, &fault) == OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(sdp) offer = sdp_new();
    AUTO(sdp) answer = sdp_new();
    struct fault fault;
    const struct sdp_transport *transport;
    if (sdp_parse((const char *)data, size, offer, &fault) != OK ||
        sdp_bundle_transport(offer, &transport, &fault) != OK)
        return 0;
    struct negotiate_own own = {.transport = *transport, .is_ice_lite = true};
    struct negotiate_track track = {"PA_a|TR_a", "TR_a", 1};
    struct negotiate_result result;
    negotiate_answer(offer, &own, &track, "", answer, &result);
    check_written(answer);
    assert(answer->section_count == offer->section_count);
    negotiate_read_answer(offer, &result);
    return 0;
}
