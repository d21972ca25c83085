#include "vendor/sound.h"

#include <string.h>

#include "base/attr.h"
#include "base/buf.h"
#include "test.h"

struct heard {
    size_t count;
    int16_t first, last;
};

static void on_samples(void *arg, const int16_t *samples, size_t count)
{
    struct heard *heard = arg;
    if (heard->count == 0)
        heard->first = samples[0];
    heard->last = samples[count - 1];
    heard->count += count;
}

static void put(struct buf *out, uint32_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        (void)buf_append_char(out, (char)(value >> (8 * i)));
}

/* A WAV file of 1000, 1001, ... for each channel's frame; the second channel is silent. */
static void make_wav(struct buf *out, unsigned rate_hz, unsigned channels, unsigned bits,
                     size_t frames)
{
    (void)buf_append(out, "RIFF\xff\xff\xff\xffWAVELIST\x03\0\0\0abc\0fmt ", 12 + 12 + 4);
    put(out, 16, 4);
    put(out, 1, 2);
    put(out, channels, 2);
    put(out, rate_hz, 4);
    put(out, rate_hz * channels * bits / 8, 4);
    put(out, channels * bits / 8, 2);
    put(out, bits, 2);
    (void)buf_append(out, "data\xff\xff\xff\xff", 8);
    for (size_t i = 0; i < frames; i++) {
        put(out, (uint32_t)(1000 + i), 2);
        if (channels == 2)
            put(out, 0, 2);
    }
}

static bool hear(const void *data, size_t len, size_t step, bool is_file, struct heard *heard)
{
    struct sound sound;
    *heard = (struct heard){0};
    sound_init(&sound, 48000, on_samples, heard);
    sound.is_file = is_file;
    bool is_fine = true;
    for (size_t at = 0; at < len && is_fine; at += step)
        is_fine = sound_push(&sound, (const char *)data + at, MIN(step, len - at));
    is_fine = is_fine && sound_finish(&sound);
    sound_clear(&sound);
    return is_fine;
}

TEST(sound_reads_bare_samples_cut_anywhere)
{
    AUTO_BUF bytes = BUF_INIT(65536);
    for (uint32_t i = 0; i < 5000; i++)
        put(&bytes, 1000 + i, 2);
    for (size_t step = 1; step < 20; step++) {
        struct heard heard;
        CHECK(hear(bytes.data, bytes.len, step, false, &heard));
        CHECK_INT(heard.count, 5000);
        CHECK_INT(heard.first, 1000);
        CHECK_INT(heard.last, 5999);
    }
}

TEST(sound_reads_wav_files_whose_sizes_are_unknown)
{
    for (unsigned channels = 1; channels <= 2; channels++) {
        AUTO_BUF file = BUF_INIT(65536);
        make_wav(&file, 48000, channels, 16, 3000);
        for (size_t step = 1; step < 70; step += 7) {
            struct heard heard;
            CHECK(hear(file.data, file.len, step, true, &heard));
            CHECK_INT(heard.count, 3000);
            CHECK_INT(heard.first, 1000);
            CHECK_INT(heard.last, 3999);
        }
    }
}

TEST(sound_is_made_48000_samples_a_second)
{
    static const unsigned rates[] = {8000, 16000, 22050, 24000, 44100};
    for (size_t i = 0; i < ARRAY_LEN(rates); i++) {
        AUTO_BUF file = BUF_INIT(1 << 20);
        struct heard heard;
        make_wav(&file, rates[i], 1, 16, rates[i]);
        CHECK(hear(file.data, file.len, 4096, true, &heard));
        CHECK(heard.count > 47500 && heard.count < 48500);
    }
}

TEST(sound_refuses_what_it_cannot_read)
{
    AUTO_BUF deep = BUF_INIT(65536), slow = BUF_INIT(65536);
    make_wav(&deep, 48000, 1, 24, 100);
    make_wav(&slow, 4000, 1, 16, 100);
    const struct {
        const char *data;
        size_t len;
        bool is_file;
    } rows[] = {{deep.data, deep.len, true},
                {slow.data, slow.len, false},
                {"OggS and what follows", 21, false},
                {"ID3 and what follows it", 22, false},
                {"data: {\"half\": \n\n", 17, true},
                {"RIFF", 4, true},
                {"", 0, true}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct heard heard;
        CHECK(!hear(rows[i].data, rows[i].len, 5, rows[i].is_file, &heard));
        CHECK_INT(heard.count, 0);
    }
}
