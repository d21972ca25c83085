/* Rooms without calls: a control loop with the HTTP server and admission, one media loop with
 * hosted rooms whose agent is a tone or an echo. The tests of the rooms drive it over HTTP:
 *
 *     POST /rooms?name=&mode=tone|echo&flag=1&hasty=1   opens a room; flag: without its agent
 *     GET  /rooms?name=                           what its agent has seen, as JSON
 *     POST /close?name=&reason=ended|shutdown|error
 *     POST /state?name=&state=                    sets (and brings) the agent's state
 *     POST /say?name=&speaker=agent|caller&segment=&final=1   body: text
 *
 * Arguments: bind address, API key, secret, and for TLS certificate and key file. Prints
 * `listening on URL` and the UDP port. Ends with its standard input. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audio/codec.h"
#include "base/clock.h"
#include "base/js.h"
#include "base/loop.h"
#include "base/mem.h"
#include "net/http_server.h"
#include "net/tls.h"
#include "net/url.h"
#include "room/directory.h"
#include "room/host.h"
#include "room/rooms.h"
#include "rtc/dtls.h"
#include "rtc/port.h"

enum {
    TONE_HZ = 440,
    FRAME_US = 20000,
    FRAME_TICKS = 960,
    OUT_HZ = 48000,
    IN_HZ = 16000,
    ROOMS = 256,
    /* Of a hasty room, for the tests' patience; others have the service's own, which a machine
     * that stands still for some seconds does not reach. */
    HASTY_SILENCE_US = 3000000,
    HASTY_JOIN_US = 6000000
};

struct room {
    struct room_link *link;
    char name[128];
    bool is_echo, is_used;
    struct codec_encoder *encoder;
    struct codec_decoder *decoder;
    struct timer timer;
    int64_t due_us;
    uint32_t timestamp;
    double phase;
    unsigned joined, left, opus, muted, unmuted, chats, closed;
    int last_left;
    char last_chat[4096], identity[300];
    int64_t last_chat_bytes;
    double hz, rms;              /* of the last second of the caller's audio */
    unsigned samples, crossings; /* of the second being measured */
    double energy;
    int previous;
};

static struct server {
    struct loop *control, *media_loop;
    struct rooms *hosts;
    struct room_directory *directory;
    struct port *port;
    struct room rooms[ROOMS];
} server;

static void finish_second(struct room *room)
{
    room->hz = room->crossings / 2.0;
    room->rms = sqrt(room->energy / IN_HZ);
    room->samples = room->crossings = 0;
    room->energy = 0;
}

static void measure(struct room *room, const int16_t *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int now = samples[i] >= 0;
        room->crossings += now != room->previous;
        room->previous = now;
        room->energy += (double)samples[i] * samples[i];
        if (++room->samples == IN_HZ)
            finish_second(room);
    }
}

static void on_joined(void *arg, const char *identity, const char *name)
{
    struct room *room = arg;
    (void)name;
    room->joined++;
    snprintf(room->identity, sizeof(room->identity), "%s", identity);
    if (!room->is_echo) {
        room->due_us = loop_now_us(server.media_loop);
        timer_set(&room->timer, room->due_us);
    }
}

static void on_left(void *arg, const char *identity, enum room_left how, int64_t last_packet_us)
{
    struct room *room = arg;
    (void)identity;
    (void)last_packet_us;
    room->left++;
    room->last_left = (int)how;
    timer_stop(&room->timer);
}

static void on_opus(void *arg, const uint8_t *payload, size_t len, uint16_t sequence,
                    uint32_t timestamp, int64_t now_us)
{
    struct room *room = arg;
    int16_t samples[CODEC_DECODED_MAX_SAMPLES];
    (void)sequence;
    (void)now_us;
    room->opus++;
    measure(room, samples, codec_decode(room->decoder, payload, len, samples));
    if (room->is_echo)
        room->link->ops->send_opus(room->link, payload, len, timestamp, room->opus == 1);
}

static void on_muted(void *arg, bool is_muted)
{
    struct room *room = arg;
    room->muted += is_muted;
    room->unmuted += !is_muted;
}

static void on_chat(void *arg, const char *text)
{
    struct room *room = arg;
    room->chats++;
    room->last_chat_bytes = (int64_t)strlen(text);
    snprintf(room->last_chat, sizeof(room->last_chat), "%s", text);
}

static void on_closed(void *arg)
{
    struct room *room = arg;
    timer_stop(&room->timer);
    room->closed++;
    room->link = NULL;
}

static void on_frame(void *arg)
{
    struct room *room = arg;
    int16_t samples[FRAME_TICKS];
    uint8_t packet[CODEC_PACKET_MAX_BYTES];
    for (int i = 0; i < FRAME_TICKS; i++) {
        samples[i] = (int16_t)(8000 * sin(room->phase));
        room->phase += 2 * M_PI * TONE_HZ / OUT_HZ;
    }
    size_t len = codec_encode(room->encoder, samples, packet);
    room->link->ops->send_opus(room->link, packet, len, room->timestamp, room->timestamp == 0);
    room->timestamp += FRAME_TICKS;
    room->due_us += FRAME_US;
    timer_set(&room->timer, room->due_us);
}

static const struct room_events events = {
    .on_joined = on_joined,
    .on_left = on_left,
    .on_opus = on_opus,
    .on_muted = on_muted,
    .on_chat = on_chat,
    .on_closed = on_closed,
};

/* A request on its way: control loop, media loop, control loop. */
struct request {
    struct http_exchange *exchange;
    const struct command *command;
    char name[128], mode[64], text[65536];
    bool flag, is_hasty;
    int status;
    struct js *answer;
};

struct command {
    const char *method, *path;
    void (*run)(struct request *request); /* on the media loop */
};

static struct room *find_room(const char *name)
{
    for (int i = 0; i < ROOMS; i++) {
        if (server.rooms[i].is_used && strcmp(server.rooms[i].name, name) == 0)
            return &server.rooms[i];
    }
    return NULL;
}

static void run_open(struct request *request)
{
    struct room *room = server.rooms;
    while (room < server.rooms + ROOMS - 1 && room->is_used)
        room++;
    room->is_used = true;
    snprintf(room->name, sizeof(room->name), "%s", request->name);
    room->is_echo = strcmp(request->mode, "echo") == 0;
    room->encoder = codec_encoder_new(CODEC_VOIP);
    room->decoder = codec_decoder_new();
    timer_init(&room->timer, server.media_loop, on_frame, room);
    struct room_host_config config = {
        .room = room->name,
        .metadata = "{\"room\":true}",
        .agent_identity = "agent-test",
        .agent_name = "Test agent",
        .silence_limit_us = request->is_hasty ? HASTY_SILENCE_US : 0,
        .join_limit_us = request->is_hasty ? HASTY_JOIN_US : 0,
        .events = &events,
        .arg = room,
    };
    if (room_host_open(server.hosts, &config, &room->link) != OK)
        request->status = 409;
    else if (!request->flag)
        room->link->ops->set_agent_state(room->link, "listening");
}

static void run_show(struct request *request)
{
    struct room *room = find_room(request->name);
    struct room_stats stats = {0};
    if (!room) {
        request->status = 404;
        return;
    }
    if (room->link)
        room->link->ops->stats(room->link, &stats);
    const struct {
        const char *key;
        int64_t value;
    } rows[] = {
        {"joined", room->joined},
        {"left", room->left},
        {"lastLeft", room->last_left},
        {"opus", room->opus},
        {"muted", room->muted},
        {"unmuted", room->unmuted},
        {"chats", room->chats},
        {"closed", room->closed},
        {"chatBytes", room->last_chat_bytes},
        {"received", (int64_t)stats.packets_received},
        {"lost", (int64_t)stats.packets_lost},
        {"sent", (int64_t)stats.packets_sent},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        js_set(request->answer, rows[i].key, js_integer(rows[i].value));
    js_set(request->answer, "hz", js_number(room->hz));
    js_set(request->answer, "rms", js_number(room->rms));
    js_set(request->answer, "lastChat", js_string(room->last_chat));
    js_set(request->answer, "identity", js_string(room->identity));
    js_set(request->answer, "isJoined",
           js_boolean(room->link && room->link->ops->is_joined(room->link)));
}

static void run_close(struct request *request)
{
    static const char *const names[] = {"ended", "shutdown", "error"};
    struct room *room = find_room(request->name);
    int reason = 0;
    for (int i = 0; i < 3; i++)
        reason = strcmp(request->mode, names[i]) == 0 ? i : reason;
    if (room && room->link)
        room->link->ops->close(room->link, (enum room_close_reason)reason);
    room_directory_over(server.directory, request->name);
}

static void run_state(struct request *request)
{
    struct room *room = find_room(request->name);
    if (room && room->link)
        room->link->ops->set_agent_state(room->link, request->mode);
}

static void run_say(struct request *request)
{
    struct room *room = find_room(request->name);
    char *segment = strchr(request->mode, ':'); /* "agent:SG_1" */
    if (!room || !room->link || !segment)
        return;
    struct room_transcript transcript = {
        .segment_id = segment + 1,
        .text = request->text,
        .is_agent = strncmp(request->mode, "agent", 5) == 0,
        .is_final = request->flag,
        .language = "en",
    };
    room->link->ops->send_transcript(room->link, &transcript);
}

static const struct command commands[] = {
    {"POST", "/rooms", run_open},  {"GET", "/rooms", run_show}, {"POST", "/close", run_close},
    {"POST", "/state", run_state}, {"POST", "/say", run_say},
};

static void answer_request(void *arg)
{
    struct request *request = arg;
    char *text = js_print(request->answer);
    http_answer(request->exchange, &(struct http_answer){
                                       .status = request->status,
                                       .take_body = text,
                                       .body_len = strlen(text),
                                   });
    js_free(request->answer);
    mem_free(request);
}

static void run_request(void *arg)
{
    struct request *request = arg;
    request->command->run(request);
    loop_post(server.control, answer_request, request);
}

static void read_param(const char *query, const char *name, char *out, size_t size)
{
    struct buf value = BUF_INIT(size - 1);
    out[0] = 0;
    if (url_query_get(query, name, &value) == OK && value.data)
        snprintf(out, size, "%s", value.data);
    buf_clear(&value);
}

static bool read_flag(const char *query, const char *name)
{
    char flag[8];
    read_param(query, name, flag, sizeof(flag));
    return flag[0] == '1';
}

static void on_request(void *arg, struct http_exchange *exchange)
{
    const struct http_request *http = http_exchange_request(exchange);
    (void)arg;
    if (room_admit(server.directory, exchange))
        return;
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (strcmp(http->method, commands[i].method) != 0 ||
            strcmp(http->path, commands[i].path) != 0)
            continue;
        struct request *request = mem_new(struct request);
        request->exchange = exchange;
        request->command = &commands[i];
        request->status = 200;
        request->answer = js_object();
        read_param(http->query, "name", request->name, sizeof(request->name));
        read_param(http->query, "mode", request->mode, sizeof(request->mode));
        request->flag = read_flag(http->query, "flag");
        request->is_hasty = read_flag(http->query, "hasty");
        if (http->body)
            snprintf(request->text, sizeof(request->text), "%s", http->body);
        if (commands[i].run == run_open &&
            room_directory_add(server.directory, request->name, server.hosts) != OK)
            request->status = 409;
        loop_post(server.media_loop, run_request, request);
        return;
    }
    http_answer_error(exchange, 404, "NOT_FOUND", "no such path");
}

static void die(const struct fault *fault)
{
    fprintf(stderr, "%s\n", fault->text);
    exit(1);
}

static void on_stdin(void *arg, unsigned io_events)
{
    char byte;
    (void)arg;
    (void)io_events;
    if (read(0, &byte, 1) == 0)
        _exit(0);
}

int main(int argc, char **argv)
{
    static const struct http_handler handler = {.on_request = on_request};
    struct fault fault = {0};
    struct tls_context *tls = NULL;
    struct dtls_identity *identity;
    struct http_server *http;
    if (argc < 4) {
        fprintf(stderr, "usage: room_server ADDRESS KEY SECRET [CERTIFICATE KEYFILE]\n");
        return 2;
    }
    static struct token_signer signer;
    signer = (struct token_signer){argv[2], argv[3]};
    struct http_server_config config = {0};
    if (net_addr_parse(argv[1], &config.bind) != OK)
        return 2;
    server.control = loop_new("control");
    server.media_loop = loop_new("media");
    if (argc > 5 && tls_server_new(argv[4], argv[5], &tls, &fault) != OK)
        die(&fault);
    config.tls = tls;
    if (dtls_identity_new(&identity, &fault) != OK)
        die(&fault);
    struct port_config port_config = {.loop = server.media_loop, .identity = identity};
    struct net_addr bind = config.bind;
    port_config.binds = &bind;
    port_config.bind_count = 1;
    if (port_open(&port_config, &server.port, &fault) != OK)
        die(&fault);
    server.hosts = rooms_new(
        &(struct rooms_config){.loop = server.media_loop, .port = server.port, .signer = &signer});
    server.directory = room_directory_new(server.control, &signer);
    if (http_server_open(server.control, &config, &handler, NULL, &http, &fault) != OK)
        die(&fault);
    if (loop_start(server.media_loop) != OK)
        return 1;
    char address[NET_ADDR_SIZE];
    struct net_addr real = http_server_address(http);
    struct port_candidate candidate;
    port_candidates(server.port, &candidate, 1);
    net_addr_print(&real, address);
    printf("listening on %s://%s udp %u\n", tls ? "https" : "http", address, candidate.addr.port);
    fflush(stdout);
    io_open(server.control, 0, IO_READ, on_stdin, NULL);
    loop_run(server.control);
    return 0;
}
