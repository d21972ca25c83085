/* Voices of Wyoming servers (Piper and others): a sentence is a `synthesize`, answered by
 * audio-start, chunks and audio-stop. Stopping closes the connection; the next sentence opens
 * another. Thread: the call's loop. */
#include <string.h>

#include "base/js.h"
#include "base/mem.h"
#include "vendor/internal.h"
#include "vendor/speaker.h"
#include "vendor/wyoming.h"

enum { BODY_MAX_BYTES = 256 * 1024, RATE_STANDARD_HZ = 22050 };

struct wyoming_voice {
    struct speaker *speaker;
    struct wyoming *connection; /* NULL: none */
    uint32_t id;                /* under way; 0: none */
};

static void fail(struct wyoming_voice *voice, enum engine_error error, const char *message)
{
    uint32_t id = voice->id;
    voice->id = 0;
    if (id)
        speaker_failed(voice->speaker, id, error, message, false);
}

static void begin_sound(struct wyoming_voice *voice, const struct js *data)
{
    int64_t rate_hz = js_int(js_get(data, "rate"), RATE_STANDARD_HZ);
    if (rate_hz < 8000 || rate_hz > 96000 || js_int(js_get(data, "width"), 2) != 2 ||
        js_int(js_get(data, "channels"), 1) != 1)
        fail(voice, ENGINE_PROTOCOL, "its sound is not 16-bit mono");
    else
        speaker_rate(voice->speaker, (int)rate_hz);
}

static void end_sound(struct wyoming_voice *voice)
{
    uint32_t id = voice->id;
    voice->id = 0;
    speaker_done(voice->speaker, id);
}

static void on_error(struct wyoming_voice *voice, const struct wyoming_event *event)
{
    char message[ASK_MESSAGE_SIZE];
    wyoming_error(voice->speaker->engine->state, event, message);
    fail(voice, ENGINE_TRANSIENT, message);
}

static void on_event(void *arg, const struct wyoming_event *event)
{
    struct wyoming_voice *voice = arg;
    if (voice->id == 0)
        return;
    if (strcmp(event->type, "audio-start") == 0)
        begin_sound(voice, event->data);
    else if (strcmp(event->type, "audio-chunk") == 0)
        speaker_sound(voice->speaker, voice->id, event->payload, event->payload_len);
    else if (strcmp(event->type, "audio-stop") == 0)
        end_sound(voice);
    else if (strcmp(event->type, "error") == 0)
        on_error(voice, event);
}

static void on_ended(void *arg, enum engine_error error, const char *message)
{
    struct wyoming_voice *voice = arg;
    wyoming_close(TAKE(voice->connection));
    fail(voice, error, message);
}

static void connect_voice(struct wyoming_voice *voice)
{
    static const struct wyoming_fns fns = {on_event, on_ended};
    voice->connection =
        wyoming_open(voice->speaker->engine->state, voice->speaker->loop, &fns, voice);
}

static void *open_voice(struct speaker *speaker)
{
    struct wyoming_voice *voice = mem_new(struct wyoming_voice);
    voice->speaker = speaker;
    connect_voice(voice);
    return voice;
}

static void say(void *wire, uint32_t id, const char *text)
{
    struct wyoming_voice *voice = wire;
    const char *name = speaker_voice(voice->speaker);
    AUTO_BUF data = BUF_INIT(BODY_MAX_BYTES);
    struct js_out out;
    voice->id = id;
    if (!voice->connection)
        connect_voice(voice);
    js_out_init(&out, &data);
    js_out_object(&out);
    js_out_key(&out, "text");
    js_out_text(&out, text);
    js_out_key(&out, "voice");
    js_out_object(&out);
    js_out_key(&out, *name ? "name" : "language");
    js_out_text(&out, *name ? name : voice->speaker->config.language);
    js_out_object_end(&out);
    js_out_object_end(&out);
    wyoming_send(voice->connection, "synthesize", data.data, NULL, 0);
}

static void stop(void *wire, uint32_t id)
{
    struct wyoming_voice *voice = wire;
    if (voice->id != id)
        return;
    voice->id = 0;
    wyoming_close(TAKE(voice->connection));
}

static void close_voice(void *wire)
{
    struct wyoming_voice *voice = wire;
    wyoming_close(TAKE(voice->connection));
    loop_defer(voice->speaker->loop, mem_free, voice);
}

static struct tts *open_tts(const struct engine *engine, struct loop *loop,
                            const struct tts_config *config, tts_event_fn *on_tts, void *arg)
{
    static const struct speaker_wire wire = {open_voice, say, stop, close_voice, RATE_STANDARD_HZ};
    return speaker_open(engine, loop, config, on_tts, arg, &wire);
}

const struct tts_ops wyoming_tts_ops = {open_tts, speaker_speak, speaker_cancel, speaker_close};
