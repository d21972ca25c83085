#include "vendor/relay.h"

#include <string.h>

#include "base/mem.h"

/* A stream begins. */
static void on_head(void *arg, const struct ogg_head *head)
{
    struct relay *relay = arg;
    codec_decoder_free(TAKE(relay->decoder));
    relay->gain_q8_db = head->gain_q8_db;
    relay->skip = head->skip;
    relay->last_bytes = 0;
    relay->is_decoded =
        !relay->fns.on_packet || head->gain_q8_db != 0 || head->skip >= AUDIO_OUT_SAMPLES;
}

/* In the middle of a stream it has to know what came just before. */
static struct codec_decoder *decoder_of(struct relay *relay)
{
    if (relay->decoder)
        return relay->decoder;
    relay->decoder = codec_decoder_new_full(relay->gain_q8_db);
    if (relay->last_bytes) {
        int16_t unheard[CODEC_FULL_MAX_SAMPLES];
        (void)codec_decode_full(relay->decoder, relay->last, relay->last_bytes, unheard);
        relay->skip = 0;
    }
    return relay->decoder;
}

static bool decode(struct relay *relay, const uint8_t *packet, size_t bytes)
{
    int16_t samples[CODEC_FULL_MAX_SAMPLES];
    size_t count = codec_decode_full(decoder_of(relay), packet, bytes, samples);
    size_t skip = MIN(relay->skip, count);
    relay->skip -= skip;
    if (count > skip)
        relay->fns.on_samples(relay->arg, samples + skip, count - skip);
    return count > 0;
}

static bool on_packet(void *arg, const uint8_t *packet, size_t bytes)
{
    struct relay *relay = arg;
    size_t ticks = codec_packet_check(packet, bytes);
    if (!ticks)
        return false;
    relay->is_decoded =
        relay->is_decoded || ticks != AUDIO_OUT_SAMPLES || bytes > CODEC_PACKET_MAX_BYTES;
    if (relay->is_decoded)
        return decode(relay, packet, bytes);
    memcpy(relay->last, packet, bytes);
    relay->last_bytes = bytes;
    relay->fns.on_packet(relay->arg, packet, bytes);
    return true;
}

struct relay *relay_new(const struct relay_fns *fns, void *arg)
{
    static const struct ogg_fns of_ogg = {on_head, on_packet};
    struct relay *relay = mem_new(struct relay);
    relay->fns = *fns;
    relay->arg = arg;
    ogg_init(&relay->ogg, &of_ogg, relay);
    return relay;
}

void relay_free(struct relay *relay)
{
    if (!relay)
        return;
    ogg_clear(&relay->ogg);
    codec_decoder_free(relay->decoder);
    mem_free(relay);
}

bool relay_push(struct relay *relay, const void *data, size_t len)
{
    return ogg_push(&relay->ogg, data, len);
}

bool relay_finish(const struct relay *relay)
{
    return ogg_finish(&relay->ogg);
}

bool relay_packet(struct relay *relay, const uint8_t *packet, size_t bytes)
{
    if (!relay->fns.on_packet)
        relay->is_decoded = true;
    return on_packet(relay, packet, bytes);
}
