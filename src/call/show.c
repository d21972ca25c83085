#include "call/show.h"

#include "base/clock.h"
#include "base/js.h"
#include "base/mem.h"
#include "call/internal.h"

struct gather {
    struct list_node node;
    bool is_cut; /* its homes have gone */
    struct loop *control;
    struct call_loop *const *homes;
    size_t count, next;
    struct js *calls;
    calls_show_fn *done;
    void *arg;
};

static void set_text(struct js *object, const char *key, const char *text)
{
    js_set(object, key, js_string(text));
}

static void set_time(struct js *object, const char *key, int64_t wall_ms)
{
    char text[CLOCK_ISO_SIZE];
    if (wall_ms)
        clock_iso(wall_ms, text);
    js_set(object, key, wall_ms ? js_string(text) : js_null());
}

static struct js *describe(const struct live_call *call)
{
    struct js *tree = js_object();
    set_text(tree, "id", call->id);
    set_text(tree, "agentId", call->plan->row->agent_id);
    set_text(tree, "status", call_status_names[call->status]);
    set_text(tree, "floor", call->talk ? talk_state_name(call->talk) : "setting up");
    set_text(tree, "language", call->plan->language);
    set_text(tree, "loop", loop_name(call->home->media.loop));
    set_text(tree, "caller", call->presence.identity);
    js_set(tree, "isHere", js_boolean(call->presence.is_here));
    set_time(tree, "createdAt", call->plan->row->created_wall_ms);
    set_time(tree, "userJoinedAt",
             call->presence.joined_us ? live_call_wall_ms(call, call->presence.joined_us) : 0);
    js_set(tree, "recordsWaiting", js_integer((int64_t)journal_waiting(call->journal)));
    if (!call->talk || call->status == CALL_ENDED)
        return tree;
    static const char *const keys[] = {
        [ENGINE_STT] = "stt", [ENGINE_TTS] = "tts", [ENGINE_LLM] = "llm"};
    for (int i = 0; i < ENGINE_CALL_KINDS; i++)
        set_text(tree, keys[i], call->engines.choice[i].info->id);
    js_set(tree, "queuedMs", js_integer((int64_t)call->media.spoken.queued_samples / 48));
    struct talk_quality quality;
    talk_quality(call->talk, &quality);
    js_set(tree, "turns", js_integer(quality.turns));
    js_set(tree, "voiceToVoiceMs",
           quality.voice_to_voice_p50_ms < 0 ? js_null()
                                             : js_integer(quality.voice_to_voice_p50_ms));
    return tree;
}

static void go_on(void *arg);

/* Media loop. */
static void gather_there(void *arg)
{
    struct gather *gather = arg;
    struct live_call *call;
    if (!gather->is_cut)
        LIST_EACH (call, &gather->homes[gather->next]->all, struct live_call, node)
            js_push(gather->calls, describe(call));
    gather->next++;
    loop_post(gather->control, go_on, gather);
}

static void go_on(void *arg)
{
    struct gather *gather = arg;
    if (!gather->is_cut && gather->next < gather->count) {
        loop_post(gather->homes[gather->next]->media.loop, gather_there, gather);
        return;
    }
    list_remove(&gather->node);
    gather->done(gather->arg, gather->calls);
    mem_free(gather);
}

void show_cut(struct list_node *gathers)
{
    struct gather *gather;
    LIST_EACH (gather, gathers, struct gather, node) {
        list_remove(&gather->node); /* the head may go before the message that is under way */
        gather->is_cut = true;
    }
}

void show_gather(struct list_node *gathers, struct loop *control, struct call_loop *const *homes,
                 size_t count, calls_show_fn *done, void *arg)
{
    struct gather *gather = mem_new(struct gather);
    *gather = (struct gather){.control = control,
                              .homes = homes,
                              .count = count,
                              .calls = js_array(),
                              .done = done,
                              .arg = arg};
    list_push_back(gathers, &gather->node);
    go_on(gather);
}
