/* The life of a call: set up, who is in the room, what time and money allow, its end. Each step is
 * a record of the journal, with its event; nobody is told before it is stored. */
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "call/internal.h"
#include "model/agent.h"
#include "room/directory.h"
#include "room/host.h"
#include "store/money.h"

static void clock_due(void *arg);

int64_t live_call_wall_ms(const struct live_call *call, int64_t at_us)
{
    return clock_wall_ms() - (loop_now_us(call->home->media.loop) - at_us) / 1000;
}

static int64_t now_us(const struct live_call *call)
{
    return loop_now_us(call->home->media.loop);
}

/* ---- the end ---- */

static void tell_up(struct live_call *call, enum err err, const char *message)
{
    if (call->is_told)
        return;
    call->is_told = true;
    calls_is_up(call->home->calls, call->id, err, message);
}

static void free_later(void *arg)
{
    struct live_call *call = arg;
    tell_up(call, ERR_CLOSED, "the service ends");
    calls_is_gone(call->home->calls, call->id);
    map_remove_str(call->home->by_id, call->id);
    list_remove(&call->node);
    call->home->count--;
    talk_free(call->talk);
    setup_free(call->setup);
    journal_free(call->journal);
    call_plan_free(call->plan);
    mem_free(call->identity);
    mem_free(call->refusal);
    mem_free(call);
}

static void free_if_over(struct live_call *call)
{
    if (call->status != CALL_ENDED || call->is_room_open || call->is_closing ||
        !journal_is_idle(call->journal))
        return;
    call->is_closing = true;
    loop_defer(call->home->media.loop, free_later, call);
}

/* The journals of the loop are full: who has most in its own goes, not who came last. */
static struct live_call *fullest(struct call_loop *home)
{
    struct live_call *most = NULL, *call;
    LIST_EACH(call, &home->all, struct live_call, node)
    if (call->status != CALL_ENDED &&
        (!most || journal_waiting_bytes(call->journal) > journal_waiting_bytes(most->journal)))
        most = call;
    return most;
}

/* The end comes from the clock: this may be in the middle of anything. */
void live_call_record(struct live_call *call, const struct journal_record *record)
{
    enum err err = journal_add(call->journal, record);
    struct live_call *over = err == ERR_BUSY ? fullest(call->home) : err ? call : NULL;
    if (!over || over->is_over_full)
        return;
    log_error("call.journal_full", LOG_S("call", over->id),
              LOG_I("bytes", (int64_t)journal_waiting_bytes(over->journal)));
    over->is_over_full = true;
    timer_set_after(&over->clock, 0);
}

struct ending {
    enum end_reason reason;
    int64_t ended_wall_ms, billed_to_wall_ms;
    bool is_limit, has_left;
};

static void end(struct live_call *call, const struct ending *ending)
{
    static const enum room_close_reason closings[END_REASON_COUNT] = {
        [END_AGENT_SHUTDOWN] = ROOM_CLOSE_SHUTDOWN,
        [END_DISPATCH_FAILED] = ROOM_CLOSE_ERROR,
    };
    if (call->status == CALL_ENDED)
        return;
    if (call->talk) {
        talk_end(call->talk, now_us(call));
        converse_finish(call);
    }
    life_move(&call->status, LIFE_END, call->id);
    call->end_reason = ending->reason;
    timer_stop(&call->clock);
    money_leave(&call->money);
    live_call_record(call, &(struct journal_record){
                               .kind = JOURNAL_END,
                               .a = ending->has_left ? call->identity : NULL,
                               .reason = ending->reason,
                               .at_wall_ms = ending->ended_wall_ms,
                               .billed_to_wall_ms = ending->billed_to_wall_ms,
                               .is_limit = ending->is_limit,
                               .quality = call->talk ? converse_quality(call) : NULL,
                           });
    converse_close(call);
    room_directory_over(call->home->config->rooms, call->plan->row->room_name);
    if (call->is_room_open)
        call->room->ops->close(call->room, closings[ending->reason]);
    free_if_over(call);
}

/* Up to when the caller is to be billed if the call ended now. */
static int64_t used_to_wall_ms(const struct live_call *call)
{
    return call->lost_us ? call->last_packet_wall_ms : clock_wall_ms();
}

void live_call_end(struct live_call *call, enum end_reason reason)
{
    end(call, &(struct ending){.reason = reason,
                               .ended_wall_ms = clock_wall_ms(),
                               .billed_to_wall_ms = used_to_wall_ms(call)});
}

/* ---- time and money ---- */

static int64_t sooner(int64_t a_ms, int64_t b_ms)
{
    return MIN(a_ms, b_ms);
}

/* When the call's own limits end it (max-duration), money aside. */
static int64_t limit_wall_ms(const struct live_call *call)
{
    int64_t limit_ms = call->plan->row->created_wall_ms + CALL_MOST_MS;
    int64_t own_s = call->plan->start->config.call.max_duration_s;
    if (own_s > 0 && call->user_joined_wall_ms)
        limit_ms = sooner(limit_ms, call->user_joined_wall_ms + own_s * 1000);
    return limit_ms;
}

static void arm(struct live_call *call)
{
    if (call->status == CALL_ENDED || call->is_over_full)
        return;
    int64_t wall_ms = limit_wall_ms(call);
    if (!call->user_joined_wall_ms)
        wall_ms = sooner(wall_ms, call->plan->join_until_wall_ms + CALL_JOIN_GRACE_MS);
    else if (!call->is_confirming)
        wall_ms = sooner(wall_ms, call->exhausted_wall_ms);
    int64_t due_us = now_us(call) + (wall_ms - clock_wall_ms()) * 1000;
    if (call->lost_us)
        due_us = MIN(due_us, call->lost_us + CALL_LOST_US);
    timer_set(&call->clock, due_us);
}

static void end_at_limit(struct live_call *call, int64_t at_wall_ms)
{
    end(call, &(struct ending){.reason = END_MAX_DURATION,
                               .ended_wall_ms = at_wall_ms,
                               .billed_to_wall_ms = sooner(at_wall_ms, used_to_wall_ms(call)),
                               .is_limit = true});
}

static void clock_due(void *arg)
{
    struct live_call *call = arg;
    int64_t wall_ms = clock_wall_ms();
    log_scope(call->id, NULL);
    if (call->is_over_full) {
        live_call_end(call, END_AGENT_SHUTDOWN);
    } else if (!call->user_joined_wall_ms &&
               wall_ms >= call->plan->join_until_wall_ms + CALL_JOIN_GRACE_MS) {
        live_call_end(call, END_NO_USER);
    } else if (wall_ms >= limit_wall_ms(call)) {
        end_at_limit(call, limit_wall_ms(call));
    } else if (call->lost_us && now_us(call) >= call->lost_us + CALL_LOST_US) {
        end(call, &(struct ending){.reason = END_SOCKET_LOST,
                                   .ended_wall_ms = wall_ms,
                                   .billed_to_wall_ms = call->last_packet_wall_ms,
                                   .has_left = true});
    } else if (call->user_joined_wall_ms && wall_ms >= call->exhausted_wall_ms &&
               !call->is_confirming) {
        call->is_confirming = true; /* a credit may have come: the checkpoint knows */
        money_ask(&call->home->money);
    }
    arm(call);
    log_scope(NULL, NULL);
}

static int64_t billed_to(void *arg)
{
    const struct live_call *call = arg;
    int64_t used_ms = used_to_wall_ms(call);
    return call->is_confirming ? sooner(used_ms, call->exhausted_wall_ms) : used_ms;
}

/* An embed's day of spending is out when its limit is. */
static bool is_overspent(const struct live_call *call, int64_t embed_spent_usd4)
{
    return call->plan->row->source == CALL_SOURCE_EMBED &&
           embed_spent_usd4 >= call->plan->agent->embed.daily_spend_limit_usd4;
}

static void money_told(void *arg, int64_t exhausted_wall_ms, int64_t embed_spent_usd4,
                       bool is_fenced)
{
    struct live_call *call = arg;
    if (is_fenced || call->status == CALL_ENDED)
        return;
    call->is_confirming = false;
    call->exhausted_wall_ms = exhausted_wall_ms;
    int64_t wall_ms = clock_wall_ms();
    if (wall_ms >= exhausted_wall_ms || is_overspent(call, embed_spent_usd4))
        end_at_limit(call, sooner(wall_ms, exhausted_wall_ms));
    else
        arm(call);
}

/* ---- the journal's answers ---- */

static void let_go(struct live_call *call)
{
    log_warn("call.taken_over", LOG_S("call", call->id));
    tell_up(call, ERR_CLOSED, "another node has ended this call");
    live_call_end(call, END_AGENT_SHUTDOWN);
}

/* What a call cannot be without: that it was told of, and that its caller is billed. */
static void stand_without(struct live_call *call, const struct journal_record *record)
{
    if (record->kind == JOURNAL_STARTED)
        tell_up(call, ERR_INTERNAL, "the call could not be recorded");
    if (record->kind == JOURNAL_STARTED || record->kind == JOURNAL_AGENT_JOINED ||
        record->kind == JOURNAL_USER_JOINED)
        live_call_end(call, END_AGENT_SHUTDOWN);
}

static void is_written(struct live_call *call, const struct journal_record *record)
{
    switch (record->kind) {
    case JOURNAL_STARTED:
        tell_up(call, OK, NULL);
        break;
    case JOURNAL_USER_JOINED:
        call->exhausted_wall_ms = record->exhausted_wall_ms;
        calls_funds_moved(call->home->calls, call->plan->row->user_id);
        arm(call);
        break;
    case JOURNAL_END:
        calls_funds_moved(call->home->calls, call->plan->row->user_id);
        metric_add_label(METRIC_CALLS_ENDED, end_reason_names[call->end_reason], 1);
        log_info("call.ended", LOG_S("call", call->id),
                 LOG_S("reason", end_reason_names[call->end_reason]),
                 LOG_I("duration_s", record->duration_s), LOG_I("cost_usd4", record->cost_usd4));
        break;
    case JOURNAL_AGENT_JOINED:
    case JOURNAL_TURN:
    case JOURNAL_ERROR:
        break;
    }
}

static void written(void *arg, const struct journal_record *record, enum journal_outcome outcome)
{
    struct live_call *call = arg;
    if (outcome == JOURNAL_FENCED)
        let_go(call);
    else if (outcome == JOURNAL_SET_ASIDE)
        stand_without(call, record);
    else if (outcome == JOURNAL_WRITTEN)
        is_written(call, record);
    bool is_stored = outcome == JOURNAL_WRITTEN || outcome == JOURNAL_SET_ASIDE;
    if (record->kind == JOURNAL_END && is_stored) {
        tell_up(call, ERR_UNSUPPORTED,
                call->refusal ? call->refusal : "the agent could not be dispatched");
        calls_is_ended(call->home->calls, call->id);
    }
    free_if_over(call);
}

void live_call_give_up(struct live_call *call)
{
    live_call_end(call, END_AGENT_SHUTDOWN);
    journal_give_up(call->journal);
    free_if_over(call);
}

/* ---- the room ---- */

static void on_joined(void *arg, const char *identity, const char *name)
{
    struct live_call *call = arg;
    (void)name;
    if (call->status == CALL_ENDED)
        return;
    bool is_first = !call->user_joined_wall_ms;
    mem_free(call->identity);
    call->identity = mem_strdup(identity);
    call->is_here = true;
    call->lost_us = 0;
    if (is_first) {
        call->user_joined_wall_ms = clock_wall_ms();
        live_call_record(call, &(struct journal_record){
                                   .kind = JOURNAL_USER_JOINED,
                                   .a = call->identity,
                                   .at_wall_ms = call->user_joined_wall_ms,
                               });
        money_join(&call->home->money, &call->money);
    }
    if (call->status == CALL_ACTIVE) {
        media_start(&call->media);
        talk_joined(call->talk, now_us(call));
        converse_act(call);
    }
    arm(call);
}

static void on_left(void *arg, const char *identity, enum room_left how, int64_t last_packet_us)
{
    struct live_call *call = arg;
    (void)identity;
    if (call->status == CALL_ENDED || !call->is_here || how == ROOM_LEFT_REFUSED)
        return;
    call->is_here = false;
    if (how == ROOM_LEFT_CLEAN) {
        end(call, &(struct ending){.reason = END_USER_LEFT,
                                   .ended_wall_ms = clock_wall_ms(),
                                   .billed_to_wall_ms = clock_wall_ms(),
                                   .has_left = true});
        return;
    }
    call->lost_us = now_us(call);
    call->last_packet_wall_ms = live_call_wall_ms(call, last_packet_us);
    if (call->status == CALL_ACTIVE) {
        media_stop(&call->media);
        talk_left(call->talk, now_us(call));
        converse_act(call);
    }
    arm(call);
}

static void on_opus(void *arg, const uint8_t *payload, size_t len, uint16_t sequence,
                    uint32_t timestamp, int64_t at_us)
{
    struct live_call *call = arg;
    if (call->status == CALL_ACTIVE && call->is_here)
        media_opus(&call->media, payload, len, sequence, timestamp, at_us);
}

static void on_muted(void *arg, bool is_muted)
{
    struct live_call *call = arg;
    media_mute(&call->media, is_muted);
}

static void on_chat(void *arg, const char *text)
{
    struct live_call *call = arg;
    if (call->status != CALL_ACTIVE)
        return;
    talk_chat(call->talk, text, now_us(call));
    converse_act(call);
}

static void on_closed(void *arg)
{
    struct live_call *call = arg;
    call->is_room_open = false;
    if (call->status != CALL_ENDED)
        live_call_end(call, END_ROOM_FINISHED);
    free_if_over(call);
}

static const struct room_events room_events = {
    .on_joined = on_joined,
    .on_left = on_left,
    .on_opus = on_opus,
    .on_muted = on_muted,
    .on_chat = on_chat,
    .on_closed = on_closed,
};

/* ---- the start ---- */

static void dispatch_failed(struct live_call *call, const char *why)
{
    log_warn("call.dispatch_failed", LOG_S("call", call->id), LOG_S("why", why));
    call->refusal = mem_strdup(why);
    live_call_end(call, END_DISPATCH_FAILED);
}

static enum err open_room(struct live_call *call)
{
    const struct call *row = call->plan->row;
    struct room_host_config config = {
        .room = row->room_name,
        .metadata = NULL,
        .agent_identity = mem_printf("agent-%s", row->agent_id),
        .agent_name = call->plan->agent->name,
        .events = &room_events,
        .arg = call,
    };
    enum err err = room_host_open(call->home->media.rooms, &config, &call->room);
    mem_free((char *)config.agent_identity);
    call->is_room_open = err == OK;
    return err;
}

static void agent_joins(struct live_call *call)
{
    life_move(&call->status, LIFE_AGENT_JOINED, call->id);
    call->agent_joined_wall_ms = clock_wall_ms();
    const struct engine_choice *choice = call->engines.choice;
    live_call_record(call, &(struct journal_record){
                               .kind = JOURNAL_AGENT_JOINED,
                               .a = (char *)choice[ENGINE_STT].info->id,
                               .b = (char *)choice[ENGINE_LLM].info->id,
                               .c = (char *)choice[ENGINE_TTS].info->id,
                               .at_wall_ms = call->agent_joined_wall_ms,
                           });
    metric_observe_us(METRIC_CALL_READY, now_us(call) - call->begun_us);
    converse_begin(call);
    if (call->is_here) {
        media_start(&call->media);
        talk_joined(call->talk, now_us(call));
    }
    converse_act(call);
}

static void ready(void *arg)
{
    struct live_call *call = arg;
    if (call->status == CALL_ENDED)
        return;
    log_scope(call->id, NULL);
    struct fault fault = {0};
    if (engines_choose(&call->engines, call->home->config->registry, call->plan, &fault) != OK)
        dispatch_failed(call, fault.text);
    else if (setup_talk(call->setup, call->engines.iso, &call->talk_config) != OK)
        dispatch_failed(call, "the instructions are too long when they are filled in");
    else if (open_room(call) != OK)
        dispatch_failed(call, "the room could not be opened");
    if (call->status != CALL_ENDED) {
        call->talk_config.has_change_language =
            call->talk_config.has_change_language && engines_can_change_language(&call->engines);
        live_call_record(call, &(struct journal_record){.kind = JOURNAL_STARTED});
        converse_open(call);
        agent_joins(call);
    }
    log_scope(NULL, NULL);
}

void live_call_open(struct call_loop *home, struct call_plan *take_plan, const char *refusal)
{
    struct live_call *call = mem_new(struct live_call);
    struct loop *loop = home->media.loop;
    call->home = home;
    call->plan = take_plan;
    call->id = take_plan->row->id;
    call->begun_us = loop_now_us(loop);
    call->media.encoding = home->first;
    call->exhausted_wall_ms = MONEY_NEVER_MS;
    call->journal = journal_new(&(struct journal_config){.store = home->config->store,
                                                         .loop = loop,
                                                         .call_id = call->id,
                                                         .workspace_id = take_plan->row->user_id,
                                                         .total = &home->journals,
                                                         .on_written = written,
                                                         .arg = call});
    if (home->has_given_up)
        journal_give_up(call->journal);
    call->money = (struct money_seat){
        .call_id = call->id, .billed_to_wall_ms = billed_to, .told = money_told, .arg = call};
    list_init(&call->asks);
    list_init(&call->runs);
    timer_init(&call->clock, loop, clock_due, call);
    list_push_back(&home->all, &call->node);
    map_set_str(home->by_id, call->id, call);
    home->count++;
    if (refusal) {
        dispatch_failed(call, refusal);
        return;
    }
    struct setup_config setup = {
        .loop = loop,
        .store = home->config->store,
        .http = home->media.http,
        .config = home->config->config,
        .plan = call->plan,
        .on_ready = ready,
        .arg = call,
    };
    call->setup = setup_start(&setup);
    arm(call);
}

enum err live_call_say(struct live_call *call, const char *text)
{
    if (call->status != CALL_ACTIVE)
        return ERR_CONFLICT;
    enum err err = talk_say(call->talk, text, now_us(call));
    converse_act(call);
    return err;
}
