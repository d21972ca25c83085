#include "engine/registry.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "model/catalog.h"
#include "test.h"

static int configured, unconfigured;
static const struct stt_ops stt_ops;
static const struct tts_ops tts_ops;
static const struct llm_ops llm_ops;

static bool needs_key(void *env, const struct config *config, const struct engine_info *info,
                      void **out_state)
{
    const char *key = config_engine(config, info->id, "key");
    if (!key)
        return false;
    configured++;
    *out_state = env;
    return true;
}

static void forget(void *state)
{
    unconfigured += state != NULL;
}

static const char *const models[] = {"small", "large"};
static const struct engine_voice voices[] = {{"ann", "Ann", "female", "en hi", "calm"},
                                             {"bob", "Bob", "male", "en", ""}};

#define INFO(kind_, id_, languages_)                                                               \
    .kind = (kind_), .id = (id_), .label = "The " id_, .languages = (languages_)
static const struct engine_adapter adapters[] = {
    {.info = {INFO(ENGINE_STT, "far", "*"), .is_multilingual = true},
     .ops.stt = &stt_ops,
     .configure = needs_key,
     .unconfigure = forget},
    {.info = {INFO(ENGINE_STT, "near", "en")}, .ops.stt = &stt_ops},
    {.info = {INFO(ENGINE_STT, "later", "en hi")}},
    {.info = {INFO(ENGINE_STT, "bench", "*"), .is_internal = true}, .ops.stt = &stt_ops},
    {.info = {INFO(ENGINE_TTS, "mouth", "en hi"), .voices = voices, .voice_count = 2,
              .speed = {0.5, 2}, .emotions = "calm glad"},
     .ops.tts = &tts_ops},
    {.info = {INFO(ENGINE_LLM, "brain", "*"), .models = models, .model_count = 2,
              .temperature = {0, 1}, .max_tokens = {1, 4096}, .cost_usd4 = 100},
     .ops.llm = &llm_ops,
     .configure = needs_key,
     .unconfigure = forget},
};

static enum err make(const char *const (*settings)[3], size_t count, struct registry **out,
                     struct fault *fault)
{
    AUTO(config) config = NULL;
    static char *none[] = {NULL};
    static int env;
    enum err err = config_load(NULL, none, &config, fault);
    for (size_t i = 0; i < count && err == OK; i++)
        err = config_set(config, settings[i][0], settings[i][1], settings[i][2], fault);
    return err ? err : registry_new(config, adapters, ARRAY_LEN(adapters), &env, out, fault);
}

TEST(registry_knows_every_adapter)
{
    AUTO(registry) registry = NULL;
    struct fault fault = {0};
    REQUIRE(make(NULL, 0, &registry, &fault) == OK);
    CHECK(!registry_find(registry, ENGINE_STT, "far")->info.is_enabled);
    CHECK(registry_find(registry, ENGINE_STT, "near")->info.is_enabled);
    CHECK(!registry_find(registry, ENGINE_STT, "later")->info.is_enabled);
    CHECK(!registry_find(registry, ENGINE_STT, "bench")->info.is_enabled);
    CHECK(registry_find(registry, ENGINE_STT, "mouth") == NULL);
    CHECK(registry_find(registry, ENGINE_TTS, "mouth")->ops.tts == &tts_ops);
    CHECK_TEXT(registry_at(registry, ENGINE_STT, 2)->id, "later");
    CHECK(registry_at(registry, ENGINE_STT, 3) == NULL);
    CHECK_TEXT(registry_default(registry, ENGINE_STT)->id, "near");
    CHECK(registry_default(registry, ENGINE_LLM) == NULL);
}

TEST(registry_reads_the_configuration)
{
    static const char *const settings[][3] = {
        {"engine.far", "key", "k"},
        {"engine.brain", "key", "k"},
        {"engine.brain", "model", "large"},
        {"engine.brain", "models", "large, tiny"},
        {"engine.brain", "cost_per_minute", "0.0125"},
        {"engine.near", "default", "true"},
        {"engine.near", "languages", "en,de"},
        {"engine.mouth", "voice", "bob"},
        {"engine.mouth", "label", "Voice"},
        {"engine.bench", "enabled", "true"},
    };
    AUTO(registry) registry = NULL;
    struct fault fault = {0};
    REQUIRE(make(settings, ARRAY_LEN(settings), &registry, &fault) == OK);
    CHECK_TEXT(registry_default(registry, ENGINE_STT)->id, "near");
    CHECK_TEXT(registry_find(registry, ENGINE_STT, "near")->info.languages, "en de");
    CHECK_TEXT(registry_find(registry, ENGINE_TTS, "mouth")->info.voices[0].id, "bob");
    CHECK_TEXT(registry_find(registry, ENGINE_TTS, "mouth")->info.voices[1].id, "ann");
    const struct engine_info *brain = &registry_find(registry, ENGINE_LLM, "brain")->info;
    CHECK_INT(brain->cost_usd4, 125);
    CHECK_INT(brain->model_count, 2);
    CHECK_TEXT(brain->models[0], "large");
    CHECK_TEXT(brain->models[1], "tiny");
    CHECK_TEXT(registry_at(registry, ENGINE_STT, 3)->id, "bench");
    CHECK_INT(configured, 2);
    registry_free(TAKE(registry));
    CHECK_INT(unconfigured, 2);
}

TEST(registry_refuses_what_cannot_be)
{
    static const char *const rows[][1][3] = {{{"engine.far", "enabled", "true"}},
                                             {{"engine.later", "enabled", "true"}},
                                             {{"engine.near", "cost_per_minute", "5000"}}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(registry) registry = NULL;
        struct fault fault = {0};
        CHECK_INT(make(rows[i], 1, &registry, &fault), ERR_INVALID);
        CHECK(strstr(fault.text, rows[i][0][0]) != NULL);
    }
}

TEST(registry_refuses_a_section_that_no_engine_reads)
{
    static const char *const rows[][3] = {{"engine.near", "enabled", "true"},
                                          {"engine.neer", "url", "http://127.0.0.1"}};
    AUTO(registry) registry = NULL;
    struct fault fault = {0};
    CHECK_INT(make(rows, 2, &registry, &fault), ERR_INVALID);
    CHECK_TEXT(fault.text, "there is no engine 'NEER' ([engine.<id>])");
}

TEST(registry_finds_a_fallback_for_the_language)
{
    static const char *const settings[][3] = {{"engine.far", "key", "k"}};
    AUTO(registry) registry = NULL;
    struct fault fault = {0};
    REQUIRE(make(settings, 1, &registry, &fault) == OK);
    CHECK_TEXT(registry_fallback(registry, ENGINE_STT, "en", "far")->id, "near");
    CHECK_TEXT(registry_fallback(registry, ENGINE_STT, "en", "")->id, "far");
    CHECK(registry_fallback(registry, ENGINE_STT, "ta", "far") == NULL);
    CHECK(registry_fallback(registry, ENGINE_TTS, "ta", "") == NULL);
}

TEST(registry_passes_over_an_engine_that_is_left_out)
{
    static const char *const settings[][3] = {{"engine.far", "key", "k"}};
    AUTO(registry) registry = NULL;
    struct fault fault = {0};
    REQUIRE(make(settings, 1, &registry, &fault) == OK);
    struct breaker *far = registry_find(registry, ENGINE_STT, "far")->breaker;
    struct breaker *near = registry_find(registry, ENGINE_STT, "near")->breaker;
    AUTO_BUF names = BUF_INIT(100);
    for (int i = 0; i < BREAKER_CALLS; i++)
        breaker_failed(far, NULL, clock_now_us());
    CHECK_TEXT(registry_fallback(registry, ENGINE_STT, "en", "")->id, "near");
    CHECK_TEXT(registry_fallback(registry, ENGINE_STT, "en", "near")->id, "far"); /* no other */
    CHECK_TEXT(registry_fallback(registry, ENGINE_STT, "ta", "")->id, "far");
    registry_left_out(registry, clock_now_us(), &names);
    CHECK_TEXT(names.data, "far");
    for (int i = 0; i < BREAKER_CALLS; i++)
        breaker_failed(near, NULL, clock_now_us());
    CHECK_TEXT(registry_fallback(registry, ENGINE_STT, "en", "")->id, "far"); /* the default */
    breaker_worked(far);
    CHECK_TEXT(registry_fallback(registry, ENGINE_STT, "en", "")->id, "far");
}

TEST(registry_fills_the_catalog)
{
    static const char *const settings[][3] = {{"engine.brain", "key", "k"}};
    AUTO(registry) registry = NULL;
    AUTO(arena) arena = arena_new(0);
    struct fault fault = {0};
    REQUIRE(make(settings, 1, &registry, &fault) == OK);
    struct catalog catalog = {0};
    catalog_init(&catalog, "en", "", arena);
    registry_catalog(registry, &catalog, arena);
    CHECK_INT(catalog.stt.count, 3);
    CHECK_INT(catalog.tts.count, 1);
    CHECK_INT(catalog.voices.count, 2);
    CHECK_INT(catalog.models.count, 2);
    CHECK(catalog_stt(&catalog, "far")->is_multilingual);
    CHECK_INT(catalog_stt(&catalog, "far")->languages.count, 0);
    CHECK_INT(catalog_tts(&catalog, "mouth")->languages.count, 2);
    CHECK_TEXT(catalog_tts(&catalog, "mouth")->default_speaker, "ann");
    CHECK_INT(catalog_tts(&catalog, "mouth")->emotions.count, 2);
    CHECK_INT(catalog.voices.items[1].gender, VOICE_MALE);
    CHECK_TEXT(catalog_model(&catalog, "brain", "small")->label, "The brain small");
    CHECK(catalog_model(&catalog, "brain", "small")->is_default);
    CHECK_INT(catalog_model(&catalog, "brain", "large")->cost_per_minute_usd4, 100);
}

TEST(engine_errors_have_names)
{
    for (enum engine_error error = 0; error < ENGINE_ERROR_COUNT; error++)
        CHECK(engine_error_name(error)[0] != '\0');
}
