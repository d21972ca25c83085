#include "base/attr.h"
#include "base/loop.h"
#include "base/mem.h"
#include "rig.h"
#include "test.h"

static const char *const settings[] = {
    "engine.standin-stt.enabled=true",     "engine.standin-stt.delay_ms=100",
    "engine.standin-stt.text=Is it open?", "engine.standin-tts.enabled=true",
    "engine.standin-tts.delay_ms=50",      "engine.standin-tts.format=opus",
};

struct seen {
    struct loop *loop;
    char order[64]; /* r p f F : ready, partial, final, flushed; a d: audio, done */
    char text[64];
    size_t samples, packets;
    uint32_t gen;
    int64_t first_us, last_us;
};

static void note(struct seen *seen, char what)
{
    size_t len = strlen(seen->order);
    if (len + 1 < sizeof(seen->order) && (len == 0 || seen->order[len - 1] != what))
        seen->order[len] = what;
    seen->first_us = seen->first_us ? seen->first_us : loop_now_us(seen->loop);
    seen->last_us = loop_now_us(seen->loop);
}

static void on_stt(void *arg, const struct stt_event *event)
{
    struct seen *seen = arg;
    note(seen, "rpfeFx"[event->kind]);
    if (event->text)
        memcpy(seen->text, event->text, strlen(event->text) + 1);
    seen->gen = event->gen;
}

static void on_tts(void *arg, const struct tts_event *event)
{
    struct seen *seen = arg;
    note(seen, "adx"[event->kind]);
    seen->samples += event->count;
    seen->packets += event->packet != NULL;
    seen->gen = event->gen;
}

struct stand {
    struct loop *loop;
    struct vendor *vendor;
    struct registry *registry;
    struct seen seen;
};

static struct stand stand_new(void)
{
    struct stand stand = {.loop = loop_new("stand")};
    stand.vendor = vendor_new(&(struct vendor_config){.voice_path = "/nowhere"});
    stand.registry = rig_registry(stand.vendor, settings, ARRAY_LEN(settings));
    stand.seen.loop = stand.loop;
    return stand;
}

static void stand_clear(struct stand *stand)
{
    registry_free(stand->registry);
    vendor_free(stand->vendor);
    loop_free(stand->loop);
}

TEST(standin_hears_its_text_in_any_voice)
{
    struct stand stand = stand_new();
    const struct engine *engine = registry_find(stand.registry, ENGINE_STT, "standin-stt");
    struct stt_config config = {.language = "en"};
    struct stt *stt = engine->ops.stt->open(engine, stand.loop, &config, on_stt, &stand.seen);
    static int16_t voice[8000];
    stt->ops->push(stt, voice, 8000);
    loop_run_for(stand.loop, 10000);
    CHECK_TEXT(stand.seen.order, "r"); /* nothing in silence */
    for (size_t i = 0; i < ARRAY_LEN(voice); i++)
        voice[i] = i % 2 ? 1000 : -1000;
    stt->ops->push(stt, voice, 8000);
    loop_run_for(stand.loop, 10000);
    CHECK_TEXT(stand.seen.order, "rp");
    int64_t asked_us = loop_now_us(stand.loop);
    stt->ops->flush(stt, 3);
    loop_run_for(stand.loop, 300000);
    CHECK_TEXT(stand.seen.order, "rpfF");
    CHECK_TEXT(stand.seen.text, "Is it open?");
    CHECK_INT(stand.seen.gen, 3);
    CHECK(stand.seen.last_us - asked_us >= 95000 && stand.seen.last_us - asked_us < 150000);
    stt->ops->flush(stt, 4); /* nothing was said */
    loop_run_for(stand.loop, 300000);
    CHECK_TEXT(stand.seen.order, "rpfF");
    CHECK_INT(stand.seen.gen, 4);
    stt->ops->close(stt);
    stand_clear(&stand);
}

TEST(standin_hums_for_each_character)
{
    struct stand stand = stand_new();
    const struct engine *engine = registry_find(stand.registry, ENGINE_TTS, "standin-tts");
    struct tts_config config = {.language = "en", .speaker = "", .speed = 1, .volume = 1};
    struct tts *tts = engine->ops.tts->open(engine, stand.loop, &config, on_tts, &stand.seen);
    int64_t asked_us = loop_now_us(stand.loop);
    tts->ops->speak(tts, 1, "sixteen letters.", false);
    tts->ops->speak(tts, 2, "नमस्ते", true);
    loop_run_for(stand.loop, 1000000);
    CHECK_TEXT(stand.seen.order, "adad");
    CHECK_INT(stand.seen.samples, 48000 + 6 * 3000);
    CHECK_INT(stand.seen.gen, 2);
    CHECK(stand.seen.first_us - asked_us >= 45000 && stand.seen.first_us - asked_us < 100000);
    tts->ops->speak(tts, 3, "a long line that is cut", true);
    tts->ops->cancel(tts);
    size_t before = stand.seen.samples;
    loop_run_for(stand.loop, 200000);
    CHECK_INT(stand.seen.samples, before);
    tts->ops->close(tts);
    stand_clear(&stand);
}

TEST(standin_model_streams_its_text_after_the_delay)
{
    struct llm_rig *rig = llm_rig_new("standin-llm");
    struct llm_request request = {.language = "en"};
    int64_t asked_us = loop_now_us(rig->loop);
    const char *text = llm_rig_ask(rig, &request);
    CHECK(strncmp(text, "We are open from nine to five", 20) == 0);
    CHECK(rig->is_done && rig->events > 4);
    CHECK(loop_now_us(rig->loop) - asked_us >= 145000);
    llm_rig_free(rig);
}

TEST(adapters_without_their_program_or_key_are_off)
{
    struct stand stand = stand_new();
    static const char *const off[] = {"pocketsphinx", "soniox", "deepgram", "openai-stt"};
    for (size_t i = 0; i < ARRAY_LEN(off); i++)
        CHECK(!registry_find(stand.registry, ENGINE_STT, off[i])->info.is_enabled);
    CHECK(!registry_find(stand.registry, ENGINE_TTS, "flite")->info.is_enabled);
    CHECK(!registry_find(stand.registry, ENGINE_TTS, "espeak")->info.is_enabled);
    CHECK(!registry_find(stand.registry, ENGINE_LLM, "openai")->info.is_enabled);
    CHECK(registry_find(stand.registry, ENGINE_LLM, "extractive")->info.is_enabled);
    CHECK_TEXT(registry_default(stand.registry, ENGINE_LLM)->id, "extractive");
    stand_clear(&stand);
}

TEST(standin_speaks_in_packets_to_whom_takes_them)
{
    struct stand stand = stand_new();
    const struct engine *engine = registry_find(stand.registry, ENGINE_TTS, "standin-tts");
    struct tts_config config = {.language = "en", .volume = 1, .takes_opus = true};
    struct tts *tts = engine->ops.tts->open(engine, stand.loop, &config, on_tts, &stand.seen);
    tts->ops->speak(tts, 1, "Hello, hello there!", false); /* 19 characters, 59.4 packets */
    tts->ops->speak(tts, 2, "Yes.", true);
    loop_run_for(stand.loop, 5000000);
    CHECK_TEXT(stand.seen.order, "adad");
    CHECK_INT(stand.seen.packets, 60 + 13);
    CHECK_INT(stand.seen.samples, (60 + 13) * 960);
    CHECK_INT(stand.seen.gen, 2);
    tts->ops->speak(tts, 3, "Hello, hello there!", false);
    loop_run_for(stand.loop, 100000);
    tts->ops->cancel(tts);
    size_t packets = stand.seen.packets;
    loop_run_for(stand.loop, 1000000);
    CHECK_INT(stand.seen.packets, packets);
    tts->ops->close(tts);
    stand_clear(&stand);
}
