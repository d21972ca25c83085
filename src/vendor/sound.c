#include "vendor/sound.h"

#include <string.h>

#include "audio/resample.h"
#include "base/attr.h"
#include "base/mem.h"
#include "engine/tts.h"
#include "vendor/relay.h"

enum { RATE_MIN = 8000, RATE_MAX = 96000, CHANNELS_MAX = 2, SLICE_FRAMES = 2048 };

void sound_init(struct sound *sound, int rate_hz, sound_fn *on_samples, void *arg)
{
    *sound =
        (struct sound){.rate_hz = rate_hz, .channels = 1, .on_samples = on_samples, .arg = arg};
}

void sound_clear(struct sound *sound)
{
    resampler_free(TAKE(sound->resampler));
    relay_free(TAKE(sound->relay));
}

void sound_reset(struct sound *sound)
{
    sound_clear(sound);
    sound->head_len = sound->part_len = 0;
    sound->channels = 1;
    sound->is_known = sound->is_broken = false;
}

/* Samples. */

static void pass(struct sound *sound, const int16_t *samples, size_t count)
{
    if (sound->rate_hz == TTS_RATE_HZ) {
        sound->on_samples(sound->arg, samples, count);
        return;
    }
    if (!sound->resampler)
        sound->resampler = resampler_new(sound->rate_hz, TTS_RATE_HZ);
    size_t most = resampler_out_max(sound->resampler, count);
    AUTO_MEM int16_t *out = mem_new_n(int16_t, most + 1);
    size_t made = resampler_run(sound->resampler, samples, count, out);
    if (made > 0)
        sound->on_samples(sound->arg, out, made);
}

static int16_t sample_at(const uint8_t *bytes)
{
    return (int16_t)(bytes[0] | bytes[1] << 8);
}

static void push_samples(struct sound *sound, const uint8_t *data, size_t len)
{
    size_t frame = 2 * (size_t)sound->channels, count = 0;
    int16_t samples[SLICE_FRAMES];
    while (len > 0) {
        size_t take = MIN(frame - sound->part_len, len);
        memcpy(sound->part + sound->part_len, data, take);
        sound->part_len += take;
        data += take;
        len -= take;
        if (sound->part_len < frame)
            break;
        samples[count++] = sample_at(sound->part);
        sound->part_len = 0;
        if (count == SLICE_FRAMES) {
            pass(sound, samples, count);
            count = 0;
        }
    }
    if (count > 0)
        pass(sound, samples, count);
}

/* What it is. */

static uint32_t u32_at(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static bool read_format(struct sound *sound, const uint8_t *chunk, size_t len)
{
    enum { PCM = 1, EXTENSIBLE = 0xFFFE };
    if (len < 16)
        return false;
    unsigned kind = chunk[0] | (unsigned)chunk[1] << 8;
    unsigned channels = chunk[2] | (unsigned)chunk[3] << 8;
    unsigned bits = chunk[14] | (unsigned)chunk[15] << 8;
    uint32_t rate_hz = u32_at(chunk + 4);
    if ((kind != PCM && kind != EXTENSIBLE) || bits != 16 || channels < 1 ||
        channels > CHANNELS_MAX || rate_hz < RATE_MIN || rate_hz > RATE_MAX)
        return false;
    sound->channels = (int)channels;
    sound->rate_hz = (int)rate_hz;
    return true;
}

enum head { HEAD_BARE, HEAD_WAV, HEAD_OGG, HEAD_BROKEN, HEAD_CUT };

/* Looks for the samples of a WAV file; a server that streams does not know its sizes. */
static enum head read_head(struct sound *sound, size_t *out_at)
{
    static const char *const compressed[] = {"ID3", "fLaC", "\xff\xfb", "\xff\xf3", "<htm"};
    const uint8_t *head = sound->head;
    size_t len = sound->head_len, at = 12;
    if (len < 12)
        return HEAD_CUT;
    for (size_t i = 0; i < ARRAY_LEN(compressed); i++)
        if (memcmp(head, compressed[i], strlen(compressed[i])) == 0)
            return HEAD_BROKEN;
    if (memcmp(head, "OggS", 4) == 0)
        return HEAD_OGG;
    if (memcmp(head, "RIFF", 4) != 0 || memcmp(head + 8, "WAVE", 4) != 0)
        return sound->is_file ? HEAD_BROKEN : HEAD_BARE;
    while (at + 8 <= len) {
        size_t size = u32_at(head + at + 4);
        if (memcmp(head + at, "data", 4) == 0) {
            *out_at = at + 8;
            return HEAD_WAV;
        }
        if (size > SOUND_HEAD_SIZE)
            return HEAD_BROKEN;
        if (at + 8 + size > len)
            break;
        if (memcmp(head + at, "fmt ", 4) == 0 && !read_format(sound, head + at + 8, size))
            return HEAD_BROKEN;
        at += 8 + size + (size & 1);
    }
    return len == SOUND_HEAD_SIZE ? HEAD_BROKEN : HEAD_CUT;
}

static void begin(struct sound *sound, size_t at)
{
    sound->is_known = true;
    push_samples(sound, sound->head + at, sound->head_len - at);
}

static void begin_ogg(struct sound *sound)
{
    const struct relay_fns fns = {sound->on_packet, sound->on_samples};
    sound->is_known = true;
    sound->relay = relay_new(&fns, sound->arg);
    sound->is_broken = !relay_push(sound->relay, sound->head, sound->head_len);
}

static bool push_packet(struct sound *sound, const uint8_t *packet, size_t len)
{
    const struct relay_fns fns = {sound->on_packet, sound->on_samples};
    if (!sound->relay)
        sound->relay = relay_new(&fns, sound->arg);
    sound->is_known = true;
    sound->is_broken = sound->is_broken || !relay_packet(sound->relay, packet, len);
    return !sound->is_broken;
}

bool sound_push(struct sound *sound, const void *data, size_t len)
{
    const uint8_t *bytes = data;
    if (sound->is_packets)
        return push_packet(sound, bytes, len);
    while (!sound->is_known && !sound->is_broken && len > 0) {
        size_t take = MIN(SOUND_HEAD_SIZE - sound->head_len, len), at = 0;
        memcpy(sound->head + sound->head_len, bytes, take);
        sound->head_len += take;
        bytes += take;
        len -= take;
        enum head head = read_head(sound, &at);
        sound->is_broken = head == HEAD_BROKEN;
        if (head == HEAD_BARE || head == HEAD_WAV)
            begin(sound, at);
        if (head == HEAD_OGG)
            begin_ogg(sound);
    }
    if (sound->relay)
        sound->is_broken = !relay_push(sound->relay, bytes, len);
    else if (sound->is_known)
        push_samples(sound, bytes, len);
    return !sound->is_broken;
}

bool sound_finish(struct sound *sound)
{
    bool is_bare = !sound->is_known && !sound->is_file && sound->head_len < 12; /* six samples */
    if (is_bare && !sound->is_broken)
        begin(sound, 0);
    if (sound->resampler) {
        int16_t rest[1024];
        size_t count = resampler_finish(sound->resampler, rest, ARRAY_LEN(rest));
        if (count > 0)
            sound->on_samples(sound->arg, rest, count);
    }
    return sound->relay && !sound->is_packets ? relay_finish(sound->relay) : sound->is_known;
}
