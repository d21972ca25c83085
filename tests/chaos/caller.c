/* One caller, see caller.h. */
#include "caller.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/js.h"
#include "base/mem.h"
#include "net/http_client.h"
#include "room/participant_internal.h"

enum {
    SPOKEN_BYTES = 8,  /* a shorter packet is comfort noise */
    QUIET_US = 800000, /* the agent has finished */
    PAUSE_US = 500000, /* before the next question */
    NO_GREETING_US = 3000000,
    NO_REPLY_US = 20000000, /* a sanitizer's build on a busy machine */
    BARGE_MAX_US = 1500000,
    AGAIN_US = 300000, /* least pause between two calls, and the most is five times that */
    FRAME_US = 20000,
    GAP_US = 250000, /* heard as a hole, whatever the jitter buffer */
    START_MS = 45000 /* what Start a call may take */
};

static const struct manner manners[] = {
    {.name = "polite", .turns_least = 2, .turns_most = 4},
    {.name = "lively",
     .turns_least = 2,
     .turns_most = 5,
     .barge_percent = 40,
     .chat_percent = 20,
     .mute_percent = 20,
     .offer_percent = 30,
     .rejoin_percent = 15,
     .is_v0 = true},
    {.name = "restless",
     .turns_least = 2,
     .turns_most = 4,
     .offer_percent = 50,
     .rejoin_percent = 30},
    {.name = "barger", .turns_least = 4, .turns_most = 9, .barge_percent = 100},
    {.name = "hasty", .turns_least = 0, .turns_most = 0},
    {.name = "typist",
     .turns_least = 1,
     .turns_most = 2,
     .typed = 1000,
     .typed_chars = 40,
     .typed_char = 'x'},
    {.name = "poisoner",
     .turns_least = 0,
     .turns_most = 1,
     .typed = 100,
     .typed_chars = 60000,
     .typed_char = 1},
};

const struct manner *manner_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(manners); i++)
        if (strcmp(manners[i].name, name) == 0)
            return &manners[i];
    return NULL;
}

static unsigned dice(struct caller *caller, unsigned sides)
{
    caller->random = caller->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(caller->random >> 33) % sides;
}

static void enter(struct caller *caller, enum caller_state state)
{
    caller->state = state;
    caller->state_us = clock_now_us();
    caller->frame = 0;
}

/* What it writes down. */

static double ms(int64_t us)
{
    return (double)us / 1000;
}

static void write_ms(const struct caller *caller, const char *what, int64_t us)
{
    printf("{\"what\":\"%s\",\"caller\":%u,\"call\":\"%s\",\"ms\":%.1f,\"heldMs\":%.1f}\n", what,
           caller->number, caller->call, ms(us), ms(caller->held_us));
}

static void write_refused(const struct caller *caller, const struct http_fetch_result *result)
{
    AUTO(js) body = NULL;
    const char *code = NULL;
    if (result->body && !js_parse(result->body, result->body_len, 16, &body, NULL))
        code = js_text(js_get(body, "code"));
    printf("{\"what\":\"refused\",\"caller\":%u,\"status\":%d,\"code\":\"%s\",\"ms\":%.1f}\n",
           caller->number, result->status, code ? code : "",
           ms(clock_now_us() - caller->posted_us));
}

static void write_over(const struct caller *caller)
{
    const struct caller_ear *ear = &caller->ear;
    printf("{\"what\":\"over\",\"caller\":%u,\"call\":\"%s\",\"isJoined\":%s,\"isEnded\":%s,"
           "\"isCut\":%s,"
           "\"seconds\":%.3f,\"mostSeconds\":%.3f,\"turns\":%u,\"received\":%llu,"
           "\"expected\":%llu,\"worstMs\":%.1f,"
           "\"gaps\":%u,\"heldMs\":%.1f}\n",
           caller->number, caller->call, caller->has_joined ? "true" : "false",
           caller->is_ended ? "true" : "false", caller->is_cut ? "true" : "false",
           caller->has_joined ? ms(caller->left_us - caller->joined_us) / 1000 : 0,
           caller->began_us ? ms(clock_now_us() - caller->began_us) / 1000 : 0, caller->turns,
           (unsigned long long)ear->received, (unsigned long long)ear->expected, ms(ear->worst_us),
           ear->gaps, ms(caller->held_us));
}

/* Coming and going. */

static void call_again(void *arg);

static void be_idle(struct caller *caller)
{
    struct crowd *crowd = caller->crowd;
    enter(caller, CALLER_IDLE);
    crowd->busy--;
    if (!crowd->is_over)
        timer_set_after(&caller->next, AGAIN_US + dice(caller, 4 * AGAIN_US));
    else if (crowd->busy == 0)
        crowd->on_all_idle(crowd->arg);
}

void caller_leave(struct caller *caller)
{
    if (caller->state == CALLER_IDLE) {
        timer_stop(&caller->next);
        return;
    }
    bool has_link = caller->sessions[0].link || caller->sessions[1].link;
    if (!has_link || caller->state == CALLER_LEAVING)
        return; /* starting: the answer finds the crowd over */
    if (caller->state == CALLER_REJOINING && !caller->is_ended) {
        caller->leaves_later =
            true; /* who goes while one session takes over is missed, not seen off */
        return;
    }
    if (!caller->left_us)
        caller->left_us = clock_now_us();
    caller->is_cut = caller->state == CALLER_REJOINING;
    enter(caller, CALLER_LEAVING);
    for (size_t i = 0; i < ARRAY_LEN(caller->sessions); i++)
        if (caller->sessions[i].link)
            caller->sessions[i].link->ops->close(caller->sessions[i].link, ROOM_CLOSE_ENDED);
}

static bool open_session(struct caller *caller);

/* Talking. */

static void ask(struct caller *caller)
{
    if (caller->turns == 0 || caller->crowd->is_over) {
        caller_leave(caller);
        return;
    }
    caller->turns--;
    if (dice(caller, 100) < caller->manner->chat_percent &&
        !room_participant_chat(caller->session->link, "And when do you close?"))
        enter(caller, CALLER_WAITING);
    else
        enter(caller, CALLER_SPEAKING);
}

static struct session *other_session(struct caller *caller)
{
    return &caller->sessions[caller->session == &caller->sessions[0]];
}

/* The same token again, while the first session is up: the new one takes over. */
static void rejoin(struct caller *caller)
{
    caller->session = other_session(caller);
    write_ms(caller, "rejoins", 0);
    enter(caller, CALLER_REJOINING);
    if (!open_session(caller)) {
        caller->is_ended = true;
        caller_leave(caller);
    }
}

static void pause_before(struct caller *caller)
{
    struct room_link *link = caller->session->link;
    bool wants_rejoin = dice(caller, 100) < caller->manner->rejoin_percent;
    /* Not while the session before the last still closes: its end would take the new one's place,
     * and nobody would hang up for that. */
    if (wants_rejoin && !other_session(caller)->link) {
        rejoin(caller);
        return;
    }
    if (dice(caller, 100) < caller->manner->offer_percent)
        participant_offer(CONTAINER_OF(link, struct participant, link));
    if (dice(caller, 100) < caller->manner->mute_percent) {
        room_participant_mute(caller->session->link, true);
        room_participant_mute(caller->session->link, false);
    }
    enter(caller, CALLER_PAUSING);
}

static void send_frame(struct caller *caller)
{
    bool is_speaking = caller->state == CALLER_SPEAKING;
    const struct utterance *from = is_speaking ? &caller->crowd->question : &caller->crowd->silence;
    size_t at = caller->frame++ % from->count;
    struct room_link *link = caller->session->link;
    if (link) /* it may be gone while the session before is still closing */
        link->ops->send_opus(link, from->packets[at].data, from->packets[at].len, caller->timestamp,
                             is_speaking && at == 0);
    caller->timestamp += AUDIO_OUT_SAMPLES;
}

/* Every 20 ms from the join on. */
static void on_frame(void *arg, int64_t due_us)
{
    struct caller *caller = arg;
    (void)due_us;
    send_frame(caller);
    int64_t now_us = clock_now_us(), since_us = now_us - caller->state_us;
    caller->held_us = MAX(caller->held_us, now_us - caller->framed_us - FRAME_US);
    caller->framed_us = now_us;
    bool is_quiet = now_us - caller->ear.last_us > QUIET_US;
    switch (caller->state) {
    case CALLER_GREETED:
        if (caller->ear.has_heard ? is_quiet : since_us > NO_GREETING_US)
            pause_before(caller);
        break;
    case CALLER_PAUSING:
        if (since_us > PAUSE_US)
            ask(caller);
        break;
    case CALLER_REJOINING:
        if (since_us > NO_REPLY_US) {
            write_ms(caller, "unanswered", since_us);
            caller->is_ended = true;
            caller_leave(caller);
        }
        break;
    case CALLER_SPEAKING:
        if (caller->frame == caller->crowd->question.count)
            enter(caller, CALLER_WAITING);
        break;
    case CALLER_WAITING:
        if (since_us > NO_REPLY_US) {
            write_ms(caller, "unanswered", since_us);
            enter(caller, CALLER_PAUSING);
        }
        break;
    case CALLER_HEARING:
        if (caller->barge_us ? since_us > caller->barge_us : is_quiet)
            caller->barge_us ? ask(caller) : pause_before(caller);
        break;
    default:
        break;
    }
}

/* The room. */

static void type(struct caller *caller)
{
    const struct manner *manner = caller->manner;
    if (manner->typed == 0)
        return;
    AUTO_MEM char *text = mem_new_n(char, manner->typed_chars + 1);
    memset(text, manner->typed_char, manner->typed_chars);
    for (unsigned i = 0; i < manner->typed; i++)
        if (room_participant_chat(caller->session->link, text))
            return;
}

/* The session before has been told to leave by the service; it is let go. */
static void take_over(struct caller *caller)
{
    struct session *before = other_session(caller);
    write_ms(caller, "rejoined", clock_now_us() - caller->state_us);
    caller->ear.is_other_stream = true;
    enter(caller, CALLER_GREETED);
    if (before->link)
        before->link->ops->close(before->link, ROOM_CLOSE_ENDED);
    if (caller->leaves_later)
        caller_leave(caller);
}

static void on_joined(void *arg, const char *identity, const char *name)
{
    struct session *session = arg;
    struct caller *caller = session->caller;
    (void)identity, (void)name;
    if (session == caller->session && caller->state == CALLER_REJOINING)
        take_over(caller);
    if (caller->state != CALLER_JOINING)
        return;
    caller->has_joined = true;
    caller->joined_us = caller->framed_us = clock_now_us();
    write_ms(caller, "joined", caller->joined_us - caller->posted_us);
    enter(caller, CALLER_GREETED);
    pacer_join(caller->crowd->parts.pacer, &caller->seat, on_frame, caller);
    type(caller);
    if (caller->manner->turns_most == 0)
        caller_leave(caller);
}

static void listen(struct caller_ear *ear, uint16_t sequence, uint32_t timestamp, int64_t now_us)
{
    uint16_t step = (uint16_t)(sequence - ear->last_sequence);
    ear->received++;
    bool is_first = !ear->has_heard || ear->is_other_stream;
    ear->is_other_stream = false;
    if (is_first)
        ear->expected++;
    else if (step < 0x8000)
        ear->expected += step;
    if (!is_first && step == 1 && timestamp - ear->last_timestamp == AUDIO_OUT_SAMPLES) {
        int64_t late_us = now_us - ear->last_us - FRAME_US;
        ear->worst_us = MAX(ear->worst_us, late_us);
        ear->gaps += late_us > GAP_US;
    }
    ear->last_sequence = sequence;
    ear->last_timestamp = timestamp;
}

static void on_opus(void *arg, const uint8_t *payload, size_t len, uint16_t sequence,
                    uint32_t timestamp, int64_t now_us)
{
    struct session *session = arg;
    struct caller *caller = session->caller;
    (void)payload;
    if (session != caller->session)
        return;
    listen(&caller->ear, sequence, timestamp, now_us);
    caller->ear.last_us = len < SPOKEN_BYTES ? caller->ear.last_us : now_us;
    caller->ear.has_heard = true;
    if (len < SPOKEN_BYTES || caller->state != CALLER_WAITING)
        return;
    write_ms(caller, "reply", now_us - caller->state_us);
    enter(caller, CALLER_HEARING);
    bool barges = dice(caller, 100) < caller->manner->barge_percent;
    caller->barge_us = barges ? 1 + dice(caller, BARGE_MAX_US) : 0;
}

static void on_left(void *arg, const char *identity, enum room_left how, int64_t last_packet_us)
{
    struct session *session = arg;
    (void)identity, (void)how, (void)last_packet_us;
    if (session != session->caller->session)
        return;
    session->caller->is_ended = true;
    caller_leave(session->caller);
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
    struct session *session = arg;
    struct caller *caller = session->caller;
    (void)err, (void)reason;
    if (session != caller->session)
        return;
    caller->is_ended = true;
    if (!caller->left_us)
        caller->left_us = clock_now_us();
    caller_leave(caller); /* its media would go on, and be billed, until the service misses it */
}

static void on_closed(void *arg)
{
    struct session *session = arg;
    struct caller *caller = session->caller;
    session->link = NULL;
    if (caller->sessions[0].link || caller->sessions[1].link)
        return;
    pacer_leave(&caller->seat);
    if (!caller->left_us)
        caller->left_us = clock_now_us();
    write_over(caller);
    be_idle(caller);
}

static void on_transcript(void *arg, const struct room_transcript *transcript)
{
    (void)arg, (void)transcript;
}

static void on_agent_state(void *arg, const char *state)
{
    (void)arg, (void)state;
}

static bool open_session(struct caller *caller)
{
    static const struct room_participant_events events = {
        .room = {on_joined, on_left, on_opus, on_muted, on_chat, on_closed},
        .on_transcript = on_transcript,
        .on_agent_state = on_agent_state,
        .on_ended = on_ended,
    };
    struct room_participant_config config = {
        .url = caller->url,
        .token = caller->token,
        .is_single_pc = !caller->manner->is_v0,
        .events = &events,
        .arg = caller->session,
    };
    struct fault fault;
    return !room_participant_open(caller->crowd->parts.rooms, &config, &caller->session->link,
                                  &fault);
}

static bool join(struct caller *caller, const struct js *started)
{
    const char *url = js_text(js_get(started, "livekitUrl"));
    const char *token = js_text(js_get(started, "token"));
    const char *id = js_text(js_get(started, "callId"));
    if (!url || !token || !id)
        return false;
    snprintf(caller->url, sizeof(caller->url), "%s", url);
    snprintf(caller->token, sizeof(caller->token), "%s", token);
    snprintf(caller->call, sizeof(caller->call), "%s", id);
    write_ms(caller, "started", clock_now_us() - caller->posted_us);
    enter(caller, CALLER_JOINING);
    caller->began_us = clock_now_us();
    return open_session(caller);
}

/* The API. */

static void on_started(void *arg, const struct http_fetch_result *result)
{
    struct caller *caller = arg;
    AUTO(js) started = NULL;
    if (result->fault.err || result->status != 201 ||
        js_parse(result->body, result->body_len, 32, &started, NULL)) {
        write_refused(caller, result);
        be_idle(caller);
    } else if (!join(caller, started)) {
        write_over(caller);
        be_idle(caller);
    } else if (caller->crowd->is_over) {
        caller_leave(caller);
    }
}

static void call_again(void *arg)
{
    static const struct http_fetch_fns fns = {.on_done = on_started};
    struct caller *caller = arg;
    const struct manner *manner = caller->manner;
    char body[200], url[300], authorization[100];
    caller->crowd->busy++;
    caller->call[0] = 0;
    caller->ear = (struct caller_ear){0};
    caller->has_joined = caller->is_ended = false;
    caller->is_cut = caller->leaves_later = false;
    caller->began_us = caller->joined_us = caller->left_us = caller->held_us = 0;
    caller->turns =
        manner->turns_least + dice(caller, manner->turns_most - manner->turns_least + 1);
    enter(caller, CALLER_STARTING);
    snprintf(body, sizeof(body), "{\"agentId\":\"%s\"}", caller->agent);
    snprintf(url, sizeof(url), "%s/v1/calls", caller->crowd->url);
    snprintf(authorization, sizeof(authorization), "Bearer %s", caller->key);
    const struct http_header headers[] = {{"authorization", authorization},
                                          {"content-type", "application/json"}};
    struct http_fetch_request request = {.method = "POST",
                                         .url = url,
                                         .headers = headers,
                                         .header_count = ARRAY_LEN(headers),
                                         .body = body,
                                         .body_len = strlen(body),
                                         .timeout_ms = START_MS,
                                         .scope = GUARD_OPERATOR};
    caller->posted_us = clock_now_us();
    http_fetch_start(caller->crowd->parts.http, &request, &fns, caller);
}

struct caller *caller_new(struct crowd *crowd, unsigned number, const struct manner *manner,
                          const char *key, const char *agent, uint64_t seed)
{
    struct caller *caller = mem_new(struct caller);
    caller->crowd = crowd;
    caller->number = number;
    caller->manner = manner;
    caller->sessions[0].caller = caller->sessions[1].caller = caller;
    caller->session = &caller->sessions[0];
    caller->random = seed ^ ((uint64_t)number * 0x9e3779b97f4a7c15u);
    snprintf(caller->key, sizeof(caller->key), "%s", key);
    snprintf(caller->agent, sizeof(caller->agent), "%s", agent);
    timer_init(&caller->next, crowd->loop, call_again, caller);
    timer_set_after(&caller->next, dice(caller, 3 * AGAIN_US));
    return caller;
}

void caller_free(struct caller *caller)
{
    timer_stop(&caller->next);
    mem_free(caller);
}
