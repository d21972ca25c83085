/* Opus in Ogg as a voice delivers it. The first byte says how it is cut, whether packets go on as
 * they are, and whether checksums are put right before: without that hardly a change is looked at.
 * However it is cut, it sounds alike; no packet is larger, no sound longer than it may be. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "../unit/audio/ogg_file.h"
#include "base/attr.h"
#include "base/mem.h"
#include "vendor/relay.h"

enum { TAKES_PACKETS = 0x40, MENDS = 0x80, STEPS = 0x3f, PAGE_HEAD = 27 };

struct heard {
    size_t packets, samples, bytes;
    bool is_fine;
};

static void on_packet(void *arg, const uint8_t *packet, size_t bytes)
{
    struct heard *heard = arg;
    assert(bytes > 0 && bytes <= CODEC_PACKET_MAX_BYTES);
    assert(codec_packet_ticks(packet, bytes) == AUDIO_OUT_SAMPLES);
    heard->packets++;
    heard->bytes += bytes;
}

static void on_samples(void *arg, const int16_t *samples, size_t count)
{
    struct heard *heard = arg;
    (void)samples;
    assert(count > 0 && count <= CODEC_FULL_MAX_SAMPLES);
    heard->samples += count;
}

static struct heard read_all(const uint8_t *data, size_t len, size_t step, bool takes_packets)
{
    const struct relay_fns fns = {takes_packets ? on_packet : NULL, on_samples};
    struct heard heard = {.is_fine = true};
    AUTO(relay) relay = relay_new(&fns, &heard);
    for (size_t at = 0; at < len && heard.is_fine; at += step)
        heard.is_fine = relay_push(relay, data + at, MIN(step, len - at));
    heard.is_fine = heard.is_fine && relay_finish(relay);
    assert(heard.bytes <= len);
    assert(heard.samples <= len * CODEC_FULL_MAX_SAMPLES);
    return heard;
}

static void mend(uint8_t *data, size_t len)
{
    while (len >= PAGE_HEAD && len >= PAGE_HEAD + (size_t)data[26]) {
        size_t size = PAGE_HEAD + (size_t)data[26];
        for (size_t i = 0; i < data[26]; i++)
            size += data[PAGE_HEAD + i];
        if (size > len)
            return;
        ogg_file_sum(data, size);
        data += size;
        len -= size;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 2 || size > 65536)
        return 0;
    size_t len = size - 1;
    bool takes_packets = bytes[0] & TAKES_PACKETS;
    AUTO_MEM uint8_t *data = mem_new_n(uint8_t, len);
    memcpy(data, bytes + 1, len);
    if (bytes[0] & MENDS)
        mend(data, len);
    struct heard whole = read_all(data, len, len, takes_packets);
    struct heard cut = read_all(data, len, 1 + (bytes[0] & STEPS), takes_packets);
    assert(whole.is_fine == cut.is_fine && whole.packets == cut.packets);
    assert(whole.samples == cut.samples && whole.bytes == cut.bytes);
    return 0;
}
