/* RTP packets and every element of their header extensions. */
#include "fuzz.h"

#include <assert.h>

#include "rtc/rtp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rtp_packet packet;
    if (rtp_parse(data, size, &packet))
        return 0;
    assert(packet.payload >= data && packet.payload + packet.len <= data + size);
    for (unsigned id = 0; id < 256; id++) {
        const uint8_t *value;
        size_t len;
        if (rtp_find_extension(&packet, (uint8_t)id, &value, &len) == OK)
            assert(value >= data && value + len <= packet.payload);
    }
    int level = rtp_level_dbov(&packet, 1);
    assert(level <= RTP_NO_LEVEL && level >= -127);
    return 0;
}
