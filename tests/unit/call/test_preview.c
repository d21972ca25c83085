/* Voices without a call: one for each workspace, a few for all, each with an end. */
#include "call/preview.h"

#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "engine/registry.h"
#include "engine/tts.h"
#include "test.h"

/* An engine whose sessions the test leads. */
enum { SESSIONS_MAX = 16, CHUNK = 4800 };

struct session {
    struct tts base;
    tts_event_fn *on_event;
    void *arg;
    char how[80];
    bool is_closed;
};
static struct session sessions[SESSIONS_MAX];
static size_t session_count;
static const struct tts_ops ops;

static struct tts *voice_open(const struct engine *engine, struct loop *loop,
                              const struct tts_config *config, tts_event_fn *on_event, void *arg)
{
    (void)engine, (void)loop;
    struct session *session = &sessions[session_count++];
    *session = (struct session){.base.ops = &ops, .on_event = on_event, .arg = arg};
    snprintf(session->how, sizeof(session->how), "%s %s %s %g %g", config->workspace,
             config->language, config->speaker, config->speed, config->volume);
    return &session->base;
}

static void voice_speak(struct tts *base, uint32_t gen, const char *text, bool is_last)
{
    struct session *session = (struct session *)base;
    size_t len = strlen(session->how);
    snprintf(session->how + len, sizeof(session->how) - len, " %u %s %d", gen, text, is_last);
}

static void voice_close(struct tts *base)
{
    ((struct session *)base)->is_closed = true;
}
static const struct tts_ops ops = {.open = voice_open, .speak = voice_speak, .close = voice_close};
static const struct engine engine = {.info = {.kind = ENGINE_TTS, .id = "a"}, .ops.tts = &ops};

static void sound(size_t index, int chunks)
{
    static const int16_t samples[CHUNK] = {1000, 2000, 3000};
    for (int i = 0; i < chunks; i++)
        sessions[index].on_event(
            sessions[index].arg,
            &(struct tts_event){.kind = TTS_AUDIO, .gen = 1, .samples = samples, .count = CHUNK});
}

static void say(size_t index, enum tts_event_kind kind, enum engine_error error)
{
    sessions[index].on_event(
        sessions[index].arg,
        &(struct tts_event){.kind = kind, .gen = 1, .error = error, .is_fatal = error != 0});
}

/* Who asked. */
struct asker {
    int told;
    enum err err;
    char head[5];
    size_t bytes;
};

static void on_done(void *arg, enum err err, struct buf *wav)
{
    struct asker *asker = arg;
    asker->told++;
    asker->err = err;
    asker->bytes = err ? 0 : wav->len;
    if (!err)
        memcpy(asker->head, wav->data, 4);
}

static void ask(struct previews *previews, const char *workspace, struct asker *asker)
{
    const struct preview_wish wish = {.engine = &engine,
                                      .workspace_id = workspace,
                                      .language = "en",
                                      .speaker = "s",
                                      .emotion = "",
                                      .text = "Hello.",
                                      .speed = 1.5,
                                      .volume = 1};
    previews_ask(previews, &wish, on_done, asker);
}

static struct previews *begin(struct loop **out_loop)
{
    session_count = 0;
    *out_loop = loop_new("preview");
    return previews_new(*out_loop, out_loop, 1);
}

/* Lets messages that follow each other come. */
struct hops {
    struct loop *loop;
    int left;
};

static void hop(void *arg)
{
    struct hops *hops = arg;
    if (hops->left-- > 0)
        loop_post(hops->loop, hop, hops);
    else
        loop_stop(hops->loop);
}

static void turn(struct loop *loop)
{
    struct hops hops = {loop, 8};
    hop(&hops);
    loop_run(loop);
}

TEST(a_voice_is_heard_as_a_wav_file)
{
    struct loop *loop;
    struct previews *previews = begin(&loop);
    struct asker one = {0};
    ask(previews, "w1", &one);
    turn(loop);
    CHECK_TEXT(sessions[0].how, "w1 en s 1.5 1 1 Hello. 1");
    sound(0, 3);
    CHECK_INT(one.told, 0);
    say(0, TTS_DONE, ENGINE_OK);
    turn(loop);
    CHECK_INT(one.told, 1);
    CHECK_INT(one.err, OK);
    CHECK_TEXT(one.head, "RIFF");
    CHECK(one.bytes > 3 * CHUNK - 100 && one.bytes <= 3 * CHUNK + 44); /* half the rate */
    CHECK(sessions[0].is_closed);
    previews_free(previews);
    loop_free(loop);
}

TEST(a_workspace_has_one_voice_at_a_time_and_others_need_not_wait_for_it)
{
    struct loop *loop;
    struct previews *previews = begin(&loop);
    struct asker of_one[4] = {0}, other = {0};
    for (int i = 0; i < 4; i++)
        ask(previews, "w1", &of_one[i]);
    ask(previews, "w2", &other);
    turn(loop);
    CHECK_INT((int)session_count, 2); /* the first of each */
    CHECK(strncmp(sessions[1].how, "w2", 2) == 0);
    CHECK_INT(of_one[3].told, 1); /* one is heard, two wait */
    CHECK_INT(of_one[3].err, ERR_LIMIT);
    sound(0, 1);
    say(0, TTS_DONE, ENGINE_OK);
    turn(loop);
    CHECK_INT(of_one[0].told, 1);
    CHECK_INT((int)session_count, 3);
    previews_free(previews);
    loop_free(loop);
}

TEST(more_than_a_few_voices_of_all_wait_and_then_are_refused)
{
    struct loop *loop;
    struct previews *previews = begin(&loop);
    struct asker askers[13] = {0};
    for (int i = 0; i < 13; i++) {
        char workspace[8];
        snprintf(workspace, sizeof(workspace), "w%d", i);
        ask(previews, workspace, &askers[i]);
    }
    turn(loop);
    CHECK_INT((int)session_count, 4);
    CHECK_INT(askers[11].told, 0);
    CHECK_INT(askers[12].err, ERR_BUSY);
    previews_free(previews);
    loop_free(loop);
}

TEST(a_voice_without_end_is_cut)
{
    struct loop *loop;
    struct previews *previews = begin(&loop);
    struct asker one = {0};
    ask(previews, "w1", &one);
    turn(loop);
    sound(0, PREVIEW_SOUND_S * 10 + 5);
    turn(loop);
    CHECK_INT(one.err, OK);
    CHECK_INT((int)one.bytes, 44 + PREVIEW_SOUND_S * PREVIEW_RATE_HZ * 2);
    CHECK(sessions[0].is_closed);
    previews_free(previews);
    loop_free(loop);
}

TEST(what_an_engine_says_of_itself_becomes_an_end)
{
    static const struct {
        enum engine_error error;
        enum err err;
    } cases[] = {{ENGINE_BAD_REQUEST, ERR_INVALID}, {ENGINE_AUTH, ERR_IO},
                 {ENGINE_TRANSIENT, ERR_IO},        {ENGINE_TIMEOUT, ERR_TIMEOUT},
                 {ENGINE_CROWDED, ERR_LIMIT},       {ENGINE_OK, ERR_IO /* done without a sound */}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct loop *loop;
        struct previews *previews = begin(&loop);
        struct asker one = {0};
        ask(previews, "w1", &one);
        turn(loop);
        say(0, cases[i].error ? TTS_ERROR : TTS_DONE, cases[i].error);
        say(0, TTS_ERROR, ENGINE_AUTH); /* after its end: nothing */
        turn(loop);
        CHECK_INT(one.told, 1);
        CHECK_INT(one.err, cases[i].err);
        CHECK(sessions[0].is_closed);
        previews_free(previews);
        loop_free(loop);
    }
}

TEST(who_asks_while_the_service_ends_is_told)
{
    struct loop *loop;
    struct previews *previews = begin(&loop);
    struct asker runs = {0}, waits = {0}, late = {0};
    ask(previews, "w1", &runs);
    ask(previews, "w1", &waits);
    turn(loop);
    previews_drain(previews);
    ask(previews, "w1", &late);
    CHECK_INT(runs.err, ERR_CLOSED);
    CHECK_INT(waits.err, ERR_CLOSED);
    CHECK_INT(late.err, ERR_CLOSED);
    sound(0, 1);
    say(0, TTS_DONE, ENGINE_OK); /* its end is posted when it is freed */
    previews_free(previews);
    CHECK(sessions[0].is_closed);
    loop_free(loop);
    CHECK_INT(runs.told, 1);
}
