#include "event/sender.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "event/allowance.h"
#include "event/attempt.h"
#include "event/window.h"
#include "net/url.h"
#include "store/outbox.h"

enum {
    PATIENCE_US = 250000, /* what waits longer is put back */
    LOOK_US = 50000,
    REMEMBERED_US = 60 * 1000000, /* an idle receiver that did not answer */
    REMEMBERED_MAX = 4096,
    LINES_MAX = 128,                   /* that are known of a receiver */
    KEPT_MAX_BYTES = 64 * 1024 * 1024, /* far above the longest event */
};

struct workspace {
    unsigned receivers, units;
    char id[];
};

struct receiver {
    struct workspace *workspace;
    struct list_node node; /* in `busy` while something waits, in `idle` while nothing happens */
    struct list_node waiting;
    struct list_node lines;
    size_t waiting_count, line_count;
    unsigned under_way;
    int64_t idle_since_us;
    struct window window;
    size_t key_len;
    char key[];
};

/* A line of the outbox that has led to the receiver. */
struct line {
    struct list_node node; /* in its receiver's; the last used is the last */
    unsigned held;         /* under way or waiting */
    unsigned under_way;
    char name[];
};

struct sending {
    struct list_node node; /* in all, under way; or in its receiver's waiting */
    struct sender *sender;
    struct receiver *receiver;
    struct line *line;
    struct attempt *attempt;
    struct sent sent;
    struct arena *kept; /* of one that waits, or waited: the item's text */
    struct attempt_request request;
    int64_t late_us;  /* when it came, ... */
    int64_t since_us; /* ... which was then */
};

struct sender {
    struct sender_config config;
    struct map *workspaces, *receivers;
    struct list_node under_way; /* sendings */
    struct list_node busy;      /* receivers at which something waits */
    struct list_node idle;      /* receivers that are remembered, the longest idle first */
    size_t idle_count;
    struct timer look;
};

static void look(void *arg);

struct sender *sender_new(const struct sender_config *config)
{
    struct sender *sender = mem_new(struct sender);
    sender->config = *config;
    sender->workspaces = map_new();
    sender->receivers = map_new();
    list_init(&sender->under_way);
    list_init(&sender->busy);
    list_init(&sender->idle);
    timer_init(&sender->look, config->loop, look, sender);
    return sender;
}

static struct workspace *workspace_of(struct sender *sender, const char *id)
{
    struct workspace *workspace = map_get_str(sender->workspaces, id);
    if (workspace)
        return workspace;
    size_t len = strlen(id) + 1;
    workspace = mem_zalloc(sizeof(*workspace) + len);
    memcpy(workspace->id, id, len);
    map_set_str(sender->workspaces, id, workspace);
    return workspace;
}

/* Receivers and their lines. */

static void free_line(struct receiver *receiver, struct line *line)
{
    list_remove(&line->node);
    receiver->line_count--;
    mem_free(line);
}

static void free_receiver(struct sender *sender, struct receiver *receiver)
{
    struct workspace *workspace = receiver->workspace;
    struct line *line;
    LIST_EACH (line, &receiver->lines, struct line, node) {
        free_line(receiver, line);
    }
    if (receiver->window.is_cut_off)
        metric_add(METRIC_WEBHOOK_CUT_OFF, -1);
    if (--workspace->receivers == 0) {
        map_remove_str(sender->workspaces, workspace->id);
        mem_free(workspace);
    }
    map_remove(sender->receivers, receiver->key, receiver->key_len);
    mem_free(receiver);
}

static void leave_idle(struct sender *sender, struct receiver *receiver)
{
    if (receiver->idle_since_us == 0)
        return;
    receiver->idle_since_us = 0;
    list_remove(&receiver->node);
    sender->idle_count--;
}

static struct receiver *new_receiver(struct sender *sender, const char *workspace_id,
                                     const struct buf *key)
{
    struct receiver *receiver = mem_zalloc(sizeof(*receiver) + key->len);
    receiver->workspace = workspace_of(sender, workspace_id);
    receiver->workspace->receivers++;
    receiver->key_len = key->len;
    memcpy(receiver->key, key->data, key->len);
    list_init(&receiver->waiting);
    list_init(&receiver->lines);
    window_init(&receiver->window, sender->config.max_per_receiver);
    map_set(sender->receivers, receiver->key, receiver->key_len, receiver);
    return receiver;
}

static struct receiver *receiver_of(struct sender *sender, const struct outbox_item *item)
{
    struct url url;
    AUTO_BUF key = BUF_INIT(URL_MAX);
    buf_printf(&key, "%s ", item->workspace_id);
    if (url_parse(item->url, &url, NULL) == OK)
        buf_printf(&key, "%s:%u", url.host, (unsigned)url.port);
    struct receiver *receiver = map_get(sender->receivers, key.data, key.len);
    if (!receiver)
        return new_receiver(sender, item->workspace_id, &key);
    leave_idle(sender, receiver);
    return receiver;
}

static void forget_idle(struct sender *sender, int64_t now_us)
{
    struct receiver *receiver;
    LIST_EACH (receiver, &sender->idle, struct receiver, node) {
        bool is_old = now_us - receiver->idle_since_us >= REMEMBERED_US;
        if (!is_old && sender->idle_count <= REMEMBERED_MAX)
            return;
        leave_idle(sender, receiver);
        free_receiver(sender, receiver);
    }
}

/* A receiver exists while something to it is under way or waits; one that did not answer is
 * remembered a little longer. */
static void rest_if_idle(struct sender *sender, struct receiver *receiver)
{
    if (receiver->under_way > 0 || receiver->waiting_count > 0)
        return;
    if (window_is_plain(&receiver->window)) {
        free_receiver(sender, receiver);
        return;
    }
    int64_t now_us = loop_now_us(sender->config.loop);
    receiver->idle_since_us = MAX(now_us, (int64_t)1);
    list_push_back(&sender->idle, &receiver->node);
    sender->idle_count++;
    forget_idle(sender, now_us);
    if (!timer_is_set(&sender->look))
        timer_set_after(&sender->look, REMEMBERED_US);
}

/* The longest unused one that holds nothing. */
static void forget_a_line(struct receiver *receiver)
{
    struct line *line;
    LIST_EACH (line, &receiver->lines, struct line, node) {
        if (line->held == 0) {
            free_line(receiver, line);
            return;
        }
    }
}

static struct line *line_of(struct receiver *receiver, const char *name)
{
    struct line *line;
    LIST_EACH (line, &receiver->lines, struct line, node) {
        if (strcmp(line->name, name) == 0) {
            list_remove(&line->node);
            list_push_back(&receiver->lines, &line->node);
            return line;
        }
    }
    if (receiver->line_count >= LINES_MAX)
        forget_a_line(receiver);
    size_t len = strlen(name) + 1;
    line = mem_zalloc(sizeof(*line) + len);
    memcpy(line->name, name, len);
    list_push_back(&receiver->lines, &line->node);
    receiver->line_count++;
    return line;
}

/* What is sent. */

static void free_sending(struct sending *sending)
{
    sending->line->held--;
    sending->receiver->workspace->units -= sending->sent.units;
    list_remove(&sending->node);
    arena_free(sending->kept);
    mem_free(sending);
}

static void on_outcome(void *arg, const struct attempt_outcome *outcome);

static void begin(struct sending *sending)
{
    struct sender *sender = sending->sender;
    int64_t waited_us = loop_now_us(sender->config.loop) - sending->since_us;
    metric_observe_us(METRIC_WEBHOOK_DELAY, sending->late_us + waited_us);
    sending->receiver->under_way++;
    sending->line->under_way++;
    list_push_back(&sender->under_way, &sending->node);
    sending->attempt = attempt_start(sender->config.client, &sending->request, on_outcome, sending);
}

static bool may_begin(const struct sending *sending)
{
    const struct receiver *receiver = sending->receiver;
    return receiver->window.is_cut_off ? sending->line->under_way == 0
                                       : receiver->under_way < receiver->window.size;
}

static struct sending *take_waiting(struct receiver *receiver, struct sending *sending)
{
    list_remove(&sending->node);
    if (--receiver->waiting_count == 0)
        list_remove(&receiver->node);
    return sending;
}

static void begin_waiting(struct receiver *receiver)
{
    struct sending *sending;
    LIST_EACH (sending, &receiver->waiting, struct sending, node) {
        if (!may_begin(sending))
            return;
        begin(take_waiting(receiver, sending));
    }
}

/* A status, whatever it says, shows that somebody is there. */
static void note_outcome(struct sender *sender, struct window *window,
                         const struct attempt_outcome *outcome)
{
    bool was_cut_off = window->is_cut_off;
    if (outcome->status)
        window_answered(window, outcome->latency_ms * 1000);
    else
        window_silent(window, outcome->latency_ms * 1000, loop_now_us(sender->config.loop));
    if (was_cut_off != window->is_cut_off)
        metric_add(METRIC_WEBHOOK_CUT_OFF, window->is_cut_off ? 1 : -1);
}

static void on_outcome(void *arg, const struct attempt_outcome *outcome)
{
    struct sending *sending = arg;
    struct sender *sender = sending->sender;
    struct receiver *receiver = sending->receiver;
    struct sent sent = sending->sent;
    receiver->under_way--;
    sending->line->under_way--;
    note_outcome(sender, &receiver->window, outcome);
    free_sending(sending);
    begin_waiting(receiver);
    rest_if_idle(sender, receiver);
    sender->config.fn(sender->config.arg, &sent, outcome);
}

static void put_back(struct sending *sending)
{
    const struct sender_config *config = &sending->sender->config;
    struct sent sent = sending->sent;
    free_sending(sending);
    config->fn(config->arg, &sent, NULL);
}

static void look_at(struct sender *sender, struct receiver *receiver, int64_t now_us)
{
    struct sending *first;
    while ((first = LIST_FIRST(&receiver->waiting, struct sending, node)) &&
           now_us - first->since_us >= PATIENCE_US)
        put_back(take_waiting(receiver, first));
    rest_if_idle(sender, receiver);
}

static void look(void *arg)
{
    struct sender *sender = arg;
    struct receiver *receiver;
    int64_t now_us = loop_now_us(sender->config.loop);
    LIST_EACH (receiver, &sender->busy, struct receiver, node) {
        look_at(sender, receiver, now_us);
    }
    forget_idle(sender, now_us);
    if (!list_is_empty(&sender->busy))
        timer_set_after(&sender->look, LOOK_US);
    else if (sender->idle_count > 0)
        timer_set_after(&sender->look, REMEMBERED_US);
}

static void keep_text(struct sending *sending)
{
    struct attempt_request *request = &sending->request;
    struct arena *arena = sending->kept = arena_new(KEPT_MAX_BYTES);
    request->url = arena_strdup(arena, request->url);
    request->secret = arena_strdup(arena, request->secret);
    request->event_id = arena_strdup(arena, request->event_id);
    request->type = arena_strdup(arena, request->type);
    request->body = arena_strdup(arena, request->body);
}

static void wait_for_room(struct sending *sending)
{
    struct sender *sender = sending->sender;
    struct receiver *receiver = sending->receiver;
    keep_text(sending);
    list_push_back(&receiver->waiting, &sending->node);
    if (receiver->waiting_count++ == 0)
        list_push_back(&sender->busy, &receiver->node);
    if (!timer_is_set(&sender->look) ||
        sender->look.due_us > loop_now_us(sender->config.loop) + LOOK_US)
        timer_set_after(&sender->look, LOOK_US);
}

void sender_send(struct sender *sender, const struct outbox_item *item)
{
    struct sending *sending = mem_new(struct sending);
    struct receiver *receiver = receiver_of(sender, item);
    sending->sender = sender;
    sending->receiver = receiver;
    sending->line = line_of(receiver, item->line);
    sending->line->held++;
    receiver->workspace->units += item->units;
    sending->sent = (struct sent){item->id, item->attempt, item->units};
    sending->late_us = item->late_ms * 1000;
    sending->since_us = loop_now_us(sender->config.loop);
    sending->request = (struct attempt_request){
        .workspace_id = receiver->workspace->id,
        .url = item->url,
        .secret = item->secret,
        .event_id = item->event_id,
        .type = item->type,
        .body = item->body,
        .answer_ms = sender->config.answer_ms,
    };
    if (may_begin(sending))
        begin(sending);
    else
        wait_for_room(sending);
}

/* Ending. */

struct drop {
    struct sender *sender;
    const char *line;
};

static int drop_waiting(void *arg, const void *key, size_t key_len, void *value)
{
    const struct drop *drop = arg;
    struct receiver *receiver = value;
    struct sending *sending;
    (void)key, (void)key_len;
    if (receiver->waiting_count == 0)
        return 0;
    LIST_EACH (sending, &receiver->waiting, struct sending, node) {
        if (strcmp(sending->line->name, drop->line) == 0)
            put_back(take_waiting(receiver, sending));
    }
    rest_if_idle(drop->sender, receiver);
    return 0;
}

void sender_drop(struct sender *sender, const char *webhook_id)
{
    struct drop drop = {sender, webhook_id};
    map_each(sender->receivers, drop_waiting, &drop);
}

static int cancel_waiting(void *arg, const void *key, size_t key_len, void *value)
{
    struct receiver *receiver = value;
    unsigned *units = arg;
    struct sending *sending;
    (void)key, (void)key_len;
    LIST_EACH (sending, &receiver->waiting, struct sending, node) {
        *units += sending->sent.units;
        free_sending(take_waiting(receiver, sending));
    }
    return 0;
}

unsigned sender_cancel(struct sender *sender)
{
    struct sending *sending;
    unsigned units = 0;
    map_each(sender->receivers, cancel_waiting, &units);
    LIST_EACH (sending, &sender->under_way, struct sending, node) {
        sending->receiver->under_way--;
        sending->line->under_way--;
        attempt_cancel(sending->attempt);
        units += sending->sent.units;
        free_sending(sending);
    }
    return units;
}

static int drop_receiver(void *arg, const void *key, size_t key_len, void *value)
{
    (void)key, (void)key_len;
    struct receiver *receiver = value;
    leave_idle(arg, receiver);
    free_receiver(arg, receiver);
    return 0;
}

void sender_free(struct sender *sender)
{
    if (!sender)
        return;
    sender_cancel(sender);
    timer_stop(&sender->look);
    map_each(sender->receivers, drop_receiver, sender);
    map_free(sender->receivers);
    map_free(sender->workspaces);
    mem_free(sender);
}

/* Rooms. */

static unsigned less(unsigned most, size_t used)
{
    return used < most ? most - (unsigned)used : 0;
}

static int add_receiver(void *arg, const void *key, size_t key_len, void *value)
{
    struct allowance *allowance = arg;
    const struct receiver *receiver = value;
    const struct window *window = &receiver->window;
    size_t held = receiver->under_way + receiver->waiting_count;
    unsigned room = less(window_holds(window), held);
    struct line *line;
    (void)key, (void)key_len;
    LIST_EACH (line, &receiver->lines, struct line, node) {
        allowance_set_line(allowance, receiver->workspace->id, line->name,
                           window->is_cut_off ? less(1, line->held) : room);
    }
    return 0;
}

/* So much that it holds no more afterwards than is free then. */
static unsigned its_part(unsigned free_units, unsigned used)
{
    return (less(free_units, used) + 1) / 2;
}

struct workspace_allowance {
    struct allowance *allowance;
    unsigned free_units;
};

static int add_workspace(void *arg, const void *key, size_t key_len, void *value)
{
    const struct workspace_allowance *to = arg;
    const struct workspace *workspace = value;
    (void)key, (void)key_len;
    allowance_set_workspace(to->allowance, workspace->id,
                            its_part(to->free_units, workspace->units));
    return 0;
}

struct allowance *sender_allowance(struct sender *sender, unsigned free_units)
{
    struct allowance *allowance =
        allowance_new(MIN(WINDOW_FIRST, sender->config.max_per_receiver), its_part(free_units, 0));
    struct workspace_allowance workspaces = {allowance, free_units};
    map_each(sender->receivers, add_receiver, allowance);
    map_each(sender->workspaces, add_workspace, &workspaces);
    return allowance;
}
