/* Carries out what a reply wants: the model, the documents and the tools are asked by the call, its
 * words go to the voice, what failed to the engines' health. */
#include <stdio.h>
#include <string.h>

#include "talk/internal.h"

static void say(struct talk *talk, const struct reply_want *want)
{
    voice_say(&talk->voice, want->kind, phrase_line(want->phrase, talk->iso), false);
}

static void tell_error(struct talk *talk, const struct reply_want *want)
{
    voice_tell_silent(&talk->voice, want->text);
}

static void change_language(struct talk *talk, const char *iso)
{
    snprintf(talk->iso, sizeof(talk->iso), "%s", iso);
    endpoint_change_language(&talk->hear.endpoint, iso);
    talk_do(talk, (struct talk_action){.what = TALK_DO_LANGUAGE, .text = iso});
}

static void carry_out(struct talk *talk, const struct reply_want *want, int64_t now_us)
{
    switch (want->wish) {
    case REPLY_WANTS_LOOK_UP:
        timing_pass(&talk->timing, POINT_LOOK_UP, now_us);
        talk_do(talk, (struct talk_action){.what = TALK_DO_LOOK_UP,
                                           .gen = ++talk->mind.last_gen,
                                           .text = want->text});
        break;
    case REPLY_WANTS_ASK:
        timing_pass(&talk->timing, POINT_ASKED, now_us);
        if (!health_is_closed(&talk->health, TALK_LLM)) /* else it is asked when it is open */
            talk_do(talk, (struct talk_action){.what = TALK_DO_ASK, .gen = ++talk->mind.last_gen});
        break;
    case REPLY_WANTS_UNASK:
        talk_do(talk, (struct talk_action){.what = TALK_DO_UNASK});
        break;
    case REPLY_WANTS_PIECE:
        timing_pass(&talk->timing, want->is_fixed ? POINT_HOLD : POINT_FIRST_SENTENCE, now_us);
        voice_add(&talk->voice, want->kind, want->text, want->is_fixed);
        break;
    case REPLY_WANTS_LINE_END:
        voice_close(&talk->voice);
        break;
    case REPLY_WANTS_SAY:
        timing_pass(&talk->timing, POINT_FIRST_SENTENCE, now_us);
        say(talk, want);
        break;
    case REPLY_WANTS_ERROR:
        tell_error(talk, want);
        break;
    case REPLY_WANTS_TOOLS:
        mind_start_tools(&talk->mind, now_us);
        break;
    case REPLY_WANTS_RUN:
        talk_do(talk, (struct talk_action){.what = TALK_DO_RUN_TOOL,
                                           .gen = want->id,
                                           .name = want->name,
                                           .text = want->text});
        break;
    case REPLY_WANTS_LANGUAGE:
        change_language(talk, want->text);
        break;
    case REPLY_WANTS_HANG_UP:
        talk->is_ending = true;
        break;
    }
}

static void carry_out_all(struct talk *talk, int64_t now_us)
{
    struct reply_want want;
    while (reply_want(&talk->mind.reply, &want))
        carry_out(talk, &want, now_us);
}

void answer_cancel(struct talk *talk, int64_t now_us)
{
    timing_drop(&talk->timing);
    mind_cancel(&talk->mind);
    carry_out_all(talk, now_us);
}

void answer_start(struct talk *talk, const char *caller, bool is_committed, int64_t now_us)
{
    answer_cancel(talk, now_us);
    timing_begin(&talk->timing);
    reply_start(&talk->mind.reply, caller, endpoint_unsure(&talk->hear.endpoint), is_committed,
                talk->config->has_documents, now_us);
    carry_out_all(talk, now_us);
}

void answer_commit(struct talk *talk, const char *caller, int64_t now_us)
{
    struct reply *reply = &talk->mind.reply;
    if (reply->is_committed ||
        !reply_answers(reply, caller, endpoint_unsure(&talk->hear.endpoint))) {
        answer_start(talk, caller, true, now_us);
        return;
    }
    reply_commit(reply);
    carry_out_all(talk, now_us);
}

static void model_failed(struct talk *talk, const struct llm_event *event, int64_t now_us)
{
    struct reply *reply = &talk->mind.reply;
    enum talk_stage stage = reply->is_greeting ? TALK_STAGE_GREETING : TALK_STAGE_LLM;
    health_failed(&talk->health,
                  &(struct talk_failure){TALK_LLM, stage, event->error, event->message, false},
                  now_us);
    reply_failed(reply, event, health_is_closed(&talk->health, TALK_LLM), now_us);
}

void answer_reopened(struct talk *talk, int64_t now_us)
{
    reply_reopened(&talk->mind.reply, now_us);
    carry_out_all(talk, now_us);
}

void answer_settle(struct talk *talk, int64_t now_us)
{
    switch (reply_settle(&talk->mind.reply, floor_quiet_us(talk), now_us)) {
    case REPLY_IN_TIME:
        break;
    case REPLY_MODEL_IS_LATE:
        model_failed(talk, &(struct llm_event){.error = ENGINE_TIMEOUT}, now_us);
        break;
    case REPLY_TOOLS_ARE_LATE:
        mind_tools_are_late(&talk->mind, now_us);
        break;
    }
    carry_out_all(talk, now_us);
}

void talk_found(struct talk *talk, uint32_t gen, const struct llm_passage *passages, size_t count,
                int64_t now_us)
{
    if (talk->mind.reply.state != REPLY_LOOKING || gen != talk->mind.last_gen)
        return;
    timing_pass(&talk->timing, POINT_LOOKED_UP, now_us);
    reply_found(&talk->mind.reply, passages, count, now_us);
    carry_out_all(talk, now_us);
    talk_settle(talk, now_us);
}

static void note_first_token(struct talk *talk, int64_t now_us)
{
    struct reply *reply = &talk->mind.reply;
    timing_pass(&talk->timing, POINT_FIRST_TOKEN, now_us);
    if (!reply->answer.has_token)
        quality_add(&talk->quality.first_token, now_us - reply->answer.asked_us);
    reply->answer.has_token = true;
}

void talk_model(struct talk *talk, const struct llm_event *event, int64_t now_us)
{
    struct reply *reply = &talk->mind.reply;
    if (reply->state != REPLY_ASKED || event->gen != talk->mind.last_gen ||
        talk->floor == TURN_OVER)
        return;
    if (event->kind != LLM_ERROR)
        note_first_token(talk, now_us);
    switch (event->kind) {
    case LLM_TEXT:
        reply_text(reply, event->text, now_us);
        if (reply->state != REPLY_ASKED) /* it has said more than an answer may hold */
            health_worked(&talk->health, TALK_LLM);
        break;
    case LLM_TOOL_CALL:
        reply_take_call(reply, &event->call, now_us);
        break;
    case LLM_DONE:
        health_worked(&talk->health, TALK_LLM);
        reply_done(reply);
        break;
    case LLM_ERROR:
        model_failed(talk, event, now_us);
        break;
    }
    carry_out_all(talk, now_us);
    talk_settle(talk, now_us);
}

void talk_tool_done(struct talk *talk, uint32_t id, bool is_ok, const char *result, int64_t now_us)
{
    mind_tool_done(&talk->mind, id, is_ok, result, now_us);
    carry_out_all(talk, now_us);
    talk_settle(talk, now_us);
}
