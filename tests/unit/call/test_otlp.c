/* Spans on their way to a collector: the request, its batches, what is lost when nobody takes them.
 */
#include "call/otlp.h"

#include "base/js.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/resolver.h"
#include "test.h"

struct collector {
    struct loop *loop;
    struct guard *guard;
    struct resolver *resolver;
    struct http_client *client;
    struct http_server *server;
    struct otlp *otlp;
    struct http_exchange *held;
    struct timer poll;
    int64_t awaited; /* spans that are counted, sent or lost */
    int status;
    const char *answer;
    bool holds;
    int requests;
    size_t spans;
    char *body; /* of the last request */
};

static void on_request(void *arg, struct http_exchange *exchange)
{
    struct collector *collector = arg;
    const struct http_request *request = http_exchange_request(exchange);
    CHECK_TEXT(request->path, "/v1/traces");
    mem_free(collector->body);
    collector->body = mem_strndup(request->body, request->body_len);
    collector->requests++;
    AUTO(js) tree = NULL;
    REQUIRE(js_parse(request->body, request->body_len, 16, &tree, NULL) == OK);
    const struct js *resource = js_at(js_get(tree, "resourceSpans"), 0);
    collector->spans += js_count(js_get(js_at(js_get(resource, "scopeSpans"), 0), "spans"));
    loop_stop(collector->loop);
    if (collector->holds) {
        collector->held = exchange;
        return;
    }
    const struct http_answer answer = {.status = collector->status,
                                       .body = collector->answer,
                                       .body_len = strlen(collector->answer)};
    http_answer(exchange, &answer);
}

static void collector_open(struct collector *collector)
{
    static const struct http_handler handler = {.on_request = on_request};
    const struct http_server_config config = {.bind = net_addr_ipv4(127, 0, 0, 1, 0)};
    *collector = (struct collector){.loop = loop_new("test"), .status = 200, .answer = "{}"};
    REQUIRE(guard_new(NULL, &collector->guard, NULL) == OK);
    REQUIRE(resolver_new(collector->loop, collector->guard, NULL, &collector->resolver, NULL) ==
            OK);
    REQUIRE(http_server_open(collector->loop, &config, &handler, collector, &collector->server,
                             NULL) == OK);
    const struct http_client_config client = {.resolver = collector->resolver};
    collector->client = http_client_new(collector->loop, &client);
    AUTO_MEM char *url =
        mem_printf("http://127.0.0.1:%u/", http_server_address(collector->server).port);
    collector->otlp = otlp_new(collector->loop, collector->client, url, "node \"1\"");
}

static void collector_close(struct collector *collector)
{
    otlp_free(collector->otlp);
    http_client_free(collector->client);
    http_server_close(collector->server);
    if (collector->held)
        http_answer_error(collector->held, 500, "X", "over");
    resolver_free(collector->resolver);
    loop_free(collector->loop);
    guard_free(collector->guard);
    mem_free(collector->body);
}

static void add(struct collector *collector, const char *parent)
{
    const struct otlp_attribute attributes[] = {{"gen_ai.operation.name", "chat", 0},
                                                {"gen_ai.request.model", "", 0},
                                                {"earshot.turns", NULL, 3}};
    const struct otlp_span span = {.trace_id = "0123456789abcdef0123456789abcdef",
                                   .span_id = "0123456789abcdef",
                                   .parent_id = parent,
                                   .name = "chat a \"model\"",
                                   .is_client = true,
                                   .from_wall_us = 1700000000000001,
                                   .to_wall_us = 1700000000500001,
                                   .attributes = attributes,
                                   .attribute_count = ARRAY_LEN(attributes)};
    otlp_add(collector->otlp, &span);
}

static int64_t counted(void)
{
    return metric_read(METRIC_TRACE_SPANS); /* sent and lost */
}

static void poll_count(void *arg)
{
    struct collector *collector = arg;
    if (counted() >= collector->awaited)
        loop_stop(collector->loop);
    else
        timer_set_after(&collector->poll, 2000);
}

static void await_counted(struct collector *collector, int64_t spans)
{
    collector->awaited = spans;
    timer_init(&collector->poll, collector->loop, poll_count, collector);
    timer_set_after(&collector->poll, 0);
    while (counted() < spans)
        loop_run(collector->loop);
    timer_stop(&collector->poll);
}

TEST(spans_are_sent_together_as_otlp_has_them)
{
    struct collector collector;
    collector_open(&collector);
    add(&collector, NULL);
    add(&collector, "fedcba9876543210");
    await_counted(&collector, 2);
    CHECK_INT(collector.requests, 1);
    CHECK_INT(collector.spans, 2);
    CHECK_INT(counted(), 2);
    static const char *const parts[] = {
        "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\","
        "\"value\":{\"stringValue\":\"earshot\"}}",
        "{\"key\":\"service.instance.id\",\"value\":{\"stringValue\":\"node \\\"1\\\"\"}}",
        "\"spans\":[{\"traceId\":\"0123456789abcdef0123456789abcdef\",\"spanId\":"
        "\"0123456789abcdef\",\"name\":\"chat a \\\"model\\\"\",\"kind\":3,"
        "\"startTimeUnixNano\":\"1700000000000001000\",\"endTimeUnixNano\":"
        "\"1700000000500001000\",\"attributes\":[{\"key\":\"gen_ai.operation.name\",\"value\":"
        "{\"stringValue\":\"chat\"}},{\"key\":\"earshot.turns\",\"value\":{\"intValue\":\"3\"}}],"
        "\"status\":{}}",
        "\"parentSpanId\":\"fedcba9876543210\"",
    };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        CHECK(strstr(collector.body, parts[i]) != NULL);
    collector_close(&collector);
}

TEST(a_full_batch_does_not_wait_and_what_follows_is_another)
{
    struct collector collector;
    collector_open(&collector);
    for (int i = 0; i < OTLP_BATCH_MAX + 1; i++)
        add(&collector, NULL);
    loop_run(collector.loop);
    CHECK_INT(collector.spans, OTLP_BATCH_MAX);
    loop_run(collector.loop);
    CHECK_INT(collector.spans, OTLP_BATCH_MAX + 1);
    CHECK_INT(collector.requests, 2);
    collector_close(&collector);
}

TEST(a_collector_that_never_answers_costs_a_bounded_queue)
{
    struct collector collector;
    collector_open(&collector);
    collector.holds = true;
    int64_t before = counted();
    for (int i = 0; i < OTLP_BATCH_MAX; i++)
        add(&collector, NULL);
    loop_run(collector.loop); /* it has the first batch, and is silent */
    for (int i = 0; i < OTLP_WAITING_MAX + 100; i++)
        add(&collector, NULL);
    CHECK_INT(counted() - before, 100); /* lost: the oldest that wait */
    CHECK_INT(collector.requests, 1);
    collector_close(&collector);
    CHECK_INT(counted() - before, OTLP_BATCH_MAX + OTLP_WAITING_MAX + 100);
}

TEST(what_a_collector_refuses_or_takes_in_part_is_counted_as_lost)
{
    struct collector collector;
    collector_open(&collector);
    collector.answer = "{\"partialSuccess\":{\"rejectedSpans\":\"1\",\"errorMessage\":\"no\"}}";
    AUTO_BUF before = BUF_INIT(1 << 20), after = BUF_INIT(1 << 20);
    add(&collector, NULL);
    add(&collector, NULL);
    await_counted(&collector, 2);
    metrics_print(&before);
    CHECK(strstr(before.data, "earshot_trace_spans_total{outcome=\"lost\"} 1") != NULL);
    CHECK(strstr(before.data, "earshot_trace_spans_total{outcome=\"sent\"} 1") != NULL);
    collector.status = 400;
    add(&collector, NULL);
    await_counted(&collector, 3);
    metrics_print(&after);
    CHECK(strstr(after.data, "earshot_trace_spans_total{outcome=\"lost\"} 2") != NULL);
    CHECK_INT(collector.requests, 2); /* a refusal is no reason to try again */
    collector_close(&collector);
}
