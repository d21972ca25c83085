/* The directory of this node's calls, on the control loop. A call is known here from calls_start()
 * until its loop has let it go; what is asked of it goes to its loop by id, as a message, and what
 * it answers comes back the same way. */
#include "call/calls.h"

#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "call/calls_internal.h"
#include "call/internal.h"
#include "call/node.h"
#include "call/plan.h"
#include "call/show.h"
#include "call/snapshot.h"
#include "call/watch.h"
#include "room/directory.h"

enum {
    UNJOINED_US = 5 * 1000 * 1000,  /* of a drain: for who is about to join */
    WRITE_MAX_US = 3 * 1000 * 1000, /* for the ends, when the grace is over */
};

struct waiter { /* somebody who waits for the call's end to be stored */
    struct list_node node;
    calls_done_fn *done;
    void *arg;
};

/* A message between the control loop and a media loop. It names the call and never points at it:
 * who finds it by its id on its own loop finds it alive. That "open" comes before "end" is the
 * order of posts (base/loop.h): all to a call are the control loop's. */
struct message {
    struct calls *calls;
    void (*fn)(struct message *message);
    struct call_loop *home;
    char id[ID_SIZE], workspace_id[ID_SIZE];
    struct call_plan *plan;
    char *text;
    enum end_reason reason;
    enum call_news news;
    enum err err;
    calls_done_fn *done;
    void *arg;
};

static struct message *message_new(struct calls *calls, const char *call_id)
{
    struct message *message = mem_new(struct message);
    message->calls = calls;
    atomic_fetch_add(&calls->messages, 1);
    snprintf(message->id, sizeof(message->id), "%s", call_id);
    return message;
}

static void message_free(struct message *message)
{
    struct calls *calls = message->calls;
    bool is_last = atomic_fetch_sub(&calls->messages, 1) == 1;
    call_plan_free(message->plan);
    mem_free(message->text);
    mem_free(message);
    if (is_last && calls->is_freed)
        mem_free(calls);
}

static struct message *message_to(struct calls *calls, const struct entry *entry)
{
    struct message *message = message_new(calls, entry->id);
    message->home = entry->home;
    return message;
}

static void deliver(void *arg)
{
    struct message *message = arg;
    if (!message->calls->is_freed)
        message->fn(message);
    message_free(message);
}

static void post(struct loop *loop, void (*fn)(struct message *), struct message *take_message)
{
    take_message->fn = fn;
    loop_post(loop, deliver, take_message);
}

static void on_unjoined_over(void *arg);
static void on_grace_over(void *arg);
static void on_bound_over(void *arg);

static struct previews *new_previews(const struct calls_config *config)
{
    AUTO_MEM struct loop **media = mem_new_n(struct loop *, config->media_count);
    for (size_t i = 0; i < config->media_count; i++)
        media[i] = config->media[i].loop;
    return previews_new(config->control, media, config->media_count);
}

struct calls *calls_new(const struct calls_config *config)
{
    struct calls *calls = mem_new(struct calls);
    calls->config = *config;
    calls->homes = mem_new_n(struct call_loop *, config->media_count);
    calls->loads = mem_new_n(size_t, config->media_count);
    for (size_t i = 0; i < config->media_count; i++)
        calls->homes[i] = call_loop_new(calls, &calls->config, &config->media[i]);
    calls->by_id = map_new();
    calls->snapshots = snapshots_new();
    calls->watches = watches_new();
    calls->previews = new_previews(config);
    list_init(&calls->all);
    list_init(&calls->gathers);
    timer_init(&calls->unjoined, config->control, on_unjoined_over, calls);
    timer_init(&calls->grace, config->control, on_grace_over, calls);
    timer_init(&calls->bound, config->control, on_bound_over, calls);
    calls->node = node_new(calls, config);
    return calls;
}

const char *calls_node_url(const struct calls *calls, size_t i)
{
    return i == 0 ? calls->config.public_url : node_other_url(calls->node, i - 1);
}

static void entry_free(struct entry *entry)
{
    list_remove(&entry->node);
    struct waiter *waiter;
    LIST_EACH (waiter, &entry->waiters, struct waiter, node)
        mem_free(waiter);
    mem_free(entry);
}

void calls_free(struct calls *calls)
{
    if (!calls)
        return;
    show_cut(&calls->gathers);
    node_free(calls->node);
    timer_stop(&calls->unjoined);
    timer_stop(&calls->grace);
    timer_stop(&calls->bound);
    struct entry *entry;
    LIST_EACH (entry, &calls->all, struct entry, node)
        entry_free(entry);
    for (size_t i = 0; i < calls->config.media_count; i++)
        call_loop_free(calls->homes[i]);
    map_free(calls->by_id);
    snapshots_free(calls->snapshots);
    watches_free(calls->watches);
    previews_free(calls->previews);
    mem_free(calls->homes);
    mem_free(calls->loads);
    calls->is_freed = true;
    if (atomic_load(&calls->messages) == 0)
        mem_free(calls);
}

struct snapshots *calls_snapshots(const struct calls *calls)
{
    return calls->snapshots;
}

size_t calls_count(const struct calls *calls)
{
    return atomic_load_explicit(&((struct calls *)calls)->count, memory_order_relaxed);
}

/* Start. */

/* Media loop. */
static void open_there(struct message *message)
{
    live_call_open(message->home, TAKE(message->plan), message->text);
}

void calls_start(struct calls *calls, struct call_plan *take_plan, calls_done_fn *done, void *arg)
{
    const struct call *row = take_plan->row;
    size_t index;
    bool is_heard = calls_is_heard_here(calls, take_plan),
         may_be_heard = !is_heard || calls_has_ears(calls);
    bool has_place = calls_take_place(calls, row->user_id, &index);
    struct entry *entry = mem_new(struct entry);
    entry->is_heard_here = is_heard && may_be_heard;
    snprintf(entry->id, sizeof(entry->id), "%s", row->id);
    snprintf(entry->workspace_id, sizeof(entry->workspace_id), "%s", row->user_id);
    entry->home = calls->homes[index];
    entry->started = done;
    entry->started_arg = arg;
    list_init(&entry->waiters);
    list_push_back(&calls->all, &entry->node);
    map_set_str(calls->by_id, entry->id, entry);
    calls->loads[index]++;
    atomic_fetch_add(&calls->count, 1);
    metric_set(METRIC_CALLS_ACTIVE, (int64_t)calls_count(calls));

    struct message *message = message_to(calls, entry);
    message->plan = take_plan;
    if (calls->is_draining)
        message->text = mem_strdup("the service is shutting down");
    else if (take_plan->refusal)
        message->text = mem_strdup(take_plan->refusal);
    else if (!has_place)
        message->text =
            mem_strdup("this node holds as many calls as it can without harm to the others");
    else if (!may_be_heard)
        message->text = mem_strdup("embedded recognition hears as many calls as this node can "
                                   "without answers coming late");
    else if (room_directory_add(calls->config.rooms, row->room_name, entry->home->media.joins) !=
             OK)
        message->text = mem_strdup("the room's name is in use");
    post(entry->home->media.loop, open_there, message);
}

/* What media loops tell. */

static void up_here(struct message *message)
{
    struct entry *entry = map_get_str(message->calls->by_id, message->id);
    if (entry && entry->started) {
        calls_done_fn *done = entry->started;
        entry->started = NULL;
        done(entry->started_arg, message->err, message->text);
    }
}

void calls_is_up(struct calls *calls, const char *call_id, enum err err, const char *text)
{
    struct message *message = message_new(calls, call_id);
    message->err = err;
    message->text = mem_strdup(text);
    post(calls->config.control, up_here, message);
}

static void tell_waiters(struct entry *entry, enum err err)
{
    struct waiter *waiter;
    while ((waiter = LIST_FIRST(&entry->waiters, struct waiter, node))) {
        list_remove(&waiter->node);
        waiter->done(waiter->arg, err, NULL);
        mem_free(waiter);
    }
}

static void ended_here(struct message *message)
{
    struct entry *entry = map_get_str(message->calls->by_id, message->id);
    if (entry) {
        entry->is_ended = true;
        tell_waiters(entry, OK);
    }
}

void calls_is_ended(struct calls *calls, const char *call_id)
{
    post(calls->config.control, ended_here, message_new(calls, call_id));
}

static void finish_drain(struct calls *calls)
{
    if (!calls->drained || (calls_count(calls) > 0 && !calls->has_given_up))
        return;
    timer_stop(&calls->unjoined);
    timer_stop(&calls->grace);
    timer_stop(&calls->bound);
    calls_done_fn *done = calls->drained;
    calls->drained = NULL;
    node_stop(calls->node, done, calls->drained_arg);
}

static void gone_here(struct message *message)
{
    struct calls *calls = message->calls;
    struct entry *entry = map_remove_str(calls->by_id, message->id);
    for (size_t i = 0; entry && i < calls->config.media_count; i++)
        calls->loads[i] -= calls->homes[i] == entry->home;
    if (entry) {
        tell_waiters(entry, ERR_NOT_FOUND); /* it was ended by another node */
        entry_free(entry);
        atomic_fetch_sub(&calls->count, 1);
        metric_set(METRIC_CALLS_ACTIVE, (int64_t)calls_count(calls));
    }
    finish_drain(calls);
}

void calls_is_gone(struct calls *calls, const char *call_id)
{
    post(calls->config.control, gone_here, message_new(calls, call_id));
}

/* End and say. */

/* Media loop. */
static void end_there(struct message *message)
{
    struct live_call *call = call_loop_find(message->home, message->id);
    if (call)
        live_call_end(call, message->reason);
}

static void post_end(struct calls *calls, struct entry *entry, enum end_reason reason)
{
    struct message *message = message_to(calls, entry);
    message->reason = reason;
    post(entry->home->media.loop, end_there, message);
}

static struct entry *find_running(struct calls *calls, const char *call_id)
{
    struct entry *entry = map_get_str(calls->by_id, call_id);
    return entry && !entry->is_ended ? entry : NULL;
}

bool calls_end_here(struct calls *calls, const char *call_id, calls_done_fn *done, void *arg)
{
    struct entry *entry = find_running(calls, call_id);
    if (!entry)
        return false;
    struct waiter *waiter = mem_new(struct waiter);
    waiter->done = done;
    waiter->arg = arg;
    list_push_back(&entry->waiters, &waiter->node);
    post_end(calls, entry, END_API);
    return true;
}

void calls_end(struct calls *calls, const char *workspace_id, const char *call_id,
               calls_done_fn *done, void *arg)
{
    const struct node_command command = {COMMAND_END, workspace_id, call_id, ""};
    if (!calls_end_here(calls, call_id, done, arg))
        node_command(calls->node, &command, done, arg);
}

static void said_here(struct message *message)
{
    message->done(message->arg, message->err, NULL);
}

/* Media loop. */
static void say_there(struct message *message)
{
    struct live_call *call = call_loop_find(message->home, message->id);
    message->err = call ? live_call_say(call, message->text) : ERR_NOT_FOUND;
    struct message *answer = message_new(message->calls, message->id);
    answer->err = message->err;
    answer->done = message->done;
    answer->arg = message->arg;
    post(message->calls->config.control, said_here, answer);
}

bool calls_say_here(struct calls *calls, const char *call_id, const char *text, calls_done_fn *done,
                    void *arg)
{
    struct entry *entry = find_running(calls, call_id);
    if (!entry)
        return false;
    struct message *message = message_to(calls, entry);
    message->text = mem_strdup(text);
    message->done = done;
    message->arg = arg;
    post(entry->home->media.loop, say_there, message);
    return true;
}

void calls_say(struct calls *calls, const char *workspace_id, const char *call_id, const char *text,
               calls_done_fn *done, void *arg)
{
    const struct node_command command = {COMMAND_SAY, workspace_id, call_id, text};
    if (!calls_say_here(calls, call_id, text, done, arg))
        node_command(calls->node, &command, done, arg);
}

/* Who watches. */

/* Media loop. */
static void watch_there(struct message *message)
{
    struct live_call *call = call_loop_find(message->home, message->id);
    if (call)
        live_call_watch(call);
}

struct calls_watch *calls_watch(struct calls *calls, const char *call_id, calls_news_fn *fn,
                                void *arg)
{
    struct entry *entry = find_running(calls, call_id);
    if (!entry)
        return NULL;
    post(entry->home->media.loop, watch_there, message_to(calls, entry));
    return watches_add(calls->watches, call_id, fn, arg);
}

static void news_here(struct message *message)
{
    watches_tell(message->calls->watches, message->id, message->news, message->text);
}

void calls_has_news(struct calls *calls, const char *call_id, enum call_news news, const char *text)
{
    struct message *message = message_new(calls, call_id);
    message->news = news;
    message->text = text ? mem_strdup(text) : NULL;
    post(calls->config.control, news_here, message);
}

/* Voices without a call. */

void calls_preview(struct calls *calls, const struct preview_wish *wish, preview_done_fn *done,
                   void *arg)
{
    if (calls_is_full(calls))
        done(arg, ERR_BUSY, NULL);
    else
        previews_ask(calls->previews, wish, done, arg);
}

/* Money. */

/* Media loop. */
static void checkpoint_there(struct message *message)
{
    money_hint(&message->home->money);
}

static void post_home(struct calls *calls, size_t index, void (*fn)(struct message *))
{
    struct message *message = message_new(calls, "");
    message->home = calls->homes[index];
    post(message->home->media.loop, fn, message);
}

static void credit(struct calls *calls, const char *workspace_id, size_t least)
{
    for (size_t i = 0; i < calls->config.media_count; i++) {
        size_t count = 0;
        struct entry *entry;
        LIST_EACH (entry, &calls->all, struct entry, node)
            count += entry->home == calls->homes[i] &&
                     (!workspace_id || strcmp(entry->workspace_id, workspace_id) == 0);
        if (count >= least)
            post_home(calls, i, checkpoint_there);
    }
}

void calls_credit(struct calls *calls, const char *workspace_id)
{
    credit(calls, workspace_id, 1);
}

static void moved_here(struct message *message)
{
    size_t others = 0;
    struct entry *entry;
    LIST_EACH (entry, &message->calls->all, struct entry, node)
        others += strcmp(entry->workspace_id, message->workspace_id) == 0;
    if (others > 1) /* the one that moved them knows already */
        credit(message->calls, message->workspace_id, 1);
}

void calls_funds_moved(struct calls *calls, const char *workspace_id)
{
    struct message *message = message_new(calls, "");
    snprintf(message->workspace_id, sizeof(message->workspace_id), "%s", workspace_id);
    post(calls->config.control, moved_here, message);
}

/* The process. */

/* Media loop. */
static void start_there(struct message *message)
{
    call_loop_start(message->home);
}

static void post_homes(struct calls *calls, void (*fn)(struct message *))
{
    for (size_t i = 0; i < calls->config.media_count; i++)
        post_home(calls, i, fn);
}

void calls_recover(struct calls *calls, calls_done_fn *done, void *arg)
{
    post_homes(calls, start_there);
    node_start(calls->node, done, arg);
}

void calls_end_all(struct calls *calls, enum end_reason reason)
{
    struct entry *entry;
    LIST_EACH (entry, &calls->all, struct entry, node)
        post_end(calls, entry, reason);
}

/* Media loop. */
static void end_unjoined_there(struct message *message)
{
    struct live_call *call;
    LIST_EACH (call, &message->home->all, struct live_call, node)
        if (!call->presence.joined_us)
            live_call_end(call, END_AGENT_SHUTDOWN);
}

static void on_unjoined_over(void *arg)
{
    post_homes(arg, end_unjoined_there);
}

static void on_grace_over(void *arg)
{
    struct calls *calls = arg;
    log_info("calls.grace_over", LOG_I("calls", (int64_t)calls_count(calls)));
    calls_end_all(calls, END_AGENT_SHUTDOWN);
    timer_set_after(&calls->bound, WRITE_MAX_US);
}

/* Media loop. */
static void give_up_there(struct message *message)
{
    call_loop_give_up(message->home);
}

void calls_give_up(struct calls *calls)
{
    if (calls_count(calls) > 0)
        log_warn("calls.given_up", LOG_I("calls", (int64_t)calls_count(calls)));
    calls->has_given_up = true;
    post_homes(calls, give_up_there);
    finish_drain(calls);
}

/* The database does not take the ends. */
static void on_bound_over(void *arg)
{
    calls_give_up(arg);
}

void calls_drain(struct calls *calls, int64_t grace_us, calls_done_fn *done, void *arg)
{
    calls->is_draining = true;
    calls->drained = done;
    calls->drained_arg = arg;
    previews_drain(calls->previews);
    timer_set_after(&calls->unjoined, MIN(grace_us, (int64_t)UNJOINED_US));
    timer_set_after(&calls->grace, grace_us);
    finish_drain(calls);
}

void calls_show(struct calls *calls, calls_show_fn *done, void *arg)
{
    show_gather(&calls->gathers, calls->config.control, calls->homes, calls->config.media_count,
                done, arg);
}
