#include "room/host.h"

#include <string.h>

#include "base/bucket.h"
#include "base/clock.h"
#include "base/ids.h"
#include "base/js.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "net/ws.h"
#include "room/caller.h"
#include "room/join.h"
#include "room/packet.h"
#include "room/rooms_internal.h"
#include "room/transcript.h"

enum {
    SILENCE_LIMIT_US = 10 * 1000 * 1000,
    JOIN_LIMIT_US = 60 * 1000 * 1000,
    JOINS = 10, /* at once, then one each second: each makes a handshake */
    JOIN_EVERY_US = 1000 * 1000,
    STATE_SIZE = 32
};

struct room_host {
    struct room_link link;
    struct rooms *rooms;
    struct room_host_config config;
    struct room_view view;
    char *name, *metadata, *agent_identity, *agent_name;
    char sid[ID_SIZE], agent_sid[ID_SIZE], agent_track_sid[ID_SIZE];
    char agent_state[STATE_SIZE];
    struct caller *caller; /* NULL: waiting */
    struct bucket joins;
    bool is_closed;
    struct transcript transcript;
};

static struct room_host *host_of(const struct room_link *link)
{
    return CONTAINER_OF(link, struct room_host, link);
}

static void send_opus(struct room_link *link, const uint8_t *payload, size_t len,
                      uint32_t timestamp, bool is_first)
{
    struct room_host *host = host_of(link);
    if (host->caller)
        caller_send_opus(host->caller, payload, len, timestamp, is_first);
}

static void send_packet(void *arg, const uint8_t *packet, size_t len)
{
    struct room_host *host = arg;
    caller_send_packet(host->caller, packet, len);
}

static void send_transcript(struct room_link *link, const struct room_transcript *transcript)
{
    struct room_host *host = host_of(link);
    if (host->is_closed)
        return;
    const struct transcript_way way = {
        .agent = {host->agent_identity, host->agent_sid, send_packet, host},
        .agent_track_sid = host->agent_track_sid,
        .caller_identity = host->caller ? caller_identity(host->caller) : NULL,
        .caller_track_sid = host->caller ? caller_track_sid(host->caller) : NULL,
    };
    transcript_send(&host->transcript, &way, transcript);
}

static void set_agent_state(struct room_link *link, const char *state)
{
    struct room_host *host = host_of(link);
    if (host->is_closed || strcmp(host->agent_state, state) == 0)
        return;
    size_t len = strnlen(state, STATE_SIZE - 1);
    memcpy(host->agent_state, state, len);
    host->agent_state[len] = 0;
    host->view.has_agent = true;
    host->view.agent_version++;
    if (host->caller)
        caller_agent_changed(host->caller);
}

static void stats(struct room_link *link, struct room_stats *out)
{
    const struct room_host *host = host_of(link);
    *out = (struct room_stats){.jitter_ms = -1, .rtt_ms = -1};
    if (host->caller)
        caller_stats(host->caller, out);
}

static bool is_joined(const struct room_link *link)
{
    return caller_is_up(host_of(link)->caller);
}

static void free_host(void *arg)
{
    struct room_host *host = arg;
    if (host->config.events->on_closed)
        host->config.events->on_closed(host->config.arg);
    transcript_clear(&host->transcript);
    mem_free(host->name);
    mem_free(host->metadata);
    mem_free(host->agent_identity);
    mem_free(host->agent_name);
    mem_free(host);
}

static void close_link(struct room_link *link, enum room_close_reason reason)
{
    static const enum caller_leave_reason reasons[] = {
        [ROOM_CLOSE_ENDED] = LEAVE_ROOM_DELETED,
        [ROOM_CLOSE_SHUTDOWN] = LEAVE_SERVER_SHUTDOWN,
        [ROOM_CLOSE_ERROR] = LEAVE_AGENT_ERROR,
    };
    struct room_host *host = host_of(link);
    if (host->is_closed)
        return;
    host->is_closed = true;
    map_remove_str(host->rooms->hosts, host->name);
    caller_close(TAKE(host->caller), reasons[reason], ACTION_DISCONNECT);
    loop_defer(host->rooms->config.loop, free_host, host);
}

static void on_up(void *arg)
{
    struct room_host *host = arg;
    log_info("room.joined", LOG_S("room", host->name));
    if (host->config.events->on_joined)
        host->config.events->on_joined(host->config.arg, caller_identity(host->caller),
                                       caller_name(host->caller));
}

/* The caller's seat is free before the event, so that the event may close the room. */
static void leave_seat(struct room_host *host, enum room_left how, enum caller_leave_reason reason)
{
    struct caller *caller = TAKE(host->caller);
    bool was_up = caller_is_up(caller);
    int64_t last_us = caller_last_packet_us(caller);
    AUTO_MEM char *identity = mem_strdup(caller_identity(caller));
    transcript_restart(&host->transcript);
    caller_close(caller, reason, ACTION_DISCONNECT);
    log_info("room.left", LOG_S("room", host->name), LOG_I("how", how), LOG_I("was_up", was_up));
    if (was_up && host->config.events->on_left)
        host->config.events->on_left(host->config.arg, identity, how, last_us);
}

static void on_gone(void *arg, enum room_left how)
{
    leave_seat(arg, how, LEAVE_CONNECTION_TIMEOUT);
}

static void on_opus(void *arg, const uint8_t *payload, size_t len, uint16_t sequence,
                    uint32_t timestamp, int64_t now_us)
{
    struct room_host *host = arg;
    if (host->config.events->on_opus)
        host->config.events->on_opus(host->config.arg, payload, len, sequence, timestamp, now_us);
}

static void on_muted(void *arg, bool is_muted)
{
    struct room_host *host = arg;
    if (host->config.events->on_muted)
        host->config.events->on_muted(host->config.arg, is_muted);
}

static void on_chat(void *arg, const char *text)
{
    struct room_host *host = arg;
    if (host->config.events->on_chat)
        host->config.events->on_chat(host->config.arg, text);
}

static const struct caller_fns caller_fns = {
    .on_up = on_up,
    .on_gone = on_gone,
    .on_opus = on_opus,
    .on_muted = on_muted,
    .on_chat = on_chat,
};

void room_host_join(struct room_host *host, struct room_join *take_join)
{
    AUTO(room_join) join = take_join;
    const char *identity = join->token.claims.identity;
    struct loop *loop = host->rooms->config.loop;
    if (strcmp(identity, host->agent_identity) == 0) {
        room_join_refuse(TAKE(join), loop, 403, "the identity is the agent's");
        return;
    }
    if (host->caller && strcmp(identity, caller_identity(host->caller)) != 0) {
        room_join_refuse(TAKE(join), loop, 403, "another caller is in the room");
        return;
    }
    if (!bucket_take(&host->joins, JOIN_EVERY_US, JOINS, 1, loop_now_us(loop))) {
        room_join_refuse(TAKE(join), loop, 429, "too many joins");
        return;
    }
    struct caller_config config = {
        .loop = loop,
        .port = host->rooms->config.port,
        .signer = host->rooms->config.signer,
        .room = &host->view,
        .silence_limit_us = host->config.silence_limit_us,
        .join_limit_us = host->config.join_limit_us,
        .fns = &caller_fns,
        .arg = host,
    };
    if (join->request.is_reconnect) {
        if (caller_can_resume(host->caller, join))
            caller_resume(host->caller, TAKE(join));
        else
            caller_turn_away(&config, TAKE(join));
        return;
    }
    if (host->caller)
        leave_seat(host, ROOM_LEFT_REPLACED, LEAVE_DUPLICATE_IDENTITY);
    if (!host->is_closed)
        host->caller = caller_open(&config, TAKE(join));
    else
        room_join_refuse(TAKE(join), loop, 403, "the room is over");
}

static void copy_config(struct room_host *host, const struct room_host_config *config)
{
    host->config = *config;
    if (!host->config.silence_limit_us)
        host->config.silence_limit_us = SILENCE_LIMIT_US;
    if (!host->config.join_limit_us)
        host->config.join_limit_us = JOIN_LIMIT_US;
    host->name = mem_strdup(config->room);
    host->metadata = mem_strdup(config->metadata ? config->metadata : "");
    host->agent_identity = mem_strdup(config->agent_identity);
    host->agent_name = mem_strdup(config->agent_name ? config->agent_name : "");
    id_new("RM_", host->sid);
    id_new("PA_", host->agent_sid);
    id_new("TR_", host->agent_track_sid);
    host->view = (struct room_view){
        .name = host->name,
        .sid = host->sid,
        .metadata = host->metadata,
        .created_wall_ms = clock_wall_ms(),
        .agent_identity = host->agent_identity,
        .agent_name = host->agent_name,
        .agent_sid = host->agent_sid,
        .agent_track_sid = host->agent_track_sid,
        .agent_state = host->agent_state,
    };
}

enum err room_host_open(struct rooms *rooms, const struct room_host_config *config,
                        struct room_link **out)
{
    static const struct room_link_ops ops = {
        .send_opus = send_opus,
        .send_transcript = send_transcript,
        .set_agent_state = set_agent_state,
        .stats = stats,
        .is_joined = is_joined,
        .close = close_link,
    };
    if (map_get_str(rooms->hosts, config->room))
        return ERR_CONFLICT;
    struct room_host *host = mem_new(struct room_host);
    host->link.ops = &ops;
    host->rooms = rooms;
    transcript_init(&host->transcript);
    copy_config(host, config);
    map_set_str(rooms->hosts, host->name, host);
    *out = &host->link;
    return OK;
}

static enum err open_for_call(void *arg, const struct room_spec *spec, struct room_link **out)
{
    const struct room_host_config config = {
        .room = spec->room,
        .agent_identity = spec->agent_identity,
        .agent_name = spec->agent_name,
        .events = spec->events,
        .arg = spec->arg,
    };
    return room_host_open(arg, &config, out);
}

struct room_provider room_host_provider(struct rooms *rooms)
{
    return (struct room_provider){open_for_call, rooms};
}
