#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/loop.h"
#include "base/mem.h"
#include "fake/chat_server.h"
#include "net/http_client.h"
#include "net/resolver.h"

enum { ANSWER_US = 60000000, TURN_US = 1000 };

struct registry *rig_registry(struct vendor *vendor, const char *const *settings, size_t count)
{
    AUTO(config) config = NULL;
    static char *none[] = {NULL};
    struct fault fault = {0};
    struct registry *registry = NULL;
    enum err err = config_load(NULL, none, &config, &fault);
    for (size_t i = 0; i < count && err == OK; i++) {
        AUTO_MEM char *section = mem_strdup(settings[i]);
        char *value = strchr(section, '='), *name = NULL;
        *value++ = '\0';
        name = strrchr(section, '.');
        *name++ = '\0';
        err = config_set(config, section, name, value, &fault);
    }
    if (!err)
        err =
            registry_new(config, vendor_adapters, vendor_adapter_count, vendor, &registry, &fault);
    if (!err)
        return registry;
    fprintf(stderr, "rig: %s\n", fault.text);
    abort();
}

static void stop(void *arg)
{
    loop_stop(arg);
}

void loop_run_for(struct loop *loop, int64_t us)
{
    struct timer timer;
    timer_init(&timer, loop, stop, loop);
    timer_set_after(&timer, us);
    loop_run(loop);
    timer_stop(&timer);
}

void loop_turns(struct loop *loop, int turns)
{
    for (int i = 0; i < turns; i++)
        loop_run_for(loop, TURN_US);
}

static void on_event(void *arg, const struct llm_event *event)
{
    struct llm_rig *rig = arg;
    if (event->gen != rig->gen)
        return;
    rig->events++;
    if (event->kind == LLM_TEXT)
        (void)buf_append_str(&rig->text, event->text);
    if (event->kind == LLM_TOOL_CALL) {
        rig->tools++;
        snprintf(rig->tool, sizeof(rig->tool), "%s", event->call.name);
        snprintf(rig->arguments, sizeof(rig->arguments), "%s", event->call.arguments);
        snprintf(rig->extra, sizeof(rig->extra), "%s", event->call.extra ? event->call.extra : "");
    }
    if (event->kind == LLM_ERROR) {
        rig->error = event->error;
        rig->retry_us = event->retry_us;
        snprintf(rig->message, sizeof(rig->message), "%s", event->message);
    }
    if (event->kind != LLM_DONE && event->kind != LLM_ERROR)
        return;
    rig->is_done = true;
    rig->is_cut = event->is_cut;
    loop_stop(rig->loop);
}

static void open_engine(struct llm_rig *rig, const char *engine, const char *const *settings,
                        size_t count)
{
    rig->vendor = vendor_new(&(struct vendor_config){.voice_path = ""});
    vendor_add_loop(rig->vendor, rig->loop, rig->http, NULL);
    rig->registry = rig_registry(rig->vendor, settings, count);
    rig->engine = registry_find(rig->registry, ENGINE_LLM, engine);
    buf_init(&rig->text, 65536);
    if (!rig->engine)
        return; /* of another kind: the test opens it */
    struct llm_config config = {.model = rig->engine->info.models[0], .workspace = "usr_1"};
    rig->llm = rig->engine->ops.llm->open(rig->engine, &config, rig->loop, on_event, rig);
}

void llm_rig_next_call(struct llm_rig *rig)
{
    rig->llm->ops->close(rig->llm);
    struct llm_config config = {
        .model = rig->engine->info.models[0], .workspace = "usr_1", .is_ahead = rig->is_ahead};
    rig->llm = rig->engine->ops.llm->open(rig->engine, &config, rig->loop, on_event, rig);
}

struct llm_rig *llm_rig_new(const char *engine)
{
    static const char *const settings[] = {"engine.standin-llm.enabled=true",
                                           "engine.standin-llm.delay_ms=150"};
    struct llm_rig *rig = mem_new(struct llm_rig);
    rig->loop = loop_new("rig");
    open_engine(rig, engine, settings, ARRAY_LEN(settings));
    return rig;
}

struct llm_rig *llm_rig_chat(const char *const *settings, size_t count)
{
    return llm_rig_chat_of("openai", settings, count);
}

struct llm_rig *llm_rig_chat_of(const char *engine, const char *const *settings, size_t count)
{
    struct llm_rig *rig = mem_new(struct llm_rig);
    const char *all[16];
    rig->loop = loop_new("rig");
    rig->server = chat_server_open(rig->loop);
    if (guard_new(NULL, &rig->guard, NULL) != OK ||
        resolver_new(rig->loop, rig->guard, NULL, &rig->resolver, NULL) != OK)
        abort();
    rig->http = http_client_new(rig->loop, &(struct http_client_config){.resolver = rig->resolver});
    AUTO_MEM char *url = mem_printf("engine.%s.url=%s/", engine, chat_server_url(rig->server));
    all[0] = url;
    for (size_t i = 0; i < count; i++)
        all[i + 1] = settings[i];
    open_engine(rig, engine, all, count + 1);
    return rig;
}

void llm_rig_free(struct llm_rig *rig)
{
    if (rig->llm)
        rig->llm->ops->close(rig->llm);
    buf_clear(&rig->text);
    registry_free(rig->registry);
    vendor_free(rig->vendor);
    http_client_free(rig->http);
    if (rig->server)
        chat_server_close(rig->server);
    resolver_free(rig->resolver);
    guard_free(rig->guard);
    loop_free(rig->loop);
    mem_free(rig);
}

const char *llm_rig_ask(struct llm_rig *rig, const struct llm_request *request)
{
    buf_reset(&rig->text);
    rig->events = rig->tools = 0;
    rig->tool[0] = rig->arguments[0] = rig->extra[0] = rig->message[0] = '\0';
    rig->is_done = false;
    rig->error = ENGINE_OK;
    rig->llm->ops->start(rig->llm, ++rig->gen, request);
    loop_run_for(rig->loop, ANSWER_US);
    return rig->text.data ? rig->text.data : "";
}
