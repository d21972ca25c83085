/* Packets of a caller, any bytes in any order: a length byte before each, its top bit skips a
 * sequence number. */
#include "fuzz.h"

#include <assert.h>

#include "audio/inlet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(inlet) inlet = inlet_new();
    struct audio_frame frame;
    uint16_t sequence = 65530;
    int64_t now_us = 0;
    size_t frames = 0;
    for (size_t at = 0; at < size && at < 4096;) {
        size_t len = data[at] & 0x7F;
        sequence = (uint16_t)(sequence + 1 + (data[at] >> 7));
        at++;
        len = len < size - at ? len : size - at;
        inlet_input(inlet, data + at, len, sequence, sequence * 960u, now_us);
        at += len;
        now_us += 20000;
        while (inlet_output(inlet, now_us, &frame))
            frames++;
    }
    assert(frames <= 4096 * 12);
    return 0;
}
