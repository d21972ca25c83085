/* The recogniser's session against a server that, as many do, closes the connection after each
 * transcript. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/js.h"
#include "base/loop.h"
#include "base/mem.h"
#include "engine/registry.h"
#include "net/dial.h"
#include "net/guard.h"
#include "net/listen.h"
#include "net/resolver.h"
#include "net/stream.h"
#include "rig.h"
#include "test.h"
#include "vendor/internal.h"
#include "vendor/wyoming.h"

struct wyoming_rig {
    struct loop *loop;
    struct guard *guard;
    struct resolver *resolver;
    struct dialer *dialer;
    struct vendor *vendor;
    struct listener *listener;
    struct stream *stream; /* the server's end */
    size_t heard_bytes;    /* of the utterance */
    char url[64];
    struct wyoming_engine state;
    struct engine engine;
    struct stt *stt;
    struct buf told, heard; /* by the session; by the server */
};

static void hear(struct wyoming_rig *rig, const struct wyoming_event *event)
{
    rig->heard_bytes += event->payload_len;
    if (strcmp(event->type, "transcribe") == 0)
        rig->heard_bytes = 0;
    if (strcmp(event->type, "audio-stop") == 0)
        (void)buf_printf(&rig->heard, "%zu;", rig->heard_bytes);
}

static void on_read(void *arg)
{
    struct wyoming_rig *rig = arg;
    struct wyoming_event event;
    size_t len, used;
    for (;;) {
        const char *bytes = stream_peek(rig->stream, &len);
        if (!len || wyoming_read(bytes, len, &event, &used) != OK)
            return;
        hear(rig, &event);
        js_free(event.data);
        stream_consume(rig->stream, used);
    }
}

static void on_gone(void *arg, enum err reason)
{
    struct wyoming_rig *rig = arg;
    (void)reason;
    stream_close(TAKE(rig->stream));
}

static void on_connection(void *arg, int take_fd, const struct net_addr *peer)
{
    static const struct stream_fns fns = {.on_read = on_read, .on_closed = on_gone};
    struct wyoming_rig *rig = arg;
    (void)peer;
    stream_close(rig->stream);
    rig->stream = stream_open(rig->loop, take_fd, NULL);
    stream_set(rig->stream, &fns, rig);
}

static void on_stt(void *arg, const struct stt_event *event)
{
    struct wyoming_rig *rig = arg;
    if (event->kind == STT_FINAL)
        (void)buf_printf(&rig->told, "%s;", event->text);
    if (event->kind == STT_FLUSHED)
        (void)buf_printf(&rig->told, "flushed %u;", (unsigned)event->gen);
    if (event->kind == STT_ERROR)
        (void)buf_printf(&rig->told, "error: %s;", event->message);
}

static struct wyoming_rig *rig_open(void)
{
    static const struct stt_config config = {.language = "en"};
    struct wyoming_rig *rig = mem_new(struct wyoming_rig);
    struct fault fault = {0};
    struct net_addr any;
    rig->loop = loop_new("wyoming");
    buf_init(&rig->told, 4096);
    buf_init(&rig->heard, 4096);
    if (guard_new(NULL, &rig->guard, &fault) != OK ||
        resolver_new(rig->loop, rig->guard, NULL, &rig->resolver, &fault) != OK ||
        net_addr_parse("127.0.0.1:0", &any) != OK ||
        listener_open(rig->loop, &any, on_connection, rig, &rig->listener, &fault) != OK)
        abort();
    snprintf(rig->url, sizeof(rig->url), "tcp://127.0.0.1:%u",
             listener_address(rig->listener).port);
    rig->dialer = dialer_new(rig->resolver, NULL);
    rig->vendor = vendor_new(&(struct vendor_config){.voice_path = ""});
    vendor_add_loop(rig->vendor, rig->loop, NULL, rig->dialer);
    rig->state = (struct wyoming_engine){.account = {.vendor = rig->vendor,
                                                     .engine = "wyoming-stt",
                                                     .url = rig->url,
                                                     .secrets = {(char *)"user-secret"}},
                                         .model = ""};
    rig->engine.state = &rig->state;
    rig->stt = wyoming_stt_ops.open(&rig->engine, rig->loop, &config, on_stt, rig);
    return rig;
}

static void rig_close(struct wyoming_rig *rig)
{
    rig->stt->ops->close(rig->stt);
    stream_close(TAKE(rig->stream));
    listener_close(rig->listener);
    loop_turns(rig->loop, 20);
    vendor_free(rig->vendor);
    dialer_free(rig->dialer);
    resolver_free(rig->resolver);
    guard_free(rig->guard);
    loop_free(rig->loop);
    buf_clear(&rig->told);
    buf_clear(&rig->heard);
    mem_free(rig);
}

static void push(struct wyoming_rig *rig, size_t samples)
{
    static const int16_t sound[16000];
    rig->stt->ops->push(rig->stt, sound, samples);
}

static void flush(struct wyoming_rig *rig, uint32_t gen)
{
    rig->stt->ops->flush(rig->stt, gen);
}

/* For a minute at most; text is all that was told, or heard, so far. */
static void await(struct wyoming_rig *rig, const struct buf *what, const char *text)
{
    for (int i = 0; i < 6000 && strcmp(what->len ? what->data : "", text) != 0; i++)
        loop_run_for(rig->loop, 10000);
    CHECK_TEXT(what->len ? what->data : "", text);
}

static void send_event(struct wyoming_rig *rig, const char *type, const char *text)
{
    AUTO_BUF bytes = BUF_INIT(1024);
    AUTO_MEM char *data = mem_printf("{\"text\":\"%s\"}", text);
    REQUIRE(rig->stream != NULL);
    CHECK_INT(wyoming_write(&bytes, type, data, NULL, 0), OK);
    CHECK_INT(stream_write(rig->stream, bytes.data, bytes.len), OK);
    stream_close(TAKE(rig->stream));
}

static void answer(struct wyoming_rig *rig, const char *text)
{
    send_event(rig, "transcript", text);
}

TEST(wyoming_keeps_what_is_said_before_the_transcript_has_come)
{
    struct wyoming_rig *rig = rig_open();
    push(rig, 1600);
    flush(rig, 1);
    await(rig, &rig->heard, "3200;");
    push(rig, 800); /* the caller goes on, the server still works */
    push(rig, 800);
    loop_run_for(rig->loop, 20000);
    answer(rig, "one");
    await(rig, &rig->told, "one;flushed 1;");
    push(rig, 400);
    flush(rig, 2);
    await(rig, &rig->heard, "3200;4000;");
    answer(rig, "two");
    await(rig, &rig->told, "one;flushed 1;two;flushed 2;");
    rig_close(rig);
}

TEST(wyoming_sends_a_whole_utterance_that_was_kept)
{
    struct wyoming_rig *rig = rig_open();
    push(rig, 1600);
    flush(rig, 1);
    await(rig, &rig->heard, "3200;");
    push(rig, 16000);
    push(rig, 16000);
    flush(rig, 2);
    answer(rig, "one");
    await(rig, &rig->heard, "3200;64000;");
    answer(rig, "two");
    await(rig, &rig->told, "one;flushed 1;two;flushed 2;");
    flush(rig, 3); /* nothing was said since */
    await(rig, &rig->told, "one;flushed 1;two;flushed 2;flushed 3;");
    rig_close(rig);
}

TEST(wyoming_keeps_ten_seconds_and_answers_the_newest_flush)
{
    struct wyoming_rig *rig = rig_open();
    push(rig, 1600);
    flush(rig, 1);
    flush(rig, 2);
    await(rig, &rig->heard, "3200;");
    for (int i = 0; i < 20; i++)
        push(rig, 16000);
    flush(rig, 3);
    push(rig, 1600);
    flush(rig, 4);
    answer(rig, "one");
    await(rig, &rig->heard, "3200;320000;");
    answer(rig, "two");
    await(rig, &rig->told, "one;flushed 2;two;flushed 4;");
    rig_close(rig);
}

TEST(wyoming_tells_a_servers_error_without_the_secrets_that_it_quotes)
{
    static const struct {
        const char *said, *told;
    } rows[] = {{"no room for user-secret here", "error: no room for *********** here;"},
                {"", "error: it reports an error;"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct wyoming_rig *rig = rig_open();
        push(rig, 1600);
        flush(rig, 1);
        await(rig, &rig->heard, "3200;");
        send_event(rig, "error", rows[i].said);
        await(rig, &rig->told, rows[i].told);
        rig_close(rig);
    }
}
