/* /v1/webhooks: subscriptions, the test event, the event types, and the log of deliveries. */
#include "model/webhook.h"

#include <string.h>

#include "api/request.h"
#include "api/resources.h"
#include "api/run.h"
#include "api/spoilt.h"
#include "api/urls.h"
#include "base/ids.h"
#include "base/js.h"
#include "event/delivery.h"
#include "model/event.h"
#include "store/event.h"
#include "store/webhook.h"
#include "store/workspace.h"

struct webhook_answer {
    struct webhook webhook;
};
static const struct field webhook_rows[] = {
    ROW_OBJECT(struct webhook_answer, webhook, "webhook", struct webhook, &webhook_table),
};
FIELD_TABLE(webhook_answer_table, struct webhook_answer, "WebhookAnswer", webhook_rows);

struct webhooks_answer {
    struct webhook_list webhooks;
};
static const struct field webhooks_rows[] = {
    ROW_OBJECTS(struct webhooks_answer, webhooks, "webhooks", struct webhook_list, &webhook_table),
};
FIELD_TABLE(webhooks_answer_table, struct webhooks_answer, "WebhooksAnswer", webhooks_rows);

/* What an update may carry beside the subscription's own fields. */
struct webhook_update {
    const char *url;
    struct text_list events;
    bool is_enabled, must_rotate;
};
static const struct field update_rows[] = {
    ROW_TEXT(struct webhook_update, url, "url", .flags = FIELD_REQUIRED, .min = 1, .max = 2048,
             .pattern = "^https?://"),
    ROW_TEXTS(struct webhook_update, events, "events", .min = 1, .max = 100,
              .names = subscribable_names, .name_count = EVENT_TYPE_COUNT + 1),
    ROW_BOOL(struct webhook_update, is_enabled, "enabled"),
    ROW_BOOL(struct webhook_update, must_rotate, "rotateSecret",
             .about = "true makes a new secret, answered in full."),
};
FIELD_TABLE(webhook_update_table, struct webhook_update, "Webhook", update_rows);

static const char *new_secret(struct request *request)
{
    char secret[40];
    webhook_secret_new(secret);
    return arena_strdup(request->job.tx->arena, secret);
}

void webhooks_list(struct request *request)
{
    struct webhooks_answer answer = {0};
    struct text_list unreadable;
    if (!request_found(request, store_webhook_list(request->job.tx, request_workspace(request),
                                                   &answer.webhooks, &unreadable)))
        return;
    for (size_t i = 0; i < unreadable.count; i++)
        spoilt_note(request, DEAD_WEBHOOK, unreadable.items[i]);
    request_answer(request, &answer, 0);
}

/* Left out or null: everything. */
static void choose_standard_events(struct webhook *webhook)
{
    static const char *all[] = {"*"};
    if (webhook->events.count == 0)
        webhook->events = (struct text_list){all, 1};
}

static void tell_version(struct request *request, const struct webhook *webhook)
{
    answer_header(&request->answer, "ETag", request_tag(request, webhook->updated_wall_ms));
}

void webhooks_create(struct request *request)
{
    struct webhook_answer answer;
    struct webhook *webhook = &answer.webhook;
    struct field_context context;
    request_context(request, &context);
    field_create(&webhook_table, webhook, request_json(request), &context, "");
    if (!request_is_valid(request, &context) || !urls_are_allowed(request, &webhook->url, 1))
        return;
    webhook->user_id = request_workspace(request);
    choose_standard_events(webhook);
    if (*webhook->secret == '\0')
        webhook->secret = new_secret(request);
    if (!request_found(request, store_workspace_lock(request->job.tx, webhook->user_id)))
        return;
    enum err err = store_webhook_insert(request->job.tx, webhook);
    if (err == ERR_LIMIT) {
        request_error(request, API_SUBSCRIPTION_LIMIT_REACHED);
        return;
    }
    if (!request_found(request, err))
        return;
    tell_version(request, webhook);
    request_answer(request, &answer, FIELD_VIEW_REVEAL);
}

void webhooks_get(struct request *request)
{
    struct webhook_answer answer;
    if (request_found(request, store_webhook_get(request->job.tx, request_workspace(request),
                                                 request->head.params[0], &answer.webhook))) {
        tell_version(request, &answer.webhook);
        request_answer(request, &answer, 0);
    }
}

struct disabled {
    struct webhook_answer answer;
    unsigned views;
};

/* After the commit: also drops the deliveries that were taken already and wait for a connection. */
static void tell_dropped(struct request *request)
{
    const struct disabled *disabled = request->job.state;
    delivery_drop(request->deps->delivery, disabled->answer.webhook.id);
    request_answer(request, &disabled->answer, disabled->views);
    run_finish(request);
}

/* rotateSecret is no member of the subscription. */
static bool wants_rotation(struct request *request, struct field_context *context)
{
    const struct js *wish = js_get(request_json(request), "rotateSecret");
    if (js_type(wish) != JS_NULL && js_type(wish) != JS_BOOL)
        faults_add(&context->faults, "rotateSecret", "must be true or false");
    return js_bool(wish, false);
}

void webhooks_update(struct request *request)
{
    struct webhook_answer answer;
    struct webhook *webhook = &answer.webhook;
    struct field_context context;
    const struct js *body = request_json(request);
    request_context(request, &context);
    enum err err = store_webhook_lock(request->job.tx, request_workspace(request),
                                      request->head.params[0], webhook);
    if (err == ERR_NOT_FOUND) /* the faults of the body are told first */
        field_defaults(&webhook_table, webhook);
    else if (!request_found(request, err))
        return;
    field_merge(&webhook_table, webhook, body, &context, "");
    bool must_rotate = wants_rotation(request, &context);
    if (!request_is_valid(request, &context) || !request_found(request, err) ||
        !request_is_as_read(request, webhook->updated_wall_ms))
        return;
    if (js_get(body, "url") && !urls_are_allowed(request, &webhook->url, 1))
        return;
    choose_standard_events(webhook);
    if (must_rotate)
        webhook->secret = new_secret(request);
    if (!request_found(request, store_webhook_update(request->job.tx, webhook)))
        return;
    unsigned views = must_rotate ? FIELD_VIEW_REVEAL : 0;
    tell_version(request, webhook);
    if (webhook->is_enabled) {
        request_answer(request, &answer, views);
        return;
    }
    struct disabled *disabled = arena_new_of(request->job.tx->arena, struct disabled);
    *disabled = (struct disabled){answer, views};
    request->job.state = disabled;
    request_after(request, tell_dropped);
}

static void tell_removed(struct request *request)
{
    const char *id = request->job.state;
    delivery_drop(request->deps->delivery, id);
    request_answer(request, &(struct removed){true, id}, 0);
    run_finish(request);
}

void webhooks_remove(struct request *request)
{
    char *id = request->head.params[0];
    if (!request_found(request,
                       store_webhook_remove(request->job.tx, request_workspace(request), id)))
        return;
    request->job.state = id;
    request_after(request, tell_removed);
}

/* Event types. */

struct event_type_entry {
    const char *type, *description;
};
struct event_type_list LIST_OF(struct event_type_entry);
struct event_types_answer {
    struct event_type_list events;
};
static const struct field entry_rows[] = {
    ROW_TEXT(struct event_type_entry, type, "type"),
    ROW_TEXT(struct event_type_entry, description, "description"),
};
static FIELD_TABLE(entry_table, struct event_type_entry, "EventType", entry_rows);
static const struct field event_types_rows[] = {
    ROW_OBJECTS(struct event_types_answer, events, "events", struct event_type_list, &entry_table),
};
FIELD_TABLE(event_types_answer_table, struct event_types_answer, "EventTypesAnswer",
            event_types_rows);

void webhooks_events(struct request *request)
{
    struct event_type_entry entries[EVENT_TYPE_COUNT];
    for (int i = 0; i < EVENT_TYPE_COUNT; i++)
        entries[i] = (struct event_type_entry){event_type_names[i], event_types[i].about};
    struct event_types_answer answer = {{entries, EVENT_TYPE_COUNT}};
    request_answer(request, &answer, 0);
}

/* Test. */

struct webhook_test_answer {
    bool is_ok;
    int64_t status;
    const char *error;
};
static const struct field test_rows[] = {
    ROW_BOOL(struct webhook_test_answer, is_ok, "ok", .about = "The endpoint answered 2xx."),
    ROW_INT(struct webhook_test_answer, status, "status", .flags = FIELD_OMIT_EMPTY,
            .about = "When it answered."),
    ROW_TEXT(struct webhook_test_answer, error, "error", .flags = FIELD_OMIT_EMPTY,
             .about = "When it did not answer."),
};
FIELD_TABLE(webhook_test_answer_table, struct webhook_test_answer, "WebhookTestAnswer", test_rows);

static void on_tested(void *arg, const struct delivery_test_result *result)
{
    struct request *request = arg;
    struct webhook_test_answer answer = {result->is_ok, result->status,
                                         result->error ? result->error : ""};
    request_answer(request, &answer, 0);
    run_finish(request);
}

static void send_test(struct request *request)
{
    delivery_send_test(request->deps->delivery, request->job.state, request->deps->control,
                       on_tested, request);
}

void webhooks_test(struct request *request)
{
    struct webhook webhook;
    struct arena *arena = request->job.tx->arena;
    if (!request_found(request, store_webhook_get(request->job.tx, request_workspace(request),
                                                  request->head.params[0], &webhook)))
        return;
    char id[ID_SIZE];
    id_new("evt_", id);
    struct event event = {
        .id = arena_strdup(arena, id),
        .type = EVENT_WEBHOOK_TEST,
        .created_wall_ms = request->job.tx->now_ms,
        .call_id = "",
        .room_name = "",
        .metadata = "{}",
        .data = event_data_text(EVENT_WEBHOOK_TEST, &(struct event_test){webhook.id}, arena),
    };
    AUTO_BUF body = BUF_INIT(65536);
    event_write(&event, &body);
    struct delivery_test *test = arena_new_of(arena, struct delivery_test);
    *test = (struct delivery_test){
        .workspace_id = webhook.user_id,
        .url = webhook.url,
        .secret = webhook.secret,
        .event_id = event.id,
        .type = event_type_names[EVENT_WEBHOOK_TEST],
        .body = arena_strndup(arena, body.data, body.len),
    };
    request->job.state = test;
    request_after(request, send_test);
}

/* The log of deliveries. */

struct deliveries_query {
    int64_t limit;
    const char *before;
};
static const struct field deliveries_query_rows[] = {
    ROW_INT(struct deliveries_query, limit, "limit", .min = 1, .max = 100, .standard = 50),
    ROW_TEXT(struct deliveries_query, before, "before", .flags = FIELD_OPTIONAL, .max = 64,
             .pattern = "^[0-9]{1,18}$", .about = "The nextCursor of the page before."),
};
FIELD_TABLE(deliveries_query_table, struct deliveries_query, "DeliveriesQuery",
            deliveries_query_rows);

struct deliveries_answer {
    struct delivery_list deliveries;
    const char *next_cursor;
};
static const struct field deliveries_rows[] = {
    ROW_OBJECTS(struct deliveries_answer, deliveries, "deliveries", struct delivery_list,
                &delivery_table),
    ROW_TEXT(struct deliveries_answer, next_cursor, "nextCursor", .flags = FIELD_NULL_EMPTY),
};
FIELD_TABLE(deliveries_answer_table, struct deliveries_answer, "DeliveriesAnswer", deliveries_rows);

struct delivery_answer {
    struct delivery delivery;
};
static const struct field delivery_rows[] = {
    ROW_OBJECT(struct delivery_answer, delivery, "delivery", struct delivery, &delivery_table),
};
FIELD_TABLE(delivery_answer_table, struct delivery_answer, "DeliveryAnswer", delivery_rows);

void deliveries_list(struct request *request)
{
    struct deliveries_query query;
    struct deliveries_answer answer = {.next_cursor = ""};
    struct webhook webhook;
    const char *workspace = request_workspace(request);
    if (!request_query(request, &query) ||
        !request_found(request, store_webhook_get(request->job.tx, workspace,
                                                  request->head.params[0], &webhook)))
        return;
    enum err err = store_delivery_list(request->job.tx, workspace, request->head.params[0],
                                       (unsigned)query.limit + 1, query.before, &answer.deliveries);
    if (err == ERR_INVALID)
        request_fault(request, "before", "is no nextCursor of this list");
    if (err == ERR_INVALID || !request_found(request, err))
        return;
    if (answer.deliveries.count >
        (size_t)query.limit) { /* one more was read to know whether there are more */
        answer.deliveries.count = (size_t)query.limit;
        answer.next_cursor = answer.deliveries.items[query.limit - 1].id;
    }
    request_answer(request, &answer, 0);
}

void deliveries_resend(struct request *request)
{
    struct delivery_answer answer;
    enum err err =
        store_delivery_resend(request->job.tx, request_workspace(request), request->head.params[0],
                              request->head.params[1], &answer.delivery);
    if (err == ERR_CONFLICT)
        request_error(request, API_CONFLICT);
    else if (request_found(request, err))
        request_answer(request, &answer, 0);
}
