/* RFC 7983, see demux.h. */
#include "rtc/demux.h"

#include "base/attr.h"

enum {
    RTCP_FIRST = 192, /* packet types, marker bit included */
    RTCP_LAST = 223
};

static const struct {
    uint8_t first, last;
    enum demux_kind kind;
    size_t least_bytes;
} ranges[] = {
    {0, 3, DEMUX_STUN, 20},
    {20, 63, DEMUX_DTLS, 13},
    {128, 191, DEMUX_RTP, 12},
};

enum demux_kind demux_kind(const uint8_t *data, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
        if (len < 2 || data[0] < ranges[i].first || data[0] > ranges[i].last)
            continue;
        if (ranges[i].kind == DEMUX_RTP && data[1] >= RTCP_FIRST && data[1] <= RTCP_LAST)
            return len >= 8 ? DEMUX_RTCP : DEMUX_UNKNOWN;
        return len >= ranges[i].least_bytes ? ranges[i].kind : DEMUX_UNKNOWN;
    }
    return DEMUX_UNKNOWN;
}

void demux_read(uint8_t *data, size_t len, struct demux_packet *out)
{
    out->kind = demux_kind(data, len);
    out->data = data;
    out->len = len;
    if (out->kind == DEMUX_STUN && stun_parse(data, len, &out->stun))
        out->kind = DEMUX_UNKNOWN;
}
