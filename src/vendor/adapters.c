/* The rows of the catalog. A new adapter is a row here and a file beside. The first enabled engine
 * of a kind is its default, so network engines stand before the embedded ones; rows without ops
 * are shown, and cannot be switched on. Facts on languages and ranges: docs/engines.md. */
#include "vendor/chat.h"
#include "vendor/internal.h"
#include "vendor/listen.h"
#include "vendor/utter.h"
#include "vendor/wyoming.h"

#define STT(id_, label_) .kind = ENGINE_STT, .id = (id_), .label = (label_)
#define TTS(id_, label_) .kind = ENGINE_TTS, .id = (id_), .label = (label_)
#define LLM(id_, label_)                                                                           \
    .kind = ENGINE_LLM, .id = (id_), .label = (label_), .languages = "*",                          \
    .max_tokens = {1, 16384}, .standard_temperature = 0.4, .standard_max_tokens = 500
#define MODELS(list) .models = (list), .model_count = ARRAY_LEN(list)
#define VOICES(list) .voices = (list), .voice_count = ARRAY_LEN(list)

#define INDIC "hi ta te kn ml mr gu bn pa"
#define WORLD "es fr de it pt nl pl ru ja ko zh ar tr id"
#define NO_CONTROL                                                                                 \
    {                                                                                              \
        1, 1                                                                                       \
    }

/* All that Cartesia's generation_config takes but one of two words ("joking/comedic"). */
#define CARTESIA_EMOTIONS                                                                          \
    "neutral happy excited enthusiastic elated euphoric triumphant amazed surprised flirtatious "  \
    "curious content peaceful serene calm grateful affectionate trust sympathetic anticipation "   \
    "mysterious angry mad outraged frustrated agitated threatened disgusted contempt envious "     \
    "sarcastic ironic sad dejected melancholic disappointed hurt guilty bored tired rejected "     \
    "nostalgic wistful apologetic hesitant insecure confused resigned anxious panicked alarmed "   \
    "scared proud confident distant skeptical contemplative determined"

/* An engine that is a dialect of one of the socket sessions. */
#define LISTEN(configure_)                                                                         \
    .ops.stt = &listen_ops, .configure = (configure_), .unconfigure = listen_unconfigure
#define UTTER(configure_)                                                                          \
    .ops.tts = &utter_ops, .configure = (configure_), .unconfigure = utter_unconfigure

static const char *const soniox_models[] = {"stt-rt-v5"};
static const char *const deepgram_models[] = {"nova-3"};
static const char *const flux_models[] = {"flux-general-en"};
static const char *const cartesia_models[] = {"sonic-latest"};
static const char *const elevenlabs_models[] = {"eleven_flash_v2_5"};
static const char *const openai_models[] = {"gpt-4.1-mini"};
static const char *const anthropic_models[] = {"claude-haiku-4-5"};
static const char *const openai_live_models[] = {"gpt-live-transcribe"};
static const char *const openai_stt_models[] = {"gpt-transcribe"};
static const char *const openai_tts_models[] = {"gpt-4o-mini-tts"};
static const char *const embed_models[] = {"text-embedding-3-small"};
static const char *const extractive_models[] = {"extractive"};
static const char *const standin_models[] = {"standin"};

static const struct engine_voice openai_voices[] = {
    {"alloy", "Alloy", "neutral", "*", "An even voice."},
    {"ash", "Ash", "male", "*", "A clear, low voice."},
    {"coral", "Coral", "female", "*", "A warm, lively voice."},
    {"echo", "Echo", "male", "*", "A calm voice."},
    {"nova", "Nova", "female", "*", "A bright voice."},
    {"onyx", "Onyx", "male", "*", "A deep voice."},
    {"sage", "Sage", "female", "*", "A soft voice."},
    {"shimmer", "Shimmer", "female", "*", "A clear, high voice."},
};

/* Voices that these vendors give to every account; an operator lists others by `voices`. */
static const struct engine_voice cartesia_voices[] = {
    {"f786b574-daa5-4673-aa0c-cbe3e8534c02", "Katie", "female", "*", "A friendly voice."},
    {"228fca29-3a0a-435c-8728-5cb483251068", "Kiefer", "male", "*", "A steady voice."},
};

static const struct engine_voice elevenlabs_voices[] = {
    {"21m00Tcm4TlvDq8ikWAM", "Rachel", "female", "*", "A calm voice."},
    {"JBFqnCBsd6RMkjVDRZzb", "George", "male", "*", "A warm voice."},
};

static const struct engine_voice flite_voices[] = {
    {"slt", "Sarah", "female", "en", "A clear American voice."},
    {"rms", "Robert", "male", "en", "A calm American voice."},
};

static const struct engine_voice espeak_voices[] = {
    {"standard", "Standard", "male", "en " INDIC " or " WORLD, "The plain voice of the language."},
    {"f2", "Fern", "female", "en " INDIC " or " WORLD, "A higher voice."},
    {"m3", "Miles", "male", "en " INDIC " or " WORLD, "A lower voice."},
};

static const struct engine_voice standin_voices[] = {
    {"hum", "Hum", "neutral", "en " INDIC " or " WORLD, "A hum, for load tests."},
};

const struct engine_adapter vendor_adapters[] = {
    {.info = {STT("soniox", "Soniox"), .languages = "en " INDIC " " WORLD, MODELS(soniox_models),
              .is_multilingual = true},
     LISTEN(soniox_configure)},
    {.info = {STT("deepgram", "Deepgram"), .languages = "en hi ta te bn mr gu kn pa " WORLD,
              MODELS(deepgram_models)},
     LISTEN(deepgram_configure)},
    {.info = {STT("deepgram-flux", "Deepgram Flux"), .languages = "en es fr de hi ru pt ja it nl",
              MODELS(flux_models)},
     LISTEN(flux_configure)},
    {.info = {STT("openai-live", "OpenAI realtime transcription"), .languages = "*",
              MODELS(openai_live_models)},
     LISTEN(openai_live_configure)},
    {.info = {STT("openai-stt", "OpenAI-compatible transcription"), .languages = "*",
              MODELS(openai_stt_models)},
     .ops.stt = &openai_stt_ops,
     .configure = openai_stt_configure,
     .unconfigure = openai_stt_unconfigure},
    {.info = {STT("wyoming-stt", "Wyoming recogniser"), .languages = "*"},
     .ops.stt = &wyoming_stt_ops,
     .configure = wyoming_configure,
     .unconfigure = wyoming_unconfigure},
    {.info = {STT("pocketsphinx", "PocketSphinx (embedded)"), .languages = "en",
              .is_embedded = true},
     .ops.stt = &pocketsphinx_ops,
     .configure = voice_configure},
    {.info = {STT("standin-stt", "Stand-in"), .languages = "*", .is_internal = true},
     .ops.stt = &standin_stt_ops,
     .configure = standin_configure,
     .unconfigure = standin_unconfigure},

    {.info = {TTS("cartesia", "Cartesia"), .languages = "en " INDIC " or " WORLD,
              MODELS(cartesia_models), VOICES(cartesia_voices), .is_multilingual = true,
              .speed = {0.6, 1.5}, .volume = {0.5, 2}, .emotions = CARTESIA_EMOTIONS},
     UTTER(cartesia_configure)},
    {.info = {TTS("elevenlabs", "ElevenLabs"), .languages = "en hi ta " WORLD,
              MODELS(elevenlabs_models), VOICES(elevenlabs_voices), .speed = {0.7, 1.2},
              .volume = NO_CONTROL},
     UTTER(elevenlabs_configure)},
    {.info = {TTS("openai-tts", "OpenAI-compatible speech"), .languages = "*",
              MODELS(openai_tts_models), VOICES(openai_voices), .speed = {0.25, 4},
              .volume = NO_CONTROL},
     .ops.tts = &openai_tts_ops,
     .configure = openai_tts_configure,
     .unconfigure = openai_tts_unconfigure},
    {.info = {TTS("wyoming-tts", "Wyoming voice"), .languages = "*", .speed = NO_CONTROL,
              .volume = NO_CONTROL},
     .ops.tts = &wyoming_tts_ops,
     .configure = wyoming_configure,
     .unconfigure = wyoming_unconfigure},
    {.info = {TTS("flite", "Flite (embedded)"), .languages = "en", VOICES(flite_voices),
              .speed = {0.5, 2}, .volume = {0.5, 2}},
     .ops.tts = &flite_ops,
     .configure = voice_configure},
    {.info = {TTS("espeak", "eSpeak NG (embedded)"), .languages = "en " INDIC " or " WORLD,
              VOICES(espeak_voices), .speed = {0.46, 2}, .volume = {0.5, 2}},
     .ops.tts = &espeak_ops,
     .configure = voice_configure},
    {.info = {TTS("standin-tts", "Stand-in"), .languages = "*", VOICES(standin_voices),
              .speed = NO_CONTROL, .volume = NO_CONTROL, .is_internal = true},
     .ops.tts = &standin_tts_ops,
     .configure = standin_configure,
     .unconfigure = standin_unconfigure},

    {.info = {LLM("openai", "OpenAI-compatible"), MODELS(openai_models), .temperature = {0, 2},
              .context_tokens = 128000},
     .ops.llm = &chat_ops,
     .configure = openai_configure,
     .unconfigure = chat_engine_free},
    {.info = {LLM("anthropic", "Anthropic"), MODELS(anthropic_models), .temperature = {0, 1},
              .context_tokens = 200000},
     .ops.llm = &chat_ops,
     .configure = anthropic_configure,
     .unconfigure = chat_engine_free},
    {.info = {LLM("extractive", "Answers from documents (embedded)"), MODELS(extractive_models),
              .temperature = {0, 2}, .context_tokens = 128000},
     .ops.llm = &extractive_ops},
    {.info = {LLM("standin-llm", "Stand-in"), MODELS(standin_models), .temperature = {0, 2},
              .context_tokens = 128000, .is_internal = true},
     .ops.llm = &standin_llm_ops,
     .configure = standin_configure,
     .unconfigure = standin_unconfigure},

    {.info = {.kind = ENGINE_EMBED,
              .id = "openai-embeddings",
              .label = "OpenAI-compatible embeddings",
              .languages = "*",
              MODELS(embed_models)},
     .ops.embed = &openai_embed_ops,
     .configure = openai_embed_configure,
     .unconfigure = openai_embed_unconfigure},
};
const size_t vendor_adapter_count = ARRAY_LEN(vendor_adapters);
