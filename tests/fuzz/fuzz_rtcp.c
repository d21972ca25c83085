/* RTCP compounds, read to their end. */
#include "fuzz.h"

#include <assert.h>

#include "rtc/rtcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rtcp_reader reader;
    if (rtcp_begin(&reader, data, size))
        return 0;
    struct rtcp_item item;
    size_t items = 0;
    while (rtcp_next(&reader, &item)) {
        assert(item.count <= RTCP_NACK_MAX);
        assert(item.block.total_lost >= -0x800000 && item.block.total_lost <= 0x7FFFFF);
        assert(++items <= size); /* each one takes some bytes */
    }
    return 0;
}
