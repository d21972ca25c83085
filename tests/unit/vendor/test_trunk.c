/* Calls that speak over one connection: who hears what, whatever comes on it in which order. */
#include "vendor/trunk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "base/loop.h"
#include "base/mem.h"
#include "engine/registry.h"
#include "engine/tts.h"
#include "fake/socket_server.h"
#include "net/dial.h"
#include "net/http_client.h"
#include "net/resolver.h"
#include "net/tls.h"
#include "rig.h"
#include "test.h"
#include "vendor/account.h"

enum { CALLS_MAX = 20, CHUNK = 2400, LOUD = 500, MUTE_US = 750 * 1000, CONTEXT_LEN = 32 };

/* A call with a voice, and what it is told. */
struct voice {
    struct tts *tts;
    size_t low, high;    /* samples, by their sign */
    struct voice *drags; /* it is closed when this one fails */
    char log[200];
};

struct trunk_rig {
    struct loop *loop;
    struct guard *guard;
    struct resolver *resolver;
    struct tls_context *tls;
    struct dialer *dialer;
    struct http_client *http;
    struct vendor *vendor;
    struct registry *registry;
    struct socket_server *server;
    const struct engine *engine;
    struct voice voices[CALLS_MAX];
    char context[CONTEXT_LEN + 1];
};

static void close_voice(struct voice *voice)
{
    voice->tts->ops->close(TAKE(voice->tts));
}

static void on_event(void *arg, const struct tts_event *event)
{
    struct voice *voice = arg;
    size_t len = strlen(voice->log);
    for (size_t i = 0; event->kind == TTS_AUDIO && i < event->count; i++) {
        voice->low += event->samples[i] < -LOUD;
        voice->high += event->samples[i] > LOUD;
    }
    if (event->kind == TTS_DONE)
        snprintf(voice->log + len, sizeof(voice->log) - len, "done %u;", event->gen);
    if (event->kind == TTS_ERROR)
        snprintf(voice->log + len, sizeof(voice->log) - len, "%s%s %u;",
                 event->is_fatal ? "fatal " : "", engine_error_name(event->error), event->gen);
    if (event->kind == TTS_ERROR && voice->drags && voice->drags->tts)
        close_voice(voice->drags);
}

static struct trunk_rig *rig_open(const char *engine, const char *limit)
{
    struct trunk_rig *rig = mem_new(struct trunk_rig);
    rig->loop = loop_new("trunk");
    rig->server = socket_server_open(rig->loop);
    if (guard_new(NULL, &rig->guard, NULL) != OK ||
        resolver_new(rig->loop, rig->guard, NULL, &rig->resolver, NULL) != OK ||
        tls_client_new(NULL, &rig->tls, NULL) != OK)
        abort();
    rig->dialer = dialer_new(rig->resolver, rig->tls);
    rig->http = http_client_new(rig->loop, &(struct http_client_config){.resolver = rig->resolver});
    rig->vendor = vendor_new(&(struct vendor_config){.voice_path = ""});
    vendor_add_loop(rig->vendor, rig->loop, rig->http, rig->dialer);
    AUTO_MEM char *url = mem_printf("engine.%s.url=%s", engine, socket_server_url(rig->server));
    AUTO_MEM char *key = mem_printf("engine.%s.key=k", engine);
    AUTO_MEM char *most = mem_printf("engine.%s.max_requests=%s", engine, limit);
    const char *settings[] = {url, key, most};
    rig->registry = rig_registry(rig->vendor, settings, ARRAY_LEN(settings));
    rig->engine = registry_find(rig->registry, ENGINE_TTS, engine);
    return rig;
}

static void rig_close(struct trunk_rig *rig)
{
    for (size_t i = 0; i < CALLS_MAX; i++)
        if (rig->voices[i].tts)
            rig->voices[i].tts->ops->close(rig->voices[i].tts);
    loop_turns(rig->loop, 5);
    registry_free(rig->registry);
    vendor_free(rig->vendor);
    socket_server_close(rig->server);
    loop_turns(rig->loop, 20);
    http_client_free(rig->http);
    dialer_free(rig->dialer);
    tls_context_free(rig->tls);
    resolver_free(rig->resolver);
    guard_free(rig->guard);
    loop_free(rig->loop);
    mem_free(rig);
}

static struct voice *open_voice_with(struct trunk_rig *rig, size_t i, const char *workspace,
                                     const char *emotion)
{
    const struct tts_config config = {.language = "en",
                                      .speaker = "",
                                      .emotion = emotion,
                                      .model = "",
                                      .workspace = workspace,
                                      .speed = 1,
                                      .volume = 1};
    struct voice *voice = &rig->voices[i];
    *voice = (struct voice){.log = ""};
    voice->tts = rig->engine->ops.tts->open(rig->engine, rig->loop, &config, on_event, voice);
    return voice;
}

static struct voice *open_voice(struct trunk_rig *rig, size_t i, const char *workspace)
{
    return open_voice_with(rig, i, workspace, "");
}

static bool was_asked(struct trunk_rig *rig, const char *text)
{
    char needle[80];
    snprintf(needle, sizeof(needle), "\"transcript\":\"%s\"", text);
    return strstr(socket_server_log(rig->server), needle) != NULL;
}

/* Waits until the vendor is asked for it; the context it is to be in, valid until the next. */
static const char *asked(struct trunk_rig *rig, const char *text)
{
    char needle[80];
    const char *name = "\"context_id\":\"", *log, *at, *found = NULL;
    LOOP_AWAIT(rig->loop, was_asked(rig, text));
    snprintf(needle, sizeof(needle), "\"transcript\":\"%s\"", text);
    log = socket_server_log(rig->server);
    for (at = log; (at = strstr(at, name)) && at < strstr(log, needle); at++)
        found = at + strlen(name);
    CHECK(found != NULL);
    snprintf(rig->context, sizeof(rig->context), "%.*s", CONTEXT_LEN, found ? found : "");
    return rig->context;
}

static void speak(struct voice *voice, uint32_t gen, const char *text)
{
    voice->tts->ops->speak(voice->tts, gen, text, true);
}

/* context: NULL: none is named. */
static void send_sound(struct trunk_rig *rig, const char *context, int16_t level)
{
    int16_t samples[CHUNK];
    AUTO_BUF base64 = BUF_INIT(64 * 1024), message = BUF_INIT(64 * 1024);
    for (size_t i = 0; i < CHUNK; i++)
        samples[i] = level;
    REQUIRE(base64_encode(samples, sizeof(samples), &base64) == OK);
    (void)buf_printf(&message, "{\"type\":\"chunk\",");
    if (context)
        (void)buf_printf(&message, "\"context_id\":\"%s\",", context);
    (void)buf_printf(&message, "\"data\":\"%s\",\"done\":false,\"status_code\":206}", base64.data);
    socket_server_send(rig->server, message.data);
}

static void send_word(struct trunk_rig *rig, const char *type, const char *context)
{
    AUTO_BUF message = BUF_INIT(1024);
    (void)buf_printf(&message, "{\"type\":\"%s\",\"status_code\":429,\"title\":\"t\"", type);
    if (context)
        (void)buf_printf(&message, ",\"context_id\":\"%s\"", context);
    (void)buf_append_str(&message, "}");
    socket_server_send(rig->server, message.data);
}

TEST(trunk_carries_two_calls_and_each_hears_its_own)
{
    struct trunk_rig *rig = rig_open("cartesia", "100");
    struct voice *a = open_voice(rig, 0, "usr_1"), *b = open_voice(rig, 1, "usr_2");
    char first[CONTEXT_LEN + 1], second[CONTEXT_LEN + 1];
    speak(a, 1, "One.");
    speak(b, 1, "Two.");
    snprintf(first, sizeof(first), "%s", asked(rig, "One."));
    snprintf(second, sizeof(second), "%s", asked(rig, "Two."));
    CHECK_INT(socket_server_opened(rig->server), 1);
    CHECK(strcmp(first, second) != 0);
    for (int i = 0; i < 3; i++) {
        send_sound(rig, first, 8000);
        send_sound(rig, second, -8000);
    }
    send_word(rig, "done", second);
    send_sound(rig, first, 8000);
    send_word(rig, "done", first);
    LOOP_AWAIT(rig->loop, *a->log && *b->log);
    CHECK(a->high > 7 * CHUNK && a->low == 0); /* four pieces at twice the rate */
    CHECK(b->low > 5 * CHUNK && b->high == 0);
    speak(a, 2, "Three.");
    CHECK(strcmp(asked(rig, "Three."), first) != 0);
    CHECK_TEXT(a->log, "done 1;");
    CHECK_TEXT(b->log, "done 1;");
    rig_close(rig);
}

TEST(trunk_drops_what_is_late_for_one_and_not_the_other)
{
    struct trunk_rig *rig = rig_open("cartesia", "100");
    struct voice *a = open_voice(rig, 0, "usr_1"), *b = open_voice(rig, 1, "usr_2");
    char old[CONTEXT_LEN + 1], other[CONTEXT_LEN + 1];
    speak(a, 1, "One.");
    speak(b, 1, "Two.");
    snprintf(old, sizeof(old), "%s", asked(rig, "One."));
    snprintf(other, sizeof(other), "%s", asked(rig, "Two."));
    a->tts->ops->cancel(a->tts);
    speak(a, 2, "Three.");
    (void)asked(rig, "Three.");
    send_sound(rig, old, -8000);
    send_word(rig, "done", old);
    send_word(rig, "error", old);
    send_sound(rig, other, -8000);
    send_word(rig, "done", other);
    send_sound(rig, rig->context, 8000);
    send_word(rig, "done", rig->context);
    send_word(rig, "done", rig->context); /* twice */
    send_sound(rig, rig->context, -8000);
    LOOP_AWAIT(rig->loop, *a->log && *b->log);
    loop_turns(rig->loop, 20);
    CHECK_TEXT(a->log, "done 2;");
    CHECK_TEXT(b->log, "done 1;");
    CHECK(a->high > CHUNK && a->low == 0);
    CHECK(b->low > CHUNK && b->high == 0);
    CHECK_INT(socket_server_opened(rig->server), 1);
    char cancel[100], wrong[100];
    snprintf(cancel, sizeof(cancel), "{\"context_id\":\"%s\",\"cancel\":true}", old);
    snprintf(wrong, sizeof(wrong), "{\"context_id\":\"%s\",\"cancel\":true}", other);
    CHECK(strstr(socket_server_log(rig->server), cancel) != NULL);
    CHECK(strstr(socket_server_log(rig->server), wrong) == NULL);
    rig_close(rig);
}

TEST(trunk_gives_sound_of_no_known_context_to_nobody)
{
    struct trunk_rig *rig = rig_open("cartesia", "100");
    struct voice *a = open_voice(rig, 0, "usr_1");
    (void)open_voice(rig, 1, "usr_2");
    speak(a, 1, "One.");
    (void)asked(rig, "One.");
    send_sound(rig, NULL, -8000);
    send_sound(rig, "", -8000);
    send_sound(rig, "e1", -8000);
    send_word(rig, "done", NULL);
    send_word(rig, "done", "e1");
    send_word(rig, "error", "e1");
    send_sound(rig, rig->context, 8000);
    send_word(rig, "done", rig->context);
    LOOP_AWAIT(rig->loop, *a->log);
    CHECK_TEXT(a->log, "done 1;");
    CHECK(a->high > CHUNK && a->low == 0);
    CHECK_TEXT(rig->voices[1].log, "");
    rig_close(rig);
}

TEST(trunk_tells_a_failure_to_whom_it_concerns)
{
    struct trunk_rig *rig = rig_open("cartesia", "100");
    struct voice *a = open_voice(rig, 0, "usr_1"), *b = open_voice(rig, 1, "usr_2"),
                 *c = open_voice(rig, 2, "usr_3");
    speak(a, 1, "One.");
    speak(b, 1, "Two.");
    send_sound(rig, asked(rig, "One."), 8000);
    (void)asked(rig, "Two.");
    send_word(rig, "error", NULL); /* of whom nothing was heard yet */
    LOOP_AWAIT(rig->loop, *b->log);
    CHECK_TEXT(b->log, "the engine's quota is used up 1;");
    CHECK_TEXT(a->log, "");
    speak(c, 1, "Three.");
    send_word(rig, "error", asked(rig, "Three."));
    LOOP_AWAIT(rig->loop, *c->log);
    send_word(rig, "done", asked(rig, "One."));
    LOOP_AWAIT(rig->loop, *a->log);
    CHECK_TEXT(a->log, "done 1;");
    CHECK_TEXT(b->log, "the engine's quota is used up 1;");
    CHECK_TEXT(c->log, "the engine's quota is used up 1;");
    CHECK_INT(socket_server_opened(rig->server), 1);
    rig_close(rig);
}

TEST(trunk_that_is_cut_or_talks_nonsense_fails_all_and_one_other_takes_over)
{
    static const char *const logs[] = {"the engine could not be reached 1;",
                                       "the engine's answer could not be understood 1;"};
    for (size_t i = 0; i < ARRAY_LEN(logs); i++) {
        struct trunk_rig *rig = rig_open("cartesia", "100");
        struct voice *a = open_voice(rig, 0, "usr_1"), *b = open_voice(rig, 1, "usr_2");
        speak(a, 1, "One.");
        speak(b, 1, "Two.");
        send_sound(rig, asked(rig, "One."), 8000);
        send_sound(rig, asked(rig, "Two."), -8000);
        LOOP_AWAIT(rig->loop, a->high && b->low);
        if (i == 0)
            socket_server_end(rig->server, 1011);
        else
            socket_server_send(rig->server, "{\"type\":");
        LOOP_AWAIT(rig->loop, *a->log && *b->log);
        CHECK_TEXT(a->log, logs[i]);
        CHECK_TEXT(b->log, logs[i]);
        speak(a, 2, "Three.");
        speak(b, 2, "Four.");
        send_word(rig, "done", asked(rig, "Three."));
        send_word(rig, "done", asked(rig, "Four."));
        LOOP_AWAIT(rig->loop, strstr(a->log, "done 2;") && strstr(b->log, "done 2;"));
        CHECK_INT(socket_server_opened(rig->server), 2);
        rig_close(rig);
    }
}

TEST(trunk_that_is_cut_lets_a_call_that_is_told_end_another_in_a_sentence)
{
    struct trunk_rig *rig = rig_open("cartesia", "100");
    struct voice *a = open_voice(rig, 0, "usr_1"), *b = open_voice(rig, 1, "usr_2");
    a->drags = b;
    speak(a, 1, "One.");
    speak(b, 1, "Two.");
    (void)asked(rig, "One.");
    (void)asked(rig, "Two.");
    socket_server_end(rig->server, 1011);
    LOOP_AWAIT(rig->loop, *a->log);
    CHECK(b->tts == NULL);
    CHECK_TEXT(b->log, "");
    rig_close(rig);
}

TEST(trunk_tells_a_failure_to_whom_was_told_one_over_another)
{
    static const char *const told = "the engine's quota is used up 1;";
    struct trunk_rig *rig = rig_open("cartesia", "100");
    struct voice *a = open_voice(rig, 0, "usr_1");
    speak(a, 1, "One.");
    (void)asked(rig, "One.");
    send_word(rig, "error", NULL);
    LOOP_AWAIT(rig->loop, *a->log);
    CHECK_TEXT(a->log, told);
    speak(a, 2, "Two.");
    (void)asked(rig, "Two.");
    socket_server_end(rig->server, 1011);
    LOOP_AWAIT(rig->loop, strstr(a->log, " 2;"));
    speak(a, 3, "Three.");
    (void)asked(rig, "Three.");
    send_word(rig, "error", NULL);
    LOOP_AWAIT(rig->loop, strstr(a->log, " 3;"));
    CHECK_INT(socket_server_opened(rig->server), 2);
    rig_close(rig);
}

TEST(trunk_tells_each_call_that_the_key_is_refused)
{
    struct trunk_rig *rig = rig_open("cartesia", "100");
    socket_server_behave(rig->server, 401, 0);
    struct voice *a = open_voice(rig, 0, "usr_1"), *b = open_voice(rig, 1, "usr_2");
    LOOP_AWAIT(rig->loop, *a->log && *b->log);
    CHECK_TEXT(a->log, "fatal the engine refused the key 0;");
    CHECK_TEXT(b->log, "fatal the engine refused the key 0;");
    rig_close(rig);
}

/* Half open: it is found out by the first who gives up, and nobody after him waits for it. */
TEST(trunk_that_says_nothing_is_left_when_one_gives_up)
{
    struct trunk_rig *rig = rig_open("cartesia", "100");
    struct voice *a = open_voice(rig, 0, "usr_1"), *b = open_voice(rig, 1, "usr_2");
    speak(a, 1, "One.");
    (void)asked(rig, "One.");
    loop_run_for(rig->loop, MUTE_US);
    close_voice(a);
    LOOP_AWAIT(rig->loop, socket_server_opened(rig->server) == 2); /* before anything is said */
    a = open_voice(rig, 0, "usr_1");
    speak(a, 2, "Two.");
    speak(b, 1, "Three.");
    send_word(rig, "done", asked(rig, "Two."));
    send_word(rig, "done", asked(rig, "Three."));
    LOOP_AWAIT(rig->loop, *a->log && *b->log);
    LOOP_AWAIT(rig->loop, strstr(socket_server_log(rig->server), "closed ") != NULL);
    CHECK_INT(socket_server_opened(rig->server), 2);
    rig_close(rig);
}

/* A sentence that is not answered while others are is that call's alone. */
TEST(trunk_that_answers_others_is_kept)
{
    struct trunk_rig *rig = rig_open("cartesia", "100");
    struct voice *a = open_voice(rig, 0, "usr_1"), *b = open_voice(rig, 1, "usr_2");
    speak(a, 1, "One.");
    (void)asked(rig, "One.");
    speak(b, 1, "Two.");
    send_sound(rig, asked(rig, "Two."), -8000);
    LOOP_AWAIT(rig->loop, b->low);
    loop_run_for(rig->loop, MUTE_US);
    a->tts->ops->cancel(a->tts);
    speak(a, 2, "Three.");
    send_word(rig, "done", asked(rig, "Three."));
    send_word(rig, "done", asked(rig, "Two."));
    LOOP_AWAIT(rig->loop, *a->log && *b->log);
    CHECK_INT(socket_server_opened(rig->server), 1);
    rig_close(rig);
}

TEST(trunk_takes_so_many_calls_and_then_there_is_another)
{
    struct trunk_rig *rig = rig_open("cartesia", "100");
    for (size_t i = 0; i < 16; i++)
        (void)open_voice(rig, i, "usr_1");
    LOOP_AWAIT(rig->loop, socket_server_opened(rig->server) == 1);
    (void)open_voice(rig, 16, "usr_1");
    LOOP_AWAIT(rig->loop, socket_server_opened(rig->server) == 2);
    close_voice(&rig->voices[3]);
    (void)open_voice(rig, 17, "usr_1"); /* its seat */
    loop_turns(rig->loop, 50);
    CHECK_INT(socket_server_opened(rig->server), 2);
    rig_close(rig);
}

/* As many connections and sentences under way as the operator allows, workspaces by turns. */
TEST(trunk_says_so_many_sentences_at_once_and_workspaces_take_turns)
{
    struct trunk_rig *rig = rig_open("cartesia", "1");
    for (size_t i = 0; i < 18; i++)
        (void)open_voice(rig, i, i == 2 ? "usr_2" : "usr_1");
    speak(&rig->voices[0], 1, "One.");
    (void)asked(rig, "One.");
    speak(&rig->voices[1], 1, "Two.");
    loop_turns(rig->loop, 5);
    speak(&rig->voices[2], 1, "Three.");
    loop_turns(rig->loop, 50);
    CHECK(!was_asked(rig, "Two.") && !was_asked(rig, "Three."));
    send_word(rig, "done", asked(rig, "One."));
    send_word(rig, "done", asked(rig, "Three."));
    CHECK(!was_asked(rig, "Two."));
    send_word(rig, "done", asked(rig, "Two."));
    LOOP_AWAIT(rig->loop, *rig->voices[0].log && *rig->voices[1].log && *rig->voices[2].log);
    CHECK_INT(socket_server_opened(rig->server), 1);
    rig_close(rig);
}

/* A sentence that waits may be given up, and leaves its place. */
TEST(trunk_forgets_a_sentence_that_is_cancelled_while_it_waits)
{
    struct trunk_rig *rig = rig_open("cartesia", "1");
    struct voice *a = open_voice(rig, 0, "usr_1"), *b = open_voice(rig, 1, "usr_2");
    speak(a, 1, "One.");
    (void)asked(rig, "One.");
    speak(b, 1, "Two.");
    loop_turns(rig->loop, 5);
    b->tts->ops->cancel(b->tts);
    send_word(rig, "done", asked(rig, "One."));
    LOOP_AWAIT(rig->loop, *a->log);
    speak(a, 2, "Three.");
    (void)asked(rig, "Three.");
    CHECK(!was_asked(rig, "Two."));
    close_voice(b);
    rig_close(rig);
}

/* Calls have ended: the next one finds it open; at the service's end it is closed in order. */
TEST(trunk_is_kept_between_calls_and_drained_at_the_end)
{
    struct trunk_rig *rig = rig_open("cartesia", "100");
    (void)open_voice(rig, 0, "usr_1");
    LOOP_AWAIT(rig->loop, socket_server_opened(rig->server) == 1);
    close_voice(&rig->voices[0]);
    loop_turns(rig->loop, 50);
    CHECK_TEXT(socket_server_log(rig->server), "");
    struct voice *b = open_voice(rig, 1, "usr_2");
    speak(b, 1, "One.");
    (void)asked(rig, "One.");
    CHECK_INT(socket_server_opened(rig->server), 1);
    close_voice(b);
    loop_turns(rig->loop, 5);
    registry_free(TAKE(rig->registry));
    vendor_free(TAKE(rig->vendor));
    LOOP_AWAIT(rig->loop, strstr(socket_server_log(rig->server), "closed 1000;") != NULL);
    rig_close(rig);
}

static const char *no_context(const struct js *message)
{
    (void)message;
    return NULL;
}

TEST(trunk_that_nobody_uses_is_closed_after_a_while)
{
    struct trunk_rig *rig = rig_open("cartesia", "100");
    struct account account = {.vendor = rig->vendor, .engine = "x", .limits = {10, 10}};
    const struct trunk_kind kind = {.account = &account,
                                    .seats_max = 2,
                                    .idle_us = 50000,
                                    .farewell = "bye",
                                    .context_of = no_context};
    const struct socket_plan plan = {.url = socket_server_url(rig->server)};
    struct trunk_seat seat = {.owner = NULL}, other = {.owner = NULL};
    trunk_enter(&seat, &kind, rig->loop, &plan);
    trunk_enter(&other, &kind, rig->loop, &plan);
    LOOP_AWAIT(rig->loop, socket_server_opened(rig->server) == 1);
    trunk_leave(&seat);
    loop_run_for(rig->loop, 100000);
    CHECK_TEXT(socket_server_log(rig->server), ""); /* somebody sits there */
    trunk_leave(&other);
    LOOP_AWAIT(rig->loop, strcmp(socket_server_log(rig->server), "bye;closed 1000;") == 0);
    rig_close(rig);
}

/* ElevenLabs takes five contexts on a connection, and works on those that were interrupted. */
TEST(trunk_of_few_contexts_is_left_before_it_is_full)
{
    struct trunk_rig *rig = rig_open("elevenlabs", "100");
    struct voice *a = open_voice(rig, 0, "usr_1");
    for (uint32_t i = 1; i <= 4; i++) {
        char needle[40];
        snprintf(needle, sizeof(needle), "Sentence %u. ", i);
        speak(a, i, needle);
        LOOP_AWAIT(rig->loop, strstr(socket_server_log(rig->server), needle) != NULL);
        CHECK_INT(socket_server_opened(rig->server), 1);
        a->tts->ops->cancel(a->tts);
    }
    LOOP_AWAIT(rig->loop, socket_server_opened(rig->server) == 2); /* before it is needed */
    LOOP_AWAIT(rig->loop, strstr(socket_server_log(rig->server), "close_socket") != NULL);
    (void)open_voice(rig, 1, "usr_1"); /* and it is nobody else's */
    LOOP_AWAIT(rig->loop, socket_server_opened(rig->server) == 3);
    rig_close(rig);
}

/* Cartesia's own words reach it; what it does not know is left out, and the sentence is said. */
TEST(trunk_of_cartesia_is_asked_for_the_emotions_that_it_knows)
{
    static const struct {
        const char *wish;
        bool is_known;
    } rows[] = {{"calm", true},       {"apologetic", true},    {"neutral", true},
                {"determined", true}, {"calm content", false}, {"cal", false},
                {"silly", false}};
    struct trunk_rig *rig = rig_open("cartesia", "100");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[32], word[64];
        struct voice *voice = open_voice_with(rig, i, "usr_1", rows[i].wish);
        snprintf(text, sizeof(text), "Sentence %zu.", i);
        snprintf(word, sizeof(word), "\"emotion\":\"%s\"", rows[i].wish);
        speak(voice, 1, text);
        (void)asked(rig, text);
        const char *order = strstr(socket_server_log(rig->server), text);
        CHECK((strstr(order, word) != NULL) == rows[i].is_known);
        CHECK((strstr(order, "\"emotion\"") != NULL) == rows[i].is_known);
    }
    rig_close(rig);
}
