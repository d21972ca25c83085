/* Opus of a voice: what goes on as it is, what is decoded, what is refused. */
#include "vendor/relay.h"

#include <string.h>

#include "../audio/ogg_file.h"
#include "../audio/signal.h"
#include "test.h"

enum { PACKETS = 20, TONE_HZ = 440 };

struct packets {
    uint8_t data[PACKETS][CODEC_PACKET_MAX_BYTES];
    size_t lens[PACKETS];
};

struct got {
    unsigned packets;
    size_t samples;
    bool is_same; /* packets, with those of the file */
    const struct packets *sent;
    int16_t heard[PACKETS * AUDIO_OUT_SAMPLES * 3];
};

static void on_packet(void *arg, const uint8_t *packet, size_t bytes)
{
    struct got *got = arg;
    unsigned at = got->packets++;
    got->is_same = got->is_same && bytes == got->sent->lens[at] &&
                   memcmp(packet, got->sent->data[at], bytes) == 0;
}

static void on_samples(void *arg, const int16_t *samples, size_t count)
{
    struct got *got = arg;
    memcpy(got->heard + got->samples, samples, count * sizeof(*samples));
    got->samples += count;
}

static const struct packets *tone(void)
{
    static struct packets packets;
    static int16_t samples[PACKETS * AUDIO_OUT_SAMPLES];
    AUTO(codec_encoder) encoder = codec_encoder_new(CODEC_CELT);
    signal_tone(samples, PACKETS * AUDIO_OUT_SAMPLES, AUDIO_OUT_RATE_HZ, TONE_HZ, 8000);
    for (size_t i = 0; i < PACKETS; i++)
        packets.lens[i] = codec_encode(encoder, samples + i * AUDIO_OUT_SAMPLES, packets.data[i]);
    return &packets;
}

static bool hear(const struct buf *file, const struct packets *sent, bool takes_packets,
                 struct got *got)
{
    const struct relay_fns fns = {takes_packets ? on_packet : NULL, on_samples};
    *got = (struct got){.is_same = true, .sent = sent};
    AUTO(relay) relay = relay_new(&fns, got);
    return relay_push(relay, file->data, file->len) && relay_finish(relay);
}

static void write_file(struct ogg_file *file, const struct packets *packets)
{
    for (size_t i = 0; i < PACKETS; i++)
        ogg_file_packet(file, packets->data[i], packets->lens[i]);
    ogg_file_end(file);
}

static double loudness(const struct got *got, size_t from, size_t count)
{
    return signal_at(got->heard + from, count, AUDIO_OUT_RATE_HZ, TONE_HZ);
}

static struct got got;

TEST(relay_leaves_packets_of_20_ms_as_they_are)
{
    AUTO_BUF bytes = BUF_INIT(1 << 16);
    const struct packets *packets = tone();
    struct ogg_file file = {.out = &bytes, .skip = 312, .packets_a_page = 7};
    write_file(&file, packets);
    CHECK(hear(&bytes, packets, true, &got));
    CHECK_INT(got.packets, PACKETS);
    CHECK(got.is_same);
    CHECK_INT(got.samples, 0);
}

TEST(relay_decodes_where_packets_cannot_go_on)
{
    static const struct {
        bool takes_packets;
        unsigned skip;
        int gain_q8_db;
        double times; /* as loud */
    } rows[] = {{false, 312, 0, 1}, {true, 3840, 0, 1}, {true, 960, 0, 1}, {true, 312, -1536, 0.5}};
    const struct packets *packets = tone();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF bytes = BUF_INIT(1 << 16);
        struct ogg_file file = {
            .out = &bytes, .skip = rows[i].skip, .gain_q8_db = rows[i].gain_q8_db};
        write_file(&file, packets);
        CHECK(hear(&bytes, packets, rows[i].takes_packets, &got));
        CHECK_INT(got.packets, 0);
        CHECK_INT(got.samples, PACKETS * AUDIO_OUT_SAMPLES - rows[i].skip);
        double tone_at = loudness(&got, 4800, 4800);
        CHECK(tone_at > 7000 * rows[i].times && tone_at < 9000 * rows[i].times);
    }
}

/* Two frames of 20 ms in one packet, RFC 6716 section 3.2.3: the second half of a stream. */
TEST(relay_decodes_on_from_a_packet_of_another_length)
{
    AUTO_BUF bytes = BUF_INIT(1 << 16);
    const struct packets *packets = tone();
    struct ogg_file file = {.out = &bytes, .skip = 312};
    for (size_t i = 0; i < PACKETS / 2; i++)
        ogg_file_packet(&file, packets->data[i], packets->lens[i]);
    for (size_t i = PACKETS / 2; i < PACKETS; i += 2) {
        AUTO_BUF two = BUF_INIT(4096);
        size_t first = packets->lens[i] - 1;
        (void)buf_append_char(&two, (char)(packets->data[i][0] | 2));
        if (first >= 252)
            (void)buf_append_char(&two, (char)(252 + first % 4));
        (void)buf_append_char(&two, (char)(first >= 252 ? (first - 252 - first % 4) / 4 : first));
        (void)buf_append(&two, packets->data[i] + 1, first);
        (void)buf_append(&two, packets->data[i + 1] + 1, packets->lens[i + 1] - 1);
        ogg_file_packet(&file, two.data, two.len);
    }
    ogg_file_end(&file);
    CHECK(hear(&bytes, packets, true, &got));
    CHECK_INT(got.packets, PACKETS / 2);
    CHECK(got.is_same);
    CHECK_INT(got.samples, PACKETS / 2 * AUDIO_OUT_SAMPLES);
    CHECK(loudness(&got, 0, 960) > 4000); /* it knows what came just before; else 2000 */
    CHECK(loudness(&got, 4800, 4800) > 7000);
}

TEST(relay_begins_anew_with_the_next_stream)
{
    AUTO_BUF bytes = BUF_INIT(1 << 16);
    const struct packets *packets = tone();
    struct ogg_file loud = {.out = &bytes, .gain_q8_db = 512}, plain = {.out = &bytes};
    write_file(&loud, packets);
    write_file(&plain, packets);
    CHECK(hear(&bytes, packets, true, &got));
    CHECK_INT(got.samples, PACKETS * AUDIO_OUT_SAMPLES);
    CHECK_INT(got.packets, PACKETS);
    CHECK(got.is_same);
}

TEST(relay_bounds_what_a_hostile_voice_sends)
{
    static uint8_t large[OGG_PACKET_MAX_BYTES];
    static const struct {
        const char *head;
        size_t head_bytes, bytes;
        bool is_fine;
        size_t samples;
    } rows[] = {
        {"\xf8", 1, 1275, true, 960},      /* 20 ms, larger than any of ours */
        {"\xf8", 1, 1277, false, 0},       /* a frame has 1275 bytes at most */
        {"\xfb\x06", 2, 7652, true, 5760}, /* 120 ms of the largest frames */
        {"\xfb\x07", 2, 7, false, 0},      /* 140 ms */
        {"\xfb\x00", 2, 40, false, 0},     /* no frame at all */
        {"\xfb", 1, 1, false, 0},          /* how many is not said */
        {"\xfa\xff", 2, 2, false, 0},      /* a length that is not there */
        {"\xe3\xb0", 2, 40, false, 0},     /* 48 frames of 2.5 ms, of lengths that are not there */
        {"", 0, 0, false, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF bytes = BUF_INIT(1 << 16);
        struct ogg_file file = {.out = &bytes};
        memset(large, 0x55, sizeof(large));
        memcpy(large, rows[i].head, rows[i].head_bytes);
        ogg_file_packet(&file, large, rows[i].bytes);
        ogg_file_end(&file);
        CHECK(hear(&bytes, tone(), true, &got) == rows[i].is_fine);
        CHECK_INT(got.packets, 0);
        CHECK_INT(got.samples, rows[i].samples);
    }
}

/* Discontinuous transmission: a table of contents alone. */
TEST(relay_leaves_a_pause_as_it_is)
{
    AUTO_BUF bytes = BUF_INIT(1 << 16);
    static struct packets pause = {.data = {{0x78}, {0xf8, 0xff, 0xfe}}, .lens = {1, 3}};
    struct ogg_file file = {.out = &bytes};
    ogg_file_packet(&file, pause.data[0], 1);
    ogg_file_packet(&file, pause.data[1], 3);
    ogg_file_end(&file);
    CHECK(hear(&bytes, &pause, true, &got));
    CHECK_INT(got.packets, 2);
    CHECK(got.is_same);
}

TEST(relay_takes_packets_that_come_in_no_container)
{
    const struct packets *packets = tone();
    static const struct relay_fns relaying = {on_packet, on_samples}, all = {NULL, on_samples};
    for (int relays = 0; relays < 2; relays++) {
        got = (struct got){.is_same = true, .sent = packets};
        struct relay *relay = relay_new(relays ? &relaying : &all, &got);
        for (size_t i = 0; i < PACKETS; i++)
            CHECK(relay_packet(relay, packets->data[i], packets->lens[i]));
        CHECK_INT(got.packets, relays ? PACKETS : 0);
        CHECK(got.is_same);
        CHECK_INT(got.samples, relays ? 0 : PACKETS * AUDIO_OUT_SAMPLES);
        CHECK(!relay_packet(relay, (const uint8_t *)"\xfb", 1));
        relay_free(relay);
    }
}
