#include "room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/audio/signal.h"
#include "audio/codec.h"
#include "base/attr.h"
#include "base/list.h"
#include "base/mem.h"
#include "engines.h"
#include "fake/loop.h"
#include "room/directory.h"
#include "room/host.h"
#include "room/rooms.h"
#include "sweep.h"

enum {
    FRAME_US = 20000,
    LOUD_RMS = 500,
    SILENCE_LIMIT_US = 10 * 1000 * 1000,
    ROOMS = 64,
    VOICE_SAMPLES = AUDIO_OUT_RATE_HZ, /* a second, repeated */
};

struct packet { /* under way, either direction */
    struct list_node node;
    struct timer timer;
    struct sim_caller *caller;
    bool is_up;
    size_t len;
    uint16_t sequence;
    uint32_t timestamp;
    bool is_first;
    uint8_t payload[CODEC_PACKET_MAX_BYTES];
};

struct sim_caller {
    struct room_link link;
    char room[64];
    struct rooms *rooms;
    const struct room_events *events;
    void *arg;
    struct loop *loop;
    struct sim_network network;
    struct list_node packets;
    bool is_joined, is_closed, has_lost;
    struct timer mouth, silence, action;
    void (*next_action)(struct sim_caller *caller);
    struct codec_encoder *encoder;
    struct codec_decoder *decoder;
    int64_t voice_until_us, noise_until_us, last_packet_us;
    uint16_t sequence;
    uint32_t timestamp;
    size_t voice_at;
    struct sim_frame *heard;
    size_t heard_count;
    struct buf lines, words;
    unsigned random;
};

struct rooms { /* as app.c would make it */
    struct loop *loop;
};

struct sim_rooms sim_rooms;
static struct sim_caller *callers[ROOMS];
static char *directory[ROOMS];
static int16_t voice[VOICE_SAMPLES], noise[VOICE_SAMPLES];

/* Network. */

static int loudest(const int16_t *samples, size_t count)
{
    int most = 0;
    for (size_t i = 0; i < count; i++)
        most = MAX(most, abs(samples[i]));
    return most;
}

static void arrive(void *arg)
{
    struct packet *packet = arg;
    struct sim_caller *caller = packet->caller;
    int64_t now_us = loop_now_us(caller->loop);
    if (packet->is_up && !caller->is_closed && caller->is_joined) {
        caller->last_packet_us = now_us;
        timer_set_after(&caller->silence, SILENCE_LIMIT_US);
        caller->events->on_opus(caller->arg, packet->payload, packet->len, packet->sequence,
                                packet->timestamp, now_us);
    } else if (!packet->is_up && caller->heard_count < SIM_HEARD) {
        int16_t samples[CODEC_DECODED_MAX_SAMPLES];
        size_t count = codec_decode(caller->decoder, packet->payload, packet->len, samples);
        caller->heard[caller->heard_count++] =
            (struct sim_frame){.at_us = now_us,
                               .timestamp = packet->timestamp,
                               .is_loud = signal_rms(samples, count) > LOUD_RMS,
                               .is_first = packet->is_first,
                               .sum = sim_sum(packet->payload, packet->len),
                               .loudest = loudest(samples, count),
                               .bytes = (int)packet->len};
    }
    list_remove(&packet->node);
    mem_free(packet);
}

static int dice(struct sim_caller *caller, int sides)
{
    caller->random = caller->random * 1664525u + 1013904223u;
    return (int)((caller->random >> 8) % (unsigned)sides);
}

static struct packet *packet_new(struct sim_caller *caller, const uint8_t *payload, size_t len)
{
    struct packet *packet = mem_new(struct packet);
    packet->caller = caller;
    packet->len = len;
    memcpy(packet->payload, payload, len);
    timer_init(&packet->timer, caller->loop, arrive, packet);
    return packet;
}

static void send_packet(struct sim_caller *caller, struct packet *packet)
{
    const struct sim_network *network = &caller->network;
    if (network->is_cut || dice(caller, 100) < network->loss_percent) {
        mem_free(packet);
        return;
    }
    int64_t delay_us = network->delay_us;
    if (network->jitter_us > 0)
        delay_us += dice(caller, (int)network->jitter_us);
    list_push_back(&caller->packets, &packet->node);
    timer_set_after(&packet->timer, delay_us);
}

/* The caller's mouth. */

static void speak_frame(void *arg)
{
    struct sim_caller *caller = arg;
    timer_set(&caller->mouth, caller->mouth.due_us + FRAME_US);
    int64_t now_us = loop_now_us(caller->loop);
    static const int16_t silence[AUDIO_OUT_SAMPLES];
    const int16_t *samples = silence;
    if (now_us < caller->voice_until_us)
        samples = voice + caller->voice_at;
    else if (now_us < caller->noise_until_us)
        samples = noise + caller->voice_at;
    caller->voice_at = (caller->voice_at + AUDIO_OUT_SAMPLES) % VOICE_SAMPLES;
    uint8_t payload[CODEC_PACKET_MAX_BYTES];
    size_t len = codec_encode(caller->encoder, samples, payload);
    struct packet *packet = packet_new(caller, payload, len);
    packet->is_up = true;
    packet->sequence = caller->sequence++;
    packet->timestamp = caller->timestamp;
    caller->timestamp += AUDIO_OUT_SAMPLES;
    send_packet(caller, packet);
}

void sim_speak(struct sim_caller *caller, int64_t ms)
{
    caller->voice_until_us = loop_now_us(caller->loop) + ms * 1000;
}

void sim_noise(struct sim_caller *caller, int64_t ms)
{
    caller->noise_until_us = loop_now_us(caller->loop) + ms * 1000;
}

/* Coming and going: events come from the loop. */

static void act(void *arg)
{
    struct sim_caller *caller = arg;
    void (*action)(struct sim_caller *) = caller->next_action;
    caller->next_action = NULL;
    if (action && !caller->is_closed)
        action(caller);
}

static void soon(struct sim_caller *caller, void (*action)(struct sim_caller *))
{
    caller->next_action = action;
    timer_set_after(&caller->action, 0);
}

static void joins(struct sim_caller *caller)
{
    caller->is_joined = true;
    caller->network.is_cut = false;
    timer_set_after(&caller->mouth, 0);
    timer_set_after(&caller->silence, SILENCE_LIMIT_US);
    caller->events->on_joined(caller->arg, "caller-1", "Caller");
}

static void leaves(struct sim_caller *caller)
{
    caller->is_joined = false;
    timer_stop(&caller->mouth);
    timer_stop(&caller->silence);
    caller->events->on_left(caller->arg, "caller-1", ROOM_LEFT_CLEAN, loop_now_us(caller->loop));
}

static void is_refused(struct sim_caller *caller)
{
    caller->is_joined = false;
    timer_stop(&caller->mouth);
    timer_stop(&caller->silence);
    caller->events->on_left(caller->arg, "caller-1", ROOM_LEFT_REFUSED, caller->last_packet_us);
}

void sim_refuse(struct sim_caller *caller)
{
    soon(caller, is_refused);
}

static void is_lost(void *arg)
{
    struct sim_caller *caller = arg;
    caller->is_joined = false;
    caller->events->on_left(caller->arg, "caller-1", ROOM_LEFT_LOST, caller->last_packet_us);
}

void sim_join(struct sim_caller *caller)
{
    soon(caller, joins);
}

void sim_leave(struct sim_caller *caller)
{
    soon(caller, leaves);
}

void sim_cut(struct sim_caller *caller)
{
    caller->network.is_cut = true;
}

void sim_return(struct sim_caller *caller)
{
    soon(caller, joins);
}

static void mutes(struct sim_caller *caller)
{
    timer_stop(&caller->mouth);
    caller->events->on_muted(caller->arg, true);
}

void sim_mute(struct sim_caller *caller)
{
    soon(caller, mutes);
}

static void closed(void *arg)
{
    struct sim_caller *caller = arg;
    caller->events->on_closed(caller->arg);
}

static void closes(struct sim_caller *caller)
{
    caller->is_closed = true;
    closed(caller);
}

void sim_room_close(struct sim_caller *caller)
{
    soon(caller, closes);
}

void sim_chat(struct sim_caller *caller, const char *text)
{
    caller->events->on_chat(caller->arg, text);
}

/* The service's side. */

static void link_send_opus(struct room_link *link, const uint8_t *payload, size_t len,
                           uint32_t timestamp, bool is_first)
{
    struct sim_caller *caller = (struct sim_caller *)link;
    struct packet *packet = packet_new(caller, payload, len);
    packet->timestamp = timestamp;
    packet->is_first = is_first;
    send_packet(caller, packet);
}

static void note(struct sim_caller *caller, const char *what, const char *text)
{
    buf_printf(&caller->lines, "%lld %s %s\n", (long long)fake_now_us() / 1000, what, text);
}

static void link_send_transcript(struct room_link *link, const struct room_transcript *transcript)
{
    struct sim_caller *caller = (struct sim_caller *)link;
    if (transcript->is_agent)
        buf_append_str(&caller->words, transcript->text);
    note(caller,
         transcript->is_agent ? (transcript->is_final ? "agent end" : "agent")
                              : (transcript->is_final ? "caller final" : "caller"),
         transcript->text);
}

static void link_set_agent_state(struct room_link *link, const char *state)
{
    note((struct sim_caller *)link, "state", state);
}

static void link_stats(struct room_link *link, struct room_stats *out)
{
    (void)link;
    *out = (struct room_stats){.jitter_ms = -1, .rtt_ms = -1};
}

static bool link_is_joined(const struct room_link *link)
{
    return ((const struct sim_caller *)link)->is_joined;
}

static void link_close(struct room_link *link, enum room_close_reason reason)
{
    struct sim_caller *caller = (struct sim_caller *)link;
    (void)reason;
    if (caller->is_closed)
        return;
    caller->is_closed = true;
    timer_stop(&caller->mouth);
    timer_stop(&caller->silence);
    loop_defer(caller->loop, closed, caller);
}

static const struct room_link_ops link_ops = {
    link_send_opus, link_send_transcript, link_set_agent_state,
    link_stats,     link_is_joined,       link_close,
};

struct rooms *rooms_new(const struct rooms_config *config)
{
    struct rooms *rooms = mem_new(struct rooms);
    sim_rooms = (struct sim_rooms){0};
    rooms->loop = config->loop;
    signal_voice(voice, VOICE_SAMPLES, AUDIO_OUT_RATE_HZ, 12000);
    signal_noise(noise, VOICE_SAMPLES, 6000);
    return rooms;
}

static void caller_free(struct sim_caller *caller)
{
    timer_stop(&caller->mouth);
    timer_stop(&caller->silence);
    timer_stop(&caller->action);
    struct packet *packet;
    LIST_EACH (packet, &caller->packets, struct packet, node) {
        timer_stop(&packet->timer);
        list_remove(&packet->node);
        mem_free(packet);
    }
    codec_encoder_free(caller->encoder);
    codec_decoder_free(caller->decoder);
    buf_clear(&caller->lines);
    buf_clear(&caller->words);
    mem_free(caller->heard);
    mem_free(caller);
}

void rooms_free(struct rooms *rooms)
{
    for (int i = 0; i < ROOMS; i++) {
        if (callers[i])
            caller_free(callers[i]);
        mem_free(directory[i]);
        callers[i] = NULL;
        directory[i] = NULL;
    }
    mem_free(rooms);
}

static enum err open_room(void *arg, const struct room_spec *spec, struct room_link **out)
{
    if (sim_rooms.open_refusals > 0 || sweep_fails("room open")) {
        sim_rooms.open_refusals -= sim_rooms.open_refusals > 0;
        return ERR_LIMIT;
    }
    struct rooms *rooms = arg;
    struct sim_caller *caller = mem_new(struct sim_caller);
    caller->link.ops = &link_ops;
    snprintf(caller->room, sizeof(caller->room), "%s", spec->room);
    caller->rooms = rooms;
    caller->events = spec->events;
    caller->arg = spec->arg;
    caller->loop = rooms->loop;
    caller->network.delay_us = 20000;
    caller->random = 7;
    list_init(&caller->packets);
    caller->encoder = codec_encoder_new(CODEC_VOIP);
    caller->decoder = codec_decoder_new();
    caller->heard = mem_new_n(struct sim_frame, SIM_HEARD);
    buf_init(&caller->lines, 256 * 1024);
    buf_init(&caller->words, 256 * 1024);
    timer_init(&caller->mouth, rooms->loop, speak_frame, caller);
    timer_init(&caller->silence, rooms->loop, is_lost, caller);
    timer_init(&caller->action, rooms->loop, act, caller);
    for (int i = 0; i < ROOMS; i++) {
        if (callers[i])
            continue;
        callers[i] = caller;
        break;
    }
    *out = &caller->link;
    return OK;
}

struct room_provider room_host_provider(struct rooms *rooms)
{
    return (struct room_provider){open_room, rooms};
}

struct sim_caller *sim_caller(const char *room)
{
    for (int i = 0; i < ROOMS && callers[i]; i++)
        if (strcmp(callers[i]->room, room) == 0)
            return callers[i];
    return NULL;
}

struct sim_network *sim_network(struct sim_caller *caller)
{
    return &caller->network;
}

/* The directory. */

enum err room_directory_add(struct room_directory *unused, const char *room, struct rooms *rooms)
{
    (void)unused;
    (void)rooms;
    if (sim_rooms.list_refusals > 0 || sweep_fails("room list")) {
        sim_rooms.list_refusals -= sim_rooms.list_refusals > 0;
        return ERR_LIMIT;
    }
    for (int i = 0; i < ROOMS; i++) {
        if (directory[i])
            continue;
        directory[i] = mem_strdup(room);
        return OK;
    }
    return ERR_CONFLICT;
}

void room_directory_over(struct room_directory *rooms, const char *room)
{
    (void)rooms;
    for (int i = 0; i < ROOMS; i++) {
        if (!directory[i] || strcmp(directory[i], room) != 0)
            continue;
        mem_free(directory[i]);
        directory[i] = NULL;
    }
}

bool sim_room_is_open(const char *room)
{
    for (int i = 0; i < ROOMS; i++)
        if (directory[i] && strcmp(directory[i], room) == 0)
            return true;
    return false;
}

/* What was heard. */

int sim_loud(const struct sim_caller *caller, int64_t from_ms, int64_t to_ms)
{
    int count = 0;
    for (size_t i = 0; i < caller->heard_count; i++)
        count += caller->heard[i].is_loud && caller->heard[i].at_us >= from_ms * 1000 &&
                 caller->heard[i].at_us < to_ms * 1000;
    return count;
}

int64_t sim_first_loud_ms(const struct sim_caller *caller, int64_t from_ms)
{
    for (size_t i = 0; i < caller->heard_count; i++)
        if (caller->heard[i].is_loud && caller->heard[i].at_us >= from_ms * 1000)
            return caller->heard[i].at_us / 1000;
    return -1;
}

int64_t sim_last_loud_ms(const struct sim_caller *caller, int64_t to_ms)
{
    int64_t last_ms = -1;
    for (size_t i = 0; i < caller->heard_count; i++)
        if (caller->heard[i].is_loud && caller->heard[i].at_us < to_ms * 1000)
            last_ms = caller->heard[i].at_us / 1000;
    return last_ms;
}

const struct sim_frame *sim_frames(const struct sim_caller *caller, size_t *out_count)
{
    *out_count = caller->heard_count;
    return caller->heard;
}

const char *sim_lines(const struct sim_caller *caller)
{
    return caller->lines.data ? caller->lines.data : "";
}

const char *sim_agent_words(const struct sim_caller *caller)
{
    return caller->words.data ? caller->words.data : "";
}
