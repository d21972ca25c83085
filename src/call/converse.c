/* Carries out what the conversation of a call decides: engines, room, documents, tools, journal;
 * and hands it what they answer. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/js.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "call/internal.h"
#include "call/trace.h"
#include "know/know.h"
#include "model/agent.h"
#include "model/language.h"

enum { FOUND_MAX_BYTES = 128 * 1024 };

struct ask { /* a look-up under way; freed when it is answered */
    struct list_node node;
    struct live_call *call; /* NULL: the call has gone */
    uint32_t gen;
    char *query; /* owned */
};

static int64_t now_us(const struct live_call *call)
{
    return loop_now_us(call->home->media.loop);
}

/* What comes back. */

static void on_stt(void *arg, const struct stt_event *event)
{
    struct live_call *call = arg;
    log_scope(call->id, NULL);
    if (event->kind == STT_FINAL)
        media_told(&call->media);
    talk_heard(call->talk, event, now_us(call));
    converse_act(call);
    log_scope(NULL, NULL);
}

static void on_llm(void *arg, const struct llm_event *event)
{
    struct live_call *call = arg;
    log_scope(call->id, NULL);
    talk_model(call->talk, event, now_us(call));
    converse_act(call);
    log_scope(NULL, NULL);
}

static void on_tts(void *arg, const struct tts_event *event)
{
    struct live_call *call = arg;
    log_scope(call->id, NULL);
    speak_heard(&call->speak, event, now_us(call));
    converse_act(call);
    log_scope(NULL, NULL);
}

static void on_time(void *arg)
{
    struct live_call *call = arg;
    log_scope(call->id, NULL);
    talk_time(call->talk, now_us(call));
    converse_act(call);
    log_scope(NULL, NULL);
}

static void on_talk(void *arg)
{
    converse_act(arg);
}

/* Documents. */

static void write_passage(const struct llm_passage *passage, struct js_out *out)
{
    js_out_object(out);
    js_out_key(out, "document");
    js_out_text(out, passage->document);
    js_out_key(out, "question");
    js_out_text(out, passage->question);
    js_out_key(out, "text");
    js_out_text(out, passage->text);
    js_out_key(out, "similarity");
    js_out_real(out, passage->similarity);
    js_out_object_end(out);
}

/* For who watches: the question as it was asked, and what the model is given. */
static void tell_found(struct live_call *call, const char *query,
                       const struct llm_passage *passages, size_t count)
{
    if (!call->is_watched)
        return;
    AUTO_BUF text = BUF_INIT(FOUND_MAX_BYTES);
    struct js_out out;
    js_out_init(&out, &text);
    js_out_object(&out);
    js_out_key(&out, "at");
    js_out_time(&out, live_call_wall_ms(call, now_us(call)));
    js_out_key(&out, "query");
    js_out_text(&out, query);
    js_out_key(&out, "passages");
    js_out_array(&out);
    for (size_t i = 0; i < count; i++)
        write_passage(&passages[i], &out);
    js_out_array_end(&out);
    js_out_object_end(&out);
    if (!text.is_full)
        live_call_news(call, CALL_NEWS_PASSAGES, text.data);
}

static void on_found(void *arg, enum err err, const struct hit_list *hits)
{
    struct ask *ask = arg;
    struct live_call *call = ask->call;
    uint32_t gen = ask->gen;
    AUTO_MEM char *query = ask->query;
    list_remove(&ask->node);
    mem_free(ask);
    if (!call)
        return;
    struct llm_passage passages[KNOW_HITS_MAX];
    size_t count = err ? 0 : MIN(hits->count, (size_t)KNOW_HITS_MAX);
    for (size_t i = 0; i < count; i++)
        passages[i] = (struct llm_passage){
            .question = hits->items[i].question && *hits->items[i].question
                            ? hits->items[i].question
                            : NULL,
            .text = hits->items[i].text,
            .document = hits->items[i].document,
            .similarity = hits->items[i].similarity,
        };
    tell_found(call, query, passages, count);
    talk_found(call->talk, gen, passages, count, now_us(call));
    converse_act(call);
}

static void look_up(struct live_call *call, const struct talk_action *action)
{
    struct ask *ask = mem_new(struct ask);
    ask->call = call;
    ask->gen = action->gen;
    list_push_back(&call->converse.asks, &ask->node);
    const struct know_question question = {.workspace_id = call->plan->row->user_id,
                                           .document_ids = &call->plan->agent->document_ids,
                                           .query =
                                               follow_up(&call->converse.follow, action->text)};
    ask->query = mem_strdup(question.query);
    if (know_ask(call->home->config->know, &question, call->home->media.loop, on_found, ask) == OK)
        return;
    list_remove(&ask->node);
    mem_free(ask->query);
    mem_free(ask);
    talk_found(call->talk, action->gen, NULL, 0, now_us(call));
}

/* Tools. */

static void on_tool_done(void *arg, uint32_t id, const struct tool_result *result)
{
    struct live_call *call = arg;
    talk_tool_done(call->talk, id, result->is_success,
                   result->is_success ? result->model_text : result->error, now_us(call));
    converse_act(call);
}

static void run_tool(struct live_call *call, const struct talk_action *action)
{
    const struct tool *tool = call_tools_find(&call->tools, action->name);
    if (!tool || !call->tools.http) {
        talk_tool_done(call->talk, action->gen, false, "there is no such tool", now_us(call));
        return;
    }
    AUTO(js) arguments = NULL;
    if (js_parse(action->text, strlen(action->text), 16, &arguments, NULL) != OK)
        arguments = js_object();
    call_tools_run(&call->tools, tool, arguments, action->gen, on_tool_done, call);
}

/* What is told. */

/* A call does not end for want of room for these: what does not fit is lost. */
void converse_on_run(void *arg, const struct call_run *run)
{
    struct live_call *call = arg;
    bool has_begun = run->status == CALL_RUN_RUNNING;
    const struct journal_record record = {
        .kind = has_begun ? JOURNAL_RUN_BEGAN : JOURNAL_RUN_ENDED,
        .a = (char *)(has_begun ? run->name : run->result),
        .b = (char *)(has_begun ? run->arguments : run->error),
        .at_wall_ms = live_call_wall_ms(call, now_us(call)),
        .run = {.number = run->number,
                .kind = run->kind,
                .status = run->status,
                .http_status = run->http_status,
                .ms = run->ms},
    };
    if (journal_add(call->journal, &record) != OK)
        log_warn("call.tool_run_lost", LOG_S("call", call->id), LOG_I("run", run->number));
}

static void send_transcript(struct live_call *call, const struct talk_action *action)
{
    char segment[ID_SIZE + 16];
    snprintf(segment, sizeof(segment), "SG_%s_%u", call->id, (unsigned)action->segment);
    struct room_transcript line = {
        .segment_id = segment,
        .text = action->text,
        .is_agent = action->role == TALK_AGENT,
        .is_final = action->is_last,
        .language = call->engines.iso,
    };
    call->room->ops->send_transcript(call->room, &line);
}

static void count_steps(const struct turn_timing *timing)
{
    double from_ms, to_ms;
    for (int i = 0; i < STEP_COUNT; i++)
        if (timing->at_wall_ms && timing_step(timing, (enum timing_step)i, &from_ms, &to_ms))
            metric_observe_label_us(METRIC_TURN_STEP_SECONDS, timing_step_names[i],
                                    (int64_t)((to_ms - from_ms) * 1000));
}

static void write_turn(struct live_call *call, const struct talk_action *action)
{
    struct turn_timing timing = quality_timing(call, action->timing);
    count_steps(&timing);
    trace_turn(call, &timing);
    live_call_record(call, &(struct journal_record){
                               .kind = JOURNAL_TURN,
                               .a = (char *)action->text,
                               .role = action->role == TALK_AGENT ? TURN_ASSISTANT : TURN_USER,
                               .at_wall_ms = live_call_wall_ms(call, action->at_us),
                               .timing = timing,
                           });
}

/* text: what the tenant is told; detail: the operator's, NULL: none. */
static void write_error(struct live_call *call, enum talk_stage stage, const char *text,
                        const char *detail)
{
    static const enum error_stage stages[] = {
        [TALK_STAGE_STT] = STAGE_STT,       [TALK_STAGE_LLM] = STAGE_LLM,
        [TALK_STAGE_TTS] = STAGE_TTS,       [TALK_STAGE_GREETING] = STAGE_GREETING,
        [TALK_STAGE_SPEECH] = STAGE_SPEECH,
    };
    log_warn("call.error", LOG_S("call", call->id), LOG_S("stage", talk_stage_name(stage)),
             LOG_S("message", text), LOG_S("detail", detail ? detail : ""));
    metric_add_label(METRIC_CALL_ERRORS, talk_stage_name(stage), 1);
    live_call_record(call, &(struct journal_record){
                               .kind = JOURNAL_ERROR, .a = (char *)text, .stage = stages[stage]});
}

/* Engines. */

static const enum engine_kind kinds[] = {
    [TALK_STT] = ENGINE_STT,
    [TALK_LLM] = ENGINE_LLM,
    [TALK_TTS] = ENGINE_TTS,
};

static void tell_window(struct live_call *call)
{
    talk_set_window(call->talk, call->engines.choice[ENGINE_LLM].info->context_tokens);
}

/* Another recogniser: it is given what the caller has been saying. */
static void hear_again(struct live_call *call)
{
    if (talk_is_hearing(call->talk))
        talk_hears_again(call->talk, media_say_again(&call->media), now_us(call));
}

static void reopen(struct live_call *call, enum talk_engine engine, bool is_fallback)
{
    enum engine_kind kind = kinds[engine];
    engines_open(&call->engines, kind, is_fallback);
    call->media.stt = call->engines.stt;
    log_info("call.engine_opened", LOG_S("call", call->id),
             LOG_S("engine", call->engines.choice[kind].info->id));
    tell_window(call);
    talk_engine_opened(call->talk, engine, engines_has_more(&call->engines, kind), now_us(call));
    if (engine == TALK_STT)
        hear_again(call);
}

static void change_language(struct live_call *call, const char *id)
{
    const struct language *language = language_by_id(id);
    engines_change_language(&call->engines, language ? language->iso : id);
    call->media.stt = call->engines.stt;
    hear_again(call);
    if (!call->speak.owed)
        return;
    speak_drop(&call->speak); /* the old voice owes it no more: the new one says it */
    talk_engine_opened(call->talk, TALK_TTS, engines_has_more(&call->engines, ENGINE_TTS),
                       now_us(call));
}

/* Actions. */

static void act(struct live_call *call, const struct talk_action *action)
{
    struct engines *engines = &call->engines;
    switch (action->what) {
    case TALK_DO_FLUSH:
        engines->stt->ops->flush(engines->stt, action->gen);
        break;
    case TALK_DO_LOOK_UP:
        look_up(call, action);
        break;
    case TALK_DO_ASK:
        engines->llm->ops->start(engines->llm, action->gen, action->request);
        break;
    case TALK_DO_UNASK:
        engines->llm->ops->cancel(engines->llm);
        break;
    case TALK_DO_SPEAK:
        speak_piece(&call->speak, action, now_us(call));
        break;
    case TALK_DO_UNSPEAK:
        engines->tts->ops->cancel(engines->tts);
        speak_drop(&call->speak);
        break;
    case TALK_DO_PAUSE:
    case TALK_DO_PLAY:
        media_play(&call->media, action->what == TALK_DO_PLAY);
        break;
    case TALK_DO_RUN_TOOL:
        run_tool(call, action);
        break;
    case TALK_DO_REOPEN:
        reopen(call, action->engine, action->is_fallback);
        break;
    case TALK_DO_LANGUAGE:
        change_language(call, action->text);
        break;
    case TALK_DO_STATE:
        snprintf(call->converse.agent_state, sizeof(call->converse.agent_state), "%s",
                 action->text);
        live_call_news(call, CALL_NEWS_STATE, action->text);
        call->room->ops->set_agent_state(call->room, action->text);
        break;
    case TALK_DO_TRANSCRIPT:
        send_transcript(call, action);
        break;
    case TALK_DO_TURN:
        write_turn(call, action);
        break;
    case TALK_DO_ANSWERED:
        metric_observe_us(METRIC_TURN_SECONDS, now_us(call) - action->at_us);
        break;
    case TALK_DO_ERROR:
        write_error(call, action->stage, action->text, action->detail);
        break;
    case TALK_DO_HANG_UP:
        live_call_end(call, END_API);
        break;
    }
}

void converse_act(struct live_call *call)
{
    /* What act() does may ask for more at once (a line that is known by heart, a tool that is not
     * there): the loop below, which is running, takes that too, in its order. */
    if (call->converse.is_acting || !call->talk)
        return;
    call->converse.is_acting = true;
    struct talk_action action;
    while (call->status != CALL_ENDED && talk_action(call->talk, &action))
        act(call, &action);
    call->converse.is_acting = false;
    int64_t due_us = talk_deadline_us(call->talk);
    if (call->status == CALL_ENDED || due_us == INT64_MAX)
        timer_stop(&call->converse.timer);
    else
        timer_set(&call->converse.timer, due_us);
}

void converse_finish(struct live_call *call)
{
    struct talk_action action;
    while (talk_action(call->talk, &action))
        if (action.what == TALK_DO_TURN || action.what == TALK_DO_TRANSCRIPT ||
            action.what == TALK_DO_ERROR)
            act(call, &action);
}

/* Open and close. */

static void open_media(struct live_call *call)
{
    const struct call_vad *sent = &call->plan->start->config.vad;
    struct vad_config vad = {
        .threshold = sent->threshold,
        .min_speech_ms = (int)sent->min_speech_ms,
        .min_silence_ms = (int)sent->min_silence_ms,
        .prefix_padding_ms = (int)sent->prefix_padding_ms,
    };
    call->media = (struct media){
        .call_id = call->id,
        .loop = call->home->media.loop,
        .pacer = call->home->pacer,
        .room = call->room,
        .talk = call->talk,
        .stt = call->engines.stt,
        .on_talk = on_talk,
        .arg = call,
        .profile = call->home->best,
        .lines = call->home->lines,
    };
    media_open(&call->media, &vad);
    media_encode_as(&call->media, call->home->first);
    call->speak = (struct speak){
        .engines = &call->engines,
        .media = &call->media,
        .talk = call->talk,
        .lines = call->home->lines,
        .workspace_id = call->plan->row->user_id,
    };
}

void converse_open(struct live_call *call)
{
    struct engines *engines = &call->engines;
    engines->loop = call->home->media.loop;
    engines->on_stt = on_stt;
    engines->on_llm = on_llm;
    engines->on_tts = on_tts;
    engines->arg = call;
    engines->vocabulary = setup_vocabulary(call->setup);
    engines->words = setup_words(call->setup);
    call->talk = talk_new(&call->converse.config);
    timer_init(&call->converse.timer, call->home->media.loop, on_time, call);
    engines->is_ahead = true; /* nobody has joined */
    for (int i = 0; i < ENGINE_CALL_KINDS; i++)
        engines_open(engines, (enum engine_kind)i, false);
    engines->is_ahead = false;
    open_media(call);
}

/* An engine that was off when the call started is an error of the call, as one that fails is. */
static void tell_replaced(struct live_call *call)
{
    static const enum talk_stage stages[] = {
        [TALK_STT] = TALK_STAGE_STT, [TALK_LLM] = TALK_STAGE_LLM, [TALK_TTS] = TALK_STAGE_TTS};
    for (int i = TALK_STT; i <= TALK_TTS; i++) {
        const struct engine_choice *choice = &call->engines.choice[kinds[i]];
        if (!choice->is_replaced)
            continue;
        AUTO_MEM char *message = mem_printf("%s is not available for this call; %s is used instead",
                                            choice->tried[0], choice->info->id);
        write_error(call, stages[i], message, NULL);
    }
}

/* Tools that are larger than a model's request may be, a greeting that nobody would hear out. */
static void tell_left_out(struct live_call *call)
{
    const char *message = setup_left_out(call->setup);
    if (message)
        write_error(call, TALK_STAGE_LLM, message, NULL);
    if (setup_left_out_greeting(call->setup))
        write_error(call, TALK_STAGE_GREETING,
                    "the greeting is too long when its variables are filled in, and is left out",
                    NULL);
}

void converse_begin(struct live_call *call)
{
    tell_replaced(call);
    tell_left_out(call);
    tell_window(call);
    for (int i = TALK_STT; i <= TALK_TTS; i++)
        talk_engine_opened(call->talk, (enum talk_engine)i,
                           engines_has_more(&call->engines, kinds[i]), now_us(call));
    talk_begin(call->talk, now_us(call));
}

void converse_close(struct live_call *call)
{
    struct ask *ask;
    LIST_EACH (ask, &call->converse.asks, struct ask, node) {
        list_remove(&ask->node);
        ask->call = NULL;
    }
    follow_clear(&call->converse.follow);
    call_tools_stop(&call->tools);
    if (!call->talk)
        return;
    timer_stop(&call->converse.timer);
    media_clear(&call->media);
    speak_clear(&call->speak);
    engines_close(&call->engines);
}
