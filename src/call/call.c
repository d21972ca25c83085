/* The life of a call: set up, who is in the room, what time and money allow, its end. Each step is
 * a record of the journal, with its event; nobody is told before it is stored. */
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "call/internal.h"
#include "call/trace.h"
#include "model/agent.h"
#include "room/directory.h"
#include "store/money.h"

static void on_clock_due(void *arg);

/* The call's own calendar: from its creation on it goes with elapsed time, so that what lies
 * between two of its times is what has passed, whatever became of the machine's clock. */
int64_t live_call_wall_ms(const struct live_call *call, int64_t at_us)
{
    return call->plan->row->created_wall_ms + (at_us - call->begun_us) / 1000;
}

/* Who watches. */

void live_call_news(struct live_call *call, enum call_news news, const char *text)
{
    if (call->is_watched)
        calls_has_news(call->home->calls, call->id, news, text);
}

void live_call_watch(struct live_call *call)
{
    call->is_watched = true;
    if (*call->converse.agent_state)
        live_call_news(call, CALL_NEWS_STATE, call->converse.agent_state);
}

static int64_t now_us(const struct live_call *call)
{
    return loop_now_us(call->home->media.loop);
}

/* The end. */

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
    presence_clear(&call->presence);
    mem_free(call->refusal);
    mem_free(call);
}

/* Who may still call back keeps it: the room until on_closed, the journal until its last record is
 * written. Look-ups, tools, engines and setup are told to forget it instead (converse_close(),
 * setup_free()); whatever else is given a call belongs to one of the two. */
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
    LIST_EACH (call, &home->all, struct live_call, node)
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
    if (!over || over->limits.is_journal_full)
        return;
    log_error("call.journal_full", LOG_S("call", over->id),
              LOG_I("bytes", (int64_t)journal_waiting_bytes(over->journal)));
    over->limits.is_journal_full = true;
    timer_set_after(&over->clock, 0);
}

struct ending {
    enum end_reason reason;
    int64_t at_us, billed_to_us;
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
    /* The order is that of the journal: last words, then the tools' ends, then the end, after which
     * the store takes nothing more of this call. */
    if (call->talk) {
        talk_end(call->talk, now_us(call));
        converse_finish(call);
    }
    if (!life_move(&call->status, LIFE_END, call->id))
        return;
    call_tools_stop(&call->tools);
    call->end_reason = ending->reason;
    timer_stop(&call->clock);
    money_leave(&call->money);
    live_call_record(call,
                     &(struct journal_record){
                         .kind = JOURNAL_END,
                         .a = ending->has_left ? call->presence.identity : NULL,
                         .reason = ending->reason,
                         .at_wall_ms = live_call_wall_ms(call, ending->at_us),
                         .billed_ms = presence_billed_ms(&call->presence, ending->billed_to_us),
                         .is_limit = ending->is_limit,
                         .quality = call->talk ? quality_of(call) : NULL,
                     });
    trace_end(call);
    converse_close(call);
    room_directory_over(call->home->config->rooms, call->plan->row->room_name);
    if (call->is_room_open)
        call->room->ops->close(call->room, closings[ending->reason]);
    free_if_over(call);
}

static int64_t used_to_us(const struct live_call *call)
{
    return presence_used_to_us(&call->presence, now_us(call));
}

void live_call_end(struct live_call *call, enum end_reason reason)
{
    end(call, &(struct ending){
                  .reason = reason, .at_us = now_us(call), .billed_to_us = used_to_us(call)});
}

/* Time and money. */

static void arm(struct live_call *call)
{
    if (call->status != CALL_ENDED)
        timer_set(&call->clock, limits_due_us(&call->limits, &call->presence));
}

/* The end rounds a limit down: a lost caller's last second is begun before it, and counts whole. */
static int64_t begun_second_us(const struct live_call *call)
{
    int64_t used_ms = presence_billed_ms(&call->presence, used_to_us(call));
    return call->presence.joined_us + money_seconds_up(used_ms) * 1000000;
}

static void end_at_limit(struct live_call *call, int64_t at_us)
{
    end(call, &(struct ending){.reason = END_MAX_DURATION,
                               .at_us = at_us,
                               .billed_to_us = MIN(at_us, begun_second_us(call)),
                               .is_limit = true});
}

static void end_lost(struct live_call *call)
{
    end(call, &(struct ending){.reason = END_SOCKET_LOST,
                               .at_us = now_us(call),
                               .billed_to_us = call->presence.last_packet_us,
                               .has_left = true});
}

static void on_clock_due(void *arg)
{
    struct live_call *call = arg;
    int64_t at_us = now_us(call);
    log_scope(call->id, NULL);
    switch (limits_look(&call->limits, &call->presence, now_us(call), &at_us)) {
    case LIMIT_NONE:
        break;
    case LIMIT_JOURNAL:
        live_call_end(call, END_AGENT_SHUTDOWN);
        break;
    case LIMIT_NO_CALLER:
        live_call_end(call, END_NO_USER);
        break;
    case LIMIT_DURATION:
    case LIMIT_MONEY:
        end_at_limit(call, at_us);
        break;
    case LIMIT_LOST:
        end_lost(call);
        break;
    case LIMIT_CONFIRM:
        money_ask(&call->home->money);
        break;
    }
    arm(call);
    log_scope(NULL, NULL);
}

static int64_t billed_to(void *arg)
{
    const struct live_call *call = arg;
    return limits_billed_to_us(&call->limits, &call->presence, now_us(call));
}

static void let_go(struct live_call *call)
{
    log_warn("call.taken_over", LOG_S("call", call->id));
    tell_up(call, ERR_CLOSED, "another node has ended this call");
    live_call_end(call, END_AGENT_SHUTDOWN);
}

static void money_told(void *arg, int64_t exhausted_us, bool is_fenced)
{
    struct live_call *call = arg;
    if (call->status == CALL_ENDED)
        return;
    if (is_fenced) {
        let_go(call);
        return;
    }
    limits_told(&call->limits, exhausted_us);
    if (now_us(call) >= exhausted_us)
        end_at_limit(call, exhausted_us);
    else
        arm(call);
}

/* The journal's answers. */

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
        call->limits.exhausted_us = record->exhausted_us;
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
    case JOURNAL_RUN_BEGAN:
    case JOURNAL_RUN_ENDED:
        break;
    }
}

static void on_written(void *arg, const struct journal_record *record, enum journal_outcome outcome)
{
    struct live_call *call = arg;
    if (outcome == JOURNAL_FENCED)
        let_go(call);
    else if (outcome == JOURNAL_SET_ASIDE)
        stand_without(call, record);
    else if (outcome == JOURNAL_WRITTEN)
        is_written(call, record);
    bool is_stored = outcome == JOURNAL_WRITTEN || outcome == JOURNAL_SET_ASIDE;
    live_call_news(call, CALL_NEWS_STORED, NULL);
    if (record->kind == JOURNAL_END && is_stored) {
        bool is_failed = call->end_reason == END_DISPATCH_FAILED;
        tell_up(call, is_failed ? ERR_UNSUPPORTED : ERR_CLOSED,
                call->refusal ? call->refusal : "the call ended before it was set up");
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

/* The room. */

static void on_joined(void *arg, const char *identity, const char *name)
{
    struct live_call *call = arg;
    (void)name;
    if (call->status == CALL_ENDED)
        return;
    if (presence_join(&call->presence, identity, now_us(call))) {
        int64_t joined_us = call->money.begun_us = call->presence.joined_us;
        live_call_record(call, &(struct journal_record){
                                   .kind = JOURNAL_USER_JOINED,
                                   .a = call->presence.identity,
                                   .at_us = joined_us,
                                   .at_wall_ms = live_call_wall_ms(call, joined_us),
                                   .embed_limit_usd4 = call->money.embed_limit_usd4,
                                   .exhausted_us = MONEY_NEVER_US, /* unless it is told */
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
    if (call->status == CALL_ENDED || !presence_leave(&call->presence))
        return; /* whoever was refused before they were here */
    if (how == ROOM_LEFT_CLEAN) {
        end(call, &(struct ending){.reason = END_USER_LEFT,
                                   .at_us = now_us(call),
                                   .billed_to_us = now_us(call),
                                   .has_left = true});
        return;
    }
    presence_lose(&call->presence, last_packet_us, now_us(call));
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
    if (call->status == CALL_ACTIVE && call->presence.is_here)
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

/* The start. */

static void dispatch_failed(struct live_call *call, const char *why)
{
    log_warn("call.dispatch_failed", LOG_S("call", call->id), LOG_S("why", why));
    call->refusal = mem_strdup(why);
    live_call_end(call, END_DISPATCH_FAILED);
}

static enum err open_room(struct live_call *call)
{
    const struct call *row = call->plan->row;
    const struct room_provider *rooms = &call->home->media.rooms;
    AUTO_MEM char *identity = mem_printf("agent-%s", row->agent_id);
    const struct room_spec spec = {
        .room = row->room_name,
        .agent_identity = identity,
        .agent_name = call->plan->agent->name,
        .events = &room_events,
        .arg = call,
    };
    enum err err = rooms->open(rooms->arg, &spec, &call->room);
    call->is_room_open = err == OK;
    return err;
}

static void agent_joins(struct live_call *call)
{
    if (!life_move(&call->status, LIFE_AGENT_JOINED, call->id))
        return;
    const struct engine_choice *choice = call->engines.choice;
    live_call_record(call, &(struct journal_record){
                               .kind = JOURNAL_AGENT_JOINED,
                               .a = (char *)choice[ENGINE_STT].info->id,
                               .b = (char *)choice[ENGINE_LLM].info->id,
                               .c = (char *)choice[ENGINE_TTS].info->id,
                               .at_wall_ms = live_call_wall_ms(call, now_us(call)),
                           });
    metric_observe_us(METRIC_CALL_READY, now_us(call) - call->begun_us);
    converse_begin(call);
    if (call->presence.is_here) {
        media_start(&call->media);
        talk_joined(call->talk, now_us(call));
    }
    converse_act(call);
}

static void on_ready(void *arg)
{
    struct live_call *call = arg;
    if (call->status == CALL_ENDED)
        return;
    log_scope(call->id, NULL);
    struct fault fault = {0};
    if (engines_choose(&call->engines, call->home->config->registry, call->plan, &fault) != OK)
        dispatch_failed(call, fault.text);
    else if (setup_talk(call->setup, call->engines.iso, &call->converse.config) != OK)
        dispatch_failed(call, "the instructions are too long when they are filled in");
    else if (open_room(call) != OK)
        dispatch_failed(call, "the room could not be opened");
    if (call->status != CALL_ENDED) {
        call->converse.config.has_change_language = call->converse.config.has_change_language &&
                                                    engines_can_change_language(&call->engines);
        live_call_record(call, &(struct journal_record){.kind = JOURNAL_STARTED});
        converse_open(call);
        agent_joins(call);
    }
    log_scope(NULL, NULL);
}

static struct limits limits_of(const struct live_call *call)
{
    const struct call_plan *plan = call->plan;
    return (struct limits){
        .begun_us = call->begun_us,
        .join_until_us =
            call->begun_us + (plan->join_until_wall_ms - plan->row->created_wall_ms) * 1000,
        .most_us = plan->start->config.call.max_duration_s * INT64_C(1000000),
        .exhausted_us = MONEY_NEVER_US,
    };
}

static void open_journal(struct live_call *call)
{
    const struct journal_config config = {.store = call->home->config->store,
                                          .loop = call->home->media.loop,
                                          .call_id = call->id,
                                          .workspace_id = call->plan->row->user_id,
                                          .total = &call->home->journals,
                                          .on_written = on_written,
                                          .arg = call};
    call->journal = journal_new(&config);
    if (call->home->has_given_up)
        journal_give_up(call->journal);
}

static void open_tools(struct live_call *call)
{
    call->tools = (struct call_tools){.http = call->home->media.http,
                                      .call_id = call->id,
                                      .agent_id = call->plan->row->agent_id,
                                      .workspace_id = call->plan->row->user_id,
                                      .list = &call->plan->agent->tools,
                                      .is_test = call->plan->row->source == CALL_SOURCE_STUDIO,
                                      .loop = call->home->media.loop,
                                      .on_run = converse_on_run,
                                      .on_run_arg = call};
    list_init(&call->tools.runs);
}

static void begin_setup(struct live_call *call)
{
    const struct setup_config config = {
        .loop = call->home->media.loop,
        .store = call->home->config->store,
        .tools = &call->tools,
        .config = call->home->config->config,
        .plan = call->plan,
        .on_ready = on_ready,
        .arg = call,
    };
    call->setup = setup_start(&config);
}

void live_call_open(struct call_loop *home, struct call_plan *take_plan, const char *refusal)
{
    struct live_call *call = mem_new(struct live_call);
    call->home = home;
    call->plan = take_plan;
    call->id = take_plan->row->id;
    call->begun_us = loop_now_us(home->media.loop);
    call->media.spoken.encoding = home->first;
    call->limits = limits_of(call);
    call->money =
        (struct money_seat){.call_id = call->id,
                            .workspace_id = take_plan->row->user_id,
                            .embed_limit_usd4 = take_plan->agent->embed.daily_spend_limit_usd4,
                            .billed_to_us = billed_to,
                            .told = money_told,
                            .arg = call};
    open_journal(call);
    open_tools(call);
    list_init(&call->converse.asks);
    timer_init(&call->clock, home->media.loop, on_clock_due, call);
    list_push_back(&home->all, &call->node);
    map_set_str(home->by_id, call->id, call);
    home->count++;
    if (refusal) {
        dispatch_failed(call, refusal);
        return;
    }
    begin_setup(call);
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
