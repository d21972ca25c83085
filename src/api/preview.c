/* POST /v1/voices/preview: a voice is heard before an agent has it. */
#include "call/preview.h"

#include "api/request.h"
#include "api/resources.h"
#include "api/run.h"
#include "call/calls.h"
#include "engine/registry.h"
#include "model/agent.h"
#include "store/workspace.h"

struct preview_body {
    struct agent_voice voice;
    const char *text;
};
static const struct field body_rows[] = {
    ROW_OBJECT(struct preview_body, voice, "voice", struct agent_voice, &agent_voice_table,
               .about = "As of an agent."),
    ROW_TEXT(struct preview_body, text, "text", .flags = FIELD_OPTIONAL, .min = 1,
             .max = PREVIEW_TEXT_MAX,
             .about = "What it says; without it, the sampleText of the language."),
};
FIELD_TABLE(preview_body_table, struct preview_body, "VoicePreview", body_rows);

/* The outcome. Control loop. */

enum { RETRY_S = 2 /* a sentence */ };

static void refuse(struct request *request, enum err err)
{
    if (err == ERR_LIMIT) {
        request_error_says(request, API_RATE_LIMITED,
                           "The workspace listens to a voice already; retry when it has spoken.");
        answer_header(&request->answer, "Retry-After", arena_printf(request->arena, "%d", RETRY_S));
    } else if (err == ERR_INVALID) {
        request_fault(request, "voice.speaker", "or the text is refused by the engine");
    } else if (err == ERR_TIMEOUT || err == ERR_IO) {
        request_error_says(request, API_UNAVAILABLE, "The voice does not answer; retry soon.");
    } else {
        request_error(request, API_UNAVAILABLE);
    }
}

static void on_heard(void *arg, enum err err, struct buf *wav)
{
    struct request *request = arg;
    if (err) {
        refuse(request, err);
    } else {
        request_answer_as(request, 200, "audio/wav");
        buf_reset(&request->answer.body);
        (void)buf_append(&request->answer.body, wav->data, wav->len);
    }
    run_finish(request);
}

static void ask(struct request *request)
{
    calls_preview(request->deps->calls, request->job.state, on_heard, request);
}

/* What is asked for. */

/* false: answered. */
static bool find_engine(struct request *request, const struct agent_voice *voice,
                        struct preview_wish *wish)
{
    const struct catalog_language *language =
        catalog_language(request->deps->catalog, voice->language);
    wish->engine = registry_find(request->deps->registry, ENGINE_TTS, voice->provider);
    wish->language = language->iso;
    if (!wish->engine || !wish->engine->info.is_enabled || !wish->engine->ops.tts)
        request_fault(request, "voice.provider", "is switched off");
    else if (!engine_speaks(&wish->engine->info, language->iso))
        request_fault(request, "voice.provider", "does not speak this language");
    else
        return true;
    return false;
}

static bool has_balance(struct request *request)
{
    struct workspace workspace;
    if (!request_found(
            request, store_workspace_get(request->job.tx, request_workspace(request), &workspace)))
        return false;
    if (workspace.balance_usd4 <= 0)
        request_error(request, API_INSUFFICIENT_BALANCE);
    return workspace.balance_usd4 > 0;
}

void voices_preview(struct request *request)
{
    struct arena *arena = request->arena;
    const struct catalog *catalog = request->deps->catalog;
    struct preview_wish *wish = arena_new_of(arena, struct preview_wish);
    struct preview_body body;
    struct field_context context;
    request_context(request, &context);
    field_create(&preview_body_table, &body, request_json(request), &context, "");
    if (!request_is_valid(request, &context))
        return;
    agent_voice_settle(&body.voice, js_get(request_json(request), "voice"), catalog);
    if (!find_engine(request, &body.voice, wish) || !has_balance(request))
        return;
    wish->workspace_id = request_workspace(request);
    wish->speaker = arena_strdup(arena, body.voice.speaker);
    wish->emotion = arena_strdup(arena, body.voice.emotion);
    wish->text = arena_strdup(
        arena, body.text ? body.text : catalog_language(catalog, body.voice.language)->sample);
    wish->speed = body.voice.speed;
    wish->volume = body.voice.volume;
    request->job.state = wish;
    request_after(request, ask);
}
