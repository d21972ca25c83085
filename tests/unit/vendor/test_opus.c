/* Opus of openai-tts, from the vendor's bytes to what the call is told. */
#include <stdio.h>
#include <string.h>

#include "../audio/ogg_file.h"
#include "../audio/signal.h"
#include "audio/codec.h"
#include "base/attr.h"
#include "base/loop.h"
#include "engine/registry.h"
#include "engine/tts.h"
#include "fake/chat_server.h"
#include "rig.h"
#include "test.h"

enum { PACKETS = 30, SPLIT = 97 };

struct told {
    struct loop *loop;
    struct buf packets; /* one after the other */
    size_t packet_count, samples, done;
    enum engine_error error;
    char message[200];
};

static void on_event(void *arg, const struct tts_event *event)
{
    struct told *told = arg;
    if (event->packet) {
        (void)buf_append(&told->packets, event->packet, event->packet_bytes);
        told->packet_count++;
        CHECK_INT(event->count, 960);
        CHECK(event->samples == NULL);
    } else if (event->kind == TTS_AUDIO) {
        told->samples += event->count;
    }
    if (event->kind == TTS_AUDIO)
        return;
    told->done += event->kind == TTS_DONE;
    told->error = event->error;
    snprintf(told->message, sizeof(told->message), "%s", event->message ? event->message : "");
    loop_stop(told->loop);
}

/* A voice in Ogg, and its packets alone. */
struct voice {
    struct buf file, packets;
};

static void make_voice(struct voice *voice)
{
    static int16_t samples[PACKETS * AUDIO_OUT_SAMPLES];
    AUTO(codec_encoder) encoder = codec_encoder_new(CODEC_VOIP);
    buf_init(&voice->file, 1 << 16);
    buf_init(&voice->packets, 1 << 16);
    struct ogg_file file = {.out = &voice->file, .skip = 312, .packets_a_page = 10};
    signal_voice(samples, ARRAY_LEN(samples), AUDIO_OUT_RATE_HZ, 9000);
    for (size_t i = 0; i < PACKETS; i++) {
        uint8_t packet[CODEC_PACKET_MAX_BYTES];
        size_t len = codec_encode(encoder, samples + i * AUDIO_OUT_SAMPLES, packet);
        (void)buf_append(&voice->packets, packet, len);
        ogg_file_packet(&file, packet, len);
    }
    ogg_file_end(&file);
}

static void clear_voice(struct voice *voice)
{
    buf_clear(&voice->file);
    buf_clear(&voice->packets);
}

struct wish {
    bool takes_opus;
    double volume;
};

static void say(struct llm_rig *rig, const void *bytes, size_t len, struct wish wish,
                struct told *told)
{
    const struct chat_script script = {.head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
                                       .pieces = {bytes},
                                       .piece_bytes = len,
                                       .split = SPLIT,
                                       .closes = true};
    const struct engine *engine = registry_find(rig->registry, ENGINE_TTS, "openai-tts");
    const struct tts_config config = {.language = "en",
                                      .speaker = "",
                                      .emotion = "",
                                      .model = "",
                                      .speed = 1,
                                      .volume = wish.volume,
                                      .takes_opus = wish.takes_opus};
    *told = (struct told){.loop = rig->loop};
    buf_init(&told->packets, 1 << 16);
    chat_server_play(rig->server, &script, 1);
    struct tts *tts = engine->ops.tts->open(engine, rig->loop, &config, on_event, told);
    tts->ops->speak(tts, 7, "Hello.", true);
    loop_run_for(rig->loop, 60000000);
    tts->ops->close(tts);
}

static struct llm_rig *open_rig(void)
{
    static const char *const settings[] = {"engine.openai-tts.format=opus"};
    return llm_rig_chat_of("openai-tts", settings, 1);
}

TEST(opus_of_a_vendor_comes_byte_for_byte)
{
    struct llm_rig *rig = open_rig();
    struct voice voice;
    struct told told;
    make_voice(&voice);
    say(rig, voice.file.data, voice.file.len, (struct wish){true, 1}, &told);
    CHECK(strstr(chat_server_body(rig->server), "\"response_format\":\"opus\"") != NULL);
    CHECK_INT(told.done, 1);
    CHECK_INT(told.packet_count, PACKETS);
    CHECK_INT(told.samples, 0);
    CHECK(told.packets.len == voice.packets.len &&
          memcmp(told.packets.data, voice.packets.data, voice.packets.len) == 0);
    buf_clear(&told.packets);
    clear_voice(&voice);
    llm_rig_free(rig);
}

/* Who takes no packets gets samples of it; who wishes another loudness is not sent Opus at all. */
TEST(opus_is_decoded_or_not_asked_for_where_it_cannot_go_on)
{
    struct llm_rig *rig = open_rig();
    struct voice voice;
    struct told told;
    make_voice(&voice);
    say(rig, voice.file.data, voice.file.len, (struct wish){false, 1}, &told);
    CHECK(strstr(chat_server_body(rig->server), "\"response_format\":\"opus\"") != NULL);
    CHECK_INT(told.done, 1);
    CHECK_INT(told.samples, PACKETS * AUDIO_OUT_SAMPLES - 312);
    say(rig, voice.file.data, voice.file.len, (struct wish){true, 1.5}, &told);
    CHECK(strstr(chat_server_body(rig->server), "\"response_format\":\"wav\"") != NULL);
    CHECK_INT(told.packet_count, 0);
    CHECK_INT(told.samples, PACKETS * AUDIO_OUT_SAMPLES - 312); /* it came all the same */
    clear_voice(&voice);
    llm_rig_free(rig);
}

TEST(opus_that_is_broken_is_an_error_of_the_engine)
{
    struct llm_rig *rig = open_rig();
    struct voice voice;
    make_voice(&voice);
    const struct {
        size_t from, len, bent, heard; /* bytes of the file; the one that is bent; packets */
    } rows[] = {
        {47, voice.file.len - 47, 0, 0},                  /* no head */
        {0, voice.file.len - 27 - 5, 0, 20},              /* cut in the last page of sound */
        {0, 60, 0, 0},                                    /* cut in the tags */
        {0, voice.file.len, voice.file.len - 27 - 1, 20}, /* damaged */
        {0, voice.file.len, 47 + 48 + 27 + 3, 0}, /* lengths that are not those of the page */
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct told told;
        AUTO_BUF bytes = BUF_INIT(1 << 16);
        (void)buf_append(&bytes, voice.file.data + rows[i].from, rows[i].len);
        if (rows[i].bent)
            bytes.data[rows[i].bent] ^= 1;
        say(rig, bytes.data, bytes.len, (struct wish){true, 1}, &told);
        CHECK_INT(told.done, 0);
        CHECK_INT(told.error, ENGINE_PROTOCOL);
        CHECK_TEXT(told.message, "its answer is no sound that we can read");
        CHECK_INT(told.packet_count, rows[i].heard);
        buf_clear(&told.packets);
    }
    clear_voice(&voice);
    llm_rig_free(rig);
}
