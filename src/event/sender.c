#include "event/sender.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "event/attempt.h"
#include "net/url.h"
#include "store/event.h"

enum {
    CONNECTIONS_FAST = 64, /* a receiver that keeps up needs no more */
    WAITING_MAX = 1024,    /* of one receiver: the rows of others need room in memory too */
    PATIENCE_US = 250000,  /* what waits longer needs another connection */
    LOOK_US = 50000,
};

struct receiver {
    struct list_node node; /* in `busy` while something waits */
    struct list_node waiting;
    size_t waiting_count;
    unsigned under_way;
    size_t key_len;
    char key[];
};

struct sending {
    struct list_node node; /* in all, under way; or in its receiver's waiting */
    struct sender *sender;
    struct receiver *receiver;
    struct attempt *attempt;
    int64_t row_id;
    int number;
    struct arena *kept; /* of one that waits, or waited: the item's text */
    struct attempt_request request;
    int64_t due_wall_ms, since_us;
};

struct sender {
    struct sender_config config;
    struct map *receivers;
    struct list_node under_way; /* sendings */
    struct list_node busy;      /* receivers at which something waits */
    struct timer look;
};

static void look(void *arg);

struct sender *sender_new(const struct sender_config *config)
{
    struct sender *sender = mem_new(struct sender);
    sender->config = *config;
    sender->receivers = map_new();
    list_init(&sender->under_way);
    list_init(&sender->busy);
    timer_init(&sender->look, config->loop, look, sender);
    return sender;
}

static struct receiver *receiver_of(struct sender *sender, const char *url_text)
{
    struct url url;
    AUTO_BUF key = BUF_INIT(URL_MAX);
    if (url_parse(url_text, &url, NULL) == OK)
        buf_printf(&key, "%s:%u", url.host, (unsigned)url.port);
    else
        buf_append_str(&key, "?");
    struct receiver *receiver = map_get(sender->receivers, key.data, key.len);
    if (receiver)
        return receiver;
    receiver = mem_zalloc(sizeof(*receiver) + key.len);
    receiver->key_len = key.len;
    memcpy(receiver->key, key.data, key.len);
    list_init(&receiver->waiting);
    map_set(sender->receivers, receiver->key, receiver->key_len, receiver);
    return receiver;
}

/* A receiver exists while something to it is under way or waits. */
static void forget_if_idle(struct sender *sender, struct receiver *receiver)
{
    if (receiver->under_way > 0 || receiver->waiting_count > 0)
        return;
    map_remove(sender->receivers, receiver->key, receiver->key_len);
    mem_free(receiver);
}

static void free_sending(struct sending *sending)
{
    list_remove(&sending->node);
    arena_free(sending->kept);
    mem_free(sending);
}

static void on_outcome(void *arg, const struct attempt_outcome *outcome);

static void begin(struct sending *sending)
{
    struct sender *sender = sending->sender;
    int64_t late_ms = clock_wall_ms() - sending->due_wall_ms;
    metric_observe_us(METRIC_WEBHOOK_DELAY, MAX(late_ms, 0) * 1000);
    sending->receiver->under_way++;
    list_push_back(&sender->under_way, &sending->node);
    sending->attempt = attempt_start(sender->config.client, &sending->request, on_outcome, sending);
}

static struct sending *take_waiting(struct receiver *receiver)
{
    struct sending *sending = LIST_FIRST(&receiver->waiting, struct sending, node);
    list_remove(&sending->node);
    if (--receiver->waiting_count == 0)
        list_remove(&receiver->node);
    return sending;
}

static void on_outcome(void *arg, const struct attempt_outcome *outcome)
{
    struct sending *sending = arg;
    struct sender *sender = sending->sender;
    struct receiver *receiver = sending->receiver;
    int64_t row_id = sending->row_id;
    int number = sending->number;
    free_sending(sending);
    receiver->under_way--;
    while (receiver->under_way < MIN(CONNECTIONS_FAST, sender->config.max_per_receiver) &&
           receiver->waiting_count > 0)
        begin(take_waiting(receiver));
    forget_if_idle(sender, receiver);
    sender->config.fn(sender->config.arg, row_id, number, outcome);
}

static void put_back(struct sending *sending)
{
    const struct sender_config *config = &sending->sender->config;
    int64_t row_id = sending->row_id;
    int number = sending->number;
    free_sending(sending);
    config->fn(config->arg, row_id, number, NULL);
}

/* What waits too long at a slow receiver gets a connection of its own, or is put back. */
static void look_at(struct sender *sender, struct receiver *receiver, int64_t now_us)
{
    while (receiver->waiting_count > 0) {
        struct sending *first = LIST_FIRST(&receiver->waiting, struct sending, node);
        if (now_us - first->since_us < PATIENCE_US)
            return;
        take_waiting(receiver);
        if (receiver->under_way < sender->config.max_per_receiver)
            begin(first);
        else
            put_back(first);
    }
    forget_if_idle(sender, receiver);
}

static void look(void *arg)
{
    struct sender *sender = arg;
    struct receiver *receiver;
    int64_t now_us = loop_now_us(sender->config.loop);
    LIST_EACH(receiver, &sender->busy, struct receiver, node)
    {
        look_at(sender, receiver, now_us);
    }
    if (!list_is_empty(&sender->busy))
        timer_set_after(&sender->look, LOOK_US);
}

static void put_back_later(void *arg)
{
    put_back(arg);
}

static void keep_text(struct sending *sending)
{
    struct attempt_request *request = &sending->request;
    struct arena *arena = sending->kept = arena_new(0);
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
    if (receiver->waiting_count >= WAITING_MAX) {
        loop_defer(sender->config.loop, put_back_later, sending);
        return;
    }
    keep_text(sending);
    sending->since_us = loop_now_us(sender->config.loop);
    list_push_back(&receiver->waiting, &sending->node);
    if (receiver->waiting_count++ == 0)
        list_push_back(&sender->busy, &receiver->node);
    if (!timer_is_set(&sender->look))
        timer_set_after(&sender->look, LOOK_US);
}

void sender_send(struct sender *sender, const struct outbox_item *item)
{
    struct sending *sending = mem_new(struct sending);
    sending->sender = sender;
    sending->receiver = receiver_of(sender, item->url);
    sending->row_id = item->id;
    sending->number = item->attempt;
    sending->due_wall_ms = item->due_wall_ms;
    sending->request = (struct attempt_request){
        .url = item->url,
        .secret = item->secret,
        .event_id = item->event_id,
        .type = item->type,
        .body = item->body,
        .answer_ms = sender->config.answer_ms,
    };
    if (sending->receiver->under_way < MIN(CONNECTIONS_FAST, sender->config.max_per_receiver))
        begin(sending);
    else
        wait_for_room(sending);
}

static int cancel_waiting(void *arg, const void *key, size_t key_len, void *value)
{
    struct receiver *receiver = value;
    size_t *count = arg;
    (void)key, (void)key_len;
    while (receiver->waiting_count > 0) {
        free_sending(take_waiting(receiver));
        ++*count;
    }
    return 0;
}

size_t sender_cancel(struct sender *sender)
{
    struct sending *sending;
    size_t count = 0;
    map_each(sender->receivers, cancel_waiting, &count);
    LIST_EACH(sending, &sender->under_way, struct sending, node)
    {
        struct receiver *receiver = sending->receiver;
        attempt_cancel(sending->attempt);
        free_sending(sending);
        receiver->under_way--;
        forget_if_idle(sender, receiver);
        count++;
    }
    return count;
}

void sender_free(struct sender *sender)
{
    if (!sender)
        return;
    sender_cancel(sender);
    timer_stop(&sender->look);
    map_free(sender->receivers);
    mem_free(sender);
}
