#include "call/engines.h"

#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/mem.h"
#include "call/plan.h"
#include "engine/breaker.h"
#include "model/agent.h"
#include "model/call.h"
#include "test.h"

/* Sessions that remember how they were opened and closed. */
static char opened[256];
static int open_count, close_count;
static tts_event_fn *tell_tts; /* of the voice that was opened last */
static void *tts_arg;

static void note(const struct engine *engine, const char *how)
{
    size_t len = strlen(opened);
    snprintf(opened + len, sizeof(opened) - len, "%s(%s) ", engine->info.id, how);
    open_count++;
}

static void stt_close(struct stt *stt)
{
    close_count++;
    mem_free(stt);
}

static const struct stt_ops stt_ops;
static struct stt *stt_open(const struct engine *engine, struct loop *loop,
                            const struct stt_config *config, stt_event_fn *on_event, void *arg)
{
    (void)loop, (void)on_event, (void)arg;
    char how[64];
    size_t len = (size_t)snprintf(how, sizeof(how), "%s", config->language);
    for (size_t i = 0; i < config->hint_count; i++)
        len += (size_t)snprintf(how + len, sizeof(how) - len, "+%s", config->hints[i]);
    note(engine, how);
    struct stt *stt = mem_new(struct stt);
    stt->ops = &stt_ops;
    return stt;
}
static const struct stt_ops stt_ops = {.open = stt_open, .close = stt_close};

static void tts_close(struct tts *tts)
{
    close_count++;
    mem_free(tts);
}

static const struct tts_ops tts_ops;
static struct tts *tts_open(const struct engine *engine, struct loop *loop,
                            const struct tts_config *config, tts_event_fn *on_event, void *arg)
{
    (void)loop;
    char how[64];
    tell_tts = on_event;
    tts_arg = arg;
    snprintf(how, sizeof(how), "%s,%s", config->language, config->speaker);
    note(engine, how);
    struct tts *tts = mem_new(struct tts);
    tts->ops = &tts_ops;
    return tts;
}
static const struct tts_ops tts_ops = {.open = tts_open, .close = tts_close};

static void llm_close(struct llm *llm)
{
    close_count++;
    mem_free(llm);
}

static const struct llm_ops llm_ops;
static struct llm *llm_open(const struct engine *engine, const struct llm_config *config,
                            struct loop *loop, llm_event_fn *on_event, void *arg)
{
    (void)loop, (void)on_event, (void)arg;
    note(engine, config->model);
    struct llm *llm = mem_new(struct llm);
    llm->ops = &llm_ops;
    return llm;
}
static const struct llm_ops llm_ops = {.open = llm_open, .close = llm_close};

#define ROW(kind_, id_, languages_)                                                                \
    .kind = (kind_), .id = (id_), .label = (id_), .languages = (languages_)
static const struct engine_voice voices[] = {{"anna", "Anna", "female", "en de", ""}};
static const struct engine_adapter adapters[] = {
    {.info = {ROW(ENGINE_STT, "ears", "en hi de")}, .ops.stt = &stt_ops},
    {.info = {ROW(ENGINE_STT, "more-ears", "en hi de ta")}, .ops.stt = &stt_ops},
    {.info = {ROW(ENGINE_TTS, "throat", "en de pa or"), .voices = voices, .voice_count = 1},
     .ops.tts = &tts_ops},
    {.info = {ROW(ENGINE_TTS, "more-throat", "en hi de ta")}, .ops.tts = &tts_ops},
    {.info = {ROW(ENGINE_LLM, "mind", "*")}, .ops.llm = &llm_ops},
};

struct scene {
    struct config *config;
    struct registry *registry;
    struct agent agent;
    struct call row;
    struct call_plan plan;
    struct engines engines;
    struct fault fault;
};

static void begin(struct scene *scene, const char *own, const char *language)
{
    static char *none[] = {NULL};
    *scene = (struct scene){0};
    opened[0] = '\0';
    open_count = close_count = 0;
    REQUIRE(config_load(NULL, none, &scene->config, &scene->fault) == OK);
    REQUIRE(registry_new(scene->config, adapters, ARRAY_LEN(adapters), NULL, &scene->registry,
                         &scene->fault) == OK);
    field_defaults(&agent_table, &scene->agent);
    scene->agent.stt.provider = "ears";
    scene->agent.stt.language = own;
    scene->agent.voice.provider = "throat";
    scene->agent.voice.speaker = "anna";
    scene->agent.llm.provider = "mind";
    scene->agent.llm.model = "large";
    scene->row.user_id = "usr_1";
    scene->plan = (struct call_plan){.row = &scene->row,
                                     .agent = &scene->agent,
                                     .language = language,
                                     .is_language_sent = strcmp(own, language) != 0};
}

static enum err choose(struct scene *scene)
{
    return engines_choose(&scene->engines, scene->registry, &scene->plan, &scene->fault);
}

static void open_all(struct scene *scene)
{
    for (int kind = 0; kind < ENGINE_CALL_KINDS; kind++)
        engines_open(&scene->engines, (enum engine_kind)kind, false);
}

static void end(struct scene *scene)
{
    engines_close(&scene->engines);
    CHECK_INT(close_count, open_count); /* each session was closed once */
    registry_free(scene->registry);
    config_free(scene->config);
}

TEST(engines_are_those_that_the_agent_names)
{
    struct scene scene;
    begin(&scene, "en", "en");
    REQUIRE(choose(&scene) == OK);
    open_all(&scene);
    CHECK_TEXT(opened, "ears(en) throat(en,anna) mind(large) ");
    CHECK(engines_has_more(&scene.engines, ENGINE_STT));
    CHECK(!engines_has_more(&scene.engines, ENGINE_LLM));
    end(&scene);
}

TEST(engines_that_do_not_know_the_language_are_replaced_from_the_start)
{
    struct scene scene;
    begin(&scene, "en", "ta");
    REQUIRE(choose(&scene) == OK);
    open_all(&scene);
    /* It listens for the call's language, the agent's and English; a speaker of another voice says
     * nothing. */
    CHECK_TEXT(opened, "more-ears(ta+en) more-throat(ta,) mind(large) ");
    CHECK(scene.engines.choice[ENGINE_STT].is_replaced);
    CHECK(!scene.engines.choice[ENGINE_LLM].is_replaced);
    end(&scene);
}

TEST(a_call_in_another_language_keeps_the_voice)
{
    struct scene scene;
    begin(&scene, "de", "en");
    REQUIRE(choose(&scene) == OK);
    open_all(&scene);
    CHECK_TEXT(opened, "ears(en+de) throat(en,anna) mind(large) ");
    end(&scene);
}

TEST(punjabi_and_odia_are_heard_with_hindi_and_english)
{
    static const char *const languages[] = {"pa", "or"};
    for (size_t i = 0; i < ARRAY_LEN(languages); i++) {
        struct scene scene;
        begin(&scene, "en", languages[i]);
        REQUIRE(choose(&scene) == OK);
        open_all(&scene);
        AUTO_MEM char *want = mem_printf("ears(hi+en) throat(%s,anna) mind(large) ", languages[i]);
        CHECK_TEXT(opened, want);
        end(&scene);
    }
}

TEST(engines_that_nobody_can_replace_refuse_the_call)
{
    struct scene scene;
    begin(&scene, "en", "ja");
    CHECK_INT(choose(&scene), ERR_UNSUPPORTED);
    CHECK(strstr(scene.fault.text, "ja") != NULL);
    end(&scene);
}

TEST(engines_fall_back_once_each_and_no_further)
{
    struct scene scene;
    begin(&scene, "de", "de");
    REQUIRE(choose(&scene) == OK);
    open_all(&scene);
    opened[0] = '\0';
    engines_open(&scene.engines, ENGINE_TTS, true);
    CHECK_TEXT(opened, "more-throat(de,) ");
    CHECK(!engines_has_more(&scene.engines, ENGINE_TTS));
    engines_open(&scene.engines, ENGINE_TTS, true); /* there is none: the same again */
    CHECK_TEXT(opened, "more-throat(de,) more-throat(de,) ");
    end(&scene);
}

static void hear_nothing(void *arg, const struct tts_event *event)
{
    (void)arg, (void)event;
}

/* How many calls the breaker of a voice counts after one whose voice was replaced. */
static unsigned failures_after(enum engine_error told)
{
    struct scene scene;
    begin(&scene, "en", "en");
    CHECK_INT(choose(&scene), OK);
    scene.engines.on_tts = hear_nothing;
    open_all(&scene);
    if (told != ENGINE_OK)
        tell_tts(tts_arg, &(struct tts_event){.kind = TTS_ERROR, .error = told, .message = ""});
    engines_open(&scene.engines, ENGINE_TTS, true);
    unsigned failures = registry_find(scene.registry, ENGINE_TTS, "throat")->breaker->failures;
    end(&scene);
    return failures;
}

TEST(engines_do_not_count_what_a_tenant_may_bring_about)
{
    CHECK_INT(failures_after(ENGINE_BAD_REQUEST), 0); /* a speaker that the vendor does not know */
    CHECK_INT(failures_after(ENGINE_CROWDED), 0);
    CHECK_INT(failures_after(ENGINE_INTERRUPTED), 0);
    CHECK_INT(failures_after(ENGINE_AUTH), 1);
    CHECK_INT(failures_after(ENGINE_OK), 1); /* silent for too long: nothing was told */
}

/* A call whose voice refuses it; which voice would the next call begin with? */
static const char *voice_after_refusals(const char *speaker, const char *next_workspace,
                                        const char *next_speaker)
{
    struct scene scene;
    begin(&scene, "en", "en");
    scene.agent.voice.speaker = speaker;
    for (int i = 0; i < BREAKER_CALLS; i++) {
        scene.engines = (struct engines){.on_tts = hear_nothing};
        CHECK_INT(choose(&scene), OK);
        open_all(&scene);
        tell_tts(tts_arg,
                 &(struct tts_event){.kind = TTS_ERROR, .error = ENGINE_AUTH, .message = ""});
        engines_close(&scene.engines);
    }
    scene.engines = (struct engines){0};
    scene.row.user_id = next_workspace;
    scene.agent.voice.speaker = next_speaker;
    CHECK_INT(choose(&scene), OK);
    const char *id = scene.engines.choice[ENGINE_TTS].info->id;
    end(&scene);
    return id;
}

TEST(engines_stay_in_use_for_others_when_one_workspace_names_a_speaker_that_is_refused)
{
    static const struct {
        const char *speaker, *next_workspace, *next_speaker, *voice;
    } cases[] = {
        {"stolen", "usr_2", "anna", "throat"},      {"stolen", "usr_2", "stolen", "throat"},
        {"stolen", "usr_1", "anna", "throat"},      {"stolen", "usr_1", "stolen", "more-throat"},
        {"anna", "usr_2", "anna", "more-throat"},   {"", "usr_2", "", "more-throat"},
        {"anna", "usr_1", "stolen", "more-throat"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_TEXT(
            voice_after_refusals(cases[i].speaker, cases[i].next_workspace, cases[i].next_speaker),
            cases[i].voice);
}

/* Each time the agent's own voice where it knows the language, and nothing counts as a failure. */
TEST(engines_change_the_language_there_and_back)
{
    struct scene scene;
    begin(&scene, "en", "en");
    REQUIRE(choose(&scene) == OK);
    open_all(&scene);
    for (int i = 0; i < 3; i++) {
        opened[0] = '\0';
        engines_change_language(&scene.engines, "hi");
        CHECK_TEXT(opened, "ears(hi+en) more-throat(hi,) ");
        opened[0] = '\0';
        engines_change_language(&scene.engines, "en");
        CHECK_TEXT(opened, "ears(en+hi) throat(en,anna) ");
    }
    CHECK(engines_has_more(&scene.engines, ENGINE_TTS));
    engines_open(&scene.engines, ENGINE_TTS, true); /* it fails: it is not gone back to */
    engines_change_language(&scene.engines, "hi");
    opened[0] = '\0';
    engines_change_language(&scene.engines, "en");
    CHECK_TEXT(opened, "ears(en+hi) more-throat(en,) ");
    end(&scene);
}

TEST(engines_change_the_language_and_keep_the_one_before_as_a_hint)
{
    struct scene scene;
    begin(&scene, "en", "en");
    REQUIRE(choose(&scene) == OK);
    open_all(&scene);
    CHECK(engines_can_change_language(&scene.engines));
    opened[0] = '\0';
    engines_change_language(&scene.engines, "hi");
    CHECK_TEXT(opened, "ears(hi+en) more-throat(hi,) "); /* the first voice has no Hindi */
    end(&scene);
}
