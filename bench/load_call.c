/* One caller, see load_call.h. */
#include "load_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/js.h"
#include "base/mem.h"
#include "net/http_client.h"
#include "room/participant.h"

enum {
    SPOKEN_BYTES = 8,         /* a shorter packet is comfort noise */
    QUIET_US = 800000,        /* the agent has finished; a machine that stalls for a moment must not
                                 look like that, or the caller talks into the reply */
    PAUSE_US = 500000,        /* before the next question */
    NO_GREETING_US = 3000000, /* the agent has none */
    NO_REPLY_US = 10000000
};

/* Samples. */

void load_samples_add(struct load_samples *samples, double value)
{
    if (samples->count == samples->cap) {
        samples->cap = samples->cap ? samples->cap * 2 : 256;
        samples->values = mem_realloc_n(samples->values, samples->cap, sizeof(*samples->values));
    }
    samples->values[samples->count++] = value;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

double load_samples_at(struct load_samples *samples, double quantile)
{
    if (!samples->count)
        return -1;
    qsort(samples->values, samples->count, sizeof(*samples->values), compare);
    return samples->values[(size_t)(quantile * (double)(samples->count - 1) + 0.5)];
}

void load_samples_clear(struct load_samples *samples)
{
    mem_free(samples->values);
    *samples = (struct load_samples){0};
}

/* The script. */

static void enter(struct load_call *call, enum load_state state, int64_t now_us)
{
    call->state = state;
    call->state_us = now_us;
    call->frame = 0;
}

static void fail(struct load_call *call, const char *why)
{
    struct load *load = call->load;
    if (call->state == LOAD_OVER)
        return;
    load->failed++;
    snprintf(load->last_fault, sizeof(load->last_fault), "%s", why);
    enter(call, LOAD_OVER, 0);
}

static void send_frame(struct load_call *call)
{
    const struct load *load = call->load;
    bool is_speaking = call->state == LOAD_SPEAKING;
    const struct utterance *from = is_speaking ? &load->question : &load->silence;
    size_t at = call->frame++ % from->count;
    call->link->ops->send_opus(call->link, from->packets[at].data, from->packets[at].len,
                               call->timestamp, is_speaking && at == 0);
    call->timestamp += AUDIO_OUT_SAMPLES;
}

/* Every 20 ms from the join on. */
static void on_frame(void *arg, int64_t due_us)
{
    struct load_call *call = arg;
    struct load *load = call->load;
    int64_t now_us = clock_now_us(), since_us = now_us - call->state_us;
    (void)due_us;
    send_frame(call);
    bool is_quiet = now_us - call->last_heard_us > QUIET_US;
    switch (call->state) {
    case LOAD_GREETED:
        if (call->has_heard ? is_quiet : since_us > NO_GREETING_US)
            enter(call, LOAD_PAUSING, now_us);
        break;
    case LOAD_HEARING:
        if (is_quiet)
            enter(call, LOAD_PAUSING, now_us);
        break;
    case LOAD_PAUSING:
        if (since_us > PAUSE_US)
            enter(call, LOAD_SPEAKING, now_us);
        break;
    case LOAD_SPEAKING:
        if (call->frame == load->question.count) {
            load->questions += load->is_measuring;
            enter(call, LOAD_WAITING, now_us);
        }
        break;
    case LOAD_WAITING:
        if (since_us > NO_REPLY_US) {
            load->unanswered += load->is_measuring;
            enter(call, LOAD_PAUSING, now_us);
        }
        break;
    default:
        break;
    }
}

/* The room. */

static void on_joined(void *arg, const char *identity, const char *name)
{
    struct load_call *call = arg;
    (void)identity, (void)name;
    if (call->state != LOAD_JOINING)
        return;
    call->load->joined++;
    enter(call, LOAD_GREETED, clock_now_us());
    pacer_join(call->load->pacer, &call->seat, on_frame, call);
}

static void on_opus(void *arg, const uint8_t *payload, size_t len, uint16_t sequence,
                    uint32_t timestamp, int64_t now_us)
{
    struct load_call *call = arg;
    struct load *load = call->load;
    (void)payload, (void)sequence, (void)timestamp;
    if (len < SPOKEN_BYTES)
        return;
    call->last_heard_us = now_us;
    if (!call->has_heard)
        load_samples_add(&load->greeting, (double)(now_us - call->posted_us) / 1000);
    call->has_heard = true;
    if (call->state != LOAD_WAITING)
        return;
    if (load->is_measuring)
        load_samples_add(&load->reply, (double)(now_us - call->state_us) / 1000);
    enter(call, LOAD_HEARING, now_us);
}

static void on_left(void *arg, const char *identity, enum room_left how, int64_t last_packet_us)
{
    (void)identity, (void)how, (void)last_packet_us;
    fail(arg, "the agent has left");
}

static void on_muted(void *arg, bool is_muted)
{
    (void)arg, (void)is_muted;
}

static void on_chat(void *arg, const char *text)
{
    (void)arg, (void)text;
}

static void on_ended(void *arg, enum err err, const char *reason)
{
    (void)err;
    fail(arg, reason);
}

static void on_closed(void *arg)
{
    struct load_call *call = arg;
    pacer_leave(&call->seat);
    call->link = NULL;
    call->load->open--;
}

static void on_transcript(void *arg, const struct room_transcript *transcript)
{
    (void)arg, (void)transcript;
}

static void on_agent_state(void *arg, const char *state)
{
    (void)arg, (void)state;
}

static const struct room_participant_events events = {
    .room = {on_joined, on_left, on_opus, on_muted, on_chat, on_closed},
    .on_transcript = on_transcript,
    .on_agent_state = on_agent_state,
    .on_ended = on_ended,
};

static void join(struct load_call *call, const struct js *started)
{
    struct load *load = call->load;
    struct room_participant_config config = {
        .url = js_text(js_get(started, "livekitUrl")),
        .token = js_text(js_get(started, "token")),
        .is_single_pc = true,
        .events = &events,
        .arg = call,
    };
    struct fault fault = {0};
    if (!config.url || !config.token)
        fail(call, "the API's answer has no livekitUrl and token");
    else if (room_participant_open(load->rooms, &config, &call->link, &fault))
        fail(call, fault.text);
    else
        load->open++;
}

/* The API. */

static void on_started(void *arg, const struct http_fetch_result *result)
{
    struct load_call *call = arg;
    struct load *load = call->load;
    AUTO(js) started = NULL;
    if (!result->fault.err && result->status == 503) { /* the node holds no more */
        load->refused++;
        enter(call, LOAD_OVER, 0);
        return;
    }
    if (result->fault.err || result->status != 201 ||
        js_parse(result->body, result->body_len, 16, &started, NULL)) {
        char why[200];
        snprintf(why, sizeof(why), "start: %d %.80s %.80s", result->status, result->fault.text,
                 result->body ? result->body : "");
        fail(call, why);
        return;
    }
    int64_t now_us = clock_now_us();
    load_samples_add(&load->ready, (double)(now_us - call->posted_us) / 1000);
    enter(call, LOAD_JOINING, now_us);
    join(call, started);
}

void load_call_start(struct load_call *call, struct load *load)
{
    static const struct http_fetch_fns fns = {.on_done = on_started};
    call->load = load;
    enter(call, LOAD_STARTING, 0);
    char body[200], url[300], authorization[200];
    snprintf(body, sizeof(body), "{\"agentId\":\"%s\",\"participant\":{\"identity\":\"caller\"}}",
             load->agent);
    snprintf(url, sizeof(url), "%s/v1/calls", load->url);
    snprintf(authorization, sizeof(authorization), "Bearer %s", load->key);
    const struct http_header headers[] = {{"authorization", authorization},
                                          {"content-type", "application/json"}};
    struct http_fetch_request request = {.method = "POST",
                                         .url = url,
                                         .headers = headers,
                                         .header_count = ARRAY_LEN(headers),
                                         .body = body,
                                         .body_len = strlen(body),
                                         .scope = GUARD_OPERATOR};
    call->posted_us = clock_now_us();
    http_fetch_start(load->http, &request, &fns, call);
}

void load_call_close(struct load_call *call)
{
    if (call->state != LOAD_OVER)
        enter(call, LOAD_OVER, 0);
    if (call->link)
        call->link->ops->close(call->link, ROOM_CLOSE_ENDED);
}
