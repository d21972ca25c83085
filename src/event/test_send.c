#include "event/test_send.h"

#include "base/fair.h"
#include "base/loop.h"
#include "base/mem.h"
#include "event/attempt.h"

enum {
    RUNNING_OF_ONE = 8, /* of one workspace: two turns of them fit into a request's deadline */
    WAITING_OF_ONE = 8,
    RUNNING_ALL = 128,
    WAITING_ALL = 4096,
};

struct test_send {
    struct fair_item item;
    struct list_node node; /* in running */
    struct test_sends *sends;
    struct attempt *attempt;
    char *workspace_id, *url, *secret, *event_id, *type, *body;
    struct loop *done_loop;
    delivery_test_fn *fn;
    void *arg;
    bool is_ok;
    int status;
    char *error;
};

struct test_sends {
    struct loop *loop;
    struct http_client *client;
    int64_t answer_ms;
    struct fair *fair;
    struct list_node running;
    bool is_stopping;
};

struct test_sends *test_sends_new(struct loop *loop, struct http_client *client, int64_t answer_ms)
{
    static const struct fair_limits limits = {.waiting_per_key = WAITING_OF_ONE,
                                              .waiting = WAITING_ALL,
                                              .running_per_key = RUNNING_OF_ONE,
                                              .running = RUNNING_ALL};
    struct test_sends *sends = mem_new(struct test_sends);
    sends->loop = loop;
    sends->client = client;
    sends->answer_ms = answer_ms;
    sends->fair = fair_new(&limits);
    list_init(&sends->running);
    return sends;
}

/* Thread: done_loop. */
static void tell(void *arg)
{
    struct test_send *send = arg;
    const struct delivery_test_result result = {
        .is_ok = send->is_ok, .status = send->status, .error = send->error};
    send->fn(send->arg, &result);
    mem_free(send->workspace_id);
    mem_free(send->url);
    mem_free(send->secret);
    mem_free(send->event_id);
    mem_free(send->type);
    mem_free(send->body);
    mem_free(send->error);
    mem_free(send);
}

static void refuse(struct test_send *send, const char *error)
{
    send->error = mem_strdup(error);
    loop_post(send->done_loop, tell, send);
}

static void next(struct test_sends *sends);

static void on_outcome(void *arg, const struct attempt_outcome *outcome)
{
    struct test_send *send = arg;
    struct test_sends *sends = send->sends;
    send->attempt = NULL;
    send->is_ok = outcome->is_delivered;
    send->status = outcome->status;
    send->error = mem_strdup(outcome->error);
    fair_done(sends->fair, &send->item, outcome->latency_ms);
    list_remove(&send->node);
    loop_post(send->done_loop, tell, send);
    next(sends);
}

static void begin(struct test_sends *sends, struct test_send *send)
{
    const struct attempt_request request = {
        .workspace_id = send->workspace_id,
        .url = send->url,
        .secret = send->secret,
        .event_id = send->event_id,
        .type = send->type,
        .body = send->body,
        .answer_ms = sends->answer_ms,
    };
    list_push_back(&sends->running, &send->node);
    send->attempt = attempt_start(sends->client, &request, on_outcome, send);
}

static void next(struct test_sends *sends)
{
    for (struct fair_item *item; (item = fair_next(sends->fair));) {
        struct test_send *send = CONTAINER_OF(item, struct test_send, item);
        if (sends->is_stopping) {
            fair_done(sends->fair, item, 1);
            refuse(send, "the service is stopping");
        } else {
            begin(sends, send);
        }
    }
}

static void on_added(void *arg)
{
    struct test_send *send = arg;
    if (fair_push(send->sends->fair, send->workspace_id, &send->item))
        refuse(send, "too many test events are under way, try again in a few seconds");
    else
        next(send->sends);
}

void test_sends_add(struct test_sends *sends, const struct delivery_test *test,
                    struct loop *done_loop, delivery_test_fn *fn, void *arg)
{
    struct test_send *send = mem_new(struct test_send);
    *send = (struct test_send){
        .sends = sends,
        .workspace_id = mem_strdup(test->workspace_id),
        .url = mem_strdup(test->url),
        .secret = mem_strdup(test->secret),
        .event_id = mem_strdup(test->event_id),
        .type = mem_strdup(test->type),
        .body = mem_strdup(test->body),
        .done_loop = done_loop,
        .fn = fn,
        .arg = arg,
    };
    loop_post(sends->loop, on_added, send);
}

void test_sends_stop(struct test_sends *sends)
{
    sends->is_stopping = true;
    next(sends);
}

void test_sends_free(struct test_sends *sends)
{
    struct test_send *send;
    if (!sends)
        return;
    LIST_EACH (send, &sends->running, struct test_send, node) {
        list_remove(&send->node);
        attempt_cancel(TAKE(send->attempt));
        fair_remove(sends->fair, &send->item);
        refuse(send, "the service is stopping");
    }
    test_sends_stop(sends); /* now all that waits may run, and is told */
    fair_free(sends->fair);
    mem_free(sends);
}
