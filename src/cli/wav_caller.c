/* One tick each 20 ms: hear what came, send a frame, decide what is next by who has been silent for
 * how long, as a person would.
 *
 *     JOINING --joined--> LISTENING --greeted, or nobody speaks--> ASKING --file over--> WAITING
 *     WAITING --answered, or no answer--> LEAVING --room closed--> on_ended; any --the end-->
 * LEAVING
 */
#include "cli/wav_caller.h"

#include <string.h>

#include "audio/codec.h"
#include "audio/inlet.h"
#include "audio/resample.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/mem.h"
#include "room/participant.h"

enum {
    GREETING_PAUSE_US = 900 * 1000,     /* the agent has finished its greeting */
    GREETING_WAIT_US = 6 * 1000 * 1000, /* no greeting will come */
    ANSWER_PAUSE_US = 2500 * 1000,      /* the agent has finished its answer */
    ANSWER_WAIT_US = 20 * 1000 * 1000,  /* no answer will come */
    LEAVE_WAIT_US = 2 * 1000 * 1000,    /* for the room to close after our goodbye */
    REPLY_MAX_BYTES = 256 << 20,        /* over two hours */
};

enum wav_state { WAV_JOINING, WAV_LISTENING, WAV_ASKING, WAV_WAITING, WAV_LEAVING };

struct wav_caller {
    struct wav_caller_config config;
    enum wav_state state;
    struct room_link *link;
    struct codec_encoder *encoder;
    struct inlet *inlet;
    struct turn_clock turns;
    struct timer tick;
    int64_t next_tick_us, began_us, joined_us, asked_us, leaving_us;
    int16_t *question; /* 48 kHz, whole frames */
    size_t frames, next_frame;
    uint32_t timestamp;
    struct buf reply;
    bool has_failed, has_ended;
    enum err err;
    char reason[200];
};

static void end(struct wav_caller *caller)
{
    if (caller->has_ended)
        return;
    caller->has_ended = true;
    timer_stop(&caller->tick);
    caller->config.events->on_ended(caller->config.arg, caller->err, caller->reason);
}

static void leave(struct wav_caller *caller, enum err err, const char *reason)
{
    if (caller->state == WAV_LEAVING)
        return;
    caller->state = WAV_LEAVING;
    caller->leaving_us = clock_now_us();
    caller->err = err;
    size_t len = strnlen(reason, sizeof(caller->reason) - 1);
    memcpy(caller->reason, reason, len);
    caller->reason[len] = '\0';
    if (caller->link)
        caller->link->ops->close(caller->link, ROOM_CLOSE_ENDED);
}

/* Our microphone: the file when it is time for it, silence before and after. */
static void send_frame(struct wav_caller *caller, int64_t now_us)
{
    static const int16_t silence[AUDIO_OUT_SAMPLES];
    bool is_asking = caller->state == WAV_ASKING && caller->next_frame < caller->frames;
    const int16_t *samples =
        is_asking ? caller->question + caller->next_frame++ * AUDIO_OUT_SAMPLES : silence;
    uint8_t packet[CODEC_PACKET_MAX_BYTES];
    size_t len = codec_encode(caller->encoder, samples, packet);
    caller->link->ops->send_opus(caller->link, packet, len, caller->timestamp,
                                 caller->timestamp == 0);
    caller->timestamp += AUDIO_OUT_SAMPLES;
    turn_clock_caller(&caller->turns, samples, AUDIO_OUT_SAMPLES, now_us);
}

static void hear(struct wav_caller *caller, int64_t now_us)
{
    struct audio_frame frame;
    struct turn turn;
    while (inlet_output(caller->inlet, now_us, &frame)) {
        buf_append(&caller->reply, frame.samples, sizeof(frame.samples));
        if (turn_clock_agent(&caller->turns, frame.samples, AUDIO_IN_SAMPLES, now_us, &turn))
            caller->config.events->on_turn(caller->config.arg, &turn);
    }
}

/* What comes next, by who has been silent for how long. */
static void step(struct wav_caller *caller, int64_t now_us)
{
    int64_t quiet_us = turn_clock_agent_quiet_us(&caller->turns, now_us);
    bool has_greeted = caller->turns.agent_voice_us != 0;
    bool has_answered = caller->turns.turns > 0 && !caller->turns.has_asked;
    if (caller->state == WAV_LISTENING &&
        quiet_us > (has_greeted ? GREETING_PAUSE_US : GREETING_WAIT_US)) {
        caller->state = WAV_ASKING;
    } else if (caller->state == WAV_ASKING && caller->next_frame == caller->frames) {
        caller->state = WAV_WAITING;
        caller->asked_us = now_us;
    } else if (caller->state == WAV_WAITING && has_answered && quiet_us > ANSWER_PAUSE_US) {
        leave(caller, OK, "answered");
    } else if (caller->state == WAV_WAITING && !has_answered &&
               now_us - caller->asked_us > ANSWER_WAIT_US) {
        leave(caller, ERR_TIMEOUT, "no answer");
    }
}

static void on_tick(void *arg)
{
    struct wav_caller *caller = arg;
    int64_t now_us = clock_now_us();
    caller->next_tick_us += AUDIO_FRAME_US;
    timer_set(&caller->tick, caller->next_tick_us);
    if (now_us - caller->began_us > caller->config.most_us)
        leave(caller, OK, "time is over");
    if (caller->state == WAV_LEAVING && now_us - caller->leaving_us > LEAVE_WAIT_US)
        end(caller);
    if (caller->state == WAV_JOINING || caller->state == WAV_LEAVING)
        return;
    hear(caller, now_us);
    send_frame(caller, now_us);
    step(caller, now_us);
}

/* Events of the room. */

static void on_joined(void *arg, const char *identity, const char *name)
{
    struct wav_caller *caller = arg;
    if (caller->state != WAV_JOINING)
        return;
    caller->state = WAV_LISTENING;
    caller->joined_us = clock_now_us();
    turn_clock_init(&caller->turns, caller->joined_us);
    caller->config.events->on_joined(caller->config.arg, name && *name ? name : identity);
}

static void on_left(void *arg, const char *identity, enum room_left how, int64_t last_packet_us)
{
    (void)identity, (void)how, (void)last_packet_us;
    leave(arg, OK, "the agent has left");
}

static void on_opus(void *arg, const uint8_t *payload, size_t len, uint16_t sequence,
                    uint32_t timestamp, int64_t now_us)
{
    struct wav_caller *caller = arg;
    inlet_input(caller->inlet, payload, len, sequence, timestamp, now_us);
}

static void on_muted(void *arg, bool is_muted)
{
    (void)arg, (void)is_muted;
}

static void on_chat(void *arg, const char *text)
{
    (void)arg, (void)text;
}

static void on_closed(void *arg)
{
    struct wav_caller *caller = arg;
    caller->link = NULL;
    leave(caller, ERR_CLOSED, "the room closed");
    end(caller);
}

static void on_transcript(void *arg, const struct room_transcript *line)
{
    struct wav_caller *caller = arg;
    caller->config.events->on_transcript(caller->config.arg, line,
                                         clock_now_us() - caller->joined_us);
}

static void on_agent_state(void *arg, const char *state)
{
    (void)arg, (void)state; /* what is heard decides, as it does for a person */
}

static void on_server_ended(void *arg, enum err err, const char *reason)
{
    leave(arg, err, reason ? reason : err_name(err));
}

static const struct room_participant_events room_events = {
    .room = {.on_joined = on_joined,
             .on_left = on_left,
             .on_opus = on_opus,
             .on_muted = on_muted,
             .on_chat = on_chat,
             .on_closed = on_closed},
    .on_transcript = on_transcript,
    .on_agent_state = on_agent_state,
    .on_ended = on_server_ended,
};

/* The file at the microphone's rate, filled up to whole frames. */
static void load_question(struct wav_caller *caller, const struct wav *wav)
{
    AUTO(resampler) resampler = resampler_new(wav->rate_hz, AUDIO_OUT_RATE_HZ);
    size_t most = resampler_out_max(resampler, wav->count) + AUDIO_OUT_SAMPLES;
    size_t room = most + AUDIO_OUT_SAMPLES; /* and the last frame's rest */
    caller->question = mem_new_n(int16_t, room);
    size_t n = resampler_run(resampler, wav->samples, wav->count, caller->question);
    n += resampler_finish(resampler, caller->question + n, most - n);
    caller->frames = (n + AUDIO_OUT_SAMPLES - 1) / AUDIO_OUT_SAMPLES;
}

enum err wav_caller_open(const struct wav_caller_config *config, struct wav_caller **out,
                         struct fault *fault)
{
    struct wav_caller *caller = mem_new(struct wav_caller);
    caller->config = *config;
    caller->encoder = codec_encoder_new(CODEC_VOIP);
    caller->inlet = inlet_new();
    buf_init(&caller->reply, REPLY_MAX_BYTES);
    load_question(caller, config->question);
    const struct room_participant_config participant = {.url = config->url,
                                                        .token = config->token,
                                                        .is_single_pc = true,
                                                        .events = &room_events,
                                                        .arg = caller};
    enum err err = room_participant_open(config->rooms, &participant, &caller->link, fault);
    if (err) {
        wav_caller_free(caller);
        return err;
    }
    caller->began_us = caller->next_tick_us = clock_now_us();
    timer_init(&caller->tick, config->loop, on_tick, caller);
    timer_set(&caller->tick, caller->next_tick_us);
    *out = caller;
    return OK;
}

void wav_caller_free(struct wav_caller *caller)
{
    if (!caller)
        return;
    if (caller->tick.loop)
        timer_stop(&caller->tick);
    codec_encoder_free(caller->encoder);
    inlet_free(caller->inlet);
    mem_free(caller->question);
    buf_clear(&caller->reply);
    mem_free(caller);
}

const int16_t *wav_caller_reply(const struct wav_caller *caller, size_t *out_count)
{
    *out_count = caller->reply.len / sizeof(int16_t);
    return (const int16_t *)(const void *)caller->reply.data;
}
