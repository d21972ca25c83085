/* Embeddings against a server that plays answers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/loop.h"
#include "engine/embed.h"
#include "fake/chat_server.h"
#include "rig.h"
#include "test.h"

struct made {
    struct loop *loop;
    unsigned events;
    enum engine_error error;
    char message[200];
    size_t count, size;
    float vectors[16];
};

static void on_event(void *arg, const struct embed_event *event)
{
    struct made *made = arg;
    made->events++;
    made->error = event->error;
    made->count = event->count;
    made->size = event->size;
    snprintf(made->message, sizeof(made->message), "%s", event->message ? event->message : "");
    if (event->vectors)
        memcpy(made->vectors, event->vectors,
               MIN(event->count * event->size, ARRAY_LEN(made->vectors)) * sizeof(float));
    loop_stop(made->loop);
}

#define ANSWER(status, body)                                                                       \
    {                                                                                              \
        .head = "HTTP/1.1 " status "\r\nConnection: close\r\n\r\n", .pieces = {body},              \
        .closes = true                                                                             \
    }

static void ask(struct llm_rig *rig, const struct chat_script *script, struct made *made)
{
    static const char *const texts[] = {"one", ""};
    const struct engine *engine = registry_find(rig->registry, ENGINE_EMBED, "openai-embeddings");
    const struct embed_config config = {.model = ""};
    *made = (struct made){.loop = rig->loop};
    chat_server_play(rig->server, script, 1);
    struct embed *embed = engine->ops.embed->open(engine, &config, rig->loop, on_event, made);
    embed->ops->start(embed, 7, texts, 2);
    loop_run_for(rig->loop, 60000000); /* the event ends it */
    embed->ops->close(embed);
}

static struct llm_rig *open_rig(void)
{
    static const char *const key[] = {"engine.openai-embeddings.key=sk-secret-embed"};
    return llm_rig_chat_of("openai-embeddings", key, 1);
}

TEST(embed_orders_vectors_by_their_index_and_makes_them_unit_long)
{
    static const struct chat_script script =
        ANSWER("200 OK", "{\"data\":[{\"index\":1,\"embedding\":[0,2]},"
                         "{\"index\":0,\"embedding\":[3.0,4.0]}]}");
    struct llm_rig *rig = open_rig();
    struct made made;
    ask(rig, &script, &made);
    CHECK_INT(made.events, 1);
    CHECK_INT(made.count, 2);
    CHECK_INT(made.size, 2);
    CHECK(fabsf(made.vectors[0] - 0.6F) < 1e-6F && fabsf(made.vectors[1] - 0.8F) < 1e-6F);
    CHECK(made.vectors[2] == 0 && made.vectors[3] == 1);
    CHECK(strstr(chat_server_body(rig->server), "\"input\":[\"one\",\" \"]") != NULL);
    CHECK(strcasestr(chat_server_head(rig->server), "authorization: bearer sk-secret-embed"));
    llm_rig_free(rig);
}

/* No float holds them, and yet their direction is as good as any. */
TEST(embed_takes_numbers_that_only_a_double_holds)
{
    static const struct chat_script script =
        ANSWER("200 OK", "{\"data\":[{\"embedding\":[3e100,4e100]},{\"embedding\":[0,-1e-60]}]}");
    struct llm_rig *rig = open_rig();
    struct made made;
    ask(rig, &script, &made);
    CHECK_INT(made.count, 2);
    CHECK(fabsf(made.vectors[0] - 0.6F) < 1e-6F && fabsf(made.vectors[1] - 0.8F) < 1e-6F);
    CHECK(made.vectors[2] == 0 && made.vectors[3] == -1);
    llm_rig_free(rig);
}

TEST(embed_refuses_answers_that_do_not_fit)
{
    static const struct {
        struct chat_script script;
        enum engine_error error;
    } rows[] = {
        {ANSWER("200 OK", "{\"data\":[{\"index\":0,\"embedding\":[1,0]}]}"), ENGINE_PROTOCOL},
        {ANSWER("200 OK", "{\"data\":[{\"index\":0,\"embedding\":[1,0]},"
                          "{\"index\":0,\"embedding\":[1,0]}]}"),
         ENGINE_PROTOCOL},
        {ANSWER("200 OK", "{\"data\":[{\"index\":0,\"embedding\":[1,0]},"
                          "{\"index\":1,\"embedding\":[1,0,0]}]}"),
         ENGINE_PROTOCOL},
        {ANSWER("200 OK", "{\"data\":[{\"index\":0,\"embedding\":[0,0]},"
                          "{\"index\":1,\"embedding\":[1,\"x\"]}]}"),
         ENGINE_PROTOCOL},
        {ANSWER("200 OK", "{\"data\":[{\"index\":0,\"embedding\":[1e200,0]},"
                          "{\"index\":1,\"embedding\":[1,0]}]}"),
         ENGINE_PROTOCOL},
        {ANSWER("200 OK", "no json"), ENGINE_PROTOCOL},
        {ANSWER("401 No", "{\"error\":{\"message\":\"bad key sk-secret-embed\"}}"), ENGINE_AUTH},
        {ANSWER("503 Busy", "busy"), ENGINE_TRANSIENT},
    };
    struct llm_rig *rig = open_rig();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct made made;
        ask(rig, &rows[i].script, &made);
        CHECK_INT(made.events, 1);
        CHECK_INT(made.error, rows[i].error);
        CHECK(strstr(made.message, "sk-secret") == NULL);
    }
    llm_rig_free(rig);
}
