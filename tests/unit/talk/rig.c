#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llm.h"
#include "engine/stt.h"
#include "engine/tts.h"

enum { FRAME_US = 20000, FRAME_SAMPLES = 960, VOICE_CHUNK = 4800 };

static void act_all(struct rig *rig);

int64_t rig_ms(const struct rig *rig)
{
    return rig->now_us / 1000;
}

static void later(struct rig *rig, int64_t delay_us, void (*fn)(void *rig, struct rig_event *event),
                  uint32_t gen, uint32_t epoch, const char *text)
{
    for (int i = 0; i < RIG_EVENTS; i++) {
        struct rig_event *event = &rig->events[i];
        if (event->fn)
            continue;
        *event = (struct rig_event){
            .due_us = rig->now_us + delay_us, .fn = fn, .gen = gen, .epoch = epoch};
        snprintf(event->text, sizeof(event->text), "%s", text ? text : "");
        return;
    }
    abort();
}

/* Scripted engines. */

static void stt_answers(void *arg, struct rig_event *event)
{
    struct rig *rig = arg;
    if (*event->text)
        talk_heard(rig->talk, &(struct stt_event){.kind = STT_FINAL, .text = event->text},
                   rig->now_us);
    talk_heard(rig->talk, &(struct stt_event){.kind = STT_FLUSHED, .gen = event->gen}, rig->now_us);
}

static void model_answers(void *arg, struct rig_event *event)
{
    struct rig *rig = arg;
    if (event->epoch != rig->model_epoch)
        return;
    struct llm_event answer = {.gen = event->gen};
    if (rig->model_failures > 0) {
        rig->model_failures--;
        answer.kind = LLM_ERROR;
        answer.error = rig->model_error ? rig->model_error : ENGINE_TRANSIENT;
        answer.retry_us = rig->model_retry_us;
        answer.message = "scripted";
        talk_model(rig->talk, &answer, rig->now_us);
        return;
    }
    if (rig->tool) {
        answer.kind = LLM_TOOL_CALL;
        answer.call = (struct llm_tool_call){.id = "t1", .name = rig->tool, .arguments = "{}"};
        if (!rig->is_tool_mad)
            rig->tool = NULL;
        talk_model(rig->talk, &answer, rig->now_us);
    } else if (*event->text) {
        answer.kind = LLM_TEXT;
        answer.text = event->text;
        talk_model(rig->talk, &answer, rig->now_us);
    }
    answer.kind = LLM_DONE;
    talk_model(rig->talk, &answer, rig->now_us);
}

static void voice_answers(void *arg, struct rig_event *event)
{
    struct rig *rig = arg;
    if (event->epoch != rig->voice_epoch)
        return;
    struct tts_event sound = {.kind = TTS_AUDIO, .gen = event->gen};
    if (rig->voice_failures > 0) {
        rig->voice_failures--;
        sound.kind = TTS_ERROR;
        sound.error = rig->voice_error ? rig->voice_error : ENGINE_TRANSIENT;
        sound.is_fatal = true;
        if (talk_voice(rig->talk, &sound, rig->now_us))
            abort();
        return;
    }
    if (rig->unspeakable && strstr(event->text, rig->unspeakable)) {
        sound.kind = TTS_ERROR;
        sound.error = ENGINE_BAD_REQUEST;
        if (talk_voice(rig->talk, &sound, rig->now_us))
            abort();
        return;
    }
    bool has_sound = !rig->soundless || !strstr(event->text, rig->soundless);
    sound.count = has_sound ? strlen(event->text) * RIG_CHAR_SAMPLES : 0;
    if (has_sound && talk_voice(rig->talk, &sound, rig->now_us))
        rig->queued += sound.count;
    sound.kind = TTS_DONE;
    if (talk_voice(rig->talk, &sound, rig->now_us))
        abort();
}

static void note_request(struct rig *rig, const struct llm_request *request)
{
    size_t len = 0;
    rig->request[0] = rig->ids[0] = 0;
    static const char roles[] = {'S', 'U', 'A', 'T'};
    for (size_t i = 0; i < request->message_count; i++)
        if (request->messages[i].tool_call_id)
            snprintf(rig->ids + strlen(rig->ids), sizeof(rig->ids) - strlen(rig->ids), "%s ",
                     request->messages[i].tool_call_id);
    for (size_t i = 0; i < request->message_count && len < sizeof(rig->request); i++)
        len += (size_t)snprintf(rig->request + len, sizeof(rig->request) - len, "%c:%s\n",
                                roles[request->messages[i].role],
                                request->messages[i].text ? request->messages[i].text : "");
}

/* Actions. */

static void note(struct rig *rig, const char *what, const char *text)
{
    buf_printf(&rig->log, "%lld %s %s\n", (long long)rig_ms(rig), what, text ? text : "");
}

static void act_speech(struct rig *rig, const struct talk_action *action)
{
    switch (action->what) {
    case TALK_DO_FLUSH:
        note(rig, "flush", "");
        if (!rig->is_stt_mute)
            later(rig, rig->stt_us, stt_answers, action->gen, 0, rig->words);
        if (!rig->is_stt_mute)
            rig->words = NULL;
        break;
    case TALK_DO_SPEAK:
        note(rig, "speak", action->text);
        if (!rig->is_voice_mute)
            later(rig, rig->voice_us, voice_answers, action->gen, rig->voice_epoch, action->text);
        break;
    case TALK_DO_UNSPEAK:
        note(rig, "unspeak", "");
        rig->voice_epoch++;
        rig->queued = 0;
        break;
    case TALK_DO_PAUSE:
    case TALK_DO_PLAY:
        rig->is_playing = action->what == TALK_DO_PLAY;
        note(rig, rig->is_playing ? "play" : "pause", "");
        break;
    default:
        break;
    }
}

static void found(void *arg, struct rig_event *event)
{
    struct rig *rig = arg;
    struct llm_passage passage = {.text = rig->passage, .document = "doc"};
    talk_found(rig->talk, event->gen, &passage, rig->passage ? 1 : 0, rig->now_us);
}

static void act_model(struct rig *rig, const struct talk_action *action)
{
    switch (action->what) {
    case TALK_DO_LOOK_UP:
        note(rig, "look up", action->text);
        later(rig, 5000, found, action->gen, 0, NULL);
        break;
    case TALK_DO_ASK:
        rig->asks++;
        note_request(rig, action->request);
        rig->offered = action->request->is_without_calls ? 0 : action->request->tool_count;
        note(rig, "ask", "");
        if (!rig->is_model_mute)
            later(rig, rig->model_us, model_answers, action->gen, rig->model_epoch, rig->reply);
        break;
    case TALK_DO_UNASK:
        note(rig, "unask", "");
        rig->model_epoch++;
        break;
    case TALK_DO_RUN_TOOL:
        note(rig, "run", action->name);
        break;
    default:
        break;
    }
}

static void act_told(struct rig *rig, const struct talk_action *action)
{
    static const char *const engines[] = {"stt", "llm", "tts"};
    switch (action->what) {
    case TALK_DO_STATE:
        note(rig, "state", action->text);
        break;
    case TALK_DO_TRANSCRIPT:
        if (action->role == TALK_AGENT)
            strncat(rig->live, action->text, sizeof(rig->live) - strlen(rig->live) - 1);
        note(rig, action->role == TALK_AGENT ? "agent line" : "caller line", action->text);
        break;
    case TALK_DO_TURN:
        note(rig, action->role == TALK_AGENT ? "agent turn" : "caller turn", action->text);
        rig->timings += action->timing != NULL;
        if (action->timing)
            rig->timing = *action->timing;
        break;
    case TALK_DO_ERROR:
        note(rig, "error", talk_stage_name(action->stage));
        snprintf(rig->error, sizeof(rig->error), "%s", action->text);
        snprintf(rig->detail, sizeof(rig->detail), "%s", action->detail ? action->detail : "");
        break;
    case TALK_DO_REOPEN:
        note(rig, action->is_fallback ? "fall back" : "reopen", engines[action->engine]);
        rig->reopened++;
        rig->has_more[action->engine] = rig->has_more[action->engine] && !action->is_fallback;
        talk_engine_opened(rig->talk, action->engine, rig->has_more[action->engine], rig->now_us);
        break;
    case TALK_DO_LANGUAGE:
        note(rig, "language", action->text);
        break;
    case TALK_DO_HANG_UP:
        note(rig, "hang up", "");
        rig->has_hung_up = true;
        talk_end(rig->talk, rig->now_us); /* as a call does */
        break;
    default:
        break;
    }
}

static void act_all(struct rig *rig)
{
    struct talk_action action;
    while (talk_action(rig->talk, &action)) {
        act_speech(rig, &action);
        act_model(rig, &action);
        act_told(rig, &action);
    }
}

/* Time. */

static void play_frame(struct rig *rig)
{
    if (!rig->is_playing || rig->queued == 0)
        return;
    size_t count = rig->queued < FRAME_SAMPLES ? rig->queued : FRAME_SAMPLES;
    rig->queued -= count;
    rig->played += count;
    if (!rig->first_sound_us)
        rig->first_sound_us = rig->now_us;
    rig->last_sound_us = rig->now_us;
    talk_played(rig->talk, count, rig->now_us);
}

static struct rig_event *next_event(struct rig *rig)
{
    struct rig_event *next = NULL;
    for (int i = 0; i < RIG_EVENTS; i++)
        if (rig->events[i].fn && (!next || rig->events[i].due_us < next->due_us))
            next = &rig->events[i];
    return next;
}

/* Milliseconds one by one: frames on the 20, then what is due. */
void rig_run(struct rig *rig, int64_t until_ms)
{
    act_all(rig);
    while (rig_ms(rig) < until_ms) {
        rig->now_us += 1000;
        if (rig->now_us % FRAME_US == 0)
            play_frame(rig);
        struct rig_event *event;
        while ((event = next_event(rig)) && event->due_us <= rig->now_us) {
            struct rig_event due = *event;
            event->fn = NULL;
            due.fn(rig, &due);
            act_all(rig);
        }
        if (talk_deadline_us(rig->talk) <= rig->now_us)
            talk_time(rig->talk, rig->now_us);
        act_all(rig);
    }
}

void rig_speak(struct rig *rig, const char *words, int64_t ms)
{
    rig->words = words;
    talk_voice_started(rig->talk, rig->now_us);
    rig_run(rig, rig_ms(rig) + ms);
    int64_t last_us = rig->now_us;
    rig_run(rig, rig_ms(rig) + 200);
    talk_voice_stopped(rig->talk, last_us, rig->now_us);
    act_all(rig);
}

void rig_partial(struct rig *rig, const char *text)
{
    talk_heard(rig->talk, &(struct stt_event){.kind = STT_PARTIAL, .text = text}, rig->now_us);
    act_all(rig);
}

/* Life. */

void rig_init(struct rig *rig)
{
    *rig = (struct rig){.reply = "This is the answer.",
                        .model_us = 100000,
                        .voice_us = 50000,
                        .stt_us = 100000,
                        .now_us = 1000000};
    rig->config = (struct talk_config){
        .iso = "en",
        .system = "Be brief.",
        .greeting_text = "",
        .greeting_instruction = "",
        .is_interruptible = true,
        .endpoint_min_us = 500000,
        .silence_us = 550000,
    };
    buf_init(&rig->log, 256 * 1024);
}

void rig_begin(struct rig *rig)
{
    rig->talk = talk_new(&rig->config);
    for (int i = 0; i < 3; i++)
        talk_engine_opened(rig->talk, (enum talk_engine)i, rig->has_more[i], rig->now_us);
    talk_begin(rig->talk, rig->now_us);
    talk_joined(rig->talk, rig->now_us);
    act_all(rig);
}

void rig_clear(struct rig *rig)
{
    talk_free(rig->talk);
    buf_clear(&rig->log);
}

bool rig_has(const struct rig *rig, const char *line)
{
    return rig->log.data && strstr(rig->log.data, line);
}

int rig_count(const struct rig *rig, const char *part)
{
    int count = 0;
    for (const char *at = rig->log.data; at && (at = strstr(at, part)); at++)
        count++;
    return count;
}

int64_t rig_when(const struct rig *rig, const char *part)
{
    const char *at = rig->log.data ? strstr(rig->log.data, part) : NULL;
    if (!at)
        return -1;
    while (at > rig->log.data && at[-1] != '\n')
        at--;
    return strtoll(at, NULL, 10);
}
