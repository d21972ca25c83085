/* Voices by POST {url}/audio/speech, as OpenAI, Kokoro, Piper's bridges, speaches and others serve
 * it: a request a sentence, its sound streamed, one at a time in the order of speaking. WAV is
 * asked for, since its head tells the rate; Opus where the settings say so and it need not be
 * decoded. Stopping closes the connection. Wire facts:
 * docs/engines.md. Thread: the call's loop. */
#include <stdlib.h>
#include <string.h>

#include "base/js.h"
#include "base/mem.h"
#include "engine/registry.h"
#include "vendor/account.h"
#include "vendor/ask.h"
#include "vendor/internal.h"
#include "vendor/speaker.h"

enum {
    STALL_MS = 5000,
    TOTAL_MS = 60000,
    BODY_MAX_BYTES = 256 * 1024,
    ANSWER_MAX_BYTES = 64 * 1024 * 1024, /* ten minutes at 48 kHz */
    RATE_STANDARD_HZ = 24000,
};

struct openai_tts_engine {
    struct account account;
    char *authorization; /* NULL: no key */
    char *format;
    int rate_hz;
};

struct openai_voice {
    struct speaker *speaker;
    const struct openai_tts_engine *engine;
    const char *format;
    struct ask ask;
    const char *headers[3];
    uint32_t id;
};

static int on_data(void *arg, const char *data, size_t len)
{
    struct openai_voice *voice = arg;
    speaker_sound(voice->speaker, voice->id, data, len);
    return 0;
}

static void on_done(void *arg, const struct ask_answer *answer)
{
    struct openai_voice *voice = arg;
    if (answer->error == ENGINE_OK)
        speaker_done(voice->speaker, voice->id);
    else
        speaker_failed(voice->speaker, voice->id, answer->error, answer->message, false);
}

static const char *format_of(const struct speaker *speaker, const char *format)
{
    return strcmp(format, "opus") == 0 && !speaker_wants_opus(speaker) ? "wav" : format;
}

static void *open_voice(struct speaker *speaker)
{
    static const struct ask_fns fns = {on_data, on_done};
    struct openai_voice *voice = mem_new(struct openai_voice);
    voice->speaker = speaker;
    voice->engine = speaker->engine->state;
    if (voice->engine->authorization) {
        voice->headers[0] = "Authorization";
        voice->headers[1] = voice->engine->authorization;
    }
    speaker_rate(speaker, voice->engine->rate_hz);
    voice->format = format_of(speaker, voice->engine->format);
    speaker->sound.is_file = strcmp(voice->format, "pcm") != 0;
    ask_init(&voice->ask, &voice->engine->account, speaker->loop, speaker->config.workspace, &fns,
             voice);
    if (speaker->config.is_ahead)
        ask_warm(&voice->ask, voice->headers);
    return voice;
}

static void write_body(const struct openai_voice *voice, const char *text, struct buf *out)
{
    const struct speaker *speaker = voice->speaker;
    struct js_out writer;
    js_out_init(&writer, out);
    js_out_object(&writer);
    js_out_key(&writer, "model");
    js_out_text(&writer, speaker_model(speaker));
    js_out_key(&writer, "input");
    js_out_text(&writer, text);
    js_out_key(&writer, "voice");
    js_out_text(&writer, speaker_voice(speaker));
    js_out_key(&writer, "response_format");
    js_out_text(&writer, voice->format);
    js_out_key(&writer, "speed");
    js_out_real(&writer, speaker_speed(speaker));
    js_out_object_end(&writer);
}

static void say(void *wire, uint32_t id, const char *text)
{
    struct openai_voice *voice = wire;
    const struct ask_request request = {.path = "/audio/speech",
                                        .headers = voice->headers,
                                        .content_type = "application/json",
                                        .max_answer_bytes = ANSWER_MAX_BYTES,
                                        .stall_ms = STALL_MS,
                                        .total_ms = TOTAL_MS};
    AUTO_BUF body = BUF_INIT(BODY_MAX_BYTES);
    voice->id = id;
    write_body(voice, text, &body);
    ask_send(&voice->ask, &request, &body);
}

static void stop(void *wire, uint32_t id)
{
    struct openai_voice *voice = wire;
    (void)id;
    if (ask_cancel(&voice->ask) && voice->speaker->config.is_ahead && !voice->speaker->is_closed)
        ask_warm(&voice->ask, voice->headers);
}

static void free_voice(void *arg)
{
    struct openai_voice *voice = arg;
    ask_clear(&voice->ask);
    mem_free(voice);
}

static void close_voice(void *wire)
{
    struct openai_voice *voice = wire;
    (void)ask_cancel(&voice->ask);
    loop_defer(voice->speaker->loop, free_voice, voice);
}

static struct tts *open_tts(const struct engine *engine, struct loop *loop,
                            const struct tts_config *config, tts_event_fn *on_event, void *arg)
{
    static const struct speaker_wire wire = {
        .open = open_voice, .say = say, .stop = stop, .close = close_voice};
    return speaker_open(engine, loop, config, on_event, arg, &wire);
}

const struct tts_ops openai_tts_ops = {open_tts, speaker_speak, speaker_cancel, speaker_close};

bool openai_tts_configure(void *env, const struct config *config, const struct engine_info *info,
                          void **out_state)
{
    static const struct account_plan plan = {"https://api.openai.com/v1", ACCOUNT_NEEDS_KEY_OR_URL};
    struct openai_tts_engine *engine = mem_new(struct openai_tts_engine);
    if (!account_read(&engine->account, env, config, info, &plan)) {
        mem_free(engine);
        return false;
    }
    AUTO_MEM char *rate = account_option(config, info, "sample_rate");
    AUTO_MEM char *format = account_option(config, info, "format");
    long rate_hz = strtol(rate, NULL, 10);
    engine->format = mem_strdup(*format ? format : "wav");
    engine->rate_hz = rate_hz >= 8000 && rate_hz <= 96000 ? (int)rate_hz : RATE_STANDARD_HZ;
    if (engine->account.key)
        engine->authorization = mem_printf("Bearer %s", engine->account.key);
    *out_state = engine;
    return true;
}

void openai_tts_unconfigure(void *state)
{
    struct openai_tts_engine *engine = state;
    account_clear(&engine->account);
    mem_free(engine->authorization);
    mem_free(engine->format);
    mem_free(engine);
}
