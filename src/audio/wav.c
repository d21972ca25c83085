/* RIFF as in Microsoft's Multimedia Programming Interface 1.0: chunks of an id, a length and a body
 * padded to an even length. Only `fmt ` and `data` are looked at. */
#include "audio/wav.h"

#include <string.h>

#include "base/mem.h"

enum {
    HEADER_BYTES = 12,
    CHUNK_BYTES = 8,
    FORMAT_BYTES = 16,
    FORMAT_PCM = 1,
    FORMAT_EXTENSIBLE = 0xFFFE,
    RATE_MIN_HZ = 8000,
    RATE_MAX_HZ = 96000,
};

struct reader {
    const uint8_t *data;
    size_t len;
};

static uint32_t le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint16_t le16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static bool is_stream_size(uint32_t size)
{
    return size == 0 || size == UINT32_MAX;
}

/* Finds a chunk; its body is cut to what is there when it is the data of a stream. */
static enum err find_chunk(const struct reader *in, const char *id, struct reader *out)
{
    size_t at = HEADER_BYTES;
    while (in->len - at >= CHUNK_BYTES) {
        const uint8_t *head = in->data + at;
        uint32_t size = le32(head + 4);
        size_t left = in->len - at - CHUNK_BYTES;
        bool is_wanted = memcmp(head, id, 4) == 0;
        if (is_wanted && memcmp(id, "data", 4) == 0 && is_stream_size(size))
            size = (uint32_t)MIN(left, UINT32_MAX - 1);
        if (size > left)
            return ERR_INVALID;
        if (is_wanted) {
            *out = (struct reader){head + CHUNK_BYTES, size};
            return OK;
        }
        at += CHUNK_BYTES + MIN((size_t)size + (size & 1), left);
    }
    return ERR_NOT_FOUND;
}

static enum err read_format(const struct reader *in, struct wav *wav, struct fault *fault)
{
    struct reader chunk;
    if (find_chunk(in, "fmt ", &chunk) != OK || chunk.len < FORMAT_BYTES)
        return fault_set(fault, ERR_INVALID, "the WAV file has no format");
    uint16_t format = le16(chunk.data);
    uint16_t bits = le16(chunk.data + 14);
    if ((format != FORMAT_PCM && format != FORMAT_EXTENSIBLE) || bits != 16)
        return fault_set(fault, ERR_UNSUPPORTED, "only 16-bit PCM is read (format %u, %u bits)",
                         format, bits);
    wav->channels = le16(chunk.data + 2);
    uint32_t rate_hz = le32(chunk.data + 4);
    if (wav->channels < 1 || wav->channels > 2)
        return fault_set(fault, ERR_UNSUPPORTED, "%d channels", wav->channels);
    if (rate_hz < RATE_MIN_HZ || rate_hz > RATE_MAX_HZ)
        return fault_set(fault, ERR_UNSUPPORTED, "a rate of %u Hz", rate_hz);
    wav->rate_hz = (int)rate_hz;
    return OK;
}

static void read_samples(const struct reader *data, struct wav *wav)
{
    for (size_t i = 0; i < wav->count; i++) {
        const uint8_t *p = data->data + i * (size_t)wav->channels * 2;
        int sample = (int16_t)le16(p);
        if (wav->channels == 2)
            sample = (sample + (int16_t)le16(p + 2)) / 2;
        wav->samples[i] = (int16_t)sample;
    }
}

enum err wav_parse(const void *data, size_t len, size_t max_samples, struct wav *out,
                   struct fault *fault)
{
    struct reader in = {data, len}, chunk;
    struct wav wav = {0};
    if (len < HEADER_BYTES || memcmp(in.data, "RIFF", 4) != 0 ||
        memcmp(in.data + 8, "WAVE", 4) != 0)
        return fault_set(fault, ERR_INVALID, "not a WAV file");
    enum err err = read_format(&in, &wav, fault);
    if (err)
        return err;
    if (find_chunk(&in, "data", &chunk) != OK)
        return fault_set(fault, ERR_INVALID, "the WAV file is cut short");
    wav.count = chunk.len / 2 / (size_t)wav.channels;
    if (wav.count > max_samples)
        return fault_set(fault, ERR_LIMIT, "the WAV file is too long (%zu samples)", wav.count);
    wav.samples = mem_new_n(int16_t, wav.count + 1);
    read_samples(&chunk, &wav);
    *out = wav;
    return OK;
}

void wav_clear(struct wav *wav)
{
    mem_free(wav->samples);
    *wav = (struct wav){0};
}

static void put32(uint8_t *p, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(value >> (8 * i));
}

static void put16(uint8_t *p, unsigned value)
{
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
}

enum err wav_write(struct buf *out, int rate_hz, const int16_t *samples, size_t count)
{
    uint8_t head[HEADER_BYTES + CHUNK_BYTES + FORMAT_BYTES + CHUNK_BYTES] = "RIFF....WAVEfmt ";
    uint32_t data_bytes = (uint32_t)(count * 2);
    put32(head + 4, data_bytes + (uint32_t)sizeof(head) - CHUNK_BYTES);
    put32(head + 16, FORMAT_BYTES);
    put16(head + 20, FORMAT_PCM);
    put16(head + 22, 1);
    put32(head + 24, (uint32_t)rate_hz);
    put32(head + 28, (uint32_t)rate_hz * 2);
    put16(head + 32, 2);
    put16(head + 34, 16);
    memcpy(head + 36, "data", 4);
    put32(head + 40, data_bytes);
    enum err err = buf_append(out, head, sizeof(head));
    for (size_t i = 0; i < count && !err;) {
        uint8_t piece[1024];
        size_t len = 0;
        for (; i < count && len < sizeof(piece); len += 2)
            put16(piece + len, (uint16_t)samples[i++]);
        err = buf_append(out, piece, len);
    }
    return err;
}
